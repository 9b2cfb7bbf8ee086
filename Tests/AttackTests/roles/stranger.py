"""Someone who can reach the ports, without any account."""

import asyncio
import base64
import json
import secrets
import socket
import ssl

from mqtt import MQTT, Refused
from roles.role import Role, at_once, attack, expect, refused
from rtsp import RTSP
from watch import SDP, offer
from web import PATIENCE, Web, raw

MARK = "\u0301".encode()


def head(*lines):
    return b"\r\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\r\n\r\n"


def junk_token():
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    claims = {"jti": secrets.token_hex(16), "sub": "u/owner", "kind": "api", "iat": 1, "exp": 4_000_000_000}
    return f"{part(json.dumps({'alg': 'EdDSA', 'typ': 'JWT'}).encode())}.{part(json.dumps(claims).encode())}." \
        + part(secrets.token_bytes(64))


class Stranger(Role):
    async def prepare(self):
        self.good, _ = await self.site.guest("neighbour", self.sources[9])

    async def status(self, data, source=0):
        """The status of the answer to these bytes; 0 if the connection is closed without an answer."""
        received = await raw(self.site, data, self.sources[source])
        return int(received.split(b" ")[1]) if received.startswith(b"HTTP/") else 0

    @attack("2")
    async def combining_marks_before_anybody_is_known(self):
        """Heads that once took seconds: all get 400 immediately, and others are answered in the meantime."""
        run = MARK * 7_000
        heads = [
            head("GET /v1/devices HTTP/1.1", b"Host: a" + run),
            head("GET /v1/devices HTTP/1.1", "Host: localhost", b"Origin: http://a" + run),
            head("GET /v1/devices HTTP/1.1", "Host: localhost", b"Authorization: Bearer " + run),
            head(b"GET /v1/devices?path=" + run + b" HTTP/1.1", "Host: localhost"),
            head("GET /v1/devices HTTP/1.1", "Host: localhost", b"X-" + run + b": 1"),
        ]
        statuses = await at_once(len(heads) * 4, lambda number: self.status(heads[number % len(heads)], number % 9))
        expect(all(status in (400, 431) for status in statuses), f"heads of combining marks got {set(statuses)}")

    @attack("low: two hosts, transfer codings")
    async def damaged_heads(self):
        for words, data, status in [
            ("two hosts", head("GET /v1/devices HTTP/1.1", "Host: localhost", "Host: evil.example"), 400),
            ("no host", head("GET /v1/devices HTTP/1.1"), 400),
            ("xchunked", head("POST /v1/tokens HTTP/1.1", "Host: localhost", "Transfer-Encoding: xchunked"), 400),
            ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + b"\r\n\r\n", 400),
            ("another name", head("GET /v1/devices HTTP/1.1", "Host: evil.example"), 403),
            ("another page", head("GET /v1/devices HTTP/1.1", "Host: localhost", "Origin: https://evil.example"), 403),
            ("a head too large", head("GET / HTTP/1.1", "Host: localhost", "X: " + "a" * 60_000), 431),
        ]:
            seen = await self.status(data)
            expect(seen in (status, 400), f"{words}: {seen}, not {status}")

    @attack("9")
    async def junk_tokens(self):
        """Tokens that the hub has not signed; a valid token is accepted in the meantime."""
        async def junk(number):
            web = self.web(junk_token(), number % 8)
            try:
                return await web.ask("GET", "/v1/devices")
            finally:
                web.close()

        async def good():
            return [await self.good.ask("GET", "/v1/devices") for _ in range(20)]

        answers, passed = await asyncio.gather(at_once(400, junk, 40), good())
        for answer in answers:
            refused(answer, 25004, 25024)
        expect(all(answer.code == 0 for answer in passed), f"a valid token was refused: {passed}")

    @attack("medium: audit")
    async def refusals_for_the_audit(self):
        async def refusal(number):
            web = self.web(junk_token(), number % 8)
            try:
                for _ in range(25):
                    refused(await web.ask("DELETE", f"/v1/users/owner?{'x' * 400}"), 25004, 25001, 25024)
            finally:
                web.close()

        await at_once(40, refusal, 10)

    @attack("medium: silent connections at the API")
    async def silent_connections_at_the_api(self):
        """More connections than the listener accepts, from three addresses, and a newcomer gets in; all end later."""
        async def silent(number):
            return await asyncio.open_connection(
                "127.0.0.1", self.site.port, local_addr=(self.sources[number % 3], 0))

        async def end(pair):
            try:
                return await asyncio.wait_for(pair[0].read(1), PATIENCE) == b""
            except asyncio.TimeoutError:
                return False
            except OSError:
                return True

        pairs = await at_once(600, silent, 50)
        try:
            answer = await self.web(source=5).ask("GET", "/healthz")
            expect(answer.status == 200, f"a newcomer got {answer}")
            answer = await self.good.ask("GET", "/v1/devices")
            expect(answer.status == 200, f"a valid token got {answer}")
            ends = await asyncio.gather(*(end(pair) for pair in pairs))
            expect(all(ends), f"{ends.count(False)} silent connections stay")
        finally:
            for _, writer in pairs:
                writer.close()

    @attack("medium: slow heads")
    async def slow_head(self):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.site.port, local_addr=(self.sources[4], 0))
        try:
            for _ in range(PATIENCE):
                writer.write(b"X-A: 1\r\n" if _ else b"GET / HTTP/1.1\r\nHost: localhost\r\n")
                await writer.drain()
                try:
                    if await asyncio.wait_for(reader.read(1), 1) == b"":
                        return
                except asyncio.TimeoutError:
                    pass
            expect(False, "the listener waits for a head that sends a line a second")
        except OSError:
            pass
        finally:
            writer.close()

    @attack("medium: silent connections at the broker")
    async def silent_connections_at_the_broker(self):
        """They fill the listener for other machines; connections from this machine still work."""
        before = (await self.site.own("GET", "/v1/status"))["link"]

        def silent():
            other = socket.socket()
            other.bind((self.sources[5], 0))
            other.connect(("127.0.0.1", self.site.broker))
            return other

        others = [silent() for _ in range(1_100)]
        try:
            for _ in range(5):
                after = (await self.site.own("GET", "/v1/status"))["link"]
                expect(after["status"] == 1 and after["since"] == before["since"], f"the gateway's link was {after}")
                devices = (await self.site.own("GET", "/v1/devices"))["devices"]
                front = next(device for device in devices if device["name"] == "front")
                expect(front["online"], "the camera is offline")
                await asyncio.sleep(0.3)
        finally:
            for other in others:
                other.close()

    @attack("6")
    async def guesses_at_the_broker(self):
        """Existing user names, and possible client ids; none is accepted."""
        async def guess(number):
            user = ["hub", "owner", "u/owner", secrets.token_hex(16)][number % 4]
            try:
                await MQTT().connect(
                    self.site.broker, self.site.tls, user, junk_token(), ["hub", "u-owner", user][number % 3],
                    source=self.sources[6])
                return None
            except Refused as error:
                return error.code
            except (OSError, ssl.SSLError, asyncio.IncompleteReadError, asyncio.TimeoutError):
                return "closed"

        codes = await at_once(40, guess, 10)
        expect(set(codes) <= {4, 5, "closed"}, f"the broker answered {set(codes)}")

    @attack("unauthenticated calls")
    async def routes_without_a_token(self):
        web = self.web(source=7)
        for method, path, body in [
            ("GET", "/v1/devices", None), ("POST", "/v1/tokens", {"kind": "api", "ttlSeconds": 60}),
            ("GET", "/metrics", None), ("GET", "/v1/events", None), ("DELETE", "/v1/users/owner", None),
        ]:
            refused(await web.ask(method, path, body), 25004)
        refused(await web.ask("POST", "/v1/devices/front/whep", offer(), SDP), 25004)
        web.close()

    # RTSP

    @attack("RTSP: floods before the login")
    async def rtsp_requests_without_a_login(self):
        """A connection without a login is closed after 20 requests."""
        async def flood(number):
            async with RTSP(self.site.rtsp, source=self.sources[number % 9]) as player:
                statuses = []
                for method in ["OPTIONS", "DESCRIBE", "SETUP", "ANNOUNCE", "PLAY"] * 8:
                    statuses.append(await player.ask(method, "front"))
                    if statuses[-1] in (0, 503):
                        break
                return statuses, await player.is_closed()

        for statuses, is_closed in await at_once(80, flood, 40):
            expect(is_closed and len(statuses) <= 21, f"{len(statuses)} requests without a login were answered")
            expect(set(statuses) <= {200, 401, 405, 503, 0}, f"a stranger got {set(statuses)}")

    @attack("RTSP: wrong digests")
    async def rtsp_guesses(self):
        """The fourth wrong digest of a connection ends it, after growing pauses."""
        async def guess(number):
            key = secrets.token_hex(5) + secrets.token_urlsafe(16)
            async with RTSP(self.site.rtsp, key=key, source=self.sources[number % 9]) as player:
                statuses = [await player.ask("DESCRIBE", "front") for _ in range(7)]
                return statuses, await player.is_closed()

        for statuses, is_closed in await at_once(20, guess, 20):
            expect(set(statuses) <= {401, 503, 0}, f"a guess got {set(statuses)}")
            expect(is_closed and statuses.count(401) <= 5, f"{statuses.count(401)} guesses of a connection were answered")

    @attack("RTSP: slow requests", is_long=True)
    async def rtsp_slow_request(self):
        async with RTSP(self.site.rtsp, source=self.sources[4]) as player:
            for _ in range(15):
                player.writer.write(b"OPTIONS * RTSP/1.0\r\n" if not _ else b"X-A: 1\r\n")
                await player.writer.drain()
                if await player.is_closed(1):
                    return
            expect(False, "a request of one line per second keeps its connection open")

    @attack("RTSP: silent connections", is_long=True)
    async def rtsp_silent_connections(self):
        """Silent connections fill the listener. A new client is still answered, and the silent ones are closed."""
        async def silent(number):
            return await asyncio.open_connection(
                "127.0.0.1", self.site.rtsp, local_addr=(self.sources[number % 3], 0))

        pairs = await at_once(600, silent, 50)
        try:
            async with RTSP(self.site.rtsp, source=self.sources[5]) as player:
                expect(await player.ask("OPTIONS", "front") == 200, "a newcomer is not answered")
            await asyncio.sleep(32)
            ends = [reader.at_eof() or await asyncio.wait_for(reader.read(1), 2) == b"" for reader, _ in pairs]
            expect(all(ends), f"{ends.count(False)} silent connections stay open")
        finally:
            for _, writer in pairs:
                writer.close()

    @attack("RTSP: bytes of another protocol", is_long=True)
    async def rtsp_damaged_requests(self):
        for words, data in [
            ("HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"),
            ("a line without an end", b"DESCRIBE " + b"a" * 70_000), ("many fields", b"OPTIONS * RTSP/1.0\r\n" + b"a: b\r\n" * 70),
            ("a huge body", b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 1000000000\r\n\r\n"),
            ("line feeds", b"OPTIONS * RTSP/1.0\nCSeq: 1\n\n"), ("marks", b"OPTIONS rtsp://h/" + MARK * 5_000 + b" RTSP/1.0\r\n\r\n"),
        ]:
            async with RTSP(self.site.rtsp, source=self.sources[6]) as player:
                try:
                    player.writer.write(data)
                    await player.writer.drain()
                except ConnectionError:
                    continue
                expect(await player.is_closed(15), f"a connection stays open after {words}")

    @attack("datagrams")
    async def datagrams_at_the_media_ports(self):
        """Packets that do not belong to a negotiated peer."""
        ports = {int(fields.split()[5]) for fields in (await self.answer()).splitlines() if fields.startswith("a=candidate")}
        expect(bool(ports), "the camera's answer has no port")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.bind((self.sources[8], 0))
            for number in range(3_000):
                start = [b"\x00\x01", b"\x16\xfe\xfd", b"\x80\x60", b"\x40\x00"][number % 4]
                rest = self.random.randbytes(self.random.randint(0, 1_200))
                if number % 4 == 0:
                    # A binding request with a user name of combining marks (RFC 8489 §14.3).
                    name = MARK * 200
                    rest = (4 + len(name)).to_bytes(2, "big") + b"\x21\x12\xa4\x42" + secrets.token_bytes(12) \
                        + b"\x00\x06" + len(name).to_bytes(2, "big") + name
                for port in ports:
                    sender.sendto(start + rest, ("127.0.0.1", port))
                if number % 100 == 0:
                    await asyncio.sleep(0.01)
        await self.answer()

    async def answer(self):
        """The camera's answer to the owner's offer."""
        reply = await self.owner_call()
        return reply.content.decode()

    async def owner_call(self):
        web = Web(socket_path=self.site.socket)
        try:
            reply = await web.ask("POST", "/v1/devices/front/whep", offer(), SDP)
            expect(reply.status == 201, f"the owner's call: {reply}")
            await web.ask("DELETE", reply.fields["location"])
            return reply
        finally:
            web.close()
