#!/usr/bin/env bash
# process_campaign.sh PROGRAM RECOVERIES FIRST_SEED SHAPE…: run seeds until so many recoveries were made.
# A SHAPE is RANKS+SPARES; shapes and resume modes take turns. The first run that hangs, crashes or gives a
# wrong result fails the campaign and names its seed. Nothing is run twice.
set -uo pipefail
program=$1 wanted=$2 seed=$3; shift 3
shapes=("$@") modes=(jump return manual function)
recoveries=0 runs=0
while [ $recoveries -lt "$wanted" ]; do
    shape=${shapes[$((runs % ${#shapes[@]}))]} mode=${modes[$((runs / ${#shapes[@]} % 4))]}
    np=${shape%+*} spares=${shape#*+}
    export MEND_TEST_SPARES=$spares
    result=$MEND_TEST_DIR/campaign.$seed
    # shellcheck disable=SC2086
    MEND_TEST_MARKER= "$MEND_SOURCE/tests/harness/within" "${CAMPAIGN_LIMIT:-300}" $MEND_MPIRUN -n $((np + spares)) "$program" "$seed" "$mode" ${CAMPAIGN_STEPS:-} \
        >"$MEND_TEST_DIR/output" 2>&1 </dev/null
    code=$?
    if ! grep -q '^PASS' "$result" 2>/dev/null || [ $code = 124 ] || [ -e "$MEND_TEST_DIR/failed" ]; then
        echo "seed $seed, $shape $mode: no result (code $code) after $runs runs, $recoveries recoveries"
        cat "$MEND_TEST_DIR/failed" 2>/dev/null
        tail -20 "$MEND_TEST_DIR/output"
        exit 1
    fi
    recoveries=$((recoveries + $(sed -n '1s/PASS //p' "$result")))
    rm -f "$result" "$MEND_TEST_DIR/go.$seed"
    runs=$((runs + 1)) seed=$((seed + 1))
done
echo "$runs runs, $recoveries recoveries, all right"
echo PASS >"$MEND_TEST_MARKER"
