"""A WebRTC peer with aiortc that sends a moving picture and a tone, and decodes what it receives. JSON lines on
standard input control it; it prints events as JSON lines. It uses only the loopback interface.

In:  {"do": "offer"}  makes an offer      {"do": "answer", "sdp": …}  takes its answer
     {"do": "accept", "sdp": …}  answers an offer
     {"do": "report"}      {"do": "end"}
"""
import asyncio
import json
import sys

import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, VideoStreamTrack
from av import VideoFrame

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
WIDTH, HEIGHT = 320, 240


def say(what, **more):
    print(json.dumps({"event": what, **more}), flush=True)


class MovingPicture(VideoStreamTrack):
    """Stripes that move a pixel a frame."""

    async def recv(self):
        pts, time_base = await self.next_timestamp()
        frame = VideoFrame(width=WIDTH, height=HEIGHT, format="yuv420p")
        shift = pts // 3000
        for index, plane in enumerate(frame.planes):
            row = bytes(((x + shift) * 8) % 256 for x in range(plane.line_size))
            plane.update(row * (plane.buffer_size // plane.line_size))
        frame.pts, frame.time_base = pts, time_base
        return frame


class Peer:
    def __init__(self):
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.received = {"audio": 0, "video": 0}
        self.format = {}
        self.tasks = []
        self.connection.on("track", lambda track: self.tasks.append(asyncio.ensure_future(self.take(track))))
        self.connection.on("connectionstatechange", lambda: say("state", state=self.connection.connectionState))

    async def take(self, track):
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:  # the end
                return
            self.received[track.kind] += 1
            self.format[track.kind] = [frame.width, frame.height] if track.kind == "video" else [frame.sample_rate]

    async def run(self, command):
        connection, action = self.connection, command["do"]
        if action == "offer":
            connection.addTrack(AudioStreamTrack())
            connection.addTrack(MovingPicture())
            await connection.setLocalDescription(await connection.createOffer())
            say("offer", sdp=connection.localDescription.sdp)
        elif action == "answer":
            await connection.setRemoteDescription(RTCSessionDescription(command["sdp"], "answer"))
        elif action == "accept":
            await connection.setRemoteDescription(RTCSessionDescription(command["sdp"], "offer"))
            connection.addTrack(AudioStreamTrack())
            connection.addTrack(MovingPicture())
            await connection.setLocalDescription(await connection.createAnswer())
            say("answer", sdp=connection.localDescription.sdp)
        elif action == "report":
            say("report", received=self.received, format=self.format)
        elif action == "end":
            await connection.close()


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
