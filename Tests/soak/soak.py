#!/usr/bin/env python3
"""Runs a daemon under the mixed load of many clients, and fails if a quantity that must be flat rises.

Usage: soak.py BIN-DIRECTORY [--seconds N] [--clients N] [--seed N] [--summary FILE]
SOAK_SECONDS (3600), SOAK_CLIENTS (200) and SOAK_SEED (1) are alternatives. The data are in a folder of the sources.

The rule: each quantity is sampled every 5 s, and a straight line is fitted to the last half of its samples.
- What must be flat (memory, descriptors, threads of daemon and broker, the database): from the beginning to the end of
  that half, the line rises by at most 3 % of its mean, or by a minimum that covers the noise of one sample.
  Answers are stored for ten minutes, in memory and in the database. If the half begins before eleven minutes, the
  daemon's memory may therefore rise by 15 %, and the database is not checked.
- What grows by design up to a limit (the database's log, audit and broker logs) may not exceed that limit; and no
  other quantity may exceed its own limit.
- No answer may be wrong, and no more than one request in a thousand may fail.
"""
import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "Tests", "Support"))

from connection import Connection  # noqa: E402
CAMERAS = {"front": "Samples/street-h264-aac.mp4", "yard": "Samples/street-h265-aac.mp4"}
MiB = 1 << 20
# Answers are stored for ten minutes, so the database grows that long.
MEMORY = 660
# name: (minimum of the allowed rise, absolute limit); None for quantities that may rise up to their limit.
RULES = {
    "rss": (6 * MiB, 700 * MiB),
    "descriptors": (12, 1_500),
    "threads": (4, 150),
    "broker rss": (3 * MiB, 200 * MiB),
    "broker descriptors": (4, 500),
    "hub.sqlite": (2 * MiB, 400 * MiB),
    "hub.sqlite-wal": (None, 32 * MiB),
    "audit": (None, 21 * MiB),
    "broker files": (None, 4 * MiB),
    "daemon log": (None, 8 * MiB),
}
TABLE = ["rss", "descriptors", "threads", "broker rss", "hub.sqlite", "hub.sqlite-wal", "audit"]


class Broken(Exception):
    """A wrong answer; errors of the connection are OSErrors."""


class Soak:
    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        # In the sources' folder, because the temporary folder may be memory.
        self.folder = tempfile.mkdtemp(prefix=".bench-soak-", dir=ROOT)
        # A socket's path has 107 bytes at most.
        self.socket = os.path.relpath(os.path.join(self.folder, "s"))
        self.log = os.path.join(self.folder, "daemon.err")
        self.samples = []
        self.times = []
        self.counts = {}
        self.failures = {}
        self.wrong = []
        self.events = 0

    # The daemon

    def start(self):
        command = [
            os.path.join(self.arguments.binaries, "iotvideod"), "--data-dir", self.folder + "/data", "--socket",
            self.socket, "--listen", "127.0.0.1:0",
        ]
        for name, url in CAMERAS.items():
            command += ["--camera", name + "=" + os.path.join(ROOT, url)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=open(self.log, "w"), text=True, start_new_session=True)
        if "is ready" not in self.process.stdout.readline():
            sys.exit("the daemon did not start: " + open(self.log).read())
        text = open(self.log).read()
        self.port = int(re.search(r'api\.port="?(\d+).*the API listens', text)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    # What is measured

    @staticmethod
    def of_process(pid):
        with open("/proc/%d/status" % pid) as file:
            fields = dict(line.split(":", 1) for line in file)
        return {
            "rss": int(fields["VmRSS"].split()[0]) * 1024,
            "threads": int(fields["Threads"]),
            "descriptors": len(os.listdir("/proc/%d/fd" % pid)),
        }

    def size(self, *names):
        total = 0
        for name in names:
            path = os.path.join(self.folder, name)
            if os.path.isdir(path):
                total += self.size(*[os.path.join(name, entry) for entry in os.listdir(path)])
            elif os.path.isfile(path):
                total += os.path.getsize(path)
        return total

    def sample(self, broker):
        own = self.of_process(self.process.pid)
        child = self.of_process(broker)
        return {
            **own, "broker rss": child["rss"], "broker descriptors": child["descriptors"],
            "hub.sqlite": self.size("data/hub.sqlite"), "hub.sqlite-wal": self.size("data/hub.sqlite-wal"),
            "audit": self.size("data/audit.log", "data/audit.log.1"), "broker files": self.size("data/broker"),
            "daemon log": self.size("daemon.err"),
        }

    # Clients

    def client(self):
        return Connection(socket_path=self.socket)

    async def pause(self, low, high):
        await asyncio.sleep(self.random.uniform(low, high))

    async def ask(self, connection, method, path, body=None, headers=None, allowed=(200, 201)):
        begin = time.monotonic()
        status, answer = await asyncio.wait_for(connection.request(method, path, body, headers), 30)
        self.times.append(time.monotonic() - begin)
        self.counts[method] = self.counts.get(method, 0) + 1
        if status not in allowed:
            raise OSError("%s %s: %d %s" % (method, path, status, json.dumps(answer)[:200]))
        return answer

    async def write_and_read(self, number):
        """Writes a property that no other client writes."""
        device = list(CAMERAS)[number % len(CAMERAS)]
        path = "/v1/devices/%s/properties?path=ProUser.soak%d.val" % (device, number)
        connection = self.client()
        await self.ask(connection, "POST", "/v1/devices/%s/user-properties/soak%d" % (device, number), "begin")
        count = 0
        while True:
            await self.pause(0.5, 3)
            count += 1
            value = "%d.%d" % (number, count)
            written = await self.ask(
                connection, "PUT", path, value, {"Idempotency-Key": "soak-%d-%d" % (number, count)})
            read = await self.ask(connection, "GET", path)
            if read["value"] != value or read["version"] != written["version"]:
                raise Broken("%s: wrote %s, read %s" % (path, value, read))
            if count % 10 == 0:
                await self.ask(connection, "GET", "/v1/devices")

    async def watch(self, number):
        """Reads server-sent events for some time, and resumes after the last one."""
        last = None
        while True:
            connection = self.client()
            everything = number % 2 == 0
            path = "/v1/events" if everything else "/v1/devices/front/properties/watch?path=ProUser"
            headers = {"Last-Event-ID": last} if last and everything else None
            status, _ = await asyncio.wait_for(connection.start("GET", path, headers=headers), 30)
            if status != 200:
                raise OSError("%s: %d" % (path, status))
            end = time.monotonic() + self.random.uniform(5, 60)
            chunks = connection.chunks()
            while time.monotonic() < end:
                for line in (await asyncio.wait_for(chunks.__anext__(), 40)).decode().splitlines():
                    if line.startswith("id:"):
                        last = line[3:].strip()
                    if line.startswith("data:"):
                        self.events += 1
            connection.close()
            await self.pause(0, 2)

    async def messages(self, number):
        device = list(CAMERAS)[number % len(CAMERAS)]
        connection = self.client()
        while True:
            await self.pause(1, 5)
            await self.ask(
                connection, "POST", "/v1/devices/%s/messages" % device,
                {"text": "get_device_st&type=voice", "responses": "one"})
            await self.ask(
                connection, "POST", "/v1/server-messages", {"path": "GET/time"})
            # Another client's same action may still be running (20105).
            await self.ask(
                connection, "POST", "/v1/devices/%s/actions" % device,
                {"path": "Action.cameraOn", "value": 1}, allowed=(200, 422, 502, 503))

    async def tokens(self, number):
        """Makes an API token, uses it over TCP and revokes it, which ends it."""
        owner = self.client()
        while True:
            await self.pause(2, 8)
            token = await self.ask(owner, "POST", "/v1/tokens", {"kind": "api", "ttlSeconds": 600})
            user = Connection(port=self.port, token=token["token"])
            for _ in range(3):
                await self.ask(user, "GET", "/v1/devices")
            await self.ask(owner, "DELETE", "/v1/tokens/" + token["id"])
            # The check of a token is cached for a moment.
            for _ in range(40):
                status, _ = await user.request("GET", "/v1/devices")
                if status == 401:
                    break
                await asyncio.sleep(0.5)
            else:
                raise Broken("a revoked token still works")
            user.close()

    async def bindings(self, number):
        connection = self.client()
        user = "soak%d" % number
        while True:
            await self.pause(2, 8)
            await self.ask(connection, "POST", "/v1/users", {"accessId": user})
            await self.ask(connection, "PUT", "/v1/devices/front/bindings/" + user, {"actions": ["view", "configure"]})
            users = await self.ask(connection, "GET", "/v1/devices/front/bindings")
            if not any(entry["accessId"] == user for entry in users["users"]):
                raise Broken("%s is not among the bound: %s" % (user, users))
            link = await self.ask(connection, "POST", "/v1/tokens", {"kind": "link", "user": user, "ttlSeconds": 600})
            await self.ask(connection, "DELETE", "/v1/tokens/" + link["id"])
            await self.ask(connection, "DELETE", "/v1/devices/front/bindings/" + user)
            await self.ask(connection, "DELETE", "/v1/users/" + user)

    async def monitor(self, number):
        """Opens a channel with decoded pictures, a snapshot and its statistics."""
        connection = self.client()
        while True:
            await self.pause(5, 20)
            channel = await self.ask(
                connection, "POST", "/v1/channels", {"device": list(CAMERAS)[number % len(CAMERAS)]})
            place = "/v1/channels/" + channel["id"]
            pictures = self.client()
            status, fields = await asyncio.wait_for(pictures.start("GET", place + "/video.y4m?frames=10"), 30)
            if status != 200:
                raise OSError("video: %d" % status)
            await self.ask(connection, "POST", place + "/play")
            raw = await asyncio.wait_for(pictures.body(fields), 60)
            if raw.count(b"FRAME\n") < 10:
                raise Broken("10 pictures were requested, and %d arrived" % raw.count(b"FRAME\n"))
            pictures.close()
            await self.ask(connection, "DELETE", place)

    async def keep(self, role, number):
        """Runs a client, and starts it again after an error."""
        while True:
            try:
                await role(number)
            except Broken as error:
                self.wrong.append("%s: %s" % (role.__name__, error))
                return
            except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, StopAsyncIteration) as error:
                text = "%s: %s %s" % (role.__name__, type(error).__name__, str(error)[:160])
                self.failures[text] = self.failures.get(text, 0) + 1
                await asyncio.sleep(1)

    async def run(self):
        shares = [
            (self.write_and_read, 100), (self.watch, 50), (self.messages, 20), (self.tokens, 14), (self.bindings, 12),
            (self.monitor, 4),
        ]
        roles = [role for role, share in shares for _ in range(max(1, share * self.arguments.clients // 200))]
        connection = self.client()
        status = await self.ask(connection, "GET", "/v1/status")
        broker = status["broker"]["process"]
        tasks = [asyncio.create_task(self.keep(role, number)) for number, role in enumerate(roles)]
        begin = time.monotonic()
        print("soak: seed %d, %d clients, %d s" % (self.arguments.seed, len(roles), self.arguments.seconds))
        print("%7s %8s %7s  " % ("s", "requests", "events") + " ".join("%14s" % name for name in TABLE), flush=True)
        shown = -1
        while (elapsed := time.monotonic() - begin) < self.arguments.seconds:
            if self.process.poll() is not None:
                self.wrong.append("the daemon ended with %d" % self.process.returncode)
                break
            try:
                self.samples.append((elapsed, self.sample(broker)))
            except OSError as error:
                self.wrong.append("nothing to measure: %s" % error)
                break
            if elapsed // 30 > shown:
                shown = elapsed // 30
                sample = self.samples[-1][1]
                print("%7d %8d %7d  " % (elapsed, sum(self.counts.values()), self.events)
                      + " ".join("%14s" % self.written(name, sample[name]) for name in TABLE), flush=True)
            await asyncio.sleep(min(5, self.arguments.seconds / 20))
        # Repeated, because before Python 3.12 wait_for may swallow a cancellation.
        while tasks:
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=1)

    # Verdict

    @staticmethod
    def written(name, value):
        is_count = "descriptors" in name or name == "threads"
        return "%d" % value if is_count else "%.1f MiB" % (value / MiB)

    def judge(self):
        troubles = list(self.wrong)
        half = self.arguments.seconds / 2
        late = [(at, sample) for at, sample in self.samples if at >= half]
        series = {}
        for name, (floor, bound) in RULES.items():
            values = [sample[name] for _, sample in late]
            if len(values) < 3:
                troubles.append("too few samples")
                break
            slope, _ = statistics.linear_regression([at for at, _ in late], values)
            mean = statistics.fmean(values)
            rise = slope * (late[-1][0] - late[0][0])
            series[name] = {
                "first": self.samples[0][1][name], "mean": round(mean), "last": values[-1], "most": max(values),
                "rise": round(rise), "percentAnHour": round(100 * slope * 3600 / mean, 2) if mean else 0,
            }
            if max(sample[name] for _, sample in self.samples) > bound:
                troubles.append("%s passed %s" % (name, self.written(name, bound)))
            is_short = half < MEMORY
            is_judged = floor is not None and not (name == "hub.sqlite" and is_short)
            share = 0.15 if name == "rss" and is_short else 0.03
            if is_judged and rise > max(floor, share * mean):
                troubles.append(
                    "%s rises by %s in %d s" % (name, self.written(name, rise), late[-1][0] - late[0][0]))
        requests = sum(self.counts.values())
        failed = sum(self.failures.values())
        if failed > requests / 1_000:
            troubles.append("%d of %d requests failed" % (failed, requests))
        times = sorted(self.times) or [0]
        return {
            "passed": not troubles, "troubles": troubles, "seed": self.arguments.seed,
            "seconds": self.arguments.seconds, "clients": self.arguments.clients, "requests": requests,
            "byMethod": self.counts, "events": self.events, "failures": self.failures,
            "p50ms": round(1000 * times[len(times) // 2], 1), "p99ms": round(1000 * times[len(times) * 99 // 100], 1),
            "series": series,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    environment = os.environ.get
    parser.add_argument("binaries")
    parser.add_argument("--seconds", type=float, default=float(environment("SOAK_SECONDS", "3600")))
    parser.add_argument("--clients", type=int, default=int(environment("SOAK_CLIENTS", "200")))
    parser.add_argument("--seed", type=int, default=int(environment("SOAK_SEED", "1")))
    parser.add_argument("--summary", help="also writes the summary here")
    arguments = parser.parse_args()
    # Ends this script normally, so that the daemon is stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("soak: terminated"))
    soak = Soak(arguments)
    try:
        soak.start()
        try:
            asyncio.run(soak.run())
        finally:
            status = soak.stop()
        summary = soak.judge()
        if status != 0:
            summary["passed"] = False
            summary["troubles"].append("the daemon's exit status is %d" % status)
    finally:
        tail = open(soak.log).read()[-3000:] if os.path.exists(soak.log) else ""
        shutil.rmtree(soak.folder, ignore_errors=True)
    text = json.dumps(summary, indent=2)
    print(text)
    if arguments.summary:
        with open(arguments.summary, "w") as file:
            file.write(text + "\n")
    if not summary["passed"]:
        print(tail, file=sys.stderr)
        sys.exit("soak: " + "; ".join(summary["troubles"]))


if __name__ == "__main__":
    main()
