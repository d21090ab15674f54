#!/usr/bin/env bash
# online.sh CASE: an unmodified program under `mend run`, hit by real kills; its output must equal that of
# a native run, byte for byte. Cases: rank, rows, library, pair, levels, skips, launcher, exhausted, spare, files, rewrite, back,
# refuse, outside, overwrite, floor, words, during, agreement, saving, lent, init, kills.
# Kills come when so many versions are complete, not by the clock, and the job ends when all have come: neither a loaded
# machine nor a fast one changes anything.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
case=$1
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
. "$here/told.sh"
. "$MEND_SOURCE/tests/harness/events"
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; cat err 2>/dev/null | tail -5; tail -20 job/events.jsonl 2>/dev/null | cut -c1-300; [ -n "${KEEP:-}" ] && cp -r . "$KEEP.$$"; kill "$runner" 2>/dev/null; wait; exit 1; }
. "$here/programs.sh"
programs steady sparse rows append rewrite outside overwrite odd
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "$@"; }

runner=
start() { # OPTIONS… -- PROGRAM…
    events_right job/events.jsonl
    rm -rf job; untold "$@"
    "$MEND" run -n 4 --dir job -q "$@" >got 2>err &
    runner=$!
}
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { # PATTERN N: until so many events are there; the job must not end before
    until [ "$(count "$1")" -ge "$2" ]; do
        kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"
        case $1 in *'"how":'*) [ "$(count run.launch)" -le 1 ] || fail "launched again instead of $2 x $1" ;; esac
        sleep 0.02
    done
}
more() { await '"level":"memory"' $(($(count '"level":"memory"') + 4 * $1)); } # N more versions, of 4 ranks
player() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
kill_ranks() { local p=(); for r in "$@"; do p+=("$(player "$r")"); done; kill -9 "${p[@]}" || fail "ranks $* could not be killed"; }
newest_log() { ls "job/undo/$1" | grep -v '[.]' | sort -n | tail -1; }
changes() { # RANK BYTES: until so much is noted of what it changed since the newest version
    until [ "$(stat -c %s "job/undo/$1/$(newest_log "$1")" 2>/dev/null || echo 0)" -ge "$2" ]; do
        kill -0 $runner 2>/dev/null || fail "the job ended before rank $1 changed anything"; sleep 0.02
    done
}
resumed() { count '"how":"resumed"'; }
finish() { tell; wait $runner || fail "mend run ended with $?"; reference; cmp got want || fail "the output differs from the native run"; }
steady=(./steady ./enough 4096)
sparse=(./sparse ./enough 8 3)

case $case in
rank) # one rank, then the one that replaced it
    export MEND_ONLINE_TRACK=check # pages that the kernel says are unchanged are compared all the same
    start --spares 2 --every 200ms -- "${steady[@]}"
    more 2; kill_ranks 1; await '"how":"resumed"' 4
    more 1; kill_ranks 1; await '"how":"resumed"' 8
    finish ;;
rows) # versions, and deaths, while small receives wait for the next call (upper/faces/fast.h)
    start --spares 2 --every 100ms -- ./rows ./enough
    more 3; kill_ranks 1; await '"how":"resumed"' 4
    more 2; kill_ranks 2; await '"how":"resumed"' 8
    more 1; finish ;;
library) # a library of the program is installed anew while it runs, with the same content; then ranks die
    cc -shared -fPIC -nostdlib -DLIBRARY -o libpages.so "$here/../capsule/apps/pages.c" &&
        mpicc.openmpi -O1 -o pages "$here/../capsule/apps/pages.c" -L. -lpages -Wl,-rpath,"$PWD" || exit 1
    head -c 262144 /dev/urandom >input
    start --spares 2 --every 200ms -- ./pages ./enough "$PWD/input" 1000
    more 2; cp libpages.so new.so && mv new.so libpages.so; kill_ranks 1; await '"how":"resumed"' 4
    more 1; kill_ranks 2; await '"how":"resumed"' 8
    finish ;;
kills) # 20 kills, 4 a job, one after another; each victim is another rank
    for job in 1 2 3 4 5; do
        start --spares 4 --every 200ms -- "${steady[@]}"
        for i in 1 2 3 4; do more 1; kill_ranks $(((job + i) % 4)); await '"how":"resumed"' $((4 * i)); done
        finish; echo "ok: job $job, 4 kills"
    done ;;
standard) # a program of the standard's ABI (libmpi_abi)
    start --spares 2 --every 200ms -- "$MEND_BUILD/tests/capsule/steady.standard" ./enough 4096
    program[0]=./steady # which has a library to run with natively
    more 2; kill_ranks 1; await '"how":"resumed"' 4
    more 1; kill_ranks 2; await '"how":"resumed"' 8
    finish ;;
pair) # a rank and its partner at once: their images are lost with them, the disk has to do
    start --spares 2 --every 200ms --levels memory,global:1 -- "${steady[@]}"
    await '"checkpoint.commit".*"level":"global"' 8; kill_ranks 1 2; await '"how":"res' 4
    finish ;;
skips) # disks that take as long as some versions: nevertheless all ranks write the same ones, else few would be complete
    export MEND_FAULT="io.fsync:rank=1:hit=1+:delay=300,io.fsync:rank=2:hit=1+:delay=500"
    start --spares 1 --every 100ms --levels memory,global:1 -- "${steady[@]}"
    await '"checkpoint.commit".*"level":"global"' 24; finish
    written() { grep "\"rank\":$1,\"event\":\"checkpoint.commit\".*\"level\":\"global\"" job/events.jsonl | grep -o '"version":[0-9]*' | head -5; }
    [ "$(count checkpoint.skipped)" -gt 0 ] || fail "no disk was too slow"
    for r in 1 2 3; do cmp <(written 0) <(written $r) || fail "rank $r wrote other versions than rank 0"; done ;;
launcher) # the launcher itself: launched again by mend run, from disk
    start --spares 1 --every 200ms --levels memory,global:1 -- "${steady[@]}"
    await '"checkpoint.commit".*"level":"global"' 8
    kill -9 "$(awk '{print $1}' /proc/$runner/task/$runner/children)" || fail "no launcher"
    finish
    [ "$(count run.launch)" = 2 ] || fail "not launched twice" ;;
levels) # no copy in a partner's memory: back from the node's folder, from parity, from DIR
    start --spares 1 --every 200ms --levels memory,local --local-dir "$PWD/node" -- "${steady[@]}"
    await '"level":"local"' 8; kill_ranks 1; await '"how":"resumed"' 4; finish
    [ "$(count recover.fetched)" -ge 4 ] || fail "not restored from the local level"
    [ -z "$(ls -A node)" ] || fail "files are left in the node's folder"
    echo "ok: local"
    start --spares 2 --every 200ms --levels memory,partner,erasure:3+1 --local-dir "$PWD/node" -- "${steady[@]}"
    await '"level":"erasure"' 8
    stop=$(pgrep -P "$(awk '{print $1}' /proc/$runner/task/$runner/children)"); kill -STOP $stop # no version in between
    rm node/*/images/*-r1-* || fail "no files of rank 1"; kill_ranks 1 2; kill -CONT $stop 2>/dev/null
    await '"how":"resumed"' 4; finish
    [ "$(count recover.fetched)" -ge 4 ] || fail "not restored from parity"
    echo "ok: erasure"
    start --spares 1 --every 200ms --levels memory,global:2 -- "${steady[@]}"
    await '"checkpoint.commit".*"level":"global"' 8; kill_ranks 3; await '"how":"resumed"' 4; finish
    [ "$(count recover.fetched)" -ge 4 ] || fail "not restored from the global level"
    echo "ok: global"
    start --spares 2 --every 200ms --levels memory,partner:3,global:50 -- "${steady[@]}"
    await '"level":"partner"' 8; kill_ranks 0; await '"how":"resumed"' 4
    v=$(grep '"how":"resumed"' job/events.jsonl | head -1 | grep -o '"version":[0-9]*' | grep -o '[0-9]*')
    [ $((v % 3)) = 0 ] && [ "$v" -gt 0 ] || fail "version $v is none that partners had"
    finish; echo "ok: every third version to the partner" ;;
exhausted) # more deaths than spares: what is in memory goes to disk, then a relaunch
    start --spares 1 --every 200ms -- "${steady[@]}"
    more 2; kill_ranks 1; await '"how":"resumed"' 4
    more 1; kill_ranks 2
    finish
    [ "$(count run.launch)" -ge 2 ] || fail "not launched again"
    # The last spare takes rank 1's image from process 2, which dies then: only the spare has it, and has never played
    MEND_FAULT=recover.load:rank=2:hit=2:kill start --spares 1 --every 200ms -- "${steady[@]}"
    more 2; kill_ranks 1; await '"recover.gave_up"' 1
    finish
    grep -q '"recover.gave_up".*"saved":1' job/events.jsonl || fail "what was in memory was not saved"
    [ "$(count '"recover.fetched","version":[1-9]')" = 4 ] || fail "what the spare had saved was not restored" ;;
spare) # the last spare dies: nobody stops for it. Then a rank: what is in memory goes to disk, and a relaunch
    start --spares 1 --every 200ms -- "${steady[@]}"
    more 1
    pids() { grep "\"event\":\"recover.$1\"" job/events.jsonl | grep -o '"pid":[0-9]*' | sort -u; }
    last=$(comm -23 <(pids started) <(pids playing) | grep -o '[0-9]*'); kill -9 "$last" || fail "no spare"
    more 2; [ "$(resumed)" = 0 ] || fail "the job was stopped by the death of a spare"
    kill_ranks 0
    finish
    [ "$(count run.launch)" = 2 ] || fail "not launched again"
    grep -q '"recover.gave_up".*"saved":1' job/events.jsonl || fail "what was in memory was not saved" ;;
files) # files that grew since the version are cut back
    mkdir b
    start --spares 1 --every 200ms -- ./append b ./enough
    more 2; kill_ranks 2; await '"how":"resumed"' 4
    finish
    diff -r a b || fail "files differ" ;;
rewrite) # files that were overwritten, replaced, removed, truncated since the version are put back
    mkdir b
    start --spares 4 --every 200ms -- ./rewrite b ./enough
    for victims in 2 0 "1 3"; do more 1; changes ${victims% *} 1000; kill_ranks $victims; await '"how":"resumed"' $((4 + $(resumed))); done
    finish
    diff -r a b || fail "files differ" ;;
back) # over several versions: what each of them changed is undone, the newest first
    mkdir b
    start --spares 2 --every 100ms --levels memory,partner:6,global:50 -- ./rewrite b ./enough
    for victim in 1 3; do
        await '"level":"partner"' $((4 + $(count '"level":"partner"'))); more 3; kill_ranks $victim; await '"how":"resumed"' $((4 + $(resumed)))
    done
    finish
    diff -r a b || fail "files differ" ;;
floor) # what partners have is older than what files can be put back to: a newer version is on disk
    mkdir b
    start --spares 1 --every 100ms --levels memory,partner:12,global:1 -- ./rewrite b ./enough
    await '"level":"partner"' 4; more 5; kill_ranks 1; await '"how":"resumed"' 4
    finish
    diff -r a b || fail "files differ"
    [ "$(count recover.fetched)" -ge 4 ] || fail "not restored from disk" ;;
overwrite) # by MPI-IO, in place, each time other ranks the same bytes
    mkdir b
    start --spares 6 --every 100ms -- ./overwrite b ./enough
    for victims in 2 0 "1 3"; do more 1; changes ${victims% *} 300; n=$(count '"how":"res'); kill_ranks $victims; await '"how":"res' $((4 + n)); done # (or from the beginning: the first version may not be at its partners yet)
    finish
    diff -r a b || fail "files differ"
    grep -q 'not the bytes that were overwritten' err && fail "warned of what is restored" ;;
outside) # by MPI-IO, by shared mappings; the user is told what is not undone
    mkdir b
    start --spares 6 --every 200ms -- ./outside b ./enough # Open MPI's MPI-IO may crash in others when a rank dies
    for victim in 2 0; do more 1; changes $victim 1000; kill_ranks $victim; await '"how":"resumed"' $((4 + $(resumed))); done
    finish
    diff -r a b || fail "files differ"
    [ "$(grep -c 'true: is started by the program: Mend does not restore files that it changes' err)" = 1 ] || fail "not one warning of the child" ;;
words) # a program that crashes again and again: what it printed last is seen, once
    start --spares 1 --every 100ms --retries 1 -- ./odd crash
    wait $runner && fail "it ended well"
    for r in 0 1 2 3; do [ "$(grep -c "odd: rank $r came to the place" got)" = 1 ] || fail "the last words of rank $r: $(cat got)"; done ;;
refuse) # what cannot be put back is refused in a sentence, not passed over
    mkdir b
    MEND_ONLINE_UNDO=10000 start --spares 1 --every 2s -- ./rewrite b ./enough
    more 1; changes 2 12000; kill_ranks 2
    wait $runner && fail "the job went on"
    grep -q 'cannot go back to version .*old content was not kept' err || fail "no sentence" ;;
during) # deaths at every step of a recovery and of a save, of the process that coordinates too
    for place in shrink plan world images load agree save.write save.copy save.commit; do
        victim=$((3 - ${victim:-0})) hit=2 # the start is a meeting, too
        case $place in save.*) hit=3 ;; esac
        export MEND_FAULT="recover.$place:rank=$victim:hit=$hit:kill"
        start --spares 3 --every 150ms -- "${steady[@]}"
        case $place in save.*) await '"how":"res' 4 ;; *) more 1; kill_ranks 1; await '"how":"res' 4 ;; esac
        finish
        echo "ok: death at recover.$place of process $victim"
    done ;;
agreement) # deaths at every step of the agreements; one of the MPI library would end the process ($MEND_TEST_LIBRARY)
    export LD_PRELOAD=$MEND_TEST_LIBRARY MEND_TEST_DIR=$scratch
    for fault in gather:rank=0 half_gathered:rank=2 half_gathered:rank=0 shrink:rank=3 step:rank=0:hit=5 step:rank=2:hit=17 made:rank=0 \
        made:rank=2 confirmed:rank=0 vote:rank=2 voted:rank=3 voted:rank=4 decided:rank=0 half_told:rank=0; do
        case $fault in *hit*) ;; *) fault+=:hit=2 ;; esac # the start is a meeting, too
        export MEND_FAULT=ulfm.$fault:kill
        start --spares 3 --every 150ms -- "${steady[@]}"
        more 1; kill_ranks 1; await '"how":"res' 4; more 1
        finish
        [ "$(grep -c '"launch.ended".*"code":9' job/events.jsonl)" = 2 ] || fail "nobody died at ulfm.$fault"
        [ -e preloaded ] || fail "$LD_PRELOAD was not there"
        echo "ok: death at ulfm.$fault"
    done ;;
saving) # deaths at every step of a version that writes only what changed: the last one must be whole
    export MEND_ONLINE_TRACK=check # and nothing that changed is taken for unchanged
    for place in pages told moved agreed; do
        victim=$((3 - ${victim:-0}))
        export MEND_FAULT="recover.save.$place:rank=$victim:hit=3:kill"
        start --spares 1 --every 150ms -- "${sparse[@]}"
        await '"how":"resumed"' 4; more 2
        finish
        echo "ok: death at recover.save.$place of process $victim"
    done ;;
lent) # images that a process of the same machine lends: deaths at each step, in versions and in recoveries
    export MEND_ONLINE_TRACK=check
    for fault in told:rank=2:hit=3:kill taken:rank=2:hit=3:kill copy:rank=2:hit=3:kill; do # in a version
        export MEND_FAULT=recover.lend.$fault
        start --spares 1 --every 150ms -- "${sparse[@]}"
        await '"how":"resumed"' 4; more 2; finish
        echo "ok: recover.lend.$fault in a version"
    done
    # rank 1 dies; process 4, a spare, takes its image from process 2, and the second image of rank 0 from process 0
    for fault in taken:rank=4:kill copy:rank=4:kill copy:rank=4:delay=1000 taken:hit=1+:eio; do
        export MEND_FAULT=recover.lend.$fault
        start --spares 3 --every 150ms -- "${sparse[@]}"
        more 2; kill_ranks 1
        case $fault in
        copy:*kill) await '"how":"resumed"' 8 ;;
        *delay*) # who has lent an image dies before it has been copied: it is not lost
            await '"how":"resumed"' 4; kill_ranks 0; await '"how":"resumed"' 8 ;;
        *) await '"how":"resumed"' 4 ;;
        esac
        more 2; finish
        [ "$(count '"how":"restarted"')" -eq 0 ] || fail "an image was lost: $fault"
        echo "ok: recover.lend.$fault in a recovery"
    done ;;
init) # a death inside MPI_Init, where Open MPI waits for ever: launched again
    start --spares 1 --every 200ms -- "${steady[@]}"
    await recover.born 1
    kill -9 "$(grep -o 'recover.born","pid":[0-9]*' job/events.jsonl | tail -1 | grep -o '[0-9]*$')" || fail "nobody was born"
    finish ;;
*) echo "no case $case"; exit 2 ;;
esac
case $case in rank | rows | files | rewrite | back | outside | overwrite) [ "$(resumed)" -gt 0 ] || fail "nothing was survived in place" ;; esac
events_right job*/events.jsonl
echo PASS
