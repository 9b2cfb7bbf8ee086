#!/usr/bin/env python3
"""An RTSP camera for rtsp.py: serves one H.264 clip over TCP, in real time, to any number of sessions.

Usage: rtsp_camera.py CLIP

Prints its port. All sessions get the same packets at the same time, so that serving them costs little. Then each line
of standard input is answered by one line of JSON: for the newest 2,000 pictures, the end of the picture (hex) and the
CLOCK_MONOTONIC time in ns after it was handed to the sockets.
"""
import base64
import json
import re
import socket
import struct
import subprocess
import sys
import threading
import time

FRAMES_A_SECOND = 25
MAXIMUM_PAYLOAD = 1400
TAIL = 24


def pictures(clip):
    """The access units of the clip, each a list of NAL units without start codes and delimiters."""
    stream = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", clip, "-an", "-c:v", "copy", "-bsf:v", "h264_mp4toannexb,h264_metadata=aud=insert",
         "-f", "h264", "-"], stdout=subprocess.PIPE, check=True).stdout
    units = [unit.rstrip(b"\0") for unit in re.split(rb"\x00\x00\x00?\x01", stream) if unit]
    result = []
    for unit in units:
        if unit[0] & 31 == 9:
            result.append([])
        else:
            result[-1].append(unit)
    return result


def payloads(units):
    """Single NAL units and FU-A (RFC 6184 section 5.8)."""
    for unit in units:
        if len(unit) <= MAXIMUM_PAYLOAD:
            yield unit
            continue
        first, kind = unit[0] & 0x60 | 28, unit[0] & 31
        body = unit[1:]
        for start in range(0, len(body), MAXIMUM_PAYLOAD - 2):
            part = body[start:start + MAXIMUM_PAYLOAD - 2]
            flags = (0x80 if start == 0 else 0) | (0x40 if start + len(part) == len(body) else 0)
            yield bytes([first, flags | kind]) + part


class Camera:
    def __init__(self, clip):
        self.clip = pictures(clip)
        parameters = [unit for unit in self.clip[0] if unit[0] & 31 in (7, 8)]
        self.description = (
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=camera\r\nt=0 0\r\na=control:*\r\nm=video 0 RTP/AVP 96\r\n"
            "a=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1;sprop-parameter-sets=%s\r\na=control:track1\r\n"
            % ",".join(base64.b64encode(unit).decode() for unit in parameters)).encode()
        self.playing, self.lock, self.sent = [], threading.Lock(), []
        self.sequence = self.time = 0
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.send, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        buffered = b""
        try:
            while True:
                while buffered[:1] == b"$" and len(buffered) >= 4:
                    size = 4 + struct.unpack(">H", buffered[2:4])[0]
                    if len(buffered) < size:
                        break
                    self.take(buffered[1], buffered[4:size])
                    buffered = buffered[size:]
                if buffered[:1] != b"$" and b"\r\n\r\n" in buffered:
                    head, buffered = buffered.split(b"\r\n\r\n", 1)
                    self.answer(connection, head.decode())
                    continue
                data = connection.recv(65536)
                if not data:
                    break
                buffered += data
        except OSError:
            pass
        self.forget(connection)

    def take(self, channel, packet):
        """A reader has sent a packet: RTCP, which is thrown away."""

    def describe(self, head):
        return self.description

    def forget(self, connection):
        with self.lock:
            self.playing = [each for each in self.playing if each is not connection]
        connection.close()

    def answer(self, connection, head):
        method, url = head.split()[:2]
        sequence = re.search(r"(?i)cseq: *(\d+)", head).group(1)
        lines, body = ["RTSP/1.0 200 OK", "CSeq: " + sequence], b""
        if method == "OPTIONS":
            lines.append("Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER")
        elif method == "DESCRIBE":
            body = self.describe(head)
            lines += ["Content-Type: application/sdp", "Content-Base: %s/" % url, "Content-Length: %d" % len(body)]
        elif method == "SETUP":
            lines += ["Session: 12345678;timeout=60", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"]
        elif method == "PLAY":
            lines += ["Session: 12345678", "Range: npt=0.000-"]
        with self.lock:
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
            if method == "PLAY":
                self.playing.append(connection)

    def send(self):
        due = time.monotonic()
        while True:
            for picture in self.clip:
                packets, parts = [], list(payloads(picture))
                for index, payload in enumerate(parts):
                    marker = 0x80 if index == len(parts) - 1 else 0
                    packet = struct.pack(
                        ">BBHII", 0x80, marker | 96, self.sequence & 0xFFFF, self.time & 0xFFFFFFFF, 7) + payload
                    packets.append(b"$\0" + struct.pack(">H", len(packet)) + packet)
                    self.sequence += 1
                data = b"".join(packets)
                with self.lock:
                    for connection in list(self.playing):
                        try:
                            connection.sendall(data)
                        except OSError:
                            self.playing.remove(connection)
                self.sent = self.sent[-1999:] + [(picture[-1][-TAIL:].hex(), time.monotonic_ns())]
                self.time += 90000 // FRAMES_A_SECOND
                due += 1 / FRAMES_A_SECOND
                time.sleep(max(0, due - time.monotonic()))


def main():
    camera = Camera(sys.argv[1])
    print(camera.port, flush=True)
    for _ in sys.stdin:
        print(json.dumps(camera.sent), flush=True)


if __name__ == "__main__":
    main()
