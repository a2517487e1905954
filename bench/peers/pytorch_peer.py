#!/usr/bin/env python3
"""PyTorch on the GPU: a.transpose(-1, -2).contiguous(), out of place (twice the memory)."""

import peer

try:
    import torch
    import torch_data
except ImportError:
    peer.missing("torch")


def measure(o, n, elem_size):
    if elem_size not in torch_data.DTYPES or not torch_data.fits_twice(o.count, n, elem_size):
        return True
    a = torch.empty((o.count, n, n), dtype=torch_data.DTYPES[elem_size], device="cuda")
    torch_data.fill(a, elem_size)
    out = a.transpose(-1, -2).contiguous()
    wrong = torch_data.count_wrong(out, elem_size)

    def transpose():
        # The allocator gives the same memory again and again.
        return a.transpose(-1, -2).contiguous()

    ceilings = torch_data.ceilings(a, out)
    good = peer.race(o, "cuda", "peer:pytorch", n, elem_size, False, transpose, ceilings,
                     torch_data.time_pair, wrong, {"version": torch.__version__})
    del a, out, ceilings
    torch.cuda.empty_cache()
    return good


if __name__ == "__main__":
    options = peer.options("PyTorch")
    if not torch.cuda.is_available():
        peer.missing("a GPU for torch")
    peer.run(options, measure)
