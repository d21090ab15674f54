#!/usr/bin/env bash
# The campaign notices a wrong result, a hang, a failure, and what is left behind; a seed always means the same trial,
# and the seeds reach every layer. Trials side by side are counted exactly, and one that hangs is ended with all its processes.
set -uo pipefail
trial=$MEND_SOURCE/tests/campaign/trial scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; cat "$scratch/out" 2>/dev/null; exit 1; }
[ -x "$MEND_BUILD/tests/mpi_store_kill" ] || { echo "SKIP: built without MPI"; exit 77; }
self() { CAMPAIGN_LOAD=0 CAMPAIGN_LAYER=self CAMPAIGN_SELF=$1 "$trial" 1 >"$scratch/out" 2>&1; }
says() { tail -1 "$scratch/out" | grep -qE "^row\|1\|self\|.*\|$1\|[0-9]+\|[0-9.]+\$" || fail "not $1"; }

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
# several at a time: `together CODE SAYS COUNT OPTIONS` runs a campaign of trials that do $CAMPAIGN_SELF
together() {
    CAMPAIGN_LAYER=self "$MEND_SOURCE/tests/campaign/run" --jobs 3 --out "$scratch/results" --counts "self=$3" "${@:4}" >"$scratch/out" 2>&1
    [ $? = "$1" ] || fail "campaign of $3: not code $1"
    grep -qE "$2" "$scratch/out" || fail "campaign of $3: no $2"
}
export CAMPAIGN_SELF='echo 3 kills, 3 back'
together 0 '^self +[3-5] +[0-9]+ +(9|12|15) +0 +0 +0 +0 +0 ' 8 0.05 1
export CAMPAIGN_SELF='echo x >"$TMPDIR/../../me"; sleep 0.3; [ "$(find "$TMPDIR/../.." -name me | wc -l)" = 1 ] && rm "$TMPDIR/../../me" && echo 1 back'
together 0 '^self +[3-5] ' 3 0.05 1
export CAMPAIGN_SELF='echo SELF; sleep 1000'
together 1 '^self +([0-9]) +0 +0 +0 +\1 +0 ' 3 --limit 1 0.0008 1
grep -q 'again: tests/campaign/replay 1 self$' "$scratch/out" || fail "not said how to run it again"
grep -q "^--- .*sleep 1000" "$scratch/results/1.log" || fail "no stacks: $(cat "$scratch/results/1.log")"
grep -q "^--- .*sleep 1000" "$scratch/results/summary.txt" && grep -q '^== seed 1: HUNG ==' "$scratch/results/summary.txt" || fail "not in the summary"
export CAMPAIGN_SELF='for i in $(seq 90); do echo said $i; done; exit 3'
together 1 '^self: 0 of 2 promised: NOT REACHED' 2 0.0004 1
grep -qx 'said 90' "$scratch/results/summary.txt" && ! grep -qx 'said 40' "$scratch/results/summary.txt" || fail "not the end of the log"
grep -q '^before: .* descriptors' "$scratch/results/summary.txt" && grep -q '^after: .* descriptors' "$scratch/results/summary.txt" || fail "no counts of the machine"
export CAMPAIGN_SELF='exit 3'
together 1 '^self: given up, nothing came back from its first 20 trials$' 5 1 1
[ "$(grep -c '^[0-9]*|self|.*|FAILED(3)|' "$scratch/results/table")" -lt 24 ] || fail "a hopeless layer is tried on"
! pgrep -f "campaign/[t]rial [123]\$" >/dev/null || fail "a hung trial was left"
together 1 'self: 0 of 1' 1 0 1
CAMPAIGN_SELF='exit 77' together 1 'self: 0 of 5' 5 0.05 1
echo PASS
