#!/bin/bash
# `iotctl net discover` on two networks, by WS-Discovery and DNS-SD. There are ten cameras of iotvideod in five daemons,
# and simulated ONVIF cameras of five manufacturers, which delay their answers. Each daemon and each ONVIF camera has
# its own network namespace. Some daemons have only the rights of the packaged service (packaging/as_unit.py).
#
# Needs root, iproute2, avahi-daemon, avahi-utils, dbus, ffmpeg, systemd, python3-seccomp and python3-cryptography.
#   DAEMON   the daemon under test; by default .build/debug/iotvideod
#   IOTCTL   the client under test; by default .build/debug/iotctl
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "network namespaces need root"; exit 1; }
for tool in ip unshare nsenter avahi-daemon avahi-publish dbus-daemon systemd-analyze; do
    command -v $tool > /dev/null || {
        echo "$tool is missing: install iproute2, util-linux, avahi-daemon, avahi-utils, dbus and systemd"
        exit 1
    }
done
products=$(cd "$here/../../.." && pwd)/.build/debug
export DAEMON=${DAEMON:-$products/iotvideod} IOTCTL=${IOTCTL:-$products/iotctl}
export PYTHON=${PYTHON:-python3}
exec "$PYTHON" "$here/discovery.py" "$@"
