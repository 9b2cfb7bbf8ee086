#!/usr/bin/env python3
"""Measures the release build and references in the same run, and prints a Markdown table.

Usage: bench.py BIN-DIRECTORY [--rounds N]
Starts a daemon with its data in a temporary folder on this disk, and stops it; takes about four minutes.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from measured_daemon import ROOT, MeasuredDaemon

LONG_GOP = os.path.join(ROOT, "Samples/street-h264-aac.mp4")
HD = os.path.join(ROOT, "Samples/bunny-h264-aac51.mp4")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def open_channel(daemon, camera):
    channel = daemon.request("POST", "/v1/channels", json.dumps({"device": camera}))["id"]
    return channel


def first_frames(daemon, camera, rounds):
    first, edge = [], []
    for _ in range(rounds):
        channel = open_channel(daemon, camera)
        daemon.request("POST", "/v1/channels/%s/play" % channel)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            report = daemon.request("GET", "/v1/channels/" + channel).get("statistics") or {}
            if report.get("firstFrameTime") and report.get("liveEdgeTime"):
                first.append(report["firstFrameTime"] * 1000)
                edge.append(report["liveEdgeTime"])
                break
            time.sleep(0.02)
        daemon.request("DELETE", "/v1/channels/" + channel)
        # Starts at another place in the group of pictures each time.
        time.sleep(0.37)
    return first, edge


def decoded_frames(daemon, channels):
    return sum(daemon.request("GET", "/v1/channels/" + channel)["statistics"]["video"]["framesDecoded"]
               for channel in channels)


def cpu_per_frame(daemon, cameras, seconds):
    """Seconds of CPU per frame without the idle daemon's, those of each kind of thread, and the number of frames."""
    idle_start, at = daemon.cpu(), time.monotonic()
    idle_threads = daemon.thread_cpu()
    time.sleep(seconds)
    idle_time = time.monotonic() - at
    idle = (daemon.cpu() - idle_start) / idle_time
    idle_threads = {name: (spent - idle_threads.get(name, 0)) / idle_time
                    for name, spent in daemon.thread_cpu().items()}
    channels = [open_channel(daemon, camera) for camera in cameras]
    for channel in channels:
        daemon.request("POST", "/v1/channels/%s/play" % channel)
    time.sleep(1.5)
    frames = decoded_frames(daemon, channels)
    start, at, threads = daemon.cpu(), time.monotonic(), daemon.thread_cpu()
    time.sleep(seconds)
    used, passed = daemon.cpu() - start, time.monotonic() - at
    threads = {name: spent - threads.get(name, 0) - idle_threads.get(name, 0) * passed
               for name, spent in daemon.thread_cpu().items()}
    frames = decoded_frames(daemon, channels) - frames
    for channel in channels:
        daemon.request("DELETE", "/v1/channels/" + channel)
    share = {name: spent / frames for name, spent in threads.items()}
    return used / frames, (used - idle * passed) / frames, share, frames


def ffmpeg_cpu_per_frame(clip, rounds=4, *options):
    frames = int(
        subprocess.run(
            ["ffprobe", "-v", "error", "-select_streams", "v", "-count_packets", "-show_entries",
             "stream=nb_read_packets", "-of", "csv=p=0", clip], capture_output=True, text=True, check=True,
        ).stdout.strip().strip(","))
    before = os.times()
    subprocess.run(
        ["ffmpeg", "-v", "error", *options, "-threads", "1", "-stream_loop", str(rounds - 1), "-i", clip,
         "-f", "null", "-"], check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used / (frames * rounds)


def timed(count, action):
    times = []
    for index in range(count):
        start = time.perf_counter()
        action(index)
        times.append((time.perf_counter() - start) * 1000)
    return times


def synchronise(folder, count):
    descriptor = os.open(folder + "/sync", os.O_WRONLY | os.O_CREAT)
    page = b"x" * 4096

    def once(_):
        os.write(descriptor, page)
        os.fdatasync(descriptor)

    try:
        return timed(count, once)
    finally:
        os.close(descriptor)


def hub_figures(binaries):
    """Runs hub-bench with its data on this disk."""
    folder = tempfile.mkdtemp(prefix=".bench-", dir=ROOT)
    try:
        output = subprocess.run(
            [os.path.join(binaries, "hub-bench"), folder + "/data"], check=True, stdout=subprocess.PIPE).stdout
        return json.loads(output)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def print_hub_rows(figures, sync):
    for row in figures["writes"]:
        writes, reads = row["writes"], row["reads"]
        print("| durable property writes, %d writer%s (p50 / p99) | %.0f per second, %.2f / %.2f ms | reads the same way %.0f per second, "
              "%.2f / %.2f ms; fdatasync %.2f ms | %.2f | %s |"
              % (row["writers"], "" if row["writers"] == 1 else "s", writes["perSecond"], writes["p50"], writes["p99"],
                 reads["perSecond"], reads["p50"], reads["p99"], sync, writes["perSecond"] / reads["perSecond"],
                 "10,000 per second" if row["writers"] == 256 else "–"))
    pushes = figures["pushes"]
    print("| pushes delivered to %d subscribers (%d writes, one after the other) | %.0f per second, %d of %d | – | – | – |"
          % (pushes["subscribers"], pushes["writes"], pushes["perSecond"], pushes["delivered"],
             pushes["subscribers"] * pushes["writes"]))
    idle = figures["idle"]
    print("| an idle registered device, of %d (hub / broker memory, CPU of both) | %.1f / %.1f kB, %.0f µs per second | – | – | – |"
          % (idle["devices"], idle["hubKilobytes"], idle["brokerKilobytes"], idle["cpuMicrosecondsPerSecond"]))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binaries")
    arguments.add_argument("--rounds", type=int, default=20)
    options = arguments.parse_args()

    starts = []
    for _ in range(5):
        daemon = MeasuredDaemon(options.binaries)
        starts.append(daemon.start_to_ready * 1000)
        time.sleep(0.5)
        memory = daemon.pss()
        daemon.stop()

    daemon = MeasuredDaemon(options.binaries, {"street": LONG_GOP, "hd": HD})
    try:
        # Late in the first group of pictures, which is ten seconds long.
        time.sleep(9)
        first, edge = first_frames(daemon, "street", options.rounds)
        total, share, threads, frames = cpu_per_frame(daemon, ["hd"], 8)
        reference = ffmpeg_cpu_per_frame(HD)
        paced = ffmpeg_cpu_per_frame(HD, 1, "-re")
        path = "/v1/devices/%s/properties?path=ProUser._buildIn.val.nickName"
        device = daemon.request("GET", "/v1/devices/street")["id"]
        timed(50, lambda _: daemon.request("GET", path % device))
        reads = timed(400, lambda _: daemon.request("GET", path % device))
        writes = timed(400, lambda index: daemon.request("PUT", path % device, '"name %d"' % index))
        synchronised = synchronise(daemon.folder, 400)
    finally:
        daemon.stop()

    # Fewer pauses and warmer caches: the cost of a picture on a busy box.
    names = ["hd%d" % number for number in range(8)]
    daemon = MeasuredDaemon(options.binaries, {name: HD for name in names})
    try:
        time.sleep(2)
        _, crowd, _, _ = cpu_per_frame(daemon, names, 8)
    finally:
        daemon.stop()

    hub = hub_figures(options.binaries)
    write, read = statistics.median(writes), statistics.median(reads)
    sync = statistics.median(synchronised)
    print("| what | measured | reference in the same run | ratio | goal |")
    print("| --- | --- | --- | --- | --- |")
    print("| play → first decoded frame, 10 s GOP (p50 / p95 of %d) | %.0f / %.0f ms | – | – | 60 / 120 ms |"
          % (len(first), statistics.median(first), percentile(first, 0.95)))
    print("| play → live edge (p50 / p95) | %.2f / %.2f s | – | – | 1.5 s |"
          % (statistics.median(edge), percentile(edge, 0.95)))
    print("| CPU per decoded frame, whole channel, 720p H.264 (%d frames) | %.2f ms | ffmpeg -f null: %.2f ms | %.2f | 1.05 |"
          % (frames, share * 1000, reference * 1000, share / reference))
    print("| the same with the camera's own reading and packetising | %.2f ms | ffmpeg -f null: %.2f ms | %.2f | – |"
          % (total * 1000, reference * 1000, total / reference))
    for name, what in (("decoder", "of it the decoding thread"), ("loops", "of it the event loops of both ends")):
        print("| %s | %.2f ms | ffmpeg -f null: %.2f ms | %.2f | – |"
              % (what, threads.get(name, 0) * 1000, reference * 1000, threads.get(name, 0) / reference))
    print("| the whole channel, eight cameras watched at once | %.2f ms | ffmpeg -f null: %.2f ms | %.2f | – |"
          % (crowd * 1000, reference * 1000, crowd / reference))
    print("| ffmpeg itself at the clip's own pace (-re -f null), reading included | %.2f ms | ffmpeg -f null: %.2f ms | %.2f | – |"
          % (paced * 1000, reference * 1000, paced / reference))
    print("| property write, durable, alone (p50 / p99) | %.2f / %.2f ms | read through the same broker %.2f ms + fdatasync %.2f ms | %.2f | 2 |"
          % (write, percentile(writes, 0.99), read, sync, write / (read + sync)))
    print_hub_rows(hub, sync)
    print("| start to ready, embedded broker (p50 / worst of %d) | %.0f / %.0f ms | – | – | 300 ms |"
          % (len(starts), statistics.median(starts), max(starts)))
    print("| memory of the idle daemon, Pss, broker apart | %.0f MB | – | – | 60 MB |" % memory)


if __name__ == "__main__":
    main()
