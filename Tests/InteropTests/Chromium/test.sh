#!/bin/bash
# Chromium watches cameras of a real daemon: watch.py, states.py with obstacles, talk.py, live.py, definition.py,
# rotation.py, recordings.py, relay.py through coturn, and outage.py in a network namespace, which needs root.
# ARTIFACTS=DIR saves screenshots and statistics.
# Chromium…Tests.swift test the library alone: media in both directions, data channels, and ICE restarts under both.
set -u
cd "$(dirname "$0")" || exit 1
status=0
"${PYTHON:?run it by Tests/InteropTests/run.sh}" watch.py || status=1
"$PYTHON" states.py || status=1
"$PYTHON" talk.py || status=1
"$PYTHON" live.py || status=1
"$PYTHON" definition.py || status=1
"$PYTHON" rotation.py || status=1
"$PYTHON" recordings.py || status=1
"$PYTHON" relay.py || status=1
unshare --net "$PYTHON" outage.py || status=1
cd ../../.. || exit 1
swift test --skip-build --filter InteropTests.Chromium || status=1
exit $status
