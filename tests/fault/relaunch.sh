#!/usr/bin/env bash
# relaunch.sh CASE MPI: `mend run` where nothing can be repaired in place: after a kill the job is launched
# again by itself. Its output and its files must equal those of a native run, byte for byte.
# Cases: ranks, hung, early, append, rewrite, overwrite, outside, refuse, input, clock, threads, exec, stop.
# Kills come when so many versions are complete or so much is changed, not by the clock, and the job ends when all have come.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
[ -n "${MEND_TEST_LIMITED:-}" ] || MEND_TEST_LIMITED=1 exec "$MEND_SOURCE/tests/harness/within" 500 bash "$0" "$@" # then stacks
case=$1 mpi=$2
ranks=4; [ "$mpi" = mpich ] && ranks=2 # which waits busily: more than cores would hardly go on
command -v "mpirun.$mpi" >/dev/null || { echo "no $mpi here"; exit 77; }
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
. "$here/told.sh"
trap 'rm -rf "$scratch"' EXIT
runner=
fail() { echo "FAIL: $*"; tail -5 err 2>/dev/null; tail -12 job/events.jsonl 2>/dev/null | cut -c1-300; [ -n "$runner" ] && kill "$runner" 2>/dev/null; wait; exit 1; }
. "$here/programs.sh"
. "$MEND_SOURCE/tests/harness/events"
programs steady append rewrite outside overwrite odd
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n $ranks "$@"; }
start() { events_right job/events.jsonl; rm -rf job; untold "$@"; exec 3<&0; "$MEND" run -n $ranks --no-online --mpi "$mpi" --retries 9 --dir job -q "$@" >got 2>err <&3 & runner=$!; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
alive() { kill -0 $runner 2>/dev/null || fail "the job ended before $*"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do alive "$2 x $1"; sleep 0.02; done; }
more() { await checkpoint.commit $(($(count checkpoint.commit) + $1)); } # N more versions
player() { grep "\"rank\":$1,\"event\":\"recover.born\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
kill_one() { until kill -9 "$(player $(($1 - 1)))" 2>/dev/null; do alive "rank $(($1 - 1)) was there"; sleep 0.02; done; } # the N-th rank
changes() { # RANK BYTES: until so much is noted of what it changed since the newest version
    local log; until log=$(ls "job/undo/$1" 2>/dev/null | grep -v '[.f]' | sort -n | tail -1) &&
        [ "$(stat -c %s "job/undo/$1/$log" 2>/dev/null || echo 0)" -ge "$2" ]; do alive "rank $1 changed anything"; sleep 0.02; done
}
finish() { # as a native run that is over, or that is made now
    tell; wait $runner || fail "mend run ended with $?"
    [ -e want ] || reference; cmp got want || fail "the output differs from the native run: $(diff got want | head -n 4)"
}
launches() { [ "$(count run.launch)" -ge "$1" ] || fail "launched $(count run.launch) times, not $1"; }
steady=(./steady ./enough 4096)

case $case in
ranks) # each in turn; the launcher of MPICH may end with 0 all the same
    start --retries 1 --every 200ms -- "${steady[@]}" # one in a row: each comes after new versions
    for n in $(seq $ranks); do more 2; kill_one $n; await run.launch $((n + 1)); done
    finish; launches $((ranks + 1))
    start --retries 1 --every 1h -- "${steady[@]}" # without progress: one and no more
    kill_one 1; await run.launch 2; kill_one 2; wait $runner; code=$?
    [ $code = 1 ] && [ "$(count run.launch)" = 2 ] || fail "no progress: code $code, launched $(count run.launch) times" ;;
hung) # mpirun hangs when a rank dies, as it does when others connect to it at that time: the job is ended and launched again
    start --every 200ms -- "${steady[@]}"
    more 2; kill -STOP "$(tr ' ' '\n' <"/proc/$runner/task/$runner/children" | head -n 1)" || fail "no launcher"
    kill_one 1; await run.launch 2
    finish; launches 2 ;;
early) # before there is any version: from the beginning, with files as they were then
    mkdir a b; echo 41 | tee a/count.0 >b/count.0; native ./odd counter a >want || exit 1
    start --every 1h -- ./odd counter b
    for n in 2 1; do changes 0 1; changes 1 1; kill_one $n; await '"restart"' $((3 - n)); done
    finish; launches 3
    diff -r a b || fail "files differ"
    grep -q 'no version is complete: the program starts from the beginning' err || fail "no sentence" ;;
append | rewrite | overwrite | outside) # files that were changed since the version are put back
    mkdir b
    start --every 200ms -- ./$case b ./enough
    for n in 2 1 $ranks; do more 1; [ $case = append ] || changes $((n - 1)) 300; kill_one $n; await '"restart"' $(($(count '"restart"') + 1)); done
    finish; launches 4
    diff -r -x '.*.shfp.*' a b || fail "files differ" # (files that MPICH has for itself are left by a killed process)
    [ $case != overwrite ] || ! grep -q 'not the bytes that were overwritten' err || fail "warned of what is restored" ;;
refuse) # what cannot be put back is refused in a sentence, not passed over
    MEND_ONLINE_UNDO=10000 start --every 2s -- ./rewrite . ./enough
    more 1; changes 1 12000; kill_one 2
    wait $runner && fail "the job went on"
    grep -q 'cannot go back to version .*old content was not kept' err || fail "no sentence: $(cat err)" ;;
input) # from a file: what was not read yet is read after the relaunch
    for i in $(seq 3000); do echo "line $i of the input, which is longer than any buffer of a pipe may be"; done >lines
    native ./odd input <lines >want || exit 1
    start --every 100ms -- ./odd input <lines
    more 2; kill_one 1; finish; launches 2 ;;
clock) # output that no two runs have alike: every line once, and whole
    start --every 50ms -- ./odd clock
    for n in 1 2; do more 2; kill_one $n; done
    wait $runner || fail "mend run ended with $?"; launches 3
    for ((r = 0; r < ranks; r++)); do
        grep "^rank $r " got | sed 's/^\(rank [0-9]* round [0-9]*\) a\{0,1\}[a-z ]*\.$/\1/' | cmp - <(for i in $(seq 0 399); do echo "rank $r round $i"; done) || fail "the lines of rank $r"
    done
    [ "$(wc -l <got)" = $((400 * ranks + 1)) ] || fail "$(wc -l <got) lines" ;;
exec) # a program that becomes another one is not followed: refused, in a sentence
    start --every 1h -- ./odd become
    wait $runner && fail "it went on"
    grep -q 'replaced itself by exec .*name that program after --' err || fail "no sentence: $(cat err)" ;;
threads) # a program that ends by exit() of another thread has ended
    native ./odd elsewhere | sort >want
    start --every 1h -- ./odd elsewhere; wait $runner || fail "mend run ended with $?"
    sort got | cmp - want || fail "the output differs from the native run"
    [ "$(count run.launch)" = 1 ] || fail "launched again" ;;
stop) # by mend checkpoint; the run has not ended well, and goes on later from there, also after a kill
    start --every 1h -- "${steady[@]}"
    await '"run.launch"' 1; until [ -d job/versions ] && [ -e job/alive ]; do alive "its folder was there"; sleep 0.02; done
    "$MEND" checkpoint job --stop --json >asked || fail "mend checkpoint --stop: $(cat asked)"
    wait $runner; code=$?; [ $code = 3 ] || fail "a job that was stopped as asked ended with $code, not 3"
    grep -q '"state": "stopped"' job/job.json || fail "the job's state: $(cat job/job.json)"
    "$MEND" restart job --version 99 >got 2>&1 && fail "version 99 was resumed"
    grep -q 'no complete version 99' got || fail "no sentence: $(cat got)"
    other=mpich; [ "$mpi" = mpich ] && other=openmpi
    command -v "mpirun.$other" >/dev/null || other=$mpi
    "$MEND" restart job --mpi "$other" --every 200ms >got 2>err & runner=$! # such a version is portable
    more 2; kill_one 2
    finish
    [ "$(count '"restart"')" = 2 ] || fail "not resumed twice" ;;
*) echo "no case $case"; exit 2 ;;
esac
events_right job*/events.jsonl
echo PASS
