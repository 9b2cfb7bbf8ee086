"""Two boxes on a cable, each with a network, a /run, a D-Bus and an Avahi of its own."""
import json
import os
import queue
import subprocess
import threading
import time

PROBE = os.environ["PROBE"]


def eventually(what, condition, seconds=15):
    """Waits for a condition, and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.2)


class Box:
    def __init__(self, name):
        self.name = name
        self.processes = []
        self.avahi = None
        # Holds the namespaces. Its /run is its own, so that no daemon of the machine is reached.
        script = "mount -t tmpfs tmpfs /run && mkdir -p /run/dbus /run/avahi-daemon && ip link set lo up && echo ready && exec sleep infinity"
        self.holder = subprocess.Popen(["unshare", "-m", "-n", "--propagation", "private", "sh", "-c", script],
                                       stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline().strip() == "ready"

    def inside(self, *command):
        return ["nsenter", "-t", str(self.holder.pid), "-m", "-n", *command]

    def run(self, *command, **options):
        return subprocess.run(self.inside(*command), check=True, text=True, stdout=subprocess.PIPE, **options).stdout

    def start(self, *command, **options):
        process = subprocess.Popen(self.inside(*command), text=True, **options)
        self.processes.append(process)
        return process

    def stop(self, process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start_bus(self):
        self.start("dbus-daemon", "--system", "--nofork", "--nopidfile", stderr=subprocess.DEVNULL)
        eventually("the bus", lambda: self.has("/run/dbus/system_bus_socket"))

    def start_avahi(self):
        # Another instance of the machine's own is not seen: its pid file is in the other /run.
        self.avahi = self.start("avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "--file=/dev/null",
                                stderr=subprocess.DEVNULL)
        eventually("Avahi", lambda: self.has("/run/avahi-daemon/socket"))

    def stop_avahi(self):
        self.stop(self.avahi)

    def has(self, path):
        return subprocess.run(self.inside("test", "-e", path)).returncode == 0

    def publish(self, name, kind, port, *text):
        return self.start("avahi-publish", "-s", name, kind, str(port), *text, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL)

    def browse(self, kind="_iotlink._udp"):
        """Name → (host, address, port, strings), as avahi-browse finds them."""
        found = {}
        # It never ends when a service goes while it is resolved.
        command = self.inside("timeout", "8", "avahi-browse", "-rpt", kind)
        output = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for line in output.splitlines():
            fields = line.split(";")
            if fields[0] == "=" and len(fields) >= 10:
                name = fields[3]
                # \DDD is a byte.
                raw, i = bytearray(), 0
                while i < len(name):
                    if name[i] == "\\" and name[i + 1:i + 4].isdigit():
                        raw.append(int(name[i + 1:i + 4]))
                        i += 4
                    elif name[i] == "\\":
                        raw += name[i + 1].encode()
                        i += 2
                    else:
                        raw += name[i].encode()
                        i += 1
                found[raw.decode()] = (fields[6], fields[7], int(fields[8]), ";".join(fields[9:]))
        return found

    def has_socket(self, pid):
        """Whether a process has a socket on port 5353."""
        return f"pid={pid}," in self.run("ss", "-Hulnp", "sport = :5353")

    def close(self):
        for process in reversed(self.processes):
            self.stop(process)
        self.holder.kill()
        self.holder.wait()


class Probe:
    """Our side, in a box."""

    def __init__(self, box, way):
        self.box = box
        self.process = box.start(PROBE, way, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1)
        self.lines = queue.Queue()
        self.devices = {}
        self.lost = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put("ended")

    def _take(self, line):
        word, _, rest = line.partition(" ")
        if word == "found":
            device = json.loads(rest)
            kind = next(i.rsplit(".", 2) for i in device["identities"] if i.startswith("service:"))
            self.devices[(".".join(kind[1:]), device["name"])] = device
        elif word == "lost":
            kind, _, name = rest.partition(" ")
            self.devices.pop((kind, name), None)
            self.lost.append((kind, name))

    def found(self):
        while True:
            try:
                self._take(self.lines.get_nowait())
            except queue.Empty:
                return self.devices

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        while True:
            answer = self.lines.get(timeout=20)
            assert answer != "ended", "the probe ended"
            if answer == "ok":
                return
            self._take(answer)

    def announce(self, *cameras):
        self.ask("announce " + json.dumps(
            [{"name": name, "id": device, "hasOwner": owner} for name, device, owner in cameras]))

    def close(self):
        self.ask("close")
        self.process.wait(10)


class Boxes:
    """`yard` and `hub`, 192.0.2.1 and 192.0.2.2."""

    def __enter__(self):
        self.yard, self.hub = Box("yard"), Box("hub")
        subprocess.run(["ip", "link", "add", "lan0", "netns", str(self.yard.holder.pid), "type", "veth",
                        "peer", "name", "lan0", "netns", str(self.hub.holder.pid)], check=True)
        for number, box in enumerate((self.yard, self.hub), 1):
            # No waiting for duplicate addresses.
            box.run("sysctl", "-qw", "net.ipv6.conf.lan0.accept_dad=0")
            box.run("ip", "addr", "add", f"192.0.2.{number}/24", "dev", "lan0")
        for box in (self.yard, self.hub):
            box.run("ip", "link", "set", "lan0", "up")
        self.yard.start_bus()
        self.yard.start_avahi()
        return self

    def __exit__(self, *_):
        for box in (self.hub, self.yard):
            box.close()
