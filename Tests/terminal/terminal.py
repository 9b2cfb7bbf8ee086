#!/usr/bin/env python3
"""Runs a program on its own terminal, with the steps of a plan on standard input.

The plan: {"command": [...], "columns": 80, "steps": [["expect", TEXT], ["type", TEXT], ["signal", "SIGTERM"],
["echo", true]]}. Prints {"output", "status", "signal", "echo"}: the program's output, its exit status or signal, and
whether the terminal still echoes."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

LIMIT = 60


def echoes(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


class Run:
    def __init__(self, plan):
        self.deadline = time.monotonic() + LIMIT
        self.master, self.slave = pty.openpty()
        size = struct.pack("HHHH", 24, plan.get("columns", 80), 0, 0)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, size)
        self.output, self.seen, self.status = b"", 0, None
        self.child = os.fork()
        if self.child == 0:
            os.close(self.master)
            os.login_tty(self.slave)
            os.execvp(plan["command"][0], plan["command"])

    def read(self):
        """Reads for a moment; notices the end of the program."""
        if select.select([self.master], [], [], 0.02)[0]:
            self.output += os.read(self.master, 65536)
        elif self.status is None:
            child, status = os.waitpid(self.child, os.WNOHANG)
            if child:
                self.status = status
        if time.monotonic() > self.deadline:
            os.kill(self.child, signal.SIGKILL)
            raise SystemExit(f"the program took too long; it showed {self.output!r}")

    def until(self, is_true, what):
        while not is_true():
            if self.status is not None:
                raise SystemExit(f"the program ended before {what}; it showed {self.output!r}")
            self.read()

    def expect(self, text):
        wanted = text.encode()
        self.until(lambda: self.output.find(wanted, self.seen) >= 0, f"'{text}'")
        self.seen = self.output.find(wanted, self.seen) + len(wanted)

    def type(self, text):
        os.write(self.master, text.encode())

    def signal(self, name):
        os.kill(self.child, getattr(signal, name))

    def echo(self, wanted):
        self.until(lambda: echoes(self.slave) == wanted, f"echo is {wanted}")

    def end(self):
        while self.status is None:
            self.read()
        while select.select([self.master], [], [], 0)[0]:
            self.output += os.read(self.master, 65536)
        ended = os.WIFSIGNALED(self.status)
        return {
            "output": self.output.decode(errors="replace"),
            "status": None if ended else os.WEXITSTATUS(self.status),
            "signal": os.WTERMSIG(self.status) if ended else None,
            "echo": echoes(self.slave),
        }


plan = json.load(sys.stdin)
run = Run(plan)
for step, argument in plan["steps"]:
    getattr(run, step)(argument)
print(json.dumps(run.end()))
