"""Matrices of doubles in files for bench/files-peers.sh: element (r, c) is r * side + c, exactly.

    matrix.py make SIDE NPY RAW          both files
    matrix.py text SIDE TXT              tab-separated
    matrix.py zarr SIDE RAW DIRECTORY    array "m", tiles of 1024 without compression
    matrix.py whole SIDE RAW             a memmap transposed by a[:] = a.T
    matrix.py tiles SIDE RAW             by tile pairs of 1024
    matrix.py second SIDE RAW OUT        into a second memmap, by tiles of 1024
"""
import json
import os
import sys

import numpy

TILE = 1024


def rows(side, first, end):
    return numpy.arange(first * side, end * side, dtype="<f8").reshape(end - first, side)


def bands(side):
    return ((first, min(first + TILE, side)) for first in range(0, side, TILE))


def make(side, npy, raw):
    header = {"descr": "<f8", "fortran_order": False, "shape": (side, side)}
    with open(npy, "wb") as a, open(raw, "wb") as b:
        numpy.lib.format.write_array_header_1_0(a, header)
        for first, end in bands(side):
            rows(side, first, end).tofile(a)
            rows(side, first, end).tofile(b)


def text(side, path):
    with open(path, "w") as out:
        for r in range(side):
            numpy.savetxt(out, rows(side, r, r + 1), fmt="%.0f", delimiter="\t")


def zarr(side, raw, directory):
    a = numpy.memmap(raw, "<f8", "r", shape=(side, side))
    os.makedirs(directory + "/m")
    with open(directory + "/.zgroup", "w") as out:
        json.dump({"zarr_format": 2}, out)
    with open(directory + "/m/.zarray", "w") as out:
        json.dump({"zarr_format": 2, "shape": [side, side], "chunks": [TILE, TILE], "dtype": "<f8",
                   "compressor": None, "fill_value": None, "order": "C", "filters": None}, out)
    for r, row_end in bands(side):
        for c, col_end in bands(side):
            chunk = numpy.zeros((TILE, TILE), "<f8")
            chunk[: row_end - r, : col_end - c] = a[r:row_end, c:col_end]
            chunk.tofile(f"{directory}/m/{r // TILE}.{c // TILE}")


def whole(side, raw):
    a = numpy.memmap(raw, "<f8", "r+", shape=(side, side))
    a[:] = a.T
    a.flush()


def tiles(side, raw):
    a = numpy.memmap(raw, "<f8", "r+", shape=(side, side))
    for r, row_end in bands(side):
        for c, col_end in bands(side):
            if c > r:
                continue
            upper = a[c:col_end, r:row_end].T.copy()
            a[c:col_end, r:row_end] = a[r:row_end, c:col_end].T.copy()
            a[r:row_end, c:col_end] = upper
    a.flush()


def second(side, raw, path):
    a = numpy.memmap(raw, "<f8", "r", shape=(side, side))
    b = numpy.memmap(path, "<f8", "w+", shape=(side, side))
    for r, row_end in bands(side):
        for c, col_end in bands(side):
            b[c:col_end, r:row_end] = a[r:row_end, c:col_end].T
    b.flush()


if __name__ == "__main__":
    {f.__name__: f for f in (make, text, zarr, whole, tiles, second)}[sys.argv[1]](
        int(sys.argv[2]), *sys.argv[3:])
