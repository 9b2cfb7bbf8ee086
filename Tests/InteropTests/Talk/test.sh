#!/bin/bash
# Speaks to a camera made with GStreamer's ONVIF media factory (backchannel.py, with Debian's Python, which has the
# bindings). Needs .build/debug/talk-probe (PROBE for another).
here=$(dirname "$0")
export PROBE=${PROBE:-$here/../../../.build/debug/talk-probe}
exec /usr/bin/python3 "$here/backchannel.py"
