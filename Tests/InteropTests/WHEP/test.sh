#!/bin/bash
# Independent WHEP clients with a real daemon: aiortc (https://github.com/aiortc/aiortc), which decodes, alone and with
# a key frame request every 2 s, as Pion's clients send, with and without loss.
set -u
cd "$(dirname "$0")" || exit 1
exec "${PYTHON:?run it by Tests/InteropTests/run.sh}" clients.py "$@"
