"""Faults put into the matrix behind the back of `tileswap stress` (TSW_STRESS_INJECT, described in
src/cli/inject.h) must be reported as the right kind, at the right place, with the right bits."""

import json
import os
import random
import re
import resource
import signal
import subprocess
import sys

TOOL = os.environ["TILESWAP"]
N, LD = 70, 75
WIDTHS = {"cpu": [1, 2, 3, 4, 8, 12, 16, 24], "cuda": [1, 2, 3, 4, 8, 16]}
PATTERNS = ["random", "position", "walk1", "walk0", "check5", "checka"]
counts = {"pass": 0, "FAIL": 0, "skip": 0}


def told(verdict, name, why=""):
    counts[verdict] += 1
    print(f"{verdict} {name}" + (f": {why}" if why else ""), flush=True)


def stress(device, width, *options, inject=None, **more):
    """Exit status, JSON lines, stderr."""
    env = dict(os.environ)
    if inject:
        env["TSW_STRESS_INJECT"] = inject
    done = subprocess.run(
        [TOOL, "stress", "--json", "--device", device, "--elem-size", str(width), *options],
        env=env, capture_output=True, text=True, check=False, **more)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, lines, done.stderr


def small(device, width, inject, rounds=1, pattern="random"):
    return stress(device, width, "--n", str(N), "--ld", str(LD), "--rounds", str(rounds),
                  "--pattern", pattern, "--seed", "11", inject=inject)


def want(condition, what):
    if not condition:
        raise AssertionError(what)


def want_kinds(status, lines, kinds):
    """The rounds' kinds of fault, and what the summary and the exit status make of them."""
    rounds = [line for line in lines if line["kind"] == "round"]
    summary = lines[-1]
    want([line["fault"] for line in rounds] == kinds, f"kinds {lines}")
    want(summary["kind"] == "summary" and summary["rounds"] == len(kinds), f"{summary}")
    bad = [kind for kind in kinds if kind != "none"]
    want(summary["bad_rounds"] == len(bad), f"{summary}")
    for kind in ("memory", "place", "digest", "padding"):
        want(summary[kind + "_faults"] == kinds.count(kind), f"{summary}")
    want(status == (1 if bad else 0), f"exit status {status}")
    return rounds


def want_place(line, i, width, row, col, bit=None):
    place = line["wrong_places"][i]
    want((place["row"], place["col"]) == (row, col), f"not ({row}, {col}): {place}")
    first = (row * LD + col) * width
    shown = 16 * (bit // 128) if bit is not None else place["byte"] - first
    want(place["byte"] == first + shown, f"not byte {first}: {place}")
    base = int(place["address"], 16) - place["byte"]
    want(base > 0 and base % 16 == 0, f"{place}")
    if bit is not None:
        found, expected = (bytes.fromhex(place[key]) for key in ("found", "expected"))
        want(len(found) == len(expected) == min(width - shown, 16), f"{place}")
        flipped = int.from_bytes(found, "little") ^ int.from_bytes(expected, "little")
        want(flipped == 1 << (bit - 8 * shown), f"not bit {bit}: {place}")
        want(place["bits_differing"] == 1 and place["first_bit"] == bit, f"{place}")
    return place


# ---- the tests; each for a device and a width ------------------------------------------------------


def nothing_wrong(device, width):
    status, lines, err = stress(device, width, "--n", str(N), "--rounds", "7")
    rounds = want_kinds(status, lines, ["none"] * 7)
    want([line["pattern"] for line in rounds] == PATTERNS + PATTERNS[:1], "the patterns in turn")
    want(all(line["wrong_places"] == [] for line in rounds) and not err, err)


def a_flipped_bit(device, width):
    """In the second of three rounds of every pattern, before the second digest."""
    for pattern in PATTERNS:
        row, col, bit = dice.randrange(N), dice.randrange(N), dice.randrange(8 * width)
        status, lines, err = small(device, width, f"flip:transposed:2:{row}:{col}:{bit}", 3, pattern)
        line = want_kinds(status, lines, ["none", "memory", "none"])[1]
        want(line["pattern"] == pattern and line["wrong"] == 1, f"{line}")
        want(not line["values_equal"] and not line["digest_equal"], f"{line}")
        place = want_place(line, 0, width, row, col, bit)
        want(f"round 2: element ({row}, {col}), byte {place['byte']}," in err, err)
        want(f"found {place['found']}, expected {place['expected']}" in err, err)
        want("memory: bits changed between the two digests" in err, err)


def a_bit_that_was_wrong_from_the_fill_on(device, width):
    row, col, bit = dice.randrange(N), dice.randrange(N), dice.randrange(8 * width)
    status, lines, err = small(device, width, f"flip:filled:1:{row}:{col}:{bit}")
    line = want_kinds(status, lines, ["memory"])[0]
    want(line["digest_equal"] and line["wrong"] == 1, f"{line}")
    want_place(line, 0, width, col, row, bit)  # it was transposed with the others
    want("before the first digest or after the second" in err, err)


def a_bit_flipped_after_the_digests(device, width):
    row, col, bit = dice.randrange(N), dice.randrange(N), dice.randrange(8 * width)
    status, lines, _ = small(device, width, f"flip:digested:1:{row}:{col}:{bit}")
    line = want_kinds(status, lines, ["memory"])[0]
    want(line["digest_equal"] and line["wrong"] == 1, f"{line}")
    want_place(line, 0, width, row, col, bit)


def two_unequal_places(device, width, pattern):
    """Elements that hold different bits in the second round; what they hold is learnt by flipping a
    bit of each."""
    while True:
        (a, b), (c, d) = sorted((dice.randrange(N), dice.randrange(N)) for _ in range(2))
        if (a, b) == (c, d):
            continue
        spoil = f"flip:digested:2:{a}:{b}:0 flip:digested:2:{c}:{d}:0"
        _, lines, _ = small(device, width, spoil, 2, pattern)
        places = lines[1]["wrong_places"]
        want(len(places) == 2, f"{lines[1]}")
        if places[0]["expected"] != places[1]["expected"]:
            return a, b, c, d


def two_elements_swapped(device, width):
    for pattern in ("random", "position"):
        a, b, c, d = two_unequal_places(device, width, pattern)
        status, lines, err = small(device, width, f"swap:transposed:2:{a}:{b}:{c}:{d}", 3, pattern)
        line = want_kinds(status, lines, ["none", "place", "none"])[1]
        want(line["values_equal"] and not line["placed_equal"], f"{line}")
        want(line["wrong"] == 2, f"{line}")
        first, second = want_place(line, 0, width, a, b), want_place(line, 1, width, c, d)
        want(first["found"] == second["expected"] and second["found"] == first["expected"], f"{line}")
        for here, home in (((a, b), (c, d)), ((c, d), (a, b))):
            line = f"element {here}, byte [^\n]*: what belongs at {home}\n"
            want(re.search(line.replace("(", r"\(").replace(")", r"\)"), err), err)


def a_byte_of_padding(device, width):
    byte = (dice.randrange(N - 1) * LD + N) * width + dice.randrange((LD - N) * width)
    status, lines, err = small(device, width, f"byte:filled:1:{byte}:{dice.randrange(8)}")
    line = want_kinds(status, lines, ["padding"])[0]
    want(line["wrong"] == 0 and line["wrong_padding_bytes"] == 1, f"{line}")
    want(line["wrong_padding_byte"] == byte and f"padding, byte {byte}," in err, f"{line} {err}")


def a_digest_that_was_misread(device, width):
    place = f"{dice.randrange(N)}:{dice.randrange(N)}:{dice.randrange(8 * width)}"
    status, lines, err = small(device, width, f"flip:transposed:1:{place} flip:digested:1:{place}")
    line = want_kinds(status, lines, ["digest"])[0]
    want(line["wrong"] == 0 and not line["digest_equal"], f"{line}")
    want("misread or miscalculated" in err, err)


def for_one_device_only(device, width):
    """A fault meant for another device is not this one's."""
    other = "cuda:7" if device == "cpu" else "cpu"
    status, lines, _ = small(device, width, f"{other}/flip:transposed:1:0:0:0")
    want_kinds(status, lines, ["none"])
    name = lines[0]["device"]
    status, lines, _ = small(device, width, f"{name}/flip:transposed:1:0:0:0")
    want_kinds(status, lines, ["memory"])


EACH = [nothing_wrong, a_flipped_bit, a_bit_that_was_wrong_from_the_fill_on,
        a_bit_flipped_after_the_digests, two_elements_swapped, a_byte_of_padding,
        a_digest_that_was_misread, for_one_device_only]


# ---- once ------------------------------------------------------------------------------------------


def all_devices_at_once():
    """The host and every GPU: each its own rounds, faults at their own device, one sum."""
    status, lines, _ = stress("all", 4, "--n", str(N), "--rounds", "4",
                              inject="cpu/flip:transposed:3:1:2:3")
    names = {line["device"] for line in lines if line["kind"] == "round"}
    want("cpu" in names, f"{names}")
    for name in names:
        rounds = [line for line in lines if line["kind"] == "round" and line["device"] == name]
        want([line["round"] for line in rounds] == [1, 2, 3, 4], f"{rounds}")
        kinds = [line["fault"] for line in rounds]
        want(kinds == (["none"] * 2 + ["memory", "none"] if name == "cpu" else ["none"] * 4), f"{kinds}")
    devices = [line for line in lines if line["kind"] == "device"]
    want(len(devices) == (len(names) if len(names) > 1 else 0), f"{devices}")
    for line in devices:
        want(line["rounds"] == 4 and line["bad_rounds"] == (line["device"] == "cpu"), f"{line}")
    summary = lines[-1]
    want(summary["devices"] == len(names) and summary["rounds"] == 4 * len(names), f"{summary}")
    want(summary["memory_faults"] == 1 and status == 1, f"{summary} {status}")


def refused():
    for text in ("flip", "flip:transposed:1:0:0", "flip:soon:1:0:0:0", "melt:filled:1:0:0:0",
                 "flip:filled:x:0:0:0", "swap:filled:1:0:0:0:0:0", "byte:filled:1:0:0 " * 9,
                 "stop:filled:1:0", "stop:later:1"):
        status, lines, err = small("cpu", 4, text)
        want(status == 2 and not lines and "TSW_STRESS_INJECT" in err, f"{text}: {status} {err}")
    for text in (f"flip:filled:1:{N}:0:0", f"flip:filled:1:0:{N}:0", "flip:filled:1:0:0:32",
                 f"swap:filled:1:0:0:0:{N}", "byte:filled:1:999999:0", "byte:filled:1:0:8"):
        status, lines, err = small("cpu", 4, text)
        want(status == 1 and "TSW_STRESS_INJECT: " in err, f"{text}: {status} {err}")
        want(lines[-1]["kind"] == "summary" and lines[-1]["rounds"] == 0, f"{lines}")


def stopped_after_a_fault():
    """Ctrl-C ends it with the summary; what was wrong before still decides the exit status."""
    for inject, wanted in (("flip:transposed:1:0:0:0", 1), ("", 130)):
        env = dict(os.environ, TSW_STRESS_INJECT=inject)
        tool = subprocess.Popen(
            [TOOL, "stress", "--json", "--device", "cpu", "--n", "200", "--seconds", "60"],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        tool.stdout.readline()
        tool.send_signal(signal.SIGINT)
        last = tool.stdout.read().splitlines()[-1]
        status = tool.wait()
        want(json.loads(last)["kind"] == "summary", last)
        want(status == wanted, f"exit status {status}, not {wanted}")


def a_fault_in_the_round_that_is_stopped():
    """What was found by then, or is about to be, is told; a round without its checks does not count."""
    flip = "flip:transposed:2:3:4:5 "
    for inject, kinds, wanted in (
            (flip + "stop:digested:2", ["none", "memory"], 1),
            (flip + "stop:checked:2", ["none", "memory"], 1),
            ("stop:checked:2", ["none", "none"], 130),
            ("stop:digested:2", ["none"], 130),
            (flip + "stop:transposed:2", ["none"], 130),
            ("stop:filled:1", [], 130)):
        status, lines, err = stress(
            "cpu", 4, "--n", str(N), "--ld", str(LD), "--rounds", "3", inject=inject,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        want([line["fault"] for line in lines if line["kind"] == "round"] == kinds, f"{inject}: {lines}")
        summary = lines[-1]
        want(summary["kind"] == "summary" and summary["rounds"] == len(kinds), f"{inject}: {summary}")
        want(status == wanted, f"{inject}: exit status {status}, not {wanted}")
        if "memory" in kinds:
            want_place(lines[1], 0, 4, 3, 4, 5)
            want("round 2: element (3, 4)" in err, err)


def the_live_line():
    _, _, err = stress("cpu", 4, "--n", "300", "--seconds", "2", "--progress")
    want(re.search(r"cpu round \d+ \w+, \w+, [0-9.]+ GB/s, 0 bad, 0:0[0-2] left", err), err)
    want(err.endswith("\n\033[K"), "the line is taken away")  # text mode: \r is \n


def fills_what_a_limit_leaves():
    """Half of what a limit leaves, or the percentage asked for, to the last n that fits."""
    limit = 768 << 20

    def narrow():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    try:
        if subprocess.run([TOOL, "--version"], preexec_fn=narrow, check=False,
                          capture_output=True).returncode:
            return "the tool does not start within a limit (a sanitizer?)"
    except OSError as error:
        return str(error)
    sizes = {}
    for percent in (None, 25):
        # As many threads everywhere: their stacks are within the limit, too.
        options = ["--threads", "2", *(["--memory", f"{percent}%"] if percent else [])]
        status, lines, err = stress("cpu", 4, *options, preexec_fn=narrow)
        want(status == 0 and lines[-1]["rounds"] == 1, err)
        sizes[percent] = 4 * lines[0]["n"] ** 2
    want(limit // 5 < sizes[None] <= limit // 2, f"{sizes}")
    want(abs(sizes[25] * 2 - sizes[None]) < 1 << 20, f"{sizes}")
    return None


ONCE = [all_devices_at_once, refused, stopped_after_a_fault, a_fault_in_the_round_that_is_stopped, the_live_line, fills_what_a_limit_leaves]


def run(name, test, *args):
    try:
        why = test(*args)
        told("skip" if why else "pass", name, why or "")
    except (AssertionError, IndexError, KeyError, ValueError) as error:
        told("FAIL", name, f"{type(error).__name__} {error}")


seed = int(os.environ.get("TSW_SEED") or str(random.SystemRandom().randrange(1 << 32)), 0)
print(f"TSW_SEED={seed}", flush=True)
dice = random.Random(seed)
gpu = subprocess.run([TOOL, "stress", "--device", "cuda", "--n", "1"], check=False,
                     capture_output=True, text=True)
for device in ("cpu", "cuda"):
    if device == "cuda" and gpu.returncode:
        required = os.environ.get("REQUIRE_GPU", "0") not in ("", "0")
        told("FAIL" if required else "skip", "faults on a GPU", gpu.stderr.strip())
        continue
    for test in EACH:
        for width in WIDTHS[device]:
            run(f"{device}, {width} bytes: {test.__name__.replace('_', ' ')}", test, device, width)
for test in ONCE:
    run(test.__name__.replace("_", " "), test)
print(f"{counts['pass']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
sys.exit(1 if counts["FAIL"] else 0)
