#!/bin/bash
# Runs a `swift test` command and prints its failures again at the end, because a truncated log keeps only its end, and
# the failures are hard to find among the output of a thousand passed tests. Tests that have not ended after
# TEST_LIMIT (default: 25 minutes) are stopped, and the test that ran then is named.
#
#     Tests/failures-last.sh swift test --filter LinkHubTests
set -uo pipefail
limit=${TEST_LIMIT:-25m}
log=$(mktemp)
# Written at once, but the output of the tests is written in blocks: its last lines would be missing.
events=$(mktemp)
trap 'rm -f "$log" "$events"' EXIT
timeout --kill-after=10s "$limit" "$@" --event-stream-output-path "$events" --event-stream-version 0 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    printf '\nThe tests did not end within %s. These had started:\n' "$limit"
    python3 - "$events" <<'PYTHON'
import json
import sys

running = []
for line in open(sys.argv[1]):
    try:
        event = json.loads(line)["payload"]
    except ValueError:
        break  # The last line may be cut.
    if event.get("kind") == "testStarted":
        running.append(event["testID"])
    elif event.get("kind") == "testEnded" and event["testID"] in running:
        running.remove(event["testID"])
print("\n".join(running))
PYTHON
elif [ "$status" -ne 0 ]; then
    # An issue's further lines (↳) are the test's message. A test that a signal ended has no issue, but a backtrace.
    # Short, because the end of the log is limited.
    failures=$(grep -E 'recorded an issue|^↳|unexpected signal|Fatal error' "$log" | cut -c1-240 | head -n 7)
    printf '\nWhat failed (exit status %s):\n%s\n' "$status" "${failures:-no issue was recorded; see above}"
    grep 'Program crashed' "$log" | cut -c1-240 | head -n 2
    sed -nE '/^Thread .* crashed/,/^\.\.\.$/p' "$log" | grep -v '^$' | cut -c1-200 | head -n 9
fi
exit "$status"
