#!/bin/bash
# Runs the tests with independent peers: the subfolders named as arguments, one after another; without arguments every
# one that has a test.sh, two at a time where that does no harm.
#
#   Tests/InteropTests/run.sh [NAME...]        e.g. Chromium
#
# DAEMON   the program under test; by default .build/debug/iotvideod
#
# Debian's packages are in packaging/debian-packages-test.txt; PyPI's are in requirements.txt, and are installed in a
# virtual environment in .build/interop. A missing program is a failure: no test is skipped.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export DAEMON=${DAEMON:-$root/.build/debug/iotvideod}
PYTHON=$("$root/Tests/python-environment.sh" interop "$here/requirements.txt")/python3 || exit 1
export PYTHON

if [ $# -eq 0 ]; then
    # These wait for most of their time. The browser's tests take as long as the others together.
    others=()
    for test in "$here"/*/test.sh; do
        name=$(basename "$(dirname "$test")")
        [[ " Chromium WHEP " == *" $name "* ]] || others+=("$name")
    done
    status=0
    "$root/Tests/at-once.sh" "'$0' Chromium" "'$0' ${others[*]}" || status=1
    # This client decodes in Python, and loses pictures when a browser takes its time.
    "$0" WHEP || status=1
    exit $status
fi
tests=("${@/#/$here/}")
tests=("${tests[@]/%//test.sh}")
failed=()
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
for test in "${tests[@]}"; do
    name=$(basename "$(dirname "$test")")
    echo "== $name"
    start=$SECONDS
    "$test" 2>&1 | tee "$logs/$name" || failed+=("$name")
    echo "== $name took $((SECONDS - start)) s"
done
if [ ${#failed[@]} -gt 0 ]; then
    # Printed again at the end, because a truncated log keeps only its end.
    for name in "${failed[@]}"; do
        echo "== $name failed:"
        tail -n 12 "$logs/$name" | cut -c1-300
    done
    exit 1
fi
echo "all ${#tests[@]} passed"
