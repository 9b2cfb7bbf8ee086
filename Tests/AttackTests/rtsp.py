"""A minimal RTSP player, which sends any request, with MD5 digests."""

import asyncio
import hashlib
import re

from web import PATIENCE


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


class RTSP:
    def __init__(self, port, key=None, source=None):
        """`key`: a media key, or a text of the same form."""
        self.port, self.key, self.source = port, key, source
        self.count, self.nonce, self.session = 0, None, None

    async def __aenter__(self):
        local = (self.source, 0) if self.source else None
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=local)
        return self

    async def __aexit__(self, *_):
        self.writer.close()

    def uri(self, path):
        return f"rtsp://127.0.0.1:{self.port}/{path}"

    def request(self, method, path, **fields):
        self.count += 1
        lines = [f"{method} {self.uri(path)} RTSP/1.0", f"CSeq: {self.count}"]
        lines += [f"{name}: {value}" for name, value in fields.items()]
        if self.session:
            lines.append(f"Session: {self.session}")
        if self.nonce:
            user, uri = self.key[:10], self.uri(path)
            ha1, ha2 = md5(f"{user}:iotvideod:{self.key}"), md5(f"{method}:{uri}")
            response = md5(f"{ha1}:{self.nonce}:{self.count:08x}:c:auth:{ha2}")
            lines.append(
                f'Authorization: Digest username="{user}", realm="iotvideod", nonce="{self.nonce}", uri="{uri}", '
                f'algorithm=MD5, qop=auth, nc={self.count:08x}, cnonce="c", response="{response}"')
        return "\r\n".join(lines + ["", ""]).encode()

    async def ask(self, method, path, **fields):
        """The status; 0 if the connection is closed instead."""
        try:
            self.writer.write(self.request(method, path, **fields))
            await self.writer.drain()
            return await asyncio.wait_for(self.response(), PATIENCE)
        except (ConnectionError, asyncio.IncompleteReadError):
            return 0

    async def response(self):
        while (first := await self.reader.readexactly(1)) == b"$":
            _, size = await self.reader.readexactly(1), int.from_bytes(await self.reader.readexactly(2), "big")
            await self.reader.readexactly(size)
        head = (first + await self.reader.readuntil(b"\r\n\r\n")).decode()
        if length := re.search(r"(?im)^content-length: (\d+)", head):
            await self.reader.readexactly(int(length[1]))
        if self.key and (nonce := re.search(r'nonce="([^"]+)"', head)):
            self.nonce = nonce[1]
        if session := re.search(r"(?im)^session: (\w+)", head):
            self.session = session[1]
        return int(head.split(" ")[1])

    async def log_in(self, path):
        status = await self.ask("DESCRIBE", path, Accept="application/sdp")
        return await self.ask("DESCRIBE", path, Accept="application/sdp") if status == 401 else status

    async def is_closed(self, limit=PATIENCE):
        """Whether the server closes the connection."""
        try:
            async with asyncio.timeout(limit):
                while await self.reader.read(65_536):
                    pass
            return True
        except asyncio.TimeoutError:
            return False
        except OSError:
            return True
