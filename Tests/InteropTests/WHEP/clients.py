"""aiortc watches a camera of a real daemon by WHEP, and decodes the pictures.

Each picture contains its number (clip.py). No picture may be shown twice or out of order, and all of the camera's
pictures must arrive: also for a client that asks for a key frame every 2 s without need, like MediaMTX and other Pion
clients, and for one that has lost packets.
"""

import asyncio
import random
import sys
import tempfile
import time

import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

import clip
from daemon import Daemon
from runner import Runner

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]

SECONDS = 20
# By then a client has caught up with the live edge.
START = 3


class Client:
    """One call. `loss`: the share of media packets that it drops; `repairs`: whether it asks for retransmissions."""

    def __init__(self, daemon, loss=0.0, repairs=True, requests_key_frames=False):
        self.daemon = daemon
        self.loss = loss
        self.repairs = repairs
        self.requests_key_frames = requests_key_frames
        self.random = random.Random(7)
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connection.on("track", self.add)
        self.pictures = []  # (number, pts, time)
        self.damaged = 0
        self.is_whole = False
        self.frames = {}  # RTP time to the time of its first packet
        self.packets = self.dropped = self.requests = 0
        self.started = time.monotonic()
        self.ssrc = None
        self.tasks = []

    def add(self, track):
        if track.kind == "video":
            self.tasks.append(asyncio.ensure_future(self.take(track)))

    async def take(self, track):
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            plane = frame.planes[0]
            number = clip.number(bytes(plane), plane.line_size)
            # After a gap a decoder still shows pictures, which are damaged until the next key frame.
            follows = self.is_whole and (number - self.pictures[-1][0]) % clip.COUNT == 1 if number is not None else False
            self.is_whole = number is not None and (frame.key_frame or follows)
            if self.is_whole:
                self.pictures.append((number, frame.pts, time.monotonic()))
            else:
                self.damaged += 1

    def watch_packets(self, receiver):
        """Sees each packet before aiortc's receiver does."""
        handle = receiver._handle_rtp_packet

        async def handle_rtp_packet(packet, arrival_time_ms):
            if self.random.random() < self.loss:
                self.dropped += 1
                return
            self.packets += 1
            # Retransmissions have another SSRC.
            if self.ssrc in (None, packet.ssrc):
                self.ssrc = packet.ssrc
                self.frames.setdefault(packet.timestamp, time.monotonic())
            await handle(packet, arrival_time_ms)

        receiver._handle_rtp_packet = handle_rtp_packet
        if not self.repairs:
            async def nothing(*_):
                pass
            receiver._send_rtcp_nack = nothing

    async def request_key_frames(self, receiver):
        while True:
            await asyncio.sleep(2)
            if self.ssrc is not None:
                await receiver._send_rtcp_pli(self.ssrc)
                self.requests += 1

    async def run(self, seconds):
        transceiver = self.connection.addTransceiver("video", direction="recvonly")
        self.connection.addTransceiver("audio", direction="recvonly")
        self.watch_packets(transceiver.receiver)
        await self.connection.setLocalDescription(await self.connection.createOffer())
        offer = self.connection.localDescription.sdp.encode()
        self.started = time.monotonic()
        status, answer, headers = await asyncio.to_thread(
            self.daemon.request, "POST", "/v1/devices/numbers/whep", offer, Content_Type="application/sdp")
        assert status == 201, (status, answer)
        await self.connection.setRemoteDescription(RTCSessionDescription(answer.decode(), "answer"))
        if self.requests_key_frames:
            self.tasks.append(asyncio.ensure_future(self.request_key_frames(transceiver.receiver)))
        await asyncio.sleep(seconds)
        for task in self.tasks:
            task.cancel()
        await asyncio.to_thread(self.daemon.request, "DELETE", headers["Location"])
        await self.connection.close()

    # Results

    def check_order(self):
        """No picture is shown twice or before an earlier one."""
        numbers = [number for number, _, _ in self.pictures]
        times = [pts for _, pts, _ in self.pictures]
        back = []
        for index, step in enumerate(clip.steps(numbers)):
            # The numbers repeat every 40 s, so after a long gap the presentation times show how often; a decoder that
            # lost pictures may give one the time of another, some pictures away.
            elapsed = round((times[index + 1] - times[index]) * 30 / 90000)
            far = (step - elapsed + clip.COUNT // 2) % clip.COUNT - clip.COUNT // 2
            if abs(far) > 15 or (elapsed < clip.GROUP - 2 and not 1 <= step < clip.GROUP):
                back.append((index, step, elapsed))
        assert not back, f"{len(back)} of {len(numbers)} pictures twice or backwards: {back[:8]}"
        assert all(before < after for before, after in zip(times, times[1:])), "presentation times run backwards"

    def after_start(self, times):
        """The number of times a second, after the live edge is reached."""
        end = self.started + SECONDS
        return sum(1 for at in times if self.started + START <= at < end) / (SECONDS - START)

    def summary(self):
        first = self.pictures[0][2] - self.started if self.pictures else float("nan")
        numbers = [number for number, _, _ in self.pictures]
        missing = sum(step - 1 for step in clip.steps(numbers) if step < clip.GROUP)
        return (f"first picture {first:.2f} s, {len(self.pictures)} decoded, {self.damaged} damaged, {missing} left out, "
                f"{self.after_start(at for _, _, at in self.pictures):.1f} a second, "
                f"{self.after_start(self.frames.values()):.1f} frames a second received, {self.packets} packets, "
                f"{self.dropped} lost, {self.requests} requests for a key frame")


async def watch(daemon, **options):
    client = Client(daemon, **options)
    await client.run(SECONDS)
    print(" ", client.summary())
    # The camera produces 30 a second, and each is sent once.
    received = client.after_start(client.frames.values())
    assert 28.5 < received < 31.5 or client.loss, f"{received} frames a second"
    assert received < 31.5, f"{received} frames a second"
    times = list(client.frames)
    assert all((after - before) % 2**32 < 2**31 for before, after in zip(times, times[1:])), "RTP times run backwards"
    return client


async def test_plain(daemon):
    """A client without requests decodes every picture from the first one on."""
    client = await watch(daemon)
    client.check_order()
    assert client.after_start(at for _, _, at in client.pictures) > 28.5 and client.damaged == 0
    assert client.pictures[0][2] - client.started < 2


async def test_requests(daemon):
    """A client that asks for a key frame every 2 s without loss gets every picture once."""
    client = await watch(daemon, requests_key_frames=True)
    client.check_order()
    assert client.requests >= SECONDS / 2 - 2
    assert client.after_start(at for _, _, at in client.pictures) > 28.5 and client.damaged == 0


async def test_repaired_loss(daemon):
    """With 3 % loss and repairs the pictures continue in order; aiortc asks for each packet only once."""
    client = await watch(daemon, requests_key_frames=True, loss=0.03)
    client.check_order()
    assert client.dropped > 50 and len(client.pictures) > 60


async def test_loss(daemon):
    """With 1 % loss and no repairs each packet is still sent once: the next key frame ends the damage."""
    client = await watch(daemon, requests_key_frames=True, loss=0.01, repairs=False)
    client.check_order()
    assert client.dropped > 20
    assert client.after_start(client.frames.values()) > 25


async def call(daemon):
    """The time until the answer."""
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    connection.addTransceiver("video", direction="recvonly")
    await connection.setLocalDescription(await connection.createOffer())
    started = time.monotonic()
    status, answer, headers = await asyncio.to_thread(
        daemon.request, "POST", "/v1/devices/numbers/whep", connection.localDescription.sdp.encode(),
        Content_Type="application/sdp")
    took = time.monotonic() - started
    assert status == 201, (status, answer)
    await asyncio.to_thread(daemon.request, "DELETE", headers["Location"])
    await connection.close()
    return took


def test_silent_server(path):
    """An ICE server that does not answer delays only the first call."""
    with tempfile.TemporaryDirectory() as folder:
        # An unused address for documentation (RFC 5737).
        daemon = Daemon(folder, {"numbers": path}, media="media: {iceServers: ['stun:192.0.2.1']}\n")
        try:
            times = [asyncio.run(call(daemon)) for _ in range(4)]
            print(f"  answered after {', '.join(f'{took:.2f} s' for took in times)}")
            assert max(times[1:]) < 1, times
            daemon.stop()
        finally:
            if daemon.process.poll() is None:
                daemon.process.kill()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "numbers.mp4")
        clip.make(path)
        with Runner(Daemon(folder, {"numbers": path})) as runner:
            runner.run(
                [test_plain, test_requests, test_repaired_loss, test_loss],
                lambda test: asyncio.run(test(runner.daemon)))
            runner.run([test_silent_server], lambda test: test(path))


if __name__ == "__main__":
    main()
