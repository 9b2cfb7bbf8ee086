"""GStreamer's rtspsrc reads our RTSP server over TCP, UDP and TLS, and gets the frames of the sample."""

import hashlib
import pathlib
import sys
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from daemon import Daemon, free_port  # noqa: E402
from frames import CLIP, has_no_gap, source_digests  # noqa: E402

COUNT = 50


def watch(location, key, protocol):
    """The digests of the first frames."""
    pipeline = Gst.parse_launch(
        f"rtspsrc location={location} user-id={key[:10]} user-pw={key} protocols={protocol} tls-validation-flags=0 "
        "! rtph264depay ! h264parse ! avdec_h264 ! videoconvert ! video/x-raw,format=I420 "
        "! fakesink name=sink signal-handoffs=true sync=false")
    loop, shown, errors = GLib.MainLoop(), [], []

    def frame(_, buffer, __):
        shown.append(hashlib.md5(buffer.extract_dup(0, buffer.get_size())).hexdigest())
        if len(shown) == COUNT:
            loop.quit()

    def failed(_, message):
        errors.append(message.parse_error())
        loop.quit()

    pipeline.get_by_name("sink").connect("handoff", frame)
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message::error", failed)
    GLib.timeout_add_seconds(30, loop.quit)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    pipeline.set_state(Gst.State.NULL)
    assert not errors, errors
    return shown[:COUNT]


def main():
    Gst.init(None)
    source = source_digests()
    for tls, protocols in ((False, ["tcp", "udp"]), (True, ["tcp"])):
        with tempfile.TemporaryDirectory() as folder:
            port = free_port()
            daemon = Daemon(
                folder, {"front": CLIP},
                media=f"rtsp: {{listen: '127.0.0.1:{port}', tls: {str(tls).lower()}}}\nmedia: {{listen: '127.0.0.1:0'}}\n")
            try:
                key = daemon.local("POST", "/v1/keys", {"name": "players", "ttlSeconds": 3600})["key"]
                for protocol in protocols:
                    shown = watch(f"{'rtsps' if tls else 'rtsp'}://127.0.0.1:{port}/front", key, protocol)
                    assert len(shown) == COUNT, f"{protocol}: only {len(shown)} frames"
                    assert has_no_gap(shown, source), f"{protocol}: the frames are not the sample's"
                    print(f"{'TLS, ' if tls else ''}{protocol}: {COUNT} frames are the sample's")
            finally:
                daemon.stop()


main()
