#!/bin/bash
# WHEP clients of others against a real daemon: aiortc (https://github.com/aiortc/aiortc), which decodes, plainly and
# asking for a key frame every 2 s, as Pion's clients do, with and without loss.
set -u
cd "$(dirname "$0")" || exit 1
exec "${PYTHON:?run it by Tests/InteropTests/run.sh}" clients.py "$@"
