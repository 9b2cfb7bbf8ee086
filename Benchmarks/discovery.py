#!/usr/bin/env python3
"""Measures how long a search takes to find 15 devices on two networks, and prints rows of a Markdown table.

Usage: discovery.py BIN-DIRECTORY [--rounds N]
The devices are those of Tests/InteropTests/Discovery: ten cameras in five daemons, and simulated ONVIF cameras of five
manufacturers. In one table row the ONVIF cameras answer immediately; in the other, after up to 500 ms, as WS-Discovery
permits. Needs root, for network namespaces, and the programs that the test needs. Takes about two minutes.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "Tests/InteropTests"), str(ROOT / "Tests/InteropTests/Discovery")]

COUNT = 15


def search(network, program):
    """Pairs of the number of found devices and the time in milliseconds, one for each change of the number."""
    command = network.boxes["hub"].inside(program, "discover")
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [(int(count), float(time)) for count, time in (line.split() for line in lines if line != "end")]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binaries")
    arguments.add_argument("--rounds", type=int, default=10)
    options = arguments.parse_args()
    if os.getuid() != 0:
        sys.exit("discovery.py: network namespaces need root")
    binaries = pathlib.Path(options.binaries).resolve()
    os.environ.update(DAEMON=str(binaries / "iotvideod"), IOTCTL=str(binaries / "iotctl"), PYTHON=sys.executable)
    from network import Network
    for delay, goal in ((0, "1,000 ms"), (500, "–")):
        with tempfile.TemporaryDirectory() as folder, Network(folder, delay=delay) as network:
            # Devices that have just started first check their names and addresses for a second (RFC 6762 §8.1, RFC 4862
            # §5.4), so the first search is not measured.
            search(network, str(binaries / "directory-probe"))
            rounds = [search(network, str(binaries / "directory-probe")) for _ in range(options.rounds)]
        # In the other rounds, a device was missing or listed twice.
        last = [changes[-1][1] for changes in rounds if changes[-1][0] == COUNT]
        whole = len(last)
        figures = "%.0f / %.0f ms" % (statistics.median(last), max(last)) if last else "never"
        print("| discovery of %d devices, time to the last one, answers delayed up to %d ms (p50 / worst of %d) | %s; %d of "
              "%d searches found all | – | – | %s |" % (COUNT, delay, options.rounds, figures, whole, options.rounds, goal))


if __name__ == "__main__":
    main()
