#!/usr/bin/env bash
# New processes on several emulated nodes, and nodes that come while the job runs. MEND_TEST_CASE:
#   lost   two nodes are lost, one after the other, with one spare: new processes on the others
#   ten    ten processes are killed, one after the other, on three nodes, with one spare
#   add    mend run --add brings two nodes; then another one is lost, and one that came: each time the job goes on by
#          new processes on a node that came, without which there would be too few
#   hup    the same by the host file and SIGHUP; a node that does not exist changes nothing
#   back   a node that fell silent is lost, and comes back when it answers again
#   relaunch  without spares: a node that fell silent is left out of the next launch, and is part of the one after that
# The output must equal that of a native run, in one launch (relaunch: three), and no process may be left anywhere.
# Called by tests/harness/mpitest on the head.
set -uo pipefail
cd "$MEND_TEST_DIR" || exit 1
node=$MEND_SOURCE/tests/harness/node mend=$MEND_BUILD/bin/mend
fail() {
    echo "FAIL: $*"
    cat err
    grep -vE '"checkpoint\.|undo' job/events.jsonl 2>/dev/null | tail -60 | cut -c1-200
    exit 1
}
. "$MEND_SOURCE/tests/fault/told.sh"
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "$@" 2>native.err || { cat native.err >&2; return 1; }; } # on the head: it is still there
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
versions() { await '"level":"memory"' $(($(count '"level":"memory"') + $1)); }
launches=1
start() { untold -- ./steady ./enough 4096; "$mend" run -n 4 --every 200ms --dir "$PWD/job" -q --launcher /mnt/ctl/rsh --node-timeout "${MEND_TEST_SILENCE:-5s}" "$@" -- ./steady ./enough 4096 >got 2>err & runner=$!; await '"level":"partner"' 8; }
filled_on() { grep '"launch.filled"' job/events.jsonl | grep -c "\"host\":\"$1\""; }
dead=()
lose() { "$node" "$1" "$2" || fail "$1 $2"; await launch.lost $((${#dead[@]} + 1)); dead+=("$2"); }

case $MEND_TEST_CASE in
lost)
    start --refill --spares 1 --host node0:2,node1:2,node2:2,node3:2
    lose kill 1; await launch.filled 2; versions 8 # ranks 2 and 3, for one spare
    lose off 2; await launch.filled 3; versions 8 ;;
ten)
    start --refill --spares 1 --host node0:2,node1:2,node2:2
    for k in $(seq 10); do
        mapfile -t there < <("$node" list $((k % 3)) capsule.openmpi)
        [ ${#there[@]} -gt 0 ] && kill -9 "${there[0]}" || fail "nobody on node$((k % 3))"
        await launch.ended "$k"; await launch.filled "$k"; versions 4
    done ;;
add | hup)
    printf 'node0 slots=3\nnode1 slots=2\n' >hosts
    if [ "$MEND_TEST_CASE" = add ]; then
        start --refill --spares 1 --host node0:3,node1:2
        "$mend" run --add node2:3,node3:1 --dir job 2>added || fail "--add: code $? $(cat added)"
        grep -q 'node2 has joined' added && grep -q 'node3 has joined' added || fail "not said: $(cat added)"
        "$mend" run --add 'x;y' --dir job 2>added && fail "a name that is none was taken"
        "$mend" run --add node2 --dir . 2>added && fail "a folder without a job was taken"
    else
        start --refill --spares 1 --hostfile hosts
        printf 'node2 slots=3\nnode3\nnode99\n' >>hosts
        kill -HUP $runner; await '"launch.added"' 2; await '"launch.unadded"' 1
    fi
    lose kill 1; await launch.filled 2; versions 8
    [ "$(filled_on node2)" = 2 ] || fail "they do not run where most slots were free"
    how=off; [ "$MEND_TEST_CASE" = add ] || how=kill
    lose $how 2 # three processes are left, on node0, which has no room
    await launch.filled 3; versions 8
    [ "$(filled_on node3)" -ge 1 ] || fail "nothing runs on node3" ;;
back)
    export MEND_RUN_NODE_RETRY=1s
    start --refill --spares 1 --host node0:3,node1:2,node2:2
    "$node" silent 1; await launch.lost 1; await launch.filled 2
    "$node" heal 1; await '"launch.added"' 1
    "$node" kill 2; await launch.lost 2; dead+=(2); await launch.filled 4; versions 4
    [ "$(filled_on node1)" -ge 1 ] || fail "it is not used again" ;;
relaunch)
    export MEND_RUN_NODE_RETRY=1s launches=3
    start --spares 0 --levels memory,partner,global:1 --host node0:2,node1:2,node2:2
    await '"checkpoint.commit".*"level":"global"' 4; "$node" silent 1; await '"run.launch"' 2
    versions 4; sed '1,/"launch":1,/d' job/events.jsonl >second; "$node" heal 1; await '"launch.added"' 1
    grep '"recover.born"' second | grep -q node1 && fail "the second launch used the lost node"
    await '"checkpoint.commit".*"level":"global"' $(($(count '"checkpoint.commit".*"level":"global"') + 4))
    "$node" kill 2; dead+=(2); await '"run.launch"' 3; versions 4
    grep '"recover.born"' job/events.jsonl | tail -4 | grep -q node1 || fail "the third launch does not use the node that came back" ;;
*) echo "no case $MEND_TEST_CASE"; exit 2 ;;
esac
tell
wait $runner || fail "run: code $?"
reference
cmp got want || fail "the output differs"
[ "$(count '"run.launch"')" = $launches ] || fail "launched $(count run.launch) times"
for k in 0 1 2 3; do
    [[ " ${dead[*]-} " == *" $k "* ]] && continue
    for _ in $(seq 100); do left=$("$node" list "$k" capsule.openmpi; "$node" list "$k" mend-node); [ -n "$left" ] || break; sleep 0.1; done
    [ -z "$left" ] || fail "processes are left on node$k: $left"
done
echo "PASS $(count '"launch.filled"') new processes" >"$MEND_TEST_MARKER"
