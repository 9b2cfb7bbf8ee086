#!/bin/bash
# Runs a `swift test` command and prints its failures again at the end, because a truncated log keeps only its end, and
# the failures are hard to find among the output of a thousand passed tests.
#
#     Tests/failures-last.sh swift test --filter LinkHubTests
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    # An issue's further lines (↳) are the test's message. A test that a signal ended has no issue.
    # Short, because the end of the log is limited.
    failures=$(grep -E 'recorded an issue|^↳|unexpected signal|Fatal error' "$log" | cut -c1-240 | head -n 7)
    printf '\nWhat failed (exit status %s):\n%s\n' "$status" "${failures:-no issue was recorded; see above}"
fi
exit "$status"
