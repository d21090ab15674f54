#!/usr/bin/env bash
# flow_everything.sh PROGRAM FIRST LAST: a program of pointers with MEND_STATE_ALL. One job per seed, ranks die at random
# iterations of both phases, at any moment from outside, or inside a recovery; the checksum is that of a run without kills. In
# every tenth job the whole job dies and is started again. With FIRST = 1 also what has to be refused.
set -uo pipefail
program=$1 first=$2 last=$3 np=3 bad=0 jobs=0 kills=0 hung=0
work=$MEND_TEST_DIR/everything
mkdir -p "$work"
export MEND_FLOW_EVENTS=$work/events
. "$(dirname "$0")/flow_job.sh"
run() { # ranks args
    # shellcheck disable=SC2086
    run_watched "$$.${seed:-0}" "$1" "$work/events" "$work/out" "$work/err" $MEND_MPIRUN -n "$1" "$program" "${@:2}"
    code=$?
}
checksum() { grep -o 'checksum [0-9a-f]*' "$work/out" | tail -1; }
wrong() {
    echo "$1: expected '$expected', got '$(checksum)', code $code"
    tail -60 "$work/err"
    bad=$((bad + 1))
}
kill_from_outside() {
    local pids
    until grep -qs flow.meet "$work/events"; do [ ! -e "$work/over" ] || return; sleep 0.02; done
    sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
    mapfile -t pids < <(job_ranks "$$.$seed")
    [ ${#pids[@]} = 0 ] || { kill -KILL "${pids[$((RANDOM % ${#pids[@]}))]}" 2>/dev/null && echo x >>"$work/killed"; }
}
MEND_FLOW_EVERY=never MEND_FLOW_SPARES=0 run $np
expected=$(checksum)
[ -n "$expected" ] || { cat "$work/err"; exit 1; }
for ((seed = first; seed <= last; seed++)); do
    RANDOM=$seed
    deaths=$((1 + RANDOM % 2)) args=() how=$((RANDOM % 10)) outside=''
    places=(flow.recover.repaired flow.recover.bound flow.recover.chosen flow.restored flow.save.before flow.save.after flow.finalize)
    rm -rf "$work"/mark* "$work/events" "$work/killed" "$work/store" "$work/over"
    export MEND_FLOW_EVERY=$((2 + RANDOM % 9)) MEND_FLOW_SPARES=$deaths
    unset MEND_FAULT MEND_STORE_DELTA MEND_FLOW_PROCESS MEND_STORE_LOCAL MEND_STORE_LOCAL_EVERY MEND_STORE_SYNC
    [ $((RANDOM % 2)) = 0 ] || export MEND_STORE_DELTA=pages
    at=(); for ((s = 0; s < 60; s++)); do at+=("$s"); done
    for d in 0 1 2 3 4; do for i in 0 1 2; do at+=($((60 + 10 * d + i))); done; done
    for ((i = 0; i < deaths; i++)); do args+=(-k "$((RANDOM % np))@${at[$((RANDOM % ${#at[@]}))]}"); done
    case $how in
        0) # the whole job, twice
            export MEND_FLOW_PROCESS=off MEND_FLOW_SPARES=0 MEND_STORE_LOCAL=$work/store MEND_STORE_LOCAL_EVERY=1 MEND_STORE_SYNC=yes
            for ((i = 0; i < deaths; i++)); do run $np "${args[@]}" --mark "$work/mark"; done ;;
        1 | 2) export MEND_FLOW_SPARES=2 MEND_FAULT=${places[$((RANDOM % 7))]}:rank=$((RANDOM % (np + 1))):hit=2:kill
            args=("${args[@]:0:2}") ;;
        3 | 4) args=(); kill_from_outside & outside=$! ;;
    esac
    run $((np + MEND_FLOW_SPARES)) "${args[@]}" --mark "$work/mark"
    touch "$work/over"
    [ -z "$outside" ] || wait "$outside"
    n=$(find "$work" -name 'mark*' | wc -l)
    [ ! -e "$work/killed" ] || n=$(wc -l <"$work/killed")
    kills=$((kills + n)) jobs=$((jobs + 1))
    echo "seed $seed how $how every $MEND_FLOW_EVERY ${MEND_STORE_DELTA:-} ${MEND_FAULT:-} ${args[*]}: kills $n, restores $(grep -c flow.restore "$work/events")"
    [ $code != 124 ] || hung=$((hung + 1))
    [ "$(checksum)" = "$expected" ] && [ $code != 125 ] || wrong "seed $seed"
done
if [ "$first" = 1 ]; then
    unset MEND_FAULT MEND_STORE_DELTA MEND_FLOW_PROCESS MEND_STORE_LOCAL MEND_STORE_LOCAL_EVERY MEND_STORE_SYNC
    refused() { # sentence
        [ -z "$(checksum)" ] && grep -q "$1" "$work/err" && { echo "refused: $1"; return; }
        wrong "'$1' was not refused"
    }
    export MEND_FLOW_EVERY=5 MEND_FLOW_SPARES=1
    for kind in file world type map; do
        rm -f "$work"/mark*
        run $((np + 1)) --bad $kind -k 1@20 --mark "$work/mark"
        refused "no mend_rebuild() function made it again"
    done
    MEND_FLOW_LEARN=yes run $((np + 1)); refused 'need views'
    # a job that is started again is another program, or has other arguments
    export MEND_FLOW_PROCESS=off MEND_FLOW_SPARES=0 MEND_STORE_LOCAL=$work/store MEND_STORE_LOCAL_EVERY=1 MEND_STORE_SYNC=yes
    rm -rf "$work/store" "$work"/mark*
    run $np -k 1@20 --mark "$work/mark"
    run $np -s 60 -s 60 -s 60; refused 'the stack begins at another address'
    run 2 --mark "$work/mark" -k 1@20; refused 'ranks'
    cp "$program" "$work/changed"
    objcopy --dump-section .rodata="$work/rodata" "$work/changed" 2>/dev/null && sed -i 's/node %ld of rank/NODE %ld of rank/' "$work/rodata" &&
        objcopy --update-section .rodata="$work/rodata" "$work/changed" 2>/dev/null && {
        old=$program program=$work/changed
        run $np -k 1@20 --mark "$work/mark"; refused 'this is another program'
        program=$old
    }
    run $np -k 1@20 --mark "$work/mark"
    [ "$(checksum)" = "$expected" ] || wrong "the right one, after those"
    # the same job from another shell: a hundred variables more, and a long one
    rm -rf "$work/store" "$work"/mark* "$work/events"
    run $np -k 1@20 --mark "$work/mark"
    for ((i = 0; i < 100; i++)); do export "MORE_$i=x"; done
    MORE=$(printf '%40000s' x) run $np -k 1@20 --mark "$work/mark"
    [ "$(checksum)" = "$expected" ] && grep -qs flow.restore "$work/events" || wrong "another environment"
fi
echo "everything: $jobs jobs, $kills kills, $bad wrong, $hung hung"
[ $bad = 0 ] && [ $hung = 0 ] && echo PASS >"$MEND_TEST_MARKER"
