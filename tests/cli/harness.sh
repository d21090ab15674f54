#!/usr/bin/env bash
# The harness notices: a hang (with the stacks of all ranks, and nothing left behind), a wrong result, a
# missing result, a rank that outlives its job (within: a hang, too); and a seed always means the same victim and time.
set -uo pipefail
harness=$MEND_SOURCE/tests/harness/mpitest cases=$MEND_BUILD/tests/mpi_harness_cases
[ -x "$cases" ] || { echo "SKIP: built without MPI"; exit 77; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
fail() { echo "FAIL: $*"; cat "$out"; exit 1; }
run() { "$harness" --np 3 "$@" >"$out" 2>&1; }
count() { grep -c -- "$1" "$out"; }
none() { # is left of that mode
    local f left
    left=$(for f in /proc/[0-9]*/cmdline; do tr '\0' ' ' <"$f" 2>/dev/null | grep -F "$cases $1" | sed "s|^|$f |"; done)
    [ -z "$left" ] || fail "processes are left behind: $left"
}

run --timeout 60 -- "$cases" pass || fail "a good test fails"
run --timeout 3 -- "$cases" hang && fail "a hang passes"
[ "$(count '^--- rank')" = 3 ] || fail "not the stacks of three ranks"
[ "$(count wait_in_barrier)" = 2 ] && [ "$(count wait_for_nobody)" = 1 ] || fail "the stacks do not name the functions"
none hang
run --timeout 60 -- "$cases" wrong && fail "a wrong result passes"
grep -q 'the sum is 41' "$out" || fail "the wrong result is not shown"
run --timeout 60 -- "$cases" silent && fail "a missing result passes"
run --timeout 60 -- /nonexistent/program && fail "a missing program passes"
MEND_TEST_GRACE=2000 run --timeout 60 -- "$cases" linger && fail "a rank that stays passes"
none linger

: >"$out"
MEND_TEST_STACKS=$out "$MEND_SOURCE/env/run" "${harness%/*}/within" 3 mpirun.openmpi --oversubscribe -n 3 "$cases" hang >/dev/null 2>&1
[ $? = 124 ] || fail "within: a hang is not told by its code"
[ "$(count '^--- rank')" = 3 ] && [ "$(count wait_in_barrier)" = 2 ] || fail "within: not the stacks of three ranks"
none hang

MEND_FAULT=no.such.place:kill run --timeout 60 -- "$cases" pass && fail "an unknown place passes"
run --timeout 60 --kill-random 7 -- "$cases" pass; first=$(grep '^seed' "$out")
run --timeout 60 --kill-random 7 -- "$cases" pass; second=$(grep '^seed' "$out")
[ -n "$first" ] && [ "$first" = "$second" ] || fail "a seed means different things: $first, $second"
echo PASS
