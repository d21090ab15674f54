#!/usr/bin/env bash
# process.sh calls|repair: the process layer: what it costs without failures and what spares cost; how long a repair takes.
set -uo pipefail
program=$MEND_BUILD/bench/bench_process_parts
out=${MEND_BENCH_OUT:-/dev/stdout}
note=$(mktemp); export BENCH_NOTE=$note; trap 'rm -f "$note"' EXIT
reps=${MEND_BENCH_REPS:-11}
median() { sort -g | awk '{v[NR]=$1} END {print (NR ? v[int((NR + 1) / 2)] : "nan")}'; }
# row NAME VALUE UNIT BASELINE TARGET: the ratio value/baseline must not be above the target
row() {
    awk -v n="$1" -v v="$2" -v u="$3" -v b="$4" -v t="$5" 'BEGIN {
        r = v / b; ok = (r <= t) ? "true" : "false"
        printf "{\"name\":\"%s\",\"value\":%g,\"unit\":\"%s\",\"baseline\":%g,\"ratio\":%.4g,\"target\":%g,\"ok\":%s}\n", n, v, u, b, r, t, ok }' >>"$out"
    printf '%-34s %10.3f %-4s against %10.3f  ratio %6.3f (target %s) %s\n' "$1" "$2" "$3" "$4" "$(awk "BEGIN{print $2/$4}")" "$5" \
        "$(awk "BEGIN { print $2/$4 <= $5 ? \"ok\" : \"MISSED\" }")"
}
# shellcheck disable=SC2086
runs() { # NP MODE ARGS: "detection repair" lines
    for ((i = 0; i < reps; i++)); do timeout 120 $MEND_MPIRUN -n "$1" "$program" "${@:2}" 2>/dev/null; done
}

if [ "$1" = calls ]; then
    # shellcheck disable=SC2086
    while read -r name ours plain; do
        [ -n "$name" ] && row "process.$name" "$ours" us "$plain" 1.01
    done < <(timeout 300 $MEND_MPIRUN -n 2 "$program" calls)
    # shellcheck disable=SC2086
    cpu=$(timeout 60 $MEND_MPIRUN -n 2 "$program" spare 1)
    row process.spare_cpu_percent "${cpu:-100}" % 1 1
    exit 0
fi

declare -A repaired
for ranks in 4 8 16 30; do
    [ "$ranks" -gt 8 ] && reps=$((reps / 2 + 1))
    ours=$(runs $((ranks + 2)) repair 2)
    plain=$(runs $((ranks + 2)) bare)
    repaired[$ranks]=$(awk '{print $2}' <<<"$ours" | median)
    shrink=$(awk '{print $2}' <<<"$plain" | median)
    detect=$(awk '{print $1}' <<<"$ours" | median)
    row "process.repair_${ranks}+2" "${repaired[$ranks]}" ms "$shrink" 3
    row "process.detection_${ranks}+2" "$detect" ms "$(awk '{print $1}' <<<"$plain" | median)" 3
    reps=${MEND_BENCH_REPS:-11}
done
row process.repair_median_8+2 "${repaired[8]}" ms 5 1
row process.repair_growth_4_to_32 "${repaired[30]}" ms "${repaired[4]}" 16
