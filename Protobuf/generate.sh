#!/bin/sh
# Writes Sources/NetConfig/Espressif/Messages from the .proto files: `make protobuf`. Needs protoc (Debian:
# protobuf-compiler) and protoc-gen-swift of the version that Package.swift names, which this builds in the folder
# of the package's checkouts, unless PROTOC_GEN_SWIFT names one.
set -eu
cd "$(dirname "$0")/.."
out=Sources/NetConfig/Espressif/Messages
plugin=${PROTOC_GEN_SWIFT:-}
if [ -z "$plugin" ]; then
    checkout=.build/checkouts/swift-protobuf
    ${SWIFT:-swift} build --package-path "$checkout" --scratch-path .build/protobuf --product protoc-gen-swift
    plugin=.build/protobuf/debug/protoc-gen-swift
fi
protoc --plugin=protoc-gen-swift="$plugin" --proto_path=Protobuf \
    --swift_opt=UseAccessLevelOnImports=true --swift_out="$out" Protobuf/*.proto
