#!/usr/bin/env bash
# flow_steps.sh EXAMPLES: every step of the tutorial survives the death of the rank that kills itself in it, and prints what it prints
# without (CALM).
set -uo pipefail
examples=$1 bad=0
export MEND_FLOW_EVERY=10
line() { # ranks step
    # shellcheck disable=SC2086
    "$MEND_SOURCE/tests/harness/within" 100 $MEND_MPIRUN -n "$1" "$examples/$2" 2>"$MEND_TEST_DIR/err" | grep "^$2" | sed 's/, [0-9]* repairs//'
}
for step in step1 step2 step3 step4 step5; do
    expected=$(CALM=1 MEND_FLOW_SPARES=0 line 3 $step)
    got=$(MEND_FLOW_SPARES=2 line 5 $step)
    echo "$got"
    [ -n "$expected" ] && [ "$got" = "$expected" ] && continue
    echo "$step: expected '$expected'"
    cat "$MEND_TEST_DIR/err"
    bad=$((bad + 1))
done
[ $bad = 0 ] && echo PASS >"$MEND_TEST_MARKER"
