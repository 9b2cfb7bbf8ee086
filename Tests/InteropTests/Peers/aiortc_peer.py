"""A WebRTC peer with aiortc, controlled by JSON lines on standard input; it prints events as JSON lines.

It echoes every message on its channel, unless the channel's label begins with "sink". It uses only the loopback
interface.

In:  {"do": "offer", "channels": [{"label": …, …}]}   makes an offer        {"do": "answer", "sdp": …}  takes its answer
     {"do": "accept", "sdp": …, "channels": […]}      answers an offer      {"do": "open", "channel": {…}}
     {"do": "send", "label": …, "sizes": [n, …]}      random bytes          {"do": "close", "label": …}
     {"do": "report", "label": …}                                           {"do": "end"}
"""
import asyncio
import hashlib
import json
import os
import sys

import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]


def say(what, **more):
    print(json.dumps({"event": what, **more}), flush=True)


class Peer:
    def __init__(self):
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.channels = {}
        self.sent = {}
        self.received = {}
        self.connection.on("datachannel", self.opened_by_peer)
        self.connection.on("connectionstatechange", lambda: say("state", state=self.connection.connectionState))

    def opened_by_peer(self, channel):
        self.watch(channel)
        say(
            "channel", label=channel.label, id=channel.id, protocol=channel.protocol, ordered=channel.ordered,
            maxRetransmits=channel.maxRetransmits, maxPacketLifeTime=channel.maxPacketLifeTime)

    def open(self, options):
        channel = self.connection.createDataChannel(**options)
        self.watch(channel)
        channel.on("open", lambda: say("open", label=channel.label, id=channel.id))

    def watch(self, channel):
        label = channel.label
        self.channels[label] = channel
        self.sent[label] = [0, hashlib.sha256()]
        self.received[label] = [0, hashlib.sha256()]

        @channel.on("message")
        def message(content):
            entry = self.received[label]
            entry[0] += 1
            entry[1].update(content.encode() if isinstance(content, str) else content)
            if not label.startswith("sink") and not self.sent[label][0]:
                channel.send(content)

        channel.on("close", lambda: say("closed", label=label))

    async def run(self, command):
        action = command["do"]
        for options in command.get("channels", []):
            self.open(options)
        if action == "offer":
            await self.connection.setLocalDescription(await self.connection.createOffer())
            say("offer", sdp=self.connection.localDescription.sdp)
        elif action == "answer":
            await self.connection.setRemoteDescription(RTCSessionDescription(command["sdp"], "answer"))
        elif action == "accept":
            await self.connection.setRemoteDescription(RTCSessionDescription(command["sdp"], "offer"))
            await self.connection.setLocalDescription(await self.connection.createAnswer())
            say("answer", sdp=self.connection.localDescription.sdp)
        elif action == "open":
            self.open(command["channel"])
        elif action == "send":
            for size in command["sizes"]:
                content = os.urandom(size)
                entry = self.sent[command["label"]]
                entry[0] += 1
                entry[1].update(content)
                self.channels[command["label"]].send(content)
        elif action == "close":
            self.channels[command["label"]].close()
        elif action == "report":
            label = command["label"]
            say(
                "report", label=label, sent=self.sent[label][0], sentHash=self.sent[label][1].hexdigest(),
                received=self.received[label][0], receivedHash=self.received[label][1].hexdigest())
        elif action == "end":
            await self.connection.close()


async def main():
    reader = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    peer = Peer()
    say("ready")
    while line := await reader.readline():
        command = json.loads(line)
        await peer.run(command)
        if command["do"] == "end":
            break


asyncio.run(main())
