#!/usr/bin/env bash
# flow_restart.sh PROGRAM STORE: no process recovery, neither in the program nor in the launcher. Each of two deaths ends the
# job; the same command goes on from its last version, and the third job has the result (flow_own.c judges it).
set -uo pipefail
program=$1 store=$2
export MEND_STORE_LOCAL=$MEND_TEST_DIR/store MEND_STORE_LOCAL_EVERY=1 MEND_STORE_MEMORY_EVERY=0 MEND_STORE_SYNC=yes
job() { # the launcher's exit code
    # shellcheck disable=SC2086
    "$MEND_SOURCE/tests/harness/within" 100 ${MEND_MPIRUN/--with-ft ulfm/} -n 3 "$program" "$store" none >"$MEND_TEST_DIR/err" 2>&1
    echo $?
}
give_up() { echo "$1"; cat "$MEND_TEST_DIR/err"; rm -f "$MEND_TEST_MARKER"; exit 1; }
for step in 20 45; do
    code=$(job)
    { [ "$code" != 0 ] && [ "$code" != 124 ]; } || give_up "the job that should die at step $step ended with $code"
    [ -e "$MEND_TEST_DIR/died.$step" ] || give_up "nobody died at step $step"
    [ ! -e "$MEND_TEST_MARKER" ] || give_up "a result before the end"
done
code=$(job)
[ "$code" = 0 ] || give_up "the last job ended with $code"
