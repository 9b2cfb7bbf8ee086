#!/usr/bin/env python3
"""Writes packaging/startup-order.txt, the order in which the linker places the daemon's functions.

Usage: startup-order.py BIN-DIRECTORY      (make startup-order)

The kernel maps 64 KiB of a program around each page that is used. In the compiler's order, the functions of an idle
daemon are spread over all of its code. In the order of this file they are together: first those of a start without a
camera, then those that a camera with a viewer needs in addition. Names that the program does not have are ignored, so
an old file still helps. Write it again after larger changes. Needs valgrind; takes about five minutes.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLIP = os.path.join(ROOT, "Samples/street-h264-aac.mp4")


def functions_used(program, iotctl, folder, options, commands, seconds):
    """The linker's names of the functions that a daemon calls from its start to its end."""
    counts, socket = os.path.join(folder, "counts"), os.path.join(folder, "s")
    daemon = subprocess.Popen(
        ["valgrind", "--tool=callgrind", "--demangle=no", "--callgrind-out-file=" + counts, program, "--data-dir",
         os.path.join(folder, "data"), "--socket", socket] + options,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if "is ready" not in daemon.stdout.readline():
        sys.exit("the daemon did not start")
    for command in commands:
        subprocess.run([iotctl, "--socket", socket] + command, stdout=subprocess.DEVNULL, timeout=300)
    time.sleep(seconds)
    daemon.terminate()
    daemon.wait(120)
    with open(counts) as file:
        # A call within itself has the suffix '2.
        return {re.sub(r"'\d+$", "", match[1]) for match in re.finditer(r"^c?fn=\(\d+\) (.*)$", file.read(), re.M)}


def main():
    binaries = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        # valgrind does not read the debugging data of Swift's linker.
        program, iotctl = os.path.join(folder, "iotvideod"), os.path.join(binaries, "iotctl")
        subprocess.run(
            ["strip", "--strip-debug", "-o", program, os.path.join(binaries, "iotvideod")], check=True)
        own = set(subprocess.run(
            ["nm", "--format=just-symbols", program], check=True, capture_output=True, text=True).stdout.split("\n"))
        used = []
        for name, options, commands in [
            ("idle", [], [["status"]]),
            ("watched", ["--camera", "front=" + CLIP], [["camera", "list"], ["monitor", "front", "--duration", "10s"]]),
        ]:
            place = os.path.join(folder, name)
            os.mkdir(place)
            print("a daemon, " + name, flush=True)
            used.append(functions_used(program, iotctl, place, options, commands, 10) & own)
    idle, watched = used
    with open(os.path.join(ROOT, "packaging/startup-order.txt"), "w") as file:
        for name in sorted(idle) + sorted(watched - idle):
            file.write(name + "\n")
    print("%d functions of an idle daemon, %d more of a watched camera" % (len(idle), len(watched - idle)))


if __name__ == "__main__":
    main()
