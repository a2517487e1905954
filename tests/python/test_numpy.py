"""NumPy arrays, views and memmaps."""

import os
import random
import threading

import pytest
import tileswap
from conftest import need

np = need("numpy")

WIDTHS = ["u1", "f2", "f4", "f8", "c16", "V3", "V24", "M8[s]"]


def coded(shape, dtype):
    """Every element different as far as its width allows, every byte pattern possible."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    numbers = (np.arange(count, dtype="u8") * 0x9E3779B97F4A7C15)[:, None] >> np.arange(0, 64, 8, dtype="u8")
    octets = np.tile(numbers.astype("u1"), (1, -(-dtype.itemsize // 8)))[:, : dtype.itemsize]
    return np.ascontiguousarray(octets).view(dtype).reshape(shape)


def same(x, y):
    return x.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("n", [1, 2, 31, 33, 130])
def test_every_width(n, dtype):
    x = coded((n, n), dtype)
    want = x.T.copy()
    digest = tileswap.checksum(x)
    assert tileswap.transpose_(x) is x
    assert same(x, want)
    assert tileswap.checksum(x, transposed=True) == digest


def test_structured_elements():
    x = coded((20, 20), [("a", "f4"), ("b", "i8"), ("c", "u1")])
    want = x.T.copy()
    assert same(tileswap.transpose_(x), want)


@pytest.mark.parametrize("n", [0, 1])
def test_trivial(n):
    x = np.full((n, n), 7.0)
    assert tileswap.transpose_(x) is x
    assert (x == 7).all()
    assert tileswap.transpose_(np.empty((0, 5, 5))).shape == (0, 5, 5)
    assert tileswap.transpose_(np.empty((5, 0, 0))).shape == (5, 0, 0)
    assert tileswap.checksum(np.empty((0, 0))) == (0, 0)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_arguments_beside_an_array_of_any_size(n):
    x = np.ones((n, n, n))
    for call in (tileswap.transpose_, tileswap.imatcopy_, tileswap.checksum):
        with pytest.raises(tileswap.TileswapError, match="nthreads = -1"):
            call(x[0] if n else x, threads=-1)
        with pytest.raises(TypeError, match="threads = 1.5"):
            call(x, threads=1.5)
        with pytest.raises(ValueError, match="stream"):
            call(x, stream=1)
    for call in (tileswap.transpose_, tileswap.checksum):
        with pytest.raises(TypeError, match="element_axes = '1'"):
            call(x, element_axes="1")
        with pytest.raises(ValueError, match="element_axes = -1"):
            call(x, element_axes=-1)
        with pytest.raises(tileswap.NotInPlaceError, match="9 of them in an element"):
            call(x, element_axes=9)
    with pytest.raises(tileswap.NotInPlaceError, match="0 bytes"):
        tileswap.transpose_(np.zeros((3, 3), "V0"))
    assert (x == 1).all()


def test_window_of_a_larger_array():
    whole = coded((90, 120), "f8")
    want = whole.copy()
    want[7:67, 50:110] = whole[7:67, 50:110].T
    tileswap.transpose_(whole[7:67, 50:110])
    assert same(whole, want)


def test_every_other_row():
    whole = coded((60, 30), "i4")
    want = whole.copy()
    want[::2] = whole[::2].T
    tileswap.transpose_(whole[::2])
    assert same(whole, want)


def test_fortran_order():
    x = np.asfortranarray(coded((50, 50), "f4"))
    want = x.T.copy()
    digest = tileswap.checksum(x)
    tileswap.transpose_(x)
    assert same(x, want)
    assert tileswap.checksum(x, transposed=True) == digest


def test_digest_goes_by_index_not_by_memory():
    x = coded((40, 40), "f8")
    assert tileswap.checksum(np.asfortranarray(x)) == tileswap.checksum(x)
    assert tileswap.checksum(x.T) == tileswap.checksum(x, transposed=True) != tileswap.checksum(x)
    x.flags.writeable = False
    assert tileswap.checksum(x).placed


@pytest.mark.parametrize("shape", [(1, 17, 17), (300, 5, 5), (4, 3, 20, 20), (2, 1, 3, 9, 9)])
def test_batches(shape):
    x = coded(shape, "f4")
    want = np.swapaxes(x, -1, -2).copy()
    assert same(tileswap.transpose_(x, threads=2), want)


def test_batch_of_windows_in_any_order_of_axes():
    whole = coded((4, 3, 24, 32), "f8")
    want = whole.copy()
    want[:, :, :20, 3:23] = np.swapaxes(whole[:, :, :20, 3:23], -1, -2)
    tileswap.transpose_(whole[:, :, :20, 3:23].transpose(1, 0, 2, 3))
    assert same(whole, want)


def test_matrices_side_by_side():
    whole = coded((10, 40), "f8")  # four 10 x 10 matrices
    want = np.concatenate([whole[:, 10 * b : 10 * b + 10].T for b in range(4)], axis=1)
    tileswap.transpose_(whole.reshape(10, 4, 10).transpose(1, 0, 2))
    assert same(whole, want)


def test_wide_elements():
    x = coded((3, 24, 24, 7), "f4")
    want = x.transpose(0, 2, 1, 3).copy()
    assert same(tileswap.transpose_(x, element_axes=1), want)
    x = coded((16, 16, 2, 5), "u2")
    want = x.transpose(1, 0, 2, 3).copy()
    digest = tileswap.checksum(x, element_axes=2)
    assert same(tileswap.transpose_(x, element_axes=2), want)
    assert tileswap.checksum(x, element_axes=2, transposed=True) == digest


def test_memmap(tmp_path):
    path = tmp_path / "matrix.npy"
    x = coded((70, 70), "f8")
    np.save(path, x)
    mapped = np.load(path, mmap_mode="r+")
    assert tileswap.transpose_(mapped) is mapped
    mapped.flush()
    assert same(np.load(path), x.T.copy())
    with pytest.raises(tileswap.NotInPlaceError, match="read-only"):
        tileswap.transpose_(np.load(path, mmap_mode="r"))


def test_bits_survive():
    x = np.array([[np.nan, -0.0], [5e-324, 1.0]])
    x.view("u8")[0, 0] = 0xFFF4DEADBEEF0001  # a signalling NaN with a payload
    want = x.T.copy().view("u8")
    assert (tileswap.transpose_(x).view("u8") == want).all()


def refused():
    base = np.zeros((8, 12))
    strided = np.lib.stride_tricks.as_strided
    yield "not square", base, "not square: 8 x 12"
    yield "one axis", base[0], "1 axis: a matrix needs two"
    yield "no axis", np.zeros(()), "0 axes"
    yield "inner stride 2", base[:6, ::2], "8 bytes apart"
    yield "rows backwards", base[::-1, :8], "negative"
    yield "columns backwards", base[:, 7::-1], "negative"
    yield "matrices backwards", np.zeros((2, 5, 5))[::-1], "negative"
    yield "one row eight times", strided(base, (8, 8), (0, 8), writeable=True), "stride 0"
    yield "one matrix twice", strided(base, (2, 8, 8), (0, 96, 8), writeable=True), "stride 0"
    yield "overlapping rows", strided(base, (8, 8), (32, 8), writeable=True), "rows overlap"
    yield "overlapping matrices", strided(base, (3, 5, 5), (32, 40, 8), writeable=True), "stride"
    yield "uneven batch", np.zeros((4, 3, 5, 5))[:, :2], "not evenly spaced"
    yield "a field", np.zeros((4, 4), [("a", "f4"), ("b", "f8")])["a"], "4 bytes apart"
    yield "objects", np.zeros((3, 3), object), "Python objects"
    yield "masked", np.ma.zeros((3, 3)), "mask"
    yield "read-only", np.broadcast_to(1.0, (3, 3)), "read-only"


@pytest.mark.parametrize("name, x, match", [pytest.param(*case, id=case[0]) for case in refused()])
def test_refused_and_not_touched(name, x, match):
    before = x.tobytes()
    with pytest.raises(tileswap.NotInPlaceError, match=match) as caught:
        tileswap.transpose_(x)
    assert isinstance(caught.value, ValueError) and caught.value.status != 0
    assert x.tobytes() == before


def test_wrong_arguments():
    x = np.zeros((4, 4))
    with pytest.raises(tileswap.TileswapError, match="nthreads = -1") as caught:
        tileswap.transpose_(x, threads=-1)
    assert caught.value.status == tileswap.Status.ERR_THREADS
    for call in (tileswap.transpose_, tileswap.imatcopy_, tileswap.checksum):
        with pytest.raises(TypeError, match="threads = 1.5"):
            call(x, threads=1.5)
        with pytest.raises(ValueError, match="threads = 4294967296"):  # as a C int it would be 0
            call(x, threads=2**32)
    tileswap.transpose_(x, threads=np.int64(1))
    with pytest.raises(ValueError, match="stream="):
        tileswap.transpose_(x, stream=1)
    with pytest.raises(TypeError, match="no CUDA stream"):
        tileswap.transpose_(x, stream="fast")
    with pytest.raises(ValueError, match="element_axes"):
        tileswap.transpose_(x, element_axes=-1)
    with pytest.raises(tileswap.NotInPlaceError, match="not contiguous"):
        tileswap.transpose_(np.zeros((4, 4, 6))[:, :, :3:2], element_axes=1)
    with pytest.raises(ValueError, match="batch of 2"):
        tileswap.checksum(np.zeros((2, 3, 3)))


def test_wrong_placement_is_seen():
    x = coded((30, 30), "f8")
    digest = tileswap.checksum(x)
    x[3, 4], x[4, 3] = x[4, 3], x[3, 4]
    moved = tileswap.checksum(x)
    assert moved.placed != digest.placed and moved.values == digest.values
    x[0, 0] += 1
    assert tileswap.checksum(x).values != digest.values


def test_from_many_threads():
    arrays = [coded((150, 150), "u8") + np.uint64(i) for i in range(8)]
    wants = [x.T.copy() for x in arrays]
    threads = [threading.Thread(target=tileswap.transpose_, args=(x,)) for x in arrays]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(map(same, arrays, wants))


def test_random_views():
    seed = int(os.environ.get("TSW_SEED", "0"), 0) or random.randrange(2**32)
    print(f"TSW_SEED={seed}")
    dice = random.Random(seed)
    for _ in range(60):
        n, pad, count = dice.randrange(1, 60), dice.randrange(0, 9), dice.randrange(1, 4)
        whole = coded((count, n + dice.randrange(0, 4), n + pad), dice.choice(WIDTHS))
        first = dice.randrange(0, pad + 1)
        view = whole[:, :n, first : first + n]
        if dice.random() < 0.3:
            view = np.swapaxes(view, 1, 2)
        want = whole.copy()
        want[:, :n, first : first + n] = np.swapaxes(whole[:, :n, first : first + n], 1, 2)
        tileswap.transpose_(view, threads=dice.randrange(0, 3))
        assert same(whole, want)
