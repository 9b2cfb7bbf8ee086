#!/bin/bash
# Players of our RTSP server: GStreamer (gstreamer.py, with Debian's Python, which has the bindings), and ten ffmpegs
# that connect and leave for a minute (readers.py).
here=$(dirname "$0")
/usr/bin/python3 "$here/gstreamer.py" && exec "$PYTHON" "$here/readers.py"
