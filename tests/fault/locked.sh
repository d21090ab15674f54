#!/usr/bin/env bash
# locked.sh CASE KIND: ranks that exclude each other by locks of files (apps/locked.c: flock, fcntl, ofd, lockf), and lose
# nothing of that; the number that they count up must equal that of a native run.
#   place    ranks die, and the job repairs itself in place
#   stop     mend checkpoint --stop, mend restart
#   relaunch the job is launched again (KIND: also mpich, with fcntl)
#   foreign  after a stop somebody else has the lock: awaited for a while, then refused in a sentence
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
case=$1 kind=$2
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
. "$here/told.sh"
. "$MEND_SOURCE/tests/harness/yardstick"
. "$MEND_SOURCE/tests/harness/events"
. "$here/programs.sh"
runner= other=
trap '[ -z "$other" ] || kill $other 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -5 err 2>/dev/null; tail -8 job/events.jsonl 2>/dev/null | cut -c1-300; [ -n "$runner" ] && kill "$runner" 2>/dev/null; wait; exit 1; }
programs locked
mpi=openmpi
[ "$kind" != mpich ] || { mpi=mpich kind=fcntl; command -v mpirun.mpich >/dev/null || { echo "no MPICH here"; exit 77; }; }
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 3 "$@"; }
start() { events_right job/events.jsonl; rm -rf job b; mkdir b; untold "$@"; "$MEND" run -n 3 --dir job -q "$@" >got 2>err & runner=$!; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
more() { await '"checkpoint.commit"' $(($(count '"checkpoint.commit"') + $1)); }
player() { grep "\"rank\":$1,\"event\":\"recover.$2\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
finish() {
    tell; wait $runner || fail "code $?"
    runner=; reference; cmp got want || fail "not as natively: $(diff got want)"
    cmp a/counter b/counter || fail "the files differ"
    grep -q ' 0 locks were not held$' want || fail "natively: $(cat want)"
}
stopped() { # the job, at a version at which some rank has a lock
    more 3
    "$MEND" checkpoint --stop --timeout 60 job >asked 2>&1 || fail "mend checkpoint: $(cat asked)"
    wait $runner; [ $? = 3 ] || fail "stopped: code $?"
}
resume() { "$MEND" restart -q --every 100ms job >got 2>err & runner=$!; }

case $case in
place)
    start --spares 2 --every 100ms -- ./locked b "$kind" ./enough
    for r in 1 0; do
        more 6; kill -9 "$(player $r playing)" || fail "rank $r could not be killed"
        await '"how":"resumed"' $((6 - 3 * r))
    done
    more 6; finish ;;
stop)
    start --every 100ms -- ./locked b "$kind" ./enough
    for i in 1 2; do stopped; resume; done
    more 6; finish ;;
relaunch)
    start --no-online --mpi $mpi --retries 9 --every 150ms -- ./locked b "$kind" ./enough
    for r in 1 2; do
        more 3; kill -9 "$(player $r born)" || fail "rank $r could not be killed"; await '"restart"' $r
    done
    more 3; finish ;;
foreign)
    start --every 100ms -- ./locked b "$kind" ./enough
    stopped
    flock -x b/held.1 sleep 1000 & other=$!
    until grep -q ":$(stat -c %i b/held.1) " /proc/locks; do sleep 0.02; done
    clock_start; resume; wait $runner; code=$?; runner=
    [ $code != 0 ] || fail "it went on without the lock"
    grep -q "mend: rank 1 cannot go on without a lock on .*/held.1 that it held at the version: process [0-9]* (flock) holds it" err || fail "no sentence: $(cat err)"
    echo "ok: refused"
    [ ! -s got ] || fail "it printed: $(cat got)"
    resume
    until grep -q "mend: rank 1 waits for a lock on .*/held.1 " err; do kill -0 $runner || fail "it does not wait"; sleep 0.02; done
    kill "$(pgrep -P $other sleep)" $other; other=
    more 6; finish; echo "ok: awaited" ;;
*) fail "which case?" ;;
esac
events_right job/events.jsonl
echo PASS
