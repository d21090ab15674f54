#!/usr/bin/env bash
# online_hung.sh LIBRARY [all]: an agreement of the MPI library hangs in a recovery under `mend run` (injected by
# tests/mpi/process_hung_agreement.c). It must be left and the job repaired in place; where that cannot be, the job must
# be launched again in bounded time. The output must equal that of a native run, byte for byte.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
library=$1
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
runner=
fail() { echo "FAIL: $*"; tail -5 err; tail -20 job/events.jsonl | cut -c1-300; [ -n "$runner" ] && kill "$runner" 2>/dev/null; wait; exit 1; }
mpicc.openmpi -O2 -o steady "$here/apps/steady.c" -pthread || exit 1
mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 ./steady 1000 4096 >want || exit 1
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
# HANG… (CALL HIT [LAST] RANKS): rank 1 is killed, and this hangs. Ranks 4 and 5 are the spares.
hang() {
    rm -rf job first
    HUNG_ONCE=$PWD/first HUNG_CALL=$1 HUNG_HIT=$2 HUNG_LAST=$3 HUNG_RANKS=$4 MEND_PROCESS_AGREEMENT_TIMEOUT=1s MEND_ONLINE_PATIENCE=2s \
        "$MEND" run -n 4 --spares 2 --dir job --every 100ms --levels memory,partner,global:1 \
        --launcher-args "-x LD_PRELOAD=$library -x HUNG_CALL -x HUNG_HIT -x HUNG_LAST -x HUNG_ONCE -x HUNG_RANKS" -- ./steady 1000 4096 >got 2>err &
    runner=$!
    await '"level":"global"' 4
    kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
    wait $runner || fail "$*: mend run ended with $?"
    cmp got want || fail "$*: the output differs from the native run"
    [ "$(count '"ulfm.left"')" -ge 1 ] || fail "$*: no agreement was left"
    [ "$(count run.launch)" = "${5:-1}" ] || fail "$*: launched $(count run.launch) times"
    echo "ok: $*"
}
hang shrink 2 2 all   # of everybody, before anything is known
hang agree 2 2 2      # one does not learn that all have agreed: the others go on without it
if [ "${2:-}" = all ]; then
    hang shrink 2 2 0,4 # of some: the others have their result
    hang agree 2 2 4    # of the spare that takes the place of the dead
    hang agree 2 2 all
    hang agree 3 3 all  # at the end of the job
    hang agree 3 3 0
fi
hang shrink 2 4 all 2 # again and again: no way left but to launch the job again
grep -q 'an agreement did not end' err || fail "not said"
