"""Every format through the tool, in place and to a new file, read back by the library it comes from."""
import json
import os
import struct
import subprocess
import sys

TOOL = os.environ["TILESWAP"]
os.chdir(sys.argv[1])


def tool(*words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True)


def check(name, good, why=""):
    print(f"pass {name}" if good else f"FAIL {name}: {why}")


def refused(name, run, words):
    check(name, run.returncode == 1 and words in run.stderr, f"{run.returncode} {run.stderr}")


def transpose_bytes(a, n, size):
    return b"".join(a[(r * n + c) * size:(r * n + c + 1) * size] for c in range(n) for r in range(n))


def safetensors():
    n, data = 5, os.urandom(5 * 5 * 4)
    before, behind = os.urandom(12), os.urandom(30)
    header = json.dumps({
        "__metadata__": {"format": "pt", "odd": "\\\"{[\\u00e4"},
        "first": {"dtype": "U8", "shape": [3, 4], "data_offsets": [0, 12]},
        "w": {"dtype": "F32", "shape": [n, n], "data_offsets": [12, 112]},
        "x": {"dtype": "BF16", "shape": [3, 5], "data_offsets": [112, 142]}}).encode()
    text = struct.pack("<Q", len(header)) + header

    def write(name):
        with open(name, "wb") as f:
            f.write(text + before + data + behind)

    write("a.safetensors")
    run = tool("transpose", "a.safetensors", "--dataset", "w", "--verify")
    with open("a.safetensors", "rb") as f:
        after = f.read()
    check("safetensors in place", run.returncode == 0 and
          after == text + before + transpose_bytes(data, n, 4) + behind, run.stderr)
    write("a.safetensors")
    run = tool("transpose", "a.safetensors", "--dataset", "w", "-o", "b.safetensors")
    with open("b.safetensors", "rb") as f:
        check("safetensors to a new file", run.returncode == 0 and f.read() == after, run.stderr)
    refused("safetensors: no such tensor", tool("transpose", "a.safetensors", "--dataset", "y"),
            "has no tensor 'y'")
    refused("safetensors: which tensor", tool("transpose", "a.safetensors"), "3 tensors")
    refused("safetensors: not square", tool("transpose", "a.safetensors", "--dataset", "x"),
            "not square")
    for cut in range(0, len(text), 7):
        with open("c.safetensors", "wb") as f:
            f.write(text[:cut])
        if tool("transpose", "c.safetensors", "--format", "safetensors").returncode != 1:
            check("safetensors cut short", False, f"{cut} bytes are taken")
            return
    check("safetensors cut short", True)


def hdf5():
    try:
        import h5py
        import numpy
    except ImportError:
        print("skip hdf5: no h5py")
        return
    a = numpy.arange(37 * 37, dtype="f8").reshape(37, 37)
    for block in (0, 512, 2048):
        with h5py.File("a.h5", "w", userblock_size=block) as f:
            f["g/other"] = numpy.arange(10)
            f["g/a"] = a
        run = tool("transpose", "a.h5", "--dataset", "/g/a", "--verify")
        with h5py.File("a.h5") as f:
            check(f"hdf5, user block of {block}", run.returncode == 0 and
                  (f["g/a"][:] == a.T).all() and (f["g/other"][:] == numpy.arange(10)).all(), run.stderr)
    with h5py.File("b.h5", "w") as f:
        f.create_dataset("chunked", data=a, chunks=(8, 8))
        f.create_dataset("gzip", data=a, compression="gzip")
        f.create_dataset("wide", data=a[:20])
        f.create_dataset("empty", shape=(9, 9), dtype="f4")
        f.create_dataset("outside", shape=(37, 37), dtype="f8", external=[("raw.bin", 0, 37 * 37 * 8)])
        f.create_dataset("strings", data=numpy.array([["a", "b"], ["c", "d"]], dtype=object),
                         dtype=h5py.string_dtype())
        layout = h5py.VirtualLayout(shape=(37, 37), dtype="f8")
        layout[:] = h5py.VirtualSource("a.h5", "g/a", shape=(37, 37))
        f.create_virtual_dataset("virtual", layout)
    for name, words in (("chunked", "is chunked"), ("gzip", "is compressed"), ("wide", "not square"),
                        ("empty", "has no storage"), ("outside", "external"),
                        ("strings", "references"), ("virtual", "is virtual"), ("none", "has no dataset")):
        refused(f"hdf5: {name}", tool("transpose", "b.h5", "--dataset", name), words)
    refused("hdf5: no dataset named", tool("transpose", "b.h5"), "dataset names")


def no_libhdf5():
    with open("d.h5", "wb") as f:
        f.write(b"\x89HDF\r\n\x1a\n" + bytes(2000))
    run = subprocess.run([TOOL, "transpose", "d.h5", "--dataset", "a"], capture_output=True, text=True,
                         env={**os.environ, "TSW_LIBHDF5": "/nowhere/libhdf5.so"})
    refused("hdf5 without libhdf5", run, "TSW_LIBHDF5")


def numpy_files():
    try:
        import numpy
    except ImportError:
        print("skip npy: no NumPy")
        return
    good = True
    for n in (0, 1, 2, 63, 64, 65, 97):
        for dtype in ("u1", "f4", ">f8", "c16", "S3", "V24"):
            for order in "CF":
                a = numpy.frombuffer(os.urandom(n * n * numpy.dtype(dtype).itemsize), dtype=dtype)
                a = numpy.asarray(a.reshape(n, n), order=order)
                numpy.save("a.npy", a)
                run = tool("transpose", "a.npy", "--memory", "256K", "--durability", "process")
                good = good and not run.returncode
                good = good and numpy.load("a.npy").tobytes() == a.T.tobytes()
                good = good and not tool("transpose", "a.npy", "--flag-only").returncode
                good = good and numpy.load("a.npy").tobytes() == a.tobytes()
    check("npy: sizes, types, orders, flags", good)


def npy_header_without_room():
    """The header ends in no space, then in one: "False" is longer than "True"."""
    data = os.urandom(9)

    def write(order, spaces):
        text = f"{{'descr': '|u1', 'fortran_order': {order}, 'shape': (3, 3)}}{' ' * spaces}\n".encode()
        whole = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data
        with open("n.npy", "wb") as f:
            f.write(whole)
        return whole

    def read():
        with open("n.npy", "rb") as f:
            return f.read()

    full = write("True", 0)
    refused("npy: no space for a longer word", tool("transpose", "n.npy", "--flag-only"), "no room")
    check("npy: refused, it is as it was", read() == full)
    longer, shorter = write("False", 0), write("True", 1)
    for name, before, after in (("spends the last space", shorter, longer),
                                ("needs no space to shorten", longer, shorter)):
        with open("n.npy", "wb") as f:
            f.write(before)
        run = tool("transpose", "n.npy", "--flag-only")
        check(f"npy: {name}", run.returncode == 0 and read() == after, run.stderr)


def window():
    n, ld, size, offset = 31, 40, 3, 777
    span = ((n - 1) * ld + n) * size
    data = os.urandom(offset + span + 55)
    expected = bytearray(data)
    for r in range(n):
        for c in range(n):
            at, to = offset + (r * ld + c) * size, offset + (c * ld + r) * size
            expected[to:to + size] = data[at:at + size]
    for out in ([], ["-o", "w.out"]):
        with open("w.bin", "wb") as f:
            f.write(data)
        run = tool("transpose", "w.bin", "--n", str(n), "--ld", str(ld), "--elem-size", str(size),
                   "--offset", str(offset), "--memory", "20K", *out)
        with open(out[1] if out else "w.bin", "rb") as f:
            check("a window of a larger matrix" + (", -o" if out else ""),
                  run.returncode == 0 and f.read() == expected, run.stderr)


def past_4_gib():
    n, size = 33000, 4
    with open("s.bin", "wb") as f:
        f.truncate(n * n * size)
        f.seek(((n - 1) * n + 1) * size)
        f.write(b"last")
    if os.stat("s.bin").st_blocks > 1000:
        print("skip a sparse file past 4 GiB: files are not sparse here")
        return
    with open("out", "w+") as out:
        run = subprocess.Popen([TOOL, "transpose", "s.bin", "--n", str(n), "--elem-size", str(size),
                                "--memory", "64M", "--durability", "process", "--json"],
                               stdout=out, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(run.pid, 0)
        out.seek(0)
        told = out.read()
    with open("s.bin", "rb") as f:
        f.seek((n + n - 1) * size)
        there = f.read(4)
        f.seek(((n - 1) * n + 1) * size)
        gone = f.read(4)
    result = json.loads(told) if status == 0 else {}
    os.remove("s.bin")
    check("a sparse file past 4 GiB", there == b"last" and gone == bytes(4) and
          result.get("bytes_read") == n * n * size, told)
    check("no more memory than was given, and 64 MiB", used.ru_maxrss <= (64 + 64) * 1024,
          f"{used.ru_maxrss} KiB")
    check("symmetric tiles are not written", result.get("bytes_written", 0) < n * n * size / 10, result)


safetensors()
no_libhdf5()
hdf5()
numpy_files()
npy_header_without_room()
window()
past_4_gib()
