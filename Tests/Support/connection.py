"""A small HTTP client for the load tests."""

import asyncio
import json


class Connection:
    """HTTP/1.1 over one connection at a time, to a Unix socket or a TCP port."""

    def __init__(self, socket_path=None, port=None, token=None, source=None):
        """`source`: this machine's address from which it connects."""
        self.place, self.port, self.token, self.source = socket_path, port, token, source
        self.reader = self.writer = None

    async def open(self):
        if self.place:
            self.reader, self.writer = await asyncio.open_unix_connection(self.place)
        else:
            local = (self.source, 0) if self.source else None
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=local)

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None

    async def start(self, method, path, body=None, headers=None):
        """Sends a request and returns the status and the header fields of its answer."""
        if not self.writer:
            await self.open()
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: localhost"]
        if self.token:
            lines.append("Authorization: Bearer " + self.token)
        lines += ["%s: %s" % item for item in (headers or {}).items()]
        content = b""
        if body is not None:
            # Bytes are sent unchanged, with the type in `headers`.
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            if not isinstance(body, bytes):
                lines.append("Content-Type: application/json")
            lines.append("Content-Length: %d" % len(content))
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + content)
        await self.writer.drain()
        line = await self.reader.readline()
        if not line:
            raise ConnectionError("the connection ended")
        fields = {}
        while True:
            text = (await self.reader.readline()).decode().strip()
            if not text:
                return int(line.split()[1]), fields
            name, _, value = text.partition(":")
            fields[name.lower()] = value.strip()

    async def body(self, fields):
        if "content-length" in fields:
            return await self.reader.readexactly(int(fields["content-length"]))
        content = b""
        async for part in self.chunks():
            content += part
        return content

    async def chunks(self):
        while True:
            line = await self.reader.readline()
            if not line:
                raise ConnectionError("the body was broken off")
            size = int(line.strip() or b"0", 16)
            part = await self.reader.readexactly(size + 2)
            if size == 0:
                return
            yield part[:-2]

    async def request(self, method, path, body=None, headers=None):
        """A complete exchange; repeated once if an idle connection was closed in the meantime."""
        fresh = self.writer is None
        try:
            status, fields = await self.start(method, path, body, headers)
        except OSError:
            self.close()
            if fresh:
                raise
            status, fields = await self.start(method, path, body, headers)
        content = await self.body(fields)
        if fields.get("connection", "").lower() == "close":
            self.close()
        return status, json.loads(content) if content[:1] in b"{[" and content else {}
