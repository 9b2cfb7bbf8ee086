"""An account whose webhook leads where it must not. It may view the device `bell`."""

import asyncio

from link import Link
from roles.device import level, login
from roles.role import Role, attack, expect, refused
from web import PATIENCE


class Notified(Role):
    async def prepare(self):
        self.bell = self.site.values["devices"]["bell"]
        self.account = self.web((await self.site.token("notified"))["token"])
        await self.turn_on_and_off()
        await self.site.own("PUT", "/v1/devices/bell/properties?path=ProUser._buildIn.val.almEvtPushEna", 1)

    async def turn_on_and_off(self):
        device = Link(self.site, f"d/{self.bell}", self.site.values["tokens"]["bell"], self.sources[0])
        await device.open()
        reply = await device.ask("model.login", login([level("level")]))
        expect(reply.code == 0, f"a good login: {reply}")
        await device.ask("session.end", {})
        device.close()

    @attack("webhooks to this machine")
    async def webhooks_to_this_machine(self):
        """A webhook never reaches this machine or its networks, however its address is written."""
        reached = []

        async def accept(reader, writer):
            reached.append(await reader.readline())
            writer.close()

        server = await asyncio.start_server(accept, ["127.0.0.1", "::1"], 0)
        ports = [socket.getsockname()[1] for socket in server.sockets]
        try:
            for port in set(ports):
                for host in ["127.0.0.1", "127.1", "0.0.0.0", "0", "2130706433", "0x7f.1", "localhost", "[::1]",
                             "[::ffff:127.0.0.1]", "[::]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "127.0.0.1.",
                             "10.0.0.1", "192.168.0.1", "[fd00::1]", "169.254.169.254", "224.0.0.1"]:
                    url = f"http://{host}:{port}/"
                    answer = await self.account.ask("PUT", "/v1/notices", {"url": url})
                    if answer.status != 200:
                        refused(answer, 25001, 25005)
                        continue
                    await self.turn_on_and_off()
                    await self.outcome(url)
            expect(not reached, f"a webhook reached this machine: {reached}")
        finally:
            server.close()
            await self.account.ask("DELETE", "/v1/notices")

    async def outcome(self, url):
        """Waits until a notice was refused."""
        for _ in range(PATIENCE * 4):
            shown = (await self.account.ask("GET", "/v1/notices")).json
            expect(shown.get("sent", 0) == 0, f"a notice was sent to {url}")
            if shown.get("failed", 0) + shown.get("dropped", 0) > 0:
                return
            await asyncio.sleep(0.25)
        expect(False, f"no notice to {url} was refused: {shown}")

    @attack("webhooks that are none")
    async def damaged_webhooks(self):
        for url in ["", "x", "file:///etc/passwd", "gopher://127.0.0.1/", "http://", "http://:80", "http://a:99999/",
                    "http://a b/", "http://a\r\nHost: b/", "http://a/" + "x" * 600, "http://[::1", "http://%00/",
                    "http://user@:1/", "https:///x", "http://\u00e9/"]:
            answer = await self.account.ask("PUT", "/v1/notices", {"url": url})
            if answer.status != 200:
                refused(answer, 25001, 20102)
        await self.account.ask("DELETE", "/v1/notices")
        refused(await self.account.ask("GET", "/v1/notices"), 25003)
