"""A link session (docs/link.md) over MQTT."""

import asyncio
import base64
import json
import secrets
import time

from mqtt import MQTT, Refused


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class Reply:
    def __init__(self, members):
        self.members = members
        self.code, self.result = members["code"], members.get("result") or {}

    def __repr__(self):
        return f"{self.code} {self.members.get('message', '')} {json.dumps(self.result)[:200]}"


class Link:
    """`principal`: `u/NAME` or `d/ID`. The hub's requests go to `handle(method, params, from)`, which returns the
    result, or `None` for no answer."""

    def __init__(self, site, principal, token, source=None):
        self.site, self.principal, self.token, self.source = site, principal, token, source
        self.session = secrets.token_hex(16)
        self.mqtt = self.beating = None
        self.replies = {}
        self.handle = None
        self.asked = []

    def topic(self, direction):
        return f"iotlink/1/{direction}/{self.principal}/{self.session}"

    async def open(self, client_id=None, begin=True, **options):
        # Strangers may fill the broker's port for some time.
        for attempt in range(60):
            try:
                self.mqtt = await MQTT().connect(
                    self.site.broker, self.site.tls, claims(self.token)["jti"], self.token,
                    client_id or secrets.token_hex(16), source=self.source, **options)
                break
            except Refused:
                raise
            except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                if attempt == 59:
                    raise
                await asyncio.sleep(1)
        self.mqtt.received = self.receive
        granted = await self.mqtt.subscribe(self.topic("down"))
        assert granted == 1, f"the session's own topic was refused: {granted}"
        if begin:
            reply = await self.ask("session.begin", {"session": self.session, "versions": [1]})
            assert reply.code == 0, reply
            self.beating = asyncio.ensure_future(self.beat())
        return self

    async def beat(self):
        """Keeps the session alive: a session that is silent for 60 s ends."""
        while True:
            await asyncio.sleep(15)
            try:
                await self.ask("session.heartbeat")
            except (OSError, asyncio.TimeoutError):
                pass

    async def recovers(self):
        """Whether the session gets answers after a flood; earlier messages may be lost."""
        for _ in range(30):
            try:
                reply = await self.ask("session.heartbeat", limit=3)
            except asyncio.TimeoutError:
                continue
            if reply.code == 0:
                return True
            if reply.code != 25024:
                return False
            await asyncio.sleep(1)
        return False

    def envelope(self, method, params, seconds=30, **members):
        now = int(time.time() * 1000)
        return {"id": secrets.token_hex(16), "method": method, "params": params, "t": now,
                "deadline": now + seconds * 1000, **members}

    async def ask(self, method, params=None, limit=60, **members):
        request = self.envelope(method, params if params is not None else {}, **members)
        future = asyncio.get_running_loop().create_future()
        self.replies[request["id"]] = future
        # As in docs/link.md, "When no answer comes": the same request after 3 s, then 6 s, 12 s and so on.
        pause, end = 3, time.monotonic() + limit
        while True:
            await self.mqtt.publish(self.topic("up"), json.dumps(request), wait=False)
            left = end - time.monotonic()
            try:
                return await asyncio.wait_for(asyncio.shield(future), min(pause, left))
            except asyncio.TimeoutError:
                if pause >= left:
                    raise
            pause *= 2

    async def send(self, payload, wait=True):
        return await self.mqtt.publish(self.topic("up"), payload, wait=wait)

    def receive(self, topic, payload):
        members = json.loads(payload)
        if "code" in members:
            future = self.replies.pop(members.get("id"), None)
            if future and not future.done():
                future.set_result(Reply(members))
        elif "id" in members:
            self.asked.append(members)
            result = self.handle(members["method"], members["params"], members.get("from")) if self.handle else {}
            if result is not None:
                answer = {"id": members["id"], "code": 0, "message": "", "result": result, "final": True}
                asyncio.ensure_future(self.send(json.dumps(answer), wait=False))

    def close(self):
        if self.beating:
            self.beating.cancel()
        if self.mqtt:
            self.mqtt.close()
