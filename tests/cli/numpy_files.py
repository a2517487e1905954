"""Files that NumPy writes come back equal to a.T, header and all.  Random bits, so that NaN payloads
and padding count too."""
import json
import os
import subprocess
import sys

import numpy as np

TOOL = os.environ["TILESWAP"]
DTYPES = [
    "<f4", ">f4", "<f8", "<c16", "|i1", "|u1", "<u2", ">i8", "<f2", "|b1", "<c8", np.longdouble,
    "|S5", "<U3", ">U2", "|V7", "<M8[ns]", "<m8[25us]", "<M8",
    [("x", "<f4"), ("y", "|u1")],
    np.dtype([("x", "|u1"), ("y", "<f8"), ("z", ">i2", (2, 3))], align=True),
    [("p", [("q", "<f8"), ("r", "|S3", 2)]), (("a title", "t"), "<i4")],
    [("h\u00f6he", "<f8")],
]
rng = np.random.default_rng(7)


def random_matrix(dtype, n):
    dtype = np.dtype(dtype)
    raw = rng.integers(0, 256, n * n * dtype.itemsize, dtype=np.uint8)
    if dtype.kind == "b":
        raw &= 1
    if dtype.kind == "U":  # NumPy refuses to show what is no character; keep it one
        return (raw[: n * n * dtype.itemsize].view("u4") & 0x3F).astype("u4").view(
            np.dtype("U%d" % (dtype.itemsize // 4))).astype(dtype).reshape(n, n)
    return raw.view(dtype).reshape(n, n)


def raw(a):
    """The bytes of each element.  (NumPy itself drops the padding of structures when it copies.)"""
    if not a.flags.c_contiguous:
        return raw(a.T).transpose(1, 0, 2)
    return np.frombuffer(a.tobytes(), np.uint8).reshape(*a.shape, a.dtype.itemsize)


def column_major(a):
    n = a.shape[0]
    turned = np.ascontiguousarray(raw(a).transpose(1, 0, 2))
    return np.frombuffer(turned.tobytes(), a.dtype).reshape(n, n).T


def same_bits(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(raw(a), raw(b))


def run(*words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=120, check=False)


def save(name, a, version):
    with open(name, "wb") as f:
        np.lib.format.write_array(f, a, version=version)


def fault(a, version):
    """What is wrong with the tool's transpose of `a`, None if nothing."""
    save("a.npy", a, version)
    done = run("transpose", "a.npy", "-o", "t.npy", "--force", "--verify", "--json")
    if done.returncode or done.stderr:
        return f"status {done.returncode}: {done.stderr.strip()}"
    t = np.load("t.npy")
    if not same_bits(t, a.T):
        return "it is not a.T"
    if a.size and t.flags.f_contiguous != a.flags.f_contiguous and a.shape[0] > 1:
        return "the order changed"
    if json.loads(done.stdout)["elem_size"] != a.dtype.itemsize:
        return "the element size is wrong"
    return digest_fault(a)


def digest_fault(a):
    """One digest for one matrix, whatever the order in the file."""
    save("b.npy", column_major(a), (2, 0))
    digests = {run("checksum", "a.npy").stdout, run("checksum", "b.npy").stdout,
               run("checksum", "t.npy", "--transposed").stdout}
    return None if len(digests) == 1 else f"digests differ: {digests}"


def report(name, wrong):
    print(f"FAIL {name}: {wrong}" if wrong else f"pass {name}")


def test(dtype, n, version=(1, 0), order="C"):
    a = random_matrix(dtype, n)
    report(f"numpy {np.dtype(dtype)} n={n} version={version[0]} order={order}",
           fault(column_major(a) if order == "F" else a, version))


def main():
    os.chdir(sys.argv[1])
    for dtype in DTYPES:
        test(dtype, 33, (3, 0))
    for dtype in ("<f4", "<f8", "<c16", "|i1", ">f4", DTYPES[19]):
        for n in (0, 1, 1000):
            test(dtype, n)
    for version in ((1, 0), (2, 0), (3, 0)):
        for order in "CF":
            test("<f8", 100, version, order)
    for name, a in (("object", np.array([[None, 1], [2, "x"]], dtype=object)),
                    ("object in a field", np.zeros((2, 2), [("a", "<i4"), ("b", "O")]))):
        np.save("o.npy", a, allow_pickle=True)
        done = run("transpose", "o.npy", "-o", "never.npy")
        report(f"numpy refuses {name}", None if done.returncode == 1 and "object dtype" in done.stderr
               and not os.path.exists("never.npy") else done)


main()
