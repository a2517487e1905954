"""Matrices in files."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from typing import Callable, Iterator, NamedTuple

from ._library import _Digest, _FileOptions, _FileResult, _Progress, check, library, thread_count, whole

FORMATS = {"auto": 0, "raw": 1, "npy": 2, "hdf5": 3, "safetensors": 4}
DURABILITIES = {"power": 0, "process": 1}
_MOST = 2**64 - 1


class Digest(NamedTuple):
    """Two sums over a matrix: `placed` depends on every element and its place, `values` on the
    elements alone.  If only `placed` differs, elements are whole but in wrong places."""

    placed: int
    values: int

    def __str__(self) -> str:
        return f"placed={self.placed:016x} values={self.values:016x}"


class FileResult(NamedTuple):
    """What transpose_file found and did."""

    n: int
    ld: int
    elem_size: int
    offset_bytes: int
    format: str
    column_major: bool  # the rows of the digests are the file's columns
    bytes_read: int
    bytes_written: int
    bytes_journalled: int
    resumed_from_pair: int | None
    pairs: int
    already_done: bool
    before: Digest | None  # with verify
    after: Digest | None


def _choice(name: str, value: str, choices: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} = {value!r}: must be one of {', '.join(choices)}")
    return choices[value]


def _text(name: str, value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} = {value!r} is no str")
    return value


def _c_string(argument: str, encoded: bytes) -> bytes:
    """A zero byte would end it early, and something else would be named."""
    if b"\0" in encoded:
        raise ValueError(f"{argument} = {encoded!r} holds a zero byte")
    return encoded


def _result(raw: _FileResult, verify: bool) -> FileResult:
    def digest(d: _Digest) -> Digest | None:
        return Digest(d.placed, d.values) if verify else None

    return FileResult(
        raw.n,
        raw.ld,
        raw.elem_size,
        raw.offset_bytes,
        next((name for name, value in FORMATS.items() if value == raw.format), str(raw.format)),
        bool(raw.column_major),
        raw.bytes_read,
        raw.bytes_written,
        raw.bytes_journalled,
        None if raw.resumed_from_pair == 2**64 - 1 else raw.resumed_from_pair,
        raw.pairs,
        bool(raw.already_done),
        digest(raw.before),
        digest(raw.after),
    )


@contextlib.contextmanager
def _interrupts_noted(noted: list[int]) -> Iterator[None]:
    """Notes Ctrl-C instead of raising, and hands it to its handler in the end.

    Python would raise KeyboardInterrupt wherever it happens to be, for example on entering a callback
    from C, out of which no exception comes.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if noted:
        handler(signal.SIGINT, None)


def transpose_file(
    path: str | bytes | os.PathLike[str],
    *,
    format: str = "auto",
    n: int = 0,
    elem_size: int = 0,
    ld: int = 0,
    offset: int = 0,
    dataset: str | None = None,
    out: str | bytes | os.PathLike[str] | None = None,
    force: bool = False,
    memory: int = 0,
    threads: int = 0,
    durability: str = "power",
    verify: bool = False,
    once: bool = False,
    flag_only: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> FileResult:
    """Transposes the square matrix in a file where it lies, or into the new file `out`.

    format      auto, raw, npy, hdf5 or safetensors
    n, elem_size, ld, offset
                of a raw file: rows, bytes of an element, elements from row to row, where it begins
    dataset     HDF5: its path; safetensors: the tensor's name
    out, force  write a new file instead, which may replace one that exists
    memory      bytes to use; 0 is half of what is free
    threads     0 is as many as OpenMP would use
    durability  'power': survives a loss of power; 'process': survives a kill only, and is faster
    verify      compare digests from before and after
    once        a second call does nothing
    flag_only   npy: flip fortran_order and move nothing
    progress    called as progress(done_bytes, total_bytes) now and then; a true result stops

    A run that was stopped, by progress, Ctrl-C, a kill or a loss of power, leaves the file half
    transposed beside its journal; the same call goes on from there.  An exception in progress, and
    KeyboardInterrupt, stop in this way and come out of this call.  They come out of it too if the last
    tiles were being written by then: the matrix is done, there is no journal, and the same call would
    transpose it back.  Who catches them and calls again says once=True both times.
    """
    if progress is not None and not callable(progress):
        raise TypeError(f"progress = {progress!r} cannot be called")
    raised: list[BaseException] = []
    interrupts: list[int] = []

    # Always there: it is where Ctrl-C is seen.
    def report(_user: int | None, done: int, total: int) -> int:
        try:
            if interrupts:
                return 1
            return 1 if progress is not None and progress(done, total) or interrupts else 0
        except BaseException as stop:  # an exception cannot pass through C
            raised.append(stop)
            return 1

    options = _FileOptions(
        struct_size=ctypes.sizeof(_FileOptions),
        n=whole("n", n, 0, _MOST),
        ld=whole("ld", ld, 0, _MOST),
        elem_size=whole("elem_size", elem_size, 0, _MOST),
        offset_bytes=whole("offset", offset, 0, _MOST),
        memory_bytes=whole("memory", memory, 0, _MOST),
        nthreads=thread_count(threads),
        durability=_choice("durability", durability, DURABILITIES),
        format=_choice("format", format, FORMATS),
        verify=bool(verify),
        dataset=None if dataset is None else _c_string("dataset", _text("dataset", dataset).encode()),
        out_path=None if out is None else _c_string("out", os.fsencode(out)),
        progress=_Progress(report),
        once=bool(once),
        flag_only=bool(flag_only),
        force=bool(force),
    )
    encoded = _c_string("path", os.fsencode(path))
    result = _FileResult(struct_size=ctypes.sizeof(_FileResult))
    with _interrupts_noted(interrupts):
        status = library.tsw_transpose_file(
            encoded, ctypes.byref(options), ctypes.byref(result)
        )
    if raised:
        raise raised[0]
    check(status)
    return _result(result, verify)
