"""An MQTT 3.1.1 client (OASIS, 2014) that also sends invalid packets."""

import asyncio
import ssl
import struct


class Refused(Exception):
    """CONNACK with a code."""

    def __init__(self, code):
        super().__init__(f"CONNACK {code}")
        self.code = code


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">H", len(data)) + data


def packet(first, body):
    size, length = len(body), b""
    while True:
        digit, size = size % 128, size // 128
        length += bytes([digit | (0x80 if size else 0)])
        if not size:
            return bytes([first]) + length + body


def tls(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(authority)
    # The hub's own authority is sufficient (docs/link.md, TLS).
    context.check_hostname = False
    return context


class MQTT:
    def __init__(self):
        self.reader = self.writer = self.task = None
        self.received = None
        self.waiting = {}
        self.next = 0
        self.ended = asyncio.Event()

    async def connect(self, port, context, user, password, client_id, source=None, will=None, clean=True):
        local = (source, 0) if source else None
        # A slow reader also has a small buffer in the kernel.
        self.reader, self.writer = await asyncio.wait_for(
            asyncio.open_connection("127.0.0.1", port, ssl=context, local_addr=local, limit=1 << 20), 30)
        flags = 0xC0 | (0x02 if clean else 0) | (0x04 | 0x08 if will else 0)
        body = text("MQTT") + bytes([4, flags]) + struct.pack(">H", 60) + text(client_id)
        if will:
            body += text(will[0]) + text(will[1])
        body += text(user) + text(password)
        self.writer.write(packet(0x10, body))
        await self.writer.drain()
        kind, content = await asyncio.wait_for(self.read(), 30)
        if kind >> 4 != 2 or content[1]:
            self.close()
            raise Refused(content[1] if kind >> 4 == 2 else -1)
        self.task = asyncio.ensure_future(self.pump())
        return self

    async def read(self):
        kind = (await self.reader.readexactly(1))[0]
        size, shift = 0, 0
        while True:
            digit = (await self.reader.readexactly(1))[0]
            size |= (digit & 0x7F) << shift
            shift += 7
            if not digit & 0x80:
                return kind, await self.reader.readexactly(size)

    async def pump(self):
        try:
            while True:
                kind, content = await self.read()
                if kind >> 4 == 3:
                    size = struct.unpack(">H", content[:2])[0]
                    rest = content[2 + size:]
                    if kind & 0x06:
                        self.writer.write(packet(0x40, rest[:2]))
                        rest = rest[2:]
                    if self.received:
                        self.received(content[2:2 + size].decode(), rest)
                elif kind >> 4 in (4, 5, 9):
                    waiter = self.waiting.pop(struct.unpack(">H", content[:2])[0], None)
                    if waiter and not waiter.done():
                        waiter.set_result(content[2:])
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self.ended.set()
            for waiter in self.waiting.values():
                if not waiter.done():
                    waiter.cancel()

    def number(self):
        self.next = self.next % 65_535 + 1
        waiter = asyncio.get_running_loop().create_future()
        self.waiting[self.next] = waiter
        return self.next, waiter

    async def publish(self, topic, payload, qos=1, retain=False, wait=True):
        """Returns whether the broker acknowledged the message."""
        first = 0x30 | qos << 1 | int(retain)
        number, waiter = self.number() if qos else (0, None)
        body = text(topic) + (struct.pack(">H", number) if qos else b"")
        body += payload if isinstance(payload, bytes) else payload.encode()
        self.writer.write(packet(first, body))
        await asyncio.wait_for(self.writer.drain(), 60)
        if not wait or not waiter:
            return True
        try:
            await asyncio.wait_for(waiter, 60)
            return True
        except asyncio.CancelledError:
            return False

    async def subscribe(self, topic, qos=1):
        """Returns the granted QoS: 0x80 is a refusal, None the end of the connection."""
        number, waiter = self.number()
        self.writer.write(packet(0x82, struct.pack(">H", number) + text(topic) + bytes([qos])))
        try:
            return (await asyncio.wait_for(waiter, 60))[0]
        except asyncio.CancelledError:
            return None

    def stop_reading(self):
        """From now on the broker must queue this client's messages."""
        self.task.cancel()
        self.writer.transport.pause_reading()

    def close(self):
        if self.task:
            self.task.cancel()
        if self.writer:
            self.writer.transport.abort()
