#!/usr/bin/env bash
# flow_learn.sh PROGRAM NAME WHAT: with learn mode, the view b is found dead ("dead") or not ("live"), or learning gives up
# ("off"); with and without kills the result is that of a run that learns nothing.
set -uo pipefail
program=$1 name=$2 what=$3 np=3
export MEND_FLOW_EVERY=5 MEND_FLOW_SPARES=0 MEND_FLOW_REPORT=$MEND_TEST_DIR/report
job() {
    # shellcheck disable=SC2086
    "$MEND_SOURCE/tests/harness/within" ${FLOW_LIMIT:-100} $MEND_MPIRUN -n $((np + MEND_FLOW_SPARES)) "$program" "$name" "$@" >"$MEND_TEST_DIR/out" 2>"$MEND_TEST_DIR/err"
    grep -o 'steps.*checksum.*' "$MEND_TEST_DIR/out"
}
expected=$(job)
[ -n "$expected" ] || { cat "$MEND_TEST_DIR/err"; exit 1; }
export MEND_FLOW_LEARN=yes
bad=0 jobs=0
try() {
    local got
    got=$(job "$@")
    jobs=$((jobs + 1))
    [ "$got" = "$expected" ] && return
    echo "$name $*: got '$got', expected '$expected'"
    cat "$MEND_TEST_DIR/err"
    bad=$((bad + 1))
}
try
cat "$MEND_TEST_DIR/report"
once=$(grep -c once "$MEND_TEST_DIR/out")
[ "$once" -le 1 ] || { echo "a line was printed $once times"; bad=$((bad + 1)); }
b=$(grep '^b ' "$MEND_TEST_DIR/report")
case $what in
    dead) grep -q '^c .*constant (found)' "$MEND_TEST_DIR/report" || { echo "c was not found constant"; bad=$((bad + 1)); }
        [[ $b == *dead* ]] || { echo "b was not found dead"; bad=$((bad + 1)); } ;;
    live) [[ $b != *dead* ]] || { echo "b was found dead"; bad=$((bad + 1)); } ;;
    off) grep -q 'learn mode ends' "$MEND_TEST_DIR/err" || { echo "learn mode did not end"; bad=$((bad + 1)); } ;;
esac
if [ "$name" != hidden ]; then # which has no right answer after a kill
    export MEND_FLOW_SPARES=1
    for tick in 6 13 21 34 48; do try -k "$((tick % np))@$tick" --mark "$MEND_TEST_DIR/mark$tick"; done
fi
echo "$name: $jobs jobs, $bad bad"
[ $bad = 0 ] && echo PASS >"$MEND_TEST_MARKER"
