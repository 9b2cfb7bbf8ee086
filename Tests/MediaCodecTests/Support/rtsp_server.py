#!/usr/bin/python3
"""Serves one file over RTSP on 127.0.0.1 with GStreamer, for tests; prints the port when it is ready.

Usage: rtsp_server.py FILE [--port 0] [--user NAME --password PASSWORD]
The address is rtsp://127.0.0.1:PORT/camera. Each client gets the file once from its start, in real time.
Needs Debian's gir1.2-gst-rtsp-server-1.0 and GStreamer's good and bad plugins. Exits when stdin ends.
"""
import argparse
import subprocess
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

PAYLOADERS = {
    "h264": "h264parse ! rtph264pay config-interval=-1 aggregate-mode=zero-latency",
    "hevc": "h265parse ! rtph265pay config-interval=-1",
    "aac": "aacparse ! rtpmp4gpay",
    "mp2": "mpegaudioparse ! rtpmpapay",
    "mp3": "mpegaudioparse ! rtpmpapay",
    "pcm_alaw": "rtppcmapay",
    "pcm_mulaw": "rtppcmupay",
}


def codec(path, kind):
    command = ["ffprobe", "-v", "error", "-select_streams", kind + ":0", "-show_entries", "stream=codec_name"]
    result = subprocess.run(command + ["-of", "default=nw=1:nk=1", path], capture_output=True, text=True, check=True)
    return result.stdout.strip()


def description(path):
    demuxer = "matroskademux" if path.endswith(".mkv") else "tsdemux" if path.endswith(".ts") else "qtdemux"
    parts = ['filesrc location="%s" ! %s name=demuxer' % (path, demuxer)]
    for index, (kind, name) in enumerate((("v", "video"), ("a", "audio"))):
        payloader = PAYLOADERS.get(codec(path, kind))
        if payloader:
            parts.append("demuxer. ! queue max-size-time=0 ! %s name=pay%d pt=%d" % (payloader, index, 96 + index))
    return "( " + " ".join(parts) + " )"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("file")
    arguments.add_argument("--port", default="0")
    arguments.add_argument("--user")
    arguments.add_argument("--password")
    options = arguments.parse_args()
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(options.port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(description(options.file))
    if options.user:
        authentication = GstRtspServer.RTSPAuth()
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "viewer")
        authentication.add_basic(GstRtspServer.RTSPAuth.make_basic(options.user, options.password), token)
        server.set_auth(authentication)
        permissions = GstRtspServer.RTSPPermissions()
        permissions.add_permission_for_role("viewer", "media.factory.access", True)
        permissions.add_permission_for_role("viewer", "media.factory.construct", True)
        factory.set_permissions(permissions)
    server.get_mount_points().add_factory("/camera", factory)
    if not server.attach(None):
        sys.exit("the port is taken")
    loop = GLib.MainLoop()
    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, lambda *_: bool(sys.stdin.readline()) or loop.quit())
    print(server.get_bound_port(), flush=True)
    loop.run()


if __name__ == "__main__":
    main()
