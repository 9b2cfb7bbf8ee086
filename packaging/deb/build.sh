#!/bin/bash
# build.sh BIN OUT [VERSION] — makes OUT/iotvideod_VERSION_ARCH.deb from the programs in BIN. Run in the project's root.
# DEB_LEVEL is the compression level, by default 6; a lower one is faster.
set -euo pipefail

bin=$1
out=$2
for tool in dpkg-deb dpkg-shlibdeps dpkg-gencontrol; do
    command -v "$tool" >/dev/null || {
        echo "deb: $tool is missing: install dpkg-dev (this target is for Debian)" >&2
        exit 1
    }
done
# By default the programs' own version; the test of an upgrade passes a higher one.
version=${3:-$("$bin/iotvideod" --version)}
arch=$(dpkg --print-architecture)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
# Everyone may read the package's files, whatever the builder's umask is.
umask 022
mkdir -p "$root/DEBIAN" "$work/debian"

make --no-print-directory --silent install BIN="$bin" PREFIX=/usr DESTDIR="$root" >/dev/null

# Debian has the licence's text already; its copyright file must list everything that was compiled in.
rm "$root/usr/share/doc/iotvideod/LICENSE"
install -m 0644 packaging/deb/copyright packaging/deb/README.Debian "$root/usr/share/doc/iotvideod/"
install -D -m 0644 packaging/deb/lintian-overrides "$root/usr/share/lintian/overrides/iotvideod"
{
    echo "iotvideod ($version) stable; urgency=medium"
    echo
    echo "  * See CHANGELOG.md."
    echo
    echo " -- iotvideod developers <iotvideod@localhost>  $(date --utc --rfc-email --date="@${SOURCE_DATE_EPOCH:-$(date +%s)}")"
} | gzip -9n >"$root/usr/share/doc/iotvideod/changelog.gz"

find "$root/usr/share/man" -type f -exec gzip -9n {} +
# Shells read the completions and never run them.
sed -i -e '1{/^#!/d}' "$root"/usr/share/bash-completion/completions/*
chmod 0644 "$root"/usr/share/bash-completion/completions/* "$root"/usr/share/zsh/vendor-completions/* \
    "$root"/usr/share/fish/vendor_completions.d/*

# The libraries with which the programs are linked.
cat >"$work/debian/control" <<CONTROL
Source: iotvideod
Package: iotvideod
Architecture: any
CONTROL
depends=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/iotvideod" "$root/usr/bin/iotctl" 2>"$work/shlibdeps.log") || {
    cat "$work/shlibdeps.log" >&2
    exit 1
}
depends=${depends#shlibs:Depends=}

size=$(du -k -s --apparent-size "$root" | cut -f 1)
sed -e "s|@VERSION@|$version|" -e "s|@ARCH@|$arch|" -e "s|@DEPENDS@|$depends|" -e "s|@SIZE@|$size|" \
    packaging/deb/control >"$root/DEBIAN/control"
echo /etc/iotvideod/iotvideod.yaml >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 0755 "packaging/deb/$script" "$root/DEBIAN/$script"; done
(cd "$root" && find . -type f -not -path './DEBIAN/*' -not -path './etc/*' -printf '%P\0' | LC_ALL=C sort -z |
    xargs -0 md5sum) >"$root/DEBIAN/md5sums"

mkdir -p "$out"
dpkg-deb -Zxz -z"${DEB_LEVEL:-6}" --root-owner-group --build "$root" "$out/iotvideod_${version}_${arch}.deb"
