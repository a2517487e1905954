/* What tests/soak.c needs of CUDA; in a build without it every call fails. */
#ifndef TSW_SOAK_DEVICE_H
#define TSW_SOAK_DEVICE_H

#include "tileswap.h"
#include "trial.h"

/* A stream with device memory of its own. */
struct soak_stream;

struct soak_stream *soak_stream_new(size_t bytes); /* NULL: there is no more */
void soak_stream_free(struct soak_stream *s);

/* Begins to copy the bytes to the device and makes the call there. */
tsw_status soak_stream_begin(struct soak_stream *s, const struct tsw_trial *t,
			     const unsigned char *a, size_t bytes);

/* Waits for it, and copies the bytes back. */
tsw_status soak_stream_end(struct soak_stream *s, unsigned char *a, size_t bytes);

/* Of the matrix that lies first, taken as transposed. */
tsw_status soak_stream_checksum(struct soak_stream *s, struct tsw_shape shape, tsw_digest *out);

/* Device memory that is in use, by anybody. */
size_t soak_device_used(void);

#endif /* TSW_SOAK_DEVICE_H */
