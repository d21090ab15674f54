#!/usr/bin/env bash
# online_sparse.sh MIB…: much memory of which little changes between two versions (1 % of the pages, always the same for a
# while), by size (MiB a rank): what a version costs, holds and sends, and how long a recovery takes against a relaunch.
# MEND_BENCH_RANKS, MEND_BENCH_REPEAT (runs of each kind).
set -uo pipefail
mend=$MEND_BUILD/bin/mend repeat=${MEND_BENCH_REPEAT:-1} cores=$(nproc)
ranks=${MEND_BENCH_RANKS:-$((cores > 4 ? 4 : 2))} # one for each core, and one for the spare where there is one
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT; cd "$scratch" || exit 1
cp "$MEND_BUILD/bench/programs/sparse" . || exit 1
row() { # name value unit baseline ratio target ok
    set -- "$1" "${2:-null}" "${@:3}" # a phase that did not happen
    printf '%-34s %10s %-3s baseline %10s ratio %8s (target %s) %s\n' "$1" "$2" "$3" "$4" "$5" "${6:-none}" "$7"
    printf '{"name":"%s","value":%s,"unit":"%s","baseline":%s,"ratio":%s,"target":"%s","ok":%s}\n' "$@" >>"${MEND_BENCH_OUT:-/dev/null}"
}
say() { echo "   $((EPOCHSECONDS - ${MEND_BENCH_BEGAN:-$EPOCHSECONDS})) s: $*"; } # where a long part is
median() { sort -g | awk '{v[NR]=$1} END{print NR ? v[int((NR+1)/2)] : "null"}'; }
le() { awk -v a="$1" -v b="$2" 'BEGIN{print (a != "null" && a <= b) ? "true" : "false"}'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { print (b > 0 ? a / b : "null") }'; }
t() { sed -E 's/.*"t":([0-9.]+).*/\1/'; }
now() { date +%s.%N; }
wait_for() { # pattern, so many times, by the runner
    local n
    while kill -0 "$runner" 2>/dev/null; do n=$(grep -c "$1" job/events.jsonl 2>/dev/null); [ "${n:-0}" -ge "$2" ] && return 0; sleep 0.02; done; return 1
}
# what a rank holds for all versions: its own images and those of the rank whose partner it is
players() { grep '"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
# one rank's share of all images: a file that a rank has open to read a neighbour's pages counts once
held_by_rank() {
    for pid in $(players); do for f in /proc/"$pid"/fd/*; do case $(readlink "$f") in /memfd:mend-image*) stat -L -c '%i %b' "$f" ;; esac; done; done |
        sort -u | awk -v ranks="$ranks" '{ s += 512 * $2 } END { print s / ranks }'
}
field() { grep -o "\"$1\":[0-9.e-]*" | cut -d: -f2; }
in_place() {
    rm -rf job enough; "$mend" run -n "$ranks" --spares 1 --every 0.5s --levels memory,partner --dir job -q -- "${program[@]}" >got & runner=$!
    say "$size MiB: waiting for five versions"
    wait_for '"level":"partner"' $((5 * ranks)) || return 1
    victim=$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')
    held_by_rank >>held
    # the first version is whole: the others count
    grep '"level":"memory"' job/events.jsonl | tail -n +$((ranks + 1)) >memory
    for f in seconds image copy; do field $f <memory >>of.$f; done
    grep '"level":"partner"' job/events.jsonl | tail -n +$((ranks + 1)) | tee partner | field changed >>of.changed
    sed -E 's/.*"sent":([0-9]+),"changed":([0-9]+).*/\1 \2/' partner | awk '$2 { print $1 / $2 }' >>sent
    say "$size MiB: kills a rank"
    k=$(now); kill -9 "$victim"
    wait_for '"how":"resumed"' "$ranks" || return 1
    say "$size MiB: resumed; the same natively"
    echo 1 >enough; wait $runner
    mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n "$ranks" ./sparse \
        "$(sed -n 's/^sparse: \([0-9]*\) steps.*/\1/p' got)" "$size" 1 0 "$same" >want
    cmp -s got want || { echo "WRONG OUTPUT"; exit 1; }
    grep '"how":"resumed"' job/events.jsonl | tee -a resumed | t | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>in_place
}
by_relaunch() { # the launcher dies, mend run notices and starts anew, all ranks run again from their images
    rm -rf job enough; "$mend" run -n "$ranks" --spares 0 --every 0.5s --levels memory,global:1 --dir job -q -- "${program[@]}" >got 2>/dev/null & runner=$!
    say "$size MiB: waiting for a version on disk, to relaunch from"
    wait_for '"level":"global"' "$ranks" || return 1
    k=$(now); kill -9 "$(awk '{print $1}' /proc/$runner/task/$runner/children)"
    wait_for '"recover.loaded"' "$ranks" || return 1
    echo 1 >enough; wait $runner
    grep '"recover.loaded"' job/events.jsonl | t | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>relaunch
}
same=4000
for size in "${@:-64}"; do
    program=(./sparse ./enough "$size" 1 500 $same); rm -f in_place relaunch held sent of.* resumed
    for ((i = 0; i < repeat; i++)); do in_place && by_relaunch || break; done
    [ -s in_place ] && [ -s relaunch ] || exit 1
    x=$(median <in_place) y=$(median <relaunch) limit=0.1
    row "online.sparse_resumed.$size" "$x" s "$y" "$(ratio "$x" "$y")" "<= $limit of a relaunch" "$(le "$(ratio "$x" "$y")" $limit)"
    for p in notice shrink world images files load agree rebind barrier; do row "online.sparse.$p.$size" "$(grep -o "[ \"]$p=[0-9.]*" resumed | grep -o '[0-9.]*$' | sort -g | tail -1)" ms null null "" true; done
    x=$(median <held) y=$((size << 20)); row "online.sparse_held.$size" "$x" B $y "$(ratio "$x" $y)" "<= 2.2 x written" "$(le "$(ratio "$x" $y)" 2.2)"
    x=$(median <sent); row "online.sparse_sent.$size" "$x" x null "$x" "<= 1.1 x changed" "$(le "$x" 1.1)"
    x=$(median <of.changed); row "online.sparse_changed.$size" "$x" B $y "$(ratio "$x" $y)" "" true
    for f in image copy; do row "online.sparse_$f.$size" "$(median <of.$f)" s null null "" true; done
    x=$(median <of.seconds); row "online.sparse_pause.$size" "$x" s null null "<= 0.01 s" "$(le "$x" 0.01)"
done
