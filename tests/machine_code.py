#!/usr/bin/env python3
"""What the compiler made of the host micro-kernels, read from their machine code.

    tests/machine_code.py --cc CC [--list] OBJECT...

Blocks go through registers: the loops of the kernels named in KERNELS keep no vector on the stack, demand
alignment of no address, store every byte of both blocks once and load it once, or once more where an
instruction takes a row from memory a second time rather than from a register.  (The others turn their
blocks on the stack on purpose.)  A line for every loop with --list; what differs is printed and counted as
failed.  Skipped without objdump, or where the compiler is not gcc.
"""

import argparse
import re
import shutil
import subprocess
import sys

# The instruction set, and its functions: bytes of a pair of blocks, 0 where an iteration is part of one.
KERNELS = {
    "avx512": {"swap_strip4": 2048, "strip_colliding4": 0, "swap_strip8": 1024,
               "swap_strip16": 512, "turn_blocks4": 2048,
               "turn_blocks8": 1024, "turn_blocks16": 512, "odd_swap_strip4": 0,
               "odd_swap_strip8": 0, "odd_swap_strip16": 0, "swap_wide": 0, "copy_rows": 0},
    "avx2": {"swap_strip8": 256, "swap_strip16": 128, "swap_wide": 0, "copy_rows": 0},
    "c": {"swap_strip4": 128, "swap_strip8": 64, "swap_strip16": 32, "swap_wide": 0},
    "neon": {"swap_strip4": 128, "swap_strip8": 64, "swap_strip16": 32, "swap_wide": 0},
}

REGISTER = {"x": 16, "y": 32, "z": 64}


class Instruction:
    def __init__(self, address, text):
        self.address = address
        self.name, _, rest = text.partition("\t") if "\t" in text else text.partition(" ")
        self.operands = rest.split("#")[0].split("<")[0].strip()
        target = re.match(r"(?:j\w+|b(?:\.\w+)?|cbn?z|tbn?z)$", self.name)
        found = re.search(r"([0-9a-f]+)$", self.operands) if target else None
        self.target = int(found.group(1), 16) if found else None

    def x86_vector(self):
        """(bytes, is a store, on the stack, demands alignment) of an access by a vector register."""
        memory = re.search(r"\(([^)]*)\)(\{%k\d\})?(,|$)", self.operands)
        registers = re.findall(r"%([xyz])mm\d+", self.operands)
        if not memory or not registers or "%rip" in memory.group(1) or "prefetch" in self.name:
            return None
        store = memory.end() == len(self.operands)
        part = re.search(r"(?:insert|extract|broadcast)[if](\d+)(?:x(\d))?$", self.name)
        width = REGISTER[registers[0]]
        if part:
            width = int(part.group(1)) * int(part.group(2) or 1) // 8
        return (width, store, bool(re.match(r"%r[sb]p", memory.group(1))),
                self.name.startswith(("vmovdqa", "vmovap", "movdqa", "movap")))

    def arm_vector(self):
        found = re.match(r"(ldr|str|ldur|stur|ldp|stp)$", self.name)
        registers = re.findall(r"\bq\d+\b", self.operands)
        if not found or not registers:
            return None
        return (16 * len(registers), self.name.startswith("st"), "[sp" in self.operands, False)


def functions(path, objdump):
    """name -> instructions, and whether the object is for ARM."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    arm = "aarch64" in text[:200]
    found, current = {}, None
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if head:
            current = found.setdefault(head.group(1), [])
            continue
        body = re.match(r"\s*([0-9a-f]+):\t(.*)$", line)
        if body and current is not None:
            current.append(Instruction(int(body.group(1), 16), body.group(2).strip()))
    return found, arm


def loops(code):
    begin = code[0].address
    return {(i.target, i.address) for i in code
            if i.target is not None and begin <= i.target <= i.address}


def census(code, arm, width):
    """Of every loop that stores vectors, and has no such loop within: what it does.  Narrower accesses
    of the stack than `width` bytes are pointers, which gcc likes to move in pairs."""
    vectors = [(i.address, v) for i in code
               for v in [i.arm_vector() if arm else i.x86_vector()] if v]
    stores = [a for a, v in vectors if v[1] and not v[2]]
    storing = [x for x in loops(code) if any(x[0] <= a <= x[1] for a in stores)]
    found = []
    for x in sorted(storing):
        if any(x != y and x[0] <= y[0] and y[1] <= x[1] for y in storing):
            continue
        seen = [v for a, v in vectors if x[0] <= a <= x[1]]
        outside = [v for v in seen if not v[2]]
        found.append({"loads": sum(v[0] for v in outside if not v[1]),
                      "stores": sum(v[0] for v in outside if v[1]),
                      "widths": sorted({v[0] for v in outside}),
                      "stack": sum(v[2] for v in seen if v[0] >= width),
                      "aligned": sum(v[3] for v in outside)})
    return found


def faults(loop, stores):
    if loop["stack"]:
        yield f"{loop['stack']} accesses of the stack"
    if loop["aligned"] and stores:
        yield f"{loop['aligned']} accesses that demand alignment"
    if stores and not 0.5 * stores < loop["stores"] <= stores:
        yield f"stores {loop['stores']} bytes, not {stores}"
    if stores and not stores <= loop["loads"] <= 1.5 * stores:
        yield f"loads {loop['loads']} bytes, not {stores}"


def check(path, isa, objdump, listing):
    """How many functions are as they should be, and how many not."""
    code, arm = functions(path, objdump)
    good = bad = 0
    for name, stores in KERNELS[isa].items():
        found = census(code[name], arm, 32 if isa.startswith("avx") else 16) if name in code else []
        wrong = [] if found else ["no loop that stores vectors"]
        for loop in found:
            wrong += faults(loop, stores)
            if listing:
                print(f"{isa:8} {name:18} loads {loop['loads']:5} stores {loop['stores']:5} bytes, "
                      f"{'/'.join(map(str, loop['widths']))} at a time, stack {loop['stack']}")
        for text in wrong:
            print(f"{isa} {name}: {text}")
        good, bad = good + (not wrong), bad + bool(wrong)
    return good, bad


def skip(reason):
    print(f"skipped: machine code: {reason}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("objects", nargs="+")
    o = parser.parse_args()
    target = subprocess.run([*o.cc.split(), "-dumpmachine"], capture_output=True, text=True).stdout
    version = subprocess.run([*o.cc.split(), "--version"], capture_output=True, text=True).stdout
    objdump = "aarch64-linux-gnu-objdump" if target.startswith("aarch64") else "objdump"
    if not shutil.which(objdump):
        skip(f"no {objdump}")
    if "Free Software Foundation" not in version:
        skip("its figures are of gcc")
    good = bad = 0
    for path in o.objects:
        isa = re.search(r"kernels_(\w+)\.c\.o$", path).group(1)
        if (isa == "neon") == target.startswith("aarch64") and isa in KERNELS:
            one = check(path, isa, objdump, o.list)
            good, bad = good + one[0], bad + one[1]
    print(f"{good} passed, {bad} failed, 0 skipped")
    sys.exit(1 if bad or not good else 0)


main()
