#!/usr/bin/env bash
# flow_misuse.sh PROGRAM: every wrong use ends with a sentence that names it, not with a crash, a hang or a result.
set -uo pipefail
program=$1 bad=0 n=0
export MEND_FLOW_EVERY=5
job() { # ranks kind args
    local ranks=$1
    shift
    # shellcheck disable=SC2086
    "$MEND_SOURCE/tests/harness/within" 60 $MEND_MPIRUN -n "$ranks" "$program" "$@" >"$MEND_TEST_DIR/out" 2>"$MEND_TEST_DIR/err"
    code=$?
}
wrong() { # sentence ranks kind args
    local sentence=$1
    shift
    job "$@"
    n=$((n + 1))
    if [ $code = 124 ] || [ $code = 137 ] || grep -q survived "$MEND_TEST_DIR/out" || ! grep -Eq "$sentence" "$MEND_TEST_DIR/err"; then
        echo "misuse '${*:2}': expected '$sentence', exit code $code:"
        cat "$MEND_TEST_DIR/out" "$MEND_TEST_DIR/err"
        bad=$((bad + 1))
    fi
}
job 2 right
grep -q survived "$MEND_TEST_DIR/out" || { echo "right use does not work"; cat "$MEND_TEST_DIR/err"; bad=1; }
wrong "view 'cells' was named before MPI_Init" 2 early-view
wrong "before MPI_Init" 2 early-point
wrong "MPI_Init was called before" 2 twice
wrong "view 'nothing' has a null pointer" 2 null
wrong "a view needs a label" 2 label
wrong "unknown flags" 2 flags
wrong "no view 'unknown'" 2 remove
wrong "two known views" 2 alias
wrong "not inside an array of 100" 2 global
wrong "dynamic view 'list' needs" 2 dynamic
wrong "in a thread other than that of MPI_Init" 2 thread
wrong "in a signal handler" 2 signal
built='build the program with the headers of this Mend'
wrong "mend_state has [0-9]+ bytes in the program and [0-9]+ in this library: $built" 2 old-state
wrong "mend_site has [0-9]+ bytes in the program and [0-9]+ in this library: $built" 2 old-site
wrong "mend_flow_part has [0-9]+ bytes in the program and [0-9]+ in this library: $built" 2 old-part
MEND_FLOW_EVERY=often wrong "flow.every is 'often'" 1 right
MEND_FLOW_ROLLBACK=half wrong "flow.rollback is 'half'" 1 right
MEND_FLOW_SPARES=2 MEND_FLOW_PROCESS=off wrong "flow.process is off" 3 right

# a version is there, and the program has changed
export MEND_STORE_LOCAL=$MEND_TEST_DIR/local MEND_STORE_LOCAL_EVERY=1 MEND_STORE_SYNC=yes
again() { rm -rf "$MEND_TEST_DIR/local"; MEND_FLOW_PROCESS=off job 2 "$@"; }
again save
wrong "view 'cells': its length differs.*800 bytes in the version, 400 now" 2 right 50
again save
wrong "view 'other' is not in version" 2 other-view
again save
wrong "which this program never reached" 2 moved
again save
wrong "ranks" 3 right
again constant 100
wrong "constant view has other content" 2 constant 99
again save
MEND_FLOW_ON_ERROR=return job 2 right 50
grep -q survived "$MEND_TEST_DIR/out" || { echo "with on_error=return the program should go on to its end"; cat "$MEND_TEST_DIR/err"; bad=$((bad + 1)); }
# not a misuse: a disk that fails in the background, for one version and for the last
rm -rf "$MEND_TEST_DIR/local"
late() { MEND_STORE_MEMORY_EVERY=0 MEND_STORE_SYNC=no MEND_FLOW_PROCESS=off MEND_FLOW_REPORT=- MEND_FAULT=$1 job 2 right; }
late store.local_write:hit=2:eio,flow.save.before:hit=3:delay=1500
grep -q survived "$MEND_TEST_DIR/out" && grep -q 'version [0-9]* was not saved at any level' "$MEND_TEST_DIR/err" && grep -q ' saves in .*, 1 failed;' "$MEND_TEST_DIR/err" ||
    { echo "a version that failed in the background is not told"; cat "$MEND_TEST_DIR/out" "$MEND_TEST_DIR/err"; bad=$((bad + 1)); }
echo "$n kinds of misuse, $bad bad"
[ $bad = 0 ] && echo PASS >"$MEND_TEST_MARKER"
