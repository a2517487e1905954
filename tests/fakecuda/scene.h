/* The calls that test_cuda_faults makes, and the memory that each works on. */
#ifndef FAKECUDA_SCENE_H
#define FAKECUDA_SCENE_H

#include "fakecuda.h"
#include "support/imatcopy.h"
#include "tileswap.h"
#include "verify/verify.h"

struct scene;

enum effect { READS, TRANSPOSES, FINISHES, FILLS };

struct subject {
	const char *name;
	tsw_status (*run)(struct scene *scene);
	const char *family; /* of the kernel that must be launched; NULL: none is */
	enum effect effect;
	size_t n, ld, width;
	size_t stride, count; /* 0: a single matrix */
	size_t offset;	      /* bytes, of the matrix from a multiple of 256 */
	enum fake_kind kind;
	int device;	      /* whose memory it is */
	int shared_bytes;     /* that a block of the device may have; 0: as much as an H200's */
	uint64_t grid_limit;  /* of calls below the public ones */
	struct tsw_imat x;    /* FINISHES */
	int flag;	      /* checksum: transposed; check: something is wrong */
	int waits, allocates; /* calls that may */
	int slow;	      /* many blocks: fewer codes must do */
};

extern const struct subject subjects[];
extern const size_t subject_count;

/* Has its arguments checked and then asks where the memory lies: tsw_transpose(). */
int looks_where(const struct subject *subject);

struct scene {
	const struct subject *subject;
	char *memory; /* as a caller has it: bytes around the matrix, too */
	unsigned char *view;
	size_t bytes, at; /* of memory; where in it the first matrix begins */
	void **array;	  /* of the device, with the addresses of all matrices */
	cudaStream_t stream;
	unsigned char *before, *after, *after_twice;
	/* Results. */
	tsw_digest digest;
	struct tsw_wrong wrong;
	double time_ms;
};

/* With an image of the memory before the call, after it, and after two. */
struct scene scene_new(const struct subject *subject);
void scene_free(struct scene *scene);

/* The memory is as before. */
void scene_reset(struct scene *scene);

/* NULL, or how the memory differs from an image. */
const char *scene_wrong(const struct scene *scene, const unsigned char *expected);

/* NULL if every byte is as before or as after the call, those outside the matrices as before. */
const char *scene_undefined(const struct scene *scene);

#endif /* FAKECUDA_SCENE_H */
