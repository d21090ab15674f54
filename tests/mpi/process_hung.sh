#!/usr/bin/env bash
# process_hung.sh PROGRAM LIBRARY CALL HIT RANKS CASE: a case of process_cases.c in which an agreement of the MPI library
# hangs (process_hung_agreement.c). It must be left, and the case must pass as without the hang.
# shellcheck disable=SC2086
export HUNG_CALL=$3 HUNG_HIT=$4 HUNG_RANKS=$5 MEND_PROCESS_AGREEMENT_TIMEOUT=1s MEND_TEST_EVENTS=$MEND_TEST_DIR/events.jsonl
$MEND_MPIRUN -n $((MEND_TEST_NP + MEND_TEST_SPARES)) -x LD_PRELOAD="$2" "$1" "$6"
grep -q '"ulfm.left"' "$MEND_TEST_EVENTS" || { echo "FAIL: nothing was left"; rm -f "$MEND_TEST_MARKER"; }
[ "$3-$6" = agree-again_and_again ] || [ "$3" = shrink ] || grep -q '"process.doubt".*adopted' "$MEND_TEST_EVENTS" || { echo "FAIL: nothing was adopted late"; rm -f "$MEND_TEST_MARKER"; }
