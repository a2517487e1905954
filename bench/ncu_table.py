#!/usr/bin/env python3
"""Turns what ncu.sh recorded into a Markdown table.

    bench/ncu_table.py NAME FILE.csv
"""

import csv
import sys

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"


def rows_of(path):
    """The kernels' rows; what the program itself printed stands before the header."""
    with open(path) as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    return rows[1:]  # the first has the units


def number(text):
    return float(text.replace(",", "")) if text else 0.0


def main():
    name, path = sys.argv[1:]
    print(f"### {name}\n\n| kernel | grid | shared wavefronts | bank conflicts | share | "
          "DRAM read GB | written GB | ms |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows_of(path):
        conflicts, wavefronts = number(row[CONFLICTS]), number(row[WAVEFRONTS])
        share = f"{100 * conflicts / wavefronts:.1f} %" if wavefronts else "-"
        print(f"| `{row['Kernel Name'].split('(')[0]}` | {row['Grid Size']} | {wavefronts:.3g} | "
              f"{conflicts:.3g} | {share} | {number(row['dram__bytes_read.sum']) / 1e9:.3f} | "
              f"{number(row['dram__bytes_write.sum']) / 1e9:.3f} | "
              f"{number(row['gpu__time_duration.sum']) / 1e6:.3f} |")
    print()


main()
