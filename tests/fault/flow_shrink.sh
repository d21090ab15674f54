#!/usr/bin/env bash
# flow_shrink.sh PROGRAM: ranks die and are not replaced; and a job is started again on more and on fewer ranks.
set -uo pipefail
program=$1 bad=0
export MEND_FLOW_EVERY=10 MEND_FLOW_SPARES=0 MEND_PROCESS_POLICY=shrink
job() { # ranks args
    # shellcheck disable=SC2086
    "$MEND_SOURCE/tests/harness/within" 100 $MEND_MPIRUN -n "$@" >"$MEND_TEST_DIR/out" 2>"$MEND_TEST_DIR/err"
    cat "$MEND_TEST_DIR/out"
}
check() { # what got expected
    [ "$2" = "$3" ] && { echo "ok: $1: $2"; return; }
    echo "BAD: $1: got '$2', expected '$3'"
    cat "$MEND_TEST_DIR/err"
    bad=$((bad + 1))
}
sum=$(job 4 "$program" | grep -o 'checksum.*')
[ -n "$sum" ] || { cat "$MEND_TEST_DIR/err"; exit 1; }
check "one of four dies" "$(job 4 "$program" -k 1@35 --mark "$MEND_TEST_DIR/m1")" "shrink: ranks 3 $sum"
check "rank 0 dies" "$(job 4 "$program" -k 0@47 --mark "$MEND_TEST_DIR/m2")" "shrink: ranks 3 $sum"
check "two die, one after the other" "$(job 5 "$program" -k 1@35 -k 3@62 --mark "$MEND_TEST_DIR/m3")" "shrink: ranks 3 $sum"
check "before the first save" "$(job 4 "$program" -k 2@4 --mark "$MEND_TEST_DIR/m4")" "shrink: ranks 3 $sum"
export MEND_STORE_LOCAL=$MEND_TEST_DIR/store MEND_STORE_LOCAL_EVERY=1 MEND_STORE_SYNC=yes MEND_FLOW_PROCESS=off
unset MEND_PROCESS_POLICY
job 4 "$program" -k 1@55 --mark "$MEND_TEST_DIR/m5" >/dev/null
check "started again on fewer ranks" "$(job 3 "$program" -k 1@55 --mark "$MEND_TEST_DIR/m5")" "shrink: ranks 3 $sum"
rm -rf "$MEND_TEST_DIR/store"
job 3 "$program" -k 1@55 --mark "$MEND_TEST_DIR/m6" >/dev/null
check "started again on more ranks" "$(job 5 "$program" -k 1@55 --mark "$MEND_TEST_DIR/m6")" "shrink: ranks 5 $sum"
[ $bad = 0 ] && echo PASS >"$MEND_TEST_MARKER"
