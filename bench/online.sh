#!/usr/bin/env bash
# Online recovery of an unmodified program (heat, 4 ranks + 1 spare): from the kill until all ranks run again,
# by phase; against killing the whole job and relaunching it; what a run with one failure costs.
. "${0%/*}/online_common.sh"
mib=${MEND_BENCH_MIB:-64} steps=${MEND_BENCH_STEPS:-400}
cp "$MEND_BUILD/bench/programs/heat" . || exit 1
program=(./heat -m "$mib" -s "$steps" -r 50)
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "${program[@]}" >want; }
by_relaunch() { # the launcher dies, mend run notices and starts anew, all ranks run again from their images
    rm -rf job; "$mend" run -n 4 --spares 0 --every 1s --levels memory,global:1 --dir job -q -- "${program[@]}" >got 2>/dev/null & runner=$!
    wait_for '"checkpoint.commit".*"level":"global"' job/events.jsonl 4 || return 1
    k=$(now); kill -9 "$(awk '{print $1}' /proc/$runner/task/$runner/children)"; wait $runner
    cmp -s got want || { echo "WRONG OUTPUT"; exit 1; }
    grep '"recover.loaded"' job/events.jsonl | t | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>relaunch
}
a=$(now); native; b=$(now); plain=$(awk -v a="$a" -v b="$b" 'BEGIN{print b-a}')
for ((i = 0; i < times; i++)); do
    # in place
    rm -rf job; "$mend" run -n 4 --spares 1 --every 1s --levels memory,partner --dir job -q -- "${program[@]}" >got & runner=$!
    wait_for '"checkpoint.commit"' job/events.jsonl 4 || break
    victim=$(grep '"rank":2,"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')
    k=$(now); kill -9 "$victim"; wait $runner
    cmp -s got want || { echo "WRONG OUTPUT"; exit 1; }
    cp job/events.jsonl failed.events
    grep '"how":"resumed"' job/events.jsonl >r || { echo "the kill came too late: raise MEND_BENCH_STEPS"; continue; }
    t <r | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>in_place
    first=$(grep '"recover.noticed"' job/events.jsonl | t | sort -g | head -1); awk -v k="$k" -v f="$first" 'BEGIN{print f-k}' >>notice
    for p in revoke threads requests shrink plan flush world images load agree rebind barrier; do
        grep -o " \?$p=[0-9.]*" r | grep -o '[0-9.]*$' | sort -g | tail -1 >>phase.$p
    done
    # the same run undisturbed: what the failure has cost beyond the work that was done again
    rm -rf job; "$mend" run -n 4 --spares 1 --every 1s --levels memory,partner --dir job -q -- "${program[@]}" >got
    v=$(grep -o '"version":[0-9]*' r | head -1 | grep -o '[0-9]*')
    since=$(grep "\"checkpoint.commit\",\"version\":$v,\"level\":\"memory\"" failed.events | t | sort -g | head -1)
    span() { awk -v a="$(grep '"run.launch"' "$1" | t)" -v b="$(grep '"run.end"' "$1" | t)" 'BEGIN{print b-a}'; }
    awk -v f="$(span failed.events)" -v c="$(span job/events.jsonl)" 'BEGIN{print f-c}' >>cost
    awk -v k="$k" -v s="$since" 'BEGIN{print k-s+1}' >>allowed
    by_relaunch || break
done
[ -s in_place ] && [ -s relaunch ] || exit 1
x=$(median <in_place) y=$(median <relaunch) ratio=$(awk -v a="$(median <in_place)" -v b="$(median <relaunch)" 'BEGIN{print a/b}')
row online.kill_to_resumed "$x" s "$y" "$ratio" "<= 0.2 of a relaunch" "$(le "$ratio" 0.2)"
row online.notice "$(median <notice)" s null null "" true
for p in revoke threads requests shrink plan flush world images load agree rebind barrier; do
    row online.phase.$p "$(median <phase.$p)" ms null null "" true
done
x=$(median <cost) y=$(median <allowed)
row online.one_failure "$x" s "$y" "$(awk -v a="$x" -v b="$y" 'BEGIN{print a/b}')" "<= rollback + 1 s" "$(le "$x" "$y")"
a=$(now); "$mend" run -n 4 --spares 1 --every 10s --levels memory,partner --dir job2 -q -- "${program[@]}" >got; b=$(now)
calm=$(awk -v a="$a" -v b="$b" 'BEGIN{print b-a}')
row online.undisturbed "$calm" s "$plain" "$(awk -v a="$calm" -v b="$plain" 'BEGIN{print a/b}')" "" true
