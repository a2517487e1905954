"""Position-coded matrices in PyTorch, shared by the PyTorch and the Triton peer."""

import torch

import peer

DTYPES = {
    1: torch.int8,
    2: torch.int16,
    4: torch.int32,
    8: torch.int64,
    16: torch.complex128,
}
ROWS = 2048  # made or checked at a time


def rows_of(n, elem_size, first, end, transposed, device):
    r = torch.arange(first, end, dtype=torch.int64, device=device)[:, None]
    c = torch.arange(n, dtype=torch.int64, device=device)[None, :]
    at = c * n + r if transposed else r * n + c
    if elem_size == 16:
        return torch.complex(at.double(), (at + 1).double())
    return peer.code(at, elem_size, lambda x: x.to(DTYPES[elem_size]))


def fill(a, elem_size):
    """a: count x n x n; every matrix gets the same data."""
    n = a.shape[-1]
    for first in range(0, n, ROWS):
        end = min(first + ROWS, n)
        a[:, first:end] = rows_of(n, elem_size, first, end, False, a.device)


def count_wrong(a, elem_size):
    n = a.shape[-1]
    wrong = 0
    for first in range(0, n, ROWS):
        end = min(first + ROWS, n)
        wrong += int((a[:, first:end] != rows_of(n, elem_size, first, end, True, a.device)).sum())
    return wrong


def time_pair(first, second):
    """Both are queued behind a kernel that keeps the GPU busy meanwhile."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
    torch.cuda._sleep(1000000)
    events[0].record()
    first()
    events[1].record()
    second()
    events[2].record()
    torch.cuda.synchronize()
    return events[0].elapsed_time(events[1]), events[1].elapsed_time(events[2])


def words_of(a):
    """The same bytes as 64-bit words, as far as they go."""
    flat = torch.view_as_real(a) if a.is_complex() else a
    flat = flat.reshape(-1).view(torch.uint8)
    return flat[: flat.numel() // 8 * 8].view(torch.int64)


def ceilings(a, b):
    """A copy to b and a read-modify-write in place."""
    words = words_of(a)
    return [("memcpy", lambda: b.copy_(a)), ("rmw", words.bitwise_not_)]


def fits_twice(count, n, elem_size):
    """Free memory for two, and for the rows that are made at a time."""
    free, _ = torch.cuda.mem_get_info()
    spare = 6 * 8 * max(1, count) * ROWS * n + (1 << 30)
    return 2 * count * n * n * elem_size + spare < free
