#!/usr/bin/env bash
# online_full.sh MIB: as online.sh, with images that are full (heat is zero wherever no heat has come to yet, and zero pages
# are in no image): MIB MiB a rank, all of which every step writes.
. "${0%/*}/online_common.sh"
mib=$1
ranks_that_fit 4 "$mib" 7 || exit 0
cp "$MEND_BUILD/bench/programs/steady" . || exit 1
# The program goes on until it is told, whatever the machine; then a native one of as many steps says what is right.
program=(./steady ./enough $((mib << 16)) 0 2) # looks every other step: a step may take seconds
same_as_native() {
    say "$mib MiB: runs again; the same natively"
    echo 1 >enough; wait "$runner"
    local steps; steps=$(sed -n 's/^steady: \([0-9]*\) steps.*/\1/p' got)
    mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 --mca mpi_yield_when_idle 1 -n "$ranks" ./steady "$steps" $((mib << 16)) 0 >want
    cmp -s got want || { echo "WRONG OUTPUT"; exit 1; }
}
in_place() {
    rm -rf job enough; "$mend" run -n "$ranks" --spares 1 --every 1s --levels memory,partner --dir job -q -- "${program[@]}" >got & runner=$!
    say "$mib MiB: waiting for two versions"
    wait_for_images partner $((2 * ranks)) "$mib" || return 1
    victim=$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')
    held_by_rank >>held
    grep '"level":"memory"' job/events.jsonl | grep -o '"bytes":[0-9]*' | cut -d: -f2 >>bytes
    grep '"level":"memory"' job/events.jsonl | grep -o '"seconds":[0-9.e-]*' | cut -d: -f2 >>pause
    say "$mib MiB: kills a rank"
    k=$(now); kill -9 "$victim"
    wait_for '"how":"resumed"' job/events.jsonl "$ranks" || return 1
    grep '"how":"resumed"' job/events.jsonl | tee -a r.full | t | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>in_place
    same_as_native
}
relaunched() { # the launcher dies, mend run notices and starts anew, all ranks run again from their images
    rm -rf job enough; "$mend" run -n "$ranks" --spares 0 --every 1s --levels memory,global:1 --dir job -q -- "${program[@]}" >got 2>/dev/null & runner=$!
    say "$mib MiB: waiting for a version on disk, to relaunch from"
    wait_for_images global "$ranks" "$mib" || return 1
    k=$(now); kill -9 "$(awk '{print $1}' /proc/$runner/task/$runner/children)"
    wait_for '"recover.loaded"' job/events.jsonl "$ranks" || return 1
    grep '"recover.loaded"' job/events.jsonl | t | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>relaunch
    same_as_native
}
for ((i = 0; i < (mib > 64 ? 1 : (times + 1) / 2); i++)); do in_place && relaunched || break; done
[ -s in_place ] && [ -s relaunch ] || exit 1
x=$(median <in_place) y=$(median <relaunch) ratio=$(awk -v a="$(median <in_place)" -v b="$(median <relaunch)" 'BEGIN{print a/b}')
row "online.kill_to_resumed_full.$mib$of" "$x" s "$y" "$ratio" "<= 0.2 of a relaunch" "$(le "$ratio" 0.2)"
for p in images load agree; do row "online.full.$p.$mib$of" "$(grep -o " \?$p=[0-9.]*" r.full | grep -o '[0-9.]*$' | median)" ms null null "" true; done
written=$((mib << 20)) # two arrays of half of it each, written all over
bytes=$(median <bytes) held=$(median <held)
x=$(ratio "$bytes" $written); row "online.image_bytes.$mib$of" "$bytes" B $written "$x" "<= 1.1 of what was written" "$(le "$x" 1.1)"
x=$(ratio "$held" "$bytes"); row "online.held.$mib$of" "$held" B "$bytes" "$x" "<= 2.2 images a rank" "$(le "$x" 2.2)"
row "online.held_most.$mib$of" "$(cut -d' ' -f2 held.both | median)" B "$bytes" "$(ratio "$(cut -d' ' -f2 held.both | median)" "$bytes")" "" true
row "online.version_pause.$mib$of" "$(median <pause)" s null null "" true
