#!/bin/bash
# clean-root.sh ROOT — fills the empty folder ROOT with a clean Debian 12 in which no package starts a daemon.
#
# debootstrap makes it once: its tarball is kept in $XDG_CACHE_HOME/iotvideod. The caller must unmount ROOT/proc.
set -euo pipefail

root=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/iotvideod
base=$cache/bookworm-$(dpkg --print-architecture).tar
if [ ! -e "$base" ]; then
    echo "== debootstrap"
    mkdir -p "$cache"
    debootstrap --variant=minbase bookworm "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$cache/debootstrap.log" || {
        tail -n 20 "$cache/debootstrap.log" >&2
        exit 1
    }
    tar --create --one-file-system --file "$base.new" --directory "$root" .
    mv "$base.new" "$base"
else
    tar --extract --file "$base" --directory "$root"
fi
chmod 0755 "$root"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
