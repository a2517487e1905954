#!/usr/bin/env python3
"""Triton: the tiled kernel out of place, and the same idea in place on tile pairs.

Each runs with a few block sizes; the fastest of each is the row that is printed.
"""

import peer

try:
    import torch
    import triton
    import triton.language as tl

    import torch_data
except ImportError:
    peer.missing("triton")


@triton.jit
def out_of_place(a_ptr, out_ptr, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """One program, one tile: loaded row-wise, stored with the strides exchanged."""
    base = tl.program_id(2).to(tl.int64) * n * n
    m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    k = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (m[:, None] < n) & (k[None, :] < n)  # good for both sides
    tile = tl.load(a_ptr + base + m[:, None] * n + k[None, :], mask=mask)
    tl.store(out_ptr + base + k[None, :] * n + m[:, None], tile, mask=mask)


@triton.jit
def in_place(a_ptr, n, BLOCK: tl.constexpr):
    """One program, one pair of tiles (i, j), i <= j, number k = j (j + 1) / 2 + i."""
    base = tl.program_id(1).to(tl.int64) * n * n
    k = tl.program_id(0)
    j = (tl.sqrt(2.0 * k.to(tl.float64) + 0.25) - 0.5).to(tl.int64)
    j = tl.where(j * (j + 1) // 2 > k, j - 1, j)
    j = tl.where((j + 1) * (j + 2) // 2 <= k, j + 1, j)
    i = k - j * (j + 1) // 2
    r = i * BLOCK + tl.arange(0, BLOCK)
    c = j * BLOCK + tl.arange(0, BLOCK)
    upper = a_ptr + base + r[:, None] * n + c[None, :]
    lower = a_ptr + base + c[:, None] * n + r[None, :]
    upper_mask = (r[:, None] < n) & (c[None, :] < n)
    lower_mask = (c[:, None] < n) & (r[None, :] < n)
    u = tl.load(upper, mask=upper_mask)
    v = tl.load(lower, mask=lower_mask)
    tl.debug_barrier()  # no warp stores before all have loaded
    tl.store(lower, tl.trans(u), mask=lower_mask)
    tl.store(upper, tl.trans(v), mask=upper_mask)


def run_out_of_place(a, out, n, block):
    grid = (triton.cdiv(n, block), triton.cdiv(n, block), a.shape[0])
    out_of_place[grid](a, out, n, BLOCK_M=block, BLOCK_N=block, num_warps=8 if block > 32 else 4)


def run_in_place(a, n, block):
    tiles = triton.cdiv(n, block)
    in_place[(tiles * (tiles + 1) // 2, a.shape[0])](a, n, BLOCK=block,
                                                     num_warps=8 if block > 32 else 4)


def fastest(run, blocks):
    """The block size with the shortest of three runs."""
    def shortest(block):
        return min(torch_data.time_pair(lambda: run(block), lambda: run(block))[1]
                   for _ in range(3))

    return min(blocks, key=shortest)


def measure(o, n, elem_size):
    if elem_size not in (1, 2, 4, 8) or not torch_data.fits_twice(o.count, n, elem_size):
        return True
    a = torch.empty((o.count, n, n), dtype=torch_data.DTYPES[elem_size], device="cuda")
    out = torch.empty_like(a)
    blocks = (32, 64) if elem_size >= 4 else (64, 128)
    good = True
    for name, to_itself, run in (
        ("peer:triton", False, lambda block: run_out_of_place(a, out, n, block)),
        ("peer:triton-in-place", True, lambda block: run_in_place(a, n, block)),
    ):
        block = fastest(run, blocks)
        torch_data.fill(a, elem_size)
        run(block)
        wrong = torch_data.count_wrong(a if to_itself else out, elem_size)
        good = peer.race(o, "cuda", name, n, elem_size, to_itself, lambda: run(block),
                         torch_data.ceilings(a, out), torch_data.time_pair, wrong,
                         {"block": block, "version": triton.__version__}) and good
    del a, out
    torch.cuda.empty_cache()
    return good


if __name__ == "__main__":
    options = peer.options("Triton")
    if not torch.cuda.is_available():
        peer.missing("a GPU for torch")
    peer.run(options, measure)
