#!/bin/bash
# Stock WS-Discovery of Python (https://github.com/andreikop/python-ws-discovery) finds the cameras of a real daemon, and
# a service that it announces is found by `iotctl net discover`. In a network namespace of its own, with one interface
# that carries multicast.
#   IOTCTL   the client under test; .build/debug/iotctl unless told
set -u
cd "$(dirname "$0")" || exit 1
export IOTCTL=${IOTCTL:-$(cd ../../.. && pwd)/.build/debug/iotctl}
if [ "$(id -u)" != 0 ]; then echo "a network namespace needs root"; exit 1; fi
exec unshare --net bash -c '
    # The library takes the senders of the one family for addresses of the other.
    echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
    ip link set lo up
    ip link add lan0 type veth peer name lan1
    ip addr add 192.0.2.1/24 dev lan0
    ip link set lan0 up
    ip link set lan1 up
    ip route add default dev lan0
    exec "$0" clients.py' "${PYTHON:?run it by Tests/InteropTests/run.sh}"
