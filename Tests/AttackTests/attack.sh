#!/bin/bash
# Attacks a real daemon from all sides at once (attack.py says how): in a network namespace of its own, where each
# attacker has addresses of its own. Needs root.
#
#   Tests/AttackTests/attack.sh [OPTION...]     those of attack.py
#
# DAEMON   the program under test, with iotctl beside it; .build/debug/iotvideod unless told
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export DAEMON=${DAEMON:-$root/.build/debug/iotvideod}
PYTHON=$("$root/Tests/InteropTests/environment.sh")
export PYTHON
exec unshare -n bash -c '
    ip link set lo up
    for number in $(seq 10 40); do ip address add 192.0.2.$number/32 dev lo; done
    exec "$PYTHON" "$@"' _ "$here/attack.py" "$@"
