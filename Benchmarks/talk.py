#!/usr/bin/env python3
"""Measures how long a word takes from the mouth to the camera's loudspeaker through a daemon; prints a Markdown table.

Usage: talk.py BIN-DIRECTORY [--tones 60]

A microphone (this program) writes sound in pieces of 20 ms at the pace of the clock into POST /v1/channels/{id}/talk:
silence, and every half second a tone of 60 ms. The daemon sends it through the whole call (Opus, SRTP, jitter buffer) to
its own camera, an RTSP camera with an ONVIF back channel (this program), in PCMU. The time is from the tone's first
sample at the microphone, 20 ms before its piece is complete, to the arrival of the first packet that has the tone.
"""
import argparse
import array
import math
import os
import socket
import statistics
import struct
import sys
import threading
import time

from measured_daemon import ROOT, MeasuredDaemon
from rtsp_camera import Camera

RATE = 48_000
PIECE = RATE // 50
PIECES_A_TONE = 25
LOUD_PIECES = 3


class TalkingCamera(Camera):
    """With a back channel (ONVIF Streaming Specification section 5.3). Keeps when loud packets have arrived."""

    def __init__(self, clip):
        self.heard = []
        super().__init__(clip)

    def describe(self, head):
        if "www.onvif.org/ver20/backchannel" not in head:
            return self.description
        return self.description + (
            b"m=audio 0 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\na=sendonly\r\na=control:track2\r\n")

    def take(self, channel, packet):
        if channel % 2 or len(packet) < 13 or packet[1] & 127:
            return
        # The low seven bits, inverted, grow with the loudness (ITU-T G.711); 0x30 is about 3 % of full scale.
        is_loud = any(~byte & 0x7F > 0x30 for byte in packet[12:])
        self.heard.append((time.monotonic(), is_loud))

    def onsets(self):
        """The arrivals of loud packets after at least 200 ms without one."""
        times = [when for when, is_loud in list(self.heard) if is_loud]
        return [when for before, when in zip([0] + times, times) if when - before > 0.2]


def speak(daemon, channel, tones):
    """Returns the times of the tones at the microphone."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(daemon.socket)
    connection.sendall((
        "POST /v1/channels/%s/talk HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        "Content-Type: audio/wav\r\n\r\n" % channel).encode())

    def write(data):
        connection.sendall(b"%x\r\n" % len(data) + data + b"\r\n")

    write(struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 0xFFFFFFFF, b"WAVE", b"fmt ", 16, 1, 1, RATE, RATE * 2, 2, 16,
                      b"data", 0xFFFFFFFF))
    silence = bytes(2 * PIECE)
    tone = [array.array("h", (
        int(12_000 * math.sin(2 * math.pi * 1000 * (index + piece * PIECE) / RATE)) for index in range(PIECE))).tobytes()
        for piece in range(LOUD_PIECES)]
    spoken, due = [], time.monotonic()
    # A second of silence first: the back channel is opened by the first packet.
    for index in range(50 + tones * PIECES_A_TONE):
        due += 0.02
        time.sleep(max(0, due - time.monotonic()))
        place = (index - 50) % PIECES_A_TONE if index >= 50 else PIECES_A_TONE
        if place == 0:
            spoken.append(due - 0.02)
        write(tone[place] if place < LOUD_PIECES else silence)
    connection.sendall(b"0\r\n\r\n")
    answer = connection.recv(65536).decode()
    if " 200 " not in answer.splitlines()[0]:
        sys.exit(answer)
    return spoken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--tones", type=int, default=60)
    options = parser.parse_args()
    camera = TalkingCamera(os.path.join(ROOT, "Samples/street-h264-aac.mp4"))
    daemon = MeasuredDaemon(options.binaries, {"front": "rtsp://127.0.0.1:%d/" % camera.port})
    try:
        for _ in range(100):
            if daemon.request("GET", "/v1/cameras/front")["state"] == "ready":
                break
            time.sleep(0.1)
        channel = daemon.request("POST", "/v1/channels", '{"device":"front"}')["id"]
        daemon.request("POST", "/v1/channels/%s/play" % channel)
        spoken = speak(daemon, channel, options.tones)
        time.sleep(1)
        heard = camera.onsets()
    finally:
        daemon.stop()
    delays = []
    for when in spoken:
        arrival = next((each for each in heard if each >= when), None)
        if arrival is not None and arrival - when < 0.5:
            delays.append((arrival - when) * 1000)
    if len(delays) < 0.9 * len(spoken):
        sys.exit("only %d of %d tones arrived" % (len(delays), len(spoken)))
    delays.sort()
    print("| mouth to camera packet | p50 | p95 | longest | tones that arrived | goal (p95) |")
    print("| --- | --- | --- | --- | --- | --- |")
    print("| through the daemon, PCMU over TCP | %.0f ms | %.0f ms | %.0f ms | %d of %d | 150 ms |" % (
        statistics.median(delays), delays[int(0.95 * (len(delays) - 1))], delays[-1], len(delays), len(spoken)))


if __name__ == "__main__":
    main()
