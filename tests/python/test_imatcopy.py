"""imatcopy_ on NumPy arrays, buffers and, where they are installed, PyTorch tensors."""

import array
import ctypes
import sys

import pytest
import tileswap
from conftest import need

np = need("numpy")

OPS = {
    "N": lambda x: x,
    "T": lambda x: x.swapaxes(-1, -2),
    "R": np.conj,
    "C": lambda x: np.conj(x.swapaxes(-1, -2)),
}


def numbers(shape, dtype):
    x = np.arange(np.prod(shape), dtype="f8").reshape(shape) - 7
    return (x * (1 - 2j) if np.dtype(dtype).kind == "c" else x).astype(dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("op", "NTCRntcr")
@pytest.mark.parametrize("alpha", [None, 1, 2, -0.5, 0])
def test_real_alphas(dtype, op, alpha):
    x = numbers((33, 33), dtype)
    want = np.asarray(OPS[op.upper()](x) * (1 if alpha is None else alpha)).astype(dtype)
    assert tileswap.imatcopy_(x, op, alpha) is x
    assert (x == want).all()


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_alpha(dtype):
    x = numbers((40, 40), dtype)
    want = np.conj(x.T) * np.dtype(dtype).type(2 - 3j)
    assert (tileswap.imatcopy_(x, "C", 2 - 3j, threads=2) == want).all()


@pytest.mark.parametrize("op", "NTRC")
@pytest.mark.parametrize("alpha", [None, 0, 3, 0.1, 1e30, float("nan")])
def test_every_half(op, alpha):
    """Multiplied as float32, rounded once more: NumPy's own arithmetic."""
    x = np.arange(65536, dtype="u2").view("f2").reshape(256, 256)
    moved = OPS[op](x).copy()
    with np.errstate(all="ignore"):
        want = moved if alpha is None else (moved.astype("f4") * np.float32(alpha)).astype("f2")
    if alpha == 0:
        want = np.zeros_like(want)
    tileswap.imatcopy_(x, op, alpha)
    if alpha is None:
        assert (x.view("u2") == want.view("u2")).all()
    else:
        assert ((x.view("u2") == want.view("u2")) | (np.isnan(x) & np.isnan(want))).all()


def test_windows_batches_and_column_major():
    whole = numbers((50, 60), "f8")
    want = whole.copy()
    want[3:33, 20:50] = 3 * whole[3:33, 20:50].T
    tileswap.imatcopy_(whole[3:33, 20:50], "T", 3)
    assert (whole == want).all()
    x = numbers((4, 9, 9), "c16")
    want = 1j * np.conj(x.swapaxes(1, 2))
    assert (tileswap.imatcopy_(x, "C", 1j) == want).all()
    x = np.asfortranarray(numbers((20, 20), "f4"))
    want = 2 * x.T
    assert (tileswap.imatcopy_(x, alpha=2) == want).all()


def test_zero_wipes_out_nan():
    x = np.full((5, 5), np.nan)
    assert (tileswap.imatcopy_(x, "N", 0) == 0).all()
    assert tileswap.imatcopy_(np.empty((0, 0)), "T", 2).shape == (0, 0)


def test_refusals():
    for dtype in ("i4", "u2", "V2", ">f2" if sys.byteorder == "little" else "<f2", ">f8" if sys.byteorder == "little" else "<f8", "V8"):
        with pytest.raises(TypeError):
            tileswap.imatcopy_(np.zeros((3, 3), dtype), "T", 2)
    x = numbers((3, 3), "f8")
    for op in ("x", "", "TT", "\u0422", None):
        with pytest.raises(ValueError):
            tileswap.imatcopy_(x, op)
    for alpha in (1j, np.complex64(1j), np.complex128(2), "2", b"2", [1, 2]):
        with pytest.raises(TypeError):
            tileswap.imatcopy_(x, "T", alpha)
    for narrow in (np.ones((2, 2), "f4"), np.ones((2, 2), "f2"), np.ones((2, 2), "c8")):
        with pytest.raises(ValueError, match="alpha = -1e[+]300"):
            tileswap.imatcopy_(narrow, "T", -1e300)
        assert (narrow == 1).all()
    assert np.isinf(tileswap.imatcopy_(np.ones((2, 2), "f4"), "T", float("inf"))).all()
    with pytest.raises(TypeError, match="no number"):
        tileswap.imatcopy_(numbers((3, 3), "c8"), "T", "2")
    with pytest.raises(tileswap.NotInPlaceError):
        tileswap.imatcopy_(x[:2], "T")
    x.flags.writeable = False
    with pytest.raises(tileswap.NotInPlaceError):
        tileswap.imatcopy_(x, "N", 2)
    assert (x == numbers((3, 3), "f8")).all()


def test_buffers():
    a = array.array("d", [1, 2, 3, 4])
    tileswap.imatcopy_(memoryview(a).cast("B").cast("d", (2, 2)), "T", 10)
    assert a.tolist() == [10, 30, 20, 40]
    c = (ctypes.c_double * 2 * 2)((1, 2), (3, 4))
    tileswap.imatcopy_(c, "T", 10)
    assert [list(row) for row in c] == [[10, 30], [20, 40]]
    with pytest.raises(TypeError):
        tileswap.imatcopy_(memoryview(bytearray(9)).cast("B", (3, 3)), "T", 10)


class Exporter:
    """Speaks DLPack and nothing else."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.__dlpack__()

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def test_dlpack():
    x = numbers((6, 6), "c8")
    want = 2 * np.conj(x)
    tileswap.imatcopy_(Exporter(x), "R", 2)
    assert (x == want).all()
    with pytest.raises(TypeError):
        tileswap.imatcopy_(Exporter(np.zeros((3, 3), "i8")), "T", 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("by_dlpack", [False, True])
def test_torch_2_byte_numbers(dtype, by_dlpack):
    torch = need("torch")
    x = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(getattr(torch, dtype)).reshape(256, 256)
    want = (x.t().float() * 0.3).to(x.dtype)
    tileswap.imatcopy_(Exporter(x) if by_dlpack else x, "T", 0.3)
    same = x.view(torch.int16) == want.contiguous().view(torch.int16)
    assert (same | (x.isnan() & want.isnan())).all()


def test_ml_dtypes_bfloat16():
    bfloat16 = need("ml_dtypes").bfloat16
    x = np.arange(-50, 50).reshape(10, 10).astype(bfloat16)
    want = (x.T.astype("f4") * np.float32(1.5)).astype(bfloat16)
    assert (tileswap.imatcopy_(x, "T", 1.5) == want).all()


def test_torch():
    torch = need("torch")
    x = torch.arange(16).to(torch.complex64).reshape(4, 4) * (1 + 2j)
    want = 3j * x.mH.clone().resolve_conj()
    assert torch.equal(tileswap.imatcopy_(x, "C", 3j), want)
    for lazy in (x.conj(), x.conj().imag):
        with pytest.raises(TypeError):
            tileswap.imatcopy_(lazy, "T", 2)
    with pytest.raises(tileswap.NotInPlaceError):
        tileswap.imatcopy_(torch.ones(3, 3, requires_grad=True), "T", 2)
