#!/usr/bin/env bash
# The flow layer on heat: what it costs without failures, and what a failure costs. Every time comes from events or from the
# program itself; machines are shared, so each figure is the best of several runs in turn.
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

# 1. No failure; saves at the planner's interval for a mean time between failures M of 10 minutes. The machine may be shared, so
#    CPU seconds of all threads are taken, the background's included: c = what one save costs (a run with many of them against
#    one with none), then the share c / sqrt(2 c M) that saving takes at the interval of a planner that knows c.
export MEND_FLOW_SPARES=0 MEND_STORE_LOCAL=$work/auto MEND_STORE_LOCAL_EVERY=1
args=(-m 16 -s 200 --times)
none=1e9 many=1e9 np=1
for ((i = 0; i < rounds; i++)); do
    MEND_FLOW_EVERY=never run 0 "$apps/heat_flow" "${args[@]}"
    none=$(less "$none" "$(field cpu)")
    MEND_FLOW_EVERY=10 run 0 "$apps/heat_flow" "${args[@]}"
    many=$(less "$many" "$(field cpu)")
done
saves=$(grep -c '"flow.save"' "$work/events")
np=2
unset MEND_STORE_LOCAL MEND_STORE_LOCAL_EVERY
read -r cost overhead < <(awk -v a="$none" -v b="$many" -v n="$saves" 'BEGIN { c = (b - a) / n; if (c < 1e-6) c = 1e-6; printf "%.6f %.6f\n", c, 1 + c / sqrt(2 * c * 600) }')
row "flow: heat with saves at the planner's interval, MTBF 10 min (a save of 8 MiB costs $cost CPU s)" "$many" "CPU s" "$none" "$overhead" 1.02 "$(judge "$overhead" '<=' 1.02)"

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
