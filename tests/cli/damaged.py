"""Damaged .npy files: whatever the bytes, the tool ends with status 0 or 1, one line on stderr if 1,
and leaves no file but a complete one.  TSW_SEED repeats a run, TSW_ROUNDS lengthens it."""
import os
import random
import subprocess
import sys

ROUNDS = int(os.environ.get("TSW_ROUNDS", "200"))
SEED = int(os.environ.get("TSW_SEED", "0"), 0) or random.SystemRandom().getrandbits(64)
WORDS = [b"'", b'"', b"(", b")", b"[", b"]", b"{", b"}", b",", b":", b"\\", b" ", b"\n", b"\0", b"-1",
         b"18446744073709551615", b"99999999999999999999", b"descr", b"'shape'", b"True", b"|O", b"<f8",
         b"('a', '<f4', (2, 2))", b"(((((((", b"[[[[[[[", b"\xff\xfe"]


def header(text, version):
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + text


def damaged(rng):
    descr = rng.choice([b"'<f4'", b"[('a', '<i2'), ('b', '|u1', (2,))]", b"'|S4'", b"('<i2', 2)"])
    text = b"{'descr': " + descr + b", 'fortran_order': False, 'shape': (3, 3), }"
    if rng.random() < 0.7:  # within the dict, whose length stays true
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(WORDS + [b""]) + text[at + rng.randint(0, 4):]
        return header(text, rng.randint(1, 3)) + bytes(36)
    whole = bytearray(header(text, rng.randint(1, 3)) + bytes(36))
    for _ in range(rng.randint(1, 4)):
        whole[rng.randrange(len(whole) - 36)] = rng.randrange(256)
    return bytes(whole[:rng.randint(0, len(whole))] if rng.random() < 0.3 else whole)


def fault(tool, data):
    with open("a.npy", "wb") as f:
        f.write(data)
    done = subprocess.run([tool, "transpose", "a.npy", "-o", "t.npy", "--format", "npy"],
                          capture_output=True, timeout=60, check=False)
    left = sorted(os.listdir("."))
    if done.returncode == 0:
        return left != ["a.npy", "t.npy"] or os.path.getsize("t.npy") != len(data)
    return done.returncode != 1 or left != ["a.npy"] or done.stderr.count(b"\n") != 1


def main():
    os.chdir(sys.argv[1])
    rng = random.Random(SEED)
    for i in range(ROUNDS):
        data = damaged(rng)
        if fault(os.environ["TILESWAP"], data):
            print(f"FAIL damaged headers: TSW_SEED={SEED:#x}, file {i}: {data!r}")
            return
        if os.path.exists("t.npy"):
            os.remove("t.npy")
    print(f"pass damaged headers: {ROUNDS} files, TSW_SEED={SEED:#x}")


main()
