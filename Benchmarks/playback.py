#!/usr/bin/env python3
"""Measures how long a seek in recordings takes until its picture is shown, through a daemon; prints a Markdown table.

Usage: playback.py BIN-DIRECTORY [--seeks 60]

The daemon records its own camera, a clip, for half a minute, and plays the recordings to its own gateway over a playback
channel: control channel, disk, SRTP, jitter buffer, decoder. The playback is paused, so that no picture of the place
before is on its way, and a seek goes to a random time. It lasts from the request (PATCH /v1/channels/{id}/playback) until
the event that the player is paused again, which comes when the key frame before the new place was decoded.
"""
import argparse
import json
import random
import statistics
import sys
import threading
import time

from measured_daemon import ROOT, MeasuredDaemon, UnixConnection

CONFIGURATION = """recording: {directory: rec, freeSpace: 0}
cameras:
  - {name: front, url: "%s/Samples/street-h264-aac.mp4", record: continuous}
"""


class PlayerStates(threading.Thread):
    """The states of a channel's player, and when they came."""

    def __init__(self, daemon, channel):
        super().__init__(daemon=True)
        connection = UnixConnection(daemon.socket)
        connection.request("GET", "/v1/channels/%s/events" % channel)
        self.events = connection.getresponse()
        self.states = []
        self.changed = threading.Condition()

    def run(self):
        name = None
        for line in self.events:
            if line.startswith(b"event: "):
                name = line[7:].strip()
            elif line.startswith(b"data: ") and name == b"state":
                state = json.loads(line[6:])["player"]["name"]
                with self.changed:
                    self.states.append((time.monotonic(), state))
                    self.changed.notify()

    def wait(self, first):
        """When the player is paused after a seek; only states from this number on count."""
        with self.changed:
            while True:
                states = self.states[first:]
                sought = next((index for index, (_, state) in enumerate(states) if state == "seeking"), None)
                if sought is not None:
                    for when, state in states[sought:]:
                        if state == "paused":
                            return when
                if not self.changed.wait(10):
                    sys.exit("a seek did not end: %s" % states)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--seeks", type=int, default=60)
    options = parser.parse_args()
    daemon = MeasuredDaemon(options.binaries, configuration=CONFIGURATION % ROOT)
    try:
        time.sleep(30)
        recordings = daemon.request("GET", "/v1/devices/front/recordings")["recordings"]
        start, end = recordings[0]["start"], recordings[-1]["end"]
        if end - start < 20_000:
            sys.exit("only %d ms were recorded" % (end - start))
        channel = daemon.request("POST", "/v1/channels", '{"device":"front","kind":"playback"}')["id"]
        states = PlayerStates(daemon, channel)
        states.start()
        path = "/v1/channels/%s/playback" % channel
        daemon.request("PATCH", path, json.dumps({"time": start}))
        daemon.request("POST", "/v1/channels/%s/play" % channel)
        time.sleep(2)
        daemon.request("PATCH", path, '{"paused":true}')
        time.sleep(1)
        places = random.Random(1)
        times = []
        for _ in range(options.seeks):
            first = len(states.states)
            begun = time.monotonic()
            daemon.request("PATCH", path, json.dumps({"time": places.randint(start, end - 5_000)}))
            times.append((states.wait(first) - begun) * 1000)
            # The pictures up to the place come at most at 16 times the speed: a group of 10 s takes 0.6 s.
            time.sleep(1)
    finally:
        daemon.stop()
    times.sort()
    print("| seek to key frame | p50 | p95 | longest | goal (p50, p95) |")
    print("| --- | --- | --- | --- | --- |")
    print("| own box, H.264 768x576, %d seeks | %.0f ms | %.0f ms | %.0f ms | 60 ms, 120 ms |" % (
        len(times), statistics.median(times), times[int(0.95 * (len(times) - 1))], times[-1]))


if __name__ == "__main__":
    main()
