"""Two boxes joined by a cable, and `directory-probe` in a box."""
import json
import os
import queue
import subprocess
import threading

from boxes import Box

PROBE = os.environ["PROBE"]


class Probe:
    """A running `directory-probe`."""

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
    """The boxes `yard` (192.0.2.1) and `hub` (192.0.2.2)."""

    def __enter__(self):
        self.yard, self.hub = Box("yard"), Box("hub")
        subprocess.run(["ip", "link", "add", "lan0", "netns", str(self.yard.holder.pid), "type", "veth",
                        "peer", "name", "lan0", "netns", str(self.hub.holder.pid)], check=True)
        for number, box in enumerate((self.yard, self.hub), 1):
            # Otherwise addresses are unusable until duplicate address detection ends.
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
