#!/usr/bin/env bash
# online_unusual.sh PROGRAM CASE: programs that do what few programs do, under `mend run`: ranks die, the job is stopped and
# restarted; output and files must equal those of a native run, byte for byte.
#   standard redirect | closed | stream   what becomes of the standard streams (apps/standard.c)
#   mainless early | late | serial        main() ends, other threads go on (apps/mainless.c)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
. "$here/told.sh"
. "$MEND_SOURCE/tests/harness/events"
. "$here/programs.sh"
runner=
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -5 err 2>/dev/null; tail -8 job/events.jsonl 2>/dev/null | cut -c1-300; [ -n "$runner" ] && kill "$runner" 2>/dev/null; wait; exit 1; }
programs "$1"
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 2 "$@"; }
start() { events_right job/events.jsonl; rm -rf job b; mkdir b; untold "$@"; "$MEND" run -n 2 --dir job -q "$@" >got 2>err & runner=$!; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
more() { await '"level":"memory"' $(($(count '"level":"memory"') + 2 * $1)); } # N more versions, of 2 ranks
player() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
finish() {
    tell; wait $runner || fail "code $?"
    runner=; reference; cmp got want || fail "the output differs: $(diff got want | head -n 4)"
    diff -r a b || fail "the files differ"
}
case $1 in
standard) program=(./standard "$2" b ./enough) ;;
mainless) program=(./mainless "$2" ./enough) ;;
*) fail "which program?" ;;
esac

start --spares 2 --every 100ms -- "${program[@]}"
more 3; kill -9 "$(player 1)"; await '"how":"resumed"' 2
more 3; kill -9 "$(player 0)"; await '"how":"resumed"' 4
more 3; finish
[ "$(count run.launch)" = 1 ] || fail "not repaired in place"
echo "ok: in place"
start --every 100ms -- "${program[@]}"
more 3; "$MEND" checkpoint --stop --timeout 60 job >asked 2>&1 || fail "mend checkpoint: $(cat asked)"
wait $runner; [ $? = 3 ] || fail "stopped: code $?"
"$MEND" restart -q --every 100ms job >got 2>err & runner=$! # which prints all of the output
more 3; finish
echo "ok: stopped and resumed"
events_right job/events.jsonl
echo PASS
