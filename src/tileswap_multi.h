/* tileswap: transpose a matrix that lies on several GPUs of one process, where it lies.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The matrix is spread over its parts as tileswap_dist.h says; each part is a local matrix on a
 * GPU. What part p has for part q is as many bytes as q has for p, and the two change places chunk
 * by chunk, through bounded staging memory or none.  No GPU ever holds more than its part and its
 * staging.
 */
#ifndef TILESWAP_MULTI_H
#define TILESWAP_MULTI_H

#include "tileswap_dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One part of the matrix.  Several parts may lie on one device.  An element of an array: it has no
 * struct_size and never grows. */
typedef struct tsw_multi_part {
	int device;	   /* the CUDA device that `a` belongs to */
	tsw_stream stream; /* of that device: NULL is its legacy default stream */
	void *a;	   /* the local matrix; may be NULL where it has no elements */
	size_t ld;	   /* its leading dimension, in elements */
	void *staging;	   /* memory of that device, staging_bytes of it, at a multiple of 256; or
			    * NULL: the call takes it for itself, in the order of the stream */
} tsw_multi_part;

/* How a chunk travels. */
typedef enum tsw_multi_method {
	TSW_MULTI_AUTO = 0, /* COPY, or PACK where what travels lies in many pieces; HOST for those
			     * parts that a partner cannot reach */
	TSW_MULTI_COPY = 1, /* copy engines fetch it from the matrix; kernels where it lies in many
			     * pieces */
	TSW_MULTI_PACK =
		2, /* a kernel packs it, a copy engine sends it: half of the staging each */
	TSW_MULTI_PUSH = 3, /* a kernel writes it into the partner's staging */
	TSW_MULTI_SWAP = 4, /* kernels of both GPUs swap it in place: no staging */
	TSW_MULTI_HOST = 5  /* as COPY, through pinned host memory: for GPUs that cannot reach each
			     * other's */
} tsw_multi_method;

/* Begin with TSW_MULTI_OPTIONS_INIT and set what is wanted.  Members are only ever added at the
 * end; struct_size tells which the caller knows. */
typedef struct tsw_multi_options {
	size_t struct_size;
	size_t staging_bytes; /* of each part, all the device memory that is taken; 0: 256 MiB;
			       * SWAP takes none */
	int method;	      /* tsw_multi_method */
	int buffers;	      /* chunks that the staging holds, 2 to 16, of PACK on either
			       * side; 0: 2 */
	int copies;	      /* that a part has under way at once, 1 to 4; 0: 2 */
} tsw_multi_options;

#define TSW_MULTI_OPTIONS_INIT                                                                     \
	{                                                                                          \
		sizeof(tsw_multi_options), 0, TSW_MULTI_AUTO, 0, 0                                 \
	}

/* Transposes the matrix whose part r, as tileswap_dist.h numbers ranks, is parts[r]:
 * dist->nprow * dist->npcol of them.  The layout stays the same.  `options` may be NULL.
 *
 * Ordered after what was queued on every part's stream before the call, and before what is queued
 * on any of them afterwards; asynchronous: returns when the work is queued, which for a large
 * matrix can take as long as the device's queues are full.  With parts that go through host memory
 * it returns when done.  Takes no device memory but the staging, and gives it back in the order of
 * the streams; staging that the caller gave is free again when the part's stream has got there.
 * Peer access is enabled between devices that have it, and stays so.  That is for memory of
 * cudaMalloc(); memory of a pool, or mapped by cuMemMap(), lets other devices in only where its
 * owner says so (cudaMemPoolSetAccess, cuMemSetAccess), and must: the matrices where SWAP
 * is asked for, with the other methods the staging that is given.  The current device is kept.
 * Cannot be captured.
 *
 * TSW_ERR_NULL, _OPTION (layout, options, a device, staging too small or not at a multiple of 256),
 * _ELEM_SIZE, _LD, _OVERFLOW, _ALIGN (a local matrix), _WHERE (memory that is not the part's
 * device's), _UNSUPPORTED (an element of 2^32 units or more; SWAP, PACK, PUSH or COPY was asked for
 * and two devices cannot reach each other), _NO_CUDA, _NO_DEVICE: nothing has been changed.
 * _NO_MEMORY (staging): likewise.  After _CUDA the matrix is undefined. */
TSW_API tsw_status tsw_multi_transpose(const tsw_dist *dist, size_t elem_size,
				       const tsw_multi_part *parts,
				       const tsw_multi_options *options);

#ifdef __cplusplus
}
#endif

#endif /* TILESWAP_MULTI_H */
