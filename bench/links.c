/* How fast the links are, by copy engines. */
#include "multi.h"

#if TSW_HAVE_CUDA

#include <time.h>

#include "../src/dist/plan.h"
#include "gpu.h"

#define LINK_BYTES ((size_t)1 << 30)
#define LINK_CHUNK ((size_t)64 << 20)
#define LINK_TIMES 4

int bench_links_open(struct bench_links *l, int devices)
{
	int can;

	*l = (struct bench_links){.devices = devices};
	for (int a = 0; a < devices; a++) {
		CHECK_CUDA(cudaSetDevice(a));
		CHECK_CUDA(cudaMalloc(&l->from[a], LINK_BYTES));
		CHECK_CUDA(cudaMalloc(&l->to[a], LINK_BYTES));
		CHECK_CUDA(cudaMemset(l->from[a], a + 1, LINK_BYTES));
		for (int b = 0; b < devices; b++) {
			cudaStream_t stream;

			if (a == b)
				continue;
			CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
			l->stream[a][b] = stream;
			CHECK_CUDA(cudaDeviceCanAccessPeer(&can, a, b));
			if (can && cudaDeviceEnablePeerAccess(b, 0) != cudaSuccess)
				(void)cudaGetLastError(); /* it was enabled */
		}
	}
	return BENCH_OK;
}

void bench_links_close(struct bench_links *l)
{
	for (int a = 0; a < l->devices; a++) {
		(void)cudaSetDevice(a);
		(void)cudaFree(l->from[a]);
		(void)cudaFree(l->to[a]);
		for (int b = 0; b < l->devices; b++)
			if (l->stream[a][b])
				(void)cudaStreamDestroy(l->stream[a][b]);
	}
}

static int wait_all(const struct bench_links *l)
{
	for (int a = 0; a < l->devices; a++) {
		CHECK_CUDA(cudaSetDevice(a));
		CHECK_CUDA(cudaDeviceSynchronize());
	}
	return BENCH_OK;
}

/* a's bytes number `at` and following to b. */
static int send(const struct bench_links *l, int a, int b, size_t at, size_t bytes)
{
	CHECK_CUDA(cudaSetDevice(a));
	CHECK_CUDA(cudaMemcpyPeerAsync((char *)l->to[b] + at, b, (char *)l->from[a] + at, a, bytes,
				       l->stream[a][b]));
	return BENCH_OK;
}

/* Everybody sends LINK_BYTES to its partner of the round. */
static int send_round(const struct bench_links *l, unsigned round)
{
	for (size_t at = 0; at < LINK_BYTES; at += LINK_CHUNK)
		for (int a = 0; a < l->devices; a++) {
			const int b = (int)tsw_partner((uint32_t)l->devices, round, (uint32_t)a);

			if (a != b && send(l, a, b, at, LINK_CHUNK))
				return BENCH_FAILED;
		}
	return BENCH_OK;
}

/* Everybody sends everybody else its share of LINK_BYTES. */
static int send_everywhere(const struct bench_links *l)
{
	const size_t share = LINK_BYTES / (size_t)(l->devices - 1) / 4096 * 4096;

	for (int far = 1; far < l->devices; far++)
		for (int a = 0; a < l->devices; a++)
			if (send(l, a, (a + far) % l->devices, (size_t)(far - 1) * share, share))
				return BENCH_FAILED;
	return BENCH_OK;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* GB/s that leave a device; round devices is everywhere at once. */
static int time_round(const struct bench_links *l, unsigned round, double *gb_per_s)
{
	const int all = round == (unsigned)l->devices;
	double best = 0;

	for (int i = 0; i < LINK_TIMES; i++) {
		double begin;

		if (wait_all(l))
			return BENCH_FAILED;
		begin = seconds();
		/* Twice, so that the beginning weighs little. */
		for (int twice = 0; twice < 2; twice++)
			if (all ? send_everywhere(l) : send_round(l, round))
				return BENCH_FAILED;
		if (wait_all(l))
			return BENCH_FAILED;
		begin = seconds() - begin;
		if (2 * LINK_BYTES * 1e-9 / begin > best)
			best = 2 * LINK_BYTES * 1e-9 / begin;
	}
	*gb_per_s = best;
	return BENCH_OK;
}

/* Of one partner at a time the slowest round counts. */
int bench_links_measure(struct bench_links *l, double *gb_per_s)
{
	double slowest = 0, rate;

	*gb_per_s = 0;
	if (l->devices < 2)
		return BENCH_OK;
	for (unsigned round = 0; round + 1 < (unsigned)l->devices; round++) {
		if (time_round(l, round, &rate))
			return BENCH_FAILED;
		if (slowest == 0 || rate < slowest)
			slowest = rate;
	}
	if (time_round(l, (unsigned)l->devices, &rate))
		return BENCH_FAILED;
	*gb_per_s = rate > slowest ? rate : slowest;
	return BENCH_OK;
}

#endif
