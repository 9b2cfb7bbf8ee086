#!/bin/bash
# The public Python library WSDiscovery (https://github.com/andreikop/python-ws-discovery) finds the cameras of a real
# daemon, and `iotctl net discover` finds a service that the library announces. Runs in a network namespace with one
# multicast interface.
#   IOTCTL   the client under test; by default .build/debug/iotctl
set -u
cd "$(dirname "$0")" || exit 1
export IOTCTL=${IOTCTL:-$(cd ../../.. && pwd)/.build/debug/iotctl}
if [ "$(id -u)" != 0 ]; then echo "a network namespace needs root"; exit 1; fi
exec unshare --net bash -c '
    # With both families, the library confuses the sender addresses of one with the other.
    echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
    ip link set lo up
    ip link add lan0 type veth peer name lan1
    ip addr add 192.0.2.1/24 dev lan0
    ip link set lan0 up
    ip link set lan1 up
    ip route add default dev lan0
    exec "$0" clients.py' "${PYTHON:?run it by Tests/InteropTests/run.sh}"
