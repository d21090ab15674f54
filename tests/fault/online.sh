#!/usr/bin/env bash
# online.sh CASE: an unmodified program under `mend run`, hit by real kills; its output must equal that of
# a native run, byte for byte. Cases: rank, pair, launcher, exhausted, files, during, init.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
case=$1
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAIL: $*"; tail -20 job/events.jsonl 2>/dev/null | cut -c1-300; exit 1; }
for p in steady append; do mpicc.openmpi -O2 -o $p "$here/apps/$p.c" || exit 1; done
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "$@"; }
survived() { grep -c '"event":"recover.resumed","how":"resumed"' job/events.jsonl; }
steady=(./steady 4000 4096)

native "${steady[@]}" >want || exit 1
case $case in
rank) # one rank, later the one that replaced it or another
    "$MEND" chaos --schedule "1s kill 1; 2s kill *1" --leave 4 --wait-ranks 6 --dir job -o table -- \
        "$MEND" run -n 4 --spares 2 --every 200ms --dir job -q -- "${steady[@]}" >got || fail "run: $(cat table)"
    grep -q killed table || fail "nobody was killed: $(cat table)" ;;
pair) # a rank and its partner at once: their images are lost with them, the disk or the start has to do
    "$MEND" chaos --schedule "2s kill 1,2" --wait-ranks 7 --dir job -o table -- \
        "$MEND" run -n 4 --spares 3 --every 200ms --levels memory,global:2 --dir job -q -- "${steady[@]}" >got || fail "run"
    grep -q 'rank 1 .*rank 2 .*killed' table || fail "not both: $(cat table)" ;;
launcher) # the launcher itself: launched again by mend run, from disk
    "$MEND" run -n 4 --every 200ms --dir job -q --spares 1 --levels memory,global:1 -- "${steady[@]}" >got & runner=$!
    for _ in $(seq 1200); do [ "$(ls job/images 2>/dev/null | wc -l)" -ge 2 ] && break; sleep 0.05; done
    kill -9 "$(awk '{print $1}' /proc/$runner/task/$runner/children)" || fail "no launcher"
    wait $runner || fail "run"
    [ "$(grep -c run.launch job/events.jsonl)" = 2 ] || fail "not launched twice" ;;
exhausted) # more deaths than spares: what is in memory goes to disk, then a relaunch
    "$MEND" chaos --schedule "1s kill 1; 2s kill 2" --wait-ranks 5 --dir job -o table -- \
        "$MEND" run -n 4 --spares 1 --every 200ms --dir job -q -- "${steady[@]}" >got 2>/dev/null || fail "run" ;;
files) # files that grew since the version are cut back
    mkdir a b; native ./append a >want || exit 1
    "$MEND" chaos --schedule "1s kill 2; 1500ms kill *1" --leave 4 --wait-ranks 6 --dir job -o table -- \
        "$MEND" run -n 4 --spares 2 --every 200ms --dir job -q -- ./append b >got || fail "run"
    diff -r a b || fail "files differ" ;;
during) # deaths at every step of a recovery and of a save, of the process that coordinates too
    for place in shrink plan world images load agree save.write save.copy save.commit; do
        for victim in 0 3; do
            hit=1; case $place in save.*) hit=3 ;; *) hit=2 ;; esac # the start is a meeting, too
            rm -rf job
            MEND_FAULT="recover.$place:rank=$victim:hit=$hit:kill" "$MEND" chaos --schedule "1s kill 1" --wait-ranks 7 \
                -o table -- "$MEND" run -n 4 --spares 3 --every 150ms --dir job -q -- ./steady 2500 4096 >got || fail "$place, process $victim"
            native ./steady 2500 4096 >want2; cmp got want2 || fail "$place, process $victim: wrong output"
            echo "ok: death at recover.$place of process $victim"
        done
    done
    cp want2 want ;;
init) # a death inside MPI_Init, where Open MPI waits for ever: launched again
    "$MEND" run -n 4 --spares 1 --every 200ms --dir job -q -- "${steady[@]}" >got & runner=$!
    for _ in $(seq 20000); do
        pid=$(grep -o 'recover.born","pid":[0-9]*' job/events.jsonl 2>/dev/null | tail -1 | grep -o '[0-9]*$')
        [ -n "$pid" ] && break; sleep 0.002
    done
    kill -9 "$pid" || fail "nobody was born"
    wait $runner || fail "run" ;;
*) echo "no case $case"; exit 2 ;;
esac
cmp got want || fail "the output differs from the native run"
[ "$case" = launcher ] || [ "$case" = init ] || [ "$(survived)" -gt 0 ] || [ "$case" = exhausted ] || [ "$case" = pair ] || fail "nothing was survived in place"
echo PASS
