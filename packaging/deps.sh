#!/bin/bash
# deps.sh LIST… — prints which Debian packages of the lists are missing, and installs them.
set -euo pipefail

if ! command -v swift >/dev/null; then
    echo "swift is not installed, or not in PATH: see https://swift.org/install (6.2 or newer)" >&2
    exit 1
fi

# Called after the installation, because a toolchain that was just unpacked may need the packages' libraries.
check_swift() {
    local said version
    if ! said=$(swift --version 2>&1); then
        echo "swift does not run: $said" >&2
        exit 1
    fi
    version=$(sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' <<<"$said" | head -n 1)
    if [ "$(printf '%s\n6.2\n' "$version" | sort -V | head -n 1)" != 6.2 ]; then
        echo "Swift ${version:-of an unknown version} is too old: 6.2 or newer is needed, see https://swift.org/install" >&2
        exit 1
    fi
}

mapfile -t wanted < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@")
if ! command -v dpkg-query >/dev/null; then
    echo "this system is not Debian: install the equivalents of these packages:" >&2
    printf '  %s\n' "${wanted[@]}" >&2
    check_swift
    exit 0
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "deps: all ${#wanted[@]} Debian packages are installed"
    check_swift
    exit 0
fi

echo "deps: missing: ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
    as_root=()
elif command -v sudo >/dev/null; then
    as_root=(sudo)
else
    echo "deps: run this as root: apt-get install ${missing[*]}" >&2
    exit 1
fi
"${as_root[@]}" apt-get update --quiet
# No questions (tshark has one) and no recommended daemons: the hub starts its own mosquitto.
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
check_swift
