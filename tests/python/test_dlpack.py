"""Objects that speak DLPack and nothing else."""

import pytest
import tileswap
from conftest import need

np = need("numpy")
if not hasattr(np.ndarray, "__dlpack__"):
    pytest.skip("this NumPy has no DLPack", allow_module_level=True)


class OnlyDLPack:
    """Hides everything of an array but DLPack, as an unknown library's array would."""

    def __init__(self, x, device=None):
        self.x, self.device = x, device

    def __dlpack__(self, **arguments):
        return self.x.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device or self.x.__dlpack_device__()


class BeforeVersion1(OnlyDLPack):
    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


@pytest.mark.parametrize("kind", [OnlyDLPack, BeforeVersion1])
def test_matrix_and_window(kind):
    whole = np.arange(40 * 50, dtype="f4").reshape(40, 50)
    want = whole.copy()
    want[:, 5:45] = whole[:, 5:45].T
    x = kind(whole[:, 5:45])
    digest = tileswap.checksum(x)
    assert tileswap.transpose_(x) is x
    assert (whole == want).all()
    assert tileswap.checksum(x, transposed=True) == digest == tileswap.checksum(want[:, 5:45].T)


def test_the_producer_is_released():
    import sys

    x = np.zeros((5, 5))
    before = sys.getrefcount(x)
    tileswap.transpose_(OnlyDLPack(x))
    assert sys.getrefcount(x) == before


def test_refused():
    with pytest.raises(tileswap.NotInPlaceError, match="DLPack type 7"):
        tileswap.transpose_(OnlyDLPack(np.zeros((3, 3)), device=(7, 0)))
    with pytest.raises(tileswap.NotInPlaceError, match="not square"):
        tileswap.transpose_(OnlyDLPack(np.zeros((3, 4))))


def test_torch_through_dlpack():
    torch = need("torch")
    x = torch.arange(36.0).reshape(6, 6)
    tileswap.transpose_(OnlyDLPack(x))
    assert torch.equal(x, torch.arange(36.0).reshape(6, 6).t())


def test_a_read_only_array_is_refused():
    x = np.zeros((3, 3))
    x.flags.writeable = False
    with pytest.raises((tileswap.NotInPlaceError, TypeError)):
        tileswap.transpose_(OnlyDLPack(x))


def test_a_refused_export_is_a_refusal():
    class Refuses(OnlyDLPack):
        def __dlpack__(self, **arguments):
            raise BufferError("not without a copy")

    with pytest.raises(tileswap.NotInPlaceError, match="not without a copy"):
        tileswap.transpose_(Refuses(np.zeros((3, 3))))


def test_cuda_array_interface_without_cuda():
    if tileswap.cuda_available():
        pytest.skip("there is a GPU")

    class Claims:
        __cuda_array_interface__ = {"shape": (3, 3), "typestr": "<f8", "data": (4096, False), "version": 3, "stream": None}

    with pytest.raises(tileswap.TileswapError) as caught:
        tileswap.transpose_(Claims())
    assert caught.value.status in (tileswap.Status.ERR_NO_CUDA, tileswap.Status.ERR_NO_DEVICE)

    Claims.__cuda_array_interface__ = dict(Claims.__cuda_array_interface__, data=(4096, True))
    with pytest.raises(tileswap.NotInPlaceError, match="read-only"):
        tileswap.transpose_(Claims())
    Claims.__cuda_array_interface__ = dict(Claims.__cuda_array_interface__, data=(4096, False), mask=object())
    with pytest.raises(tileswap.NotInPlaceError, match="mask"):
        tileswap.transpose_(Claims())
