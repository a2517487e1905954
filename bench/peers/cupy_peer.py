#!/usr/bin/env python3
"""CuPy: ascontiguousarray of the transposed view, out of place (twice the memory)."""

import peer

try:
    import cupy
except ImportError:
    peer.missing("cupy")

DTYPES = {
    1: cupy.int8,
    2: cupy.int16,
    4: cupy.int32,
    8: cupy.int64,
    16: cupy.complex128,
}
ROWS = 2048


def rows_of(n, elem_size, first, end, transposed):
    r = cupy.arange(first, end, dtype=cupy.int64)[:, None]
    c = cupy.arange(n, dtype=cupy.int64)[None, :]
    at = c * n + r if transposed else r * n + c
    if elem_size == 16:
        return at + 1j * (at + 1)
    return peer.code(at, elem_size, lambda x: x.astype(DTYPES[elem_size]))


def count_wrong(a, n, elem_size):
    wrong = 0
    for first in range(0, n, ROWS):
        end = min(first + ROWS, n)
        wrong += int((a[:, first:end] != rows_of(n, elem_size, first, end, True)).sum())
    return wrong


def time_pair(first, second):
    events = [cupy.cuda.Event() for _ in range(3)]
    events[0].record()
    first()
    events[1].record()
    second()
    events[2].record()
    events[2].synchronize()
    elapsed = cupy.cuda.get_elapsed_time
    return elapsed(events[0], events[1]), elapsed(events[1], events[2])


def fits_twice(count, n, elem_size):
    free, _ = cupy.cuda.runtime.memGetInfo()
    spare = 6 * 8 * max(1, count) * ROWS * n + (1 << 30)
    return 2 * count * n * n * elem_size + spare < free


def measure(o, n, elem_size):
    if elem_size not in DTYPES or not fits_twice(o.count, n, elem_size):
        return True
    a = cupy.empty((o.count, n, n), dtype=DTYPES[elem_size])
    for first in range(0, n, ROWS):
        end = min(first + ROWS, n)
        a[:, first:end] = rows_of(n, elem_size, first, end, False)

    def transpose():
        return cupy.ascontiguousarray(a.transpose(0, 2, 1))

    out = transpose()
    wrong = count_wrong(out, n, elem_size)

    def copy():
        out.data.copy_from_device_async(a.data, a.nbytes, cupy.cuda.get_current_stream())

    good = peer.race(o, "cuda", "peer:cupy", n, elem_size, False, transpose, [("memcpy", copy)],
                     time_pair, wrong, {"version": cupy.__version__})
    del a, out
    cupy.get_default_memory_pool().free_all_blocks()
    return good


peer.run(peer.options("CuPy"), measure)
