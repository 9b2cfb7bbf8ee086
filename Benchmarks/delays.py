#!/usr/bin/env python3
"""Measures how long a daemon keeps a picture, from its arrival to its last packet to a viewer; prints a Markdown table.

Usage: delays.py BIN-DIRECTORY [PEER-BENCH] [--viewers 1,10,100] [--seconds 10]      as root, for the packet socket

A daemon on core 0 reads an RTSP camera of 4 Mbit/s (rtsp_camera.py, core 1), which says when each picture was handed to
its socket. A packet socket at the loopback device sees when the daemon sends. The last packet to a viewer before the
next picture arrives is taken for the last one of a picture, so a delay of more than 40 ms would be taken for a short one
of the next picture: see "late", the part of the packets in the second half of the time between two pictures.

Our own channel is one channel of the daemon to its own camera. WHEP needs PEER-BENCH (fanout.py).
"""
import argparse
import bisect
import os
import socket
import struct
import tempfile
import threading
import time

from bench import open_channel
from fanout import FRAMES_A_SECOND, WARM_UP, Watchers, make_clip
from measured_daemon import MeasuredDaemon
from rtsp import Child, configuration, ready_after

# linux/if_packet.h and linux/if_ether.h, asm-generic/socket.h
OUTGOING, ALL, IPV4, IPV6, TIMESTAMPNS = 4, 3, 0x0800, 0x86DD, 35
# Shorter packets are control: consent, reports, acknowledgements. A picture whose last packet is shorter seems earlier.
MEDIA = 200


class Capture:
    """When long UDP datagrams were sent over the loopback device, by receiving port: ns of CLOCK_MONOTONIC."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL))
        self.socket.bind(("lo", ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, TIMESTAMPNS, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
        self.socket.settimeout(0.2)
        self.offset = time.monotonic_ns() - time.time_ns()
        self.sent, self.isRunning = {}, True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while self.isRunning:
            try:
                data, ancillary, _, address = self.socket.recvmsg(64, 64)
            except socket.timeout:
                continue
            # With UDP_SEGMENT, one entry is a run of packets; only its total length is here.
            if address[2] != OUTGOING or address[1] not in (IPV4, IPV6):
                continue
            protocol, size, header = (
                (data[9], data[2:4], (data[0] & 15) * 4) if address[1] == IPV4 else (data[6], data[4:6], 40))
            if protocol != socket.IPPROTO_UDP or struct.unpack(">H", size)[0] < MEDIA:
                continue
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            port = struct.unpack(">H", data[header + 2:header + 4])[0]
            self.sent.setdefault(port, []).append(seconds * 1_000_000_000 + nanoseconds + self.offset)

    def end(self):
        """The times by receiving port."""
        self.isRunning = False
        self.thread.join()
        self.socket.close()
        return self.sent


def delays(arrivals, sent):
    """ms from each arrival to the last datagram before the next one, and the part of late datagrams."""
    found, late, count = [], 0, 0
    for times in sent.values():
        last = {}
        for at in times:
            place = bisect.bisect(arrivals, at) - 1
            if 0 <= place < len(arrivals) - 1:
                last[place] = at
                count += 1
                late += at - arrivals[place] > arrivals[place + 1] - at
        # Others than viewers get fewer.
        if len(last) > len(arrivals) // 2:
            found += [(at - arrivals[place]) / 1e6 for place, at in last.items()]
    return sorted(found), late / max(1, count)


def measure(daemon, camera, seconds, ports=None):
    time.sleep(WARM_UP)
    capture = Capture()
    time.sleep(seconds)
    sent = capture.end()
    if ports:
        sent = {port: times for port, times in sent.items() if str(port) in ports}
    arrivals = [at for _, at in camera.ask()][-int(FRAMES_A_SECOND * (seconds + 1)):]
    return delays(arrivals, sent)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binaries")
    arguments.add_argument("program", nargs="?")
    arguments.add_argument("--viewers", default="1,10,100")
    arguments.add_argument("--seconds", type=float, default=10)
    options = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        clip = os.path.join(folder, "clip.mp4")
        make_clip(clip)
        camera = Child("rtsp_camera.py", clip)
        url = "rtsp://127.0.0.1:%s/" % camera.process.stdout.readline().strip()
        daemon = MeasuredDaemon(
            options.binaries, core=0, configuration="channels: {calls: 1000}\n" + configuration({"camera": url}))
        try:
            ready_after(daemon, time.monotonic())
            channel = open_channel(daemon, "camera")
            daemon.request("POST", "/v1/channels/%s/play" % channel)
            rows.append(("our own channel, 1", measure(daemon, camera, options.seconds)))
            daemon.request("DELETE", "/v1/channels/" + channel)
            for count in [int(text) for text in options.viewers.split(",")] if options.program else []:
                watchers = Watchers(options.program, count)
                watchers.connect(daemon)
                rows.append(("WHEP, %d" % count, measure(daemon, camera, options.seconds, set(watchers.ports()))))
                watchers.end(daemon)
        finally:
            daemon.stop()
            camera.end()
    print("From a picture's arrival to its last packet, 4 Mbit/s, 25 pictures a second, %g s each.\n" % options.seconds)
    print("| viewers | pictures | p50 | p95 | p99 | max | late |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name, (found, late) in rows:
        at = [found[min(len(found) - 1, int(len(found) * part))] for part in (0.5, 0.95, 0.99, 1)]
        print("| %s | %d | %s | %.2f %% |" % (name, len(found), " | ".join("%.1f ms" % each for each in at), 100 * late))


if __name__ == "__main__":
    main()
