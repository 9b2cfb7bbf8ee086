#!/bin/bash
# upgrade-inside.sh ROOT BIN [OPTION…] — the part of upgrade.sh that runs in the copy of the system: small packages with
# the real units, scripts and install-release, whose programs are those of BIN. OPTION is for as_unit.py.
set -euo pipefail

unset TMPDIR
root=$1 bin=$2
shift 2
mkdir -p /srv/upgrade
cp "$root"/packaging/{units,as_unit}.py /srv/upgrade/
cp "$root/Samples/street-h264-aac.mp4" /srv/upgrade/clip.mp4

# package NAME VERSION PROGRAM
package() {
    local folder=/srv/upgrade/$1
    local lib=$folder/usr/lib
    mkdir -p "$folder"/{DEBIAN,usr/bin,etc/iotvideod} "$lib"/{iotvideod,systemd/system,sysusers.d}
    printf '#!/bin/sh\n%s\n' "$3" >"$folder/usr/bin/iotvideod"
    printf '#!/bin/sh\nexec %s/iotctl "$@"\n' "$bin" >"$folder/usr/bin/iotctl"
    cp "$root/packaging/upgrade/install-release" "$lib/iotvideod/"
    chmod 0755 "$folder"/usr/bin/* "$lib"/iotvideod/*
    for unit in iotvideod.service upgrade/iotvideod-upgrade.service upgrade/iotvideod-upgrade.path; do
        sed 's|@PREFIX@|/usr|' "$root/packaging/$unit" >"$lib/systemd/system/$(basename "$unit")"
    done
    cp "$root/packaging/iotvideod.sysusers" "$lib/sysusers.d/iotvideod.conf"
    cp "$root/packaging/iotvideod.yaml" "$folder/etc/iotvideod/"
    # A changed file of the configuration in each version.
    echo "# $2" >>"$folder/etc/iotvideod/iotvideod.yaml"
    # As large as a program.
    head -c 1000000 /dev/urandom >"$lib/iotvideod/program"
    echo /etc/iotvideod/iotvideod.yaml >"$folder/DEBIAN/conffiles"
    install -m 0755 "$root"/packaging/deb/{postinst,prerm,postrm} "$folder/DEBIAN/"
    cat >"$folder/DEBIAN/control" <<CONTROL
Package: iotvideod
Version: $2
Architecture: $(dpkg --print-architecture)
Maintainer: test <test@localhost>
Description: test
 of an upgrade.
CONTROL
    dpkg-deb -Znone --root-owner-group --build "$folder" "$folder.deb" >/dev/null
}

program="exec $bin/iotvideod \"\$@\""
package first 0.1.0 "$program"
package next 0.2.0 "$program"
package broken 0.3.0 "exit 1"
package last 0.4.0 "$program"
# The daemon of the machine this copy is of.
rm -f /etc/systemd/system/multi-user.target.wants/iotvideod*
exec "$root/Tests/operations/upgrade-flow.sh" "$@"
