"""The buffer protocol, with nothing but the standard library."""

import ctypes
import gc
import mmap

import pytest
import tileswap


@pytest.mark.parametrize("n", [1, 2, 31, 64, 100])
def test_bytearray(n):
    data = bytearray(i % 251 for i in range(n * n))
    before = bytes(data)
    matrix = memoryview(data).cast("B", (n, n))
    digest = tileswap.checksum(matrix)
    assert tileswap.transpose_(matrix) is matrix
    assert all(data[r * n + c] == before[c * n + r] for r in range(n) for c in range(n))
    assert tileswap.checksum(matrix, transposed=True) == digest


def test_batch_of_doubles():
    data = memoryview(bytearray(8 * 3 * 5 * 5)).cast("d", (3, 5, 5))
    for b in range(3):
        for r in range(5):
            for c in range(5):
                data[b, r, c] = 100 * b + 10 * r + c
    tileswap.transpose_(data, threads=1)
    assert all(data[b, r, c] == 100 * b + 10 * c + r for b in range(3) for r in range(5) for c in range(5))


def test_the_buffer_is_released():
    data = bytearray(16)
    tileswap.transpose_(memoryview(data).cast("B", (4, 4)))
    with pytest.raises(ValueError):
        tileswap.transpose_(memoryview(data))
    gc.collect()
    data.append(0)  # BufferError while anybody holds the buffer


def test_mapped_memory():
    with mmap.mmap(-1, 4096) as memory:
        memory[:4] = b"abcd"
        with memoryview(memory) as flat, flat.cast("B", (64, 64)) as matrix:
            tileswap.transpose_(matrix)
        assert [memory[64 * i : 64 * i + 1] for i in range(4)] == [b"a", b"b", b"c", b"d"]


def test_arrays_of_ctypes():
    """Their buffers have a shape and no strides."""
    matrices = (ctypes.c_uint16 * 3 * 3 * 2)()
    for b in range(2):
        for r in range(3):
            matrices[b][r][:] = [100 * b + 10 * r + c for c in range(3)]
    tileswap.transpose_(matrices)
    for b in range(2):
        assert [list(row) for row in matrices[b]] == [[100 * b + 10 * c + r for c in range(3)] for r in range(3)]
    with pytest.raises(tileswap.NotInPlaceError, match="1 axis"):
        tileswap.transpose_((ctypes.c_int * 4)())
    with pytest.raises(tileswap.NotInPlaceError, match="0 axes"):
        tileswap.transpose_(ctypes.c_int())


def test_read_only():
    data = bytes(range(16))
    matrix = memoryview(data).cast("B", (4, 4))
    with pytest.raises(tileswap.NotInPlaceError, match="read-only"):
        tileswap.transpose_(matrix)
    assert data == bytes(range(16))
    assert tileswap.checksum(matrix) == tileswap.checksum(memoryview(bytearray(data)).cast("B", (4, 4)))


def test_one_axis():
    with pytest.raises(tileswap.NotInPlaceError, match="1 axis"):
        tileswap.transpose_(bytearray(16))
