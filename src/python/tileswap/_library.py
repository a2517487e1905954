"""The C library: finding it, its prototypes, its statuses."""

from __future__ import annotations

import ctypes
import enum
import operator
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any


class Status(enum.IntEnum):
    """tsw_status of tileswap.h."""

    OK = 0
    ERR_NULL = 1
    ERR_LD = 2
    ERR_ELEM_SIZE = 3
    ERR_OVERFLOW = 4
    ERR_ALIGN = 5
    ERR_STRIDE = 6
    ERR_OP = 7
    ERR_TYPE = 8
    ERR_THREADS = 9
    ERR_WHERE = 10
    ERR_OPTION = 11
    ERR_FORMAT = 12
    ERR_NO_CUDA = 20
    ERR_NO_DEVICE = 21
    ERR_NO_MEMORY = 22
    ERR_CUDA = 23
    ERR_IO = 24
    ERR_MISMATCH = 25
    ERR_INTERRUPTED = 26
    ERR_JOURNAL = 27
    ERR_LOCKED = 28
    ERR_UNSUPPORTED = 29
    ERR_COMM = 30


class TileswapError(RuntimeError):
    """A call failed.  `status` is the library's, `str()` says which argument and why."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status: int = Status(status) if status in Status._value2member_map_ else status

    def __reduce__(self) -> tuple[Any, ...]:  # from one process to another
        return type(self), (int(self.status), str(self))


class NotInPlaceError(TileswapError, ValueError):
    """The object cannot be worked on where it lies: its shape, strides or flags forbid it."""

    def __init__(self, message: str, status: int = Status.ERR_STRIDE):
        super().__init__(status, message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), int(self.status))


class _Digest(Structure):
    _fields_ = [("placed", c_uint64), ("values", c_uint64)]


_Progress = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)


class _FileOptions(Structure):
    """tsw_file_options; all zero but struct_size is TSW_FILE_OPTIONS_INIT."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("n", c_size_t),
        ("ld", c_size_t),
        ("elem_size", c_size_t),
        ("offset_bytes", c_uint64),
        ("memory_bytes", c_uint64),
        ("nthreads", c_int),
        ("durability", c_int),
        ("format", c_int),
        ("verify", c_int),
        ("dataset", c_char_p),
        ("out_path", c_char_p),
        ("progress", _Progress),
        ("user", c_void_p),
        ("once", c_int),
        ("flag_only", c_int),
        ("force", c_int),
    ]


class _FileResult(Structure):
    """tsw_file_result."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("n", c_size_t),
        ("ld", c_size_t),
        ("elem_size", c_size_t),
        ("offset_bytes", c_uint64),
        ("format", c_int),
        ("column_major", c_int),
        ("bytes_read", c_uint64),
        ("bytes_written", c_uint64),
        ("bytes_journalled", c_uint64),
        ("resumed_from_pair", c_uint64),
        ("pairs", c_uint64),
        ("already_done", c_int),
        ("before", _Digest),
        ("after", _Digest),
    ]


_HOST_END, _DEVICE_END = [c_int], [c_void_p]
_ONE = [c_void_p, c_size_t, c_size_t, c_size_t]
_TYPED = [c_char, c_int, c_size_t, c_void_p, c_void_p, c_size_t]
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "tsw_version": (c_char_p, []),
    "tsw_strerror": (c_char_p, [c_int]),
    "tsw_last_error": (c_char_p, []),
    "tsw_cuda_status": (c_int, []),
    "tsw_transpose_batch_host": (c_int, _ONE + [c_size_t, c_size_t] + _HOST_END),
    "tsw_transpose_batch_device": (c_int, _ONE + [c_size_t, c_size_t] + _DEVICE_END),
    "tsw_imatcopy_batch_host": (c_int, _TYPED + [c_size_t, c_size_t] + _HOST_END),
    "tsw_imatcopy_batch_device": (c_int, _TYPED + [c_size_t, c_size_t] + _DEVICE_END),
    "tsw_checksum_host": (c_int, _ONE + [c_int, POINTER(_Digest)] + _HOST_END),
    "tsw_checksum_device": (c_int, _ONE + [c_int, POINTER(_Digest)] + _DEVICE_END),
    "tsw_transpose_file": (c_int, [c_char_p, POINTER(_FileOptions), POINTER(_FileResult)]),
}


def _load() -> ctypes.CDLL:
    path = os.environ.get("TILESWAP_LIBRARY") or str(Path(__file__).with_name("libtileswap.so"))
    try:
        library = ctypes.CDLL(path)  # releases the GIL around every call
    except OSError as problem:
        raise ImportError(f"tileswap: cannot load {path}: {problem}; `pip install ./src/python` builds it") from None
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()


def whole(name: str, value: Any, low: int, high: int) -> int:
    """The argument `name` as an int from low to high: ctypes would cut it to size in silence."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r} is no whole number") from None
    if not low <= number <= high:
        raise ValueError(f"{name} = {number} is not from {low} to {high}")
    return number


def thread_count(threads: Any) -> int:
    """A C int; what the library makes of a negative one is its own affair."""
    return whole("threads", threads, -(2**31), 2**31 - 1)


def check(status: int) -> None:
    """Raises unless the library call that this thread just made succeeded."""
    if status == 0:
        return
    meaning = library.tsw_strerror(status).decode()
    detail = library.tsw_last_error().decode()
    message = f"{meaning}: {detail}" if detail else meaning
    if status in (Status.ERR_LD, Status.ERR_STRIDE):
        raise NotInPlaceError(message, status)
    raise TileswapError(status, message)
