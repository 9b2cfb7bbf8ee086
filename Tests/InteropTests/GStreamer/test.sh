#!/bin/bash
# Media and data channels with GStreamer's webrtcbin: GStreamerTests.swift.
cd "$(dirname "$0")/../../.." || exit 1
exec swift test --skip-build --filter InteropTests.GStreamer
