# For online.sh and online_full.sh, which set program=(…): a scratch folder, and what both measure with. 4 ranks.
set -uo pipefail
mend=$MEND_BUILD/bin/mend times=${MEND_BENCH_TIMES:-5}
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT; cd "$scratch" || exit 1
row() { # name value unit baseline ratio target ok
    set -- "$1" "${2:-null}" "${@:3}" # a phase that did not happen
    printf '%-34s %10s %-3s baseline %10s ratio %8s (target %s) %s\n' "$1" "$2" "$3" "$4" "$5" "${6:-none}" "$7"
    printf '{"name":"%s","value":%s,"unit":"%s","baseline":%s,"ratio":%s,"target":"%s","ok":%s}\n' "$@" >>"${MEND_BENCH_OUT:-/dev/null}"
}
say() { echo "   $((EPOCHSECONDS - ${MEND_BENCH_BEGAN:-$EPOCHSECONDS})) s: $*"; } # where a long part is
median() { sort -g | awk '{v[NR]=$1} END{print NR ? v[int((NR+1)/2)] : "null"}'; }
le() { awk -v a="$1" -v b="$2" 'BEGIN{print (a != "null" && a <= b) ? "true" : "false"}'; }
t() { sed -E 's/.*"t":([0-9.]+).*/\1/'; }
wait_for() { # PATTERN FILE N: until it is there so many times; 1: the job ended before
    local n
    while kill -0 "$runner" 2>/dev/null; do n=$(grep -c "$1" "$2" 2>/dev/null); [ "${n:-0}" -ge "$3" ] && return 0; sleep 0.02; done
    return 1
}
now() { date +%s.%N; }
