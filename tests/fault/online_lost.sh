#!/usr/bin/env bash
# On emulated nodes, under Mend's own launcher: whole nodes are lost, with their daemons. The output must equal that of
# a native run, in one launch, and no process may be left anywhere. MEND_TEST_LOSS says how, words of:
#   kill:K  off:K  silent:K  stop:K   one node (1 has ranks 0 and 1); together:K,L  two at once, by kill and by power
#   apart:K,L  two at once, which hear each other no more than the rest
#   saving:K  by kill, in a checkpoint; recovering:K,L  by kill, the second one in the recovery from the first
#   door:K  silent, while ranks wait at the doors of their collectives for the rest to get ready for a checkpoint
#   headless:K  silent, and the head is killed: no second launch before the first one's processes on K have ended
#   quit:K  silent, and mend run is told to end: it has not ended before the processes on K (after more than the 11 s that others have)
#   launching:K  by kill, as soon as mend run has begun: it may need a second launch
# MEND_TEST_PROGRAM=heat, lammps: other programs, of a fixed number of steps (online_lost_lammps.sh). MEND_TEST_SILENCE is the time-out (default 5s: a busy machine may stand still for two).
# Called by tests/harness/mpitest on the head.
set -uo pipefail
cd "$MEND_TEST_DIR" || exit 1
node=$MEND_SOURCE/tests/harness/node
fail() {
    echo "FAIL: $*"
    cat err
    grep -vE 'checkpoint.commit|undo' job/events.jsonl 2>/dev/null | tail -60 | cut -c1-200
    exit 1
}
. "$MEND_SOURCE/tests/fault/told.sh"
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "$@" 2>native.err || { cat native.err >&2; return 1; }; } # on the head: it is still there
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
case $MEND_TEST_LOSS in # each process waits there once, so that there is time to strike
    saving:*) export MEND_FAULT=recover.save.copy:hit=3:delay=3000 ;;
    door:*) export MEND_FAULT=capsule.round:rank=1:hit=3:delay=8000 ;; # rank 1 is on the node of the coordinator, rank 0
    recovering:*) export MEND_FAULT=recover.images:hit=2:delay=3000 ;;
esac
if [ "${MEND_TEST_PROGRAM:-steady}" = lammps ]; then
    sed "s/^run.*/run ${MEND_TEST_STEPS:-6000}\nwrite_dump all custom final.txt id x y z vx vy vz modify sort id format float %20.15g/" \
        /usr/share/lammps/examples/melt/in.melt >in.melt
    program=(lmp -in in.melt)
    tell() { :; }
    result() { sed -n '/Step  /,/Loop time/p' got | grep -v Loop; cat final.txt; } # what does not depend on the time
    reference() {
        result >computed
        native "${program[@]}" >got || fail "native run"
        result >want && mv computed got
    }
elif [ "${MEND_TEST_PROGRAM:-steady}" = heat ]; then
    mpicc.openmpi -O2 -I"$MEND_SOURCE/apps/common" -o heat "$MEND_SOURCE/apps/heat/heat.c" -lm || exit 1
    program=(./heat -m 1 -s 40000 -r 8000)
    tell() { :; }
    reference() { native "${program[@]}" >want || fail "native run"; }
else
    mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
    untold -- ./steady ./enough 4096
fi
"$MEND_BUILD/bin/mend" run -n 4 --spares 4 --every 300ms --host node1:2,node0:2,node2:2,node3:2 --dir "$PWD/job" -q \
    --launcher /mnt/ctl/rsh --node-timeout "${MEND_TEST_SILENCE:-5s}" -- "${program[@]}" >got 2>err & runner=$!
times=0 launches=1
if [[ $MEND_TEST_LOSS == launching:* ]]; then
    await '"run.launch"' 1
    "$node" kill "${MEND_TEST_LOSS#*:}" || fail "$MEND_TEST_LOSS"
    await '"level":"partner"' 8
    launches=$(count '"run.launch"')
    [ "$launches" -le 2 ] || fail "launched $launches times"
    await launch.lost 1
    MEND_TEST_LOSS=${MEND_TEST_LOSS/launching/kill} losses='' times=1
fi
if [[ $MEND_TEST_LOSS == headless:* ]]; then
    k=${MEND_TEST_LOSS#*:} losses='' launches=2
    await '"level":"partner"' 8
    "$node" silent "$k" && kill -9 "$(pgrep -P $runner -x mend-node)" || fail "$MEND_TEST_LOSS"
    await '"run.launch"' 2; left=$("$node" list "$k" capsule.openmpi); "$node" heal "$k"
    [ -z "$left" ] || fail "launched again while these were alive on node$k: $left"
    await '"level":"memory"' $(($(count '"level":"memory"') + 8))
fi
if [[ $MEND_TEST_LOSS == quit:* ]]; then
    k=${MEND_TEST_LOSS#*:}
    await '"level":"partner"' 8
    "$node" silent "$k" && kill "$runner" || fail "$MEND_TEST_LOSS"
    wait $runner && fail "code 0"
    left=$("$node" list "$k" capsule.openmpi)
    [ -z "$left" ] || fail "ended while these were alive on node$k: $left"
    echo "PASS ended" >"$MEND_TEST_MARKER"; exit 0
fi
for loss in ${losses-$MEND_TEST_LOSS}; do
    k=${loss#*:}
    resumed=$(count '"how":"res')
    case $loss in
        saving:* | door:*) await '"checkpoint.begin"' 3 ;;
        *) await '"level":"partner"' $(($(count '"level":"partner"') + 8)) ;;
    esac
    sleep "${MEND_TEST_WAIT:-0}"
    case $loss in
        together:*) "$node" off "${k#*,}" && "$node" kill "${k%,*}" || fail "$loss" ;;
        apart:*) "$node" silent "${k%,*}" && "$node" silent "${k#*,}" || fail "$loss" ;;
        saving:*)
            sleep 0.5 # all are in it now
            [ "$(count '"level":"memory"')" = 8 ] || fail "the third version is there already: $(count '"level":"memory"')"
            "$node" kill "$k" || fail "$loss" ;;
        door:*)
            sleep 0.5 # all that can be are there now
            "$node" silent "$k" || fail "$loss" ;;
        recovering:*)
            "$node" kill "${k%,*}" || fail "$loss"
            await '"recover.noticed"' 1; await launch.lost 1; sleep 0.5
            [ "$(count '"how":"res')" = "$resumed" ] || fail "the recovery is over already"
            "$node" kill "${k#*,}" || fail "$loss" ;;
        stop:*) "$node" stop "$k" capsule.openmpi && "$node" stop "$k" mend-node || fail "$loss" ;;
        *) "$node" "${loss%%:*}" "$k" || fail "$loss" ;;
    esac
    date +"$loss %s.%N" >>struck
    times=$((times + ${#k} / 2 + 1))
    await launch.lost $times
    await '"level":"memory"' $(($(count '"level":"memory"') + 8)) # it goes on
    [ "$(count '"how":"res')" = "$resumed" ] || # from the blow until the last rank runs again
        grep '"how":"res' job/events.jsonl | tail -1 | grep -o '"t":[0-9.]*' | cut -d: -f2 |
        awk -v s="$(tail -1 struck)" '{split(s, a, " "); printf "%s: all ranks run again after %.3f s\n", a[1], $1 - a[2]}' >>times
done
tell
wait $runner || fail "run: code $?"
reference
cmp got want || fail "the output differs"
[ "$(count '"run.launch"')" = $launches ] || fail "launched $(count '"run.launch"') times"
[[ $MEND_TEST_LOSS != door:* ]] || grep '"recover.noticed"' job/events.jsonl | grep -q '"call":"door"' || fail "nobody was at a door"
[[ $MEND_TEST_LOSS != saving:* ]] || grep '"recover.noticed"' job/events.jsonl | grep -q '"call":"checkpoint"' || fail "it was not in a checkpoint"
case $MEND_TEST_LOSS in silent:? | off:?) grep '"launch.lost"' job/events.jsonl | grep -q 'silence: its machine cannot be reached, nothing was acknowledged' || fail "why it is silent: $(grep '"launch.lost"' job/events.jsonl)" ;; esac
[ "$(count launch.lost)" -ge $times ] || fail "the launcher did not say so"
for k in 0 1 2 3; do # nobody is left, on those that are still there
    [ -e "/mnt/ctl/off$k" ] || ! kill -0 "$(cat /mnt/ctl/pid$k 2>/dev/null || echo $$)" 2>/dev/null && continue
    [[ $MEND_TEST_LOSS == *stop:$k* ]] && "$node" cont "$k" mend-node
    for _ in $(seq 100); do left=$("$node" list "$k" capsule.openmpi; "$node" list "$k" mend-node); [ -n "$left" ] || break; sleep 0.1; done
    [ -z "$left" ] || fail "processes are left on node$k: $left"
done
[ ! -e times ] || cat times
echo "PASS $(count '"how":"resumed"') ranks resumed" >"$MEND_TEST_MARKER"
