#!/usr/bin/env bash
# Online recovery of an unmodified program (heat, 4 ranks + 1 spare): from the kill until all ranks run again,
# by phase; against killing the whole job and relaunching it; what a run with one failure costs.
set -uo pipefail
mend=$MEND_BUILD/bin/mend mib=${MEND_BENCH_MIB:-64} steps=${MEND_BENCH_STEPS:-400} times=${MEND_BENCH_TIMES:-5}
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT; cd "$scratch" || exit 1
mpicc.openmpi -O2 -o heat "$MEND_SOURCE/apps/heat/heat.c" -lm || exit 1
program=(./heat -m "$mib" -s "$steps" -r 50)
row() { # name value unit baseline ratio target ok
    printf '%-34s %10s %-3s baseline %10s ratio %8s target %s\n' "$1" "$2" "$3" "$4" "$5" "$6"
    printf '{"name":"%s","value":%s,"unit":"%s","baseline":%s,"ratio":%s,"target":"%s","ok":%s}\n' "$@" >>"${MEND_BENCH_OUT:-/dev/null}"
}
median() { sort -g | awk '{v[NR]=$1} END{print NR ? v[int((NR+1)/2)] : "null"}'; }
le() { awk -v a="$1" -v b="$2" 'BEGIN{print (a != "null" && a <= b) ? "true" : "false"}'; }
t() { sed -E 's/.*"t":([0-9.]+).*/\1/'; }
wait_for() { # PATTERN FILE N: until it is there so many times; 1: the job ended before
    local n
    while kill -0 "$runner" 2>/dev/null; do n=$(grep -c "$1" "$2" 2>/dev/null); [ "${n:-0}" -ge "$3" ] && return 0; sleep 0.02; done
    return 1
}

# what a rank holds for all versions: its own images and those of the rank whose partner it is
players() { grep '"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
# one rank's share of all images: a file that a rank has open to read a neighbour's pages counts once
held_by_rank() {
    for pid in $(players); do for f in /proc/"$pid"/fd/*; do case $(readlink "$f") in /memfd:mend-image*) stat -L -c '%i %b' "$f" ;; esac; done; done |
        sort -u | awk -v ranks=4 '{ s += 512 * $2 } END { print s / ranks }'
}
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "${program[@]}" >want; }
now() { date +%s.%N; }
by_relaunch() { # the launcher dies, mend run notices and starts anew, all ranks run again from their images
    rm -rf job; "$mend" run -n 4 --spares 0 --every 1s --levels memory,global:1 --dir job -q -- "${program[@]}" >got 2>/dev/null & runner=$!
    wait_for '"level":"global"' job/events.jsonl 4 || return 1
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

# The same with images that are full: heat is zero wherever no heat has come to yet, and zero pages are in no image.
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
# As many steps as take 10 s here: four versions fit in, however fast the machine is.
a=$(now); program=(./steady 20 $((mib << 16)) 0); native; b=$(now)
program=(./steady "$(awk -v a="$a" -v b="$b" 'BEGIN { n = int(200 / (b - a)); print n < 80 ? 80 : n }')" $((mib << 16)) 0)
native; rm -f in_place relaunch
for ((i = 0; i < (times + 1) / 2; i++)); do
    rm -rf job; "$mend" run -n 4 --spares 1 --every 1s --levels memory,partner --dir job -q -- "${program[@]}" >got & runner=$!
    wait_for '"checkpoint.commit"' job/events.jsonl 16 || break
    victim=$(grep '"rank":2,"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')
    held_by_rank >>held
    k=$(now); kill -9 "$victim"; wait $runner
    cmp -s got want || { echo "WRONG OUTPUT"; exit 1; }
    grep '"level":"memory"' job/events.jsonl | grep -o '"bytes":[0-9]*' | cut -d: -f2 >>bytes
    grep '"level":"memory"' job/events.jsonl | grep -o '"seconds":[0-9.e-]*' | cut -d: -f2 >>pause
    grep '"how":"resumed"' job/events.jsonl | tee -a r.full | t | sort -g | tail -1 | awk -v k="$k" '{print $1-k}' >>in_place
    by_relaunch || break
done
[ -s in_place ] && [ -s relaunch ] || exit 1
x=$(median <in_place) y=$(median <relaunch) ratio=$(awk -v a="$(median <in_place)" -v b="$(median <relaunch)" 'BEGIN{print a/b}')
row online.kill_to_resumed_full "$x" s "$y" "$ratio" "<= 0.2 of a relaunch" "$(le "$ratio" 0.2)"
for p in images load agree; do row online.full.$p "$(grep -o " \?$p=[0-9.]*" r.full | grep -o '[0-9.]*$' | median)" ms null null "" true; done
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { print (b > 0 ? a / b : "null") }'; }
written=$((mib << 20)) # two arrays of half of it each, written all over
bytes=$(median <bytes) held=$(median <held)
x=$(ratio "$bytes" $written); row online.image_bytes "$bytes" B $written "$x" "<= 1.1 of what was written" "$(le "$x" 1.1)"
x=$(ratio "$held" "$bytes"); row online.held "$held" B "$bytes" "$x" "<= 2.2 images a rank" "$(le "$x" 2.2)"
row online.version_pause "$(median <pause)" s null null "" true
