#!/bin/bash
# Runs a command of `swift test` and says what failed once more at the end: a log of which only the end is kept
# shows it, and nobody has to look for it among the output of a thousand tests that passed.
#
#     Tests/failures-last.sh swift test --filter LinkHubTests
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    # An issue's further lines (↳) are what the test says about it. A test that a signal ended has no issue.
    # Short, for the same reason.
    told=$(grep -E 'recorded an issue|^↳|unexpected signal|Fatal error' "$log" | cut -c1-240 | head -n 7)
    printf '\nWhat failed (exit status %s):\n%s\n' "$status" "${told:-no issue was recorded; see above}"
fi
exit "$status"
