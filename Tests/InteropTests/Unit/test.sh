#!/bin/bash
# The provisioning mode as the packaged service may run it (packaging/iotvideod.service with packaging/provisioning/*):
# its port 80, nmcli, and wpa_supplicant's control socket, by packaging/as_unit.py. There is no Wi-Fi in a network
# namespace: nmcli and wpa_supplicant are scripts, outside the service's sandbox as the real ones. Needs root, iproute2,
# python3-seccomp, python3-cryptography, systemd (for the names of system calls), and .build/debug/directory-probe
# (PROBE for another).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "network namespaces need root"; exit 1; }
for tool in ip unshare nsenter systemd-analyze; do
    command -v $tool > /dev/null || { echo "$tool is missing: install iproute2, util-linux and systemd"; exit 1; }
done
export PROBE=${PROBE:-$(cd "$here/../../.." && pwd)/.build/debug/directory-probe}
exec "${PYTHON:-python3}" "$here/unit.py" "$@"
