#!/bin/bash
# Kills a daemon that records four cameras, again and again at random moments. Then each file that it left decodes
# without an error message, and holds all that was recorded up to a second before the kill.
#
#   Tests/operations/recording-kills.sh [DAEMON]
#
# KILLS    the number of kills; by default 20, which takes about a minute
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
daemon=${1:-$root/.build/debug/iotvideod}
kills=${KILLS:-20}
directory=$(mktemp -d /tmp/iotv-kills.XXXXXX)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2> /dev/null || true; rm -rf "$directory"' EXIT
clip=$root/Samples/street-h264-aac.mp4
{
    echo "dataDirectory: $directory/data"
    echo "socket: $directory/s"
    echo "recording: {directory: $directory/rec, freeSpace: 0}"
    echo "cameras:"
    for camera in a b c d; do echo "  - {name: $camera, url: $clip, record: continuous}"; done
} > "$directory/iotvideod.yaml"

seconds() { # FILE: the time from its first picture to the end of its last one; 0 if not even its header was written
    { ffprobe -v quiet -select_streams v:0 -show_entries packet=pts_time,duration_time -of csv=p=0 "$1" || true; } \
        | sort -n | awk -F , 'NR == 1 { first = $1 } { end = $1 + $2 } END { print NR ? end - first : 0 }'
}

most=0
for number in $(seq "$kills"); do
    touch "$directory/started"
    "$daemon" --config "$directory/iotvideod.yaml" > "$directory/out" 2>> "$directory/log" &
    pid=$!
    for _ in $(seq 1 150); do
        grep -q "is ready" "$directory/out" && break
        kill -0 "$pid"
        sleep 0.1
    done
    # Each camera has delivered its first picture.
    for _ in $(seq 1 150); do
        states=$(curl --silent --unix-socket "$directory/s" http://localhost/v1/cameras || true)
        [ "$(grep -o '"state":"ready"' <<< "$states" | wc -l)" -eq 4 ] && break
        sleep 0.02
    done
    ready=$(date +%s.%N)
    sleep "$((RANDOM % 3)).$((RANDOM % 1000))"
    kill -9 "$pid"
    killed=$(date +%s.%N)
    wait "$pid" 2> /dev/null || true
    pid=
    for camera in 1 2 3 4; do
        # There is none if the daemon was killed before the first fragment.
        file=$(find "$directory/rec" -path "*/0000000$camera/*.mp4" -newer "$directory/started" | sort | tail -n 1)
        have=0
        [ -z "$file" ] || have=$(seconds "$file")
        lost=$(awk "BEGIN { print $killed - $ready - $have }")
        # The fragment that was being made.
        awk "BEGIN { exit !($lost <= 1) }" || {
            echo "kill $number, camera $camera: $have s recorded, $lost s lost" >&2
            exit 1
        }
        most=$(awk "BEGIN { print ($lost > $most) ? $lost : $most }")
    done
done

# Completes what the last kill interrupted.
"$daemon" --config "$directory/iotvideod.yaml" > "$directory/out" 2>> "$directory/log" &
pid=$!
for _ in $(seq 1 150); do
    grep -q "is ready" "$directory/out" && break
    sleep 0.1
done
kill "$pid"
wait "$pid"
pid=
files=0
for file in "$directory"/rec/0*/*.mp4; do
    errors=$(ffmpeg -v error -i "$file" -f null - 2>&1 || echo failed)
    [ -z "$errors" ] || {
        echo "$file: $errors" >&2
        exit 1
    }
    files=$((files + 1))
done
echo "$kills kills, $files files: each decodes, and none misses more than $most s"
