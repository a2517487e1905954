"""Transpose a PyTorch weight that fills most of the GPU's memory.

    python3 weight.py [FRACTION]        of the memory that is free (default: 0.9)

`w.t().contiguous()` needs a second weight and runs out of memory; tileswap.transpose_ needs nothing.
"""

import sys

import tileswap
import torch


def out_of_place(w: torch.Tensor) -> str:
    try:
        w.t().contiguous()
    except torch.cuda.OutOfMemoryError:
        return "out of memory"
    return "fits"


def main() -> int:
    fraction = float(sys.argv[1]) if len(sys.argv) > 1 else 0.9
    if not torch.cuda.is_available():
        print("weight: no CUDA device", file=sys.stderr)
        return 3
    free, total = torch.cuda.mem_get_info()
    n = int((fraction * free / 2) ** 0.5)
    w = torch.empty(n, n, dtype=torch.bfloat16, device="cuda")
    w.view(torch.int16).random_(-(2**15), 2**15)  # every bit pattern, NaNs too
    before = tileswap.checksum(w)
    rows = [0, n // 3, n - 1]
    kept = w[rows].view(torch.int16).cpu()

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    tileswap.transpose_(w)
    end.record()
    end.synchronize()
    ms = begin.elapsed_time(end)

    right = tileswap.checksum(w, transposed=True) == before
    right &= torch.equal(w[:, rows].t().contiguous().view(torch.int16).cpu(), kept)
    nbytes = w.numel() * 2
    print(
        f"weight: [{n}, {n}] bfloat16, {nbytes / 1e9:.1f} of {total / 1e9:.1f} GB; in place {ms:.1f} ms, "
        f"{2e-6 * nbytes / ms:.0f} GB/s, {'right' if right else 'WRONG'}; out of place: {out_of_place(w)}"
    )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
