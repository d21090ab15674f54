#!/usr/bin/env bash
# process_hung.sh PROGRAM LIBRARY CALL HIT RANKS CASE: a case of process_cases.c in which an agreement of the
# MPI library hangs (process_hung_agreement.c). It must be left, and the case must pass as without the hang.
# shellcheck disable=SC2086
export HUNG_CALL=$3 HUNG_HIT=$4 HUNG_RANKS=$5 MEND_PROCESS_AGREEMENT_TIMEOUT=1s MEND_TEST_EVENTS=$MEND_TEST_DIR/events.jsonl
$MEND_MPIRUN -n $((MEND_TEST_NP + MEND_TEST_SPARES)) -x LD_PRELOAD="$2" "$1" "$6"
fail() { echo "FAIL: $1"; rm -f "$MEND_TEST_MARKER"; }
grep -q '"ulfm.left"' "$MEND_TEST_EVENTS" || fail "nothing was left"
[ "$3-$6" = agree-again_and_again ] || [ "$3" = shrink ] || grep -q '"process.doubt".*adopted' "$MEND_TEST_EVENTS" || fail "nothing was adopted late"
case $4 in *,*) # every one of them, though there are places for two only
    hits=$(tr , '\n' <<<"$4" | wc -l)
    left=$(grep -c '"ulfm.fresh"' "$MEND_TEST_EVENTS")
    [ "$left" -ge $((hits * MEND_TEST_NP)) ] || fail "$hits hung agreements were left $left times by $MEND_TEST_NP ranks or more" ;;
esac
