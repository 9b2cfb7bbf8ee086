"""The owner, who works as on any day: at the daemon's socket, and over TCP with a token."""

import asyncio
import itertools
import time

from watch import SDP, offer
from web import Web

# The latencies of these requests are checked; the others also wait for a camera's picture.
ORDINARY = ("read", "write", "list", "status", "events")
PAUSE = 0.05


class Owner:
    def __init__(self, site, token):
        self.site = site
        self.local = Web(socket_path=site.socket)
        self.remote = Web(port=site.port, token=token)
        self.times = {}
        self.failures = []

    async def ask(self, kind, web, method, path, body=None, headers=None, status=(200, 201)):
        began = time.monotonic()
        try:
            answer = await web.ask(method, path, body, headers)
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError) as error:
            web.close()
            self.failures.append(f"{method} {path}: {type(error).__name__} {error}")
            return None
        self.times.setdefault(kind, []).append(time.monotonic() - began)
        if answer.status not in status:
            self.failures.append(f"{method} {path}: {answer}")
            return None
        return answer

    async def ordinary(self):
        """Sends requests one after another, alternately at the socket and over TCP."""
        path = "/v1/devices/front/properties?path=ProUser.owner.val"
        for number in itertools.count():
            web = (self.local, self.remote)[number // 5 % 2]
            kind = ORDINARY[number % 5]
            if kind == "write":
                await self.ask(kind, web, "POST", "/v1/devices/front/user-properties/owner", number)
            elif kind == "read":
                answer = await self.ask(kind, web, "GET", path)
                if answer and number > 5 and answer.json["value"] != number - 4:
                    self.failures.append(f"wrote {number - 4}, read {answer}")
            else:
                place = {"list": "/v1/devices", "status": "/v1/status", "events": "/v1/device-events?limit=5"}[kind]
                await self.ask(kind, web, "GET", place)
            await asyncio.sleep(PAUSE)

    async def watching(self):
        """Opens a channel with a picture, and a browser's call, from time to time."""
        web = Web(socket_path=self.site.socket)
        while True:
            channel = await self.ask("channel", web, "POST", "/v1/channels", {"device": "front"})
            if channel:
                place = "/v1/channels/" + channel.json["id"]
                await self.ask("play", web, "POST", place + "/play")
                pictures = Web(socket_path=self.site.socket)
                await self.ask("snapshot", pictures, "GET", place + "/snapshot")
                pictures.close()
                await self.ask("close", web, "DELETE", place)
            call = await self.ask("call", web, "POST", "/v1/devices/front/whep", offer(), SDP)
            if call:
                await self.ask("hang up", web, "DELETE", call.fields["location"])
            await asyncio.sleep(5)

    def judged(self):
        return sorted(time for kind in ORDINARY for time in self.times.get(kind, []))

    @staticmethod
    def percentile(times, share):
        return times[min(len(times) - 1, int(len(times) * share))] if times else float("nan")

    def table(self):
        lines = []
        for kind, times in [("ordinary", self.judged())] + sorted(self.times.items()):
            ordered = sorted(times)
            lines.append("  %-10s %6d requests, p50 %7.1f ms, p99 %7.1f ms, most %7.1f ms" % (
                kind, len(ordered), 1e3 * self.percentile(ordered, 0.5), 1e3 * self.percentile(ordered, 0.99),
                1e3 * (ordered[-1] if ordered else float("nan"))))
        return "\n".join(lines)
