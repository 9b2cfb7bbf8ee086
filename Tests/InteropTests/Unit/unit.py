"""The tests of test.sh. Arguments name the tests to run; without arguments, all run."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from boxes import Box
from daemon import ROOT, eventually
from unit_sandbox import USER, unit

FIXTURES = ROOT / "Tests" / "NetConfigTests" / "Fixtures"
PROBE, DAEMON = os.environ["PROBE"], os.environ["DAEMON"]
CLIP = str(ROOT / "Samples" / "street-h264-aac.mp4")
PASSWORD, PROOF = "correct horse", "abcd1234"

# Prints the output of nmcli 1.42 (Tests/NetConfigTests/Espressif/NetworkManagerApplierTests.swift).
NMCLI = f"""#!/bin/sh
case "$*" in
*"wifi list"*) echo '486F6D65:02\\:00\\:00\\:00\\:00\\:01:6:74:WPA2' ;;
*"wifi connect"*)
    read -r password
    id -un > {{folder}}/asked
    [ "$password" = '{PASSWORD}' ] || {{{{ echo 'Error: Connection activation failed: (7) Secrets were required' >&2; exit 4; }}}}
    ;;
esac
"""


def serve(box, *arguments, drop_ins=(), port=80, writable=()):
    """Starts a provisioning mode with the rights of the service."""
    command = [*unit(*drop_ins, writable=writable), PROBE, "provision", str(port), *map(str, arguments)]
    process = box.start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(PROOF + "\n")
    process.stdin.flush()
    return process


def provision(box, password=PASSWORD):
    """Provisions the camera with the test's independent client."""
    order = {"security": 1, "pop": PROOF, "ssid": "Home", "passphrase": password}
    command = box.inside("/usr/bin/python3", "-B", str(FIXTURES / "espressif_client.py"), "80")
    answer = subprocess.run(command, input=json.dumps(order), check=True, capture_output=True, text=True, timeout=60)
    return json.loads(answer.stdout)


def expect_ready(process):
    assert process.stdout.readline() == "ready\n", process.stderr.read()


def port(box):
    """The service may listen on port 80 only with the drop-in."""
    process = serve(box, "nmcli", "/usr/bin/nmcli")
    assert process.wait(20) != 0
    said = process.stderr.read()
    assert "ermission" in said, said
    process = serve(box, "nmcli", "/usr/bin/nmcli", drop_ins=["port.conf"])
    expect_ready(process)
    box.stop(process)


def nmcli(box):
    """nmcli, as the service's user, joins the network with the received password; a wrong password is reported."""
    with tempfile.TemporaryDirectory(dir=ROOT / ".build") as folder:
        os.chmod(folder, 0o777)
        program = pathlib.Path(folder) / "nmcli"
        program.write_text(NMCLI.format(folder=folder))
        program.chmod(0o755)
        process = serve(box, "nmcli", program, drop_ins=["port.conf"], writable=[folder])
        expect_ready(process)
        result = provision(box, "a wrong one")
        # WifiConnectionFailed, AuthError
        assert (result["state"], result["reason"]) == (3, 0), result
        result = provision(box)
        assert result["state"] == 0 and [n["ssid"] for n in result["networks"]] == ["Home"], result
        assert process.stdout.readline() == "connected\n" and process.wait(20) == 0
        assert (pathlib.Path(folder) / "asked").read_text() == USER + "\n"


def wpa_supplicant(box):
    """wpa_supplicant's answers reach the service, although wpa_supplicant cannot see the service's /tmp."""
    socket = "/run/wpa_supplicant/wlan0"
    box.run("install", "-d", "-m", "0750", "-g", "netdev", "/run/wpa_supplicant")
    supplicant = box.start(
        "/usr/bin/python3", "-B", str(FIXTURES / "supplicant.py"), socket, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    supplicant.stdin.write(json.dumps({"password": PASSWORD}) + "\n")
    supplicant.stdin.flush()
    assert supplicant.stdout.readline() == "ready\n"
    # The rights that wpa_supplicant sets with GROUP=netdev.
    box.run("chgrp", "netdev", socket)
    box.run("chmod", "0770", socket)
    # Without the group, the service cannot use the socket.
    process = serve(box, "supplicant", socket, drop_ins=["port.conf"])
    expect_ready(process)
    assert provision(box)["state"] != 0
    box.stop(process)
    process = serve(box, "supplicant", socket, drop_ins=["port.conf", "wpa_supplicant.conf"])
    expect_ready(process)
    result = provision(box)
    assert result["state"] == 0 and result["address"] == "192.0.2.9", result
    assert process.stdout.readline() == "connected\n" and process.wait(20) == 0


def devices(box):
    """Video and sound devices can be opened, others are not there. The kernel has no driver for these nodes (ENXIO)."""
    nodes = [("null", 0o666, "root", 1, 3), ("zero", 0o666, "root", 1, 5), ("full", 0o666, "root", 1, 7),
             ("random", 0o666, "root", 1, 8), ("urandom", 0o666, "root", 1, 9), ("tty", 0o666, "root", 5, 0),
             ("video0", 0o660, "video", 81, 0), ("snd/pcmC0D0p", 0o660, "audio", 116, 16), ("mem", 0o666, "root", 1, 1)]
    commands = ["mount -t tmpfs tmpfs /dev", "mkdir /dev/snd"]
    for name, mode, group, major, minor in nodes:
        commands += [f"mknod -m {mode:o} /dev/{name} c {major} {minor}", f"chgrp {group} /dev/{name}"]
    box.run("sh", "-ec", "\n".join(commands))
    program = """
import errno, os
for name in ("video0", "snd/pcmC0D0p", "mem"):
    try:
        os.close(os.open("/dev/" + name, os.O_RDWR))
        print(name, "opened")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
"""
    found = box.run(*unit(), "/usr/bin/python3", "-c", program).split()
    assert found == ["video0", "ENXIO", "snd/pcmC0D0p", "ENXIO", "mem", "ENOENT"], found


def recording(box):
    """A camera is recorded onto an ext4 disk of its own with the drop-in of docs/recording.md, and only with it."""
    commands = ["mount -t tmpfs tmpfs /srv", "truncate -s 64M /srv/disk.img", "mkfs.ext4 -q -F /srv/disk.img",
                "mkdir /srv/recordings", "mount -o loop /srv/disk.img /srv/recordings",
                f"chown {USER}: /srv/recordings"]
    box.run("sh", "-ec", "\n".join(commands))
    with tempfile.TemporaryDirectory(dir=ROOT / ".build") as folder:
        os.chmod(folder, 0o777)
        folder = pathlib.Path(folder)
        drop_in = folder / "disk.conf"
        drop_in.write_text("[Service]\nReadWritePaths=/srv/recordings\n")
        configuration = folder / "iotvideod.yaml"
        configuration.write_text(
            f"dataDirectory: {folder}/data\nsocket: {folder}/s\nrecording: {{directory: /srv/recordings, freeSpace: 0, "
            f"sync: strict}}\ncameras:\n  - {{name: front, record: continuous, url: '{CLIP}'}}\n")

        def start(*drop_ins):
            log = open(folder / "log", "w")
            return box.start(*unit(*drop_ins, visible=[CLIP], writable=[str(folder)]), DAEMON, "--config",
                             str(configuration), stdout=log, stderr=log)

        def said(text):
            return lambda: text in (folder / "log").read_text()

        process = start()
        eventually("the reason", said("21039"), 60)
        assert box.run("find", "/srv/recordings", "-name", "*.mp4") == ""
        box.stop(process)
        process = start(str(drop_in))
        files = eventually("a recording", lambda: box.run("find", "/srv/recordings", "-name", "*.mp4", "-size", "+50k"), 60)
        box.stop(process)
        for path in files.split():
            # The group may read it, for example a backup.
            found = box.run("stat", "-c", "%U %a", path, os.path.dirname(path)).split()
            assert found == [USER, "640", USER, "750"], found
            subprocess.run(box.inside("ffmpeg", "-v", "error", "-i", path, "-f", "null", "-"), check=True)


def main():
    failed = []
    for test in (devices, recording, port, nmcli, wpa_supplicant):
        if len(sys.argv) > 1 and test.__name__ not in sys.argv[1:]:
            continue
        print(test.__name__, "-", test.__doc__, flush=True)
        box = Box("camera")
        try:
            test(box)
        except Exception:
            traceback.print_exc()
            failed.append(test.__name__)
        finally:
            box.close()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


main()
