"""Kills the tool with SIGKILL at random moments and demands a whole matrix every time.

A matrix is transposed again and again.  Each run is killed after a random time, some of them while they
recover, some in their last hundredth; the same command is then started anew, until it ends by itself.
After every kill the file is judged by what lies beside it: with neither journal nor attribute it must
be whole, the one way or the other; else the next run must bring it to the expected end."""
import hashlib
import os
import random
import signal
import subprocess
import sys
import time

TOOL = os.environ["TILESWAP"]
KILLS = int(os.environ.get("TSW_KILLS", "96"))
SEED = int(os.environ.get("TSW_SEED", str(time.time_ns())), 0)


def transposed(a, n, size):
    return b"".join(a[(r * n + c) * size:(r * n + c + 1) * size] for c in range(n) for r in range(n))


def new_group(bytes_):
    """A control group of that much memory: the directory, or None where that may not be."""
    for base, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                        ("/sys/fs/cgroup", "memory.max")):
        group = f"{base}/tsw-kills-{os.getpid()}"
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            with open(f"{group}/{limit}", "w") as f:
                f.write(str(bytes_))
            return group
        except OSError:
            os.rmdir(group)
    return None


def digest(path):
    with open(path, "rb") as f:
        return hashlib.blake2b(f.read()).digest()


def marked(path):
    try:
        os.getxattr(path, "user.tileswap")
        return True
    except OSError:
        return False


class Storm:
    def __init__(self, directory, options, rng, kills, n=599, size=8, memory="256K",
                 group=None):
        self.path = os.path.join(directory, "m.bin")
        self.command = [TOOL, "transpose", self.path, "--n", str(n), "--elem-size", str(size),
                        "--memory", memory, *options]
        if group:
            self.command = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "limited",
                            *self.command]
        self.rng = rng
        self.most = kills
        a = rng.randbytes(n * n * size)
        with open(self.path, "wb") as f:
            f.write(a)
        self.states = [digest(self.path), hashlib.blake2b(transposed(a, n, size)).digest()]
        self.kills = self.resumed = self.ended = self.late = 0
        self.seconds = None

    def whole_run(self):
        begun = time.monotonic()
        subprocess.run(self.command, check=True, stdout=subprocess.DEVNULL)
        took = time.monotonic() - begun
        self.seconds = took if self.seconds is None else (self.seconds + took) / 2

    def moment(self):
        kind = self.rng.random()
        if kind < 0.2:
            self.late += 1
            return self.seconds * self.rng.uniform(0.97, 1.03)
        if kind < 0.5:
            return self.seconds * self.rng.uniform(0, 0.15)
        return self.seconds * self.rng.uniform(0, 1.0)

    def killed_run(self):
        """True if the run ended by itself."""
        run = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, err = run.communicate(timeout=self.moment())
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.communicate()
            self.kills += 1
            return False
        if run.returncode:
            raise AssertionError(f"exit status {run.returncode}: {err.decode()}")
        return True

    def expect(self, state):
        if digest(self.path) != self.states[state]:
            raise AssertionError(f"after kill {self.kills} the matrix is wrong")

    def one_transpose(self, state):
        """From `state` to the other one, through up to six kills; returns where it came to."""
        for _ in range(self.rng.randrange(1, 7)):
            if self.kills < self.most and self.killed_run():
                self.ended += 1
                self.expect(1 - state)
                return 1 - state
            if not os.path.exists(self.path + ".tswj") and not marked(self.path):
                found = digest(self.path)
                if found not in self.states:
                    raise AssertionError("no journal, no attribute, and the matrix is half done")
                if found == self.states[1 - state]:
                    return 1 - state  # killed between the last step and the exit
        if os.path.exists(self.path + ".tswj"):
            self.resumed += 1
            subprocess.run(self.command, check=True, stdout=subprocess.DEVNULL)
        else:
            self.whole_run()  # the kills came too early: how long does a run take by now?
        self.expect(1 - state)
        return 1 - state

    def run(self):
        self.whole_run()
        self.expect(1)
        self.whole_run()
        self.expect(0)
        state = 0
        while self.kills < self.most:
            state = self.one_transpose(state)
        if os.path.exists(self.path + ".tswj"):
            raise AssertionError("the journal is left")


def run(name, storm):
    try:
        storm.run()
    except (AssertionError, subprocess.CalledProcessError) as wrong:
        print(f"FAIL kill storm, {name}: {wrong}")
        return storm
    print(f"# {storm.kills} kills, {storm.late} aimed at the last hundredth, {storm.resumed} resumed, "
          f"{storm.ended} runs were faster")
    print(f"pass kill storm, {name}")
    return storm


def main():
    print(f"# TSW_SEED={SEED:#x}")
    # Rows of whole pages, and a file larger than the memory: where the file system can, tiles go past
    # the page cache, those on the diagonal too (test_file_engine's on_a_real_disk demands that).
    group = new_group(56 << 20)
    few = (KILLS + (3 if group else 1)) // (4 if group else 2)
    storms = []
    for name, options in (("durability power", []),
                          ("durability process", ["--durability", "process", "--verify"])):
        storms.append(run(name, Storm(sys.argv[1], options, random.Random(f"{SEED} {name}"), few)))
        if not group:
            print(f"skip kill storm in little memory, {name}: no control group")
            continue
        storms.append(run(f"in little memory, {name}",
                          Storm(sys.argv[1], options, random.Random(f"{SEED} {name}"), few, 512,
                                128, "13M", group)))
    if sum(s.kills for s in storms) >= 40 and not sum(s.resumed for s in storms):
        print("FAIL kill storm: no run was ever resumed")
    if group:
        os.rmdir(group)


main()
