#!/usr/bin/env python3
"""Measures what reading and decoding live cameras costs a daemon, beside ffmpeg; prints a Markdown table.

Usage: live.py BIN-DIRECTORY [--cameras 1,8] [--seconds 8] [--rounds 3]

A camera of 4 Mbit/s (720p, 25 pictures a second) is a file, or an RTSP camera (rtsp_camera.py, core 1). The daemon runs
on core 0.

Reading: the CPU time of a daemon with one camera and without viewers, less that of a daemon without cameras.

Decoding: the daemon reads RTSP cameras, and a channel to each of them is played and decoded: reading, packetising,
encryption, both ends of the connection, jitter buffer, decoding. The reference does the same job without a connection:
`ffmpeg -rtsp_transport tcp -threads 1 -i rtsp://… -f null -` for each camera, on core 0, in turns with the daemon.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time

from bench import decoded_frames, open_channel
from fanout import FRAMES_A_SECOND, WARM_UP, make_clip
from measured_daemon import MeasuredDaemon, cpu_seconds
from rtsp import Child, configuration, cpu_of, ready_after

MEGABITS = 4


def cpu_rate(binaries, cameras, seconds):
    """CPU seconds a second of a daemon with these cameras, which nobody watches."""
    daemon = MeasuredDaemon(binaries, core=0, configuration=configuration(cameras))
    try:
        ready_after(daemon, time.monotonic())
        return cpu_of(daemon, seconds) / seconds
    finally:
        daemon.stop()


def decode(binaries, urls, seconds):
    """Seconds of CPU for each decoded frame: of the whole daemon, and without what it needs when nobody watches."""
    cameras = {"c%d" % index: url for index, url in enumerate(urls)}
    daemon = MeasuredDaemon(binaries, core=0, configuration=configuration(cameras))
    try:
        ready_after(daemon, time.monotonic())
        unwatched = cpu_of(daemon, seconds) / seconds
        channels = [open_channel(daemon, camera) for camera in cameras]
        for channel in channels:
            daemon.request("POST", "/v1/channels/%s/play" % channel)
        time.sleep(WARM_UP)
        frames, cpu, at = decoded_frames(daemon, channels), daemon.cpu(), time.monotonic()
        time.sleep(seconds)
        frames, used, passed = decoded_frames(daemon, channels) - frames, daemon.cpu() - cpu, time.monotonic() - at
        return used / frames, (used - unwatched * passed) / frames, frames / passed / len(urls)
    finally:
        daemon.stop()


def ffmpeg(urls, seconds):
    """Seconds of CPU for each frame."""
    readers = [
        subprocess.Popen(
            ["taskset", "-c", "0", "ffmpeg", "-v", "error", "-rtsp_transport", "tcp", "-threads", "1", "-i", url, "-f",
             "null", "-"], stdin=subprocess.DEVNULL) for url in urls]
    try:
        # It looks at a stream for some seconds before it decodes.
        time.sleep(WARM_UP + 6)
        before, at = sum(cpu_seconds(reader.pid) for reader in readers), time.monotonic()
        time.sleep(seconds)
        used, passed = sum(cpu_seconds(reader.pid) for reader in readers) - before, time.monotonic() - at
        return used / (FRAMES_A_SECOND * passed * len(urls))
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binaries")
    arguments.add_argument("--cameras", default="1,8")
    arguments.add_argument("--seconds", type=float, default=8)
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clip = os.path.join(folder, "clip.mp4")
        make_clip(clip)
        server = Child("rtsp_camera.py", clip)
        base = "rtsp://127.0.0.1:%s/" % server.process.stdout.readline().strip()
        sources = {"no camera": {}, "a file": {"camera": clip}, "an RTSP camera": {"camera": base}}
        rates = {name: [] for name in sources}
        counts = [int(text) for text in options.cameras.split(",")]
        rows = {count: [] for count in counts}
        for _ in range(options.rounds):
            for name, cameras in sources.items():
                rates[name].append(cpu_rate(options.binaries, cameras, options.seconds))
            for count in counts:
                urls = [base + str(index) for index in range(count)]
                rows[count].append(decode(options.binaries, urls, options.seconds) + (ffmpeg(urls, options.seconds),))
        server.end()
    idle = statistics.median(rates.pop("no camera"))
    print("Medians of %d rounds of %g s; ms of CPU a second without a camera: %.1f.\n"
          % (options.rounds, options.seconds, 1000 * idle))
    print("| reading a camera without viewers | CPU-s/Gbit | of a core |")
    print("| --- | --- | --- |")
    for name, rounds in rates.items():
        used = statistics.median(rounds) - idle
        print("| %s | %.2f | %.2f %% |" % (name, used * 1000 / MEGABITS, 100 * used))
    print("\n| decoding RTSP cameras | whole daemon | channels alone | ffmpeg | ratio, whole | ratio, channels | pictures a second |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for count, rounds in rows.items():
        whole, alone, rate, reference = (statistics.median(each[place] for each in rounds) for place in range(4))
        print("| %d | %.2f ms | %.2f ms | %.2f ms | %.2f | %.2f | %.1f |" % (
            count, 1000 * whole, 1000 * alone, 1000 * reference, whole / reference, alone / reference, rate))


if __name__ == "__main__":
    main()
