#!/bin/bash
# Runs the commands of README.md, "Add a second box", on two machines: network namespaces with a cable between them,
# each with the address from the README, its own /run and /var/lib, and a copy of the sources. At the end the first box
# takes a picture of the second box's camera. Needs root.
#
#   Tests/operations/two-boxes.sh [BIN]        by default .build/debug
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "${1:-$root/.build/debug}" && pwd)
directory=$(mktemp -d /tmp/iotv-XXXXXX)
declare -A address=([hub]=192.0.2.2 [yard]=192.0.2.3) space=([hub]=${directory##*/}-hub [yard]=${directory##*/}-yard)
holders=()
logs=()

finish() {
    status=$?
    trap - EXIT
    # Each holder is the first process of a process namespace: when it ends, the namespace's other processes end.
    for holder in "${holders[@]}"; do kill -KILL "$holder" 2>/dev/null || true; done
    for name in "${space[@]}"; do ip netns delete "$name" 2>/dev/null || true; done
    if [ "$status" -ne 0 ]; then
        for log in "${logs[@]}"; do echo "--- $log:"; tail -n 40 "$log"; done
    fi
    rm -rf "$directory"
    exit "$status"
}
trap finish EXIT
fail() { echo "two-boxes: $*" >&2; exit 1; }

# The commands at the prompts `hub$ ` and `yard$ `, and the first lines of their output in the README.
section=$(awk '/^## / { inside = $0 == "## Add a second box" } inside' "$root/README.md")
mapfile -t commands < <(grep -E '^(hub|yard)\$ ' <<< "$section")
[ "${#commands[@]}" -ge 5 ] || fail "README.md has no commands at 'Add a second box'"
for box in hub yard; do
    grep -qF "\`${address[$box]}\`" <<< "$section" || fail "README.md does not contain the address of $box"
done

# A machine: its network, then its processes and directories, which end with its holder.
declare -A inside
for box in hub yard; do
    ip netns add "${space[$box]}"
    ip -n "${space[$box]}" link set lo up
    mkdir -p "$directory/$box/.build"
    cp -r "$root/Makefile" "$root/packaging" "$root/Samples" "$directory/$box"
    ln -s "$bin" "$directory/$box/.build/release"
done
ip -n "${space[hub]}" link add eth0 type veth peer name eth0 netns "${space[yard]}"
for box in hub yard; do
    ip -n "${space[$box]}" address add "${address[$box]}/24" dev eth0
    ip -n "${space[$box]}" link set eth0 up
    ip netns exec "${space[$box]}" unshare --mount --pid --fork --kill-child --mount-proc bash -c \
        'mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib && echo > "$1" && exec sleep infinity' \
        _ "$directory/$box/up" &
    holders+=($!)
    # Prevents bash's message when the holder is killed.
    disown
    until [ -e "$directory/$box/up" ]; do
        kill -0 "${holders[-1]}" || fail "no namespaces for $box"
        sleep 0.05
    done
    inside[$box]=$(cat "/proc/${holders[-1]}/task/${holders[-1]}/children")
done

# Runs a command in the shell of a box, set up as in "Try it": the programs are in PATH, and iotctl finds the daemon.
# The programs are built and their packages are installed, so `make run` does neither.
on() { # BOX COMMAND
    nsenter --target "${inside[$1]// /}" --mount --pid --net bash -euo pipefail -c '
        cd "'"$directory"'/$1"
        export PATH="$PWD/.build/release:$PATH" HOME=$PWD
        [ "$1" = yard ] || export IOTCTL_SOCKET=.run/iotvideod.sock
        make() { command make --no-print-directory -o deps -o build "$@"; }
        scp() { cp "$1" "'"$directory"'/yard/"; }
        umask 077
        eval "$2"' _ "$1" "$2"
}

# Waits for a line that README.md shows, in the output of a daemon.
await() { # FILE PROCESS LINE
    for _ in $(seq 1 600); do
        if grep -qxF "$3" "$1"; then return; fi
        kill -0 "$2" 2>/dev/null || fail "ended without '$3'"
        sleep 0.1
    done
    fail "did not print '$3': $(cat "$1")"
}

# A user who types the commands has waited this long.
until_online() {
    for _ in $(seq 1 200); do
        if [ "$(on hub "iotctl property read yard ProReadonly._online.stVal")" = 1 ]; then return; fi
        sleep 0.1
    done
    fail "the yard does not come online"
}

number=0
for entry in "${commands[@]}"; do
    box=${entry%%\$*} command=${entry#*\$ }
    number=$((number + 1))
    output=$directory/output$number
    echo "two-boxes: $entry"
    # The first line of the command's output in the README.
    shown=$(awk -v entry="$entry" 'found { print; exit } $0 == entry { found = 1 }' <<< "$section")
    case $command in
        "iotctl monitor"*) until_online ;;&
        "make run"* | iotvideod*)
            on "$box" "$command" > "$output" 2> "$output.log" < /dev/null &
            logs+=("$output" "$output.log")
            await "$output" $! "$shown"
            ;;
        *)
            on "$box" "$command" < /dev/null > "$output" || fail "failed: $entry"
            ;;
    esac
done

# The line is compared without the measured rate and the sound.
tracks=$(sed -n 's/^\(tracks .* [0-9]*x[0-9]*\) .*/\1/p' <<< "$section")
[ -n "$tracks" ] && grep -qF "$tracks" "$output" || fail "the monitor did not print '$tracks': $(cat "$output")"
size=$(ffprobe -v error -show_entries stream=codec_name,width,height -of csv=p=0 "$directory/hub/yard.jpg")
[ "$size" = mjpeg,768,576 ] || fail "no picture of the yard at the hub: $size"
status=$(on yard "iotctl status")
grep -qF "on another box, at tls:${address[hub]}:8883" <<< "$status" || fail "the yard's status: $status"
echo "two-boxes: a picture of the yard, seen through the hub"
