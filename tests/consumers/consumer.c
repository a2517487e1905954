/* What a program that links an installed tileswap does: every host call once on position-coded
 * data, and the answer of the device calls where there is no device. */
#include <tileswap.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 37, LD = 41, COUNT = 3, SPAN = N * LD };

static int wrong;

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			wrong = 1;                                                                 \
		}                                                                                  \
	} while (0)

static void fill(double *a, int count)
{
	for (int i = 0; i < count * SPAN; i++)
		a[i] = i;
}

/* Element (r, c) of every matrix holds where it came from; padding holds its own place. */
static int misplaced(const double *a, int count)
{
	int bad = 0;

	for (int i = 0; i < count * SPAN; i++) {
		int base = i / SPAN * SPAN, r = i % SPAN / LD, c = i % SPAN % LD;

		bad += a[i] != (c < N ? base + c * LD + r : i);
	}
	return bad;
}

static void imatcopies(double *a)
{
	unsigned short h[4] = {0x3c00, 0x4000, 0x4200, 0x4400}; /* the bits of 1, 2, 3, 4 */
	unsigned short b[4] = {0x3f80, 0x4000, 0x4040, 0x4080};

	fill(a, 1);
	EXPECT(tsw_dimatcopy_host('T', N, 1, a, LD, 0) == TSW_OK);
	EXPECT(misplaced(a, 1) == 0);
	fill(a, COUNT);
	EXPECT(tsw_imatcopy_batch_host('T', TSW_DOUBLE, N, NULL, a, LD, SPAN, COUNT, 0) == TSW_OK);
	EXPECT(misplaced(a, COUNT) == 0);
	EXPECT(tsw_himatcopy_host('T', 2, 0.5f, h, 2, 0) == TSW_OK);
	EXPECT(h[0] == 0x3800 && h[1] == 0x3e00 && h[2] == 0x3c00 && h[3] == 0x4000);
	EXPECT(tsw_bimatcopy_host('T', 2, 0.5f, b, 2, 0) == TSW_OK);
	EXPECT(b[0] == 0x3f00 && b[1] == 0x3fc0 && b[2] == 0x3f80 && b[3] == 0x4000);
}

int main(void)
{
	double *a = malloc(sizeof(double) * COUNT * SPAN);
	void *each[COUNT] = {a, a + SPAN, a + 2 * SPAN};
	tsw_digest before, after;
	char version[32];

	snprintf(version, sizeof version, "%d.%d.%d", TSW_VERSION_MAJOR, TSW_VERSION_MINOR,
		 TSW_VERSION_PATCH);
	EXPECT(!strcmp(tsw_version(), version));

	fill(a, 1);
	EXPECT(tsw_checksum_host(a, N, LD, sizeof *a, 0, &before, 0) == TSW_OK);
	EXPECT(tsw_transpose(a, N, LD, sizeof *a) == TSW_OK);
	EXPECT(misplaced(a, 1) == 0);
	EXPECT(tsw_checksum_host(a, N, LD, sizeof *a, 1, &after, 1) == TSW_OK);
	EXPECT(before.placed == after.placed && before.values == after.values);
	EXPECT(tsw_transpose_host(a, N, LD, sizeof *a, 2) == TSW_OK);
	EXPECT(misplaced(a, 1) == N * (N - 1));

	fill(a, COUNT);
	EXPECT(tsw_transpose_batch_host(a, N, LD, sizeof *a, SPAN, COUNT, 0) == TSW_OK);
	EXPECT(misplaced(a, COUNT) == 0);
	fill(a, COUNT);
	EXPECT(tsw_transpose_array_host(each, N, LD, sizeof *a, COUNT, 0) == TSW_OK);
	EXPECT(misplaced(a, COUNT) == 0);

	imatcopies(a);

	EXPECT(tsw_transpose_host(a, N, N - 1, sizeof *a, 0) == TSW_ERR_LD);
	EXPECT(strstr(tsw_last_error(), "36") && strstr(tsw_last_error(), "37"));
	EXPECT(misplaced(a, COUNT) == 0);

	if (tsw_cuda_status() != TSW_OK) {
		tsw_status status = tsw_cuda_status();

		EXPECT(tsw_transpose_device(a, N, LD, sizeof *a, NULL) == status);
		EXPECT(tsw_checksum_device(a, N, LD, sizeof *a, 0, &after, NULL) == status);
		EXPECT(misplaced(a, COUNT) == 0);
	}
	free(a);
	return wrong;
}
