#!/bin/bash
# test.sh DEB NEWER-DEB CLIP — installs, runs, upgrades, removes and purges the package in a clean Debian 12.
#
# The installation starts nothing. No systemd runs there, so packaging/as_unit.py runs the daemon, as its own user and
# with the rights of the service's unit. Upgrades through the hub are last, with packaging/units.py in place of systemd.
set -euo pipefail

deb=$(realpath "$1") newer=$(realpath "$2") clip=$(realpath "$3")
[ "$(id -u)" -eq 0 ] || {
    echo "deb-test: needs root, for debootstrap and chroot: sudo make deb-test" >&2
    exit 1
}
for tool in debootstrap unshare chroot; do
    command -v "$tool" >/dev/null || {
        echo "deb-test: $tool is missing: apt-get install debootstrap util-linux" >&2
        exit 1
    }
done

if command -v lintian >/dev/null; then
    echo "== lintian"
    lintian --fail-on error --suppress-tags bad-distribution-in-changes-file "$deb"
fi

# The test has its own mounts and processes, which end with it.
if [ "${IOTVIDEOD_DEB_TEST:-}" != inside ]; then
    exec env IOTVIDEOD_DEB_TEST=inside unshare --mount --propagation private --pid --fork --kill-child \
        "$0" "$deb" "$newer" "$clip"
fi

root=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
"$(dirname "$0")/clean-root.sh" "$root"
cp "$deb" "$root/tmp/one.deb"
cp "$newer" "$root/tmp/two.deb"
cp "$clip" "$root/srv/clip.mp4"
here=$(dirname "$0")
install -m 0755 "$here"/test-inside*.sh "$here"/../{as_unit,units}.py "$here/../../Tests/operations/upgrade-flow.sh" \
    "$root/tmp/"
env -i UPGRADE_CUTS="${UPGRADE_CUTS:-4}" PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
    DEBIAN_FRONTEND=noninteractive chroot "$root" /tmp/test-inside.sh
echo "deb-test: passed"
