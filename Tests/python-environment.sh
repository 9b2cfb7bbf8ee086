#!/bin/bash
# Makes a virtual environment of Python in .build from a list of requirements, if it is missing or outdated, and prints
# the folder of its programs. Two callers at the same time make it once.
#
#     Tests/python-environment.sh api Tests/api/requirements.txt        .build/api/bin
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
environment=$root/.build/$1
requirements=$2
mkdir -p "$root/.build"
exec 9> "$environment.lock"
flock 9
if ! cmp -s "$requirements" "$environment/requirements.txt"; then
    python3 -m venv --clear "$environment"
    "$environment/bin/pip" --quiet install -r "$requirements" >&2
    cp "$requirements" "$environment/requirements.txt"
fi
echo "$environment/bin"
