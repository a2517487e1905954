"""Reads result files: one machine row, then a row for each kernel, peer or ceiling and shape."""

import json


def load(paths):
    """(machines, rows) of one or several files; void rows are dropped."""
    machines, rows = [], []
    for path in paths:
        with open(path) as file:
            for line in file:
                row = json.loads(line)
                if row["row"] == "machine":
                    machines.append(row)
                elif not row.get("void"):
                    row["path"] = path
                    rows.append(row)
    return machines, rows


def shape(row):
    """What rows that belong together have in common."""
    return (
        row.get("case"),
        row["elem_size"],
        row["n"],
        row.get("cols", 0),
        row["ld"],
        row["offset"],
        row["count"],
        row["threads"] if row.get("case") == "scaling" else 0,
    )


def by_shape(rows):
    """{shape: {kernel: row}}, in the order of the file; of equals the last one stands."""
    table = {}
    for row in rows:
        table.setdefault(shape(row), {})[row["kernel"]] = row
    return table
