# Safe points in Fortran: with mpi (PROGRAM, two loops, views of every type and rank, a derived communicator) and with
# mpi_f08 (PLATE); undisturbed and with a rank that dies. Then a job that is killed whole, and launched again.
set -u
export MEND_FLOW_SPARES=2 MEND_FLOW_EVERY=7 MEND_FLOW_NAME=fortran
fail() { echo "FAIL: $*"; cat "$MEND_TEST_DIR/err"; exit 1; }
run() { "$MEND_SOURCE/tests/harness/within" 100 $MEND_MPIRUN -n 6 "$@" 2>"$MEND_TEST_DIR/err" | tail -1; }
check() { # PROGRAM "FAULT"…
    local program=$1 expected found fault
    expected=$(run "$program" 60)
    [[ $expected == "sum "*" repairs 0" ]] || fail "$program undisturbed: $expected"
    shift
    for fault in "$@"; do
        # Saved in step: without a complete version the job starts over, and its replacement would kill itself, too.
        # shellcheck disable=SC2086
        found=$(MEND_STORE_SYNC=yes run "$program" 60 $fault)
        [ "$found" = "${expected% *} 1" ] || fail "$program, fault $fault: $found, expected ${expected% *} 1"
    done
}
check "$PROGRAM" "2 1 33" "0 1 50" "3 2 61" "1 2 119"
check "$PLATE" "2 33" "0 59" "3 12"

# all die: the next launch resumes by the same code
export MEND_STORE_LOCAL=$MEND_TEST_DIR/local MEND_FLOW_SPARES=0
expected=$($MEND_MPIRUN -n 4 env MEND_FLOW_NAME=whole "$PROGRAM" 60 2>/dev/null | tail -1)
rm -rf "$MEND_STORE_LOCAL"
$MEND_MPIRUN -n 4 "$PROGRAM" 60 2 2 88 >/dev/null 2>&1 # no spare: the job ends
found=$(run() { $MEND_MPIRUN -n 4 "$@" 2>"$MEND_TEST_DIR/err" | tail -1; }; run "$PROGRAM" 60)
[ "$found" = "$expected" ] || fail "launched again: $found, expected $expected"
grep -rq . "$MEND_STORE_LOCAL" || fail "nothing was saved"
echo PASS >"$MEND_TEST_MARKER"
