#!/bin/bash
# Attacks a real daemon from all sides at once (see attack.py), in a network namespace in which each attacker has its
# own addresses. Needs root.
#
#   Tests/AttackTests/attack.sh [OPTION...]     with the options of attack.py
#
# DAEMON   the program under test, with iotctl in the same folder; by default .build/debug/iotvideod
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export DAEMON=${DAEMON:-$root/.build/debug/iotvideod}
PYTHON=$("$root/Tests/python-environment.sh" interop "$root/Tests/InteropTests/requirements.txt")/python3
export PYTHON
exec unshare -n bash -c '
    ip link set lo up
    for number in $(seq 10 40); do ip address add 192.0.2.$number/32 dev lo; done
    exec "$PYTHON" "$@"' _ "$here/attack.py" "$@"
