#!/usr/bin/env python3
"""RTSP players that read a camera and throw the media away: the readers' process of rtsp.py.

Usage: rtsp_players.py tcp|udp PORT PATH USER PASSWORD COUNT

Each line of standard input is answered by one line of JSON: bytes, packets and CPU time (s) since the start.
"""
import hashlib
import json
import os
import re
import select
import socket
import sys
import threading
import time


class Player:
    """One RTSP session. After `play`, its sockets belong to the loop that reads them."""

    def __init__(self, port, path, user, password, transport):
        self.url = "rtsp://127.0.0.1:%d/%s" % (port, path)
        self.user, self.password, self.transport = user, password, transport
        self.control = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.buffered, self.sequence, self.session, self.challenge = b"", 0, None, None
        self.media = []

    def ask(self, method, url=None, **headers):
        for _ in range(2):
            status, head, body = self.exchange(method, url or self.url, headers)
            if status != 401:
                break
            self.challenge = dict(re.findall(r'(\w+)="([^"]*)"', head["www-authenticate"]))
        if status != 200:
            sys.exit("%s: %d" % (method, status))
        return head, body

    def exchange(self, method, url, headers):
        self.sequence += 1
        lines = ["%s %s RTSP/1.0" % (method, url), "CSeq: %d" % self.sequence]
        lines += ["%s: %s" % item for item in headers.items()]
        if self.session:
            lines.append("Session: " + self.session)
        if self.challenge:
            lines.append("Authorization: " + self.authorization(method, url))
        self.control.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffered:
            self.receive()
        text, self.buffered = self.buffered.split(b"\r\n\r\n", 1)
        first, *fields = text.decode().split("\r\n")
        head = {}
        for field in fields:
            name, value = field.split(":", 1)
            # The first challenge counts.
            head.setdefault(name.lower(), value.strip())
        size = int(head.get("content-length", 0))
        while len(self.buffered) < size:
            self.receive()
        body, self.buffered = self.buffered[:size], self.buffered[size:]
        return int(first.split()[1]), head, body.decode()

    def receive(self):
        data = self.control.recv(65536)
        if not data:
            sys.exit("the server closed the connection")
        self.buffered += data

    def authorization(self, method, url):
        values = self.challenge
        algorithm = hashlib.sha256 if values.get("algorithm") == "SHA-256" else hashlib.md5
        digest = lambda text: algorithm(text.encode()).hexdigest()  # noqa: E731
        count, client = "%08x" % self.sequence, "0a4f113b"
        first = digest("%s:%s:%s" % (self.user, values["realm"], self.password))
        response = digest(":".join(
            [first, values["nonce"], count, client, "auth", digest("%s:%s" % (method, url))]))
        return ('Digest username="%s", realm="%s", nonce="%s", uri="%s", response="%s", algorithm=%s, cnonce="%s", '
                "nc=%s, qop=auth" % (self.user, values["realm"], values["nonce"], url, response,
                                     values.get("algorithm", "MD5"), client, count))

    def play(self):
        head, description = self.ask("DESCRIBE", Accept="application/sdp")
        base = head.get("content-base", self.url)
        tracks = re.findall(r"^m=(\w+).*?^a=control:(\S+)", description, re.S | re.M)
        control = [name for kind, name in tracks if kind == "video"][0]
        if not control.startswith("rtsp://"):
            control = base.rstrip("/") + "/" + control
        if self.transport == "tcp":
            wanted = "RTP/AVP/TCP;unicast;interleaved=0-1"
        else:
            self.media = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
            while True:
                self.media[0].bind(("127.0.0.1", 0))
                port = self.media[0].getsockname()[1]
                try:
                    if port % 2 == 0:
                        self.media[1].bind(("127.0.0.1", port + 1))
                        break
                except OSError:
                    pass
                self.media[0].close()
                self.media[0] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for media in self.media:
                media.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            wanted = "RTP/AVP;unicast;client_port=%d-%d" % (port, port + 1)
        head, _ = self.ask("SETUP", control, Transport=wanted)
        self.session = head["session"].split(";")[0]
        self.ask("PLAY", Range="npt=0.000-")


class Counts:
    def __init__(self):
        self.bytes = self.packets = 0


def read(players, counts):
    """Reads all sockets until the process ends. TCP packets are not counted: that would cost more than reading."""
    poll = select.epoll()
    sockets = {}
    for player in players:
        counts.bytes += len(player.buffered)
        for each in [player.control] + player.media:
            each.setblocking(False)
            sockets[each.fileno()] = each
            poll.register(each, select.EPOLLIN)
    buffer = bytearray(1 << 18)
    while True:
        for number, _ in poll.poll():
            each = sockets[number]
            try:
                while True:
                    size = each.recv_into(buffer)
                    if size == 0:
                        poll.unregister(each)
                        break
                    counts.bytes += size
                    counts.packets += 1
                    if size < len(buffer) and each.type == socket.SOCK_STREAM:
                        break
            except BlockingIOError:
                pass


def main():
    transport, port, path, user, password, count = sys.argv[1:]
    players = []
    for _ in range(int(count)):
        player = Player(int(port), path, user, password, transport)
        player.play()
        players.append(player)
    counts = Counts()
    threading.Thread(target=read, args=(players, counts), daemon=True).start()
    for _ in sys.stdin:
        used = time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)
        print(json.dumps({"bytes": counts.bytes, "packets": counts.packets, "cpu": used}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
