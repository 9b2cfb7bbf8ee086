#!/bin/sh
# Runs libFuzzer with AddressSanitizer on every target, or on those named: fuzz.sh [TARGET...]
#   FUZZ_SECONDS  the time for each target (600)
#   FUZZ_MERGE=1  afterwards copies the smallest inputs that reach all the covered code into Corpora
# Inputs that crash are written to Corpora/TARGET/crash-*; from then on the tests replay them.
set -eu
cd "$(dirname "$0")/.."
SWIFT=${SWIFT:-swift}
# Testable, because the targets use internals. SwiftPM's own --sanitize omits the coverage.
IOTVIDEOD_FUZZ=1 $SWIFT build -c release --product peer-fuzz --scratch-path Fuzz/.build \
    -Xswiftc -sanitize=fuzzer,address -Xswiftc -enable-testing -Xswiftc -parse-as-library
cd Fuzz
FUZZER=.build/release/peer-fuzz
FOUND=.build/found
# Swift's runtime never frees its metadata, which is not a leak; its backtraces would hang in a fuzzer that crashes.
export ASAN_OPTIONS=detect_leaks=0:handle_abort=1 SWIFT_BACKTRACE=enable=no
# Every target has a seed in Corpora.
targets=${*:-$(ls Corpora)}
for target in $targets; do
    mkdir -p "$FOUND/$target" "Corpora/$target"
    echo "== $target"
    FUZZ_TARGET=$target "$FUZZER" -max_total_time="${FUZZ_SECONDS:-600}" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
        -print_final_stats=1 -verbosity=1 -artifact_prefix="Corpora/$target/" "$FOUND/$target" "Corpora/$target" \
        2>"$FOUND/$target.log" || { tail -40 "$FOUND/$target.log"; exit 1; }
    grep -E 'Done|stat::number_of_executed|stat::peak_rss' "$FOUND/$target.log"
    if [ "${FUZZ_MERGE:-0}" = 1 ]; then
        mkdir -p "$FOUND/$target.merged"
        rm -f "$FOUND/$target.merged"/*
        FUZZ_TARGET=$target "$FUZZER" -set_cover_merge=1 -max_len=2048 "$FOUND/$target.merged" "Corpora/$target" \
            "$FOUND/$target" 2>>"$FOUND/$target.log"
        cp "$FOUND/$target.merged"/* "Corpora/$target/"
    fi
done
