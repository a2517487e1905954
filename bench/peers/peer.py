"""What the Python peers share: options, pairing with a ceiling, rows as tileswap-bench prints them.

A peer brings a module of its own (numpy_peer.py ...), which makes matrices of position-coded data,
times callables, and checks the result element by element; here the repetitions of peer and ceiling
alternate, and the ratio is the median of the pairs' ratios.
"""

import argparse
import json
import statistics
import sys

# An odd multiplier spreads neighbouring positions over all bits (Knuth's multiplicative hashing).
MULTIPLIER = -7046029254386353131  # 0x9e3779b97f4a7c15 as a signed 64-bit number


def code(position, elem_size, cast):
    """What stands at a position, for any array of signed 64-bit positions; `cast` narrows."""
    mixed = position * MULTIPLIER
    return cast(mixed if elem_size >= 8 else mixed >> (64 - 16 - 8 * elem_size))


def options(name):
    parser = argparse.ArgumentParser(description=f"{name} beside a copy of the same bytes")
    parser.add_argument("--n", help="N[,N...]")
    parser.add_argument("--elem-size", help="K[,K...]")
    parser.add_argument("--shapes", help="CASE:N:K[,CASE:N:K...] in place of --n and --elem-size")
    parser.add_argument("--count", type=int, default=1, help="matrices, one behind the other")
    parser.add_argument("--reps", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    o = parser.parse_args()
    if o.shapes:
        o.shapes = [shape.split(":") for shape in o.shapes.split(",")]
    elif o.n and o.elem_size:
        o.shapes = [(None, n, k) for k in o.elem_size.split(",") for n in o.n.split(",")]
    else:
        parser.error("--n and --elem-size, or --shapes, are needed")
    return o


def print_row(o, row):
    if o.json:
        print(json.dumps(row, separators=(",", ":")), flush=True)
    else:
        print(
            f"{row['kernel']:30} {row['elem_size']:5} {row['n']:7} {row['ld']:7} {row['offset']:4}"
            f" {row['count']:10} {row['time_ms_median']:12.5g} {row['time_ms_min']:9.4g}"
            f" {row['time_ms_max']:9.4g} {row['gb_per_s']:8.1f} {row['ceiling_gb_per_s']:8.1f}"
            f"  {row['ratio']:5.3f} {row['wrong']:6}",
            flush=True,
        )


def best_ceiling(ceilings, time_pair, reps):
    """The name and callable of the fastest, by its median."""
    times = {name: [] for name, _ in ceilings}
    for _ in range(reps):
        for name, call in ceilings:
            times[name].append(time_pair(call, call)[1])
    return min(ceilings, key=lambda c: statistics.median(times[c[0]]))


def race(o, backend, kernel, n, elem_size, in_place, peer, ceilings, time_pair, wrong, extra):
    """Times a verified peer against the best of the ceilings and prints its row."""
    ceiling_name, ceiling = best_ceiling(ceilings, time_pair, 3)
    time_pair(ceiling, peer)
    mine, theirs = [], []
    for i in range(o.reps):
        if i % 2:
            peer_ms, ceiling_ms = time_pair(peer, ceiling)
        else:
            ceiling_ms, peer_ms = time_pair(ceiling, peer)
        mine.append(peer_ms)
        theirs.append(ceiling_ms)
    ratios = [c / p for c, p in zip(theirs, mine)]
    moved = 2 * o.count * n * n * elem_size / 1e6
    row = {
        "row": "result",
        **({"case": o.case} if o.case else {}),
        "backend": backend,
        "kernel": kernel,
        "elem_size": elem_size,
        "n": n,
        "ld": n,
        "offset": 0,
        "count": o.count,
        "threads": 1,
        "reps": o.reps,
        "time_ms_median": statistics.median(mine),
        "time_ms_min": min(mine),
        "time_ms_max": max(mine),
        "gb_per_s": moved / statistics.median(mine),
        "ceiling_gb_per_s": moved / statistics.median(theirs),
        "ratio": statistics.median(ratios),
        "wrong": wrong,
        "data": "coded",
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "ceiling": f"ceiling:{ceiling_name}",
        "in_place": in_place,
    }
    row.update(extra)
    print_row(o, row)
    return wrong == 0


def run(o, measure):
    """Calls measure(o, n, elem_size) for every shape; the exit status says if all were right."""
    good = True
    for o.case, n, elem_size in o.shapes:
        good = measure(o, int(n), int(elem_size)) and good
    sys.exit(0 if good else 1)


def missing(module):
    """A peer that is not installed is no failure."""
    print(f"{module} is not installed: no rows", file=sys.stderr)
    sys.exit(0)
