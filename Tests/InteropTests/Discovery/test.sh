#!/bin/bash
# `iotctl net discover` on real networks: ten cameras of ours in five daemons, and five makers' ONVIF cameras that answer
# late, each in a network namespace, on two networks, by WS-Discovery and DNS-SD; some of the daemons have the packaged
# service's rights alone (packaging/as_unit.py). Needs root, iproute2, avahi-daemon, avahi-utils, dbus, systemd,
# python3-seccomp and python3-cryptography.
#   IOTCTL   the client under test; .build/debug/iotctl unless told
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "network namespaces need root"; exit 1; }
for tool in ip unshare nsenter avahi-daemon avahi-publish dbus-daemon systemd-analyze; do
    command -v $tool > /dev/null || {
        echo "$tool is missing: install iproute2, util-linux, avahi-daemon, avahi-utils, dbus and systemd"
        exit 1
    }
done
export IOTCTL=${IOTCTL:-$(cd "$here/../../.." && pwd)/.build/debug/iotctl}
export PYTHON=${PYTHON:-python3}
exec "$PYTHON" "$here/discovery.py" "$@"
