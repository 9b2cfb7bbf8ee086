#!/bin/bash
# test-inside.sh — the part of test.sh that runs in the clean root. It needs one.deb and two.deb in its folder, and
# /srv/clip.mp4.
set -euo pipefail

fail() {
    echo "deb-test: $*" >&2
    [ ! -e /tmp/daemon.err ] || tail -n 20 /tmp/daemon.err >&2
    exit 1
}

# All files with the product's name, except for apt's own records.
left() {
    find / -xdev \( -path /proc -o -path /tmp -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \) -prune -o \
        \( -name '*iotvideod*' -o -name '*iotctl*' \) -print
}

export IOTCTL_SOCKET=/run/iotvideod/iotvideod.sock
daemon=

# start [DROP-IN…]
start() {
    /tmp/as_unit.py /usr/lib/systemd/system/iotvideod.service "$@" >/tmp/daemon.out 2>/tmp/daemon.err &
    daemon=$!
    for _ in $(seq 300); do
        ! grep -q "is ready" /tmp/daemon.out || return 0
        kill -0 $daemon 2>/dev/null || fail "the daemon ended"
        sleep 0.1
    done
    fail "the daemon was not ready within 30 s"
}

stop() {
    kill -TERM $daemon
    wait $daemon || fail "the daemon ended with status $?"
}

quiet() {
    "$@" >/tmp/log 2>&1 || {
        cat /tmp/log >&2
        fail "failed: $*"
    }
}

echo "== install"
quiet apt-get update --quiet
# as_unit.py needs them.
quiet apt-get install --yes --no-install-recommends python3-seccomp systemd
quiet apt-get install --yes --no-install-recommends /tmp/one.deb
[ "$(stat -c '%U %G %a' /var/lib/iotvideod)" = "iotvideod iotvideod 700" ] || fail "the data directory's rights"
iotvideod --config /etc/iotvideod/iotvideod.yaml --check-config
for file in man8/iotvideod.8 man5/iotvideod.yaml.5 man1/iotctl.1; do
    gzip --test "/usr/share/man/$file.gz" || fail "no manual page $file"
done
for file in configuration.md operations.md cameras.md api.md openapi.yaml openapi-python-client.yaml; do
    [ -s "/usr/share/doc/iotvideod/$file" ] || fail "no document $file"
done
bash -n /usr/share/bash-completion/completions/iotctl || fail "the completion for bash"

echo "== run"
cat >>/etc/iotvideod/iotvideod.yaml <<'YAML'
cameras:
  - name: front
    url: /srv/clip.mp4
YAML
start
iotctl status
iotctl device list
iotctl monitor front --frames 20 --snapshot /tmp/front.png --record /tmp/front.mp4
[ "$(head -c 4 /tmp/front.png | tail -c 3)" = PNG ] || fail "the snapshot is not a picture"
id=$(iotctl device list | awk '$2 == "front" { print $1 }')
[ -n "$id" ] || fail "no device"
kill -HUP $daemon
for _ in $(seq 100); do ! grep -q "was reloaded" /tmp/daemon.err || break; sleep 0.1; done
grep -q "was reloaded" /tmp/daemon.err || fail "no reload"
stop

echo "== RTSP, our server read by our client"
echo 'rtsp: {listen: "127.0.0.1:8554"}' >>/etc/iotvideod/iotvideod.yaml
start
(umask 077 && iotctl key create player --ttl 1d >/tmp/player.key)
for transport in tcp udp; do
    iotctl camera test rtsp://127.0.0.1:8554/front --transport $transport --username "$(head -c 10 /tmp/player.key)" \
        --password-file /tmp/player.key
done
stop

echo "== networks"
quiet apt-get install --yes --no-install-recommends avahi-daemon avahi-utils iproute2 network-manager polkitd
export -f start stop fail
unshare --net --mount --propagation unchanged /tmp/test-inside-network.sh

echo "== upgrade"
quiet apt-get install --yes --no-install-recommends /tmp/two.deb
grep -q /srv/clip.mp4 /etc/iotvideod/iotvideod.yaml || fail "the upgrade lost the configuration"
start
[ "$(iotctl device list | awk '$2 == "front" { print $1 }')" = "$id" ] || fail "the upgrade lost the data"
stop

echo "== remove"
quiet apt-get remove --yes iotvideod
[ ! -e /usr/bin/iotvideod ] || fail "the program is still there"
[ -e /var/lib/iotvideod/hub.sqlite ] || fail "removing the package removed the data"
grep -q /srv/clip.mp4 /etc/iotvideod/iotvideod.yaml || fail "removing the package removed the configuration"

echo "== purge"
quiet apt-get purge --yes iotvideod
rest=$(left)
[ -z "$rest" ] || fail "purging left: $rest"
! getent passwd iotvideod || fail "purging left the user"
! getent group iotvideod || fail "purging left the group"

echo "== releases from the hub"
/tmp/test-inside-upgrade.sh
