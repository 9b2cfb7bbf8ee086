"""Two peer-probes and the signalling between them."""
import base64
import os
import queue
import subprocess
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROBE = os.environ.get("PROBE", os.path.join(ROOT, ".build/debug/peer-probe"))


class Probe:
    def __init__(self, role, arguments, prefix=()):
        self.process = subprocess.Popen(
            [*prefix, PROBE, role, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines = queue.Queue()
        self.candidates = []
        self.errors = []
        self.states = []
        self.pair = None
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def close(self):
        try:
            self.write("close")
            self.process.wait(5)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


class Call:
    """An offering and an answering probe; each gets the other's descriptions and candidates."""

    def __init__(self, left, right, left_prefix=(), right_prefix=()):
        self.started = time.monotonic()
        self.probes = [Probe("offer", left, left_prefix), Probe("answer", right, right_prefix)]
        self.connected_after = None

    def step(self):
        for index, probe in enumerate(self.probes):
            other = self.probes[1 - index]
            try:
                line = probe.lines.get(timeout=0.02)
            except queue.Empty:
                continue
            if line is None:
                raise AssertionError(f"a probe ended: {self.summary()}")
            word, _, rest = line.partition(" ")
            if word in ("description", "candidate"):
                if word == "candidate":
                    probe.candidates.append(rest)
                else:
                    text = base64.b64decode(rest).decode()
                    probe.candidates += [l[2:] for l in text.splitlines() if l.startswith("a=candidate:")]
                other.write(line)
            elif word == "state":
                probe.states.append(rest)
                if rest.startswith("failed"):
                    raise AssertionError(f"failed: {self.summary()}")
            elif word == "error":
                probe.errors.append(rest)
            elif word == "pair":
                probe.pair = rest.split(" ")
        if self.connected_after is None and all("connected" in p.states for p in self.probes):
            self.connected_after = time.monotonic() - self.started

    def until(self, condition, seconds, what):
        end = time.monotonic() + seconds
        while not condition(self):
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {seconds} s: {self.summary()}")
            self.step()

    def frames(self):
        return [int(p.pair[4]) if p.pair else 0 for p in self.probes]

    def flows(self, count=50, seconds=20):
        """Waits until both sides have received `count` more frames."""
        before = self.frames()
        self.until(lambda c: all(n >= b + count for n, b in zip(c.frames(), before)), seconds, "sound both ways")

    def summary(self):
        return [(p.states, p.pair, p.errors, p.candidates) for p in self.probes]

    def close(self):
        for probe in self.probes:
            probe.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
