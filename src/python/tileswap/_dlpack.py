"""Reading a DLPack capsule where it lies.  The capsule is not consumed: its own destructor frees it."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
READ_ONLY, IS_COPIED = 1, 2
FLOAT, BFLOAT, COMPLEX = 2, 4, 5


class Tensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("type_code", c_uint8),
        ("type_bits", c_uint8),
        ("type_lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Managed(Structure):
    _fields_ = [("tensor", Tensor), ("context", c_void_p), ("deleter", c_void_p)]


class _ManagedVersioned(Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", Tensor),
    ]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]


def export(x: Any, stream: int | None) -> Any:
    """The capsule of `x`, without a copy where the producer can promise that."""
    arguments = {} if stream is None else {"stream": stream}
    try:
        return x.__dlpack__(max_version=(1, 0), copy=False, **arguments)
    except TypeError:  # a producer from before DLPack 1.0
        return x.__dlpack__(**arguments)


def tensor(capsule: Any) -> tuple[Tensor, int]:
    """The tensor in a capsule, and its flags.  Valid as long as the capsule lives."""
    if _is_valid(capsule, b"dltensor_versioned"):
        managed = ctypes.cast(_get_pointer(capsule, b"dltensor_versioned"), POINTER(_ManagedVersioned)).contents
        if managed.major != 1:
            raise TypeError(f"DLPack {managed.major}.{managed.minor} is not known here")
        return managed.tensor, managed.flags
    return ctypes.cast(_get_pointer(capsule, b"dltensor"), POINTER(_Managed)).contents.tensor, 0
