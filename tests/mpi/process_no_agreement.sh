#!/usr/bin/env bash
# process_no_agreement.sh LIBRARY PROGRAM ARGS...: a job in which an agreement of the MPI library ends the process
# (process_no_agreement.c).
# shellcheck disable=SC2086
library=$1
shift
$MEND_MPIRUN -n $((MEND_TEST_NP + MEND_TEST_SPARES)) -x LD_PRELOAD="$library" "$@" || exit
[ -e "$MEND_TEST_DIR/preloaded" ] || { echo "FAIL: the library was not there"; rm -f "$MEND_TEST_MARKER"; }
