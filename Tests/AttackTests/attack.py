"""Attacks a real daemon: a stranger, a guest, a member and a device at once, each with a script of what the first release
let pass (roles/), while its owner goes on as on any day.

Every attack must get its documented refusal and every request of the owner's its answer; then the daemon must have given
back what the attackers took, end in order, and start again with everything that was acknowledged.

Usage: attack.py [--seconds N] [--goals] [--seed N] [--role ROLE [--only ATTACK ...]]; run it by attack.sh.

--seconds  how long the scripts are repeated; each runs once in any case (0)
--goals    also judges times and memory, which takes a release build and a machine that does nothing else: the owner's
           p99 is under 250 ms, and the memory comes back to what a daemon takes that starts on the same data. The hub
           remembers answers for ten minutes, so memory is judged eleven minutes after the attack, and only after one of
           ten minutes or more
"""

import argparse
import asyncio
import json
import os
import resource
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/InteropTests"))

from daemon import SAMPLES, Daemon, eventually, free_port  # noqa: E402
from link import Link  # noqa: E402
from measures import MiB, Measures, of_process  # noqa: E402
from owner import Owner  # noqa: E402
from roles.device import Device  # noqa: E402
from roles.guest import Guest  # noqa: E402
from roles.member import Member  # noqa: E402
from roles.stranger import Stranger  # noqa: E402
from site_of_attack import HOUR, Site  # noqa: E402

ROLES = {role.__name__.lower(): role for role in [Stranger, Guest, Member, Device]}
CLIP = "street-h264-aac.mp4"
GOAL = 0.25
# What the broker may hold before its supervisor starts it again (BrokerLimits.restartBytes), and a second's growth.
BROKER_BOUND = 640 * MiB
# How long what the attackers left may take to be given back: a call's consent lasts 30 s, an idle channel's time 30 s.
REST = 120
# Answers are remembered for ten minutes.
MEMORY = 660
# What malloc keeps of memory that is free again, and what the first use of each part makes.
KEPT = 96 * MiB


class Attack:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.failures = []
        self.counts = {}

    def check(self, condition, what):
        if not condition:
            self.failures.append(what)
            print("FAILED:", what, flush=True)

    def start(self):
        self.began = time.monotonic()
        self.broker_port, self.rtsp_port = free_port(), free_port()
        settings = (
            f"hub:\n  tls: {{listen: '127.0.0.1:{self.broker_port}', names: ['127.0.0.1']}}\n"
            f"rtsp: {{listen: '127.0.0.1:{self.rtsp_port}'}}\n"
            "media: {listen: '127.0.0.1:0'}\n")
        self.daemon = Daemon(self.folder, {"front": CLIP}, media=settings)

    async def prepare(self):
        """The accounts and the devices of the attackers."""
        self.site = Site({
            "folder": str(self.folder), "socket": f"{self.folder}/s", "port": self.daemon.port,
            "broker": self.broker_port, "rtsp": self.rtsp_port, "lifetime": int(self.arguments.seconds) + HOUR,
            "daemon": os.environ["DAEMON"], "clip": str(SAMPLES / CLIP), "devices": {}, "tokens": {}})
        site = self.site
        self.marker = "marker-" + secrets.token_hex(4)
        await site.account(self.marker)
        await site.account("mallory")
        await site.account("second", "administrator")
        second = await Link(site, "u/second", (await site.token("second", "link"))["token"]).open()
        for name in ["stone", "lamp"]:
            made = await site.own("POST", "/v1/devices", {"name": name, "owner": "mallory"})
            site.values["devices"][name] = made["device"]
            reply = await second.ask("token.create", {
                "principal": f"d/{made['device']}", "ttlSeconds": site.lifetime})
            assert reply.code == 0, reply
            site.values["tokens"][name] = reply.result["token"]
        second.close()
        self.camera = next(camera["device"] for camera in (await site.own("GET", "/v1/cameras"))["cameras"])
        await site.own("POST", "/v1/devices/front/user-properties/owner", -1)
        self.owner = Owner(site, (await site.token("owner"))["token"])
        self.place = site.save()

    async def read(self, process):
        async for line in process.stdout:
            result = json.loads(line)
            name = f"{result['role']}.{result['attack']}"
            self.counts[name] = self.counts.get(name, 0) + 1
            if result["failure"] or self.counts[name] == 1:
                print("%8.1f s  %-10s %-48s [%s] %s" % (
                    result["seconds"], result["role"], result["attack"], result["finding"],
                    "FAILED: " + result["failure"] if result["failure"] else "held"), flush=True)
            if result["failure"]:
                self.failures.append(f"{name}: {result['failure'].strip().splitlines()[-1]}")

    async def roles(self):
        """Each in a process of its own, and after the daemon: on other machines they would take none of its time."""
        processes = []
        for name in ROLES:
            if self.arguments.role and name not in self.arguments.role:
                continue
            command = ["nice", "-n", "5", sys.executable, __file__, "--act", name, self.place,
                       "--seconds", str(self.arguments.seconds), "--seed", str(self.arguments.seed)]
            command += ["--only", *self.arguments.only] if self.arguments.only else []
            processes.append(await asyncio.create_subprocess_exec(
                *command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}))
        try:
            await asyncio.gather(*(self.read(process) for process in processes))
            for process in processes:
                self.check(await process.wait() == 0, f"an attacker ended with status {process.returncode}")
        finally:
            for process in processes:
                if process.returncode is None:
                    process.kill()

    async def measure(self, period=0.5):
        while True:
            self.measures.take()
            await asyncio.sleep(period)

    async def run(self):
        await self.prepare()
        self.measures = Measures(self.daemon.process.pid)
        tasks = [asyncio.ensure_future(self.owner.ordinary()), asyncio.ensure_future(self.owner.watching())]
        # What is made at the first use is there when the start is measured.
        await asyncio.sleep(8)
        tasks.append(asyncio.ensure_future(self.measure()))
        status = await self.site.own("GET", "/v1/status")
        began = time.monotonic()
        try:
            await self.roles()
        finally:
            print("the attackers took %.0f s" % (time.monotonic() - began))
            await self.rest()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        after = await self.site.own("GET", "/v1/status")
        if len(self.measures.brokers) == 1:
            self.check(after["link"]["since"] == status["link"]["since"], f"the gateway's link was lost: {after['link']}")
        self.check(after["link"]["status"] == 1, f"the gateway's link is {after['link']}")
        camera = self.daemon.camera("front")
        self.check(camera["state"] == "ready" and camera["viewers"] == 0, f"the camera is {camera}")

    async def rest(self):
        """Until what the attackers left is given back."""
        for _ in range(REST):
            self.measures.take()
            if not self.measures.over("daemon descriptors", 16) and not self.measures.over("broker descriptors", 8) \
                    and self.daemon.camera("front")["viewers"] == 0:
                break
            await asyncio.sleep(1)
        if self.judges_memory:
            await asyncio.sleep(MEMORY)
        self.measures.take()

    @property
    def judges_memory(self):
        return self.arguments.goals and self.arguments.seconds >= 600

    def judge(self):
        owner, measures = self.owner, self.measures
        print("the owner:\n" + owner.table())
        print("what was taken:\n" + measures.table())
        times = owner.judged()
        self.check(len(times) > 20, f"the owner made only {len(times)} requests")
        for failure in owner.failures[:10]:
            self.check(False, f"the owner: {failure}")
        self.check(len(owner.failures) <= 10, f"{len(owner.failures)} of the owner's requests failed")
        self.check(not measures.over("daemon descriptors", 16), "descriptors do not come back")
        self.check(not measures.over("broker descriptors", 8), "the broker's descriptors do not come back")
        self.check(not measures.over("daemon threads", 16), "threads do not come back")
        self.check(measures.peak["broker memory"] < BROKER_BOUND, "the broker's memory has no bound")
        if self.arguments.goals:
            self.check(owner.percentile(times, 0.99) < GOAL, "the owner's p99 is over 250 ms")
        if self.judges_memory:
            self.check(not measures.over("broker memory", KEPT), "the broker's memory does not come back")

    def audit(self):
        changes = "".join(path.read_text() for path in sorted(Path(self.folder, "data").glob("audit.log*")))
        self.check("/v1/users" in changes, "the owner's changes are not in the audit log")
        self.check('"status":401' not in changes, "refusals stand among the changes")
        refusals = Path(self.folder, "data/audit-refused.log")
        if "stranger.refusals_for_the_audit" in self.counts:
            # Ten lines a second, of a path's 512 bytes and some more.
            bound = min(11 * MiB, 10 * 1_000 * (time.monotonic() - self.began))
            self.check(0 < refusals.stat().st_size <= bound, "the refusals' file has no bound")

    def restart(self):
        """It ends in order, has set nothing aside, and has all that was acknowledged when it is back."""
        before = self.daemon.local("GET", "/v1/devices")["devices"]
        self.daemon.stop()
        log = self.daemon.log()
        for word in ["Fatal error", "A request failed inside", "set aside"]:
            self.check(word not in log, f"the log has '{word}'")
        database = Path(self.folder, "data/hub.sqlite")
        with sqlite3.connect(database) as store:
            aside = store.execute("SELECT count(*) FROM set_aside").fetchone()[0]
        self.check(aside == 0, f"{aside} rows are set aside")
        size = sum(path.stat().st_size for path in database.parent.glob("hub.sqlite*"))
        self.check(size < 400 * MiB, f"the database has {size / MiB:.0f} MiB")
        self.daemon.start()
        eventually("the camera", lambda: self.daemon.camera("front")["state"] == "ready", 60)
        # What the attackers may store stays, within its bounds: a daemon that has just read it is the measure.
        fresh = of_process(self.daemon.process.pid)["memory"]
        kept = self.measures.last["daemon memory"] - fresh
        print("started again with the same data, the daemon takes %.1f MiB" % (fresh / MiB))
        if self.judges_memory:
            self.check(kept < KEPT, "the daemon's memory does not come back: %.0f MiB more" % (kept / MiB))
        after = self.daemon.local("GET", "/v1/devices")["devices"]
        self.check([device["id"] for device in before] == [device["id"] for device in after], "other devices than before")
        self.check(self.daemon.camera("front")["device"] == self.camera, "the camera is another device")
        written = Path(self.folder, "written")
        if written.exists():
            expected = json.loads(written.read_text())
            # Her device is hers alone.
            self.daemon.token = self.daemon.local(
                "POST", "/v1/tokens", {"kind": "api", "user": "mallory", "ttlSeconds": 60})["token"]
            status, body, _ = self.daemon.request("GET", f"/v1/devices/{expected['device']}/properties?path=ProUser")
            cafes = [(name, value) for name, value in json.loads(body).get("value", {}).items() if name[:3] == "caf"]
            self.check(len(cafes) == 1 and cafes[0][1]["val"] == expected["value"],
                       f"{expected} was acknowledged, and is now {cafes} ({status})")
        self.daemon.stop()


def act(arguments):
    """One attacker's process."""
    site = Site.load(arguments.act[1])
    asyncio.run(ROLES[arguments.act[0]](site, arguments.seed).run(arguments.seconds, arguments.only))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--goals", action="store_true")
    parser.add_argument("--role", nargs="+", choices=sorted(ROLES))
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--act", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit if limit < 0 else min(limit, 65_536), limit))
    if arguments.act:
        act(arguments)
        return
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        attack = Attack(arguments, folder)
        attack.start()
        try:
            asyncio.run(attack.run())
            attack.judge()
            attack.audit()
            attack.restart()
        finally:
            if attack.daemon.process.poll() is None:
                attack.daemon.process.kill()
                attack.daemon.process.wait()
            if attack.failures or sys.exc_info()[0]:
                print("--- the daemon's log:\n", attack.daemon.log()[-6_000:])
                for path in Path(folder, "data/broker").glob("*log*"):
                    print("--- the broker's log:\n", "\n".join(
                        line for line in path.read_text(errors="replace").splitlines() if "OpenSSL" not in line)[-3_000:])
    if attack.failures:
        raise SystemExit("attack: " + "\n  ".join(attack.failures))
    print(f"attack: all {sum(attack.counts.values())} held")


if __name__ == "__main__":
    main()
