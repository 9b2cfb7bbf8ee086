#!/usr/bin/env python3
"""Measures what recording, encryption and the search for motion cost, through a daemon; prints a Markdown table.

Usage: recordings.py BIN-DIRECTORY [--cameras 24] [--seconds 20]

Cameras are one 1080p clip of about 4 Mbit/s with a key frame every two seconds, read at its pace. The same daemon runs
without recording, with it, with encryption, and with the search for motion; the difference in CPU is divided by the
bits. The reference is `ffmpeg -re -c copy -f segment`, less `ffmpeg -re -c copy -f null`, one process a camera. Writes
and their bytes are the process's (/proc/PID/io), with those of the index. Thumbnails and a clip are requested from what was recorded.
"""
import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time

from measured_daemon import ROOT, TICKS, MeasuredDaemon


# Seconds. A file that begins again is another run of its camera, which begins a segment; live cameras have no such ends.
CLIP = 120


def make_clip(path):
    """20 s, six times."""
    with tempfile.TemporaryDirectory() as folder:
        part = folder + "/part.mp4"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=25", "-f", "lavfi",
             "-i", "sine=frequency=400:sample_rate=48000", "-t", "20", "-vf", "noise=alls=12:allf=t", "-c:v",
             "libx264", "-preset", "veryfast", "-b:v", "4M", "-maxrate", "4M", "-bufsize", "4M", "-g", "50",
             "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "64k", part], check=True)
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-stream_loop", str(CLIP // 20 - 1), "-i", part, "-c", "copy", path],
            check=True)


def media_bytes(path):
    """Bytes of the clip's pictures and sound, without the file's own tables."""
    output = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", path], check=True,
        capture_output=True, text=True).stdout
    return sum(int(line.strip(",")) for line in output.split())


def io(pid):
    return {line.split(":")[0]: int(line.split(":")[1]) for line in open("/proc/%d/io" % pid)}


def run(binaries, clip, options, keys, recording):
    """CPU seconds a second, calls a second, and the daemon, which still runs."""
    names = ["c%d" % number for number in range(options.cameras)]
    text = "recording: {directory: rec, freeSpace: 0%s}\n" % recording if recording is not None else ""
    text += "cameras:\n" + "".join("  - {name: %s, url: %s%s}\n" % (name, clip, keys) for name in names)
    daemon = MeasuredDaemon(binaries, configuration=text)
    # All cameras have begun, and the start is over.
    time.sleep(4)
    start, cpu, before = time.monotonic(), daemon.cpu(), io(daemon.process.pid)
    time.sleep(options.seconds)
    lasted = time.monotonic() - start
    after = io(daemon.process.pid)
    return (daemon.cpu() - cpu) / lasted, {key: (after[key] - before[key]) / lasted for key in after}, daemon


def reference(clip, options, output):
    """CPU seconds a second of all processes."""
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        running = []
        for number in range(options.cameras):
            target = ["-f", "segment", "-segment_time", "60", "-segment_format", "mp4",
                      "%s/%d-%%03d.mp4" % (folder, number)] if output else ["-f", "null", "-"]
            running.append(subprocess.Popen(
                ["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy"] + target,
                stdin=subprocess.DEVNULL))

        def cpu():
            fields = [open("/proc/%d/stat" % each.pid).read().rsplit(")", 1)[1].split() for each in running]
            return sum(int(each[11]) + int(each[12]) for each in fields) / TICKS

        time.sleep(4)
        start, before = time.monotonic(), cpu()
        time.sleep(options.seconds)
        used = (cpu() - before) / (time.monotonic() - start)
        for each in running:
            each.terminate()
        for each in running:
            each.wait()
        return used


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binaries")
    arguments.add_argument("--cameras", type=int, default=24)
    arguments.add_argument("--seconds", type=int, default=20)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clip = folder + "/clip.mp4"
        make_clip(clip)
        media = media_bytes(clip) / CLIP
        megabits = os.path.getsize(clip) * 8 / CLIP / 1e6 * options.cameras
        key = folder + "/key"
        subprocess.run([os.path.join(options.binaries, "iotctl"), "recording", "key", key], check=True,
                       stdout=subprocess.DEVNULL)
        used, lines = {}, []
        idle, idle_calls, daemon = run(options.binaries, clip, options, "", None)
        daemon.stop()
        for name, keys, recording in (
                ("recording", ", record: continuous", ""),
                ("recording, encrypted", ", record: continuous", ", keyFiles: [%s]" % key),
                ("motion", ", motion: medium", None)):
            cpu, calls, daemon = run(options.binaries, clip, options, keys, recording)
            used[name] = (cpu - idle, (calls["syscw"] - idle_calls["syscw"]) / options.cameras)
            if name == "recording": written = (calls["wchar"] - idle_calls["wchar"]) / options.cameras
            if recording is not None:
                lines += requests(daemon, name)
            daemon.stop()
        segments, nothing = reference(clip, options, True), reference(clip, options, False)
    print("| what | figure |\n| --- | --- |")
    print("| cameras, together | %d, %.1f Mbit/s |" % (options.cameras, megabits))
    print("| reading them, % of a core | {:.1f} |".format(idle * 100))
    used["ffmpeg -c copy -f segment, above -f null"] = (segments - nothing, None)
    for name, (cpu, calls) in used.items():
        print("| %s, above reading: %% of a core; CPU-s a Gbit | %.1f; %.3f |" % (
            name.removesuffix(", above -f null"), cpu * 100, cpu / megabits * 1000))
    print("| recording: write calls a camera and second, above reading | %.1f |" % used["recording"][1])
    print("| recording: bytes written / bytes of the media | %.4f |" % (written / media))
    print("\n".join(lines))


def requests(daemon, name):
    """Thumbnails and a clip of what was recorded."""
    answer = daemon.request("GET", "/v1/devices/c0/recordings?limit=100")["recordings"]
    start, end = answer[0]["start"], answer[-1]["end"]
    times = []
    for number in range(40):
        at = random.randint(start, end)
        begin = time.monotonic()
        # Each has another size, so none is in the cache.
        daemon.send("GET", "/v1/devices/c0/recordings/thumbnail?at=%d&size=%d" % (at, 320 + number))
        times.append((time.monotonic() - begin) * 1000)
    times.sort()
    # The first request decodes, because the size is another one; the second one finds all in the cache.
    timeline = []
    for _ in range(2):
        begin = time.monotonic()
        answer = daemon.request(
            "GET", "/v1/devices/c0/recordings/thumbnails?from=%d&to=%d&every=1000&size=319" % (start, end))
        timeline.append((time.monotonic() - begin) * 1000 / max(1, len(answer["thumbnails"])))
    path = "/v1/devices/c0/recordings/clip.mp4?from=%d&to=%d" % (start, end)
    begin = time.monotonic()
    daemon.send("HEAD", path)
    head = (time.monotonic() - begin) * 1000
    begin = time.monotonic()
    _, content = daemon.send("GET", path)
    speed = len(content) / 1e6 / (time.monotonic() - begin)
    return [
        "| %s: a thumbnail of 1080p, p50 / p95 | %.0f / %.0f ms |" % (name, statistics.median(times), times[37]),
        "| %s: a timeline, each of %d thumbnails, decoded / cached | %.1f / %.2f ms |" % (
            name, len(answer["thumbnails"]), *timeline),
        "| %s: the head of a clip of %.0f s; its download | %.0f ms; %.0f MB/s |" % (
            name, (end - start) / 1000, head, speed)]


main()
