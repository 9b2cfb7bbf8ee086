"""Accounts that may only view one camera and play its recordings back."""

import asyncio

from roles.role import Role, at_once, attack, expect, refused
from web import PATIENCE, Web

RECORDINGS = "/v1/devices/front/recordings"
# The last moment that a request can name: the end of the year 9999.
LAST = 253_402_300_799_999


class Replayer(Role):
    async def prepare(self):
        self.player, _ = await self.site.guest("replayer", self.sources[0], actions=("view", "playback"))
        self.crowd, _ = await self.site.guest("replayers", self.sources[1], actions=("view", "playback"))
        for _ in range(PATIENCE):
            listed = await self.player.ask("GET", RECORDINGS)
            if listed.json.get("recordings"):
                break
            await asyncio.sleep(1)
        expect(listed.json.get("recordings"), f"nothing is recorded: {listed}")
        self.recording = listed.json["recordings"][0]["id"]

    async def channel(self, web):
        answer = await web.ask("POST", "/v1/channels", {"device": "front", "kind": "playback"})
        if answer.status != 201:
            refused(answer, 25024, 21020, 20007)
            return None
        return "/v1/channels/" + answer.json["id"]

    async def owner_plays_back(self):
        """The owner lists, downloads and plays back, whatever others do."""
        owner = Web(socket_path=self.site.socket)
        try:
            listed = await owner.ask("GET", RECORDINGS)
            expect(listed.status == 200, f"the owner got no list: {listed}")
            file = await owner.ask(
                "GET", f"{RECORDINGS}/{self.recording}/video.mp4", headers={"Range": "bytes=0-99"})
            expect(file.status == 206 and len(file.content) == 100, f"the owner got no file: {file}")
            place = await self.channel(owner)
            expect(place, "the owner got no playback")
            played = await owner.ask("PATCH", place + "/playback", {"time": 0})
            expect(played.status == 200, f"the owner's playback does not begin: {played}")
            await owner.ask("DELETE", place)
        finally:
            owner.close()

    @attack("rights of playback")
    async def more_than_playing_back(self):
        now = {"from": 0, "to": LAST}
        for method, path, body in [
            ("DELETE", RECORDINGS, now),
            ("POST", RECORDINGS + "/kept", now),
            ("DELETE", RECORDINGS + "/kept/1", None),
            ("GET", "/v1/recordings/check", None),
            ("POST", "/v1/cameras/front/detections", {"type": "motion"}),
            ("POST", "/v1/channels", {"device": "front", "kind": "live"}),
            ("POST", "/v1/channels", {"device": "front", "kind": "transmission"}),
            ("GET", "/v1/firmware/releases", None),
            ("POST", "/v1/firmware/releases", {"manifest": "e30=", "signature": "e30="}),
            ("DELETE", "/v1/firmware/releases/1", None),
            ("PUT", "/v1/firmware/releases/1/file", b"x"),
        ]:
            refused(await self.player.ask(method, path, body), 8003, 25005)
        viewer, _ = await self.site.guest("onlooker", self.sources[0])
        try:
            file = f"{RECORDINGS}/{self.recording}"
            for path in [RECORDINGS, RECORDINGS + "/ranges", RECORDINGS + "/days", RECORDINGS + "/kept",
                         file + "/video.mp4", file + "/init.mp4", file + "/media.m4s?first=0&count=1",
                         RECORDINGS + "/thumbnail", RECORDINGS + "/playlist.m3u8", "/v1/devices/front/storage",
                         "/v1/devices/front/storage/events?startTime=0&endTime=9"]:
                refused(await viewer.ask("GET", path), 8003)
            refused(await viewer.ask("POST", "/v1/channels", {"device": "front", "kind": "playback"}), 8003)
            # The channel of another account does not exist for this one.
            place = await self.channel(self.player)
            if place:
                refused(await viewer.ask("PATCH", place + "/playback", {"time": 0}), 25003, 8003)
                refused(await viewer.ask("POST", place + "/playback/step"), 25003, 8003)
                await self.player.ask("DELETE", place)
        finally:
            viewer.close()

    @attack("names and places of recordings")
    async def strange_recordings(self):
        """No other file is sent, and nothing beyond a file's end."""
        for name in ["..", "%2e%2e%2f%2e%2e%2fhub.sqlite", "0", "-1", "4294967296", "1e3", "%00", "x" * 2_000, "%ff"]:
            for file in ["video.mp4", "init.mp4", "media.m4s?first=0&count=1"]:
                answer = await self.player.ask("GET", f"{RECORDINGS}/{name}/{file}")
                expect(400 <= answer.status < 500, f"recording '{name[:40]}': {answer}")
        path = f"{RECORDINGS}/{self.recording}/video.mp4"
        size = (await self.player.ask("HEAD", path)).fields["content-length"]
        many = ",".join(f"{number}-{number}" for number in range(0, 900, 2))
        for ranges, statuses in [
            (f"bytes={size}-", (200, 206, 416)), ("bytes=9223372036854775807-", (416,)), ("bytes=5-1", (200, 400, 416)),
            ("bytes=0-0", (206,)), ("bytes=-1", (206,)), ("bytes=-0", (200, 416)), ("bytes=" + many, (200, 206, 416, 400)),
            ("bytes=99999999999999999999-", (200, 400, 416)), ("lines=1-2", (200, 400)),
        ]:
            web = self.web(self.player.token)
            try:
                status, fields = await asyncio.wait_for(web.start("GET", path, None, {"Range": ranges}), PATIENCE)
                expect(status in statuses, f"Range {ranges[:40]} got {status}")
                if status == 206:
                    expect(int(fields["content-length"]) <= 1_000_000_000, f"Range {ranges[:40]} got {fields}")
            finally:
                web.close()
        for query in ["first=0&count=65535", "first=65535&count=1", "first=0&count=0", "first=-1&count=1"]:
            answer = await self.player.ask("GET", f"{RECORDINGS}/{self.recording}/media.m4s?{query}")
            expect(400 <= answer.status < 500, f"{query}: {answer}")
        for query in ["from=-1", f"to={LAST + 1}", "limit=0", "limit=3201", "order=up", "after=" + "x" * 3_000,
                      "from=1e3", "after=%00"]:
            answer = await self.player.ask("GET", f"{RECORDINGS}?{query}")
            expect(400 <= answer.status < 500, f"{query[:40]}: {answer}")
        for query in ["zone=../../../etc/passwd", "zone=" + "Europe/" * 500, "zone=%00", "offset=64801", "zone=UTC&offset=0"]:
            answer = await self.player.ask("GET", f"{RECORDINGS}/days?{query}")
            expect(400 <= answer.status < 500, f"{query[:40]}: {answer}")

    @attack("uses of recordings")
    async def readers_without_bound(self):
        """One account reads everything at once: playlists, thumbnails and files. The owner's playback goes on."""
        paths = [f"{RECORDINGS}/{self.recording}/video.mp4", RECORDINGS + "/thumbnail", RECORDINGS + "/playlist.m3u8",
                 RECORDINGS + "/days?zone=Europe/Berlin", RECORDINGS + "?limit=3200",
                 "/v1/devices/front/storage/events?startTime=0&endTime=9"]

        async def read(number):
            return await self.ask_once(self.crowd.token, 1, "GET", paths[number % len(paths)])

        reading = asyncio.create_task(at_once(180, read))
        for _ in range(3):
            await self.owner_plays_back()
        for answer in await reading:
            if answer.status != 200:
                # A playlist or thumbnail needs a complete group of pictures.
                refused(answer, 25024, 21002, 21032)

    @attack("playback: places and speeds")
    async def playback_without_bound(self):
        """More playbacks than the limit, wrong places and speeds, and seeks as fast as possible."""
        place = await self.channel(self.crowd)
        expect(place, "no playback")
        opened = [place]
        try:
            for change in [{"time": -1}, {"time": LAST + 1}, {"time": "now"}, {"speed": 0}, {"speed": 33}, {"speed": -1},
                           {"speed": 1e308}, {"strategy": "random", "time": 0}, {}, {"end": 5}, {"time": 10, "end": 5},
                           {"paused": 1}, {"time": 1.5}]:
                answer = await self.crowd.ask("PATCH", place + "/playback", change)
                expect(400 <= answer.status < 500, f"{change}: {answer}")
            begun = await self.crowd.ask("PATCH", place + "/playback", {"time": 0})
            expect(begun.status == 200, f"a good playback: {begun}")

            async def seek(number):
                if number % 4 == 3:
                    return await self.ask_once(self.crowd.token, 1, "POST", place + "/playback/step")
                change = [{"time": 0, "strategy": "descending"}, {"speed": 32}, {"paused": number % 8 == 2}][number % 4]
                return await self.ask_once(self.crowd.token, 1, "PATCH", place + "/playback", change)

            seeking = asyncio.create_task(at_once(120, seek))
            await self.owner_plays_back()
            for answer in await seeking:
                if answer.status != 200:
                    # A step needs a pause; a caller may make 20 requests a second at the camera.
                    refused(answer, 25024, 20001, 20002, 21002, 21031, 21033, 25025)
            for _ in range(40):
                more = await self.channel(self.crowd)
                if not more:
                    break
                opened.append(more)
            expect(len(opened) <= 32, f"{len(opened)} playbacks of one account")
            await self.owner_plays_back()
        finally:
            for place in opened:
                await self.crowd.ask("DELETE", place)
