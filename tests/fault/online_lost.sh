#!/usr/bin/env bash
# On emulated nodes, under Mend's own launcher: whole nodes are lost, with their daemons. The output must equal that of
# a native run, in one launch, and no process may be left anywhere. MEND_TEST_LOSS says how, words of:
#   kill:K  off:K  silent:K  stop:K   one node; together:K,L  two at once, by kill and by power
# MEND_TEST_SILENCE is the time-out (default 5s: a busy machine may stand still for two).
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
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
# shellcheck disable=SC2086
native() { $MEND_MPIRUN -n 4 "$@" 2>native.err || { cat native.err; return 1; }; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
untold -- ./steady ./enough 4096
"$MEND_BUILD/bin/mend" run -n 4 --spares 4 --every 300ms --host node0:2,node1:2,node2:2,node3:2 --dir "$PWD/job" -q \
    --launcher /mnt/ctl/rsh --node-timeout "${MEND_TEST_SILENCE:-5s}" -- ./steady ./enough 4096 >got 2>err & runner=$!
times=0
for loss in $MEND_TEST_LOSS; do
    k=${loss#*:}
    resumed=$(count '"how":"res')
    await '"level":"partner"' $(($(count '"level":"partner"') + 8))
    sleep "${MEND_TEST_WAIT:-0}"
    case $loss in
        together:*) "$node" off "${k#*,}" && "$node" kill "${k%,*}" || fail "$loss" ;;
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
[ "$(count run.launch)" = 1 ] || fail "launched $(count run.launch) times"
[ "$(count launch.lost)" -ge $times ] || fail "the launcher did not say so"
for k in 0 1 2 3; do # nobody is left, on those that are still there
    [ -e "/mnt/ctl/off$k" ] || [[ $MEND_TEST_LOSS == *kill:$k* ]] && continue
    [[ $MEND_TEST_LOSS == *stop:$k* ]] && "$node" cont "$k" mend-node
    for _ in $(seq 100); do left=$("$node" list "$k" capsule.openmpi; "$node" list "$k" mend-node); [ -n "$left" ] || break; sleep 0.1; done
    [ -z "$left" ] || fail "processes are left on node$k: $left"
done
[ ! -e times ] || cat times
echo "PASS $(count '"how":"resumed"') ranks resumed" >"$MEND_TEST_MARKER"
