# For online.sh, online_full.sh and online_sparse.sh, which set program=(…): a scratch folder, and what they measure with.
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
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { print (b > 0 ? a / b : "null") }'; }
le() { awk -v a="$1" -v b="$2" 'BEGIN{print (a != "null" && a <= b) ? "true" : "false"}'; }
t() { sed -E 's/.*"t":([0-9.]+).*/\1/'; }
wait_for() { # PATTERN FILE N: until it is there so many times; 1: the job ended before
    local n
    while kill -0 "$runner" 2>/dev/null; do n=$(grep -c "$1" "$2" 2>/dev/null); [ "${n:-0}" -ge "$3" ] && return 0; sleep 0.02; done
    return 1
}
# Until so many whole images are complete on that level. While a program makes its data an image has only a part of it, and a
# version that a busy disk makes a rank skip has none.
wait_for_images() { # LEVEL N MIB
    local n
    while kill -0 "$runner" 2>/dev/null; do
        n=$(grep "\"checkpoint.commit\".*\"level\":\"$1\"" job/events.jsonl 2>/dev/null | field bytes | awk -v least=$(($3 * 943718)) '$1 >= least { n++ } END { print n + 0 }')
        [ "$n" -ge "$2" ] && return 0; sleep 0.02
    done
    return 1
}
now() { date +%s.%N; }
field() { grep -o "\"$1\":[0-9.e-]*" | cut -d: -f2; }
players() { grep '"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
# One rank's share of the images that all hold: a file that a rank has open to read a neighbour's pages counts once. While a version
# is made it has twice as many. Of some looks, the least is what it holds between two versions.
held_now() {
    for pid in $(players); do for f in /proc/"$pid"/fd/*; do case $(readlink "$f") in /memfd:mend-image*) stat -L -c '%i %b' "$f" ;; esac; done; done 2>/dev/null |
        sort -u | awk -v ranks="$ranks" '{ s += 512 * $2 } END { print s / ranks }'
}
held_by_rank() { for _ in $(seq 20); do held_now; sleep 0.1; done | sort -g | sed -n '1p;$p' | xargs | tee -a held.both | cut -d' ' -f1; }
# As many ranks, at most so many, as there is memory for. A rank with so many MiB takes so many times that: its data and the
# library's copies of it, and while a version is made, two images of its own and two of the rank whose partner it is. The spare
# has set memory aside for two. Two ranks are the least.
ranks_that_fit() { # MOST MIB TIMES: sets ranks, and of: what the names of rows say about that; 1: too little memory
    local free; free=$(awk '/^MemAvailable/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)
    need() { echo $((($3 * $1 + 2) * $2 + 200 * ($1 + 1))); }
    of=
    for ((ranks = $1; ranks > 1; ranks--)); do [ "$(need "$ranks" "$2" "$3")" -le "$free" ] && break; done
    [ "$ranks" -eq "$1" ] && return 0
    echo "$2 MiB a rank: $1 ranks take $(need "$@") MiB of memory, $free are free: $([ "$ranks" -gt 1 ] && echo "measured with $ranks" || echo "not measured")"
    of=.of_$ranks; [ "$ranks" -gt 1 ]
}
