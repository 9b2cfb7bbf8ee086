"""Someone on the local network of a camera with `lan.listen`, and an account that may only view it."""

import asyncio
import contextlib
import json
import secrets
import ssl

from lan import LAN, Key
from link import Link
from roles.role import Role, Survived, at_once, attack, expect
from web import raw


class Neighbour(Role):
    async def prepare(self):
        self.camera = next(device["id"] for device in (await self.site.own("GET", "/v1/devices"))["devices"]
                           if device["name"] == "front")
        self.key = Key(self.site.folder)
        self.renewing = asyncio.Lock()
        await self.visitor()

    async def visitor(self):
        """An account that may view the camera, and its grant for our key."""
        await self.site.account("visitor")
        await self.site.bind("visitor")
        link = await Link(self.site, "u/visitor", (await self.site.token("visitor", "link"))["token"]).open()
        try:
            reply = await link.ask("lan.grant", {"device": self.camera, "key": self.key.fingerprint})
            assert reply.code == 0, reply
            self.grant = reply.result["token"]
        finally:
            link.close()

    def lan(self, key=None, source=0, device=None):
        return LAN(self.site, device or self.camera, key or self.key, self.sources[source])

    @contextlib.asynccontextmanager
    async def begun(self, source=0):
        # Others lose rights to the camera meanwhile, which ends all grants.
        for _ in range(5):
            lan = await self.lan(source=source).open()
            grant = self.grant
            reply = await lan.ask("lan.begin", {"grant": grant})
            if not reply or reply.code != 20010:
                break
            lan.close()
            # One at a time: another session of the account would replace the first one, which then gets no answer.
            async with self.renewing:
                if self.grant == grant:
                    await self.visitor()
        try:
            expect(reply and reply.code == 0, f"a good grant got {reply}")
            yield lan
        finally:
            lan.close()

    async def replies(self, exchange, source=0):
        """What `exchange(lan)` returns. A camera that begins a session at its hub ends connections with earlier grants:
        then it is done again."""
        for _ in range(5):
            async with self.begun(source) as lan:
                replies = await exchange(lan)
                if None not in replies:
                    return replies
        raise Survived("the camera ends each connection")

    async def is_served(self, source=1):
        """The camera answers a gateway with a good grant."""
        async def read(lan):
            return [await lan.ask("property.read", {"device": self.camera, "path": "ProReadonly.viewers.stVal"})]

        reply, = await self.replies(read, source)
        expect(reply.code == 0, f"a good request got {reply}")

    @attack("the local network: bytes")
    async def bytes_that_are_no_tls(self):
        for data in [b"", b"\x16\x03\x01\xff\xff", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 70_000, secrets.token_bytes(5_000)]:
            received = await raw(self.site, data, self.sources[2], port=self.site.lan)
            expect(len(received) < 100, f"{len(received)} bytes were answered")
        await self.is_served()

    @attack("the local network: keys")
    async def handshakes_without_a_key_or_a_device(self):
        """Without a certificate, and for a device that is not here: no answer, and the owner's camera stays reachable."""
        async def handshake(number):
            lan = LAN(self.site, self.camera if number % 2 else "0" * 32, None if number % 2 else self.key,
                      self.sources[number % 3])
            try:
                await lan.open()
                reply = await lan.ask("lan.begin", {"grant": self.grant})
                expect(reply is None, f"a caller without a key got {reply}")
            except (OSError, ssl.SSLError, asyncio.TimeoutError):
                pass
            finally:
                lan.close()

        await at_once(60, handshake, 20)
        await self.is_served()

    @attack("the local network: silence")
    async def silent_connections(self):
        """More than three addresses may have, and than fit: a gateway with a grant gets in, and all end."""
        async def silent(number):
            lan = self.lan(source=2 + number % 3)
            try:
                return await lan.open()
            except (OSError, asyncio.TimeoutError):
                return None

        lans = [lan for lan in await at_once(140, silent, 20) if lan]
        try:
            await self.is_served()
            ends = await asyncio.gather(*(lan.ends() for lan in lans))
            expect(all(ends), f"{ends.count(False)} silent connections stay")
        finally:
            for lan in lans:
                lan.close()

    @attack("the local network: the first message")
    async def wrong_beginnings(self):
        """Each gets one refusal or none, and its connection ends."""
        other = Key(self.site.folder)
        head, body, tail = self.grant.split(".")
        begin = [
            (self.key, LAN.request("property.read", {"device": self.camera, "path": ""}), 20006),
            (other, LAN.request("lan.begin", {"grant": self.grant}), 20010),
            (self.key, LAN.request("lan.begin", {"grant": f"{head}.{body}.{tail[::-1]}"}), 20010),
            (self.key, LAN.request("lan.begin", {"grant": "a.b.c"}), 8002),
            (self.key, LAN.request("lan.begin", {"grant": "x" * 100_000}), None),
            (self.key, b"[" * 8_000, None),
            (self.key, b'{"method":"x","params":{},"t":0}', None),
            (self.key, json.dumps({"id": "1", "code": 0, "message": "", "result": {}, "final": True}).encode(), 0),
        ]
        for key, message, code in begin:
            lan = await self.lan(key).open()
            try:
                await lan.send(message)
                if code != 0:
                    reply = await lan.receive()
                    seen = reply.code if reply else None
                    expect(seen == code, f"{message[:80]} got {reply}, not {code}")
                expect(await lan.ends(), f"the connection stays after {message[:80]}")
            finally:
                lan.close()
        await self.is_served()

    @attack("the local network: floods")
    async def floods_of_a_visitor(self):
        """One account's requests are refused beyond its rate; another connection is served meanwhile."""
        async def flood(lan):
            async def send():
                with contextlib.suppress(OSError):
                    for _ in range(400):
                        await lan.send(LAN.request("property.read", {"device": self.camera, "path": ""}))

            async def receive():
                return [await lan.receive() for _ in range(400)]

            return (await asyncio.gather(receive(), send(), self.is_served()))[0]

        codes = {reply.code for reply in await self.replies(flood)}
        expect(codes == {0, 25024}, f"a flood got {codes}")

    @attack("the local network: answers that nobody reads")
    async def requests_without_reading(self):
        """Another connection is served meanwhile."""
        async def flood(lan):
            # `drain` does not wait while there is space, and not after the connection's end.
            while not lan.writer.is_closing():
                await lan.send(LAN.request("property.read", {"device": self.camera, "path": ""}))
                await asyncio.sleep(0)

        async def once(number):
            async with self.begun(number % 2) as lan:
                with contextlib.suppress(OSError, asyncio.TimeoutError):
                    await asyncio.wait_for(flood(lan), 3)

        await asyncio.gather(*(once(number) for number in range(3)), self.is_served(2))

    @attack("the local network: rights")
    async def more_than_the_grant(self):
        """What the account may not do, and what only the hub does."""
        device = {"device": self.camera}
        requests = [
            ("property.write", {**device, "path": "ProWritable.rotation.setVal", "value": 90}, {8003}),
            ("action.take", {**device, "path": "Action.cameraOn", "value": 0}, {8003}),
            ("lan.begin", {"grant": self.grant}, {20016}),
            ("device.lanPassword", {**device, "newPassword": "owned"}, {20016}),
            ("model.carryOut", {"path": "Action.cameraOn", "value": 0}, {20016}),
            ("call.control", {"session": "of-somebody", "command": {}}, {20014, 8002, 20003, 25001}),
            ("call.end", {"peer": "u/owner", "session": "of-somebody"}, None),
        ]

        async def ask(lan):
            return [await lan.ask(method, params) for method, params, _ in requests]

        for (method, _, codes), reply in zip(requests, await self.replies(ask)):
            expect(reply.code != 0 and (codes is None or reply.code in codes), f"{method} got {reply}")

    @attack("the local network: messages")
    async def damaged_messages(self):
        """Each ends the connection, and nothing else."""
        for message in [b"", b"{", b"\xff" * 100, b"[" * 200_000, b'{"a":' * 50_000, json.dumps({"id": "é" * 200}).encode()]:
            async with self.begun() as lan:
                await lan.send(message)
                expect(await lan.ends(), f"the connection stays after {message[:40]}")
        async with self.begun() as lan:
            lan.writer.write(b"\x00\x10\x00\x00" + b"a" * 200_000)
            expect(await lan.ends(), "the connection stays after a message that is too large")
        await self.is_served()

    @attack("the local network: withdrawal")
    async def after_a_withdrawal(self):
        """The connection ends when the right does, and the grant is refused."""
        async with self.begun() as lan:
            await self.site.own("DELETE", "/v1/devices/front/bindings/visitor")
            expect(await lan.ends(), "the connection stays after its right has ended")
        lan = await self.lan().open()
        try:
            reply = await lan.ask("lan.begin", {"grant": self.grant})
            expect(reply and reply.code == 20010, f"a withdrawn grant got {reply}")
        finally:
            lan.close()
        await self.visitor()
        await self.is_served()
