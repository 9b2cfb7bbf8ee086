#!/usr/bin/python3
"""Starts and stops services and watches paths as systemd does, on a machine where systemd does not run. For tests of the
packaged units.

Usage: units.py machine [OPTION…]
       systemctl COMMAND [UNIT…]      with a link of that name to this file

`machine` starts the enabled units and obeys `systemctl` until it is killed; OPTION is for as_unit.py, which must be in
the same folder and runs the services. In a process namespace of its own (unshare --pid --fork
--mount-proc), `kill -9` of `machine` is a power cut.

systemctl knows: start, stop, restart, enable [--now], preset, is-enabled, is-active, reset-failed, daemon-reload,
is-system-running. Of a service it obeys Type=oneshot, Restart=on-failure, RestartSec=, TimeoutStopSec= and KillMode=mixed,
and systemd's default limit of starts; of a path PathExists=, for the service of the same name; drop-ins in /etc.
"""
import asyncio
import glob
import json
import os
import shutil
import signal
import socket
import sys
import time

SOCKET = "/run/units.sock"
FOLDERS = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
WANTS = "/etc/systemd/system/multi-user.target.wants"
# systemd-system.conf(5): DefaultStartLimitIntervalSec=, DefaultStartLimitBurst=.
LIMIT_SECONDS, LIMIT_STARTS = 10, 5


def path_of(name):
    for folder in FOLDERS:
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    raise KeyError(f"Unit {name} could not be found.")


def files_of(name):
    return [path_of(name), *sorted(glob.glob(f"/etc/systemd/system/{name}.d/*.conf"))]


def values(name, key):
    found = []
    for path in files_of(name):
        found += [line.partition("=")[2].strip() for line in open(path) if line.startswith(key + "=")]
    return found


def value(name, key, default=""):
    return (values(name, key) or [default])[-1]


class Service:
    def __init__(self, name, options):
        self.name, self.options = name, options
        self.process = self.running = None
        self.starts = []
        self.is_stopping = False

    @property
    def is_active(self):
        return self.running is not None and not self.running.done()

    async def start(self):
        if not self.is_active:
            begun = asyncio.get_running_loop().create_future()
            self.is_stopping = False
            self.running = asyncio.ensure_future(self.run(begun))
            await begun
        if value(self.name, "Type") == "oneshot":
            await asyncio.shield(self.running)
        return 0 if self.is_active or value(self.name, "Type") == "oneshot" else 1

    async def run(self, begun):
        while True:
            now = time.monotonic()
            self.starts = [at for at in self.starts if now - at < LIMIT_SECONDS]
            if len(self.starts) >= LIMIT_STARTS:
                print(f"{self.name}: Start request repeated too quickly.", flush=True)
                break
            self.starts.append(now)
            print(f"{self.name}: started", flush=True)
            self.process = await asyncio.create_subprocess_exec(
                os.path.dirname(os.path.realpath(__file__)) + "/as_unit.py", *files_of(self.name), *self.options,
                stdin=asyncio.subprocess.DEVNULL, start_new_session=True)
            if not begun.done():
                begun.set_result(None)
            status = await self.process.wait()
            print(f"{self.name}: ended with status {status}", flush=True)
            # What is left of it is killed, and its runtime directory removed.
            self.kill_group()
            for folder in value(self.name, "RuntimeDirectory").split():
                shutil.rmtree(f"/run/{folder}", ignore_errors=True)
            if self.is_stopping or status == 0 or value(self.name, "Restart") != "on-failure":
                break
            await asyncio.sleep(float(value(self.name, "RestartSec", "0.1")))
            if self.is_stopping:
                break
        if not begun.done():
            begun.set_result(None)

    async def stop(self):
        if not self.is_active:
            return 0
        self.is_stopping = True
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            await asyncio.wait([self.running], timeout=float(value(self.name, "TimeoutStopSec", "90")))
            self.kill_group()
        await self.running
        return 0

    def kill_group(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Path:
    """Starts the service of its name while one of its files exists and the service does not run."""

    def __init__(self, name, machine):
        self.name, self.machine = name, machine
        self.watching = None

    @property
    def is_active(self):
        return self.watching is not None

    async def start(self):
        if not self.watching:
            self.watching = asyncio.ensure_future(self.watch())
        return 0

    async def watch(self):
        service = self.machine.unit(self.name.removesuffix(".path") + ".service")
        while True:
            if any(os.path.exists(path) for path in values(self.name, "PathExists")):
                await service.start()
            await asyncio.sleep(0.1)

    async def stop(self):
        if self.watching:
            self.watching.cancel()
            self.watching = None
        return 0


class Machine:
    def __init__(self, options):
        self.options = options
        self.units = {}

    def unit(self, name):
        path_of(name)
        if name not in self.units:
            self.units[name] = Path(name, self) if name.endswith(".path") else Service(name, self.options)
        return self.units[name]

    async def obey(self, command, names, now):
        """The exit status, and what to print."""
        if command in ("daemon-reload", "is-system-running"):
            return 0, ""
        status, text = 0, []
        for name in names:
            unit = self.unit(name)
            if command in ("stop", "restart"):
                status = await unit.stop() or status
            if command in ("start", "restart") or command == "enable" and now:
                status = await unit.start() or status
            if command == "reset-failed":
                unit.starts = []
            if command in ("enable", "preset") and not os.path.lexists(f"{WANTS}/{name}"):
                os.makedirs(WANTS, exist_ok=True)
                os.symlink(path_of(name), f"{WANTS}/{name}")
            if command == "is-enabled":
                text.append("enabled" if os.path.lexists(f"{WANTS}/{name}") else "disabled")
                status = 0 if text[-1] == "enabled" else 1
            if command == "is-active":
                text.append("active" if unit.is_active else "inactive")
                status = 0 if unit.is_active else 3
        return status, "\n".join(text)

    async def serve(self, reader, writer):
        try:
            request = json.loads(await reader.readline())
            try:
                answer = await self.obey(*request)
            except KeyError as error:
                answer = 5, error.args[0]
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def run(self):
        if os.path.exists(SOCKET):
            os.remove(SOCKET)
        for name in os.listdir(WANTS) if os.path.isdir(WANTS) else []:
            # Others' units need what this is not.
            if name.startswith("iotvideod"):
                await self.unit(name).start()
        server = await asyncio.start_unix_server(self.serve, SOCKET)
        await server.serve_forever()


def systemctl(arguments):
    names = [argument for argument in arguments if not argument.startswith("-")]
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(SOCKET)
        except OSError:
            sys.exit("systemctl: the machine does not run")
        client.sendall(json.dumps([names[0], names[1:], "--now" in arguments]).encode() + b"\n")
        answer = client.makefile().readline()
    # The power went.
    status, text = json.loads(answer) if answer else (1, "")
    if text and "--quiet" not in arguments:
        print(text)
    sys.exit(status)


if os.path.basename(sys.argv[0]) == "systemctl":
    systemctl(sys.argv[1:])
elif sys.argv[1:2] == ["machine"]:
    asyncio.run(Machine(sys.argv[2:]).run())
else:
    sys.exit(__doc__)
