#!/bin/bash
# upgrade.sh [BIN] — upgrades a box: small packages with the real units and scripts, real dpkg, the real daemon.
#
# Works on a copy of this system (an overlay). upgrade-flow.sh has what is tested, and how often the power goes. Needs
# root.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "${1:-$root/.build/debug}" && pwd)
if [ "${UPGRADE_INSIDE:-}" != 1 ]; then
    UPGRADE_INSIDE=1 exec unshare --mount --pid --fork --kill-child "$0" "$bin"
fi
mount --make-rprivate /
stage=$(mktemp -d)
mount -t tmpfs tmpfs "$stage"
mkdir "$stage/upper" "$stage/work" "$stage/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$stage/upper,workdir=$stage/work" "$stage/root"
mount -t proc proc "$stage/root/proc"
mount --rbind /dev "$stage/root/dev"
mount -t tmpfs tmpfs "$stage/root/run"
mount -t tmpfs tmpfs "$stage/root/tmp"
# Where the sources are a mount of their own.
mkdir -p "$stage/root$root"
mount --rbind "$root" "$stage/root$root"
# Debug programs load the Swift runtime from the toolchain, which may be below a home directory.
swift=$(dirname "$(dirname "$(realpath "$(command -v swift)")")")
visible=(--visible "$root" --visible "$bin")
[ "$swift" = /usr ] || visible+=(--visible "$swift")
chroot "$stage/root" /bin/bash "$root/Tests/operations/upgrade-inside.sh" "$root" "$bin" "${visible[@]}"
