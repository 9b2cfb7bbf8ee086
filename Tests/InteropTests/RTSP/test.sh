#!/bin/bash
# Players of our RTSP server: GStreamer (gstreamer.py, with Debian's Python, which has its bindings), and ten of ffmpeg
# that come and go for a minute (readers.py).
here=$(dirname "$0")
/usr/bin/python3 "$here/gstreamer.py" && exec "$PYTHON" "$here/readers.py"
