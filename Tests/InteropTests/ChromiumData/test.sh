#!/bin/bash
# Data channels with Chromium: ChromiumDataChannelTests.swift. CHROMIUM=PROGRAM for another than /usr/bin/chromium.
cd "$(dirname "$0")/../../.." || exit 1
: "${PYTHON:?run it by Tests/InteropTests/run.sh}"
exec swift test --skip-build --filter InteropTests.ChromiumData
