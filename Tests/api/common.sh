# Shared by the API tests, which source it. The first argument may be the daemon's program.
#
# DAEMON     the program under test; by default .build/debug/iotvideod
# API_PORT   its port; by default 18437
#
# Sets root, directory (removed together with its daemon when the script ends), url and token (an administrator's).
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
daemon=${1:-${DAEMON:-$root/.build/debug/iotvideod}}
port=${API_PORT:-18437}
url=http://127.0.0.1:$port

# Prints the folder of the programs of requirements.txt.
api_programs() { "$root/Tests/python-environment.sh" api "$root/Tests/api/requirements.txt"; }

directory=$(mktemp -d)
pid=
finish() {
    status=$?
    if [ -n "$pid" ]; then
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
    if [ "$status" -ne 0 ] && [ -e "$directory/log" ]; then
        echo "--- the daemon's log:"
        tail -n 60 "$directory/log"
    fi
    rm -rf "$directory"
    exit "$status"
}
trap finish EXIT

# Sends a request as the owner, over the daemon's socket.
local_api() { curl --silent --show-error --fail-with-body --unix-socket "$directory/s" "$@"; }

# Starts a daemon with the recorded camera "front" and a request timeout of five seconds.
start_daemon() {
    cat > "$directory/iotvideod.yaml" <<YAML
dataDirectory: $directory/data
socket: $directory/s
api: {listen: "127.0.0.1:$port", requestTimeout: 5s}
recording: {directory: $directory/recordings, freeSpace: 0}
cameras:
  - {name: front, url: $root/Samples/street-h264-aac.mp4, record: continuous}
YAML
    "$daemon" --config "$directory/iotvideod.yaml" > "$directory/out" 2> "$directory/log" &
    pid=$!
    for _ in $(seq 1 150); do
        grep -q "is ready" "$directory/out" && break
        kill -0 "$pid" || exit 1
        sleep 0.2
    done
    grep "is ready" "$directory/out"
    token=$(local_api -X POST http://localhost/v1/tokens -H 'Content-Type: application/json' \
        -d '{"kind":"api","ttlSeconds":3600}' | sed 's/.*"token":"\([^"]*\)".*/\1/')
}

# The daemon must still be healthy after the requests.
check_daemon() {
    local_api http://localhost/readyz
    echo
    kill -0 "$pid"
    if grep -E "Fatal error|A request failed inside" "$directory/log"; then exit 1; fi
}
