#!/usr/bin/env bash
# fenix_many.sh PROGRAM RUNS FIRST_SEED: that many runs of fenix_many, every second one with several threads. The first
# that hangs, crashes or gives a wrong sum fails the test and names its seed. Nothing is run twice.
set -uo pipefail
program=$1 runs=$2 seed=$3
for ((i = 0; i < runs; i++, seed++)); do
    threads=; [ $((seed % 2)) = 0 ] || threads=threads
    rm -f "$MEND_TEST_MARKER"
    # shellcheck disable=SC2086
    "$MEND_SOURCE/tests/harness/within" "${FENIX_MANY_LIMIT:-120}" $MEND_MPIRUN -n $((MEND_TEST_NP + MEND_TEST_SPARES)) "$program" "$seed" $threads \
        >"$MEND_TEST_DIR/output" 2>&1 </dev/null
    code=$?
    if [ $code = 124 ] || [ -e "$MEND_TEST_DIR/failed" ] || ! grep -q '^PASS' "$MEND_TEST_MARKER" 2>/dev/null; then
        echo "seed $seed $threads: no result (code $code) after $i runs"
        cat "$MEND_TEST_DIR/failed" 2>/dev/null
        tail -20 "$MEND_TEST_DIR/output"
        rm -f "$MEND_TEST_MARKER"
        exit 1
    fi
done
echo "$runs runs, all right"
