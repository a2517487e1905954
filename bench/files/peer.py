"""peer.py WHAT SIDE GROUP OUT COMMAND...: times a command until OUT is on the disk; one JSON object.

It runs in the control group GROUP (empty: in none).  If that kills it, or it takes more than PATIENCE_S
there (300), it is run again without a limit on a matrix made anew.  What comes out is compared at
random places with the matrix of matrix.py, transposed if the input was not.
"""
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import time

what, side, group, out, command = (sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4],
                                   sys.argv[5:])
here = os.path.dirname(os.path.abspath(__file__))
PATIENCE_S = float(os.environ.get("PATIENCE_S", "300"))


def element(path, r, c):
    with open(path, "rb") as f:
        start = os.fstat(f.fileno()).st_size - 8 * side * side
        f.seek(start + 8 * (r * side + c))
        return struct.unpack("<d", f.read(8))[0]


def is_transposed(path):
    return element(path, 0, 1) != 1


def wrong(path, transposed):
    places = [(random.randrange(side), random.randrange(side)) for _ in range(2000)]
    return sum(element(path, r, c) != (c * side + r if transposed else r * side + c)
               for r, c in places)


def enter():
    with open(group + "/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))


def on_the_disk(path):
    if os.path.isdir(path):
        os.sync()
        return
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def run(limited):
    """Seconds, or None if the limit of memory stopped it, or would have it run for ever."""
    begun = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S if limited else None,
                              preexec_fn=enter if limited else None)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode == 0:
        on_the_disk(out)
        return time.monotonic() - begun
    if not limited:
        sys.exit(f"{what}: exit {done.returncode}: {done.stderr.decode()[-300:]}")
    return None


def same_kind(path):
    return path.endswith((".bin", ".npy"))


in_place = os.path.exists(out)
before = is_transposed(out) if in_place else is_transposed("m.npy" if out.endswith(".npy") else
                                                           "m.bin")
row = {"what": what, "side": side}
seconds = run(bool(group))
if seconds is None:
    row["not_within_limit"] = True
    subprocess.run([sys.executable, here + "/matrix.py", "make", str(side), "m.npy", "m.bin"],
                   check=True)
    before = False
    if os.path.isdir(out):
        shutil.rmtree(out)  # what the stopped run left
    seconds = run(False)
row["limited"] = bool(group) and "not_within_limit" not in row
row["seconds"] = round(seconds, 3)
row["ns_per_element"] = round(1e9 * seconds / side ** 2, 3)
row["peak_rss_per_v"] = round(
    resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / (8 * side * side), 3)
if same_kind(out):
    row["wrong"] = wrong(out, not before)
print(json.dumps(row), flush=True)
sys.exit(1 if row.get("wrong") else 0)
