#!/usr/bin/env bash
# online_sparse.sh MIB…: much memory of which little changes between two versions (1 % of the pages, always the same for a
# while), by size (MiB a rank): what a version costs, holds and sends, and how long a recovery takes against a relaunch.
# MEND_BENCH_RANKS, MEND_BENCH_REPEAT (runs of each kind).
. "${0%/*}/online_common.sh"
repeat=${MEND_BENCH_REPEAT:-1} cores=$(nproc)
most=${MEND_BENCH_RANKS:-$((cores > 4 ? 4 : 2))} # one for each core, and one for the spare where there is one
cp "$MEND_BUILD/bench/programs/sparse" . || exit 1
whole() { grep "\"level\":\"$1\"" job/events.jsonl | awk -F '"bytes":' -v least=$((size * 943718)) '$2 + 0 >= least' | tail -n +$((ranks + 1)); }
in_place() {
    rm -rf job enough; "$mend" run -n "$ranks" --spares 1 --every 0.5s --levels memory,partner --dir job -q -- "${program[@]}" >got & runner=$!
    say "$size MiB: waiting for five versions"
    wait_for_images partner $((5 * ranks)) "$size" || return 1
    victim=$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')
    held_by_rank >>held
    # the first version that has all data has not only what changed: the others count
    whole memory >memory
    for f in seconds image copy; do field $f <memory >>of.$f; done
    whole partner | tee partner | field changed >>of.changed
    sed -E 's/.*"sent":([0-9]+),"changed":([0-9]+).*/\1 \2/' partner | awk '$2 { print $1 / $2 }' >>sent
    say "$size MiB: kills a rank"
    k=$(now); kill -9 "$victim"
    wait_for '"how":"resumed"' job/events.jsonl "$ranks" || return 1
    say "$size MiB: resumed; the same natively"
    echo 1 >enough; wait $runner
    mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 --mca mpi_yield_when_idle 1 -n "$ranks" ./sparse \
        "$(sed -n 's/^sparse: \([0-9]*\) steps.*/\1/p' got)" "$size" 1 0 "$same" >want
    cmp -s got want || { echo "WRONG OUTPUT"; exit 1; }
    grep '"how":"resumed"' job/events.jsonl | tee -a resumed | t | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>in_place
}
by_relaunch() { # the launcher dies, mend run notices and starts anew, all ranks run again from their images
    rm -rf job enough; "$mend" run -n "$ranks" --spares 0 --every 0.5s --levels memory,global:1 --dir job -q -- "${program[@]}" >got 2>/dev/null & runner=$!
    say "$size MiB: waiting for a version on disk, to relaunch from"
    wait_for_images global "$ranks" "$size" || return 1
    k=$(now); kill -9 "$(awk '{print $1}' /proc/$runner/task/$runner/children)"
    wait_for '"recover.loaded"' job/events.jsonl "$ranks" || return 1
    echo 1 >enough; wait $runner
    grep '"recover.loaded"' job/events.jsonl | t | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>relaunch
}
same=4000
for size in "${@:-64}"; do
    ranks_that_fit "$most" "$size" 5 || continue
    program=(./sparse ./enough "$size" 1 500 $same); rm -f in_place relaunch held held.both sent of.* resumed
    for ((i = 0; i < repeat; i++)); do in_place && by_relaunch || break; done
    [ -s in_place ] && [ -s relaunch ] || exit 1
    x=$(median <in_place) y=$(median <relaunch) limit=0.1
    row "online.sparse_resumed.$size$of" "$x" s "$y" "$(ratio "$x" "$y")" "<= $limit of a relaunch" "$(le "$(ratio "$x" "$y")" $limit)"
    for p in notice shrink world images files load agree rebind barrier; do row "online.sparse.$p.$size$of" "$(grep -o "[ \"]$p=[0-9.]*" resumed | grep -o '[0-9.]*$' | sort -g | tail -1)" ms null null "" true; done
    x=$(median <held) y=$((size << 20)); row "online.sparse_held.$size$of" "$x" B $y "$(ratio "$x" $y)" "<= 2.2 x written" "$(le "$(ratio "$x" $y)" 2.2)"
    x=$(cut -d' ' -f2 held.both | median); row "online.sparse_held_most.$size$of" "$x" B $y "$(ratio "$x" $y)" "" true
    x=$(median <sent); row "online.sparse_sent.$size$of" "$x" x null "$x" "<= 1.1 x changed" "$(le "$x" 1.1)"
    x=$(median <of.changed); row "online.sparse_changed.$size$of" "$x" B $y "$(ratio "$x" $y)" "" true
    for f in image copy; do row "online.sparse_$f.$size$of" "$(median <of.$f)" s null null "" true; done
    x=$(median <of.seconds); row "online.sparse_pause.$size$of" "$x" s null null "<= 0.01 s" "$(le "$x" 0.01)"
done
