"""For a minute, up to ten RTSP players connect and leave; those that stay get every picture over TCP, UDP and TLS."""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from daemon import Daemon, free_port  # noqa: E402
from frames import CLIP, digests, has_no_gap, source_digests  # noqa: E402

SECONDS = int(os.environ.get("RTSP_SECONDS", "60"))


def player(url, transport, *options):
    return subprocess.Popen(
        ["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", transport, "-i", url, "-map", "0:v:0",
         "-fps_mode", "passthrough", *options, "-f", "framemd5", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder, source, tls):
    port = free_port()
    daemon = Daemon(
        folder, {"front": CLIP},
        media=f"rtsp: {{listen: '127.0.0.1:{port}', tls: {str(tls).lower()}}}\nmedia: {{listen: '127.0.0.1:0'}}\n")
    try:
        key = daemon.local("POST", "/v1/keys", {"name": "players", "ttlSeconds": 3600})["key"]
        url = f"{'rtsps' if tls else 'rtsp'}://{key[:10]}:{key}@127.0.0.1:{port}/front"
        transports = ["tcp"] if tls else ["tcp", "udp"]
        staying = [player(url, transport, "-t", str(SECONDS)) for transport in transports]
        chance, guests = random.Random(1), []
        end = time.monotonic() + SECONDS
        come = 0
        while time.monotonic() < end:
            guests = [guest for guest in guests if guest.poll() is None]
            if len(guests) < 10 - len(staying):
                guests.append(player(url, chance.choice(transports)))
                come += 1
            elif guests:
                # Some leave with TEARDOWN, others without.
                guest = guests.pop(chance.randrange(len(guests)))
                guest.kill() if chance.random() < 0.5 else guest.terminate()
                guest.communicate()
            time.sleep(chance.uniform(0.1, 0.6))
        for guest in guests:
            guest.kill()
            guest.communicate()
        for transport, one in zip(transports, staying):
            text, errors = one.communicate(timeout=60)
            shown = digests(text)
            assert one.returncode == 0, f"{transport}: {errors}"
            assert len(shown) > 5 * SECONDS, f"{transport}: only {len(shown)} pictures in {SECONDS} s"
            assert has_no_gap(shown, source), f"{transport}: pictures are missing among {len(shown)}"
            print(f"{'TLS, ' if tls else ''}{transport}: {len(shown)} pictures without a gap, {come} players came and went")
    finally:
        daemon.stop()
    assert "Fatal error" not in daemon.log()


def main():
    source = source_digests()
    # Each has a daemon of its own. They mostly wait, so both run at the same time.
    with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as secure, ThreadPoolExecutor() as threads:
        for outcome in [threads.submit(run, plain, source, False), threads.submit(run, secure, source, True)]:
            outcome.result()


main()
