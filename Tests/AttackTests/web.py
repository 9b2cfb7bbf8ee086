"""An attacker's HTTP client: complete requests, and raw bytes."""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))

from connection import Connection  # noqa: E402

# The time after which a missing answer is a failure. It is long, because a debug build shares two cores with all
# attackers.
PATIENCE = 60


class Answer:
    def __init__(self, status, fields, content):
        self.status, self.fields, self.content = status, fields, content
        try:
            self.json = json.loads(content) if content[:1] in (b"{", b"[") else {}
        except ValueError:
            self.json = {}
        error = self.json.get("error", {}) if isinstance(self.json, dict) else {}
        # 0 for success, otherwise the error's number.
        self.code = error.get("code", 0 if status < 400 else None)
        self.message = error.get("message", "")

    def __repr__(self):
        return f"{self.status} {self.code} {self.message or self.content[:120]!r}"


class Web(Connection):
    """One connection of one caller."""

    async def ask(self, method, path, body=None, headers=None):
        fresh = self.writer is None
        try:
            return await asyncio.wait_for(self._ask(method, path, body, headers), PATIENCE)
        except asyncio.TimeoutError:
            raise
        except (OSError, asyncio.IncompleteReadError):
            # An idle connection may be closed at any time (RFC 9112 §9.5).
            self.close()
            if fresh:
                raise
            return await asyncio.wait_for(self._ask(method, path, body, headers), PATIENCE)

    async def _ask(self, method, path, body, headers):
        status, fields = await self.start(method, path, body, headers)
        content = b"" if status == 204 or method == "HEAD" else await self.body(fields)
        if fields.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, fields, content)

    async def stream(self, path):
        """Opens an endless body; returns its chunks."""
        status, fields = await asyncio.wait_for(self.start("GET", path), PATIENCE)
        if status != 200:
            answer = Answer(status, fields, await asyncio.wait_for(self.body(fields), PATIENCE))
            self.close()
            return answer
        return self.chunks()


async def raw(site, data, source=None, limit=PATIENCE, port=None):
    """Sends these bytes on their own connection, to the API's port or another one; returns everything that arrives until
    the end, or until `limit`."""
    local = (source, 0) if source else None
    reader, writer = await asyncio.open_connection("127.0.0.1", port or site.port, local_addr=local)
    try:
        writer.write(data)
        await writer.drain()
        received = b""
        async with asyncio.timeout(limit):
            while part := await reader.read(65_536):
                received += part
                if b"\r\n\r\n" in received:
                    break
        return received
    except ConnectionError:
        return b""
    finally:
        writer.close()
