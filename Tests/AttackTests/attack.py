"""Attacks a real daemon: a stranger, guests, members, a neighbour on the local network and a device run at the same time,
while the owner works as on any day. Their scripts (roles/) contain the attacks that succeeded against the first release.

Every attack must get its documented refusal, and every request of the owner its answer. Afterwards the daemon must
have freed the attackers' resources, stop cleanly, and start again with all acknowledged writes.

Usage: attack.py [--seconds N] [--goals] [--seed N] [--role ROLE [--only ATTACK ...]]; attack.sh runs it.

--seconds  how long the scripts are repeated; each runs at least once (0)
--goals    also checks times and memory, which needs a release build and an otherwise idle machine: the owner's p99
           is under 250 ms, and the memory returns to that of a daemon just started with the same data. The hub
           stores answers for ten minutes, so memory is checked eleven minutes after the attack, and only after an
           attack of ten minutes or more
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
from roles.caller import Caller  # noqa: E402
from roles.device import Device  # noqa: E402
from roles.guest import Guest  # noqa: E402
from roles.member import Member  # noqa: E402
from roles.neighbour import Neighbour  # noqa: E402
from roles.notified import Notified  # noqa: E402
from roles.replayer import Replayer  # noqa: E402
from roles.stranger import Stranger  # noqa: E402
from site_of_attack import HOUR, Site  # noqa: E402

ROLES = {role.__name__.lower(): role for role in [
    Stranger, Guest, Member, Device, Replayer, Notified, Neighbour, Caller]}
CLIP = "street-h264-aac.mp4"
GOAL = 0.25
# The broker's memory at which its supervisor restarts it (BrokerLimits.restartBytes), and a second's growth.
BROKER_BOUND = 640 * MiB
# The time in which the attackers' resources must be freed: a call's consent and an idle channel last 30 s.
REST = 120
# Answers are stored for ten minutes.
MEMORY = 660
# Free memory that malloc keeps, and caches that are filled at the first use.
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
        self.broker_port, self.rtsp_port, self.lan_port = free_port(), free_port(), free_port()
        settings = (
            f"hub:\n  tls: {{listen: '127.0.0.1:{self.broker_port}', names: ['127.0.0.1']}}\n"
            f"rtsp: {{listen: '127.0.0.1:{self.rtsp_port}'}}\n"
            f"lan: {{listen: '127.0.0.1:{self.lan_port}'}}\n"
            "media: {listen: '127.0.0.1:0'}\n"
            f"recording: {{directory: '{self.folder}/recordings'}}\n")
        self.daemon = Daemon(self.folder, {"front": CLIP}, media=settings, recorded=["front"])

    async def prepare(self):
        """Makes the accounts and the devices of the attackers."""
        self.site = Site({
            "folder": str(self.folder), "socket": f"{self.folder}/s", "port": self.daemon.port,
            "broker": self.broker_port, "rtsp": self.rtsp_port, "lan": self.lan_port, "lifetime": int(self.arguments.seconds) + HOUR,
            "daemon": os.environ["DAEMON"], "clip": str(SAMPLES / CLIP), "devices": {}, "tokens": {}})
        site = self.site
        self.marker = "marker-" + secrets.token_hex(4)
        await site.account(self.marker)
        await site.account("mallory")
        await site.account("notified")
        await site.account("second", "administrator")
        second = await Link(site, "u/second", (await site.token("second", "link"))["token"]).open()
        for name, owner in [("stone", "mallory"), ("lamp", "mallory"), ("bell", "owner")]:
            made = await site.own("POST", "/v1/devices", {"name": name, "owner": owner})
            site.values["devices"][name] = made["device"]
            reply = await second.ask("token.create", {
                "principal": f"d/{made['device']}", "ttlSeconds": site.lifetime})
            assert reply.code == 0, reply
            site.values["tokens"][name] = reply.result["token"]
        second.close()
        # The hub tells the gateway about the devices of the gateway's own account.
        await site.bind("notified", "bell")
        await site.own("POST", "/v1/cameras", {
            "name": "porch", "url": str(SAMPLES / CLIP), "talk": "none", "live": "ask"})
        self.camera = next(
            camera["device"] for camera in (await site.own("GET", "/v1/cameras"))["cameras"] if camera["name"] == "front")
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
        """Runs each role in its own process, with lower priority: on another machine they would not slow it."""
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
        # Caches that the first use fills must exist when the start is measured.
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
        """Waits until the attackers' resources are freed."""
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
        self.check(measures.peak["broker memory"] < BROKER_BOUND, "the broker's memory is not bounded")
        if self.arguments.goals:
            self.check(owner.percentile(times, 0.99) < GOAL, "the owner's p99 is over 250 ms")
        if self.judges_memory:
            self.check(not measures.over("broker memory", KEPT), "the broker's memory does not come back")

    def audit(self):
        changes = "".join(path.read_text() for path in sorted(Path(self.folder, "data").glob("audit.log*")))
        self.check("/v1/users" in changes, "the owner's changes are not in the audit log")
        self.check('"status":401' not in changes, "refusals are among the changes")
        refusals = Path(self.folder, "data/audit-refused.log")
        if "stranger.refusals_for_the_audit" in self.counts:
            # Ten lines a second, each with a path of up to 512 bytes and other fields.
            bound = min(11 * MiB, 10 * 1_000 * (time.monotonic() - self.began))
            self.check(0 < refusals.stat().st_size <= bound, "the refusals' file is too large")

    def restart(self):
        """The daemon stops cleanly, has set no row aside, and has all acknowledged writes after a restart."""
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
        # The attackers' stored data stays, within its limits: the reference is a daemon that has just loaded it.
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
            # The owner cannot read mallory's device.
            self.daemon.token = self.daemon.local(
                "POST", "/v1/tokens", {"kind": "api", "user": "mallory", "ttlSeconds": 60})["token"]
            status, body, _ = self.daemon.request("GET", f"/v1/devices/{expected['device']}/properties?path=ProUser")
            cafes = [(name, value) for name, value in json.loads(body).get("value", {}).items() if name[:3] == "caf"]
            self.check(len(cafes) == 1 and cafes[0][1]["val"] == expected["value"],
                       f"{expected} was acknowledged, and is now {cafes} ({status})")
        self.daemon.stop()


def act(arguments):
    """Runs one attacker's process."""
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
