#!/usr/bin/env python3
"""Writes gnuplot programs that draw result files: one program, several SVG pictures.

    bench/plots.py FOLDER RESULTS.jsonl... | gnuplot
"""

import sys

import results

# The order and look of what is drawn; anything else is left out.
STYLES = {
    "ceiling": ("best copy or read-modify-write", "lc rgb '#888888' lw 2 dt 2", None),
    "auto": ("tileswap", "lc rgb '#0057b8' lw 3", 7),
    "tile33": ("[32][33] tile pairs", "lc rgb '#7aa6d8' lw 2", 6),
    "peer:cublas-geam": ("cuBLAS geam *", "lc rgb '#d95f02' lw 2", 9),
    "peer:triton": ("Triton *", "lc rgb '#1b9e77' lw 2", 4),
    "peer:triton-in-place": ("Triton in place", "lc rgb '#66c2a5' lw 2", 5),
    "peer:pytorch": ("PyTorch *", "lc rgb '#e7298a' lw 2", 8),
    "peer:cupy": ("CuPy *", "lc rgb '#a6761d' lw 2", 10),
    "peer:mkl": ("MKL", "lc rgb '#d95f02' lw 2", 9),
    "peer:openblas": ("OpenBLAS", "lc rgb '#1b9e77' lw 2", 4),
    "peer:eigen": ("Eigen", "lc rgb '#e7298a' lw 2", 8),
    "peer:fftw": ("FFTW", "lc rgb '#a6761d' lw 2", 10),
    "peer:gsl": ("GSL", "lc rgb '#66a61e' lw 2", 5),
    "peer:armadillo": ("Armadillo", "lc rgb '#bbaa00' lw 2", 12),
    "peer:numpy": ("NumPy", "lc rgb '#7570b3' lw 2", 6),
}


class Picture:
    """Panels in a grid; a panel has curves, a curve has points (x, low, middle, high)."""

    def __init__(self, path, columns, note):
        self.path, self.columns, self.note, self.panels = path, columns, note, []

    def panel(self, title, curves, xlabel="n", ylabel="GB/s"):
        if curves:
            self.panels.append((title, curves, xlabel, ylabel))

    def write(self):
        if not self.panels:
            return
        rows = -(-len(self.panels) // self.columns)
        columns = min(self.columns, len(self.panels))
        print("reset session")
        for p, (_, curves, _, _) in enumerate(self.panels):
            for name, points in curves.items():
                print(f"${block(p, name)} << EOD")
                for point in sorted(points):
                    print(*point)
                print("EOD")
        print(f"set terminal svg size {80 + 460 * columns},{60 + 360 * rows} font 'sans,13' "
              "background rgb 'white'")
        print(f"set output '{self.path}'")
        print(f"set multiplot layout {rows},{columns} title \"{self.note}\" font ',12'")
        print("set logscale x 2; set grid lc rgb '#dddddd'; set key below horizontal maxcols 3 font ',10' "
              "samplen 2; set yrange [0:*]; set format x '%.0f'; set xtics rotate by -35 font ',10'")
        for p, (title, curves, xlabel, ylabel) in enumerate(self.panels):
            print(f"set title \"{title}\"; set xlabel \"{xlabel}\"; set ylabel \"{ylabel}\"")
            lines = []
            for name in STYLES:
                if name not in curves:
                    continue
                label, line, point = STYLES[name]
                what = "lines" if point is None else f"linespoints pt {point} ps 0.6"
                if name == "auto":  # bars first: the line covers what they blank out
                    lines.append(f"${block(p, name)} using 1:3:2:4 with yerrorbars "
                                 f"{line.replace('lw 3', 'lw 1')} pt 7 ps 0.1 notitle")
                lines.append(f"${block(p, name)} using 1:3 with {what} {line} title \"{label}\"")
            print("plot " + ", \\\n     ".join(lines))
        print("unset multiplot\nset output")


def block(panel, name):
    return f"d{panel}_" + "".join(c if c.isalnum() else "_" for c in name)


def curves_of(rows):
    """{name: points} of rows of one width; the ceiling is the best of each n."""
    curves, ceiling = {}, {}
    for r in rows:
        rate = 2 * r["count"] * r["n"] ** 2 * r["elem_size"] / 1e6
        point = (r["n"], rate / r["time_ms_max"], r["gb_per_s"], rate / r["time_ms_min"])
        if r["kernel"] in STYLES:
            curves.setdefault(r["kernel"], {})[r["n"]] = point
        ceiling[r["n"]] = max(ceiling.get(r["n"], 0), r["ceiling_gb_per_s"])
    if curves:
        curves["ceiling"] = {n: (n, c, c, c) for n, c in ceiling.items()}
    return {name: list(points.values()) for name, points in curves.items()}


def widths(picture, rows, cases, label=""):
    mine = [r for r in rows if r.get("case") in cases]
    for elem in sorted({r["elem_size"] for r in mine}):
        picture.panel(f"{elem}-byte elements{label}",
                      curves_of([r for r in mine if r["elem_size"] == elem]))


def main():
    folder = sys.argv[1]
    machines, rows = results.load(sys.argv[2:])
    host = [r for r in rows if r["backend"] == "cpu"]
    rows = [r for r in rows if r["backend"] == "cuda"]
    name = next((m["gpu"] for m in machines if "gpu" in m), "")
    cpu = next((f"{m['cpu']}, {m['cores']} cores" for m in machines if "gpu" not in m), "")
    star = "   * out of place, twice the memory"

    picture = Picture(f"{folder}/gpu-bandwidth.svg", 3, f"{name}, aligned rows{star}")
    widths(picture, rows, ("aligned",))
    picture.write()
    picture = Picture(f"{folder}/gpu-odd.svg", 2, f"{name}, odd n: rows unaligned{star}")
    widths(picture, rows, ("odd",))
    picture.write()
    picture = Picture(f"{folder}/gpu-batch.svg", 3, f"{name}, batches of 4 GB")
    widths(picture, rows, ("tiny", "batch"), ", strided")
    widths(picture, rows, ("batch-array",), ", pointer array")
    picture.write()
    picture = Picture(f"{folder}/cpu-bandwidth.svg", 3, f"{cpu}, all threads")
    widths(picture, host, ("curve",))
    picture.write()
    picture = Picture(f"{folder}/cpu-peers.svg", 3, f"{cpu}, beside other libraries")
    widths(picture, host, ("peers",))
    picture.write()
    picture = Picture(f"{folder}/cpu-in-cache.svg", 3, f"{cpu}, in cache, one thread")
    widths(picture, host, ("in-cache",))
    picture.write()


main()
