"""Transpose square matrices where they lie, with no second copy.

    tileswap.transpose_(x)          in place; returns x
    tileswap.imatcopy_(x, "C", 2)   transposed, conjugated and scaled in one pass, in place; returns x
    tileswap.checksum(x)            a digest that tells whether a transpose did what it should
    tileswap.transpose_file(path)   a matrix in a file, through a bounded piece of memory

`x` is a NumPy array or memmap, a CuPy array, a PyTorch tensor on the CPU or on CUDA, or anything that
speaks the buffer protocol, `__cuda_array_interface__` or DLPack.  Nothing is ever copied: what cannot
be done in place raises NotInPlaceError (a ValueError) or TypeError, before anything is touched.

Arrays on a GPU: the work is queued on the caller's current stream (PyTorch's, CuPy's, the one that
`__cuda_array_interface__` names, else the legacy default stream), or on `stream=`, and the call
returns at once.  An array that is not PyTorch's or CuPy's must lie on the current device.
"""

from __future__ import annotations

import ctypes
from math import isfinite
from numbers import Complex, Real
from typing import Any, TypeVar

from ._arrays import NUMBERS, Array, array_of, matrices_of
from ._files import Digest, FileResult, transpose_file
from ._library import NotInPlaceError, Status, TileswapError, _Digest, check, library, thread_count

__all__ = [
    "Digest",
    "FileResult",
    "NotInPlaceError",
    "Status",
    "TileswapError",
    "checksum",
    "cuda_available",
    "imatcopy_",
    "transpose_",
    "transpose_file",
]

__version__: str = library.tsw_version().decode()

_T = TypeVar("_T")


def _stream_handle(stream: Any) -> int | None:
    """The cudaStream_t in an int or in a stream object of PyTorch, CuPy, Numba or cuda.core."""
    if stream is None or isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(getattr(handle, "value", handle) or 0)
    raise TypeError(f"stream is no CUDA stream: {type(stream).__qualname__}")


def _check_place(array: Array, threads: int, stream: int | None) -> None:
    if thread_count(threads) and array.on_device:
        raise ValueError("threads= is for arrays in host memory, this one lies on a GPU")
    if not array.on_device and stream is not None:
        raise ValueError("stream= is for arrays on a GPU, this one lies in host memory")


def transpose_(x: _T, *, element_axes: int = 0, threads: int = 0, stream: Any = None) -> _T:
    """Transposes `x` in place and returns it: x[..., i, j] and x[..., j, i] change places.

    The last two axes must be square.  Axes before them are a batch of matrices.  Rows may be further
    apart than they are long (a window of a larger matrix), row-major and column-major are alike.

    element_axes  so many trailing axes make one element and stay together: 1 on a [B, S, H, D] array
                  with S = H gives [B, H, S, D]
    threads       for host memory; 0 is as many as OpenMP would use
    stream        for GPU memory: a handle or a stream object, instead of the current stream

    Memory-mapped arrays are changed in memory; flush() writes them.  A tensor that requires grad is
    refused.  Raises NotInPlaceError, TypeError, or TileswapError for a failure of the library.
    """
    handle = _stream_handle(stream)
    array = array_of(x, True, handle)
    _check_place(array, threads, handle)
    m = matrices_of(array, element_axes)
    shape = (array.address, m.n, m.ld, m.elem_size, m.stride, m.batch)
    if array.on_device:
        with array.device:
            check(library.tsw_transpose_batch_device(*shape, array.stream() if handle is None else handle))
    else:
        check(library.tsw_transpose_batch_host(*shape, thread_count(threads)))
    array.changed()
    return x


def _alpha(alpha: Any, number: str) -> Any:
    """One value of the type, as the library reads it; None is 1."""
    if alpha is None:
        return None
    if isinstance(alpha, (str, bytes, bytearray)):
        raise TypeError(f"alpha = {alpha!r} is no number")
    real = ctypes.c_double if number in ("f8", "c16") else ctypes.c_float
    if number[0] == "c":
        value = complex(alpha)
        parts = [value.real, value.imag]
    elif isinstance(alpha, Complex) and not isinstance(alpha, Real):
        raise TypeError(f"alpha = {alpha} is complex, the array is not")
    else:
        parts = [float(alpha)]
    held = (real * len(parts))(*parts)
    if any(isfinite(part) and not isfinite(kept) for part, kept in zip(parts, held)):
        raise ValueError(f"alpha = {alpha} is past the largest float32, as which it is multiplied here")
    return held


def imatcopy_(x: _T, op: str = "T", alpha: complex | None = None, *, threads: int = 0, stream: Any = None) -> _T:
    """x = alpha * op(x) in place, in one pass; returns x.

    op      "N" nothing, "T" transpose, "R" conjugate, "C" conjugate transpose, in either case
    alpha   a number; None and 1 move bits, 0 writes zeros whatever was there

    The elements are float32, float64, complex64, complex128, float16 or bfloat16 in the machine's byte
    order; the last two are multiplied as float32, alpha too, and rounded.  Shapes, `threads` and
    `stream` as for transpose_.  Raises TypeError for other elements and for tensors that
    PyTorch conjugates or negates only when they are read (x.is_conj(), x.is_neg()).
    """
    handle = _stream_handle(stream)
    array = array_of(x, True, handle)
    _check_place(array, threads, handle)
    number = array.number()
    if number not in NUMBERS:
        dtype = getattr(x, "dtype", None)
        raise TypeError(
            f"the elements{'' if dtype is None else f', {dtype},'} are no float32, float64, complex64, complex128, "
            "float16 or bfloat16 that the memory holds as they read (another type or byte order, or a tensor that is conjugated or negated lazily)"
        )
    if op not in tuple("NTCRntcr"):
        raise ValueError(f"op = {op!r} is none of 'N', 'T', 'C', 'R'")
    value = _alpha(alpha, number)
    m = matrices_of(array, 0)
    head = (op.encode(), NUMBERS.index(number), m.n, None if value is None else ctypes.addressof(value))
    shape = (*head, array.address, m.ld, m.stride, m.batch)
    if array.on_device:
        with array.device:
            check(library.tsw_imatcopy_batch_device(*shape, array.stream() if handle is None else handle))
    else:
        check(library.tsw_imatcopy_batch_host(*shape, thread_count(threads)))
    array.changed()
    return x


def checksum(x: Any, *, transposed: bool = False, element_axes: int = 0, threads: int = 0, stream: Any = None) -> Digest:
    """The digest of one matrix, by its indices, whatever its memory layout.

    checksum(x) before equals checksum(x, transposed=True) after transpose_(x).  The other arguments
    are those of transpose_.  Read-only arrays and tensors that require grad are welcome.  On a GPU it
    runs after the work on the stream and waits for the result.
    """
    handle = _stream_handle(stream)
    array = array_of(x, False, handle)
    _check_place(array, threads, handle)
    m = matrices_of(array, element_axes)
    if m.batch != 1:
        raise ValueError(f"a digest is of one matrix, this is a batch of {m.batch}")
    digest = _Digest()
    shape = (array.address, m.n, m.ld, m.elem_size, bool(transposed) != m.column_major, ctypes.byref(digest))
    if array.on_device:
        with array.device:
            check(library.tsw_checksum_device(*shape, array.stream() if handle is None else handle))
    else:
        check(library.tsw_checksum_host(*shape, thread_count(threads)))
    return Digest(digest.placed, digest.values)


def cuda_available() -> bool:
    """Whether the library was built with CUDA and finds a usable device."""
    return bool(library.tsw_cuda_status() == Status.OK)
