#!/usr/bin/env bash
# process_late.sh PROGRAM LIBRARY: see process_late.c; PASS is written by the program.
# shellcheck disable=SC2086
exec $MEND_MPIRUN -n $((MEND_TEST_NP + MEND_TEST_SPARES)) -x LD_PRELOAD="$2" -x LATE_AFTER="$MEND_TEST_DIR/dead" -x LATE_MS=400 "$1"
