"""Two networks with boxes: `hub`, which searches, boxes with cameras of iotvideod, and simulated ONVIF cameras of five
manufacturers.

    lan0 192.0.2.0/24      every box
    lan1 198.51.100.0/24   hub, house and gsoap-oem
"""

import concurrent.futures
import json
import os
import pathlib
import random
import subprocess

from boxes import Box
from daemon import Daemon
from unit_sandbox import unit

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "NetConfigTests" / "Fixtures"
REACHABLE = "media: {listen: '0.0.0.0:0'}\n"

# By fixture: the last byte of the address, which the fixture contains, and the options of vendor.py.
VENDORS = {
    "axis": (90, []),
    "hikvision-oem": (20, []),
    "tp-link": (30, ["--types-only"]),
    "gsoap-oem": (40, []),
    "predator": (50, []),
}
CAMERAS = {"house": 6, "yard": 1, "gate": 1, "shed": 1, "barn": 1}
SINGLES = ["yard", "gate", "shed", "barn"]
# The daemons that run with only the rights of the packaged service. `hub` searches, `yard` announces through Avahi, and
# `house` uses its own multicast DNS.
CONFINED = ["hub", "yard", "house"]


class Network:
    """`delay`: the longest time until an ONVIF camera answers, in milliseconds."""

    def __init__(self, folder, delay=500, seed=1):
        self.folder = pathlib.Path(folder)
        self.delay = delay
        self.random = random.Random(seed)
        self.boxes = {}
        self.daemons = {}
        self.switch = Box("switch")
        for lan in ("lan0", "lan1"):
            self.switch.run("ip", "link", "add", lan, "type", "bridge", "mcast_snooping", "0")
            self.switch.run("ip", "link", "set", lan, "up")

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in self.daemons.values():
            if daemon.process.poll() is None:
                daemon.process.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.process.wait(30)
            except subprocess.TimeoutExpired:
                daemon.process.kill()
        for box in [*self.boxes.values(), self.switch]:
            box.close()

    def box(self, name, number, lans=("lan0",)):
        box = self.boxes[name] = Box(name)
        for lan, prefix in (("lan0", "192.0.2"), ("lan1", "198.51.100")):
            if lan not in lans:
                continue
            port = f"{lan[-1]}{name}"[:15]
            subprocess.run(
                ["ip", "link", "add", port, "netns", str(self.switch.holder.pid), "type", "veth", "peer", "name", lan,
                 "netns", str(box.holder.pid)], check=True)
            self.switch.run("ip", "link", "set", port, "master", lan, "up")
            # Otherwise addresses are unusable until duplicate address detection ends.
            box.run("sysctl", "-qw", f"net.ipv6.conf.{lan}.accept_dad=0")
            box.run("ip", "addr", "add", f"{prefix}.{number}/24", "dev", lan)
            box.run("ip", "link", "set", lan, "up")
        return box

    def clip(self):
        """A clip with one small picture per second, so that ten cameras need little processor time."""
        path = self.folder / "clip.mp4"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=1:duration=20", "-c:v", "libx264",
             "-pix_fmt", "yuv420p", "-g", "5", "-bf", "0", str(path)], check=True)
        path.chmod(0o644)
        return path

    def daemon(self, name, cameras, clip):
        """Starts a daemon whose cameras play `clip`."""
        folder = self.folder / name
        folder.mkdir()
        folder.chmod(0o777)
        sandbox = unit(visible=[clip], writable=[folder]) if name in CONFINED else []
        self.daemons[name] = Daemon(
            folder, {camera: clip for camera in cameras}, media=REACHABLE if cameras else "",
            prefix=self.boxes[name].inside(*sandbox))

    def vendor(self, name, *options, interfaces=("lan0",)):
        script = [os.environ["PYTHON"], str(HERE / "vendor.py"), name, *options, *interfaces]
        process = self.boxes[name].start(*script, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout.readline() == "ready\n"
        return process

    def onvif(self, name, address, port, *options):
        """Starts the web service of an ONVIF camera, and returns its port and its certificate's fingerprint."""
        command = ["/usr/bin/python3", "-B", str(FIXTURES / "onvif_camera.py"), "--address", address, "--port", str(port)]
        process = self.boxes[name].start(*command, *options, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write('{"password": "secret"}\n')
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def build(self):
        self.box("hub", 1, ("lan0", "lan1"))
        self.box("house", 101, ("lan0", "lan1"))
        for number, name in enumerate(SINGLES, 102):
            self.box(name, number)
        for name, (number, _) in VENDORS.items():
            self.box(name, number, ("lan0", "lan1") if name == "gsoap-oem" else ("lan0",))
        # `yard` announces through Avahi, `hub` searches through Avahi, and `axis` uses both protocols.
        for name in ("yard", "hub", "axis"):
            self.boxes[name].start_bus()
            self.boxes[name].start_avahi()
        self.boxes["axis"].publish("AXIS M2036-LE - ACCC8E000001", "_axis-video._tcp", 80, "macaddress=ACCC8E000001")
        delays = [self.delay] + [self.random.uniform(0, self.delay) for _ in range(len(VENDORS) - 1)]
        for (name, (_, options)), delay in zip(VENDORS.items(), delays):
            lans = ("lan0", "lan1") if name == "gsoap-oem" else ("lan0",)
            self.vendor(name, "--delay", str(delay), *options, interfaces=lans)
        clip = self.clip()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            names = {name: [f"{name}{i}" for i in range(count)] for name, count in CAMERAS.items()}
            list(pool.map(lambda name: self.daemon(name, names.get(name, []), clip), [*CAMERAS, "hub"]))

    def hub_file(self, name):
        """The content of a file of the searching daemon in /proc/PID."""
        return pathlib.Path(f"/proc/{self.daemons['hub'].process.pid}/{name}").read_text()

    def devices(self):
        """The ids of iotvideod's cameras, by name."""
        return {
            camera["name"]: camera["device"]
            for daemon in self.daemons.values() for camera in daemon.local("GET", "/v1/cameras")["cameras"]
        }

    def iotctl(self, *arguments):
        return [os.environ["IOTCTL"], *arguments, "--socket", f"{self.folder}/hub/s"]
