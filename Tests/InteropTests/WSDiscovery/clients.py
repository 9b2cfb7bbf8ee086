"""An independent WS-Discovery library finds our cameras, and our program finds its service."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from wsdiscovery import QName, Scope
from wsdiscovery.discovery import ThreadedWSDiscovery
from wsdiscovery.publishing import ThreadedWSPublishing

from daemon import Daemon, eventually

OURS = "urn:x-iotvideod:discovery:1"
ONVIF = "http://www.onvif.org/ver10/network/wsdl"
CAMERAS = {"front": "street-h264-aac.mp4", "yard": "street-h265-aac.mp4"}


def search(client, **wanted):
    """The names of our cameras among the found services, and every endpoint reference."""
    services = client.searchServices(timeout=3, **wanted)
    names = []
    for service in services:
        for scope in service.getScopes():
            if scope.getValue().startswith("iotlink://camera/name/"):
                names.append(scope.getValue().rsplit("/", 1)[1])
    return sorted(names), [service.getEPR() for service in services]


def discover(folder):
    command = [os.environ["IOTCTL"], "net", "discover", "--socket", f"{folder}/s", "--timeout", "3s", "--json"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return json.loads(answer.stdout)["devices"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(folder, CAMERAS, media="discovery: {announce: true}\n")
        client = ThreadedWSDiscovery()
        service = ThreadedWSPublishing()
        try:
            client.start()
            expected = sorted(CAMERAS)
            camera = QName(OURS, "Camera")
            names, references = eventually(
                "our cameras", lambda: (found := search(client, types=[camera]))[0] == expected and found, 40)
            assert len(references) == len(set(references)) == len(CAMERAS), references
            print("by type:", names)
            names, _ = search(client, scopes=[Scope("iotlink://camera/name/front")])
            assert names == ["front"], names
            print("by scope:", names)
            names, _ = search(client, types=[QName(ONVIF, "NetworkVideoTransmitter")])
            assert names == [], "our cameras claim to be ONVIF cameras"

            service.start()
            service.publishService(
                types=[QName(ONVIF, "NetworkVideoTransmitter")],
                scopes=[
                    Scope("onvif://www.onvif.org/name/Test%20Camera"),
                    Scope("onvif://www.onvif.org/hardware/PY-1"),
                ],
                xAddrs=["http://192.0.2.77/onvif/device_service"],
            )
            time.sleep(1)
            found = discover(folder)
            theirs = [device for device in found if device.get("model") == "PY-1"]
            assert len(theirs) == 1 and theirs[0]["name"] == "Test Camera", found
            assert theirs[0]["next"] == "add", theirs
            ours = sorted(device["name"] for device in found if device.get("deviceID"))
            assert ours == expected, found
            print("iotctl net discover:", [device["name"] for device in found])
        finally:
            for thing in (client, service):
                thing.stop()
            daemon.stop()
    print("passed")


main()
