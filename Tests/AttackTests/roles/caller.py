"""Accounts that may talk through a camera or send it data, and do so without end."""

import asyncio
import base64

from roles.role import Role, at_once, attack, expect, refused
from web import Web

LIVE = {"device": "porch", "kind": "live"}
# Too many requests or connections; another call has the camera; the account has a live channel to it.
BUSY = (25024, 21020, 20007, 25049, 21021)
LARGEST = base64.b64encode(bytes(64_000)).decode()


class Caller(Role):
    rang = 0

    async def prepare(self):
        talker = ("view", "talk")
        self.ringer, _ = await self.site.guest("ringer", self.sources[0], "porch", talker)
        self.caller, _ = await self.site.guest("caller", self.sources[1], "porch", talker)
        self.crowd, _ = await self.site.guest("callers", self.sources[0], "porch", talker)
        self.sender, _ = await self.site.guest("sender", self.sources[1], "porch", ("view", "control"))

    @property
    def owner(self):
        return Web(socket_path=self.site.socket)

    async def call(self, web):
        """A live call, when the camera is free."""
        for _ in range(60):
            answer = await web.ask("POST", "/v1/channels", LIVE)
            if answer.code != 25049:
                return answer
            await asyncio.sleep(0.5)
        return answer

    async def end(self, web, answer):
        await web.ask("DELETE", "/v1/channels/" + answer.json["id"])

    @attack("ringing without end")
    async def rings_without_end(self):
        """Nobody rings more than five times in ten minutes, and others still ring and are answered."""
        rung = 0
        for _ in range(8):
            answer = await self.call(self.ringer)
            if answer.status != 201:
                refused(answer, 25024)
                continue
            rung += 1
            expect(answer.json["rings"], f"the camera did not ring: {answer}")
            refused(await self.ringer.ask("POST", "/v1/cameras/porch/call", {"answer": "accept"}), 25005)
            for value in ("", "0" * 64, "x" * 65, 1, None, {"call": ""}):
                answered = await self.ringer.ask(
                    "POST", "/v1/devices/porch/actions", {"path": "Action.acceptCall", "value": value})
                refused(answered, 8003, 20102)
            await self.end(self.ringer, answer)
        # Later runs come within the ten minutes.
        self.rang = max(self.rang, rung)
        expect(rung <= 5 and self.rang > 0, f"one account rang {rung} times")
        answer = await self.call(self.caller)
        expect(answer.status == 201, f"another account was kept from ringing: {answer}")
        taken = await self.owner.ask("POST", "/v1/cameras/porch/call", {"answer": "accept"})
        expect(taken.status == 200, f"the owner could not accept a call: {taken}")
        await self.end(self.caller, answer)

    @attack("many live calls at once")
    async def calls_at_once(self):
        """Of 30 live calls at once one is taken at most; the camera is free after it has ended."""
        async def one(number):
            return await self.ask_once(self.crowd.token, 0, "POST", "/v1/channels", LIVE)

        answers = await at_once(30, one)
        taken = [answer for answer in answers if answer.status == 201]
        for answer in answers:
            if answer.status != 201:
                refused(answer, *BUSY)
        expect(len(taken) <= 1, f"{len(taken)} live calls of one account were taken")
        for answer in taken:
            await self.end(self.crowd, answer)
        own = await self.call(self.owner)
        expect(own.status == 201, f"the owner was kept from calling: {own}")
        await self.end(self.owner, own)

    @attack("data without a reader")
    async def data_without_end(self):
        """Who sends more than the camera's program reads waits or is refused; what was accepted arrives, once."""
        refused(await self.caller.ask("POST", "/v1/channels", {"device": "porch", "kind": "transmission"}), 8003)
        channel = await self.sender.ask("POST", "/v1/channels", {"device": "porch", "kind": "transmission"})
        expect(channel.status == 201, f"no channel for data: {channel}")
        place = f"/v1/channels/{channel.json['id']}/data"
        listener, reads = Web(socket_path=self.site.socket), None
        try:
            refused(await self.sender.ask("POST", place, {"text": "hello"}), 25057)
            listening = await listener.stream("/v1/cameras/porch/data")
            refused(await self.owner.ask("GET", "/v1/cameras/porch/data"), 25058)
            refused(await self.sender.ask("GET", "/v1/cameras/porch/data"), 25005)
            for body in ({"data": base64.b64encode(bytes(64_001)).decode()}, {"data": "*"}, {}, {"text": "a", "data": ""}):
                refused(await self.sender.ask("POST", place, body), 21024, 25001, 25013)

            async def send(number):
                return await self.ask_once(
                    self.sender.token, 1, "POST", place, {"data": LARGEST, "timeoutMilliseconds": 2_000})

            answers = await at_once(100, send)
            arrived = sum(answer.status == 200 for answer in answers)
            for answer in answers:
                if answer.status != 200:
                    refused(answer, 21002, *BUSY)
            expect(0 < arrived < 100, f"{arrived} of 100 messages arrived that nobody read")
            # The camera's program reads now: the channel works again.
            reads = asyncio.create_task(self.read(listening))
            for _ in range(30):
                answer = await self.sender.ask("POST", place, {"text": "last"})
                if answer.status == 200:
                    break
                refused(answer, 21002, *BUSY)
            expect(answer.status == 200, f"the channel did not work again: {answer}")
        finally:
            if reads:
                reads.cancel()
            listener.close()
            await self.end(self.sender, channel)

    @staticmethod
    async def read(chunks):
        async for _ in chunks:
            pass
