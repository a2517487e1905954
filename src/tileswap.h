/* tileswap: transpose a square matrix where it lies.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * This header is the authority: what it does not promise is not promised.
 *
 * The matrix.  n x n elements of `elem_size` bytes each; element (r, c) lies at
 *
 *     a + (r * ld + c) * elem_size          0 <= r, c < n,   ld >= n
 *
 * `n`, `ld` and `stride` count elements, `elem_size` counts bytes, all are 64-bit.  Row- and
 * column-major storage are alike: the same bytes move.  With ld > n the matrix is a window of a
 * larger one; bytes outside the window are never changed (a load may touch them, its value is
 * dropped).  The span of the matrix is ((n-1)*ld + n) * elem_size bytes and must not exceed
 * PTRDIFF_MAX.  Elements are bytes: every bit pattern (NaN payloads, -0, denormals) survives.
 *
 * Addresses.  On the host any address is accepted.  On the device an address must be a multiple of
 * the element's unit, the largest power of two that divides elem_size, at most 8.
 *
 * Faults.  Arguments are checked once, in the order of the parameter list's meaning (sizes, then
 * pointers), before anything is touched.  A call that returns TSW_ERR_NULL, _LD, _ELEM_SIZE,
 * _OVERFLOW, _ALIGN, _STRIDE, _OP, _TYPE, _THREADS, _WHERE, _NO_CUDA or _NO_DEVICE has changed
 * nothing.  After TSW_ERR_CUDA the matrix is undefined.  tsw_last_error() names the argument and
 * its value.  n = 0 or count = 0 is success once the other arguments pass; pointers may then be
 * NULL.  The library prints nothing, never exits and never aborts.
 *
 * Threads.  Every call may be made from any thread at any time; calls that run at the same time
 * must work on disjoint bytes.
 */
#ifndef TILESWAP_H
#define TILESWAP_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; the build reads it from here and nowhere else. */
#define TSW_VERSION_MAJOR 0
#define TSW_VERSION_MINOR 1
#define TSW_VERSION_PATCH 0

#if defined(__GNUC__)
#define TSW_API __attribute__((visibility("default")))
#else
#define TSW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The very type of cudaStream_t, so that no CUDA header is needed here.  NULL is the legacy default
 * stream, as in CUDA. */
typedef struct CUstream_st *tsw_stream;
#define TSW_STREAM_PER_THREAD ((tsw_stream)2)

/* One status per kind of fault.  Values are part of the ABI and never reused. */
typedef enum tsw_status {
	TSW_OK = 0,
	TSW_ERR_NULL = 1,      /* a pointer is NULL and must not be */
	TSW_ERR_LD = 2,	       /* ld < n */
	TSW_ERR_ELEM_SIZE = 3, /* elem_size is 0 */
	TSW_ERR_OVERFLOW = 4, /* the span passes PTRDIFF_MAX, or the batch passes 2^64 tile pairs */
	TSW_ERR_ALIGN = 5,    /* device address is no multiple of the element's unit */
	TSW_ERR_STRIDE = 6,   /* matrices of a batch overlap */
	TSW_ERR_OP = 7,	      /* unknown operation letter */
	TSW_ERR_TYPE = 8,     /* unknown element type */
	TSW_ERR_THREADS = 9,  /* negative number of threads */
	TSW_ERR_WHERE = 10,   /* memory cannot be reached from where the call runs */
	TSW_ERR_OPTION = 11,  /* an option has a value it cannot have */
	TSW_ERR_FORMAT = 12,  /* the file is not what it was said to be */
	TSW_ERR_NO_CUDA = 20, /* built without CUDA, or no usable driver */
	TSW_ERR_NO_DEVICE = 21,	  /* a driver, but no device */
	TSW_ERR_NO_MEMORY = 22,	  /* an allocation failed */
	TSW_ERR_CUDA = 23,	  /* a CUDA call failed; the detail names call and error */
	TSW_ERR_IO = 24,	  /* a read, write or sync failed */
	TSW_ERR_MISMATCH = 25,	  /* verification found a difference */
	TSW_ERR_INTERRUPTED = 26, /* stopped on request, resumable */
	TSW_ERR_JOURNAL = 27,	  /* the journal does not belong to the file, or is damaged */
	TSW_ERR_LOCKED = 28,	  /* another run holds the file */
	TSW_ERR_UNSUPPORTED = 29, /* valid, but not supported here */
	TSW_ERR_COMM = 30	  /* MPI or NCCL failed between ranks; see tileswap_dist.h */
} tsw_status;

/* The version of the library that is running, "MAJOR.MINOR.PATCH". */
TSW_API const char *tsw_version(void);

/* What a status means, in one line without a newline.  Total: never NULL, also for values that are
 * no tsw_status. */
TSW_API const char *tsw_strerror(tsw_status status);

/* The detail of the calling thread's last call that returned a tsw_status: "ld = 4 is smaller than
 * n = 5".  Empty if that call succeeded.  Never NULL; valid until this thread's next such call. */
TSW_API const char *tsw_last_error(void);

/* Can this process use a GPU?  TSW_OK; TSW_ERR_NO_CUDA, the detail saying whether the library was
 * built without CUDA, there is no driver, or the driver is too old; TSW_ERR_NO_DEVICE; or
 * TSW_ERR_CUDA where a CUDA that may be running has failed. */
TSW_API tsw_status tsw_cuda_status(void);

/* ---- transpose in place: element (r, c) and element (c, r) change places --------------------- */

/* Look where `a` lies and pick.  Device or managed memory: runs on the device that owns it, on the
 * legacy default stream, and returns when the work is done.  Anything else, pinned host memory
 * included: runs on the host with all available threads.  The calling thread's current device is
 * kept.
 *
 * TSW_ERR_NULL, _LD, _ELEM_SIZE, _OVERFLOW, _ALIGN, _CUDA. */
TSW_API tsw_status tsw_transpose(void *a, size_t n, size_t ld, size_t elem_size);

/* In host memory, with `nthreads` threads; 0 means as many as OpenMP would use.  Returns when done.
 * Small matrices use fewer, and past 64 no more are begun than 8 a processor.  In a child made by
 * fork() one thread is used (an OpenMP region there can hang).
 *
 * TSW_ERR_NULL, _LD, _ELEM_SIZE, _OVERFLOW, _THREADS. */
TSW_API tsw_status tsw_transpose_host(void *a, size_t n, size_t ld, size_t elem_size, int nthreads);

/* In device, managed or mapped pinned memory, on `stream`, which must belong to the calling
 * thread's current device, as must device memory.  Asynchronous: returns when the kernels are
 * queued.  Allocates nothing, synchronises nothing, and can be captured in a CUDA graph.  A CUDA
 * error that the caller has pending (cudaPeekAtLastError) is neither returned nor cleared, except
 * by CUDA itself, where a call made here fails: its error takes the place, and is cleared.
 *
 * TSW_ERR_NULL, _LD, _ELEM_SIZE, _OVERFLOW, _ALIGN, _WHERE (plain host memory, or another device's
 * memory), _NO_CUDA, _NO_DEVICE, _CUDA. */
TSW_API tsw_status tsw_transpose_device(void *a, size_t n, size_t ld, size_t elem_size,
					tsw_stream stream);

/* ---- batches: `count` matrices of one shape -------------------------------------------------- */

/* Matrix b begins at a + b * stride * elem_size.  Matrices may not overlap: either
 * stride >= (n-1)*ld + n, or they stand side by side in one larger matrix, stride >= n and
 * (count-1)*stride + n <= ld; else TSW_ERR_STRIDE (count <= 1 accepts any stride).  Otherwise as
 * the single calls. */
TSW_API tsw_status tsw_transpose_batch_host(void *a, size_t n, size_t ld, size_t elem_size,
					    size_t stride, size_t count, int nthreads);
TSW_API tsw_status tsw_transpose_batch_device(void *a, size_t n, size_t ld, size_t elem_size,
					      size_t stride, size_t count, tsw_stream stream);

/* Matrix b begins at a[b].  On the host every pointer is checked against NULL.  For the device `a`
 * is an array in memory that the device can read, of device pointers; its contents cannot be
 * checked: a pointer that is NULL, misaligned, or whose matrix overlaps another's is undefined
 * behaviour. */
TSW_API tsw_status tsw_transpose_array_host(void *const *a, size_t n, size_t ld, size_t elem_size,
					    size_t count, int nthreads);
TSW_API tsw_status tsw_transpose_array_device(void *const *a, size_t n, size_t ld, size_t elem_size,
					      size_t count, tsw_stream stream);

/* ---- imatcopy: transpose, conjugate and scale in place, in one pass -------------------------- */

/* Values are part of the ABI. */
typedef enum tsw_type {
	TSW_FLOAT = 0,
	TSW_DOUBLE = 1,
	TSW_COMPLEX_FLOAT = 2,	/* two floats: real, imaginary */
	TSW_COMPLEX_DOUBLE = 3, /* two doubles */
	TSW_HALF = 4,		/* IEEE 754 binary16, as _Float16 and CUDA's __half */
	TSW_BFLOAT16 = 5	/* the upper 16 bits of a float */
} tsw_type;

/* A := alpha * op(A), in one pass over the matrix.  `op`, in either case:
 *
 *     'N'  A                 'T'  transpose
 *     'R'  conjugate         'C'  conjugate transpose
 *
 * On real types 'R' is 'N' and 'C' is 'T'.  `alpha` points to one value of the type, for TSW_HALF
 * and TSW_BFLOAT16 to one float, in host memory, at any address, which is read before the call
 * returns; NULL is 1.
 *
 *     alpha = 1   (imaginary part +0 or -0) moves bits: NaN payloads, -0 and denormals survive; 'R'
 *                 and 'C' flip the sign bit of every imaginary part and nothing else; 'N' touches
 *                 nothing
 *     alpha = 0   writes +0, or (+0, +0), whatever stood there, NaN and Inf included
 *     otherwise   every component is multiplied in the type's own arithmetic.  If alpha's imaginary
 *                 part is 0 the components are scaled one by one, so that Inf stays Inf beside a
 *                 finite partner; else (x + iy)(a + ib) = (xa - yb) + i(xb + ya), each product
 *                 rounded, then the sum.  TSW_HALF and TSW_BFLOAT16 are widened to float,
 *                 multiplied, and the product, a float, is rounded to the type: to nearest, ties
 *                 to even, past the largest to Inf, into subnormals
 *
 * The diagonal, and n = 1, are conjugated and scaled too.  The result is the same for every thread
 * count, and the same on host and device but for the bits of a NaN.  Otherwise as
 * tsw_transpose_host.
 *
 * TSW_ERR_OP, _TYPE, _NULL, _LD, _OVERFLOW, _THREADS. */
TSW_API tsw_status tsw_imatcopy_host(char op, tsw_type type, size_t n, const void *alpha, void *a,
				     size_t ld, int nthreads);

/* The same on the device, as tsw_transpose_device is to tsw_transpose_host: asynchronous on
 * `stream`, allocates nothing, can be captured (alpha's value is captured, not its address).
 * `alpha` still lies in host memory.
 *
 * TSW_ERR_OP, _TYPE, _NULL, _LD, _OVERFLOW, _ALIGN, _WHERE, _NO_CUDA, _NO_DEVICE, _CUDA. */
TSW_API tsw_status tsw_imatcopy_device(char op, tsw_type type, size_t n, const void *alpha, void *a,
				       size_t ld, tsw_stream stream);

/* `count` matrices, `stride` elements apart, by the rules of tsw_transpose_batch_host, and one
 * alpha.  As the single calls, and TSW_ERR_STRIDE. */
TSW_API tsw_status tsw_imatcopy_batch_host(char op, tsw_type type, size_t n, const void *alpha,
					   void *a, size_t ld, size_t stride, size_t count,
					   int nthreads);
TSW_API tsw_status tsw_imatcopy_batch_device(char op, tsw_type type, size_t n, const void *alpha,
					     void *a, size_t ld, size_t stride, size_t count,
					     tsw_stream stream);

/* The same with types that the compiler checks, and alpha by value; h is TSW_HALF, b TSW_BFLOAT16,
 * for which each library has a C type of its own.  Those of complex numbers are for C; tileswap.hpp
 * has them for C++. */
static inline tsw_status tsw_simatcopy_host(char op, size_t n, float alpha, float *a, size_t ld,
					    int nthreads)
{
	return tsw_imatcopy_host(op, TSW_FLOAT, n, &alpha, a, ld, nthreads);
}
static inline tsw_status tsw_simatcopy_device(char op, size_t n, float alpha, float *a, size_t ld,
					      tsw_stream stream)
{
	return tsw_imatcopy_device(op, TSW_FLOAT, n, &alpha, a, ld, stream);
}
static inline tsw_status tsw_dimatcopy_host(char op, size_t n, double alpha, double *a, size_t ld,
					    int nthreads)
{
	return tsw_imatcopy_host(op, TSW_DOUBLE, n, &alpha, a, ld, nthreads);
}
static inline tsw_status tsw_dimatcopy_device(char op, size_t n, double alpha, double *a, size_t ld,
					      tsw_stream stream)
{
	return tsw_imatcopy_device(op, TSW_DOUBLE, n, &alpha, a, ld, stream);
}
static inline tsw_status tsw_himatcopy_host(char op, size_t n, float alpha, void *a, size_t ld,
					    int nthreads)
{
	return tsw_imatcopy_host(op, TSW_HALF, n, &alpha, a, ld, nthreads);
}
static inline tsw_status tsw_himatcopy_device(char op, size_t n, float alpha, void *a, size_t ld,
					      tsw_stream stream)
{
	return tsw_imatcopy_device(op, TSW_HALF, n, &alpha, a, ld, stream);
}
static inline tsw_status tsw_bimatcopy_host(char op, size_t n, float alpha, void *a, size_t ld,
					    int nthreads)
{
	return tsw_imatcopy_host(op, TSW_BFLOAT16, n, &alpha, a, ld, nthreads);
}
static inline tsw_status tsw_bimatcopy_device(char op, size_t n, float alpha, void *a, size_t ld,
					      tsw_stream stream)
{
	return tsw_imatcopy_device(op, TSW_BFLOAT16, n, &alpha, a, ld, stream);
}
#if !defined(__cplusplus) && !defined(__STDC_NO_COMPLEX__)
static inline tsw_status tsw_cimatcopy_host(char op, size_t n, float _Complex alpha,
					    float _Complex *a, size_t ld, int nthreads)
{
	return tsw_imatcopy_host(op, TSW_COMPLEX_FLOAT, n, &alpha, a, ld, nthreads);
}
static inline tsw_status tsw_cimatcopy_device(char op, size_t n, float _Complex alpha,
					      float _Complex *a, size_t ld, tsw_stream stream)
{
	return tsw_imatcopy_device(op, TSW_COMPLEX_FLOAT, n, &alpha, a, ld, stream);
}
static inline tsw_status tsw_zimatcopy_host(char op, size_t n, double _Complex alpha,
					    double _Complex *a, size_t ld, int nthreads)
{
	return tsw_imatcopy_host(op, TSW_COMPLEX_DOUBLE, n, &alpha, a, ld, nthreads);
}
static inline tsw_status tsw_zimatcopy_device(char op, size_t n, double _Complex alpha,
					      double _Complex *a, size_t ld, tsw_stream stream)
{
	return tsw_imatcopy_device(op, TSW_COMPLEX_DOUBLE, n, &alpha, a, ld, stream);
}
#endif

/* ---- checksum: two sums that tell whether a transpose is right ------------------------------- */

/* Two sums over the elements of the window, for telling whether a transpose did what it should
 * without keeping a second matrix: the digest of A taken with transposed = 0 equals the digest of
 * the transposed matrix taken with transposed = 1.
 *
 *   placed   depends on every element and its place.  With p = 2^61 - 1,
 *                placed = sum_r alpha(r) sum_c beta(c) sum_l gamma(l) x_l(r, c)   mod p
 *            where x_l is the l-th 32-bit limb of the element's bytes, little-endian, the last one
 *            padded with zeros.  `transposed` exchanges alpha and beta.
 *   values   depends on the elements and not on their places.
 *                values = sum y (2 y + 1) mod 2^64,   y = sum_m delta(m) w_m mod 2^64
 *            where w_m is the m-th 64-bit word of the element's bytes, little-endian, the last one
 *            padded with zeros.  y (2 y + 1) permutes the 64-bit integers (Rivest et al., RC6,
 *            1998), so one changed word is always seen.
 *
 * If `placed` differs and `values` agrees, elements are whole but in wrong places; if both differ,
 * values were lost.  The streams, frozen: with z(seed, index) the SplitMix64 output (Steele, Lea &
 * Flood, 2014) number `index` (from 0) of generator state `seed`, i.e. its mix of
 * seed + (index + 1) * 0x9e3779b97f4a7c15, and f(z) = z >> 3 with p read as 0 and then 0 as 1:
 *
 *     alpha(r) = f(z(TSW_DIGEST_ALPHA, r))         gamma(l) = l ? f(z(TSW_DIGEST_GAMMA, l)) : 1
 *     beta(c)  = f(z(TSW_DIGEST_BETA,  c))         delta(m) = m ? z(TSW_DIGEST_DELTA, m) | 1 : 1
 *
 * Any difference leaves `placed` equal with probability at most 3/p < 2^-59 over random streams;
 * one changed limb never does.  The streams are fixed and public, so this guards against accidents,
 * not against an adversary.  Both sums add up over disjoint parts of a matrix (mod p, mod 2^64). */
typedef struct tsw_digest {
	uint64_t placed, values;
} tsw_digest;

#define TSW_DIGEST_ALPHA 0x616c706861000001u /* row stream */
#define TSW_DIGEST_BETA 0x6265746100000002u  /* column stream */
#define TSW_DIGEST_GAMMA 0x67616d6d61000003u /* 32-bit limbs of an element, for `placed` */
#define TSW_DIGEST_DELTA 0x64656c7461000004u /* 64-bit words of an element, for `values` */

/* The digest of a matrix, one read pass, any number of threads: the same result for every thread
 * count.  n = 0 gives {0, 0}.  `transposed` is 0 or 1 (any non-zero).
 *
 * TSW_ERR_NULL (a or out), _LD, _ELEM_SIZE, _OVERFLOW, _THREADS. */
TSW_API tsw_status tsw_checksum_host(const void *a, size_t n, size_t ld, size_t elem_size,
				     int transposed, tsw_digest *out, int nthreads);

/* The same in device, managed or mapped pinned memory, ordered on `stream` after the work already
 * there.  `out` is host memory.  Returns when done: it synchronises the stream, so it cannot be
 * captured.  Allocates nothing.
 *
 * As tsw_transpose_device, and TSW_ERR_NULL for out. */
TSW_API tsw_status tsw_checksum_device(const void *a, size_t n, size_t ld, size_t elem_size,
				       int transposed, tsw_digest *out, tsw_stream stream);

/* ---- files: a matrix transposed in its file, in bounded memory ------------------------------- */

/* How the matrix lies in its file. */
typedef enum tsw_format {
	TSW_FORMAT_AUTO = 0, /* by the file's first bytes; raw where n or elem_size is given */
	TSW_FORMAT_RAW = 1,  /* n, ld, elem_size, offset_bytes */
	TSW_FORMAT_NPY = 2,  /* NumPy's .npy, versions 1 to 3, either order */
	TSW_FORMAT_HDF5 = 3, /* a contiguous dataset; loads libhdf5, or what TSW_LIBHDF5 names */
	TSW_FORMAT_SAFETENSORS = 4 /* one tensor */
} tsw_format;

/* What a stopped run survives. */
typedef enum tsw_durability {
	TSW_DURABLE_POWER = 0,	/* loss of power, a crash of the system, kill -9 */
	TSW_DURABLE_PROCESS = 1 /* kill -9 and the like, as long as the system stays up: no waiting
				 * for the disk between pairs */
} tsw_durability;

/* Begin with TSW_FILE_OPTIONS_INIT and set what is wanted.  Members are only ever added at the end;
 * struct_size tells which the caller knows. */
typedef struct tsw_file_options {
	size_t struct_size;
	size_t n, ld, elem_size; /* of a raw file; ld 0 is n */
	uint64_t offset_bytes;	 /* of a raw file: where element (0, 0) begins */
	uint64_t memory_bytes;	 /* 0: half of what is free, limits of containers kept */
	int nthreads;		 /* for transposing; 0: as many as OpenMP would use */
	int durability;		 /* tsw_durability */
	int format;		 /* tsw_format */
	int verify;		 /* non-zero: digests before and after, compared */
	const char *dataset;	 /* HDF5: its path; safetensors: its name, NULL for the only one */
	const char *out_path;	 /* not NULL: a new file, and the old one is left as it is */
	/* Called now and then from the calling thread; non-zero stops.  May be NULL. */
	int (*progress)(void *user, uint64_t done_bytes, uint64_t total_bytes);
	void *user;
	int once;      /* non-zero: a second call with `once` does nothing, see below */
	int flag_only; /* non-zero: only .npy's fortran_order is flipped */
	int force;     /* non-zero: out_path may be replaced */
} tsw_file_options;

#define TSW_FILE_OPTIONS_INIT                                                                      \
	{                                                                                          \
		sizeof(tsw_file_options), 0, 0, 0, 0, 0, 0, TSW_DURABLE_POWER, TSW_FORMAT_AUTO, 0, \
			0, 0, 0, 0, 0, 0, 0                                                        \
	}

/* What a call has done, also where it failed.  struct_size is set by the caller. */
typedef struct tsw_file_result {
	size_t struct_size;
	size_t n, ld, elem_size; /* what was found */
	uint64_t offset_bytes;
	int format;	  /* tsw_format, never AUTO */
	int column_major; /* the digests' rows are the file's columns */
	uint64_t bytes_read, bytes_written, bytes_journalled; /* by this call */
	uint64_t resumed_from_pair; /* the first pair of this call; UINT64_MAX if nothing was
				       resumed */
	uint64_t pairs;		    /* tile pairs, all of the matrix */
	int already_done;	    /* an earlier call had done it all, this one only tidied up */
	tsw_digest before, after;   /* with verify: of the matrix, of the transposed one */
} tsw_file_result;

#define TSW_FILE_RESULT_INIT                                                                       \
	{                                                                                          \
		sizeof(tsw_file_result), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0},               \
		{                                                                                  \
			0, 0                                                                       \
		}                                                                                  \
	}

/* Transposes the matrix in the file `path` where it lies, through memory_bytes of memory (and some
 * 64 MiB beside), with no second copy on the disk.  Every byte is read once and written once; half
 * of them pass through a journal, `path`.tswj (of the file that links lead to), which takes the
 * space of two tile pairs' halves and is gone at the end.  Tiles that are each other's transposes
 * already are not written.  The detail of a refusal for want of memory names the least that will
 * do; a call that resumes keeps the tiles of the first, however much memory it is given.
 *
 * Stopped at any moment, by the progress callback, a signal, kill -9, or with TSW_DURABLE_POWER by
 * a power loss, the matrix is half transposed and the journal stays.  The same call with the same
 * options then goes on where it stopped; it never begins anew.  While a journal is there no other
 * program may change the file.  A journal that does not belong to the file, a file that was changed
 * or restored beside its journal, or a journal that is gone is refused with TSW_ERR_JOURNAL:
 * nothing is changed then, and the detail says what to do.  The attribute user.tileswap of the file
 * ties the two together, where the file system has attributes; a copy of the file does not carry
 * it.
 *
 * A transpose undoes itself: calling it again after a success transposes back.  With `once` a mark
 * is left (the attribute, and a journal of 8 KiB), and every later call with `once` returns TSW_OK
 * with already_done set; a call without `once` takes the mark away and transposes.
 *
 * With `verify` the digest of the matrix is taken as it is read, also across a resumed run, then
 * the file is read once more: TSW_ERR_MISMATCH if the digests differ.  All is written then, and the
 * journal stays: the same call reads and compares once more, and ends the run if they are alike.
 *
 * With out_path the transposed matrix goes to a new file with everything around it, which gets its
 * name when it is whole and on the disk; `path` is only read, and refused with TSW_ERR_JOURNAL
 * where a run is under way or was stopped in it.  With flag_only not the matrix moves
 * but the header of a .npy file says the other order, which readers of .npy honour.
 *
 * The call takes an exclusive lock (flock) on the file.  Linux keeps locks of network file systems
 * in its own ways, and a file system that reports a sync before it is one makes TSW_DURABLE_POWER
 * void. It is assumed that an interrupted write leaves each sector of the disk old or new.
 *
 * `result` may be NULL.  Statuses: TSW_ERR_NULL (path, options), _OPTION (a value, a struct_size,
 * too little memory, out_path exists), _THREADS, _LD, _ELEM_SIZE, _OVERFLOW, _FORMAT (not what was
 * said, truncated, not square), _UNSUPPORTED (libhdf5 is not there; storage that is no single
 * piece), _LOCKED, _JOURNAL: nothing has been changed.  TSW_ERR_INTERRUPTED, _IO, _NO_MEMORY:
 * resumable. After TSW_ERR_IO the journal stays and nothing is tried again. */
TSW_API tsw_status tsw_transpose_file(const char *path, const tsw_file_options *options,
				      tsw_file_result *result);

#ifdef __cplusplus
}
#endif

#endif /* TILESWAP_H */
