#!/usr/bin/env bash
# A job's folder on a file system without locks (Lustre without -o flock, say): the job runs, survives a killed rank, is
# checkpointed, stopped and resumed; it is said once that nothing keeps a second job out. An ended job is seen to have ended.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
runner=
trap '[ -z "$runner" ] || kill $runner 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -5 err 2>/dev/null; tail -3 job/events.jsonl 2>/dev/null | cut -c1-300; exit 1; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
gcc -O1 -Wall -o confined "$MEND_SOURCE/tests/cli/programs/confined.c" || fail "confined does not compile"
"$MEND" cc -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" -lm || fail "steady does not compile"
./confined lockless true || { echo "SKIP: no seccomp filters here"; exit 77; }
./confined lockless flock . true 2>/dev/null && fail "there are locks"
program=(./steady 4000 4096)
mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 3 "${program[@]}" >want || exit 1

./confined lockless "$MEND" run -n 3 --spares 1 --every 100ms --dir job -- "${program[@]}" >got 2>err &
runner=$!
await '"level":"memory"' 6
kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | sed 's/.*"pid":\([0-9]*\).*/\1/')"
await '"how":"resumed"' 3
await '"level":"memory"' "$(($(count '"level":"memory"') + 3))"
./confined lockless "$MEND" checkpoint job --stop >asked 2>&1 || fail "mend checkpoint: $(cat asked)"
wait $runner; code=$?
runner=
[ $code = 3 ] || fail "stopped: code $code"
[ "$(grep -c 'has no locks (Function not implemented): take care that no second job' err)" = 1 ] || fail "not said once"
./confined lockless "$MEND" checkpoint job >asked 2>&1 && fail "a stopped job made a checkpoint"
! grep -q 'within\|timeout' asked || fail "the end of the job was not noticed: $(cat asked)"
./confined lockless "$MEND" restart job >second 2>>err || fail "mend restart: code $?"
cat got second | cmp - want || fail "the output differs from that of an undisturbed run"
echo PASS
