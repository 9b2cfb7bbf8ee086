#!/bin/bash
# Data channels and media with aiortc (https://github.com/aiortc/aiortc): AiortcDataChannelTests.swift and
# AiortcMediaTests.swift.
cd "$(dirname "$0")/../../.." || exit 1
: "${PYTHON:?run it by Tests/InteropTests/run.sh}"
exec swift test --skip-build --filter InteropTests.Aiortc
