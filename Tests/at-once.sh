#!/bin/bash
# Runs commands at the same time, each to its end. The output of the first one is shown as it comes, that of the others
# afterwards. Fails if one of them fails.
#
#     Tests/at-once.sh 'swift test --filter LinkHubTests' 'Tests/operations/backup.sh'
set -uo pipefail
first=$1
shift
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
processes=()
number=0
for command in "$@"; do
    number=$((number + 1))
    bash -c "$command" > "$logs/$number" 2>&1 &
    processes+=($!)
done
failed=()
bash -c "$first" || failed+=("$first")
number=0
for command in "$@"; do
    number=$((number + 1))
    wait "${processes[number - 1]}" || failed+=("$command")
    printf '\n== %s\n' "$command"
    cat "$logs/$number"
done
[ ${#failed[@]} -eq 0 ] && exit 0
printf 'failed: %s\n' "${failed[@]}"
exit 1
