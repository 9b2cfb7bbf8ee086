"""A WHEP viewer: a real one with aiortc, and offers without a peer."""

import asyncio
import secrets

import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]

SDP = {"Content-Type": "application/sdp"}


def offer(ufrag=None, candidates=()):
    """An offer with its own ICE user name, without a peer that could connect."""
    ufrag = ufrag or secrets.token_hex(4)
    lines = [
        "v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=group:BUNDLE 0", f"a=ice-ufrag:{ufrag}",
        f"a=ice-pwd:{secrets.token_hex(12)}", "a=fingerprint:sha-256 " + ":".join(["AB"] * 32), "a=setup:actpass",
        "m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:0", "a=recvonly", "a=rtcp-mux",
        "a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f",
    ]
    return "\r\n".join(lines + [f"a={candidate}" for candidate in candidates] + [""]).encode()


def dead_candidates(count):
    """Candidates with unused addresses for documentation (RFC 5737)."""
    return [f"candidate:{number} 1 udp {2_130_706_431 - number} 203.0.113.{number % 250 + 1} {20_000 + number} typ host"
            for number in range(count)]


class Viewer:
    """Counts the packets of the camera's picture."""

    def __init__(self, web, device):
        self.web, self.device = web, device
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.packets = 0
        self.place = None

    async def open(self, candidates=()):
        """Returns the answer to the offer."""
        transceiver = self.connection.addTransceiver("video", direction="recvonly")
        handle = transceiver.receiver._handle_rtp_packet

        async def count(packet, arrival_time_ms):
            self.packets += 1

        # Nothing is decoded, because decoding would take the daemon's processor time.
        transceiver.receiver._handle_rtp_packet = count
        await self.connection.setLocalDescription(await self.connection.createOffer())
        lines = self.connection.localDescription.sdp.split("\r\n")
        place = next(index for index, line in enumerate(lines) if line.startswith("a=candidate"))
        lines[place:place] = [f"a={candidate}" for candidate in candidates]
        answer = await self.web.ask("POST", f"/v1/devices/{self.device}/whep", "\r\n".join(lines).encode(), SDP)
        if answer.status == 201:
            self.place = answer.fields["location"]
            await self.connection.setRemoteDescription(RTCSessionDescription(answer.content.decode(), "answer"))
        return answer

    async def more(self, limit=60):
        """Waits until more packets arrive; returns false if none do."""
        before = self.packets
        for _ in range(limit * 10):
            if self.packets > before + 10:
                return True
            await asyncio.sleep(0.1)
        return False

    async def end(self, limit=30):
        """Waits until no more packets arrive; returns false if they continue."""
        for _ in range(limit):
            before = self.packets
            await asyncio.sleep(1)
            if self.packets == before:
                return True
        return False

    async def close(self):
        if self.place:
            await self.web.ask("DELETE", self.place)
        await self.connection.close()
