#!/usr/bin/env python3
"""Measures a daemon's fan-out by WHEP, and a loop in C as reference in the same run; prints a Markdown table.

Usage: fanout.py BIN-DIRECTORY PEER-BENCH [--viewers 1,10,50,100] [--seconds 10] [--rounds 1]

A daemon on core 0 serves a clip of 4 Mbit/s to viewers on core 1, which call it by WHEP and answer ICE, DTLS and RTCP
like browsers. Its CPU time is that of its whole process, including reading the camera. The reference seals and sends
as many packets of the same size from core 0.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from measured_daemon import MeasuredDaemon

FRAMES_A_SECOND = 25
WARM_UP = 4


def make_clip(path):
    """Noise keeps the encoder at its rate; no B-frames, because browsers do not support them."""
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
         "testsrc2=size=1280x720:rate=%d,noise=alls=40:allf=t" % FRAMES_A_SECOND, "-t", "20", "-c:v", "libx264",
         "-preset", "veryfast", "-pix_fmt", "yuv420p", "-profile:v", "baseline", "-b:v", "4M", "-maxrate", "4M",
         "-bufsize", "1M", "-g", "50", "-bf", "0", path], check=True)


class Watchers:
    """The viewers' process, on core 1."""

    def __init__(self, program, count):
        self.count = count
        self.process = subprocess.Popen(
            ["taskset", "-c", "1", program, "viewers", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.locations = []

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            sys.exit("the viewers' process ended")
        return answer

    def connect(self, daemon):
        for index in range(self.count):
            offer = bytes.fromhex(self.ask("offer %d" % index)[2])
            response, answer = daemon.send("POST", "/v1/devices/camera/whep", offer, "application/sdp")
            self.locations.append(response.headers["Location"])
            self.ask("answer %d %s" % (index, answer.hex()))
        deadline = time.monotonic() + 10
        while int(self.ask("connected")[1]) < self.count:
            if time.monotonic() > deadline:
                sys.exit("only %s of %d viewers connected" % (self.ask("connected")[1], self.count))
            time.sleep(0.05)

    def report(self):
        return json.loads(self.ask("report")[1])

    def ports(self):
        return self.ask("ports")[1].split(",")

    def end(self, daemon):
        for location in self.locations:
            daemon.send("DELETE", location)
        self.process.stdin.close()
        self.process.wait(20)


def measure(daemon, program, count, seconds):
    """One row: CPU-seconds per Gbit of the daemon and of the reference, and the viewers' results."""
    memory = daemon.pss()
    watchers = Watchers(program, count)
    watchers.connect(daemon)
    time.sleep(WARM_UP)
    before, cpu, at = watchers.report(), daemon.cpu(), time.monotonic()
    time.sleep(seconds)
    after, used, passed = watchers.report(), daemon.cpu() - cpu, time.monotonic() - at
    grown = daemon.pss() - memory
    got = {name: after[name] - before[name] for name in after}
    frames = round(FRAMES_A_SECOND * seconds)
    packets = max(1, round(got["packets"] / (count * frames)))
    reference = int(subprocess.run(
        ["taskset", "-c", "0", program, "reference", str(frames), str(packets),
         str(round(got["bytes"] / max(1, got["packets"])) + 12)] + watchers.ports(),
        stdout=subprocess.PIPE, text=True, check=True).stdout)
    watchers.end(daemon)
    gigabits = got["bytes"] * 8 / 1e9
    return {
        "own": used / gigabits, "reference": reference / 1e9 / gigabits, "core": used / passed,
        "viewer core": got["cpu"] / 1e9 / passed, "rate": got["bytes"] * 8 / 1e6 / passed / count,
        "frames": got["frames"] / (FRAMES_A_SECOND * passed * count), "lost frames": got["lostFrames"],
        "lost packets": got["packetsLost"], "memory": grown * 1024 / count}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binaries")
    arguments.add_argument("program")
    arguments.add_argument("--viewers", default="1,10,50,100")
    arguments.add_argument("--seconds", type=float, default=10)
    arguments.add_argument("--rounds", type=int, default=1, help="the number of rounds whose median is printed")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clip = os.path.join(folder, "clip.mp4")
        make_clip(clip)
        daemon = MeasuredDaemon(
            options.binaries, core=0,
            configuration="channels: {calls: 1000}\ncameras:\n  - {name: camera, url: '%s', viewers: 200}\n" % clip)
        try:
            time.sleep(2)
            rows = {}
            for count in [int(text) for text in options.viewers.split(",")]:
                rows[count] = [
                    measure(daemon, options.program, count, options.seconds) for _ in range(options.rounds)]
        finally:
            daemon.stop()
    print("Fan-out of one camera by WHEP through the daemon, congestion control on, %g s each%s.\n"
          % (options.seconds, ", medians of %d" % options.rounds if options.rounds > 1 else ""))
    print("| viewers | CPU-s/Gbit | reference | ratio | core of the daemon | core of the viewers | Mbit/s per viewer "
          "| frames got | frames lost | packets lost | kB per viewer |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for count, rounds in rows.items():
        row = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
        print("| %d | %.3f | %.3f | %.2f | %.0f %% | %.0f %% | %.2f | %.1f %% | %d | %d | %.0f |"
              % (count, row["own"], row["reference"], row["own"] / row["reference"], 100 * row["core"],
                 100 * row["viewer core"], row["rate"], 100 * row["frames"], row["lost frames"], row["lost packets"],
                 row["memory"]))


if __name__ == "__main__":
    main()
