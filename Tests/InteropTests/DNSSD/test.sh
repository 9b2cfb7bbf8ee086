#!/bin/bash
# DNS-SD with Avahi, in two network namespaces joined by a cable: announced by us and seen by avahi-browse, published by
# avahi-publish and found by us; by our own multicast DNS, through Avahi, and while Avahi stops and starts. Needs root,
# iproute2, avahi-daemon, avahi-utils and dbus, and .build/debug/directory-probe (PROBE for another).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "network namespaces need root"; exit 1; }
for tool in ip unshare nsenter avahi-daemon avahi-browse avahi-publish dbus-daemon; do
    command -v $tool > /dev/null || {
        echo "$tool is missing: install iproute2, util-linux, avahi-daemon, avahi-utils and dbus"
        exit 1
    }
done
export PROBE=${PROBE:-$here/../../../.build/debug/directory-probe}
exec "${PYTHON:-python3}" "$here/dnssd.py" "$@"
