#!/bin/bash
# Runs schemathesis (https://schemathesis.io) with docs/openapi.yaml against a real daemon, over TCP with an
# administrator's token.
#
#   Tests/api/schemathesis.sh [DAEMON]        for further variables see common.sh
#
# MAX_EXAMPLES        the number of cases for each operation; by default 20, which takes a minute or two
# SCHEMATHESIS_SEED   repeats a run; by default 1
#
# schemathesis waits up to ten seconds for an answer; this daemon gives up after five.
#
# These paths are excluded:
# - Streams end only with the channel, the daemon or the client, and schemathesis would read them for ever. Their
#   refusals are tested in Tests/iotvideodTests/API.
# - After /v1/link/unregister nothing could be tested.
# - The WHEP routes need an SDP offer, which a schema cannot describe. Tests/iotvideodTests/API and Tests/InteropTests
#   test them.
# - /openapi.yaml returns text, which schemathesis would parse. /v1/camera-tests and /v1/onvif-queries connect to any
#   host in the request. /v1/discoveries takes seconds. python-client.sh calls all of these.
set -euo pipefail
. "$(dirname "$0")/common.sh"
programs=$(api_programs)
export SCHEMATHESIS_HOOKS=$root/Tests/api/hooks.py
examples=${MAX_EXAMPLES:-20}
start_daemon

check() { # CONFIGURATION [ARGUMENT...]
    local configuration=$1
    shift
    "$programs/schemathesis" --config-file "$configuration" run "$root/docs/openapi.yaml" --url "$url" \
        --header "Authorization: Bearer $token" \
        --max-examples "$examples" --seed "${SCHEMATHESIS_SEED:-1}" --request-timeout 30 \
        --checks all --no-color --warnings off "$@" \
        --exclude-path /openapi.yaml \
        --exclude-path /v1/events \
        --exclude-path /v1/link/unregister \
        --exclude-path /v1/camera-tests \
        --exclude-path /v1/onvif-queries \
        --exclude-path /v1/discoveries \
        --exclude-path "/v1/devices/{device}/properties/watch" \
        --exclude-path "/v1/channels/{id}/events" \
        --exclude-path "/v1/channels/{id}/data/stream" \
        --exclude-operation-id channelData \
        --exclude-operation-id receiveCameraData \
        --exclude-operation-id logs \
        --exclude-path "/v1/channels/{id}/recording.mp4" \
        --exclude-path "/v1/channels/{id}/video.y4m" \
        --exclude-path "/v1/channels/{id}/audio.wav" \
        --exclude-path "/v1/channels/{id}/dump" \
        --exclude-path "/v1/devices/{device}/whep" \
        --exclude-path "/v1/whep/{id}"
}

echo '== What is there: a camera that is online, an account, a channel'
post() { local_api -X POST "http://localhost$1" -H 'Content-Type: application/json' -d "$2"; }
post /v1/users '{"accessId":"guest"}' > /dev/null
channel=$(post /v1/channels '{"device":"front"}' | sed 's/.*"id":"\([^"]*\)".*/\1/')
cp "$root/Tests/api/schemathesis.toml" "$directory/existing.toml"
cat >> "$directory/existing.toml" <<TOML
[parameters]
"path.device" = "front"
"path.user" = "guest"
"path.id" = "$channel"
TOML
check "$directory/existing.toml" --phases examples,coverage,fuzzing --exclude-method DELETE

echo '== Whatever comes to its mind'
check "$root/Tests/api/schemathesis.toml"
check_daemon
