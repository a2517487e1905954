"""transpose_file: formats, results, stopping and going on, refusals."""

import signal
import threading

import pytest
import tileswap
from conftest import need

np = need("numpy")


def coded(n, dtype="f8"):
    return np.arange(n * n).astype(dtype).reshape(n, n)


def test_npy(tmp_path):
    path = tmp_path / "a.npy"
    x = coded(300)
    np.save(path, x)
    seen = []
    result = tileswap.transpose_file(path, verify=True, progress=lambda done, total: seen.append((done, total)))
    assert (np.load(path) == x.T).all()
    assert (result.n, result.elem_size, result.format) == (300, 8, "npy")
    assert result.before == result.after == tileswap.checksum(x)
    assert result.bytes_read >= x.nbytes and result.resumed_from_pair is None and not result.already_done
    assert not (tmp_path / "a.npy.tswj").exists()
    assert seen and all(0 <= done <= total for done, total in seen)


def test_fortran_order_npy(tmp_path):
    path = tmp_path / "a.npy"
    x = coded(120, "i4")
    np.save(path, np.asfortranarray(x))
    result = tileswap.transpose_file(str(path), verify=True)
    assert (np.load(path) == x.T).all() and result.column_major
    tileswap.transpose_file(path, flag_only=True)
    assert (np.load(path) == x).all()


def test_raw_window(tmp_path):
    path = tmp_path / "a.bin"
    whole = np.arange(90 * 100, dtype="u4").reshape(90, 100)
    whole.tofile(path)
    want = whole.copy()
    want[10:, 7:87] = whole[10:, 7:87].T
    result = tileswap.transpose_file(path, n=80, ld=100, elem_size=4, offset=4 * (10 * 100 + 7), threads=1)
    assert (np.fromfile(path, dtype="u4").reshape(90, 100) == want).all()
    assert (result.n, result.ld, result.format) == (80, 100, "raw")


def test_out(tmp_path):
    path, out = tmp_path / "a.npy", tmp_path / "t.npy"
    x = coded(100, "f4")
    np.save(path, x)
    tileswap.transpose_file(path, out=out)
    assert (np.load(out) == x.T).all() and (np.load(path) == x).all()
    with pytest.raises(tileswap.TileswapError) as caught:
        tileswap.transpose_file(path, out=out)
    assert caught.value.status == tileswap.Status.ERR_OPTION
    tileswap.transpose_file(path, out=out, force=True)


def big(tmp_path):
    """A file of many tile pairs for little memory."""
    path = tmp_path / "big.npy"
    x = coded(2000)
    np.save(path, x)
    return path, x, dict(memory=1 << 20, durability="process")


def test_stopped_and_resumed(tmp_path):
    path, x, options = big(tmp_path)
    with pytest.raises(tileswap.TileswapError) as caught:
        tileswap.transpose_file(path, **options, progress=lambda done, total: done > total // 3)
    assert caught.value.status == tileswap.Status.ERR_INTERRUPTED
    assert (tmp_path / "big.npy.tswj").exists()
    result = tileswap.transpose_file(path, **options)
    assert (np.load(path) == x.T).all() and result.resumed_from_pair and result.resumed_from_pair < result.pairs


def test_an_exception_in_progress_comes_out(tmp_path):
    path, x, options = big(tmp_path)

    def progress(done, total):
        if done > total // 4:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        tileswap.transpose_file(path, **options, progress=progress)
    tileswap.transpose_file(path, **options)
    assert (np.load(path) == x.T).all()


@pytest.fixture
def interruptible():
    """A shell's background jobs ignore Ctrl-C, and so would Python."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c(tmp_path, interruptible):
    path, x, options = big(tmp_path)
    assert threading.current_thread() is threading.main_thread()
    calls = []

    def progress(done, total):
        calls.append(done)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tileswap.transpose_file(path, **options, progress=progress)
    # A Ctrl-C that is seen only when the last pair is done comes out of a finished run.
    if (tmp_path / "big.npy.tswj").exists():
        tileswap.transpose_file(path, **options)
    assert (np.load(path) == x.T).all()


def test_once(tmp_path):
    path = tmp_path / "a.npy"
    x = coded(64)
    np.save(path, x)
    assert not tileswap.transpose_file(path, once=True).already_done
    assert tileswap.transpose_file(path, once=True).already_done
    assert (np.load(path) == x.T).all()


def test_refused(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((4, 5)))
    for options, status in [
        (dict(), "ERR_FORMAT"),
        (dict(threads=-1), "ERR_THREADS"),
        (dict(format="raw", n=4, elem_size=0), "ERR_ELEM_SIZE"),
    ]:
        with pytest.raises(tileswap.TileswapError) as caught:
            tileswap.transpose_file(path, **options)
        assert caught.value.status == tileswap.Status[status], options
    with pytest.raises(tileswap.TileswapError) as caught:
        tileswap.transpose_file(tmp_path / "missing.npy")
    assert caught.value.status == tileswap.Status.ERR_IO and "missing.npy" in str(caught.value)
    with pytest.raises(ValueError, match="format = 'csv'"):
        tileswap.transpose_file(path, format="csv")
    with pytest.raises(ValueError, match="durability"):
        tileswap.transpose_file(path, durability="none")


def test_arguments_that_c_would_bend(tmp_path):
    path = tmp_path / "a.npy"
    x = coded(9)
    np.save(path, x)
    for options, error, match in [
        (dict(memory=-1), ValueError, "memory = -1"),
        (dict(memory="4G"), TypeError, "memory = '4G'"),
        (dict(memory=1e9), TypeError, "memory = 1000000000.0"),
        (dict(offset=2**64), ValueError, "offset = 18446744073709551616"),
        (dict(threads=2**32), ValueError, "threads = 4294967296"),
        (dict(out=f"{tmp_path}/t.npy\0x"), ValueError, "out = .* zero byte"),
        (dict(dataset="w\0x"), ValueError, "dataset = .* zero byte"),
        (dict(dataset="w"), tileswap.TileswapError, "a .npy file has no datasets"),
        (dict(dataset=b"w"), TypeError, "dataset = b'w'"),
        (dict(format=["npy"]), ValueError, r"format = \['npy'\]"),
        (dict(progress=3), TypeError, "progress = 3"),
    ]:
        with pytest.raises(error, match=match):
            tileswap.transpose_file(path, **options)
    with pytest.raises(ValueError, match="path = .* zero byte"):
        tileswap.transpose_file(f"{path}\0x")
    assert (np.load(path) == x).all() and [p.name for p in tmp_path.iterdir()] == ["a.npy"]


def test_half_transposed_is_not_read(tmp_path):
    path = tmp_path / "a.npy"
    x = coded(600)
    np.save(path, x)
    with pytest.raises(tileswap.TileswapError):
        tileswap.transpose_file(path, memory=1 << 20, progress=lambda done, total: True)
    with pytest.raises(tileswap.TileswapError, match="half transposed") as caught:
        tileswap.transpose_file(path, out=tmp_path / "t.npy")
    assert caught.value.status == tileswap.Status.ERR_JOURNAL and not (tmp_path / "t.npy").exists()
    tileswap.transpose_file(path, memory=1 << 20)
    assert (np.load(path) == x.T).all()
