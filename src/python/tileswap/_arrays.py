"""From an object of any array library to an address, a shape and strides.  Nothing here copies."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from ctypes import POINTER, Structure, c_char_p, c_int, c_ssize_t, c_void_p
from typing import Any, Callable, ContextManager, NamedTuple, Sequence

from . import _dlpack
from ._library import NotInPlaceError, Status, whole


class Array(NamedTuple):
    """Where an object lies and how."""

    address: int
    shape: Sequence[int]
    strides: Sequence[int] | None  # bytes; None: C-contiguous
    itemsize: int
    on_device: bool = False
    # Entered around the call; makes the array's device the current one.
    device: ContextManager[Any] = contextlib.nullcontext()
    # The caller's current stream; asked for inside `device`.
    stream: Callable[[], int] = lambda: 0
    # Called when bytes were changed.
    changed: Callable[[], None] = lambda: None
    keep: Any = None  # what must outlive the call
    # What the elements are, if numbers that imatcopy knows, in the machine's byte order: one of NUMBERS.
    number: Callable[[], str] = lambda: ""


class Matrices(NamedTuple):
    """What the library is given: counts in elements."""

    n: int
    ld: int
    elem_size: int
    stride: int
    batch: int  # how many matrices
    column_major: bool  # the rows, as the object indexes them, are columns in memory


NUMBERS = ("f4", "f8", "c8", "c16", "f2", "bf2")  # in the order of tsw_type; the last is bfloat16
_MOST_AXES = 2**31 - 1
_FOREIGN = ">" if sys.byteorder == "little" else "<"
_TORCH = {
    "torch.float32": "f4",
    "torch.float64": "f8",
    "torch.complex64": "c8",
    "torch.complex128": "c16",
    "torch.float16": "f2",
    "torch.bfloat16": "bf2",
}
_FORMATS = {"f": "f4", "d": "f8", "Zf": "c8", "Zd": "c16", "e": "f2"}


def _number_of(typestr: str) -> str:
    """From NumPy's "<f8"."""
    return typestr[1:] if typestr[0] != _FOREIGN and typestr[1:] in NUMBERS else ""


def _number_of_dtype(dtype: Any) -> str:
    """Of NumPy and CuPy.  To them bfloat16, a dtype of the package ml_dtypes, is "<V2"."""
    return "bf2" if dtype.name == "bfloat16" else _number_of(dtype.str)


# ---- the sources ---------------------------------------------------------------------------------


def _loaded(module: str, name: str) -> Any:
    """A class of a module, or () where the module is not loaded: then nothing is an instance of it."""
    return getattr(sys.modules.get(module), name, ())


def _from_torch(x: Any, write: bool) -> Array:
    torch = sys.modules["torch"]
    if x.layout is not torch.strided:
        raise NotInPlaceError(f"the tensor's layout is {x.layout}: only torch.strided has rows")
    if getattr(x, "is_nested", False):
        raise NotInPlaceError("a nested tensor: its parts have shapes of their own; pass them one by one")
    if x.is_quantized and "per_channel" in str(x.qscheme()):
        raise NotInPlaceError("a tensor quantized per channel: its scales would stay behind", Status.ERR_TYPE)
    if write and x.requires_grad:
        raise NotInPlaceError(
            "the tensor requires grad: autograd would not see its elements move, and gradients would belong to "
            "other places; pass x.detach(), which shares the memory, if that is what you want"
        )
    if x.device.type not in ("cpu", "cuda"):
        raise NotInPlaceError(f"the tensor lies on '{x.device.type}': only cpu and cuda are supported", Status.ERR_WHERE)

    def changed() -> None:
        # What autograd saved of these bytes is stale now; the version counter tells it.
        bump = getattr(getattr(torch.autograd, "graph", None), "increment_version", None)
        if x.is_inference():
            return
        if bump:
            bump(x)
        else:
            x[:0].zero_()  # a view shares the counter, and writing nothing counts

    size = x.element_size()

    def number() -> str:
        # Tensors that are conjugated or negated only when read do not hold their values.
        return "" if x.is_conj() or x.is_neg() else _TORCH.get(str(x.dtype), "")

    array = Array(x.data_ptr(), x.shape, [step * size for step in x.stride()], size, changed=changed, number=number)
    if x.device.type == "cpu":
        return array
    return array._replace(
        on_device=True,
        device=torch.cuda.device(x.device),
        stream=lambda: torch.cuda.current_stream(x.device).cuda_stream,
    )


def _from_numpy(x: Any, write: bool) -> Array:
    if isinstance(x, sys.modules["numpy"].ma.MaskedArray):
        raise NotInPlaceError("a masked array: its mask would stay behind; pass x.data and x.mask one after the other")
    if x.dtype.hasobject:
        raise NotInPlaceError("the elements are Python objects", Status.ERR_TYPE)
    if write and not x.flags.writeable:
        raise NotInPlaceError("the array is read-only", Status.ERR_WHERE)
    return Array(x.ctypes.data, x.shape, x.strides, x.itemsize, number=lambda: _number_of_dtype(x.dtype))


def _from_cupy(x: Any, write: bool) -> Array:
    cuda = sys.modules["cupy"].cuda
    return Array(
        x.data.ptr,
        x.shape,
        x.strides,
        x.itemsize,
        on_device=True,
        device=x.device,
        stream=lambda: cuda.get_current_stream().ptr,
        number=lambda: _number_of_dtype(x.dtype),
    )


def _from_cuda_array_interface(x: Any, write: bool) -> Array:
    interface = x.__cuda_array_interface__
    address, read_only = interface["data"]
    if write and read_only:
        raise NotInPlaceError("the array is read-only", Status.ERR_WHERE)
    if interface.get("mask") is not None:
        raise NotInPlaceError("a masked array: its mask would stay behind")
    stream = interface.get("stream") or 0
    return Array(
        address or 0,
        interface["shape"],
        interface.get("strides"),
        int(interface["typestr"][2:]),
        on_device=True,
        stream=lambda: stream,
        number=lambda: _number_of(interface["typestr"]),
    )


def _from_dlpack(x: Any, write: bool, stream: int | None) -> Array:
    if write and type(x).__module__.partition(".")[0] in ("jax", "jaxlib"):
        raise NotInPlaceError("JAX arrays are immutable", Status.ERR_WHERE)
    where = x.__dlpack_device__()[0]
    if where not in (_dlpack.CPU, _dlpack.CUDA, _dlpack.CUDA_HOST, _dlpack.CUDA_MANAGED):
        raise NotInPlaceError(f"the array lies on a device of DLPack type {int(where)}: not supported", Status.ERR_WHERE)
    on_device = where in (_dlpack.CUDA, _dlpack.CUDA_MANAGED)
    order = stream or 1  # DLPack's name for the legacy default stream
    try:
        capsule = _dlpack.export(x, order if on_device else None)
    except BufferError as why:
        raise NotInPlaceError(f"the array's library does not hand it out: {why}", Status.ERR_WHERE) from None
    tensor, flags = _dlpack.tensor(capsule)
    if write and flags & _dlpack.READ_ONLY:
        raise NotInPlaceError("the array is read-only", Status.ERR_WHERE)
    if flags & _dlpack.IS_COPIED:
        raise NotInPlaceError("the array's library hands out a copy, not the array", Status.ERR_WHERE)
    bits = tensor.type_bits * tensor.type_lanes
    if bits % 8:
        raise NotInPlaceError(f"elements of {bits} bits", Status.ERR_ELEM_SIZE)
    shape = tensor.shape[: tensor.ndim]
    strides = [step * bits // 8 for step in tensor.strides[: tensor.ndim]] if tensor.strides else None
    number = {_dlpack.FLOAT: "f", _dlpack.COMPLEX: "c", _dlpack.BFLOAT: "bf"}.get(tensor.type_code, "") + str(tensor.type_bits // 8)
    return Array(
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        strides,
        bits // 8,
        on_device,
        stream=lambda: order,
        keep=capsule,
        number=lambda: number if tensor.type_lanes == 1 else "",
    )


class _Buffer(Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", c_void_p),
        ("obj", c_void_p),
        ("len", c_ssize_t),
        ("itemsize", c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", c_char_p),
        ("shape", POINTER(c_ssize_t)),
        ("strides", POINTER(c_ssize_t)),
        ("suboffsets", POINTER(c_ssize_t)),
        ("internal", c_void_p),
    ]

    def __del__(self) -> None:
        if self.obj:
            _release_buffer(ctypes.byref(self))


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.restype, _get_buffer.argtypes = c_int, [ctypes.py_object, POINTER(_Buffer), c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.restype, _release_buffer.argtypes = None, [POINTER(_Buffer)]
_has_buffer = ctypes.pythonapi.PyObject_CheckBuffer
_has_buffer.restype, _has_buffer.argtypes = c_int, [ctypes.py_object]
_PYBUF_STRIDES_FORMAT = 0x1C


def _number_of_format(text: bytes | None) -> str:
    """From a format of the struct module, or NumPy's Zf and Zd."""
    text = text or b"B"
    order = text[:1] if text[:1] in b"@=<>!" else b"@"
    if order == b"!" or order == _FOREIGN.encode():
        return ""
    return _FORMATS.get(text.lstrip(b"@=<>").decode("latin-1"), "")


def _from_buffer(x: Any, write: bool) -> Array:
    buffer = _Buffer()
    try:
        _get_buffer(x, ctypes.byref(buffer), _PYBUF_STRIDES_FORMAT)
    except BufferError as why:
        raise NotInPlaceError(f"the buffer is not handed out with its strides: {why}", Status.ERR_WHERE) from None
    if write and buffer.readonly:
        raise NotInPlaceError("the buffer is read-only", Status.ERR_WHERE)
    return Array(
        buffer.buf or 0,
        buffer.shape[: buffer.ndim] if buffer.ndim else (),
        # Arrays of ctypes give none.
        buffer.strides[: buffer.ndim] if buffer.strides else None,
        buffer.itemsize,
        keep=buffer,
        number=lambda: _number_of_format(buffer.format),
    )


def array_of(x: Any, write: bool, stream: int | None) -> Array:
    """Where `x` lies.  `stream` is what the caller asked for, if anything."""
    if isinstance(x, _loaded("torch", "Tensor")):
        return _from_torch(x, write)
    if isinstance(x, _loaded("numpy", "ndarray")):
        return _from_numpy(x, write)
    if isinstance(x, _loaded("cupy", "ndarray")):
        return _from_cupy(x, write)
    if hasattr(x, "__cuda_array_interface__"):
        return _from_cuda_array_interface(x, write)
    if _has_buffer(x):
        return _from_buffer(x, write)
    if hasattr(x, "__dlpack__"):
        return _from_dlpack(x, write, stream)
    raise TypeError(
        f"{type(x).__module__}.{type(x).__qualname__} shows no memory: it is no NumPy or CuPy array, no PyTorch tensor, "
        "and speaks neither the buffer protocol nor __cuda_array_interface__ nor DLPack"
    )


# ---- shape and strides ---------------------------------------------------------------------------


def _contiguous(shape: Sequence[int], itemsize: int) -> list[int]:
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * shape[axis]
    return strides


def _element_size(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    """Bytes of an element that is made of whole trailing axes."""
    size = itemsize
    for extent, step in zip(reversed(shape), reversed(strides)):
        if extent > 1 and step != size:
            raise NotInPlaceError(f"the axes of an element are not contiguous: stride {step} bytes where {size} is needed")
        size *= extent
    return size


def _leading_dimension(n: int, row_step: int, col_step: int, size: int) -> tuple[int, bool]:
    """ld in elements, and whether the array is column-major."""
    column_major = col_step != size and row_step == size
    inner, outer = (row_step, col_step) if column_major else (col_step, row_step)
    if inner < 0 or outer < 0:
        raise NotInPlaceError(f"negative strides ({row_step}, {col_step} bytes): pass the array that is not flipped")
    if inner == 0 or outer == 0:
        raise NotInPlaceError("stride 0: elements share their memory (a broadcast or expanded array)")
    if inner != size:
        raise NotInPlaceError(
            f"strides of {row_step} and {col_step} bytes: neighbours of a row or of a column must be {size} bytes apart"
        )
    if outer % size:
        raise NotInPlaceError(f"the stride of {outer} bytes is no multiple of the element's {size}")
    if outer // size < n:
        raise NotInPlaceError(f"rows overlap: they are {outer // size} elements apart and {n} long")
    return outer // size, column_major


def _batch(shape: Sequence[int], strides: Sequence[int], size: int) -> tuple[int, int]:
    """(count, stride in elements) of the axes before the matrix, merged into one."""
    count, stride = 1, 0
    axes = [(step, extent) for step, extent in zip(strides, shape) if extent != 1]
    for step, extent in sorted(axes):
        if step < 0:
            raise NotInPlaceError(f"negative stride ({step} bytes) between matrices")
        if step == 0:
            raise NotInPlaceError("stride 0: matrices share their memory (a broadcast or expanded array)")
        if step % size:
            raise NotInPlaceError(f"the stride of {step} bytes between matrices is no multiple of the element's {size}")
        if count == 1:
            stride = step // size
        elif step != count * stride * size:
            raise NotInPlaceError(
                f"the {len(axes)} batch axes are not evenly spaced: pass the arrays x[i] of the first one one by one"
            )
        count *= extent
    return count, stride


def matrices_of(array: Array, element_axes: Any) -> Matrices:
    """The matrices in an array; n is 0 if there is nothing in it."""
    element_axes = whole("element_axes", element_axes, 0, _MOST_AXES)
    shape = array.shape
    strides = array.strides if array.strides is not None else _contiguous(shape, array.itemsize)
    col = len(shape) - element_axes - 1
    if col < 1:
        axes = "1 axis" if len(shape) == 1 else f"{len(shape)} axes"
        inside = f", {element_axes} of them in an element" if element_axes else ""
        raise NotInPlaceError(f"{axes}{inside}: a matrix needs two", Status.ERR_LD)
    n = shape[col]
    if shape[col - 1] != n:
        raise NotInPlaceError(f"not square: {shape[col - 1]} x {n}", Status.ERR_LD)
    if 0 in shape:
        return Matrices(0, 0, array.itemsize or 1, 0, 1, False)
    if array.itemsize == 0:
        raise NotInPlaceError("the elements are of 0 bytes", Status.ERR_ELEM_SIZE)
    size = _element_size(shape[col + 1 :], strides[col + 1 :], array.itemsize) if element_axes else array.itemsize
    ld, column_major = _leading_dimension(n, strides[col - 1], strides[col], size) if n > 1 else (1, False)
    count, stride = _batch(shape[: col - 1], strides[: col - 1], size) if col > 1 else (1, 0)
    return Matrices(n, ld, size, stride, count, column_major)
