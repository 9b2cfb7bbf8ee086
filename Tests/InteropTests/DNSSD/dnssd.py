"""Tests of test.sh; those that are named as arguments, or all."""
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from daemon import eventually
from pair import Boxes, Probe

CAMERA = "0123456789abcdef0123456789abcdef"
TEXT = {"deviceID": CAMERA, "productID": "12345", "serialNumber": f"SN-{CAMERA}", "version": "1.2.3",
        "macAddr": "02:00:00:00:00:07", "hasOwner": "0"}
NAME = "Küche ; Tür 1"


def both_ways(boxes, probe):
    """Announced by us and seen by Avahi; published by Avahi and found by us."""
    yard = boxes.yard
    probe.announce((NAME, CAMERA, False))
    host, address, port, text = eventually("avahi-browse sees our camera", lambda: yard.browse().get(NAME))
    assert host.endswith(".local") and port == 5000, (host, port)
    assert address == "192.0.2.2" or address.startswith("fe80:"), address
    for key, value in TEXT.items():
        assert f'"{key}={value}"' in text, text

    # A changed value.
    probe.announce((NAME, CAMERA, True))
    eventually("the new owner", lambda: '"hasOwner=1"' in yard.browse().get(NAME, ("",) * 4)[3])

    probe.ask("search")
    published = [
        yard.publish("Gate", "_rtsp._tcp", 8554, "path=/live/main"),
        yard.publish("AXIS M1065 - ACCC8E270AD8", "_axis-video._tcp", 80, "macaddress=ACCC8E270AD8"),
        yard.publish("Shed", "_iotlink._udp", 6000, "deviceID=" + "f" * 32, "hasOwner=1", "macAddr=02-00-00-00-00-09"),
    ]
    eventually("we see three services", lambda: len([k for k in probe.found() if k[1] != NAME]) == 3)
    found = probe.found()
    gate = found[("_rtsp._tcp", "Gate")]
    eventually("its IPv4 address", lambda: "192.0.2.1" in probe.found()[("_rtsp._tcp", "Gate")]["addresses"])
    gate = found[("_rtsp._tcp", "Gate")]
    assert "rtsp://192.0.2.1:8554/live/main" in gate["serviceURLs"], gate
    assert gate["foundBy"] == ["dnsSD"], gate
    axis = found[("_axis-video._tcp", "AXIS M1065 - ACCC8E270AD8")]
    assert axis["macAddress"] == "ac:cc:8e:27:0a:d8" and axis["manufacturer"] == "Axis", axis
    shed = found[("_iotlink._udp", "Shed")]
    assert shed["deviceID"] == "f" * 32 and shed["hasOwner"] is True, shed
    assert shed["macAddress"] == "02:00:00:00:00:09", shed

    for process in published:
        yard.stop(process)
    eventually("they are lost", lambda: not [k for k in probe.found() if k[1] != NAME])
    probe.announce()
    eventually("our camera is withdrawn", lambda: NAME not in yard.browse())


def taken_name(boxes, probe):
    """A name that is taken gets a number, and both stay."""
    other = boxes.yard.publish("Front", "_iotlink._udp", 7000, "deviceID=other")
    eventually("Avahi's Front", lambda: "Front" in boxes.yard.browse())
    probe.announce(("Front", CAMERA, False))
    ours = eventually("ours", lambda: boxes.yard.browse().get("Front (2)"))
    assert ours[2] == 5000 and "deviceID=" + CAMERA in ours[3], ours
    assert boxes.yard.browse()["Front"][2] == 7000
    boxes.yard.stop(other)
    probe.announce()


def goodbye(boxes, probe):
    """When we end, our camera is gone at once."""
    probe.announce((NAME, CAMERA, False))
    eventually("our camera", lambda: NAME in boxes.yard.browse())
    probe.close()
    eventually("it is gone", lambda: NAME not in boxes.yard.browse(), 5)


def own(boxes):
    """Where no Avahi runs: a multicast DNS of our own."""
    for test in (both_ways, taken_name, goodbye):
        print("  ", test.__name__, "-", test.__doc__, flush=True)
        probe = Probe(boxes.hub, "automatic")
        test(boxes, probe)
        if test is not goodbye:
            probe.close()


def avahi(boxes):
    """Through the box's own Avahi."""
    boxes.hub.start_bus()
    boxes.hub.start_avahi()
    for test in (both_ways, taken_name, goodbye):
        print("  ", test.__name__, "-", test.__doc__, flush=True)
        probe = Probe(boxes.hub, "automatic")
        test(boxes, probe)
        if test is not goodbye:
            assert not boxes.hub.has_socket(probe.process.pid), "it speaks multicast DNS itself"
            probe.close()


def change(boxes):
    """Avahi stops and starts, and the camera stays."""
    boxes.hub.start_bus()
    boxes.hub.start_avahi()
    probe = Probe(boxes.hub, "automatic")
    pid = probe.process.pid
    probe.announce((NAME, CAMERA, False))
    probe.ask("search")
    gate = boxes.yard.publish("Gate", "_rtsp._tcp", 8554)
    eventually("our camera, by Avahi", lambda: NAME in boxes.yard.browse())
    eventually("theirs, by Avahi", lambda: ("_rtsp._tcp", "Gate") in probe.found())
    for _ in range(2):
        boxes.hub.stop_avahi()
        eventually("we serve ourselves", lambda: boxes.hub.has_socket(pid))
        eventually("our camera, by ourselves", lambda: NAME in boxes.yard.browse())
        late = boxes.yard.publish("Late", "_rtsp._tcp", 554)
        eventually("a new one of theirs", lambda: ("_rtsp._tcp", "Late") in probe.found())
        boxes.yard.stop(late)
        eventually("it is lost", lambda: ("_rtsp._tcp", "Late") not in probe.found())
        boxes.hub.start_avahi()
        eventually("Avahi serves again", lambda: not boxes.hub.has_socket(pid))
        eventually("our camera, by Avahi again", lambda: NAME in boxes.yard.browse())
        assert ("_rtsp._tcp", "Gate") in probe.found()
    assert ("_rtsp._tcp", "Gate") not in probe.lost, "a camera that stayed was lost meanwhile"
    boxes.yard.stop(gate)
    probe.close()


def bus(boxes):
    """D-Bus and Avahi come later than we do."""
    probe = Probe(boxes.hub, "automatic")
    probe.announce((NAME, CAMERA, False))
    eventually("our camera, by ourselves", lambda: NAME in boxes.yard.browse())
    boxes.hub.start_bus()
    boxes.hub.start_avahi()
    eventually("Avahi serves", lambda: not boxes.hub.has_socket(probe.process.pid), 30)
    eventually("our camera, by Avahi", lambda: NAME in boxes.yard.browse())
    probe.close()


failed = []
for test in (own, avahi, change, bus):
    if len(sys.argv) > 1 and test.__name__ not in sys.argv[1:]:
        continue
    print(test.__name__, "-", test.__doc__, flush=True)
    with Boxes() as boxes:
        try:
            test(boxes)
        except Exception:
            traceback.print_exc()
            failed.append(test.__name__)
if failed:
    sys.exit(f"failed: {', '.join(failed)}")
