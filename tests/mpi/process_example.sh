#!/usr/bin/env bash
# process_example.sh RANKS PROGRAM LINES TEXT: the example must print TEXT so many times, whatever dies.
set -uo pipefail
# shellcheck disable=SC2086
output=$("$MEND_SOURCE/tests/harness/within" 100 $MEND_MPIRUN -n "$1" "$2" 2>&1 </dev/null)
found=$(grep -c -- "$4" <<<"$output")
if [ "$found" != "$3" ]; then
    echo "expected $3 lines with: $4"
    echo "$output"
    exit 1
fi
echo PASS >"$MEND_TEST_MARKER"
