#!/bin/bash
# deps-check.sh — installs debian-packages*.txt in a clean Debian 12, and checks that every program, Python module and
# GStreamer element that the tests, the packaging and the Makefile use is then installed.
#
# The clean Debian shows what a list lacks, because a developer's machine often has it anyway. Needs root, for
# debootstrap and chroot.
set -euo pipefail
cd "$(dirname "$0")/.."

# The programs that tests name in their calls.
named=$(git ls-files -z 'Tests/*.swift' '*.py' | xargs -0 cat | tr -s '\n ' ' ' |
    grep -oE '(named\( ?"|"/usr/bin/|arguments = \[ ?"|(Popen|run)\( ?\[ ?"|(namespace|prefix)\([a-z]*\) \+ \[ ?"|wrapper: \["|command = \[")[a-z_][a-z_0-9]*"' |
    sed -e 's/"$//' -e 's/.*["/]//' | sort -u)
# The programs that scripts call, or that are found in another way.
programs=(
    $named
    awk bash bridge cmp curl gzip ip make man mosquitto mosquitto_passwd nft openssl pkg-config python3 sed setpriv sysctl
    tar turnserver unshare xargs
    chroot debootstrap dpkg-deb dpkg-gencontrol dpkg-shlibdeps lintian
    gcc git ld sqlite3 strip
    # Tests/api/typescript-client.sh
    java tsc
    # Tests/InteropTests/DNSSD
    avahi-browse avahi-daemon avahi-publish dbus-daemon nsenter ss
    # Playwright starts it by its name.
    chromium
)
namespaces=(Gst GstRtspServer GstSdp GstWebRTC)
elements=(
    # rtsp_server.py
    aacparse filesrc h264parse h265parse matroskademux qtdemux queue rtph264pay rtph265pay rtpmp4gpay rtppcmapay rtppcmupay
    tsdemux
    # gstreamer_peer.py; webrtcbin itself needs the last ones
    audioconvert audioresample audiotestsrc avdec_h264 fakesink level openh264enc opusdec opusenc rtph264depay rtpopusdepay
    rtpopuspay videotestsrc webrtcbin
    dtlsdec dtlsenc nicesink nicesrc rtpbin sctpdec sctpenc srtpdec srtpenc
)

[ "$(id -u)" -eq 0 ] || {
    echo "deps-check: needs root, for debootstrap and chroot: sudo make deps-check" >&2
    exit 1
}
if [ "${IOTVIDEOD_DEPS_CHECK:-}" != inside ]; then
    exec env IOTVIDEOD_DEPS_CHECK=inside unshare --mount --propagation private --pid --fork --kill-child "$0"
fi

root=$(mktemp -d)
trap 'umount "$root/proc" "$root/opt/swift" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
packaging/deb/clean-root.sh "$root"
# The toolchain is not a Debian package.
mkdir -p "$root/opt/swift"
mount --bind -o ro "$(dirname "$(dirname "$(dirname "$(realpath "$(command -v swift)")")")")" "$root/opt/swift"
mkdir "$root/tmp/packaging"
cp packaging/deps.sh packaging/debian-packages*.txt "$root/tmp/packaging/"

inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin:/opt/swift/usr/bin LC_ALL=C.UTF-8 HOME=/root chroot "$root" "$@"
}
inside bash -c 'cd /tmp/packaging && ./deps.sh debian-packages*.txt' >"$root/tmp/deps.log" 2>&1 || {
    tail -n 20 "$root/tmp/deps.log" >&2
    exit 1
}

missing=()
for program in "${programs[@]}"; do
    inside bash -c 'command -v "$0" >/dev/null' "$program" || missing+=("$program")
done
for namespace in "${namespaces[@]}"; do
    inside python3 -c "import gi; gi.require_version('$namespace', '1.0'); from gi.repository import $namespace" ||
        missing+=("gi.repository.$namespace")
done
absent=$(inside python3 -c '
import sys, gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
for name in sys.argv[1:]:
    if not Gst.ElementFactory.find(name):
        print("GStreamer:" + name)
' "${elements[@]}" 2>"$root/tmp/gstreamer.log")
missing+=($absent)
inside python3 -m venv /tmp/environment >/dev/null || missing+=("python3 -m venv")
if [ ${#missing[@]} -gt 0 ]; then
    echo "deps-check: no package of the lists contains:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    exit 1
fi
echo "deps-check: ${#programs[@]} programs, ${#namespaces[@]} modules and ${#elements[@]} elements are installed"
