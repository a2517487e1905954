"""PyTorch and CuPy on a GPU: current streams, graphs, devices, views, refusals."""

import pytest
import tileswap
from conftest import need, skip_unless_gpus

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture
def torch():
    torch = need("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return torch


@pytest.fixture
def cupy():
    return need("cupy")


def coded(torch, *shape, dtype=None):
    count = 1
    for extent in shape:
        count *= extent
    return (torch.arange(count, device="cuda") % 241).reshape(shape).to(dtype or torch.float32)


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [0, 1, 33, 1000])
def test_torch_widths(torch, n, dtype):
    x = coded(torch, n, n, dtype=getattr(torch, dtype))
    want = x.t().clone()
    digest = tileswap.checksum(x)
    where = x.data_ptr()
    assert tileswap.transpose_(x) is x
    assert x.data_ptr() == where and torch.equal(x, want)
    assert tileswap.checksum(x, transposed=True) == digest == tileswap.checksum(want.cpu(), transposed=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "float16", "bfloat16"])
@pytest.mark.parametrize("op", "NTRC")
@pytest.mark.parametrize("n", [7, 130, 136])
def test_torch_imatcopy(torch, n, op, dtype):
    x = coded(torch, 3, n, n, dtype=getattr(torch, dtype))
    alpha = 2 - 1j if x.is_complex() else -3
    x += alpha
    want = x.transpose(-1, -2) if op in "TC" else x
    want = ((want.conj() if op in "RC" else want) * alpha).clone().resolve_conj()
    assert torch.equal(tileswap.imatcopy_(x, op, alpha), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("alpha", [0.3, -2, 1e30, 1e-6, float("inf")])
def test_torch_every_2_byte_number(torch, alpha, dtype):
    """As on the CPU, bit for bit."""
    on_cpu = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(getattr(torch, dtype)).reshape(256, 256)
    for x in (on_cpu, on_cpu[:251, 3:254]):  # rows on vectors, and not
        x, want = x.cuda(), x.clone()
        tileswap.imatcopy_(x, "T", alpha)
        tileswap.imatcopy_(want, "T", alpha)
        x = x.cpu()
        assert ((x.view(torch.int16) == want.view(torch.int16)) | (x.isnan() & want.isnan())).all()


def test_torch_views_batches_heads(torch):
    whole = coded(torch, 50, 70)
    want = whole.clone()
    want[5:45, 20:60] = whole[5:45, 20:60].t()
    tileswap.transpose_(whole[5:45, 20:60])
    assert torch.equal(whole, want)
    x = coded(torch, 2, 3, 100, 100)
    want = x.transpose(-1, -2).clone()
    assert torch.equal(tileswap.transpose_(x), want)
    x = coded(torch, 2, 64, 64, 128, dtype=torch.bfloat16)
    want = x.transpose(1, 2).clone()
    assert torch.equal(tileswap.transpose_(x, element_axes=1), want)


def test_torch_allocates_nothing(torch):
    x = coded(torch, 2048, 2048)
    tileswap.transpose_(x)
    torch.cuda.reset_peak_memory_stats()
    allocated, (free, _) = torch.cuda.memory_allocated(), torch.cuda.mem_get_info()
    tileswap.transpose_(x)
    torch.cuda.synchronize()
    assert torch.cuda.max_memory_allocated() == allocated and torch.cuda.mem_get_info()[0] == free


def test_torch_current_stream(torch):
    x = coded(torch, 4096, 4096)
    want = coded(torch, 4096, 4096).t().contiguous()
    side = torch.cuda.Stream()

    def run(cycles):
        """An event behind a transpose behind a delay, all on the side stream."""
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(cycles)
            x.add_(1)
            tileswap.transpose_(x)
            done = torch.cuda.Event()
            done.record()
        early = not done.query()
        side.synchronize()
        return early

    run(1)  # CUDA loads a kernel at its first launch and may wait for the device then
    run(1)
    assert run(200_000_000)  # some 100 ms: the call returned before the work was done
    assert torch.equal(x, want + 3)  # on another stream it would have run ahead of the additions
    tileswap.transpose_(x, stream=side)
    side.synchronize()
    assert torch.equal(x, coded(torch, 4096, 4096) + 3)


def test_torch_graph(torch):
    x = coded(torch, 1000, 1000)
    first, second = x.clone(), x.t().clone()
    graph = torch.cuda.CUDAGraph()
    tileswap.transpose_(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        tileswap.transpose_(x)
    assert torch.equal(x, second)  # captured, not run
    graph.replay()
    assert torch.equal(x, first)
    graph.replay()
    assert torch.equal(x, second)


def test_torch_refuses(torch):
    with pytest.raises(tileswap.NotInPlaceError, match="autograd"):
        tileswap.transpose_(coded(torch, 4, 4).requires_grad_())
    with pytest.raises(tileswap.NotInPlaceError, match="not square"):
        tileswap.transpose_(coded(torch, 4, 5))
    with pytest.raises(ValueError, match="threads="):
        tileswap.transpose_(coded(torch, 4, 4), threads=2)


def test_torch_second_device(torch):
    skip_unless_gpus(2, torch.cuda.device_count())
    x = coded(torch, 300, 300).to("cuda:1")
    want = x.t().clone()
    assert torch.equal(tileswap.transpose_(x), want)
    assert torch.equal(tileswap.imatcopy_(x, "T", 2), 2 * coded(torch, 300, 300).to("cuda:1"))
    assert tileswap.checksum(x) == tileswap.checksum(x.cpu())
    assert torch.cuda.current_device() == 0
    side = torch.cuda.Stream("cuda:1")
    with torch.cuda.device(1), torch.cuda.stream(side):  # current there, the array here
        y = coded(torch, 300, 300).to("cuda:0")
        assert torch.equal(tileswap.transpose_(y), coded(torch, 300, 300).to("cuda:0").t())
        assert torch.cuda.current_device() == 1 and torch.cuda.current_stream() == side


def test_torch_streams_of_several_devices(torch):
    """Threads, each with a stream of its own, devices in turn."""
    import threading

    wrong = []

    def work(number):
        device = f"cuda:{number % torch.cuda.device_count()}"
        stream = torch.cuda.Stream(device)
        with torch.cuda.device(device), torch.cuda.stream(stream):
            x = torch.arange(500 * 500, device=device, dtype=torch.float64).reshape(500, 500) + number
            want = x.t().clone()
            for _ in range(21):
                tileswap.transpose_(x)
            stream.synchronize()
            if not torch.equal(x, want):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_pinned_memory_is_host_memory(torch):
    x = coded(torch, 200, 200).cpu().pin_memory()
    want = x.t().clone()
    assert torch.equal(tileswap.transpose_(x), want)


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("n", [0, 1, 33, 500])
def test_cupy_widths(cupy, n, dtype):
    x = (cupy.arange(n * n) % 241).astype(dtype).reshape(n, n)
    want = x.T.copy()
    digest = tileswap.checksum(x)
    assert tileswap.transpose_(x) is x
    assert (x == want).all()
    assert tileswap.checksum(x, transposed=True) == digest


def test_cupy_views_and_batches(cupy):
    whole = cupy.arange(40 * 60.0).reshape(40, 60)
    want = whole.copy()
    want[:, 7:47] = whole[:, 7:47].T
    tileswap.transpose_(whole[:, 7:47])
    assert (whole == want).all()
    x = cupy.asfortranarray(cupy.arange(2500.0).reshape(50, 50))
    assert (tileswap.transpose_(x) == cupy.arange(2500.0).reshape(50, 50).T).all()
    x = cupy.arange(3 * 20 * 20.0).reshape(3, 20, 20)
    want = x.swapaxes(1, 2).copy()
    assert (tileswap.transpose_(x) == want).all()
    with pytest.raises(tileswap.NotInPlaceError, match="stride 0"):
        tileswap.transpose_(cupy.broadcast_to(x[0, 0], (20, 20)))


@pytest.mark.parametrize("n", [3, 129, 256])
def test_cupy_half_imatcopy(cupy, n):
    x = (cupy.arange(2 * n * n) % 241).astype("f2").reshape(2, n, n)
    want = (x.swapaxes(1, 2).astype("f4") * cupy.float32(0.3)).astype("f2")
    assert (tileswap.imatcopy_(x, "T", 0.3) == want).all()


def test_cupy_second_device(cupy):
    skip_unless_gpus(2, cupy.cuda.runtime.getDeviceCount())
    with cupy.cuda.Device(1):
        x = cupy.arange(90000.0).reshape(300, 300)
        want = x.T.copy()
        cupy.cuda.Device().synchronize()
    tileswap.transpose_(x)
    assert cupy.cuda.Device().id == 0
    with cupy.cuda.Device(1):
        assert (x == want).all()


def test_cupy_current_stream(cupy):
    x = cupy.zeros((2000, 2000))
    cupy.cuda.Device().synchronize()
    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        for _ in range(50):
            x += 1
        x[0] = 7
        tileswap.transpose_(x)
        x[0] = 9
    side.synchronize()
    assert (x[1:, 0] == 7).all() and (x[0] == 9).all() and (x[1:, 1:] == 50).all()


class OnlyInterface:
    """An array of an unknown library."""

    def __init__(self, x, stream):
        self.__cuda_array_interface__ = dict(x.__cuda_array_interface__, stream=stream)


def test_cuda_array_interface(cupy):
    x = cupy.arange(900.0).reshape(30, 30)
    cupy.cuda.Device().synchronize()
    side = cupy.cuda.Stream(non_blocking=True)
    for stream in (None, 1, 2, side.ptr):
        want = x.T.copy()
        cupy.cuda.Device().synchronize()
        tileswap.transpose_(OnlyInterface(x, stream))
        cupy.cuda.Device().synchronize()
        assert (x == want).all()


class OnlyDLPack:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **arguments):
        return self.x.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_dlpack(library, request):
    module = request.getfixturevalue(library)
    x = coded(module, 64, 64) if library == "torch" else module.arange(4096.0).reshape(64, 64)
    want = x.T.clone() if library == "torch" else x.T.copy()
    tileswap.transpose_(OnlyDLPack(x))
    assert (x == want).all()


def test_jax_is_refused():
    need("jax")
    import jax.numpy

    with pytest.raises(tileswap.NotInPlaceError):
        tileswap.transpose_(jax.numpy.zeros((4, 4)))


def test_example_weight(torch):
    """docs/examples/weight.py on nine tenths of the free memory."""
    import subprocess
    import sys
    from pathlib import Path

    torch.cuda.empty_cache()
    example = Path(__file__).resolve().parents[2] / "docs" / "examples" / "weight.py"
    done = subprocess.run([sys.executable, str(example), "0.9"], capture_output=True, text=True)
    print(done.stdout, done.stderr)
    assert done.returncode == 0 and "right" in done.stdout and "out of memory" in done.stdout
