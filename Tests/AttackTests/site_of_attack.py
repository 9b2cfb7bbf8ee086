"""The target of an attack: one daemon's public ports, and the attackers' accounts."""

import functools
import json
import os
import subprocess

from mqtt import tls
from web import Web

HOUR = 3600
# Addresses for documentation (RFC 5737) that the script assigns to the loopback interface: each attacker has its own,
# as on a network, and the owner connects from 127.0.0.1.
SOURCES = {
    "stranger": [f"192.0.2.{number}" for number in range(10, 20)],
    "guest": ["192.0.2.20", "192.0.2.21", "192.0.2.22"],
    "neighbour": [f"192.0.2.{number}" for number in range(23, 28)],
    "member": ["192.0.2.30"],
    "replayer": ["192.0.2.35", "192.0.2.36"],
    "notified": ["192.0.2.38"],
    "device": ["192.0.2.40"],
    "caller": ["192.0.2.37", "192.0.2.39"],
}


class Site:
    def __init__(self, values):
        self.values = values
        self.folder, self.socket = values["folder"], values["socket"]
        self.port, self.broker, self.rtsp = values["port"], values["broker"], values["rtsp"]
        self.lan = values["lan"]
        self.lifetime = values["lifetime"]
        self.iotctl = os.path.join(os.path.dirname(values["daemon"]), "iotctl")

    @staticmethod
    def load(path):
        with open(path) as file:
            return Site(json.load(file))

    def save(self):
        path = os.path.join(self.folder, "site.json")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self.values, file)
        return path

    @functools.cached_property
    def tls(self):
        return tls(os.path.join(self.folder, "data/keys/ca.pem"))

    # The owner

    async def own(self, method, path, body=None, may_fail=False):
        """Sends a request as the owner, at the Unix socket."""
        web = Web(socket_path=self.socket)
        try:
            answer = await web.ask(method, path, body)
        finally:
            web.close()
        assert may_fail or answer.status < 300, f"the owner's {method} {path}: {answer}"
        return answer if may_fail else answer.json

    def control(self, *arguments):
        """Runs iotctl as the owner; returns its status, output and errors."""
        run = subprocess.run([self.iotctl, "--socket", self.socket, *arguments], capture_output=True, text=True, timeout=60)
        return run.returncode, run.stdout, run.stderr

    # Accounts

    async def token(self, account, kind="api", seconds=None, **more):
        return await self.own(
            "POST", "/v1/tokens", {"kind": kind, "user": account, "ttlSeconds": seconds or self.lifetime, **more})

    async def key(self, account, *devices):
        """A media key of the account, and its id."""
        made = await self.own("POST", "/v1/keys", {
            "name": "player", "user": account, "devices": list(devices), "ttlSeconds": self.lifetime})
        return made["key"], made["id"]

    async def account(self, name, kind="member"):
        await self.own("POST", "/v1/users", {"accessId": name, "kind": kind}, may_fail=True)

    async def guest(self, name, source, device="front", actions=("view",), **options):
        """An account that may view the camera, with its own connection; the token is in `token`."""
        await self.account(name)
        await self.bind(name, device, actions)
        made = await self.token(name, **options)
        return Web(port=self.port, token=made["token"], source=source), made

    async def bind(self, name, device="front", actions=("view",)):
        answer = await self.own(
            "PUT", f"/v1/devices/{device}/bindings/{name}", {"actions": list(actions)}, may_fail=True)
        assert answer.code in (0, 8022), answer
