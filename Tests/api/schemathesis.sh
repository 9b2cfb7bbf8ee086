#!/bin/bash
# Runs schemathesis (https://schemathesis.io) with docs/openapi.yaml against a real daemon, over TCP with an
# administrator's token.
#
#   Tests/api/schemathesis.sh [DAEMON]        the program; .build/debug/iotvideod unless told
#
# SCHEMATHESIS        the command; a virtual environment with it is made in .build/schemathesis unless told
# MAX_EXAMPLES        how many cases each operation gets; 20 unless told, which takes a minute or two
# SCHEMATHESIS_SEED   to repeat a run; 1 unless told
#
# Ten seconds is the longest that it lets an answer take; the daemon here gives up after five.
#
# Left out are the streams, which end only when the channel, the daemon or the client does: a tester that reads whole
# answers would wait for ever. Their refusals are tested in Tests/iotvideodTests/API. So is /v1/link/unregister: behind
# it there is nothing left to test. And so are the routes of WHEP: no schema says what an SDP offer is, so what it would
# take for right is refused, and rightly. Tests/iotvideodTests/API and Tests/InteropTests have them.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
daemon=${1:-$root/.build/debug/iotvideod}
export SCHEMATHESIS_HOOKS=$root/Tests/api/hooks.py
examples=${MAX_EXAMPLES:-20}
version=4.32.5
port=${API_PORT:-18437}

if [ -z "${SCHEMATHESIS:-}" ]; then
    environment=$root/.build/schemathesis
    SCHEMATHESIS=$environment/bin/schemathesis
    if [ ! -x "$SCHEMATHESIS" ]; then
        python3 -m venv "$environment"
        "$environment/bin/pip" --quiet install "schemathesis==$version"
    fi
fi

directory=$(mktemp -d)
pid=
finish() {
    status=$?
    if [ -n "$pid" ]; then
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
    if [ "$status" -ne 0 ]; then
        echo "--- the daemon's log:"
        tail -n 60 "$directory/log" || true
    fi
    rm -rf "$directory"
    exit "$status"
}
trap finish EXIT

cat > "$directory/iotvideod.yaml" <<YAML
dataDirectory: $directory/data
socket: $directory/s
api: {listen: "127.0.0.1:$port", requestTimeout: 5s}
cameras:
  - {name: front, url: $root/Samples/street-h264-aac.mp4}
YAML
"$daemon" --config "$directory/iotvideod.yaml" > "$directory/out" 2> "$directory/log" &
pid=$!
for _ in $(seq 1 150); do
    grep -q "is ready" "$directory/out" && break
    kill -0 "$pid" || exit 1
    sleep 0.2
done
grep "is ready" "$directory/out"

local_api() { curl --silent --show-error --fail-with-body --unix-socket "$directory/s" "$@"; }
token=$(local_api -X POST http://localhost/v1/tokens -H 'Content-Type: application/json' \
    -d '{"kind":"api","ttlSeconds":3600}' | sed 's/.*"token":"\([^"]*\)".*/\1/')

check() { # CONFIGURATION [ARGUMENT...]
    local configuration=$1
    shift
    "$SCHEMATHESIS" --config-file "$configuration" run "$root/docs/openapi.yaml" --url "http://127.0.0.1:$port" \
        --header "Authorization: Bearer $token" \
        --max-examples "$examples" --seed "${SCHEMATHESIS_SEED:-1}" --request-timeout 30 \
        --checks all --no-color --warnings off "$@" \
        --exclude-path /v1/events \
        --exclude-path /v1/link/unregister \
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

# What was done to it must have left it whole.
local_api http://localhost/readyz
echo
kill -0 "$pid"
if grep -E "Fatal error|A request failed inside" "$directory/log"; then exit 1; fi
