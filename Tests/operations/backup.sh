#!/bin/bash
# Runs the commands of docs/operations.md, "Back up" and "Restore", with a real daemon. Changes after the backup must be
# gone in the restored hub.
#
#   Tests/operations/backup.sh [DAEMON]        for the variables see Tests/api/common.sh
set -euo pipefail
. "$(dirname "$0")/../api/common.sh"

# Prints the commands of a section, for this daemon's directories.
commands() { # HEADING
    awk -v heading="## $1" '
        /^## / { inside = $0 == heading }
        inside && /^```$/ { code = 0 }
        inside && code && !/^data=/ { print }
        inside && /^```sh$/ { code = 1 }
    ' "$root/docs/operations.md"
}
systemctl() {
    if [ "$1" = start ]; then
        start_daemon
    else
        kill "$pid"
        wait "$pid"
    fi
}
# The user of the documented command does not exist here.
chown() { :; }
iotctl() { IOTCTL_SOCKET=$directory/s "$root/.build/debug/iotctl" "$@"; }
run() { # HEADING
    local text data=$directory/data backup=$directory/backup
    text=$(commands "$1")
    [ -n "$text" ] || { echo "docs/operations.md has no commands at '$1'" >&2; exit 1; }
    eval "$text"
}
devices() { iotctl device list --json | jq -c '[.devices[] | {id, name}] | sort'; }

start_daemon
iotctl camera add lobby "$root/Samples/street-h265-aac.mp4"
iotctl user create bob
iotctl device bind front bob --action view
iotctl property write front ProWritable._logLevel.setVal 3
before=$(devices)
bearer=$token
run "Back up"
local_api -X DELETE http://localhost/v1/users/bob > /dev/null
iotctl user create eve
run "Restore"

fail() { echo "backup: $*" >&2; exit 1; }
[ "$(devices)" = "$before" ] || fail "the devices are others: $(devices), not $before"
users=$(iotctl user list --json)
grep -q '"bob"' <<< "$users" || fail "an account is missing"
! grep -q '"eve"' <<< "$users" || fail "an account is there that the backup does not have"
[ "$(iotctl property read front ProWritable._logLevel.setVal)" = 3 ] || fail "a setting is lost"
curl --silent --fail --output /dev/null -H "Authorization: Bearer $bearer" "$url/v1/devices" || fail "a token is refused"
check_daemon
echo "backup: restored"
