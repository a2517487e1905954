"""PyTorch tensors on the CPU."""

import pytest
import tileswap
from conftest import need

torch = need("torch")

DTYPES = [torch.uint8, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex128]


def coded(*shape, dtype=torch.float64):
    count = 1
    for extent in shape:
        count *= extent
    return (torch.arange(count) % 241).reshape(shape).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [0, 1, 33, 96])
def test_every_width(n, dtype):
    x = coded(n, n, dtype=dtype)
    want = x.t().clone()
    digest = tileswap.checksum(x)
    where = x.data_ptr()
    assert tileswap.transpose_(x) is x
    assert x.data_ptr() == where and torch.equal(x, want)
    assert tileswap.checksum(x, transposed=True) == digest


def test_views():
    whole = coded(50, 70)
    want = whole.clone()
    want[5:45, 20:60] = whole[5:45, 20:60].t()
    tileswap.transpose_(whole[5:45, 20:60])
    assert torch.equal(whole, want)
    tileswap.transpose_(whole[5:45, 20:60].t())  # column-major
    assert torch.equal(whole, coded(50, 70))


def test_batch_and_heads():
    x = coded(2, 3, 16, 16, dtype=torch.float32)
    want = x.transpose(-1, -2).clone()
    assert torch.equal(tileswap.transpose_(x), want)
    x = coded(2, 24, 24, 8, dtype=torch.bfloat16)
    want = x.transpose(1, 2).clone()
    assert torch.equal(tileswap.transpose_(x, element_axes=1), want)


def test_requires_grad_is_refused_with_a_reason():
    x = coded(4, 4).requires_grad_()
    with pytest.raises(tileswap.NotInPlaceError, match="autograd"):
        tileswap.transpose_(x)
    with pytest.raises(tileswap.NotInPlaceError, match="autograd"):
        tileswap.transpose_(x * 2)
    assert torch.equal(x, coded(4, 4))
    assert tileswap.checksum(x) == tileswap.checksum(coded(4, 4))
    tileswap.transpose_(x.detach())
    assert torch.equal(x.detach(), coded(4, 4).t())


def test_what_autograd_saved_is_known_to_be_stale():
    w = coded(4, 4).requires_grad_()
    x = coded(4, 4)
    y = (w * x).sum()
    tileswap.transpose_(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    assert torch.equal(x, coded(4, 4).t())
    y = (w * x[1:, 1:].sum()).sum()  # a view bumps its base
    before = x._version
    tileswap.imatcopy_(x[1:, 1:], "N", 2)
    assert x._version > before


def refused():
    yield "not square", coded(3, 4), "not square"
    yield "expanded", torch.zeros(1, 5).expand(5, 5), "stride 0"
    yield "inner stride 2", torch.zeros(5, 10)[:, ::2], "apart"
    yield "sparse", torch.eye(3).to_sparse(), "layout"
    yield "meta", torch.zeros(3, 3, device="meta"), "meta"
    scales = torch.ones(4, dtype=torch.float64)
    yield "scales of channels", torch.quantize_per_channel(torch.zeros(4, 4), scales, scales.long(), 0, torch.qint8), "scales"
    yield "nested", torch.nested.nested_tensor([torch.zeros(2, 2), torch.zeros(2, 2)]), "nested"
    yield "overlapping", torch.zeros(40).as_strided((5, 5), (3, 1)), "overlap"


@pytest.mark.parametrize("name, x, match", [pytest.param(*case, id=case[0]) for case in refused()])
def test_refused(name, x, match):
    with pytest.raises(tileswap.NotInPlaceError, match=match):
        tileswap.transpose_(x)


def test_inference_tensors():
    with torch.inference_mode():
        x = coded(5, 5)
        want = x.t().clone()
        assert torch.equal(tileswap.transpose_(x), want)
