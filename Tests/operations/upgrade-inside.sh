#!/bin/bash
# upgrade-inside.sh ROOT BIN — the part of upgrade.sh that runs in the copy of the system.
set -euo pipefail

root=$1
bin=$2
cuts=${UPGRADE_CUTS:-4}
inbox=/var/lib/iotvideod/firmware-upgrade
export IOTCTL_SOCKET=/run/iotvideod/iotvideod.sock LC_ALL=C
unset TMPDIR
cd /tmp

fail() {
    echo "upgrade: $*" >&2
    tail -n 20 /tmp/daemon.log /tmp/install.log >&2 || true
    exit 1
}

# One service, as systemd starts and stops it.
rm -f /usr/bin/systemctl
cat >/usr/bin/systemctl <<'SH'
#!/bin/bash
pid=/run/iotvideod.pid
running() { [ -e $pid ] && kill -0 "$(cat $pid)" 2>/dev/null; }
case $1 in
stop)
    if running; then
        kill -TERM "$(cat $pid)"
        while running; do sleep 0.1; done
    fi
    ;;
start)
    running && exit 0
    setsid setpriv --reuid=iotvideod --regid=iotvideod --clear-groups /usr/bin/iotvideod --config /etc/iotvideod/iotvideod.yaml \
        --data-dir /var/lib/iotvideod --socket /run/iotvideod/iotvideod.sock >>/tmp/daemon.log 2>&1 </dev/null &
    echo $! >$pid
    ;;
esac
SH
chmod 0755 /usr/bin/systemctl

getent passwd iotvideod >/dev/null || useradd --system --user-group --no-create-home iotvideod
install -d -m 0700 -o iotvideod -g iotvideod /var/lib/iotvideod
install -d -m 0755 -o iotvideod -g iotvideod /run/iotvideod
chmod 0755 /tmp
arch=$(dpkg --print-architecture)

# package VERSION PROGRAM — a package with the real install-release, whose iotvideod is PROGRAM.
package() {
    local folder=/tmp/package-$1
    mkdir -p "$folder/DEBIAN" "$folder/usr/bin" "$folder/usr/lib/iotvideod" "$folder/etc/iotvideod"
    printf '#!/bin/sh\n%s\n' "$2" >"$folder/usr/bin/iotvideod"
    printf '#!/bin/sh\nexec %s/iotctl "$@"\n' "$bin" >"$folder/usr/bin/iotctl"
    cp "$root/packaging/upgrade/install-release" "$folder/usr/lib/iotvideod/"
    chmod 0755 "$folder"/usr/bin/* "$folder"/usr/lib/iotvideod/*
    echo "# $1" >"$folder/etc/iotvideod/packaged.conf"
    # As large as a program.
    head -c 1000000 /dev/urandom >"$folder/usr/lib/iotvideod/program"
    echo /etc/iotvideod/packaged.conf >"$folder/DEBIAN/conffiles"
    cat >"$folder/DEBIAN/control" <<CONTROL
Package: iotvideod
Version: $1
Architecture: $arch
Maintainer: test <test@localhost>
Description: test
 of an upgrade.
CONTROL
    dpkg-deb -Znone --root-owner-group --build "$folder" "/tmp/$1.deb" >/dev/null
}

program="exec $bin/iotvideod \"\$@\""
package 0.1.0 "$program"
package 0.2.0 "$program"
package 0.3.0 "exit 1"
package 0.4.0 "$program"

dpkg --install 0.1.0.deb >/dev/null
install -d -m 0755 /etc/iotvideod/release-keys
iotctl firmware key create /tmp/release.key >/dev/null
cp /tmp/release.key.pub /etc/iotvideod/release-keys/
# The hub's API over connections that break: the first two for a file end after 300,000 bytes each.
cat >/tmp/proxy.py <<'PYTHON'
import itertools, socket, sys, threading
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
numbers = itertools.count(1)
def serve(client):
    hub = socket.socket(socket.AF_UNIX)
    request = client.recv(65536)
    try:
        hub.connect(sys.argv[1])
        hub.sendall(request)
        number = next(numbers)
        limit = 300_000 if number <= 2 else 1 << 40
        sent = 0
        while sent < limit and (data := hub.recv(min(65536, limit - sent))):
            client.sendall(data)
            sent += len(data)
        print("connection", number, "bytes", sent, file=sys.stderr, flush=True)
    except OSError:
        pass
    client.close()
    hub.close()
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
PYTHON
python3 /tmp/proxy.py "$IOTCTL_SOCKET" >/tmp/proxy.port 2>/tmp/proxy.log </dev/null &
cat >/etc/iotvideod/iotvideod.yaml <<YAML
firmware:
  keyFiles: [/etc/iotvideod/release-keys/release.key.pub]
  directory: $inbox
cameras:
  - {name: front, url: $root/Samples/street-h264-aac.mp4}
YAML
chmod 0644 /etc/iotvideod/iotvideod.yaml /etc/iotvideod/release-keys/*

wait_for() {
    for _ in $(seq 300); do
        ! eval "$2" || return 0
        sleep 0.1
    done
    fail "$1 did not come"
}

progress() { iotctl property read front ProReadonly._otaUpgrade.stVal 2>/dev/null || true; }
version() { dpkg-query --show --showformat='${db:Status-Status} ${Version}' iotvideod; }

# As the path unit does, as long as one of its files exists.
trigger() {
    while [ -e "$inbox/release" ] || [ -e /var/lib/iotvideod-upgrade/state ]; do
        IOTVIDEOD_UPGRADE_PATIENCE=${patience:-30} /usr/lib/iotvideod/install-release >>/tmp/install.log 2>&1 || true
    done
}

# offer VERSION — signs and adds it, and has the daemon download it.
offer() {
    [ -e "/tmp/$1.deb.manifest" ] || iotctl firmware sign "/tmp/$1.deb" --key /tmp/release.key --model "iotvideod-$arch" \
        --version "$1" >/dev/null
    iotctl firmware release add "/tmp/$1.deb" >/dev/null
    iotctl firmware front --upgrade >/dev/null
    wait_for "the release $1" '[ -e "$inbox/release" ]'
}

remove_releases() {
    iotctl firmware release list --json | sed -n 's/.*"id": "\(.*\)".*/\1/p' | while read -r id; do
        iotctl firmware release remove "$id" --yes >/dev/null
    done
}

systemctl start iotvideod.service
wait_for "the daemon" 'iotctl status >/dev/null 2>&1'
wait_for "the camera" 'iotctl firmware front 2>/dev/null | grep -q "version 0.1.0"'

echo "== a release is downloaded over a connection that breaks twice, installed and reported"
iotctl token create --api --ttl 1h >/var/lib/iotvideod/hub-token 2>/dev/null
chown iotvideod: /var/lib/iotvideod/hub-token
chmod 0600 /var/lib/iotvideod/hub-token
cp /etc/iotvideod/iotvideod.yaml /tmp/whole.yaml
sed -i "s|^  directory: .*|&\n  url: http://127.0.0.1:$(cat /tmp/proxy.port)\n  tokenFile: /var/lib/iotvideod/hub-token|" \
    /etc/iotvideod/iotvideod.yaml
systemctl stop iotvideod.service
systemctl start iotvideod.service
wait_for "the daemon" 'iotctl status >/dev/null 2>&1'
offer 0.2.0
[ "$(grep -c "bytes 300000" /tmp/proxy.log)" = 2 ] || fail "the connection did not break twice: $(cat /tmp/proxy.log)"
cp /tmp/whole.yaml /etc/iotvideod/iotvideod.yaml
trigger
[ "$(version)" = "installed 0.2.0" ] || fail "there is $(version), not 0.2.0"
wait_for "the report of 0.2.0" '[ "$(progress)" = 100 ]'
[ -z "$(ls -A /var/lib/iotvideod-upgrade)" ] || fail "something is left of the installation"

echo "== a success that was not reported before the power went is reported at the next start"
systemctl stop iotvideod.service
echo "installed 0.2.0" >/var/lib/iotvideod-upgrade/state
setpriv --reuid=iotvideod --regid=iotvideod --clear-groups sh -c 'rm -f "$1/report"; touch "$1/.pending"' sh "$inbox"
systemctl start iotvideod.service
wait_for "the daemon" 'iotctl status >/dev/null 2>&1'
[ "$(progress)" != 100 ] || fail "the success was reported already"
trigger
wait_for "the report" '[ "$(progress)" = 100 ]'
[ "$(version)" = "installed 0.2.0" ] || fail "there is $(version), not 0.2.0"
[ -z "$(ls -A /var/lib/iotvideod-upgrade)" ] || fail "something is left of the installation"

echo "== a version that does not start is rolled back and reported"
remove_releases
offer 0.3.0
patience=5 trigger
[ "$(version)" = "installed 0.2.0" ] || fail "there is $(version), not 0.2.0"
wait_for "the daemon" 'iotctl status >/dev/null 2>&1'
wait_for "the report of the failure" '[ "$(progress)" = 25150 ]'
[ "$(cat /etc/iotvideod/packaged.conf)" = "# 0.1.0" ] || [ "$(cat /etc/iotvideod/packaged.conf)" = "# 0.2.0" ] ||
    fail "the configuration file is another one"

echo "== a release that root's keys do not trust is refused, whatever the daemon says"
remove_releases
cp /etc/iotvideod/release-keys/release.key.pub /tmp/trusted.pub
iotctl firmware key create /tmp/other.key >/dev/null
offer 0.4.0
cp /tmp/other.key.pub /etc/iotvideod/release-keys/release.key.pub
before=$(version)
trigger
[ "$(version)" = "$before" ] || fail "it was installed"
wait_for "the refusal" '[ "$(progress)" = 25141 ]'
cp /tmp/trusted.pub /etc/iotvideod/release-keys/release.key.pub

echo "== a bundle that is a link to another file is refused"
setpriv --reuid=iotvideod --regid=iotvideod --clear-groups ln -s /etc/shadow "$inbox/release"
trigger
[ ! -L "$inbox/release" ] || fail "the link is still there"
[ -s /etc/shadow ] || fail "the link's target is gone"

ends=
for cut in $(seq "$cuts"); do
    echo "== power cut $cut of $cuts"
    offer 0.4.0
    before=$(version)
    setsid /usr/lib/iotvideod/install-release >>/tmp/install.log 2>&1 &
    installer=$!
    # An installation takes about a second.
    moment=$((RANDOM % 120))
    sleep "$(printf '%d.%02d' $((moment / 100)) $((moment % 100)))"
    { kill -KILL -- -"$installer"; } 2>/dev/null || true
    for name in dpkg dpkg-deb iotvideod; do
        for process in /proc/[0-9]*; do
            [ "$(cat "$process/comm" 2>/dev/null)" != "$name" ] || kill -KILL "${process#/proc/}" 2>/dev/null || true
        done
    done
    wait "$installer" 2>/dev/null || true
    rm -f /run/iotvideod.pid /run/iotvideod/iotvideod.sock
    # The machine starts.
    systemctl start iotvideod.service
    ends="$ends$( [ -e /var/lib/iotvideod-upgrade/state ] && echo interrupted || { [ -e "$inbox/release" ] && echo unbegun || echo ended; } ) "
    trigger
    systemctl start iotvideod.service
    wait_for "the daemon after a power cut" 'iotctl status >/dev/null 2>&1'
    case $(version) in
    "$before" | "installed 0.4.0") ;;
    *) fail "there is $(version) after a power cut" ;;
    esac
    [ -z "$(dpkg --audit)" ] || fail "dpkg finds an unfinished installation"
    wait_for "the report after a power cut" '[ "$(progress)" = 100 ] || [ "$(progress)" = 25150 ]'
    # From the same state again.
    dpkg --force-downgrade --install /tmp/0.2.0.deb >/dev/null 2>&1
done
systemctl stop iotvideod.service
echo "upgrade: all right; when the power went, the installation was: $ends"
