#!/bin/bash
# Chromium watches cameras of a real daemon; see watch.py. ARTIFACTS=DIR keeps screenshots and statistics.
exec "${PYTHON:?run it by Tests/InteropTests/run.sh}" "$(dirname "$0")/watch.py"
