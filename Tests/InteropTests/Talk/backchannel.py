"""GStreamer's ONVIF server receives what we speak on its back channel: in PCMU, in PCMA at 16 kHz, and in AAC over UDP
with a login. What comes out is what went in, without a gap, and at the pace at which it was spoken."""

import array
import math
import os
import pathlib
import random
import subprocess
import tempfile
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

SECONDS = 3
# Under load, about one of 40 of GStreamer's sessions never passes a packet from its socket to its pipeline, over TCP too,
# where strace shows that all were sent (GStreamer 1.22).
ATTEMPTS = 4
# A probe that the machine stopped for longer speaks again: from 100 ms on, silence is sent in place of the sound.
LATE = 80
# A gap of half a window breaks the correlation of a window.
WINDOW = 0.04
LIVE = "( videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=5/1 ! jpegenc ! rtpjpegpay name=pay0 )"
AAC = "config=(string)1408, mode=AAC-hbr, sizelength=(string)13, indexlength=(string)3, indexdeltalength=(string)3"
# By path: the caps of the RTP packets, the elements that decode them, the sample rate.
CASES = {
    "/pcmu": ("payload=0, clock-rate=8000, encoding-name=PCMU", "rtppcmudepay ! mulawdec", 8000),
    "/pcma": ("payload=97, clock-rate=16000, encoding-name=PCMA", "rtppcmadepay ! alawdec", 16000),
    "/aac": (f"payload=98, clock-rate=16000, encoding-name=MPEG4-GENERIC, {AAC}",
             "rtpmp4gdepay ! avdec_aac ! audioconvert ! audio/x-raw,format=S16LE", 16000),
}


def sound():
    """SECONDS of 48 kHz: tones between 200 and 3000 Hz with changing loudness, which resemble themselves only at the
    same time."""
    chance = random.Random(1)
    tones = [(chance.uniform(200, 3000), chance.uniform(0, 6), chance.uniform(0.5, 3)) for _ in range(6)]
    return array.array("h", (
        int(sum(3000 * (0.6 + 0.4 * math.sin(6.283 * slow * time)) * math.sin(6.2831853 * tone * time + phase)
                for tone, phase, slow in tones))
        for time in (index / 48000 for index in range(SECONDS * 48000))))


def correlation(one, other):
    product = sum(a * b for a, b in zip(one, other))
    energy = math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))
    return product / energy if energy else 0.0


def compare(path, rate, spoken, heard):
    """Asserts that all of `spoken` is in `heard`, in one piece."""
    middle, size = rate * SECONDS // 2, rate // 40
    probe = spoken[middle:middle + size]
    # An encoder's silence comes before the sound.
    shift = max(range(-rate // 20, rate // 4), key=lambda lag: correlation(probe, heard[middle + lag:middle + lag + size]))
    window = int(rate * WINDOW)
    # An encoder's first packets fade in.
    starts = range(rate // 4, rate * SECONDS - window - rate // 10, window)
    found = [correlation(spoken[at:at + window], heard[at + shift:at + shift + window]) for at in starts]
    assert len(heard) >= rate * SECONDS - rate // 10, f"{path}: only {len(heard) / rate:.2f} s of {SECONDS} s"
    bad = [f"{at / rate:.2f} s: {value:.2f}" for at, value in zip(starts, found) if value <= 0.9]
    assert not bad, f"{path}: {len(bad)} windows of 40 ms do not correlate: {', '.join(bad)}"
    print(f"{path}: {len(found)} windows of 40 ms, correlation at least {min(found):.3f}, {shift / rate * 1000:.0f} ms later")


def serve(folder, paths, needs_login=False):
    server = GstRtspServer.RTSPOnvifServer()
    server.set_address("127.0.0.1")
    server.set_service("0")
    if needs_login:
        authentication, token = GstRtspServer.RTSPAuth(), GstRtspServer.RTSPToken()
        authentication.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
        token.set_string("media.factory.role", "talker")
        authentication.add_digest("talker", "secret", token)
        server.set_auth(authentication)
    for path in paths:
        caps, decoder, _ = CASES[path]
        factory = GstRtspServer.RTSPOnvifMediaFactory()
        factory.set_media_gtype(GstRtspServer.RTSPOnvifMedia.__gtype__)
        factory.set_launch(LIVE)
        factory.set_backchannel_launch(
            f'( capsfilter caps="application/x-rtp, media=audio, {caps}" name=depay_backchannel ! {decoder} '
            f"! filesink location={folder}{path} async=false buffer-mode=unbuffered )")
        if needs_login:
            permissions = GstRtspServer.RTSPPermissions()
            permissions.add_permission_for_role("talker", "media.factory.access", True)
            permissions.add_permission_for_role("talker", "media.factory.construct", True)
            factory.set_permissions(permissions)
            factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP)
        server.get_mount_points().add_factory(path, factory)
    assert server.attach(None)
    return server


def speak(url, sound, output, failures):
    """Speaks `sound` to the camera, which writes `output`. Again, if GStreamer has received nothing at all, or if the
    machine had no time for the probe."""
    for attempt in range(ATTEMPTS):
        outcome = subprocess.run([os.environ["PROBE"], url], input=sound, capture_output=True, timeout=60)
        if outcome.returncode != 0 or b"open" not in outcome.stdout:
            return failures.append(f"{url}: {outcome.stderr.decode()}")
        late = float(outcome.stdout.split(b"late")[1])
        if output.stat().st_size > 0 and late < LATE:
            return None
        reason = f"the probe waited {late:.0f} ms" if late >= LATE else "GStreamer passed nothing on"
        print(f"{output.name}: {reason}, attempt {attempt + 1} of {ATTEMPTS}")


def main():
    Gst.init(None)
    spoken, loop, failures = sound(), GLib.MainLoop(), []
    with tempfile.TemporaryDirectory() as folder:
        is_open, needs_login = serve(folder, ["/pcmu", "/pcma"]), serve(folder, ["/aac"], needs_login=True)
        ports = {"/aac": needs_login.get_bound_port()}
        urls = {path: f"rtsp://talker:secret@127.0.0.1:{ports.get(path, is_open.get_bound_port())}{path}" for path in CASES}
        probes = [
            threading.Thread(target=speak, args=(url, spoken.tobytes(), pathlib.Path(folder + path), failures))
            for path, url in urls.items()]
        for probe in probes:
            probe.start()

        def wait():
            for probe in probes:
                probe.join()
            loop.quit()

        waiting = threading.Thread(target=wait)
        waiting.start()
        loop.run()
        waiting.join()
        assert not failures, failures
        for path, (_, _, rate) in CASES.items():
            heard = array.array("h", pathlib.Path(folder + path).read_bytes())
            # The tones are below the limit of each rate.
            compare(path, rate, spoken[::48000 // rate], heard)


main()
