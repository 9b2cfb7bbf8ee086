"""The tests of test.sh. Arguments name the tests to run; without arguments, all run."""

import json
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from daemon import eventually
from network import CAMERAS, VENDORS, Network

# Libraries that the daemon loads only on first use, because most daemons do not need them.
LAZY = ("libasound", "libavahi", "libdbus", "libzbar")


def discover(network, *options):
    command = network.iotctl("net", "discover", "--json", *options)
    answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return json.loads(answer.stdout)["devices"]


def loaded(network):
    maps = network.hub_file("maps")
    return {name for name in LAZY if name in maps}


def names(devices):
    return [device.get("name") or device.get("model") or device["addresses"] for device in devices]


def idle(network):
    """A daemon that does not announce and has not searched has not loaded the libraries of Avahi, D-Bus and zbar."""
    assert loaded(network) == set(), loaded(network)
    discover(network, "--timeout", "1s")
    # A search loads Avahi's library, so it is installed and the check above can fail.
    assert loaded(network) == {"libavahi", "libdbus"}, loaded(network)


def everything(network):
    """One search of 3 s finds ten cameras of iotvideod and five ONVIF cameras, none of them twice."""
    start = time.monotonic()
    devices = discover(network, "--timeout", "3s")
    print(f"   {len(devices)} devices, after {time.monotonic() - start:.1f} s:", names(devices), flush=True)
    ours = {device["name"]: device["deviceID"] for device in devices if device.get("deviceID")}
    assert ours == network.devices(), ours
    assert len(ours) == sum(CAMERAS.values()) == 10
    theirs = [device for device in devices if not device.get("deviceID")]
    assert len(theirs) == len(VENDORS), names(theirs)
    assert all(device["next"] == "add" and device["onvif"] for device in theirs), theirs
    assert len(devices) == 15, names(devices)
    identities = [identity for device in devices for identity in device["identities"]]
    assert len(identities) == len(set(identities)), identities


def several_ways(network):
    """A device on two networks, or with two protocols, is one row that shows both."""

    def both():
        devices = discover(network, "--timeout", "3s")
        rows = {device.get(key): device for key in ("name", "model") for device in devices}
        house, yard, axis, nvt = (rows.get(name, {}) for name in ("house0", "yard0", "M2036-LE", "IPC-model"))
        return (
            all(row.get("foundBy") == ["dnsSD", "wsDiscovery"] for row in (house, yard, axis))
            and {"192.0.2.101", "198.51.100.101"} <= set(house["addresses"])
            and {"192.0.2.40", "198.51.100.40"} <= set(nvt.get("addresses", []))
            and len(devices) == 15)

    eventually("both protocols and both networks", both, 30)


class Watch:
    """`iotctl net discover --watch`, and its output."""

    def __init__(self, network):
        self.process = subprocess.Popen(
            network.iotctl("net", "discover", "--watch", "--timeout", "1s", "--json"), stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.said = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def changes(self, change):
        while not self.lines.empty():
            self.said.append(self.lines.get())
        return [said["device"] for said in self.said if said["change"] == change]

    def has(self, change, name):
        return any(device.get("name") == name for device in self.changes(change))

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def coming_and_going(network):
    """--watch prints each camera that appears (Hello) or disappears (Bye), and no other change."""
    network.box("dahua-hello", 70)
    watch = Watch(network)
    try:
        eventually("all devices", lambda: len({d["identities"][0] for d in watch.changes("found")}) >= 15, 40)
        # It does not answer Probes yet, so only its Hello can be received.
        vendor = network.vendor("dahua-hello", "--appears")
        eventually("the Hello of the ONVIF camera", lambda: watch.has("found", "Dahua"))
        vendor.stdin.write("answer\n")
        vendor.stdin.flush()
        assert vendor.stdout.readline() == "answers\n"
        network.daemons["barn"].stop()
        eventually("the Bye of barn0", lambda: watch.has("gone", "barn0"))
        network.daemons["barn"].start()
        eventually(
            "the return of barn0", lambda: sum(d.get("name") == "barn0" for d in watch.changes("found")) == 2)
        vendor.stdin.close()
        eventually("the Bye of the ONVIF camera", lambda: watch.has("gone", "Dahua"))
        gone = [device.get("name") for device in watch.changes("gone")]
        assert sorted(gone) == ["Dahua", "barn0"], gone
    finally:
        watch.stop()


def add(network):
    """The URL that a search returns adds an HTTP camera; an HTTPS camera also needs its certificate's fingerprint."""
    network.onvif("hikvision-oem", "192.0.2.20", 80)
    fingerprint = network.onvif("axis", "192.0.2.90", 443, "--tls")["fingerprint"]
    found = discover(network, "--timeout", "3s")
    plain = next(device["onvif"] for device in found if device.get("macAddress") == "02:00:5e:00:00:02")
    encrypted = "https://192.0.2.90/onvif/device_service"
    assert any(encrypted in device["serviceURLs"] for device in found), found

    def run(name, url, *options):
        command = network.iotctl(
            "camera", "add", name, "--onvif", url, "--username", "admin", "--password-file", "-", "--no-wait", *options)
        return subprocess.run(command, input="secret", capture_output=True, text=True, timeout=60)

    answer = run("plain", plain)
    assert answer.returncode == 0 and "rtsp://192.0.2.20:8554/main (H265 2560x1440)" in answer.stdout, answer
    answer = run("encrypted", encrypted)
    assert answer.returncode != 0 and "25027" in answer.stderr and fingerprint in answer.stderr, answer
    answer = run("encrypted", encrypted, "--certificate", fingerprint)
    assert answer.returncode == 0 and "rtsp://192.0.2.90:8554/main" in answer.stdout, answer
    # Each camera is still one row, which now contains its name here.
    found = discover(network, "--timeout", "3s")
    cameras = {device.get("camera") for device in found}
    assert cameras >= {"plain", "encrypted"}, (cameras, network.daemons["hub"].local("GET", "/v1/cameras"))
    for name in ("plain", "encrypted"):
        subprocess.run(network.iotctl("camera", "remove", name, "--yes"), check=True, capture_output=True)


def main():
    failed = []
    with tempfile.TemporaryDirectory() as folder, Network(folder) as network:
        for test in (idle, everything, several_ways, add, coming_and_going):
            if len(sys.argv) > 1 and test.__name__ not in sys.argv[1:]:
                continue
            print(test.__name__, "-", test.__doc__, flush=True)
            start = time.monotonic()
            try:
                test(network)
            except Exception:
                traceback.print_exc()
                failed.append(test.__name__)
            print(f"   {time.monotonic() - start:.1f} s", flush=True)
        for name, daemon in network.daemons.items():
            if "Fatal error" in daemon.log() or daemon.process.poll() is not None:
                failed.append(f"the daemon of {name}")
            if failed:
                print(f"--- the log of {name}:\n{daemon.log()[-3000:]}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


main()
