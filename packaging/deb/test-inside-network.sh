#!/bin/bash
# test-inside-network.sh — the part of test-inside.sh that runs in its own network namespace. It checks the service's
# rights on networks. There is no Wi-Fi, so of NetworkManager it checks only the permissions of the service's user.
set -euo pipefail

others=()
trap 'kill "${others[@]}" 2>/dev/null || true' EXIT
unit=/usr/lib/systemd/system/iotvideod.service
share=/usr/share/iotvideod/provisioning

begin() {
    "$@" >>/tmp/other.log 2>&1 &
    others+=($!)
}

# until_true COMMAND… — waits until the command succeeds, at most 20 s
until_true() {
    for _ in $(seq 100); do ! "$@" >/tmp/log 2>&1 || return 0; sleep 0.2; done
    cat /tmp/log >&2
    tail -n 20 /tmp/other.log >&2
    fail "not within 20 s: $*"
}

mount -t sysfs sysfs /sys
ip link set lo up
ip link add lan0 type veth peer name lan1
ip addr add 192.0.2.1/24 dev lan0
ip link set lan0 up
ip link set lan1 up
mkdir -p /run/dbus
begin dbus-daemon --system --nofork --nopidfile
until_true test -e /run/dbus/system_bus_socket
begin avahi-daemon --no-rlimits --no-chroot
until_true test -e /run/avahi-daemon/socket
begin avahi-publish -s Gate _rtsp._tcp 8554 path=/live

echo "   discovery, through Avahi and by multicast"
start
found() { iotctl net discover --timeout 2s --json | grep -q '"rtsp://192.0.2.1:8554/live"'; }
until_true found
# During a search the daemon is in WS-Discovery's multicast groups of IPv4 and IPv6.
iotctl net discover --timeout 5s >/dev/null &
search=$!
joined() { ip maddress show dev lan0 | grep -q 239.255.255.250 && ip maddress show dev lan0 | grep -q 'ff02::c$'; }
until_true joined
wait $search
stop

echo "   port 80, only with the drop-in"
bind='import socket; socket.socket().bind(("127.0.0.1", 80))'
! /tmp/as_unit.py $unit -- python3 -c "$bind" 2>/dev/null || fail "port 80 works without the drop-in"
/tmp/as_unit.py $unit $share/port.conf -- python3 -c "$bind" || fail "port 80 does not work with the drop-in"

echo "   NetworkManager, only with the polkit rule"
begin /usr/lib/polkit-1/polkitd
polkitd=${others[-1]}
begin NetworkManager --no-daemon
allowed() { /tmp/as_unit.py $unit -- nmcli --terse --fields PERMISSION,VALUE general permissions | sort; }
running() { allowed | grep -q .; }
until_true running
needed="org.freedesktop.NetworkManager.network-control:yes
org.freedesktop.NetworkManager.settings.modify.system:yes
org.freedesktop.NetworkManager.wifi.scan:yes"
before=$(allowed)
! grep -qF "settings.modify.system:yes" <<<"$before" || fail "the service may change networks without the rule"
install -m 0644 $share/networkmanager.rules /etc/polkit-1/rules.d/50-iotvideod.rules
# polkitd reads new rules by itself, but not in every root without systemd.
kill $polkitd
wait $polkitd || true
begin /usr/lib/polkit-1/polkitd
has_all() {
    local now
    now=$(allowed)
    echo "$now"
    [ "$(grep -xF "$needed" <<<"$now")" = "$needed" ]
}
until_true has_all
added=$(comm -13 <(sort <<<"$before") <(allowed) | grep -vxF "$needed" | grep ':yes$' || true)
[ -z "$added" ] || fail "the rule permits more than it lists: $added"
rm /etc/polkit-1/rules.d/50-iotvideod.rules
