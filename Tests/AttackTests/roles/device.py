"""A malicious device: `lamp`, of the account `mallory`."""

import asyncio
import json
import secrets

from link import Link, claims
from mqtt import MQTT, Refused
from roles.role import Role, at_once, attack, expect, refused

MARKS = "\u0301\u0316"


def login(definitions=(), types=(), constants=None, readonly=None):
    return {"schema": {"TypeDefs": list(types), "DataDefs": list(definitions)}, "constants": constants or {},
            "readonly": readonly or {}, "writableVersions": {}}


def level(name):
    return {"name": name, "type": "int32", "FC": "ProWritable"}


class Device(Role):
    async def prepare(self):
        site = self.site
        self.id = site.values["devices"]["lamp"]
        self.device = Link(site, f"d/{self.id}", site.values["tokens"]["lamp"], self.sources[0])
        await self.device.open()
        await self.good_login()

    async def good_login(self):
        reply = await self.device.ask("model.login", login([level("level"), {
            "name": "blink", "type": "int32", "FC": "Action"}, {"name": "seen", "type": "string64", "FC": "ProReadonly"}]))
        expect(reply.code == 0, f"a good login: {reply}")

    @attack("1")
    async def control_characters_in_its_schema(self):
        for name in ["\u0000x", "x\u0000y", "a\nb", "\u007f", "\u0085"]:
            refused(await self.device.ask("model.login", login([level(name)])), 20102, 25001, 20101)
            types = [{"name": "t", "type": [{"name": name, "type": "int32"}]}]
            plan = {"name": "plan", "type": "t", "FC": "ProWritable"}
            refused(await self.device.ask("model.login", login([plan], types)), 20102, 25001, 20101)
        refused(await self.device.ask("event.report", {"topic": "a\u0000b", "body": 1}), 25001)
        refused(await self.device.ask("model.report", {"changes": [{"path": "ProReadonly.\u0000.stVal", "value": 1}]}),
                20101, 20102, 25001)
        await self.good_login()

    @attack("2")
    async def combining_marks_in_its_schema(self):
        marks = MARKS * 50_000
        for text in [marks, json.dumps(self.device.envelope("model.login", login([level(marks)])), ensure_ascii=False),
                     json.dumps(self.device.envelope("event.report", {"topic": "a", "body": {marks: 1}}),
                                ensure_ascii=False)]:
            await self.device.send(text)
        await self.good_login()

    @attack("2: what unfolds")
    async def a_schema_that_unfolds(self):
        """Types within types, each with ten members of the one before."""
        types = [{"name": "t0", "type": [{"name": f"m{number}", "type": "int32"} for number in range(10)]}]
        for depth in range(1, 9):
            types.append({"name": f"t{depth}", "type": [
                {"name": f"m{number}", "type": f"t{depth - 1}"} for number in range(10)]})
        plan = {"name": "plan", "type": "t8", "FC": "ProWritable"}
        refused(await self.device.ask("model.login", login([plan], types)), 25013, 20102)
        words = {"name": "m", "type": "string600", "enum": ["x" * 500 + str(number) for number in range(200)]}
        types = [{"name": "t", "type": [words]},
                 {"name": "u", "type": [{"name": f"m{number}", "type": "t"} for number in range(200)]}]
        refused(await self.device.ask("model.login", login([{**plan, "type": "u"}], types)), 25013, 20102)
        await self.good_login()

    @attack("2: damaged messages")
    async def damaged_messages(self):
        for payload in [b"", b"\x00" * 1_000, b"[" * 100_000, b"{" * 100_000, b'{"id":"1"}', b"null",
                        self.random.randbytes(10_000), b'{"id":"x","method":"' + b"m" * 1_000 + b'"}',
                        b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b'["' + b'\\ud800' * 100 + b'"]']:
            await self.device.send(payload)
        # Larger than the broker accepts: it closes the connection, because MQTT 3.1.1 has no error packet for it.
        try:
            await self.device.mqtt.publish(self.device.topic("up"), b"x" * 280_000, wait=False)
            await asyncio.wait_for(self.device.mqtt.ended.wait(), 60)
        except asyncio.TimeoutError:
            expect(False, "a packet of 280 KB was taken")
        except OSError:
            pass
        self.device.close()
        await self.device.open()
        await self.good_login()

    @attack("6")
    async def words_from_its_peers(self):
        """The device receives requests, and uses each word in them as a client id."""
        site = self.site
        before = (await site.own("GET", "/v1/status"))["link"]
        self.device.asked.clear()
        mallory = self.web((await site.token("mallory", seconds=600))["token"])
        await mallory.ask("POST", f"/v1/devices/{self.id}/actions", {
            "path": "Action.blink", "value": 1, "timeoutMilliseconds": 5_000})
        await mallory.ask("POST", "/v1/channels", {"device": self.id})
        mallory.close()
        expect(bool(self.device.asked), "nothing was asked")
        words = {word for members in self.device.asked for word in json.dumps(members).split('"')
                 if len(word) == 32 and word != self.id}
        token = self.device.token
        for word in sorted(words)[:20]:
            for name in [word, f"u-owner-{word}", f"u-mallory-{word}"]:
                try:
                    client = await MQTT().connect(
                        site.broker, site.tls, claims(token)["jti"], token, name, source=self.sources[0])
                    client.close()
                except (Refused, OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
                    pass
        after = (await site.own("GET", "/v1/status"))["link"]
        expect(after["since"] == before["since"], f"the gateway's link was lost: {after}")
        # The first attempt closed the device's own connection: the token's id is the client id.
        self.device.close()
        await self.device.open()
        await self.good_login()

    @attack("rights: topics")
    async def topics_of_others(self):
        front = next(device["id"] for device in (await self.site.own("GET", "/v1/devices"))["devices"]
                     if device["name"] == "front")
        for topic in [f"iotlink/1/down/d/{front}/+", "iotlink/1/down/u/owner/+", "#", "iotlink/1/up/#"]:
            client = await Link(self.site, f"d/{self.id}", self.device.token, self.sources[0]).open(begin=False)
            granted = await client.mqtt.subscribe(topic)
            client.close()
            expect(granted in (0x80, None), f"{topic} was granted")
        self.device.close()
        await self.device.open()
        spoof = self.device.envelope("event.report", {"topic": "spoof", "body": 1})
        await self.device.mqtt.publish(f"iotlink/1/up/d/{front}/{secrets.token_hex(16)}", json.dumps(spoof), wait=False)
        for method, params in [("user.list", {}), ("device.list", {}), ("property.write", {}), ("token.create", {})]:
            refused(await self.device.ask(method, params), 25001)
        await self.good_login()
        events = (await self.site.own("GET", "/v1/device-events?device=front&limit=200"))["events"]
        expect(all(event["topic"] != "spoof" for event in events), "an event in another's name")

    @attack("medium: rows and bytes")
    async def events_and_reports(self):
        """Events of 30 KB, reports of 60 KB, data above its limit."""
        async def event(number):
            return await self.device.ask("event.report", {"topic": f"flood/{number}", "body": "x" * 29_000}, limit=90)

        for reply in await at_once(150, event, 30):
            expect(reply.code in (0, 25024), f"an event: {reply}")
        refused(await self.device.ask("event.report", {"topic": "large", "body": "x" * 31_000}), 25013, 21008, 25001)
        refused(await self.device.ask("message.push", {"data": "A" * 44_000}), 21008)
        changes = [{"path": "ProReadonly.seen.stVal", "value": "x"}] * 300
        refused(await self.device.ask("model.report", {"changes": changes}), 25001, 20102)

    @attack("medium: fairness")
    async def flood(self):
        """Pushes and requests faster than they are read."""
        push = json.dumps({"method": "session.nothing", "params": {}})
        for _ in range(4_000):
            await self.device.mqtt.publish(self.device.topic("up"), push, qos=0)
        expect(await self.device.recovers(), "the flooding device never got an answer again")
