#!/usr/bin/env bash
# flow_campaign.sh APPS FIRST LAST [TIMES]: one job per seed, or so many; ranks of heat or md die at random; the result must be bitwise that of
# the plain program on as many ranks. A seed decides: program, ranks, spares, interval, level, learn mode, and how ranks die: at
# iterations (several at once, the last one, the first), at any moment by SIGKILL from outside, or inside a recovery
# (fault points). Prints a line a job; the last line has the counts.
set -uo pipefail
apps=$1 first=$2 last=$3 times=${4:-1}
. "$(dirname "$0")/flow_job.sh"
work=$MEND_TEST_DIR/campaign
mkdir -p "$work"
declare -A expected
heat=(-m 0.25 -s 150) md=(-c 6 -s 60)
kills=0 jobs=0 bad=0 hung=0

run() { # tag ranks program args
    # shellcheck disable=SC2086
    run_watched "$1" "$2" "$work/events" "$work/out" "$work/err" $MEND_MPIRUN -n "${@:2}"
}
checksum() { grep -o 'checksum [0-9a-f]*' "$1" | tail -1; }
baseline() { # program ranks
    local key=$1.$2 args
    [ "$1" = heat ] && args=("${heat[@]}") || args=("${md[@]}")
    if [ -z "${expected[$key]:-}" ]; then
        run "$$.plain" "$2" "$apps/$1" "${args[@]}"
        expected[$key]=$(checksum "$work/out")
        [ -n "${expected[$key]}" ] || { echo "the plain $1 gave no checksum on $2 ranks"; cat "$work/err"; exit 1; }
    fi
}
kill_from_outside() { # count: any ranks of the job at any moment
    local i pids
    # not inside MPI_Init: there MPI itself does not survive
    until grep -qs flow.meet "$work/events"; do [ ! -e "$work/over" ] || return; sleep 0.05; done
    for ((i = 0; i < $1; i++)); do
        sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
        mapfile -t pids < <(job_ranks "$tag")
        [ ${#pids[@]} -gt 0 ] || return
        kill -KILL "${pids[$((RANDOM % ${#pids[@]}))]}" 2>/dev/null && echo x >>"$work/killed"
    done
}

for ((turn = first * times; turn < (last + 1) * times; turn++)); do
    seed=$((turn / times)) tag=$$.$turn RANDOM=$((turn / times))
    program=heat args=("${heat[@]}") steps=150
    [ $((RANDOM % 2)) = 0 ] || { program=md args=("${md[@]}") steps=60; }
    sizes=(2 3 4 6)
    np=${sizes[$((RANDOM % 4))]} deaths=$((1 + RANDOM % 3)) every=$((3 + RANDOM % 25)) how=$((RANDOM % 4))
    spares=$deaths fault='' outside=0
    baseline $program $np
    rm -rf "$work/killed" "$work/events" "$work/over" "$work"/mark*
    case $how in
        0 | 1) for ((i = 0; i < deaths; i++)); do args+=(-k "$((RANDOM % np))@$((RANDOM % steps))"); done ;;
        2) outside=$deaths ;;
        3) # a death, and another one in its recovery; spares have numbers of their own, so they die but once
            places=(flow.recover.repaired flow.recover.bound flow.recover.chosen flow.restored flow.save.before flow.save.after flow.finalize)
            victim=$((RANDOM % np)) second=$((RANDOM % (np + 1)))
            [ $second != $victim ] || second=$np
            args+=(-k "$victim@$((every + 1))")
            fault="${places[$((RANDOM % ${#places[@]}))]}:rank=$second:hit=2:kill"
            spares=3 deaths=2 ;;
    esac
    export MEND_FLOW_EVERY=$every MEND_FLOW_SPARES=$spares MEND_FAULT=$fault MEND_FLOW_EVENTS=$work/events
    export MEND_STORE_LOCAL='' MEND_STORE_LOCAL_EVERY=0
    [ -n "$fault" ] || unset MEND_FAULT
    if [ $((RANDOM % 3)) = 0 ]; then export MEND_STORE_LOCAL=$MEND_TEST_LOCAL/store-$seed MEND_STORE_LOCAL_EVERY=2; fi
    learn=no
    [ $((RANDOM % 4)) != 0 ] || learn=yes
    export MEND_FLOW_LEARN=$learn
    [ $outside = 0 ] || kill_from_outside $outside &
    killer=$!
    run "$tag" $((np + spares)) "$apps/${program}_flow" "${args[@]}" --mark "$work/mark"
    code=$?
    touch "$work/over"
    wait $killer
    got=$(checksum "$work/out")
    marks=$(find "$work" -name 'mark*' | wc -l)
    [ -e "$work/killed" ] && marks=$(wc -l <"$work/killed")
    jobs=$((jobs + 1)) kills=$((kills + marks))
    verdict=ok
    if [ $code = 124 ]; then verdict=HUNG hung=$((hung + 1))
    elif [ $code = 125 ] || [ "$got" != "${expected[$program.$np]}" ]; then verdict=WRONG bad=$((bad + 1)); fi
    # both holders of a rank's data in memory may die at once: then the job must say so and stop, or start over
    echo "seed $seed $program np $np spares $spares every $every learn $learn how $how ${args[*]:4} ${fault:-} kills $marks: $verdict $got"
    [ $verdict = ok ] || { tail -20 "$work/err"; cat "$work/out"; [ -z "${FLOW_CAMPAIGN_STOP:-}" ] || break; }
    rm -rf "$MEND_TEST_LOCAL/store-$seed"
done
echo "campaign: $jobs jobs, $kills kills, $bad wrong, $hung hung"
[ $bad = 0 ] && [ $hung = 0 ] && echo PASS >"$MEND_TEST_MARKER"
