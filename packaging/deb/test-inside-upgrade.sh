#!/bin/bash
# test-inside-upgrade.sh — the last part of test-inside.sh: upgrades of the package through the hub (docs/firmware.md).
set -euo pipefail

mkdir -p /srv/upgrade
cp /tmp/{units,as_unit}.py /srv/upgrade/
cp /srv/clip.mp4 /srv/upgrade/
mv /tmp/one.deb /srv/upgrade/first.deb
rm -f /tmp/two.deb
cd /srv/upgrade
dpkg-deb --raw-extract first.deb files
# package NAME VERSION — the same files
package() {
    sed -i "s/^Version: .*/Version: $2/" files/DEBIAN/control
    dpkg-deb -Znone --root-owner-group --build files "$1.deb" >/dev/null
}
package next 99.0.2
package last 99.0.4
printf '#!/bin/sh\nexit 1\n' >files/usr/bin/iotvideod
package broken 99.0.3
rm -rf files
# What the package needs.
apt-get install --yes --no-install-recommends --quiet ./first.deb >/tmp/log 2>&1 || {
    cat /tmp/log >&2
    exit 1
}
dpkg --purge iotvideod >/dev/null
exec /tmp/upgrade-flow.sh
