#!/usr/bin/env python3
"""Turns result files into the Markdown tables of docs/PERFORMANCE.md.

    bench/table.py bench/results/FILE.jsonl...
    bench/table.py --into docs/PERFORMANCE.md bench/results/FILE.jsonl...

With --into the text between the two marks of that document is replaced.
"""

import contextlib
import io
import sys

import results

# What is to be reached: backend, name, which rows count, must, goal.  Ratios to the ceiling of the
# same run.
EVEN = ("aligned",)
ODD = ("odd", "odd-ld")
TARGETS = [
    ("cuda", "aligned rows, 4-byte, n >= 16384", EVEN, lambda r: size(r, 4), 0.90, 0.95),
    ("cuda", "aligned rows, 2- and 8-byte", EVEN, lambda r: size(r, 2, 8), 0.92, 0.95),
    ("cuda", "aligned rows, 16-byte", EVEN, lambda r: size(r, 16), 0.88, 0.95),
    ("cuda", "aligned rows, 1-byte", EVEN, lambda r: size(r, 1), 0.83, 0.95),
    ("cuda", "largest n that fits", ("largest",), None, 0.91, 0.95),
    ("cuda", "odd n or ld, 4-byte", ODD, lambda r: size(r, 4), 0.70, 0.90),
    ("cuda", "odd n or ld, 8-byte", ODD, lambda r: size(r, 8), 0.75, 0.90),
    ("cuda", "odd n or ld, 1- and 2-byte", ODD, lambda r: size(r, 1, 2), 0.60, 0.85),
    ("cuda", "base aligned to the element only", ("offset",), None, 0.70, 0.90),
    ("cuda", "wide elements, 32 to 4096 bytes", ("wide",), None, 0.90, 0.97),
    ("cuda", "3- and 6-byte elements", ("odd-width",), lambda r: size(r, 3, 6), 0.50, 0.80),
    ("cuda", "12-, 24-, 100-byte elements", ("odd-width",),
     lambda r: r["elem_size"] in (12, 24, 100), 0.75, 0.90),
    ("cuda", "batches, n = 32 ... 1024, strided", ("batch",), None, 0.90, 0.97),
    ("cuda", "batches, n = 32 ... 1024, pointer array", ("batch-array",), None, 0.85, 0.97),
    ("cuda", "batches, n = 2 ... 16", ("tiny", "tiny-strided"), None, 0.75, 0.95),
    ("cuda", "small matrices in one graph", ("graph",), None, 1 / 1.2, 1 / 1.1),
    ("cuda", "checksum, of a plain read", ("checksum",), None, 0.80, 0.95),
    ("cpu", "checksum, of a plain read", ("checksum",), None, 0.70, 0.90),
    ("cpu", "4- and 8-byte, ordinary stride, all threads", ("plain",),
     lambda r: r["elem_size"] in (4, 8), 0.80, 0.95),
    ("cpu", "strides = 0 or 2048 mod 4096", ("power-of-two",), None, 0.68, 0.90),
    ("cpu", "odd n away from 2^k", ("odd",), None, 0.70, 0.90),
    ("cpu", "odd n at 2^k +- 1", ("odd-at-power",), None, 0.47, 0.80),
    ("cpu", "16-byte", ("plain",), lambda r: r["elem_size"] == 16, 0.72, 0.90),
    ("cpu", "2-byte", ("narrow",), lambda r: r["elem_size"] == 2, 0.60, 0.85),
    ("cpu", "1-byte", ("narrow",), lambda r: r["elem_size"] == 1, 0.45, 0.80),
    ("cpu", "wide elements, 64 to 4096 bytes", ("wide",), None, 0.80, 0.95),
    ("cpu", "3-, 12-, 24-byte elements", ("odd-width",), None, 0.35, 0.70),
    ("cpu", "one thread, 4- and 8-byte, ordinary stride", ("one-thread",),
     lambda r: r["n"] == 10000, 0.65, 0.85),
    ("cpu", "batches, n = 4 ... 64", ("batch",), None, 0.50, 0.85),
    ("cpu", "the same by pointers", ("batch-array",), None, 0.50, 0.85),
]

# The library's ratio over the best in-place peer's, on the host: name, case, which rows, must, goal.
AHEAD = [
    ("in cache, one thread, n = 8 ... 512", "in-cache", lambda r: True, 1.0, 1.5),
    ("4-byte, n >= 4096", "peers", lambda r: r["elem_size"] == 4, 4.0, 4.0),
    ("8-byte, n >= 4096", "peers", lambda r: r["elem_size"] == 8, 1.5, 1.5),
    ("16-byte, n >= 4096", "peers", lambda r: r["elem_size"] == 16, 1.2, 1.2),
]


def size(row, *widths):
    return row["elem_size"] in widths and row["n"] >= 16384


def heading(machine):
    name = machine.get("gpu") or f"{machine['cpu']}, {machine['cores']} cores"
    facts = [f"{key} {machine[key]}" for key in
             ("driver", "cuda_runtime", "sm_clock_mhz", "memory_clock_mhz", "compiler", "tileswap",
              "commit", "date") if key in machine]
    print(f"### {name}\n\n{', '.join(facts)}\n")


def reach(rows):
    """How far each target is met, by the worst of its shapes."""
    print("| case | shapes | worst ratio | at | best ratio | must | goal |")
    print("|---|---|---|---|---|---|---|")
    for backend, name, cases, test, must, goal in TARGETS:
        mine = [r for r in rows if r["backend"] == backend and r["kernel"] in ("auto", "checksum")
                and r.get("case") in cases and (test is None or test(r))]
        if not mine:
            continue
        worst = min(mine, key=lambda r: r["ratio"])
        met = "" if worst["ratio"] >= must else " (not met)"
        print(f"| {name} | {len(mine)} | {worst['ratio']:.3f}{met} | {worst['elem_size']} bytes, "
              f"n = {worst['n']} | {max(r['ratio'] for r in mine):.3f} | {must:.2f} | {goal:.2f} |")
    print()


def ahead(rows):
    """How far the library is ahead of the best peer that works in place, by the worst shape."""
    lines = []
    for name, case, test, must, goal in AHEAD:
        leads = []
        for kernels in results.by_shape([r for r in rows if r["backend"] == "cpu"
                                         and r.get("case") == case and test(r)]).values():
            peers = [r for k, r in kernels.items() if k.startswith("peer:") and r["in_place"]
                     and not r["wrong"]]
            if peers and "auto" in kernels:
                best = max(peers, key=lambda r: r["ratio"])
                leads.append((kernels["auto"]["ratio"] / best["ratio"], best))
        if not leads:
            continue
        lead, best = min(leads, key=lambda x: x[0])
        met = "" if lead >= must else " (not met)"
        lines.append(f"| {name} | {len(leads)} | {lead:.2f}{met} | {best['elem_size']} bytes, "
                     f"n = {best['n']}, {best['kernel'][5:]} | {max(x[0] for x in leads):.2f} | "
                     f"{must:.1f} | {goal:.1f} |")
    if lines:
        print("| against the best peer in place | shapes | least lead | at | largest | must | goal |")
        print("|---|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n")


def list_rows(title, rows):
    """One line a kernel: for the ladder and the pattern ceilings."""
    print(f"#### {title}\n\n| kernel | bytes | shape | GB/s | ceiling | ratio | min-max | wrong |")
    print("|---|---|---|---|---|---|---|---|")
    for r in rows:
        dims = f"{r['n']} x {r['cols']}" if r.get("cols") else str(r["n"])
        wrong = "-" if r["wrong"] is None else r["wrong"]
        print(f"| {r['kernel']} | {r['elem_size']} | {dims} | {r['gb_per_s']:.0f} | "
              f"{r['ceiling_gb_per_s']:.0f} | {r['ratio']:.3f} | {r['ratio_min']:.3f}-"
              f"{r['ratio_max']:.3f} | {wrong} |")
    print()


def grid(title, table):
    """One line a shape, one column a kernel or peer: GB/s, and the ratio behind it."""
    names = []
    for kernels in table.values():
        names += [k for k in kernels if k not in names and not k.startswith("ceiling:")]
    extra = [(key, index) for key, index in (("ld", 4), ("offset", 5), ("count", 6), ("threads", 7))
             if any(s[index] not in (0, 1) and not (key == "ld" and s[4] == s[2]) for s in table)]
    columns = ["bytes", "n"] + [key for key, _ in extra] + ["ceiling"] + names
    print(f"#### {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for s, kernels in table.items():
        cells = [str(s[1]), str(s[2])] + [str(s[i]) for _, i in extra]
        cells.append(figure(max(r["ceiling_gb_per_s"] for r in kernels.values())))
        for name in names:
            r = kernels.get(name)
            cells.append("" if r is None else f"{figure(r['gb_per_s'])} ({r['ratio']:.2f})"
                         + (f" WRONG {r['wrong']}" if r["wrong"] else ""))
        print(f"| {' | '.join(cells)} |")
    print()


def figure(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def powers_of_two(rows):
    """How far n = 2^k is from its neighbours n = 2^k - 64 and 2^k + 64."""
    rates = {(r["backend"], r["elem_size"], r["n"]): r["gb_per_s"] for r in rows
             if r.get("case") == "power-of-two" and r["kernel"] == "auto" and r["ld"] == r["n"]}
    lines = []
    for (backend, elem, n), rate in rates.items():
        beside = [rates[key] for key in ((backend, elem, n - 64), (backend, elem, n + 64))
                  if key in rates]
        if len(beside) == 2:
            lines.append(f"| {elem} | {n} | {figure(rate)} | {figure(beside[0])} | "
                         f"{figure(beside[1])} | {100 * (rate / (sum(beside) / 2) - 1):+.1f} % |")
    if lines:
        print("| bytes | n = 2^k | GB/s | n - 64 | n + 64 | difference |\n|---|---|---|---|---|---|")
        print("\n".join(lines) + "\n")


def show(paths):
    for path in paths:
        machines, rows = results.load([path])
        if machines:
            heading(machines[0])
        reach(rows)
        ahead(rows)
        powers_of_two(rows)
        for case in dict.fromkeys(r.get("case") for r in rows):
            mine = [r for r in rows if r.get("case") == case]
            if case in ("ladder", "pattern"):
                list_rows(case, mine)
            else:
                grid(case or "no case", results.by_shape(mine))


def replace(document, text):
    begin, end = "<!-- results begin -->\n", "<!-- results end -->\n"
    with open(document) as file:
        before, rest = file.read().split(begin)
    after = rest.split(end)[1]
    with open(document, "w") as file:
        file.write(before + begin + "\n" + text + end + after)


def main():
    if sys.argv[1:2] == ["--into"]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            show(sys.argv[3:])
        replace(sys.argv[2], out.getvalue())
    else:
        show(sys.argv[1:])


main()
