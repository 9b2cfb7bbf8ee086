#!/bin/bash
# Runs the tests against peers that others wrote: every test.sh below this folder, or those named as arguments.
#
#   Tests/InteropTests/run.sh [NAME...]        e.g. Chromium
#
# DAEMON   the program under test; .build/debug/iotvideod unless told
#
# What Debian has is in packaging/debian-packages-test.txt; what comes from PyPI is in requirements.txt, and goes into a
# virtual environment in .build/interop. What is missing fails: nothing is skipped.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export DAEMON=${DAEMON:-$root/.build/debug/iotvideod}
PYTHON=$("$here/environment.sh") || exit 1
export PYTHON

if [ $# -gt 0 ]; then
    tests=("${@/#/$here/}")
    tests=("${tests[@]/%//test.sh}")
else
    tests=("$here"/*/test.sh)
fi
failed=()
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
for test in "${tests[@]}"; do
    name=$(basename "$(dirname "$test")")
    echo "== $name"
    "$test" 2>&1 | tee "$logs/$name" || failed+=("$name")
done
if [ ${#failed[@]} -gt 0 ]; then
    # Once more at the end, where a log that was cut shows it.
    for name in "${failed[@]}"; do
        echo "== $name failed:"
        tail -n 12 "$logs/$name" | cut -c1-300
    done
    exit 1
fi
echo "all ${#tests[@]} passed"
