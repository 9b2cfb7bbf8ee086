"""The common part of all attackers."""

import asyncio
import json
import random
import time
import traceback

from site_of_attack import SOURCES
from web import Answer, Web


class Survived(Exception):
    """An attack that succeeded."""


def attack(finding, is_long=False):
    """Marks a method as an attack. `finding`: its number or name in the list of the first release's vulnerabilities.
    `is_long`: whether it is left out when each attack runs once."""
    def mark(method):
        method.finding = finding
        method.is_long = is_long
        return method
    return mark


def expect(condition, what):
    if not condition:
        raise Survived(what)


def refused(answer, *codes):
    """Expects the documented refusal, and nothing else."""
    expect(answer.code in codes, f"{answer} in place of a refusal with {' or '.join(map(str, codes))}")


class Role:
    def __init__(self, site, seed=1):
        self.site = site
        self.name = type(self).__name__.lower()
        self.sources = SOURCES[self.name]
        self.random = random.Random(seed)

    async def prepare(self):
        pass

    def web(self, token=None, source=0):
        return Web(port=self.site.port, token=token, source=self.sources[source])

    async def ask_once(self, token, source, method, path, body=None):
        """A request over a connection of its own. A closed connection is a refusal."""
        web = self.web(token, source)
        try:
            return await web.ask(method, path, body)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            return Answer(429, {}, b'{"error": {"code": 25024}}')
        finally:
            web.close()

    def attacks(self):
        return [getattr(self, name) for name, method in vars(type(self)).items() if hasattr(method, "finding")]

    async def run(self, seconds, only=None):
        """Runs every attack once, and again until the time ends. Prints a line of JSON for each."""
        end = time.monotonic() + seconds
        await self.prepare()
        while True:
            for method in self.attacks():
                if method.__name__ not in only if only else method.is_long and not seconds:
                    continue
                began, failure = time.monotonic(), None
                try:
                    await method()
                except Survived as error:
                    failure = str(error)
                except Exception:
                    failure = traceback.format_exc(limit=-4)
                print(json.dumps({
                    "role": self.name, "attack": method.__name__, "finding": method.finding, "failure": failure,
                    "seconds": round(time.monotonic() - began, 2)}), flush=True)
            if time.monotonic() >= end:
                return
            await asyncio.sleep(1)


async def at_once(count, work, width=None):
    """Runs `work(number)` `count` times, all at once or `width` at a time; returns the results."""
    gate = asyncio.Semaphore(width or count)

    async def one(number):
        async with gate:
            return await work(number)

    return await asyncio.gather(*(one(number) for number in range(count)))
