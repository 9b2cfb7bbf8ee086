#!/bin/bash
# The rights of the packaged service: video and sound devices; a recording disk; in the provisioning mode port 80, nmcli, and
# wpa_supplicant's control socket.
# packaging/as_unit.py applies packaging/iotvideod.service and packaging/provisioning/*. A network namespace has no
# Wi-Fi, so scripts replace nmcli and wpa_supplicant. Like the real wpa_supplicant, its script runs outside the
# service's sandbox.
#
# Needs root, iproute2, python3-seccomp, python3-cryptography, and systemd for the groups of system calls.
#   PROBE   the program under test; by default .build/debug/directory-probe
#   DAEMON  the daemon; by default .build/debug/iotvideod
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "network namespaces need root"; exit 1; }
for tool in ip unshare nsenter systemd-analyze; do
    command -v $tool > /dev/null || { echo "$tool is missing: install iproute2, util-linux and systemd"; exit 1; }
done
export PROBE=${PROBE:-$(cd "$here/../../.." && pwd)/.build/debug/directory-probe}
export DAEMON=${DAEMON:-$(cd "$here/../../.." && pwd)/.build/debug/iotvideod}
exec "${PYTHON:-python3}" "$here/unit.py" "$@"
