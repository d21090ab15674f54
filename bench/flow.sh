#!/usr/bin/env bash
# The flow layer on heat: what it costs without failures, and what a failure costs. Every time comes from events or from the
# program itself. Of recoveries the best of several runs counts, of overhead the median.
set -uo pipefail
apps=$MEND_BUILD/apps rounds=${FLOW_BENCH_ROUNDS:-3} np=2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
row() { # name value unit baseline ratio target ok
    echo "{\"name\":\"$1\",\"value\":$2,\"unit\":\"$3\",\"baseline\":$4,\"ratio\":$5,\"target\":$6,\"ok\":$7}" >>"$MEND_BENCH_OUT"
    echo "$1: $2 $3, baseline $4, ratio $5, target $6: $7"
}
run() { # extra ranks, program, args
    local extra=$1
    shift
    rm -f "$work/events"
    # shellcheck disable=SC2086
    MEND_FLOW_EVENTS=$work/events timeout 600 $MEND_MPIRUN -n $((np + extra)) "$@" >"$work/out" 2>"$work/err" </dev/null || cat "$work/err"
}
field() { sed -n "s/.*times.* $1 \([0-9.]*\).*/\1/p" "$work/out"; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { print (a < b) ? a : b }'; }
divide() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", (b > 0) ? a / b : 0 }'; }
judge() { awk -v a="$1" -v op="$2" -v b="$3" 'BEGIN { print (op == "<=" ? a <= b : a >= b) ? "true" : "false" }'; }

# 0. A safe point that is not due.
# shellcheck disable=SC2086
$MEND_MPIRUN -n 1 "$MEND_BUILD/bench/flow_point" </dev/null

# 1. No failure; saves at the planner's interval for a mean time between failures of 10 minutes, memory and local files, against
#    the plain program. The two take turns; each run is long enough for several saves. Medians of the time of the loop.
export MEND_FLOW_SPARES=0 MEND_STORE_LOCAL=$work/auto MEND_STORE_LOCAL_EVERY=1 MEND_FLOW_EVERY=auto MEND_FLOW_MTBF=600s
args=(-m 16 -s "${FLOW_BENCH_STEPS:-12000}" --times)
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
: >"$work/plain"
: >"$work/resilient"
for ((i = 0; i < rounds; i++)); do
    run 0 "$apps/heat" "${args[@]}"
    field loop >>"$work/plain"
    rm -rf "$work/auto"
    run 0 "$apps/heat_flow" "${args[@]}"
    field loop >>"$work/resilient"
done
saves=$(grep '"flow.save"' "$work/events" | grep -c '"rank":0[,}]')
unset MEND_STORE_LOCAL MEND_STORE_LOCAL_EVERY MEND_FLOW_EVERY MEND_FLOW_MTBF
plain=$(median <"$work/plain") resilient=$(median <"$work/resilient")
overhead=$(divide "$resilient" "$plain")
row "flow: heat with $saves saves at the planner's interval, MTBF 10 min" "$resilient" s "$plain" "$overhead" 1.02 "$(judge "$overhead" '<=' 1.02)"

# 2. A failure at 95 % of an interval, heat to convergence: full against partial rollback. Cost = iterations that had to be
#    computed more than without a failure, times the seconds of one, plus repair and restore (events).
export MEND_FLOW_EVERY=1000 MEND_FLOW_SPARES=1
args=(-m 0.1 -s 1000000 -u 5e-4 --times)
run 1 "$apps/heat_flow" "${args[@]}"
base=$(field computed)
cost() { # rollback
    local best=1e9 i c
    for ((i = 0; i < rounds; i++)); do
        rm -f "$work"/mark*
        MEND_FLOW_ROLLBACK=$1 run 1 "$apps/heat_flow" "${args[@]}" -k 1@2950 --mark "$work/mark"
        extra=$(($(field computed) - base))
        c=$(awk -v extra="$extra" -v loop="$(field loop)" -v n="$(field computed)" -v m="$(events_of flow.meet)" \
            -v r="$(events_of flow.restore)" 'BEGIN { printf "%.6f", extra * loop / n + m + r }')
        best=$(less "$best" "$c")
    done
    echo "$best $extra"
}
events_of() { # seconds of that event on rank 0 after the failure
    awk -v name="\"$1\"" '/flow.failure/ { seen = 1 } seen && index($0, name) && /"rank":0/ {
        match($0, /"seconds":[0-9.e+-]*/); s += substr($0, RSTART + 10, RLENGTH - 10) } END { print s + 0 }' "$work/events"
}
read -r full full_extra < <(cost full)
read -r partial partial_extra < <(cost partial)
ratio=$(divide "$full" "$partial")
row "flow: recovery with partial rollback (iterations lost $full_extra full, $partial_extra partial)" "$partial" s "$full" "$ratio" 1.5 "$(judge "$ratio" '>=' 1.5)"

# 3. From the kill until all work again: in the running job, and by starting the job again.
export MEND_FLOW_EVERY=100 MEND_STORE_LOCAL=$work/store MEND_STORE_LOCAL_EVERY=1
args=(-m 4 -s 300)
resumed() { # seconds from the kill to the last restore
    awk -v killed="$(stat -c %.Y "$work"/mark.*)" '/flow.restore/ { match($0, /"t":[0-9.]*/); t = substr($0, RSTART + 4, RLENGTH - 4)
        if (t - killed > worst) worst = t - killed } END { printf "%.4f", worst }' "$work/events"
}
online=1e9 relaunch=1e9
for ((i = 0; i < rounds; i++)); do
    rm -rf "$work"/mark* "$work/store"
    MEND_FLOW_SPARES=1 run 1 "$apps/heat_flow" "${args[@]}" -k 1@195 --mark "$work/mark"
    online=$(less "$online" "$(resumed)")
    rm -rf "$work"/mark* "$work/store"
    MEND_FLOW_SPARES=0 MEND_FLOW_PROCESS=off run 0 "$apps/heat_flow" "${args[@]}" -k 1@195 --mark "$work/mark" >/dev/null
    MEND_FLOW_SPARES=0 MEND_FLOW_PROCESS=off run 0 "$apps/heat_flow" "${args[@]}" -k 1@195 --mark "$work/mark"
    relaunch=$(less "$relaunch" "$(resumed)")
done
ratio=$(divide "$relaunch" "$online")
row "flow: kill to resumed without relaunch" "$online" s "$relaunch" "$ratio" null true
