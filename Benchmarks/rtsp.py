#!/usr/bin/env python3
"""Measures a daemon's RTSP server and RTSP client through its own ports; prints Markdown tables.

Usage: rtsp.py BIN-DIRECTORY [--readers 1,10,100] [--cameras 16] [--seconds 10] [--rounds 3]

Serving: a daemon on core 0 serves a clip of 4 Mbit/s to players on core 1, over TCP and over UDP. Its CPU time is that
of its whole process, including reading the clip; "serving" is that less what the daemon needs without players, which is
measured before. The reference (rtsp_reference.c) sends as many bytes in writes of the same size from core 0, and does
nothing else.

Reading: a daemon on core 0 reads RTSP cameras of 4 Mbit/s (rtsp_camera.py, core 1) with its own client, and with libav
(IOTVIDEOD_RTSP_READER=libav). The CPU time of a daemon without cameras is subtracted. Time to the first frame: from the
start of the daemon to the camera's state `ready`.

Added delay: from the end of a picture at the camera's socket to its end at a player's, over TCP.
"""
import argparse
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from fanout import FRAMES_A_SECOND, WARM_UP, make_clip
from measured_daemon import ROOT, MeasuredDaemon
from rtsp_camera import TAIL
from rtsp_players import Player

HERE = os.path.join(ROOT, "Benchmarks")


class Child:
    """A program of this folder on core 1, which answers a line with a line of JSON."""

    def __init__(self, name, *arguments):
        self.process = subprocess.Popen(
            ["taskset", "-c", "1", sys.executable, os.path.join(HERE, name)] + [str(each) for each in arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the players or the camera ended")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait(20)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def configuration(cameras, port=None):
    text = "".join("  - {name: %s, url: '%s', viewers: 300}\n" % item for item in cameras.items())
    listen = "rtsp: {listen: '127.0.0.1:%d', tls: false}\n" % port if port else ""
    return listen + ("cameras:\n" + text if cameras else "")


def make_key(daemon):
    key = daemon.request("POST", "/v1/keys", json.dumps({"name": "bench", "ttlSeconds": 3600}))["key"]
    return key[:10], key


def serve(daemon, port, key, reference, transport, count, seconds):
    unwatched = cpu_of(daemon, seconds) / seconds
    memory = daemon.pss()
    players = Child("rtsp_players.py", transport, port, "camera", *key, count)
    players.ask()
    time.sleep(WARM_UP)
    before, cpu, at = players.ask(), daemon.cpu(), time.monotonic()
    time.sleep(seconds)
    after, used, passed = players.ask(), daemon.cpu() - cpu, time.monotonic() - at
    grown = daemon.pss() - memory
    got = {name: after[name] - before[name] for name in after}
    players.end()
    frames = round(FRAMES_A_SECOND * seconds)
    frame = got["bytes"] / count / frames
    packets = max(1, round(frame / 1200))
    sent = int(subprocess.run(
        ["taskset", "-c", "0", reference, transport, str(count), str(frames), str(packets),
         str(round(frame / packets) - (4 if transport == "tcp" else 0)), str(round(1e9 / FRAMES_A_SECOND))],
        stdout=subprocess.PIPE, text=True, check=True).stdout)
    gigabits = got["bytes"] * 8 / 1e9
    return {
        "own": used / gigabits, "serving": (used - unwatched * passed) / gigabits,
        "reference": sent / 1e9 / gigabits, "core": used / passed,
        "rate": got["bytes"] * 8 / 1e6 / passed / count, "memory": grown * 1024 / count}


def print_serving(binaries, clip, reference, options):
    port = free_port()
    daemon = MeasuredDaemon(binaries, core=0, configuration=configuration({"camera": clip}, port))
    rows = {}
    try:
        key = make_key(daemon)
        for transport in ("tcp", "udp"):
            for count in [int(text) for text in options.readers.split(",")]:
                rows[transport, count] = [
                    serve(daemon, port, key, reference, transport, count, options.seconds)
                    for _ in range(options.rounds)]
    finally:
        daemon.stop()
    print("One camera to RTSP players, %g s each, medians of %d.\n" % (options.seconds, options.rounds))
    print("| transport | players | CPU-s/Gbit | serving | reference | ratio | ratio of serving | core of the daemon "
          "| Mbit/s per player | kB per player |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (transport, count), rounds in rows.items():
        row = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
        print("| %s | %d | %.3f | %.3f | %.3f | %.2f | %.2f | %.0f %% | %.2f | %.0f |" % (
            transport, count, row["own"], row["serving"], row["reference"], row["own"] / row["reference"],
            row["serving"] / row["reference"], 100 * row["core"], row["rate"], row["memory"]))


def cpu_of(daemon, seconds):
    time.sleep(WARM_UP)
    cpu = daemon.cpu()
    time.sleep(seconds)
    return daemon.cpu() - cpu


def ready_after(daemon, started):
    """Seconds until all cameras deliver."""
    while True:
        states = [each["state"] for each in daemon.request("GET", "/v1/cameras")["cameras"]]
        if all(state == "ready" for state in states):
            return time.monotonic() - started
        time.sleep(0.005)


def read_once(binaries, camera_port, reader, count, seconds):
    os.environ["IOTVIDEOD_RTSP_READER"] = reader
    try:
        url = "rtsp://127.0.0.1:%d/" % camera_port
        # One camera's first frame, then the CPU time of many.
        started = time.monotonic()
        daemon = MeasuredDaemon(binaries, core=0, configuration=configuration({"camera": url}))
        first = ready_after(daemon, started) - daemon.start_to_ready
        daemon.stop()
        daemon = MeasuredDaemon(
            binaries, core=0, configuration=configuration({"c%d" % index: url + str(index) for index in range(count)}))
        try:
            ready_after(daemon, time.monotonic())
            return first, cpu_of(daemon, seconds)
        finally:
            daemon.stop()
    finally:
        del os.environ["IOTVIDEOD_RTSP_READER"]


def print_reading(binaries, camera_port, options):
    rows = {"own": [], "libav": []}
    idle = []
    for _ in range(options.rounds):
        daemon = MeasuredDaemon(binaries, core=0)
        idle.append(cpu_of(daemon, options.seconds))
        daemon.stop()
        for reader in rows:
            rows[reader].append(read_once(binaries, camera_port, reader, options.cameras, options.seconds))
    frames = options.cameras * FRAMES_A_SECOND * options.seconds
    print("\n%d RTSP cameras over TCP, %g s each, medians of %d.\n" % (options.cameras, options.seconds, options.rounds))
    print("| reader | CPU per frame | first frame after the daemon is ready |")
    print("| --- | --- | --- |")
    for reader, rounds in rows.items():
        used = statistics.median(cpu for _, cpu in rounds) - statistics.median(idle)
        print("| %s | %.0f µs | %.0f ms |" % (
            reader, 1e6 * used / frames, 1000 * statistics.median(first for first, _ in rounds)))


def print_delay(binaries, camera, camera_port, options):
    port = free_port()
    daemon = MeasuredDaemon(
        binaries, core=0, configuration=configuration({"camera": "rtsp://127.0.0.1:%d/" % camera_port}, port))
    try:
        ready_after(daemon, time.monotonic())
        player = Player(port, "camera", *make_key(daemon), "tcp")
        player.play()
        seen, end = {}, time.monotonic() + WARM_UP + options.seconds
        while time.monotonic() < end:
            while len(player.buffered) < 4:
                player.receive()
            size = 4 + struct.unpack(">H", player.buffered[2:4])[0]
            while len(player.buffered) < size:
                player.receive()
            packet, player.buffered = player.buffered[:size], player.buffered[size:]
            # Channel 0, the marker bit: the end of a picture.
            if packet[1] == 0 and packet[5] & 0x80:
                seen[packet[-TAIL:].hex()] = time.monotonic_ns()
        sent = dict(camera.ask()[-int(FRAMES_A_SECOND * options.seconds):])
        delays = sorted((seen[tail] - sent[tail]) / 1e6 for tail in sent if tail in seen)
    finally:
        daemon.stop()
    # The player gets the pictures since the newest key frame at once; they are older than the measured ones.
    print("\nAdded delay of %d pictures, camera to player over TCP: p50 %.1f ms, p95 %.1f ms, p99 %.1f ms, max %.1f ms." % (
        len(delays), delays[len(delays) // 2], delays[int(len(delays) * 0.95)], delays[int(len(delays) * 0.99)],
        delays[-1]))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binaries")
    arguments.add_argument("--readers", default="1,10,100")
    arguments.add_argument("--cameras", type=int, default=16)
    arguments.add_argument("--seconds", type=float, default=10)
    arguments.add_argument("--rounds", type=int, default=3, help="the number of rounds whose median is printed")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clip, reference = os.path.join(folder, "clip.mp4"), os.path.join(folder, "reference")
        make_clip(clip)
        subprocess.run(["cc", "-O2", "-o", reference, os.path.join(HERE, "rtsp_reference.c")], check=True)
        print_serving(options.binaries, clip, reference, options)
        camera = Child("rtsp_camera.py", clip)
        camera_port = int(camera.process.stdout.readline())
        print_reading(options.binaries, camera_port, options)
        print_delay(options.binaries, camera, camera_port, options)
        camera.end()


if __name__ == "__main__":
    main()
