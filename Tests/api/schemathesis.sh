#!/bin/bash
# Runs schemathesis (https://schemathesis.io) with docs/openapi.yaml against a real daemon, over TCP with an
# administrator's token.
#
#   Tests/api/schemathesis.sh [DAEMON]        further variables are those of common.sh
#
# MAX_EXAMPLES        how many cases each operation gets; 20 unless told, which takes a minute or two
# SCHEMATHESIS_SEED   to repeat a run; 1 unless told
#
# Ten seconds is the longest that it lets an answer take; the daemon here gives up after five.
#
# Left out are the streams, which end only when the channel, the daemon or the client does: a tester that reads whole
# answers would wait for ever. Their refusals are tested in Tests/iotvideodTests/API. So is /v1/link/unregister: after
# it there is nothing left to test. And so are the routes of WHEP: no schema says what an SDP offer is, so what it would
# take for right is refused, and rightly. Tests/iotvideodTests/API and Tests/InteropTests have them. So is /openapi.yaml,
# whose text it would parse, and /v1/camera-tests and /v1/onvif-queries, which connect to whatever host it would name, and
# /v1/discoveries, which takes seconds. python-client.sh calls all of these.
set -euo pipefail
. "$(dirname "$0")/common.sh"
export SCHEMATHESIS_HOOKS=$root/Tests/api/hooks.py
examples=${MAX_EXAMPLES:-20}
start_daemon

check() { # CONFIGURATION [ARGUMENT...]
    local configuration=$1
    shift
    "$environment/bin/schemathesis" --config-file "$configuration" run "$root/docs/openapi.yaml" --url "$url" \
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
        --exclude-path "/v1/channels/{id}/recording.mp4" \
        --exclude-path "/v1/channels/{id}/video.y4m" \
        --exclude-path "/v1/channels/{id}/audio.wav" \
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
