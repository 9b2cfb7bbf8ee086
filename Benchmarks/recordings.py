#!/usr/bin/env python3
"""Measures what recording, encryption and the search for motion cost, through a daemon; prints a Markdown table.

Usage: recordings.py BIN-DIRECTORY [--cameras 24] [--seconds 20] [--rounds 1] [--settle 5] [--page-cache MB]

Cameras are one 1080p clip of about 4 Mbit/s with a key frame every two seconds, read at its pace. A daemon without
recording, one with it and one with encryption run at the same time, and so does the reference: `ffmpeg -re -c copy -f
segment`, less `ffmpeg -re -c copy -f null`, one process a camera. So all have the machine's speed of that moment, which
varies by more than recording costs. The difference in CPU is divided by the bits. The search for motion is measured
afterwards, beside a daemon without it.

The host of a virtual machine may take back memory that was free for some seconds. The next program that uses it pays: to
write a file into such memory costs twelve times as much CPU time as into other memory. `--page-cache 1500` takes all
memory but so much, and fills that with the pages of a file, as on a box that has recorded for some minutes: the kernel
uses the oldest pages again, and no memory is free for long. `--settle 45` waits until all cameras have begun. Several
rounds show how much the figures vary.

Writes and their bytes are the process's (/proc/PID/io), with those of the index and the wake-ups of event loops.
Thumbnails and a clip are requested from what was recorded.
"""
import argparse
import contextlib
import mmap
import os
import random
import statistics
import subprocess
import tempfile
import time

from measured_daemon import ROOT, MeasuredDaemon, cpu_seconds


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


def start(binaries, clip, options, keys="", recording=None):
    """A daemon with the cameras."""
    names = ["c%d" % number for number in range(options.cameras)]
    text = "recording: {directory: rec, freeSpace: 0%s}\n" % recording if recording is not None else ""
    text += "cameras:\n" + "".join("  - {name: %s, url: %s%s}\n" % (name, clip, keys) for name in names)
    return MeasuredDaemon(binaries, configuration=text)


class Reference:
    """One process of ffmpeg a camera."""

    def __init__(self, clip, options, output):
        self.folder = tempfile.TemporaryDirectory(dir=ROOT)
        self.running = []
        for number in range(options.cameras):
            target = ["-f", "segment", "-segment_time", "60", "-segment_format", "mp4",
                      "%s/%d-%%03d.mp4" % (self.folder.name, number)] if output else ["-f", "null", "-"]
            self.running.append(subprocess.Popen(
                ["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy"] + target,
                stdin=subprocess.DEVNULL))

    def cpu(self):
        return sum(cpu_seconds(each.pid) for each in self.running)

    def io(self):
        return {}

    def stop(self):
        for each in self.running:
            each.terminate()
        for each in self.running:
            each.wait()
        self.folder.cleanup()


@contextlib.contextmanager
def full_memory(pages):
    """Takes the memory of the machine that is free, and uses `pages` MB of it for the pages of a file. Does nothing if
    `pages` is none."""
    if pages is None:
        yield
        return
    taken = mmap.mmap(-1, max(1, free_memory() - pages) << 20)
    for place in range(0, len(taken), 4096):
        taken[place] = 1
    with tempfile.TemporaryFile(dir=ROOT) as file:
        block = os.urandom(1 << 20)
        # Below this, the kernel takes the oldest pages.
        while free_memory() > 400 and file.tell() < 2 * pages << 20:
            file.write(block)
        os.fsync(file.fileno())
        yield
    taken.close()


def free_memory():
    """In MB."""
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("MemFree:"))


def measure(groups, seconds):
    """For each group, measured at the same time: CPU seconds a second, and its calls and bytes a second."""
    begin = {name: (time.monotonic(), each.cpu(), each.io()) for name, each in groups.items()}
    time.sleep(seconds)
    used = {}
    for name, each in groups.items():
        at, cpu, before = begin[name]
        now, spent, after = time.monotonic(), each.cpu() - cpu, each.io()
        used[name] = spent / (now - at), {key: (after[key] - before[key]) / (now - at) for key in after}
    return used


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binaries")
    arguments.add_argument("--cameras", type=int, default=24)
    arguments.add_argument("--seconds", type=int, default=20)
    arguments.add_argument("--rounds", type=int, default=1)
    # All cameras have begun, and the start is over.
    arguments.add_argument("--settle", type=int, default=5)
    arguments.add_argument("--page-cache", type=int)
    options = arguments.parse_args()
    with full_memory(options.page_cache), tempfile.TemporaryDirectory() as folder:
        clip = folder + "/clip.mp4"
        make_clip(clip)
        media = media_bytes(clip) / CLIP
        megabits = os.path.getsize(clip) * 8 / CLIP / 1e6 * options.cameras
        key = folder + "/key"
        subprocess.run([os.path.join(options.binaries, "iotctl"), "recording", "key", key], check=True,
                       stdout=subprocess.DEVNULL)
        lines = []
        groups = {
            "reading": start(options.binaries, clip, options),
            "recording": start(options.binaries, clip, options, ", record: continuous", ""),
            "encrypted": start(options.binaries, clip, options, ", record: continuous", ", keyFiles: [%s]" % key),
            "segments": Reference(clip, options, True), "nothing": Reference(clip, options, False)}
        try:
            time.sleep(options.settle)
            rounds = [measure(groups, options.seconds) for _ in range(options.rounds)]
            for name in ("segments", "nothing", "reading"):
                groups.pop(name).stop()
            for name in ("recording", "encrypted"):
                lines += requests(groups[name], name)
        finally:
            for each in groups.values():
                each.stop()
        groups = {
            "reading": start(options.binaries, clip, options),
            "motion": start(options.binaries, clip, options, ", motion: medium")}
        try:
            time.sleep(5)
            motion = measure(groups, options.seconds)
        finally:
            for each in groups.values():
                each.stop()

    def above(name, other):
        """CPU seconds a second in each round."""
        return [measured[name][0] - measured[other][0] for measured in rounds]

    used = {
        "recording": above("recording", "reading"), "recording, encrypted": above("encrypted", "reading"),
        "motion": [motion["motion"][0] - motion["reading"][0]],
        "ffmpeg -c copy -f segment": above("segments", "nothing")}
    reading = statistics.mean(measured["reading"][0] for measured in rounds)
    more = {key: statistics.mean(measured["recording"][1][key] - measured["reading"][1][key] for measured in rounds)
            / options.cameras for key in rounds[0]["reading"][1]}
    print("| what | figure |\n| --- | --- |")
    print("| cameras, together | %d, %.1f Mbit/s |" % (options.cameras, megabits))
    print("| reading them, % of a core | {:.1f} |".format(reading * 100))
    for name, each in used.items():
        cpu = statistics.mean(each)
        print("| %s, above reading: %% of a core; CPU-s a Gbit | %.2f; %.3f |" % (
            name, cpu * 100, cpu / megabits * 1000))
    for name in ("recording", "recording, encrypted"):
        ratios = ["%.2f" % (own / other) for own, other in zip(used[name], used["ffmpeg -c copy -f segment"])]
        mean = sum(used[name]) / sum(used["ffmpeg -c copy -f segment"])
        print("| %s / ffmpeg | %.2f%s |" % (name, mean, " (%s)" % ", ".join(ratios) if len(ratios) > 1 else ""))
    whole = statistics.mean(measured["segments"][0] for measured in rounds)
    print("| ffmpeg -c copy -f segment with its reading: %% of a core; recording / it | %.1f; %.2f |" % (
        whole * 100, statistics.mean(used["recording"]) / whole))
    print("| recording: write calls a camera and second, above reading | %.1f |" % more["syscw"])
    print("| recording: bytes written / bytes of the media | %.4f |" % (more["wchar"] / media))
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
