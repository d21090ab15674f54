#!/usr/bin/env bash
# The campaign notices a wrong result, a hang, a failure, and what is left behind; a seed always means the same trial,
# and the seeds reach every layer.
set -uo pipefail
trial=$MEND_SOURCE/tests/campaign/trial scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; cat "$scratch/out" 2>/dev/null; exit 1; }
[ -x "$MEND_BUILD/tests/mpi_store_kill" ] || { echo "SKIP: built without MPI"; exit 77; }
self() { CAMPAIGN_LOAD=0 CAMPAIGN_LAYER=self CAMPAIGN_SELF=$1 "$trial" 1 >"$scratch/out" 2>&1; }
says() { tail -1 "$scratch/out" | grep -qE "^row\|1\|self\|.*\|$1\$" || fail "not $1"; }

self 'echo 12 runs, 34 kills, 0 bad' || fail "a good trial"; says '34\|0\|0\|ok'
self 'exit 3' && fail "a failure passes"; says '0\|0\|0\|FAILED\(3\)'
self 'echo seed 1: WRONG' && fail "a wrong result passes"; says WRONG
self 'echo "TIMEOUT: not done"; exit 1' && fail "a hang passes"; says HUNG
self 'exit 77' || fail "a trial that cannot be made"; says skipped
self 'echo x >"$TMPDIR/file"' && fail "a file that is left passes"; says '1\|LEFT'
if unshare --mount --ipc --pid --fork true 2>/dev/null; then
    self 'setsid sleep 1000 >/dev/null 2>&1 & exit 0' && fail "a process that is left passes"; says '1\|LEFT'
    self 'echo x >/dev/shm/left' && fail "shared memory that is left passes"; says '1\|LEFT'
    [ ! -e /dev/shm/left ] || fail "its shared memory is not its own"
fi
for s in $(seq 60); do "$trial" --tell $s; done >"$scratch/out" || fail "--tell"
for s in 1 17 42; do "$trial" --tell $s | grep -qxF "$(grep "^seed $s:" "$scratch/out")" || fail "seed $s means different things"; done
for layer in online nodes relaunch process flow store crash capsule damage fuzz; do
    grep -q "^seed [0-9]*: $layer, " "$scratch/out" || fail "no seed of 60 reaches $layer"
done
echo PASS
