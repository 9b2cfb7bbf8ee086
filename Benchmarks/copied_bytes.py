#!/usr/bin/env python3
"""Counts the bytes that a daemon copies for each picture that it decodes and sends to the readers of raw video.

Usage: copied_bytes.py BIN-DIRECTORY [--readers 0,1,2,4] [--frames 100] [--clip CLIP]

It counts every memcpy and memmove of the daemon (copied_bytes.c, x86-64), but not the kernel's copies into a socket.
The row of 0 readers contains everything except raw video. On a busy machine only the number of pictures changes that
a reader loses, which the last column shows.
"""
import argparse
import os
import struct
import subprocess
import tempfile
import threading
import time

from measured_daemon import ROOT, MeasuredDaemon, UnixConnection


def read(daemon, channel, sizes):
    connection = UnixConnection(daemon.socket)
    connection.request("GET", "/v1/channels/%s/video.y4m" % channel)
    body = connection.getresponse()
    size = 0
    while chunk := body.read(1 << 20):
        size += len(chunk)
    sizes.append(size)


def measure(binaries, clip, readers, frames, folder):
    counter = os.path.join(folder, "counter-%d" % readers)
    os.environ.update(LD_PRELOAD=os.path.join(folder, "copied_bytes.so"), COPIED_BYTES=counter)
    daemon = MeasuredDaemon(binaries, {"camera": clip})
    del os.environ["LD_PRELOAD"], os.environ["COPIED_BYTES"]

    def copied():
        return struct.unpack("Q", open(counter, "rb").read(8))[0]

    channel = daemon.request("POST", "/v1/channels", '{"device":"camera"}')["id"]
    sizes = []
    threads = [threading.Thread(target=read, args=(daemon, channel, sizes)) for _ in range(readers)]
    for thread in threads:
        thread.start()
    time.sleep(1)  # every reader is there before the first picture
    before = copied()
    daemon.request("POST", "/v1/channels/%s/play" % channel)
    while True:
        after = copied()
        video = daemon.request("GET", "/v1/channels/" + channel)["statistics"].get("video", {})
        if video.get("framesDecoded", 0) >= frames:
            break
        time.sleep(0.05)
    daemon.request("DELETE", "/v1/channels/" + channel)
    for thread in threads:
        thread.join()
    daemon.stop()
    return (after - before) / video["framesDecoded"] / 1e6, max(sizes, default=0) / 1e6, video.get(
        "framesDroppedByReason", {}).get("slowReader", 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--readers", default="0,1,2,4")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--clip", default=os.path.join(ROOT, "Samples/bunny-h264-aac51.mp4"))
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp()
    subprocess.run(
        ["cc", "-O2", "-fno-builtin", "-fPIC", "-shared", "-o", folder + "/copied_bytes.so",
         os.path.join(os.path.dirname(os.path.abspath(__file__)), "copied_bytes.c")], check=True)
    print("| readers | MB copied per picture | MB read by one | pictures lost |")
    print("| --- | --- | --- | --- |")
    for readers in map(int, arguments.readers.split(",")):
        row = measure(arguments.binaries, arguments.clip, readers, arguments.frames, folder)
        print("| %d | %.2f | %.0f | %d |" % (readers, *row), flush=True)


if __name__ == "__main__":
    main()
