#!/bin/bash
# Our peers behind the kernel's NATs (nftables), each in a network namespace, with coturn as the STUN and TURN server;
# and hidden addresses by multicast DNS. Needs root, iproute2, nftables, coturn and .build/debug/peer-probe (PROBE
# selects another).
#
#   left 10.0.0.2 ─ nat-left 192.0.2.1 ─┐
#                                       ├─ wan 192.0.2.100 (coturn) ─ host 192.0.2.50
#   right 10.0.1.2 ─ nat-right 192.0.2.2 ┘
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "network namespaces need root"; exit 1; }
for tool in ip nft turnserver; do
    command -v $tool > /dev/null || { echo "$tool is missing: install iproute2, nftables and coturn"; exit 1; }
done
work=$(mktemp -d)
export NS=iotnat$$
spaces="wan left right natleft natright host"
server=
cleanup() {
    [ -z "$server" ] || kill "$server" 2> /dev/null || true
    for space in $spaces; do ip netns del $NS$space 2> /dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT
for space in $spaces; do
    ip netns add $NS$space
    ip -n $NS$space link set lo up
done

# join SPACE ADDRESS: connects the namespace to the wan's bridge
ip -n ${NS}wan link add bridge type bridge
ip -n ${NS}wan link set bridge up
ip -n ${NS}wan addr add 192.0.2.100/24 dev bridge
# A route to nowhere: a server on the internet also has a route for private addresses.
ip -n ${NS}wan route add default via 192.0.2.254
number=0
join() {
    number=$((number + 1))
    ip -n ${NS}wan link add port$number type veth peer name wan0 netns $NS$1
    ip -n ${NS}wan link set port$number master bridge up
    ip -n $NS$1 addr add "$2/24" dev wan0
    ip -n $NS$1 link set wan0 up
    ip -n $NS$1 route add default via 192.0.2.100
}
join natleft 192.0.2.1
join natright 192.0.2.2
join host 192.0.2.50

# behind SPACE NAT NUMBER: puts the namespace behind the NAT
behind() {
    ip -n $NS$2 link add lan0 type veth peer name lan0 netns $NS$1
    ip -n $NS$2 addr add 10.0.$3.1/24 dev lan0
    ip -n $NS$2 link set lan0 up
    ip -n $NS$1 addr add 10.0.$3.2/24 dev lan0
    ip -n $NS$1 link set lan0 up
    ip -n $NS$1 route add default via 10.0.$3.1
    ip netns exec $NS$2 sysctl -qw net.ipv4.ip_forward=1
}
behind left natleft 0
behind right natright 1

ip netns exec ${NS}wan turnserver -n -L 192.0.2.100 -E 192.0.2.100 --listening-port 3478 --no-tls --no-dtls --no-cli \
    --log-file stdout --pidfile "$work/pid" --userdb "$work/db" --realm example.org --lt-cred-mech --user user:secret \
    > "$work/turn.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    ip netns exec ${NS}wan bash -c 'exec 3<> /dev/tcp/192.0.2.100/3478' 2> /dev/null && break
    sleep 0.1
done
if ! "${PYTHON:-python3}" "$here/traverse.py"; then
    tail -n 40 "$work/turn.log"
    exit 1
fi
