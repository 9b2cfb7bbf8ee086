#!/bin/bash
# upgrade-flow.sh [OPTION…] — upgrades of a box with the package's own units. upgrade.sh runs it in a copy of this system,
# make deb-test in a clean Debian with the real package.
#
# /srv/upgrade has first.deb, next.deb, broken.deb (whose daemon ends at once) and last.deb, clip.mp4, and units.py and
# as_unit.py from packaging, which start, stop and confine the units as systemd does; OPTION is for as_unit.py.
# UPGRADE_CUTS is how often the power goes at a random moment of an installation (4).
set -euo pipefail

options=("$@")
cuts=${UPGRADE_CUTS:-4}
inbox=/var/lib/iotvideod/firmware-upgrade
work=/var/lib/iotvideod-upgrade
export IOTCTL_SOCKET=/run/iotvideod/iotvideod.sock LC_ALL=C
unset TMPDIR
chmod 0755 /tmp
cd /srv/upgrade

fail() {
    echo "upgrade: $*" >&2
    tail -n 60 /tmp/machine.log /tmp/status.log >&2 || true
    exit 1
}

# wait_for WHAT CONDITION — at most two minutes
wait_for() {
    for _ in $(seq 1200); do
        ! eval "$2" || return 0
        sleep 0.1
    done
    fail "$1 did not come"
}

rm -f /usr/bin/systemctl /usr/sbin/policy-rc.d
ln -s /srv/upgrade/units.py /usr/bin/systemctl
boot() {
    rm -rf /run/iotvideod /run/units.sock
    mkdir -p /run/systemd/system
    unshare --pid --fork --mount --propagation unchanged --mount-proc \
        /srv/upgrade/units.py machine "${options[@]}" >>/tmp/machine.log 2>&1 </dev/null &
    unshare=$!
    wait_for "the machine" '[ -S /run/units.sock ] && systemctl is-system-running'
    machine=$(tr -d " " <"/proc/$unshare/task/$unshare/children")
}
# The daemon knows its callers by their processes, so they are in the machine's namespace.
in_machine() { nsenter --target "$machine" --pid --mount --root --wd -- "$@"; }
iotctl() { in_machine /usr/bin/iotctl "$@"; }
power_cut() {
    kill -KILL "$machine"
    wait "$unshare" 2>/dev/null || true
}

progress() { iotctl property read front ProReadonly._otaUpgrade.stVal 2>/dev/null || true; }
version() { dpkg-query --show --showformat='${db:Status-Status} ${Version}' iotvideod; }
version_of() { dpkg-deb --field "$1.deb" Version; }
is_up() { iotctl status >/tmp/status.log 2>&1; }
is_idle() { [ ! -e "$inbox/release" ] && [ ! -e "$work/state" ]; }
as_daemon() { setpriv --reuid=iotvideod --regid=iotvideod --clear-groups -- "$@"; }

# offer NAME — signs and adds it, and has the daemon download it.
offer() {
    [ -e "$1.deb.manifest" ] || iotctl firmware sign "$1.deb" --key release.key \
        --model "iotvideod-$(dpkg --print-architecture)" --version "$(version_of "$1")" >/dev/null
    iotctl firmware release add "$1.deb" >/dev/null
    iotctl firmware front --upgrade >/dev/null
    wait_for "the release $1" '[ -e "$inbox/release" ]'
}

remove_releases() {
    iotctl firmware release list --json | sed -n 's/.*"id": "\(.*\)".*/\1/p' | while read -r id; do
        iotctl firmware release remove "$id" --yes >/dev/null
    done
}

# check_rest — the installation has left nothing, and has kept the configuration
check_rest() {
    [ -z "$(ls -A $work)" ] || fail "something is left of the installation: $(ls -A $work)"
    cmp -s configuration.yaml /etc/iotvideod/iotvideod.yaml || fail "the configuration is another one"
}

# ends_with VERSION PROGRESS — how the installation ends
ends_with() {
    wait_for "the end of the installation" is_idle
    wait_for "the report $2" '[ "$(progress)" = '"$2"' ]'
    [ "$(version)" = "installed $1" ] || fail "there is $(version), not $1"
    check_rest
}

mkdir -p /etc/systemd/system/iotvideod-upgrade.service.d
printf '[Service]\nEnvironment=IOTVIDEOD_UPGRADE_PATIENCE=20\n' >/etc/systemd/system/iotvideod-upgrade.service.d/test.conf
boot
dpkg --install first.deb >/dev/null
wait_for "the daemon" is_up
iotctl firmware key create release.key >/dev/null
install -d -m 0755 /etc/iotvideod/release-keys
install -m 0644 release.key.pub /etc/iotvideod/daemon.pub
install -m 0644 release.key.pub /etc/iotvideod/release-keys/
systemctl enable --now iotvideod-upgrade.path

# The hub's API over connections that break: the first two for a file end after 300,000 bytes each.
cat >proxy.py <<'PYTHON'
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
in_machine python3 proxy.py "$IOTCTL_SOCKET" >proxy.port 2>proxy.log </dev/null &
wait_for "the proxy" '[ -s proxy.port ]'
cat >configuration.yaml <<YAML
firmware:
  keyFiles: [/etc/iotvideod/daemon.pub]
  directory: $inbox
cameras:
  - {name: front, url: /srv/upgrade/clip.mp4}
YAML
iotctl token create --api --ttl 1h >/var/lib/iotvideod/hub-token 2>/dev/null
chown iotvideod: /var/lib/iotvideod/hub-token
chmod 0600 /var/lib/iotvideod/hub-token
restart() {
    systemctl reset-failed iotvideod.service
    systemctl restart iotvideod.service
    wait_for "the daemon" is_up
}
# configure [SED-EXPRESSION] — what the administrator writes
configure() {
    sed "${1:-}" configuration.yaml >/etc/iotvideod/iotvideod.yaml
    restart
    wait_for "the camera" 'iotctl firmware front >/dev/null 2>&1'
}

echo "== a release is downloaded over a connection that breaks twice, installed and reported"
configure "s|^  directory: .*|&\n  url: http://127.0.0.1:$(cat proxy.port)\n  tokenFile: /var/lib/iotvideod/hub-token|"
first=$(version_of first) next=$(version_of next) last=$(version_of last)
[ "$(version)" = "installed $first" ] || fail "there is $(version), not $first"
offer next
began=$(date +%s%3N)
[ "$(grep -c "bytes 300000" proxy.log)" = 2 ] || fail "the connection did not break twice: $(cat proxy.log)"
cp configuration.yaml /etc/iotvideod/iotvideod.yaml
ends_with "$next" 100
duration=$(($(date +%s%3N) - began))
echo "   it took $((duration / 1000)).$((duration / 100 % 10)) s"
restart

echo "== a success that was not reported before the power went is reported at the next start"
systemctl stop iotvideod-upgrade.path
systemctl stop iotvideod.service
echo "installed $next" >$work/state
as_daemon sh -c 'rm -f "$1/report"; touch "$1/.pending"' sh "$inbox"
systemctl start iotvideod.service
wait_for "the daemon" is_up
[ "$(progress)" != 100 ] || fail "the success was reported already"
systemctl start iotvideod-upgrade.path
ends_with "$next" 100

echo "== a version that does not start is rolled back and reported"
remove_releases
offer broken
ends_with "$next" 25150
wait_for "the daemon" is_up

echo "== a release that root's keys do not trust is refused, whatever the daemon says"
remove_releases
iotctl firmware key create other.key >/dev/null
cp other.key.pub /etc/iotvideod/release-keys/release.key.pub
offer last
ends_with "$next" 25141
cp release.key.pub /etc/iotvideod/release-keys/release.key.pub

echo "== a bundle that is a link to another file is refused"
as_daemon ln -s /etc/shadow "$inbox/release"
wait_for "the refusal" '[ ! -L "$inbox/release" ]'
[ -s /etc/shadow ] || fail "the link's target is gone"

ends=
for cut in $(seq "$cuts"); do
    offer last
    moment=$((RANDOM % (duration * 6 / 5)))
    echo "== power cut $cut of $cuts, after $moment ms"
    sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
    power_cut
    ends="$ends$( [ -e $work/state ] && echo interrupted || { [ -e "$inbox/release" ] && echo unbegun || echo ended; } ) "
    boot
    wait_for "the end of the installation" is_idle
    wait_for "the daemon after a power cut" is_up
    wait_for "the report after a power cut" '[ "$(progress)" = 100 ] || [ "$(progress)" = 25150 ]'
    case "$(version) $(progress)" in
    "installed $next 25150" | "installed $last 100") ;;
    *) fail "there is $(version) after a power cut, and the report $(progress)" ;;
    esac
    [ -z "$(dpkg --audit)" ] || fail "dpkg finds an unfinished installation"
    check_rest
    # From the same state again.
    dpkg --force-confold --force-downgrade --install next.deb >/dev/null 2>&1 || fail "dpkg could not install $next again"
    wait_for "the daemon" is_up
done
power_cut
echo "upgrade: all right; when the power went, the installation was: $ends"
