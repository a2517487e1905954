/* [B, S, H, D] <-> [B, H, S, D] in place, for S = H: the two layouts of attention.
 *
 * Exchanging the two middle axes moves runs of D numbers.  With a run taken for one wide element,
 * each of the B blocks is an S x S matrix of them, and the permutation is a batched square
 * transpose: no second tensor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tileswap.h>

/* `x` is [batch][side][side][depth], of numbers of `size` bytes, in host memory. */
static tsw_status exchange_middle_axes(void *x, size_t batch, size_t side, size_t depth,
				       size_t size)
{
	return tsw_transpose_batch_host(x, side, side, depth * size, side * side, batch, 0);
}

int main(void)
{
	enum { B = 3, S = 48, H = S, D = 80 };
	uint32_t(*x)[S][H][D] = malloc(B * sizeof *x);
	size_t wrong = 0;

	for (uint32_t b = 0; b < B; b++)
		for (uint32_t s = 0; s < S; s++)
			for (uint32_t h = 0; h < H; h++)
				for (uint32_t d = 0; d < D; d++)
					x[b][s][h][d] = ((b * S + s) * H + h) * D + d;
	if (exchange_middle_axes(x, B, S, D, sizeof ***x[0]) != TSW_OK) {
		fprintf(stderr, "%s\n", tsw_last_error());
		return 1;
	}
	for (uint32_t b = 0; b < B; b++)
		for (uint32_t s = 0; s < S; s++)
			for (uint32_t h = 0; h < H; h++)
				for (uint32_t d = 0; d < D; d++)
					wrong += x[b][h][s][d] != ((b * S + s) * H + h) * D + d;
	printf("heads: [%d, %d, %d, %d], %zu of %d numbers wrong\n", B, H, S, D, wrong,
	       B * S * H * D);
	free(x);
	return wrong != 0;
}
