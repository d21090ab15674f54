#!/usr/bin/env bash
# online_use.sh CASE: mend run as a new user meets it: programs that fail by themselves, signals, full and
# forbidden folders, input, much output, no MPI. Each ends, with a clear sentence.
# Cases: ends, signals, unread, memory, folders, streams, auto, share, levels, mpich, restart, stop, late, windows, stuck, strangers, silent, terminal, groups, makers, deserted, and inside_WHAT: deaths inside each collective call.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
. "$MEND_SOURCE/tests/harness/yardstick"
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
runner=
fail() { echo "FAIL: $*"; tail -5 err 2>/dev/null; tail -5 job/events.jsonl 2>/dev/null | cut -c1-300; [ -n "$runner" ] && kill "$runner" 2>/dev/null; wait; exit 1; }
. "$here/programs.sh"
. "$MEND_SOURCE/tests/harness/events"
. "$here/told.sh"
programs odd steady windows groups makers collectives
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 "$@"; }
run() { events_right job/events.jsonl; rm -rf job; "$MEND" run --dir job "$@" >got 2>err; }
start() { events_right job/events.jsonl; rm -rf job; exec 3<&0; "$MEND" run --dir job "$@" >got 2>err <&3 & runner=$!; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
gone() {
    clock_start
    until ! pgrep -f "capsule.*--online.*$PWD/job" >/dev/null; do nap 100; clock_read; [ "$clock" -lt 10000 ] || return 1; done
}
done_by() { sed -n "s/^$1: \([0-9]*\) \(steps\|rounds\), .*/\1/p" got; } # PROGRAM: which went on until ./enough was there (apps/until.h)
launcher() { awk '{print $1}' /proc/$runner/task/$runner/children; }

case $1 in
ends)
    run -n 2 --every 200ms -- ./odd exit 3; [ $? = 1 ] || fail "exit 3: code $?"
    grep -q 'ended the job: rank . by exit with code 3' err || fail "exit 3: no sentence"
    grep -q 'odd: rank . does not like this' err || fail "its last words are missing"
    [ "$(count run.launch)" = 1 ] || fail "exit 3: launched again"
    run -q -n 2 -- ./odd exit 3; [ $? = 1 ] || fail "exit 3, quiet: code $?"
    grep -q 'ended the job: rank . by exit with code 3' err || fail "exit 3, quiet: no sentence"
    n=$(count recover.ended); "$MEND" restart job >got 2>err; [ $? = 1 ] || fail "exit 3, restarted: code $?"
    [ "$(count recover.ended)" -gt "$n" ] || fail "exit 3, restarted: it did not run"
    run -n 2 --every 200ms -- ./odd abort 5; [ $? = 1 ] || fail "abort: code $?"
    grep -q 'ended the job: rank 1 by MPI_Abort with code 5' err || fail "abort: no sentence"
    [ "$(count run.launch)" = 1 ] || fail "abort: launched again"
    run -n 2 --every 200ms --retries 2 -- ./odd crash; [ $? = 1 ] || fail "crash: code $?"
    grep -q 'the program crashes: rank 1 by SIGSEGV' err || fail "crash: no sentence"
    [ "$(count run.launch)" -le 3 ] || fail "crash: launched $(count run.launch) times"
    run -n 3 -- ./odd nompi || fail "nompi: code $?"
    [ "$(grep -c 'no MPI here' got)" = 3 ] || fail "nompi: $(cat got)"
    run -n 2 --every 100ms -- ./odd closed || fail "closed: code $?"
    [ "$(sed -n 's/.*"level":"memory","bytes":\([0-9]*\),.*/\1/p' job/events.jsonl | sort -n | tail -1)" -lt 30000000 ] || fail "closed: images hold those before them"
    run -n 2 --every 200ms -- ./odd forked || fail "forked: code $?"
    [ "$(grep -c 'printed by a child' err)" = 2 ] || fail "forked: what its children print is lost: $(cat got err)"
    run -n 2 --spares 1 --every 200ms -- ./odd orphan || fail "orphan: code $?"
    [ "$(grep -c 'wait() gives -1' got)" = 2 ] || fail "orphan: $(cat got)"
    gone || fail "orphan: processes are left"
    run -n 2 --every 100ms -- ./odd rights || fail "rights: code $?" # what Mend cannot follow fails, and is named
    [ "$(grep -c 'setuid(own) 0, setgid(own) 0$' got) $(grep -c ': 1 1 1 1 1 1, and EPERM is 1$' got) $(grep -c 'a child 0$' got)" = "2 2 2" ] || fail "rights: $(cat got)"
    for call in unshare setns $([ "$(id -u)" != 0 ] || echo setuid setresgid setgroups chroot); do grep -q "mend: $call(): Mend cannot follow" err || fail "rights: $call() is not named"; done
    [ "$(grep -c '"level":"memory"' job/events.jsonl)" -gt 2 ] || fail "rights: no versions after that"
    run -n 2 -- ./nothing; [ $? = 1 ] || fail "no program: code $?"
    grep -q 'nothing' err || fail "no program: no sentence" ;;
signals)
    for s in INT TERM; do
        start -n 2 --every 100ms --levels memory,partner,global:1 -- ./odd wait
        await '"checkpoint.commit".*"level":"global"' 4; kill -$s $runner; wait $runner; [ $? != 0 ] || fail "$s: code 0"
        gone || fail "$s: processes are left"
        grep -q "mend restart .* resumes from the newest version" err || fail "$s: no sentence"
        grep -q '"state": "stopped"' job/job.json || fail "$s: $(cat job/job.json)"
        grep -q '"event":"run.end","code":1,' job/events.jsonl || fail "$s: the events have another code: $(grep run.end job/events.jsonl)"
    done
    start -n 2 --every 1h -- ./odd wait # nothing to resume from
    await recover.playing 2; kill -TERM $runner; wait $runner; [ $? != 0 ] || fail "no version: code 0"
    grep -q "before a version was on disk; mend restart .*/job starts the program from the beginning" err || fail "no version: $(cat err)"
    mkfifo slow; slow() { # its output waits in DIR, and nobody reads what mend run prints
        rm -rf job; "$MEND" run -n 1 --spares 0 --online --dir job -- ./odd much 90 >slow 2>err & runner=$!
        exec 8<slow; until [ "$(grep -c . job/output/0.out 2>/dev/null)" = 9001 ]; do kill -0 $runner || fail "it ended: $(cat err)"; sleep 0.02; done
        sleep 1
    }
    slow; kill -USR1 $runner; sleep 0.5; kill -USR1 $runner; sleep 0.5; cat <&8 >got; exec 8<&- # a signal for the ranks costs no output
    wait $runner || fail "a slow reader and SIGUSR1: code $?"
    cmp got job/output/0.out || fail "SIGUSR1 has cost output"
    slow; kill -TERM $runner; for ((i = 0; i < 600; i++)); do kill -0 $runner 2>/dev/null || break; sleep 0.1; done # and the end does not wait
    kill -0 $runner 2>/dev/null && fail "nobody reads, and it does not end"
    exec 8<&-; wait $runner; [ $? != 0 ] || fail "nobody has read the output: code 0"
    start -n 2 --every 100ms --levels memory,partner,global:1 -- ./odd wait # mend run itself: nothing stays behind
    await '"checkpoint.commit".*"level":"global"' 4; l=$(launcher); kill -9 $runner; wait $runner; kill -TERM "$l"; gone || fail "processes are left" ;;
unread) # nobody reads what mend run prints, nor what it says, and both pipes are full: it keeps the job alive all the same
    mkfifo out words
    exec 7<>out 8<>words
    head -c 65536 /dev/zero >&7; head -c 65536 /dev/zero >&8
    events_right job/events.jsonl; rm -rf job; untold -- ./steady ./enough 4096
    "$MEND" run -n 2 --every 100ms --levels memory,partner,global:1 --dir job -- ./steady ./enough 4096 >&7 2>&8 & runner=$!
    await '"checkpoint.commit".*"level":"global"' 4
    kill -9 "$(launcher)"; await '"event":"run.launch"' 2; await recover.loaded 2
    cat <&7 >got & readers=$!; cat <&8 >err & readers="$readers $!"
    tell; wait $runner || fail "code $?"
    sleep 0.5; kill $readers; wait $readers 2>/dev/null; tr -d '\0' <got >got.text && mv got.text got
    native -n 2 ./steady "$(done_by steady)" 4096 0 >want || exit 1
    cmp got want || fail "the output differs"
    tr -d '\0' <err | grep -q 'the job was torn down; relaunching' || fail "its words are lost: $(tr -d '\0' <err)" ;;
memory) # mend run itself, or its launcher, gets no more memory: a sentence, an orderly end, nothing left, no version lost
    native -n 2 ./steady 2000 4096 >want || exit 1
    for who in mend mend-node; do
        rm -f none
        NO_MEMORY=$who NO_MEMORY_NOW=$PWD/none LD_PRELOAD=$MEND_BUILD/tests/libno_memory.so start -n 2 --every 100ms --levels memory,partner,global:1 -- ./steady 2000 4096
        await '"level":"global"' 4; : >none
        if [ $who = mend ]; then
            wait $runner; [ $? = 1 ] || fail "$who: code $?"
            grep -q '^mend: no memory is left$' err && grep -q '^mend run: the job is ended; mend restart .*/job resumes it' err || fail "$who: no sentence"
            gone || fail "$who: processes are left"
            "$MEND" restart job -q >>got 2>>err || fail "$who: restart: code $?"
        else # its death is one more that the job survives, once there is memory again
            kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
            until grep -q '^mend-node: out of memory' err; do kill -0 $runner || fail "$who: it ended"; sleep 0.02; done
            rm none; wait $runner || fail "$who: code $?"
            [ "$(count run.launch)" -ge 2 ] || fail "$who: not launched again"
        fi
        cmp <(sort want) <(sort got) || fail "$who: the output differs"
        grep -q '"event":"recover.fetched"' job/events.jsonl || fail "$who: it began anew"
    done ;;
restart) # stopped, and resumed later by hand
    native -n 4 ./steady 3000 4096 >want || exit 1
    start -n 4 --every 100ms --levels memory,partner,global:1 -- ./steady 3000 4096
    await '"checkpoint.commit".*"level":"global"' 12; kill -TERM $runner; wait $runner; cp got first
    "$MEND" restart job >second 2>>err || fail "restart: code $?"
    cat first second | sort >all; cmp <(sort want) <(sort second) || fail "the output differs"
    grep -q '"event":"recover.fetched"' job/events.jsonl || fail "it began anew" ;;
folders)
    run -n 2 --dir /proc/no -- ./odd; [ $? = 1 ] || fail "no folder: code $?"
    grep -q '/proc/no' err || fail "no folder: no sentence"
    "$MEND" run -n 2 --levels memory,erasure -- ./odd 2>err; [ $? = 2 ] || fail "erasure: code $?"
    grep -q 'erasure:K+M' err || fail "erasure: no sentence"
    start -n 2 --spares 1 --every 100ms -- ./odd wait # its folder is removed: no output can come, no file be put back
    await '"level":"memory"' 4; "$MEND" run -n 2 --dir job -- ./odd 2>second; [ $? = 1 ] || fail "a second job in its folder: code $?"
    grep -q 'a job is still running in' second || fail "a second job in its folder: no sentence"
    rm -rf job; wait $runner; [ $? = 1 ] || fail "folder removed: code $?"
    grep -q 'job was removed while the job ran' err || fail "folder removed: no sentence"
    gone || fail "folder removed: processes are left"
    mkdir small; mount -t tmpfs -o size=3m none small 2>/dev/null || { echo "PASS (a full disk: not tried, mount is not allowed)"; exit 0; }
    trap 'umount small; rm -rf "$scratch"' EXIT
    native -n 2 ./steady 1500 40000 >want || exit 1
    "$MEND" run -n 2 --every 100ms --levels memory,partner,global:1 --dir small/job -- ./steady 1500 40000 >got 2>err || fail "full disk: code $?"
    cmp got want || fail "full disk: the output differs"
    grep -q '"checkpoint.failed".*No space left' small/job/events.jsonl || fail "full disk: no event" ;;
streams)
    for i in $(seq 1000); do echo "$i is one of many lines, which do not fit into a buffer"; done >numbers
    native -n 2 ./odd input <numbers >want || exit 1
    run -n 2 --every 100ms -- ./odd input <numbers || fail "input: code $?"
    cmp got want || fail "input from a file"
    for r in 0 1; do # who reads it, and another
        start -n 2 --spares 2 --every 100ms -- ./odd input <numbers
        await '"level":"memory"' 4; kill -9 "$(grep "\"rank\":$r,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
        wait $runner || fail "input, rank $r killed: code $?"
        cmp got want || fail "input from a file, rank $r killed"
    done
    { read -r _; read -r _; run -n 2 --every 100ms -- ./odd input || fail "from line 3: code $?"; } <numbers
    sed -n '1s/^[0-9]*: //p' got | cmp - <(sed -n 3p numbers) || fail "input from where the file stood"
    run -n 2 --every 100ms -- ./odd input <<<"$(cat numbers numbers numbers)" || fail "here: code $?" # too long for a pipe: a file without a name
    cmp got want || fail "input from the shell"
    cat numbers | run -n 2 --every 100ms -- ./odd input || fail "pipe: code $?"
    cmp got want || fail "input from a pipe"
    native -n 2 sh -c './odd much >r.$OMPI_COMM_WORLD_RANK' || exit 1; sort r.0 r.1 >want
    run -n 2 --every 100ms -- ./odd much || fail "much: code $?"
    sort got | cmp - want || fail "much output" ;;
stop) # mend checkpoint: on disk when it is answered; --stop: the run has not ended well, and goes on from there later
    native -n 2 ./steady 6000 4096 >want || exit 1
    start -n 2 --every 1h -- ./steady 6000 4096
    await recover.playing 2
    "$MEND" checkpoint job --json >asked || fail "mend checkpoint: $(cat asked)"
    [ "$(ls job/images | grep -c 'global-r.-v1-')" = 2 ] || fail "version 1 is not on disk"
    # two requests at once, while nobody takes them: both are served
    player() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
    kill -STOP "$(player 0)"; askers=()
    for k in 1 2; do "$MEND" checkpoint --timeout 100 job >asked.$k 2>&1 & askers+=($!); sleep 0.2; done
    kill -CONT "$(player 0)"
    for k in 1 2; do wait "${askers[k - 1]}" || fail "request $k of two: $(cat asked.$k)"; done
    ! cmp -s asked.1 asked.2 || fail "two requests, one version: $(cat asked.1)"
    for _ in $(seq 100); do [ -n "$(ls job | grep '^request')" ] || break; sleep 0.1; done # the answer comes first
    [ -z "$(ls job | grep '^request')" ] || fail "a request is left: $(ls job)"
    # a rank dies: the request is served after the repair, under the number that the version has then
    victim=$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')
    kill -STOP "$victim"; "$MEND" checkpoint job --stop --json >asked & asker=$!
    until [ -e job/request.taken ]; do kill -0 $runner || fail "the job ended before the request was taken"; sleep 0.02; done
    kill -9 "$victim"; wait $asker || fail "mend checkpoint --stop: $(cat asked)"
    wait $runner; code=$?; [ $code = 3 ] || fail "a job that was stopped as asked ended with $code, not 3"
    grep -q 'stopped after a checkpoint' err || fail "no sentence"
    grep -q '"state": "stopped"' job/job.json || fail "the job's state: $(cat job/job.json)"
    "$MEND" run -n 2 --dir job -- ./odd 2>second; [ $? = 1 ] && grep -q 'resume it with mend restart' second || fail "its versions were overwritten: $(cat second)"
    v=$(grep -o '"version":[0-9]*' asked | grep -o '[0-9]*'); [ "$(ls job/images | grep -c "global-r.-v$v-")" = 2 ] || fail "version $v is not on disk"
    mkdir above; cp -r job above/below; "$MEND" run -n 2 -q --dir above -- ./odd brief >got 2>second || fail "the versions of a job below DIR count: $(cat second)"
    diff -r job/images above/below/images || fail "the versions of a job below DIR were changed"
    "$MEND" restart job --mpi mpich >got 2>err && fail "a job that repairs itself was resumed on MPICH"
    grep -q 'only on Open MPI (a job of mend run --no-online resumes on both)' err || fail "no sentence about the MPI"
    "$MEND" restart job >got 2>err || fail "restart: code $?"
    cmp got want || fail "the output differs"
    grep '"recover.playing"' job/events.jsonl | tail -1 | grep -q "\"version\":$v," || fail "not resumed from version $v"
    "$MEND" run -n 2 -q --dir job -- ./odd brief >got || fail "a job that is done was not replaced" ;;
late) # who is killed after MPI_Finalize had more to say: it is not lost
    native -n 2 ./odd late | sort >want
    start -n 2 --every 200ms --levels memory,partner,global:1 -- ./odd late
    await recover.finished 2
    kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
    wait $runner || fail "code $?"
    sort got | cmp - want || fail "the output differs"
    # who comes to the coordinator of checkpoints when the others are at MPI_Finalize
    MEND_FAULT=capsule.hello:rank=1:delay=1000 run -n 2 -- ./odd brief || fail "brief: code $?"
    [ "$(grep -c 'was here' got)" = 2 ] || fail "brief: $(cat got)" ;;
share) # no interval asked for: versions that take long are few; one asked for that cannot be kept: a sentence, once
    MEND_FAULT=recover.save.write:rank=0:hit=1+:delay=500 start -n 2 -- ./steady 100000 4096
    await recover.playing 2; "$MEND" checkpoint job >asked || fail "mend checkpoint: $(cat asked)"
    interval() { grep plan.interval job/events.jsonl | tail -1 | grep -o '"seconds":[0-9.]*' | grep -o '[0-9.]*$'; }
    until awk -v s="$(interval)" 'BEGIN{exit !(s >= 45)}'; do kill -0 $runner || fail "the job ended"; sleep 0.05; done
    "$MEND" checkpoint job --stop >asked || fail "mend checkpoint --stop: $(cat asked)"; wait $runner
    MEND_RUN_SHARE=2 run -n 1 -- ./odd; [ $? = 1 ] && grep -q 'run.share "2" is not' err || fail "a share without %: $(cat err)"
    native -n 2 ./steady 1500 4096 >want || exit 1
    MEND_FAULT=recover.save.write:rank=0:hit=1+:delay=300 run -n 2 --every 100ms -- ./steady 1500 4096 || fail "code $?"
    cmp got want || fail "the output differs"
    [ "$(grep -c 'longer than the requested interval of 0.1 s' err)" = 1 ] || fail "a version that takes longer than the interval: $(cat err)" ;;
auto) # the planner's interval changes after a failure: in the events, on the status line, in the report
    rm -rf job; script -qefc "$MEND run -n 4 --spares 3 --every auto --mtbf 20s --dir job -- ./steady ./enough 4096 >got" terminal >/dev/null & runner=$!
    # the first death comes before any version: what images cost (little here: then the interval is at its least) plays no part
    await plan.interval 1; await recover.playing 4
    for r in 1 2 3; do
        kill -9 "$(grep "\"rank\":$r,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
        await '"how":"res' $((4 * r))
    done
    await plan.interval 3; sleep 1 # (the status line has shown it)
    tell; wait $runner || fail "code $?"
    native -n 4 ./steady "$(done_by steady)" 4096 0 >want || exit 1
    cmp got want || fail "the output differs"
    [ "$(count plan.interval)" -ge 2 ] || fail "not planned again"
    first=$(grep plan.interval job/events.jsonl | head -1 | grep -o '"seconds":[0-9.]*' | grep -o '[0-9.]*$')
    last=$(grep plan.interval job/events.jsonl | tail -1 | grep -o '"seconds":[0-9.]*' | grep -o '[0-9.]*$')
    awk -v a="$first" -v b="$last" 'BEGIN{exit !(b < a)}' || fail "after failures the interval went from $first to $last"
    # (not a pipe into grep -q: it ends at the first hit, and the writer's SIGPIPE would be the pipe's verdict)
    grep -q plan.interval < <(sed -n '/"how":"res/,$p' job/events.jsonl) || fail "not planned again after a failure"
    grep -q 'failures\? survived' terminal || fail "no status line"
    [ "$(grep -o 'every [0-9.]* s' terminal | sort -u | wc -l)" -ge 2 ] || fail "the status line shows one interval only"
    "$MEND" report job -o page.html && [ "$(grep -o "the planner's interval, chosen after" page.html | wc -l)" -ge 2 ] || fail "not in the report" ;;
levels) # --every auto plans each level: all ranks write the same versions there, memory more often than the disk
    native -n 4 ./steady 6000 4096 >want || exit 1
    start -n 4 --spares 1 --every auto --mtbf 10s --levels memory,partner,local,global --local-dir "$PWD/local" -- ./steady 6000 4096
    await '"checkpoint.commit".*"level":"global"' 4; await '"level":"local"' 8
    kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
    await '"how":"res' 4
    wait $runner || fail "code $?"
    cmp got want || fail "the output differs"
    grep -q '"event":"plan.level","level":"local"' job/events.jsonl && grep -q '"event":"plan.level","level":"global"' job/events.jsonl || fail "levels are not planned"
    for level in local global; do # (the version that the kill hit may be some ranks' only)
        grep "\"level\":\"$level\"" job/events.jsonl | grep '"event":"checkpoint.commit"' | grep -o '"version":[0-9]*' | sort | uniq -c |
            awk -v l=$level '$1 % 4 {bad++} END {if (bad > 1) {print "FAIL: " bad " versions are not on every rank at the level " l; exit 1}}' || exit 1
    done
    [ "$(count '"level":"memory"')" -gt "$(count '"level":"global"')" ] || fail "as many versions on disk as in memory" ;;
windows) # one-sided communication cannot be repaired in place: on disk, and launched again, as often as spares and retries allow
    native -n 4 ./windows 1500 >want 2>/dev/null || exit 1
    mv windows.bin want.bin
    start -n 4 --spares 2 --retries 0 --every 100ms -- ./windows 1500
    for r in 1 3; do
        await '"level":"memory"' $(($(count '"level":"memory"') + 8)); launches=$(count run.launch)
        kill -9 "$(grep "\"rank\":$r,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
        await run.launch $((launches + 1))
    done
    wait $runner || fail "code $?"
    cmp <(sort got) <(sort want) || fail "the output differs"
    cmp windows.bin want.bin || fail "the file differs"
    grep -qa 'cannot repair in place while windows are open' err || fail "not said" ;;
stuck) # one rank is killed, another is stopped and never comes to the recovery: torn down, launched again
    native -n 3 ./steady 2000 4096 >want || exit 1
    start -n 3 --spares 1 --every 100ms --levels memory,partner,global:1 --patience 4s -- ./steady 2000 4096
    await '"checkpoint.commit".*"level":"global"' 6
    player() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
    stopped=$(player 1); kill -STOP "$stopped"; kill -9 "$(player 2)"
    wait $runner || fail "code $?"
    cmp got want || fail "the output differs"
    grep -q 'did not end within 4 s' err || fail "not said"
    [ "$(count run.launch)" = 2 ] || fail "launched $(count run.launch) times"
    # (a zombie is dead: whoever inherits it may take its time)
    ! grep -q '^State:.[^ZX]' "/proc/$stopped/status" 2>/dev/null || fail "the stopped process is still there: $(grep State "/proc/$stopped/status")" ;;
terminal) # standard input is one: of programs that read it, and of those that do not
    mpicc.openmpi -O2 -o terminal "$here/apps/terminal.c" || exit 1
    printf 'one\ntwo\nthree\n' >typed
    native -n 2 ./odd input <typed >want || exit 1
    heard=(sh -c 'exec "$@" 2>err' sh) # a warning that a slow machine gets is not the program's output
    for launcher in mpirun mend; do
        [ $launcher = mpirun ] || [ -x "$MEND_BUILD/lib/mend/mend-node" ] || continue
        rm -rf job; ./terminal "$(cat typed)
" "${heard[@]}" "$MEND" run -n 2 --dir job -q --every 100ms --launcher $launcher -- ./odd input >got || fail "$launcher: code $?: $(cat got)"
        cmp got want || fail "$launcher: the output differs: $(cat got)"
        rm -rf job; ./terminal - "${heard[@]}" "$MEND" run -n 2 --dir job -q --every 100ms --launcher $launcher -- ./odd nompi >got || fail "$launcher, nothing typed: code $?: $(cat got)"
        [ "$(grep -c 'no MPI here' got)" = 2 ] || fail "$launcher, nothing typed: $(cat got)"
        echo "ok: $launcher"
    done ;;
silent) # a rank is stopped: named, and replaced where that is asked for
    agrees() { # HOW: the job is told to end
        tell; wait $runner || fail "$1: code $?"
        native -n 3 ./steady "$(done_by steady)" 4096 0 >want || exit 1
        cmp got want || fail "$1: the output differs"
        rm enough
    }
    player() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
    said() { until grep -q "$1" err; do kill -0 $runner 2>/dev/null || fail "the job ended before it said: $1"; sleep 0.02; done; }
    export MEND_CAPSULE_SILENCE=2s
    start -n 3 --spares 1 --every 100ms -- ./steady ./enough 4096
    await '"level":"memory"' 6
    for r in 1 0; do # by the coordinator, and the coordinator itself
        pid=$(player $r); kill -STOP "$pid"
        said "WARNING: rank $r (process $pid) has answered nobody"; kill -0 "$pid" || fail "rank $r was killed unasked"
        kill -CONT "$pid"; said "rank $r answers again"
    done
    agrees named
    [ "$(count '"how":"resumed"')" = 0 ] || fail "a rank was replaced unasked"
    echo "ok: named"
    for r in 2 0; do
        start -n 3 --spares 3 --every 100ms --hang-timeout 3s -- ./steady ./enough 4096
        await '"level":"memory"' 6; pid=$(player $r); kill -STOP "$pid"
        await '"how":"resumed"' 3
        agrees "rank $r"
        grep -q "rank $r (process $pid) has answered nobody for .* killed and replaced" err || fail "rank $r: not said"
        ! grep -q '^State:.[^ZX]' "/proc/$pid/status" 2>/dev/null || fail "rank $r is still there"
        [ "$(count run.launch)" = 1 ] || fail "rank $r: launched again"
        echo "ok: rank $r replaced"
    done
    start -n 3 --spares 3 --every 100ms --hang-timeout 3s -- ./steady ./enough 4096 # one dies, another is stopped
    await '"level":"memory"' 6; pid=$(player 1); kill -STOP "$pid"; kill -9 "$(player 2)"
    await '"how":"res' 3 # (from the beginning: a rank and its partner are lost together)
    agrees "in a recovery"
    grep -q "rank 1 (process $pid) .*killed and replaced" err || fail "in a recovery: not said" ;;
strangers) # others at the coordinator's door before its ranks: checkpoints go on. Rank 1 is held back, so that they can
    mpicc.openmpi -O2 -o stranger "$here/apps/stranger.c" || exit 1
    native -n 2 ./steady 1500 4096 >want || exit 1
    door() { # the name of the socket at which rank 0 listens
        local pid inode
        pid=$(grep '"rank":0,"event":"recover.playing"' job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')
        for inode in $(find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n'); do
            awk -v i="$inode" '$7 == i && $4 == "00010000" && $8 ~ /^@mend-/ { print substr($8, 2) }' /proc/net/unix
        done | head -1
    }
    for user in $(id -u) 65534; do
        [ "$user" = "$(id -u)" ] || [ "$(id -u)" = 0 ] || { echo "not root: no other user is tried"; continue; }
        MEND_FAULT=capsule.hello:rank=1:delay=4000 start -n 2 --spares 0 --every 100ms --levels memory,partner -- ./steady 1500 4096
        await recover.playing 2
        until name=$(door) && [ -n "$name" ]; do kill -0 $runner || fail "user $user: no door was seen"; sleep 0.02; done
        timeout 120 ./stranger "$name" "$user" >there & stranger=$!
        until grep -q in there; do kill -0 $stranger || fail "user $user: the stranger did not come to the door"; sleep 0.02; done
        await '"level":"memory"' 6
        [ -z "$(door)" ] || fail "user $user: the door is open though all ranks are in"
        wait $runner || fail "user $user: code $?"
        kill $stranger; wait $stranger
        cmp got want || fail "user $user: the output differs"
        echo "ok: user $user"
    done ;;
makers) # deaths of ranks that are making communicators; more spares than kills: Open MPI's own way out of a failed
    # MPI_Intercomm_create frees memory twice now and then, which is one more death
    start -n 4 --spares 8 --every 100ms -- ./makers ./enough
    await recover.playing 4
    for k in 1 2 3 4; do
        sleep "0.$((1 + RANDOM % 4))"
        kill -9 "$(grep "\"rank\":$((k % 4)),\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
        await '"how":"res' $((4 * k))
    done
    tell; wait $runner || fail "code $?"
    native -n 4 ./makers "$(done_by makers)" >want || exit 1
    cmp <(sort got) <(sort want) || fail "the output differs" ;;
inside_*) # one kill inside each collective call of the table, by name; no death may end the job as the program's error
    classes() { sed -nE "s/^FUNCTION\(($1), ([A-Za-z_]+),.*/\2/p" "$MEND_SOURCE"/src/capsule/table/*.def; }
    ./collectives >known
    for name in $(classes 'COLLECTIVE|NONBLOCKING|CREATING|FILE_COLLECTIVE|FILE_NONBLOCKING'); do grep -qx "$name" known || fail "no case for MPI_$name"; done
    case ${1#inside_} in
        blocking) names=$(classes 'COLLECTIVE') ;;
        nonblocking) names=$(classes 'NONBLOCKING') ;;
        making) names=$(grep -E '^(Comm_|Cart_|Dist_|Neighbor_)' known) ;;
        windows) names=$(grep -E '^Win_' known) ;;
        files) names=$(classes 'FILE_COLLECTIVE|FILE_NONBLOCKING') ;;
    esac
    # shellcheck disable=SC2206
    names=($names); rounds=60
    [ ${#names[@]} -ge 4 ] || fail "only ${#names[@]} names"
    native --mca mpi_yield_when_idle 1 --mca osc ^ucx -n 4 ./collectives $rounds "${names[@]}" >want 2>/dev/null || fail "native run"; rm -f collectives.bin
    for k in "${!names[@]}"; do : >"hold.$k"; done
    start -n 4 --spares $((${#names[@]} + 2)) --every 100ms --retries 20 -- ./collectives $rounds "${names[@]}"
    player() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
    held() { for rank in 0 1 2 3; do pid=$(player $rank); [ "$(cat /proc/"$pid"/comm 2>/dev/null)" != "$1" ] || return 0; done; return 1; }
    await recover.playing 4
    for k in "${!names[@]}"; do # the program holds the victim inside until it is dead
        until held "v$k"; do
            kill -0 $runner 2>/dev/null || fail "the job ended before ${names[k]}"
            sleep 0.02
        done
        sleep 0.05
        played=$(count recover.playing)
        kill -9 "$pid" || fail "nobody was in ${names[k]}"
        rm "hold.$k"
        await recover.playing $((played + 4))
    done
    wait $runner || fail "code $?"
    cmp <(sort got) <(sort want) || fail "the output differs"
    ! grep -q '"recover.ended"' job/events.jsonl || fail "a death was taken for the program's own end"
    echo "${#names[@]} kills in ${#names[@]} calls" ;;
groups) # rank 0 waits in MPI_Comm_create_group for the others: a checkpoint, and a death, while it does; and one rank alone
    native -n 1 ./groups >want || exit 1
    run -n 1 -- ./groups || fail "alone: code $?"
    cmp got want || fail "alone: the output differs"
    rm -f inside
    native -n 3 ./groups >want & reference=$!
    until [ -e inside ]; do kill -0 $reference || fail "the native run ended"; sleep 0.02; done
    : >go; wait $reference || exit 1
    rm inside go; start -n 3 --no-online --every 1h -- ./groups
    until [ -e inside ]; do kill -0 $runner || fail "the job ended"; sleep 0.02; done
    "$MEND" checkpoint --timeout 100 job >answer 2>&1 || fail "no checkpoint: $(cat answer)"
    : >go; wait $runner || fail "code $?"
    cmp <(sort got) <(sort want) || fail "the output differs"
    rm inside go; start -n 3 --spares 1 --every 100ms -- ./groups
    until [ -e inside ]; do kill -0 $runner || fail "the job ended"; sleep 0.02; done
    await '"level":"memory"' 9
    kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
    await '"event":"recover.noticed"' 1 # by rank 0 or the spare: the third rank computes, and does not know
    : >go; wait $runner || fail "killed: code $?"
    cmp <(sort got) <(sort want) || fail "killed: the output differs"
    [ "$(count run.launch)" = 1 ] || fail "killed: launched $(count run.launch) times" ;;
deserted) # the launcher stays when all ranks have gone, as Open MPI's does now and then after MPI_Abort
    native -n 2 ./steady 1000 4096 >want || exit 1
    # an installation whose mpirun stays, the first time
    mkdir -p moved/bin moved/share; cp "$MEND" moved/bin; ln -s "$MEND_BUILD/lib" moved/lib; cp -r "$MEND_BUILD/share/mend" moved/share
    mpirun=$(sed -n 's/^openmpi.mpirun //p' moved/share/mend/mpi)
    printf '#!/bin/sh\n[ -e stayed ] && exec "%s" "$@"\n: >stayed; "%s" "$@"; exec sleep 1000\n' "$mpirun" "$mpirun" >moved/mpirun; chmod +x moved/mpirun
    sed -i "s|^openmpi.mpirun .*|openmpi.mpirun $PWD/moved/mpirun|" moved/share/mend/mpi
    MEND=$PWD/moved/bin/mend start -n 2 --spares 0 --retries 1 --launcher mpirun --every 100ms -- ./steady 1000 4096
    await '"level":"memory"' 4
    kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')"
    wait $runner || fail "code $?"
    cmp got want || fail "the output differs"
    [ -e stayed ] || fail "another launcher was used"
    [ "$(count run.launch)" = 2 ] || fail "launched $(count run.launch) times" ;;
mpich) # no ULFM: by relaunch, said in one line; the launcher's banner is not output
    command -v mpirun.mpich >/dev/null || { echo "no MPICH here"; exit 77; }
    native -n 2 ./steady 5000 4096 >want || exit 1
    start -n 2 --mpi mpich --every 200ms -- ./steady 5000 4096
    await '"event":"checkpoint.commit"' 3
    victim=$(pgrep -f "capsule.mpich.*steady 5000" | tail -1); kill -9 "$victim" || fail "nobody to kill"
    wait $runner || fail "code $?"
    cmp got want || fail "the output differs"
    [ "$(grep -c 'MPICH has no ULFM' err)" = 1 ] || fail "no line"
    [ "$(count run.launch)" -ge 2 ] || fail "not launched again" ;;
*) echo "no case $1"; exit 2 ;;
esac
events_right job*/events.jsonl
echo PASS
