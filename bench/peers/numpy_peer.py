#!/usr/bin/env python3
"""NumPy: a[:] = a.T, which makes a hidden copy of the whole matrix."""

import os
import time

# Old cores chosen for the sake of old builds would slow it down; read when NumPy is loaded.
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import peer  # noqa: E402

try:
    import numpy
except ImportError:
    peer.missing("numpy")

DTYPES = {
    1: numpy.int8,
    2: numpy.int16,
    4: numpy.int32,
    8: numpy.int64,
    16: numpy.complex128,
}


def rows_of(n, elem_size, first, end, transposed):
    """Rows first to end of the coded matrix or of its transpose."""
    r = numpy.arange(first, end, dtype=numpy.int64)[:, None]
    c = numpy.arange(n, dtype=numpy.int64)[None, :]
    at = c * n + r if transposed else r * n + c
    if elem_size == 16:
        return at + 1j * (at + 1)
    with numpy.errstate(over="ignore"):
        return peer.code(at, elem_size, lambda x: x.astype(DTYPES[elem_size]))


def count_wrong(a, n, elem_size):
    wrong = 0
    for first in range(0, n, 1024):
        end = min(first + 1024, n)
        wrong += int((a[first:end] != rows_of(n, elem_size, first, end, True)).sum())
    return wrong


def time_pair(first, second):
    t0 = time.perf_counter()
    first()
    t1 = time.perf_counter()
    second()
    t2 = time.perf_counter()
    return (t1 - t0) * 1e3, (t2 - t1) * 1e3


def measure(o, n, elem_size):
    if elem_size not in DTYPES or o.count != 1:
        return True
    a = numpy.empty((n, n), dtype=DTYPES[elem_size])
    for first in range(0, n, 1024):
        a[first : first + 1024] = rows_of(n, elem_size, first, min(first + 1024, n), False)
    b = numpy.empty_like(a)
    b[:] = a
    nbytes = n * n * elem_size // 8 * 8
    words = a.reshape(-1).view(numpy.uint8)[:nbytes].view(numpy.uint64)

    def transpose():
        a[:] = a.T

    def copy():
        b[:] = a

    def rmw():
        numpy.bitwise_not(words, out=words)

    transpose()
    wrong = count_wrong(a, n, elem_size)
    ceilings = [("rmw", rmw), ("copy", copy)]
    extra = {"version": numpy.__version__}
    return peer.race(o, "cpu", "peer:numpy", n, elem_size, False, transpose, ceilings, time_pair,
                     wrong, extra)


peer.run(peer.options("NumPy"), measure)
