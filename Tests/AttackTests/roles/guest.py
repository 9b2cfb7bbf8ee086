"""Accounts that may only view one camera."""

import asyncio

from roles.role import Role, at_once, attack, expect, refused
from rtsp import RTSP
from watch import SDP, Viewer, dead_candidates, offer
from web import PATIENCE, Answer, Web

CALL = "/v1/devices/front/whep"
# The errors for too many requests or parts, connections, and viewers of a camera.
TOO_MANY = (25024, 21020, 20007)


class Guest(Role):
    async def prepare(self):
        guest = self.site.guest
        self.crowd, _ = await guest("crowd", self.sources[0])
        self.viewer, _ = await guest("viewer", self.sources[1])
        self.squatter, _ = await guest("squatter", self.sources[1])
        self.hoarder, self.hoarder_token = await guest("hoarder", self.sources[1])
        self.patient, _ = await guest("patient", self.sources[1])
        self.sharer, _ = await guest("sharer", self.sources[1])

    async def own_call(self):
        """The owner can watch, whatever others do."""
        answer = await self.owner.ask("POST", CALL, offer(), SDP)
        expect(answer.status == 201, f"the owner was shut out of a camera: {answer}")
        await self.owner.ask("DELETE", answer.fields["location"])

    @property
    def owner(self):
        return Web(socket_path=self.site.socket)

    async def post(self, token, number):
        web = self.web(token, number % 2)
        try:
            return await web.ask("POST", CALL, offer(), SDP)
        except (ConnectionError, asyncio.IncompleteReadError):
            # The address has too many connections: the oldest silent one was closed.
            return Answer(429, {}, b'{"error": {"code": 25024}}')
        finally:
            web.close()

    @attack("10")
    async def calls_to_forget_a_call(self):
        """A connected call continues during 480 others, and ends with the binding."""
        await self.site.bind("crowd")
        viewer = await self.connected(self.crowd)
        try:
            answers = await at_once(480, lambda number: self.post(self.crowd.token, number))
            opened = [answer for answer in answers if answer.status == 201]
            for answer in answers:
                if answer.status != 201:
                    refused(answer, *TOO_MANY)
            expect(len(opened) <= 32, f"{len(opened)} of 480 calls were taken")
            expect(await viewer.more(), "the connected call ended for newer ones")
            await self.site.own("DELETE", "/v1/devices/front/bindings/crowd")
            expect(await viewer.end(), "pictures arrive after the unbinding")
            refused(await self.post(self.crowd.token, 0), 8002, 8003)
            answer = await self.crowd.ask("PATCH", viewer.place, b"", {
                "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": '"1"'})
            refused(answer, 25003, 8003, 25005)
        finally:
            await viewer.connection.close()
            await self.site.bind("crowd")

    async def connected(self, web, candidates=()):
        """A call with pictures. Other calls may take every place for a moment."""
        for _ in range(30):
            viewer = Viewer(web, "front")
            answer = await viewer.open(candidates)
            if answer.status == 201:
                expect(await viewer.more(), "no picture came")
                return viewer
            await viewer.connection.close()
            refused(answer, *TOO_MANY)
            await asyncio.sleep(1)
        expect(False, "never a place")

    @attack("12")
    async def dead_candidates(self):
        """100 candidates at unused addresses do not prevent a call, and neither does a malformed one."""
        viewer = await self.connected(
            self.patient, dead_candidates(100) + ["candidate:1 1 udp nonsense 203.0.113.1 9 typ host"])
        await viewer.close()

    @attack("medium: calls that never connect")
    async def calls_that_never_connect(self):
        answers = [await self.post(self.squatter.token, number) for number in range(8)]
        try:
            expect(sum(answer.status == 201 for answer in answers) <= 3, f"eight calls without a viewer: {answers}")
            for answer in answers:
                if answer.status != 201:
                    refused(answer, *TOO_MANY)
            await self.own_call()
        finally:
            for answer in answers:
                if answer.status == 201:
                    await self.squatter.ask("DELETE", answer.fields["location"])

    @attack("12: offers")
    async def damaged_offers(self):
        web = self.viewer
        large = offer(candidates=[f"candidate:{'x' * 60} {number}" for number in range(1_000)])
        refused(await web.ask("POST", CALL, large[:70_000], SDP), 25013)
        marks = "\u0301" * 20_000
        for text in [offer(ufrag="a" + marks), offer() + f"a=mid:{marks}\r\n".encode(), b"", b"v=0", b"\x00" * 4_000,
                     offer().replace(b"sha-256", b"sha-1"), offer(ufrag="ab\u00e9d")]:
            answer = await web.ask("POST", CALL, text, SDP)
            refused(answer, 25021, 25001, 25013)
            expect(answer.status in (400, 413), f"a damaged offer is the client's fault: {answer}")
        for text in [f"a=ice-ufrag:a{marks}\r\n", "a=candidate:1\r\n" * 100]:
            answer = await web.ask("PATCH", "/v1/whep/" + "0" * 32, text.encode(), {
                "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": '"1"'})
            refused(answer, 25001, 25003)

    @attack("4")
    async def streams_of_ended_tokens(self):
        """A token's calls and streams end with it, whether it is revoked or expires."""
        revoked, made = await self.site.guest("watcher", self.sources[2])
        expired, _ = await self.site.guest("brief", self.sources[2], seconds=8)

        async def bodies(token):
            opener = self.web(token, 2)
            channel = (await opener.ask("POST", "/v1/channels", {"device": "front"})).json
            expect("id" in channel, f"no channel: {channel}")
            place = "/v1/channels/" + channel["id"]
            paths = ["/v1/events", "/v1/devices/front/properties/watch", place + "/events", place + "/recording.mp4"]
            streams = []
            for path in paths:
                web = self.web(token, 2)
                chunks = await web.stream(path)
                expect(not isinstance(chunks, Answer), f"{path}: {chunks}")
                streams.append((path, web, chunks))
            await opener.ask("POST", place + "/play")
            opener.close()
            return streams

        async def end(path, web, chunks):
            try:
                async with asyncio.timeout(PATIENCE):
                    async for _ in chunks:
                        pass
            except asyncio.TimeoutError:
                expect(False, f"{path} goes on without its token")
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                web.close()

        streams = await bodies(revoked.token) + await bodies(expired.token)
        await self.site.own("DELETE", "/v1/tokens/" + made["id"])
        await asyncio.gather(*(end(*stream) for stream in streams))
        refused(await self.web(revoked.token, 2).ask("GET", "/v1/devices"), 25004)
        refused(await self.web(expired.token, 2).ask("GET", "/v1/devices"), 25004)

    @attack("medium: uses of channels")
    async def uses_without_bound(self):
        """More channel parts and open bodies than the limit; the owner still gets hers."""
        token = self.hoarder_token["token"]
        channels = [await self.hoarder.ask("POST", "/v1/channels", {"device": "front"}) for _ in range(70)]
        opened = [answer.json["id"] for answer in channels if answer.status == 201]
        try:
            expect(1 <= len(opened) <= 64, f"{len(opened)} parts of one account")
            for answer in channels:
                if answer.status != 201:
                    refused(answer, 25024, 21020, 20007)

            async def body(number):
                web = self.web(token, number % 2)
                try:
                    return web, await web.stream(f"/v1/channels/{opened[0]}/events")
                except (ConnectionError, asyncio.IncompleteReadError):
                    return web, Answer(429, {}, b'{"error": {"code": 25024}}')

            bodies = await at_once(150, body)
            streams = [chunks for _, chunks in bodies if not isinstance(chunks, Answer)]
            expect(len(streams) <= 96, f"{len(streams)} open bodies of one account")
            for _, answer in bodies:
                if isinstance(answer, Answer):
                    refused(answer, 25024)
            owner = self.owner
            channel = await owner.ask("POST", "/v1/channels", {"device": "front"})
            expect(channel.status == 201, f"the owner got no channel: {channel}")
            await owner.ask("DELETE", "/v1/channels/" + channel.json["id"])
            owner.close()
            for web, _ in bodies:
                web.close()
        finally:
            # Closed bodies free their parts.
            for place in opened:
                for _ in range(PATIENCE):
                    if (await self.hoarder.ask("DELETE", f"/v1/channels/{place}")).status != 429:
                        break
                    await asyncio.sleep(1)

    @attack("new: a channel beside another's")
    async def channel_beside_the_owners(self):
        """Several accounts' channels to one camera, from one gateway: each continues when others open and close."""
        async def play(web):
            channel = await web.ask("POST", "/v1/channels", {"device": "front"})
            expect(channel.status == 201, f"no channel: {channel}")
            place = "/v1/channels/" + channel.json["id"]
            answer = await web.ask("POST", place + "/play")
            expect(answer.status == 200, f"it does not play: {answer}")
            return place

        async def packets(web, place):
            return (await web.ask("GET", place)).json["statistics"]["video"]["packetsReceived"]

        owner = self.owner
        place = await play(owner)
        try:
            for _ in range(3):
                other = await play(self.viewer)
                for web, channel in [(owner, place), (self.viewer, other), (owner, place)]:
                    before = await packets(web, channel)
                    for _ in range(PATIENCE * 5):
                        if await packets(web, channel) > before + 20:
                            break
                        await asyncio.sleep(0.2)
                    else:
                        expect(False, "a channel has no more pictures since another account opened one")
                await self.viewer.ask("DELETE", other)
        finally:
            await owner.ask("DELETE", place)
            owner.close()

    @attack("medium: unbinding and share tokens")
    async def share_token_after_unbinding(self):
        web = self.sharer
        share = (await self.site.own("POST", "/v1/devices/front/share", {"ttlSeconds": 600}))["token"]
        first = await web.ask("POST", "/v1/subscriptions", {"token": share})
        expect(first.code in (0, 8022), f"a good subscription: {first}")
        await self.site.own("DELETE", "/v1/devices/front/bindings/sharer")
        refused(await web.ask("POST", "/v1/subscriptions", {"token": share}), 21101)
        refused(await web.ask("GET", "/v1/devices/front"), 8002, 8003)
        await self.site.bind("sharer")

    @attack("rights")
    async def more_than_viewing(self):
        web = self.viewer
        for method, path, body in [
            ("PUT", "/v1/devices/front/properties?path=ProWritable._logLevel.setVal", 6),
            ("PUT", "/v1/devices/front/properties?path=ProWritable.rotation.setVal", 90),
            ("PATCH", "/v1/devices/front", {"name": "mine"}),
            ("POST", "/v1/devices/front/actions", {"path": "Action.cameraOn", "value": 0}),
            ("POST", "/v1/devices/front/messages", {"text": "x", "responses": "none"}),
            ("POST", "/v1/devices/front/user-properties/mine", 1),
            ("POST", "/v1/devices/front/share", {}),
            ("GET", "/v1/devices/front/bindings", None),
            ("PUT", "/v1/devices/front/bindings/viewer", {"actions": ["view", "control"]}),
            ("DELETE", "/v1/devices/front", None),
            ("POST", "/v1/tokens", {"kind": "api", "user": "owner", "ttlSeconds": 60}),
            ("POST", "/v1/users", {"accessId": "mine"}),
            ("GET", "/v1/cameras", None),
            ("POST", "/v1/configuration/reload", None),
            ("GET", "/metrics", None),
        ]:
            refused(await web.ask(method, path, body), 8003, 25005)

    @attack("live calls, and pictures of any size")
    async def more_than_the_camera(self):
        """Who may only view shows nothing and does not see the caller; large pictures delay nobody."""
        for query, codes in [("kind=live", (8003,)), ("source=caller", (8003,)), ("source=7", (20009,)),
                             ("source=300", (25001,)), ("kind=live&source=caller", (8003, 20009))]:
            refused(await self.viewer.ask("POST", f"{CALL}?{query}", offer(), SDP), *codes)
        refused(await self.viewer.ask("POST", "/v1/channels", {"device": "front", "kind": "live"}), 8003)
        channel = await self.viewer.ask("POST", "/v1/channels", {"device": "front"})
        if channel.status != 201:
            return refused(channel, *TOO_MANY)
        place = "/v1/channels/" + channel.json["id"]
        try:
            await self.viewer.ask("POST", place + "/play")
            for change in [{"rotation": 45}, {"volume": {"left": 2, "right": 0}}, {"camera": "front"}]:
                refused(await self.viewer.ask("PATCH", place, change), 21031, 21040)
            for size in ("1922x1080", "1x1", "99999x99999", "-2x-2"):
                refused(await self.viewer.ask("GET", f"{place}/snapshot?size={size}"), 25001)

            async def picture(number):
                return await self.ask_once(
                    self.viewer.token, number % 2, "GET", f"{place}/snapshot?format=png&size=1920x1920&scaling=fill")

            pictures = asyncio.create_task(at_once(24, picture))
            for _ in range(10):
                await self.own_call()
            for answer in await pictures:
                if answer.status != 200:
                    refused(answer, 25024, 21002)
        finally:
            await self.viewer.ask("DELETE", place)

    @attack("talk and definitions")
    async def talk_and_definitions(self):
        """Who may only view does not talk; definitions that do not exist are refused; many changes delay nobody."""
        channel = await self.viewer.ask("POST", "/v1/channels", {"device": "front"})
        if channel.status != 201:
            return refused(channel, *TOO_MANY)
        place = "/v1/channels/" + channel.json["id"]
        try:
            await self.viewer.ask("POST", place + "/play")
            header = b"RIFF\xff\xff\xff\x7fWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\xff\xff\xff\x7f"
            for sound in (header + bytes(64_000), b"", b"RIFF", header * 100):
                answer = await self.viewer.ask("POST", place + "/talk", sound, {"Content-Type": "application/octet-stream"})
                refused(answer, 8003, 21040)
            for wanted in ("best", "mid", "", "low," * 99 + "low", "high,", "x" * 60_000, ["high,low"], [], ["best"], [1]):
                refused(await self.viewer.ask("PATCH", place, {"definition": wanted}), 25001, 25013, 25133, 21031)

            async def change(number):
                return await self.ask_once(
                    self.viewer.token, number % 2, "PATCH", place, {"definition": ("audio", "high")[number % 2], "echo": "keep"})

            changes = asyncio.create_task(at_once(80, change))
            for _ in range(5):
                await self.own_call()
            for answer in await changes:
                if answer.status != 200:
                    # A newer change replaces an older one; a caller may make 20 requests a second at the camera.
                    refused(answer, 25024, 25133, 20002, 20001, 21002, 21040)
        finally:
            await self.viewer.ask("DELETE", place)

    # RTSP

    @attack("RTSP: sessions without end")
    async def rtsp_sessions_of_one_key(self):
        """One account opens too many readers. The owner's player still gets one, and revoking the key ends them all."""
        key, number = await self.site.key("viewer", "front")
        players = [RTSP(self.site.rtsp, key=key, source=self.sources[1]) for _ in range(40)]
        try:
            for player in players:
                await player.__aenter__()
            statuses = await asyncio.gather(*(self.set_up(player) for player in players))
            opened = [player for player, status in zip(players, statuses) if status == 200]
            expect(set(statuses) <= {200, 453}, f"SETUP got {set(statuses)}")
            expect(0 < len(opened) <= 8, f"an account got {len(opened)} of the camera's places")
            again = [await player.ask("SETUP", "front/trackID=0", Transport="RTP/AVP/TCP;unicast") for player in opened]
            expect(set(again) == {455}, f"a second SETUP of a track got {set(again)}")
            own, _ = await self.site.key("owner", "front")
            async with RTSP(self.site.rtsp, key=own) as player:
                status = await self.set_up(player)
                expect(status == 200, f"the owner's player got {status}")
            await self.site.own("DELETE", f"/v1/keys/{number}")
            ends = await asyncio.gather(*(player.is_closed(10) for player in players))
            expect(all(ends), f"{ends.count(False)} connections stay open after their key was revoked")
        finally:
            for player in players:
                await player.__aexit__()

    async def set_up(self, player):
        status = await player.log_in("front")
        if status != 200:
            return status
        return await player.ask("SETUP", "front/trackID=0", Transport="RTP/AVP/TCP;unicast;interleaved=0-1")

    @attack("RTSP: UDP to others")
    async def rtsp_media_for_others(self):
        """UDP is refused to other addresses than the player's own, and to ports below 1024."""
        key, _ = await self.site.key("viewer", "front")
        for transport in [
            "RTP/AVP;unicast;destination=192.0.2.10;client_port=9000-9001", "RTP/AVP;unicast;client_port=53-54",
            "RTP/AVP;multicast;destination=224.0.0.1;port=9000-9001",
        ]:
            async with RTSP(self.site.rtsp, key=key, source=self.sources[1]) as player:
                status = await player.log_in("front")
                expect(status == 200, f"a login got {status}")
                status = await player.ask("SETUP", "front/trackID=0", Transport=transport)
                expect(status == 461, f"{transport} got {status}")
