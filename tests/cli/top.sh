#!/usr/bin/env bash
# mend top: the facts of recorded jobs; whatever is in the folder, nothing but printable characters reaches the terminal;
# on a terminal it follows the job, redraws, and gives the terminal back.
set -uo pipefail
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
helper=
trap 'exec 9>&-; [ -n "$helper" ] && kill "$helper" 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
has() { grep -qE -- "$2" "$1" || { head -60 "$1"; fail "$1 has no line like: $2"; }; }
event() { # AFTER RANK NAME FIELDS…: a line, AFTER seconds after the job's begin
    local t
    t=$(awk -v b="$begin" -v a="$1" 'BEGIN{printf "%.3f", b + a}')
    printf '{"mend":1,"t":%s,"rank":%s,"event":"%s"%s}\n' "$t" "$2" "$3" "${4:+,$4}"
}
job() { # DIR STATE
    mkdir -p "$1"
    cat >"$1/job.json" <<J
{"mend":1,"state":"$2","ranks":3,"spares":2,"mpi":"openmpi","online":true,"every":2.0,"auto":false,
 "levels":"memory,partner,global:3","program":["./heat","-m","4"]}
J
}
events() { # a job of 3 ranks on 2 nodes that loses rank 1 and goes on from version 2
    event 0 -1 run.launch '"launch":0,"ranks":3,"spares":2,"mpi":"openmpi"'
    for p in 10 11 12 13 14; do
        event 0.1 -1 recover.born "\"pid\":$p,\"host\":\"node$((p % 2))\""
    done
    for r in 0 1 2; do event 0.2 $r recover.playing "\"version\":0,\"pid\":1$r,\"host\":\"node$((r % 2))\",\"spares\":2"; done
    for v in 1 2 3; do
        for r in 0 1 2; do
            [ $v = 3 ] && [ $r = 1 ] && continue # dead before it could say so
            event "$((2 * v)).5" $r checkpoint.commit "\"version\":$v,\"level\":\"memory\",\"bytes\":1048576,\"seconds\":0.25"
        done
    done
    event 7.0 -1 chaos.fault '"kind":"kill","hit":"rank 1 (pid 11)","result":"killed"'
    event 7.1 0 recover.noticed '"how":"failure","call":"Allreduce"'
    event 7.1 2 recover.noticed '"how":"revoke","call":"Send"'
    for r in 0 1 2; do event 7.3 $r recover.playing "\"version\":2,\"pid\":$((r == 1 ? 13 : 10 + r)),\"host\":\"node$((r % 2))\",\"spares\":1"; done
    for r in 0 1 2; do
        event "7.4" $r recover.resumed "\"how\":\"resumed\",\"version\":2,\"repair\":1,\"seconds\":0.$((r == 0 ? 3 : 2)),\"phases\":\"revoke=1.0 shrink=20.5 load=150\""
    done
    for r in 0 1 2; do
        event 9.5 $r checkpoint.commit '"version":3,"level":"memory","bytes":1048576,"seconds":0.25'
        event 9.5 $r checkpoint.commit '"version":3,"level":"partner","bytes":1048576,"sent":524288,"seconds":0.5'
    done
    for r in 0 2; do event 9.8 $r checkpoint.commit '"version":3,"level":"global","bytes":1048576,"seconds":1'; done
}

# a job that has ended
begin=1000
job ended "done"
events >ended/events.jsonl
{
    for r in 0 1 2; do event 9.9 $r recover.exited '"launch":"x"'; done
    event 10 -1 run.end '"code":0,"seconds":10'
} >>ended/events.jsonl
"$MEND" top --once ended >out || fail "--once"
has out '^\./heat -m 4 +\(ended\)$'
has out '^ended after 10\.0 s: done, exit code 0$'
has out '^3 ranks, 1 of 2 spares left, openmpi, launch 1$'
has out '^Failures: 1 survived in place \(the longest took 300 ms\), 0 by relaunch$'
# 3 versions of 0.25 s, a recovery of 0.3 s, 2.6 s of work since version 2
has out '^Time lost: 36\.50 % \(saving 0\.750 s, recovering 0\.300 s, done again 2\.600 s, torn down 0\.000 s\)$'
has out '^memory +3 +500 ms +3\.0 MiB +12\.0 MiB/s +250 ms +2\.0 s +- +0$'
has out '^partner +3 +500 ms +3\.0 MiB +3\.0 MiB/s +500 ms +2\.0 s +- +0$'
has out '^global +none .* 6\.0 s +- +0 +3: 2 of 3$'
has out '^ +0 +ended +100 ms +10 +node0$'
has out '^ +1 +ended +100 ms +13 +node1$'
has out '^ +7\.100 s +recovered in place: resumed from version 2 in 300\.0 ms$'
has out '^ +revoke=1\.0 shrink=20\.5 load=150$'
has out 'rank 1: process 11 is gone, process 13 replaces it$'
has out '^ +7\.000 s +kill rank 1 \(pid 11\): killed$'
"$MEND" top ended >out2 || fail "without a terminal"
cmp out out2 || fail "without a terminal it is not what --once prints"

# one that runs: the next checkpoint; one rank has failed and the others know
begin=$(($(date +%s) - 10))
job runs running
events >runs/events.jsonl
"$MEND" top --once runs >out || fail "a job that runs"
has out '^running for [0-9.]+ (s|min)$'
has out '^Next checkpoint: (in [0-9.]+ (ms|s|min)|due); every 2\.0 s$'
has out '^ +2 +running +[0-9.]+ (ms|s|min) +12 +node0$'
event 9.9 0 checkpoint.begin '"round":4' >>runs/events.jsonl
"$MEND" top --once runs >out && has out '^Next checkpoint: being taken; every 2\.0 s$'
event 9.95 2 recover.noticed '"how":"failure","call":"Recv"' >>runs/events.jsonl
"$MEND" top --once runs >out && has out '^recovering \(1 of 3 ranks\)' && has out '^ +2 +recovering '
event 9.97 -1 plan.interval '"seconds":7.5,"rate":0.1,"overhead":0.1' >>runs/events.jsonl
"$MEND" top --once runs >out && has out '^memory .* 7\.5 s '
event 9.98 -1 launch.lost '"host":"node1","processes":2,"how":"silence"' >>runs/events.jsonl
"$MEND" top --once runs >out && has out '^ +1 +lost +.* 13 +node1$' && has out 'node node1 is lost with 2 processes: silence$'
event 9.985 1 recover.playing '"version":3,"pid":13,"host":"node2","spares":0' >>runs/events.jsonl # the same number elsewhere
"$MEND" top --once runs >out && has out '^ +1 .* 13 +node2$' && has out 'rank 1: process 13 on node1 is gone, process 13 on node2 replaces it$'
event 9.99 -1 run.torn_down '"version":3' >>runs/events.jsonl
"$MEND" top --once runs >out && has out '^torn down, to be relaunched' && has out '^ +0 +torn down '
: >runs/running # nobody holds it: the job's mend run was killed
"$MEND" top --once runs >out && has out '^this job no longer runs'

# by relaunch: one event stands for all ranks, and ranks are born with their numbers
begin=$(($(date +%s) - 10))
job relaunch running
sed -i -e 's/"online":true/"online":false/' -e 's/"levels":"[^"]*",//' relaunch/job.json
{
    event 0 -1 run.launch '"launch":0,"ranks":3,"spares":0,"mpi":"mpich"'
    for r in 0 1 2; do event 0.1 $r recover.born "\"pid\":2$r,\"host\":\"n$r\""; done
    event 9 -1 checkpoint.begin '"round":1'
    event 9.5 -1 checkpoint.commit '"version":1,"bytes":3145728,"ranks":3,"seconds":0.5'
} >relaunch/events.jsonl
"$MEND" top --once relaunch >out || fail "a job by relaunch"
has out '^global +1 +[0-9.]+ (ms|s|min) +3\.0 MiB +6\.0 MiB/s +500 ms +2\.0 s +[0-9.]+ (ms|s|min) +0$'
has out '^Next checkpoint: (in [0-9.]+ (ms|s|min)|due); every 2\.0 s$'
has out '^ +2 +running .* 22 +n2$'
{
    event 9.6 -1 run.torn_down '"version":1'
    event 9.7 -1 run.launch '"launch":1,"ranks":3,"spares":0,"mpi":"mpich"'
    event 9.8 0 restart '"version":1,"ranks":3,"mpi":"mpich"'
} >>relaunch/events.jsonl
"$MEND" top --once relaunch >out && has out ', launch 2$' && has out 'relaunched, it works again from version 1$' && has out ', 1 by relaunch$'

# wrong use, and folders without a job
"$MEND" top 2>/dev/null; [ $? = 2 ] || fail "no folder is wrong use"
"$MEND" top nowhere >out 2>&1; [ $? = 1 ] && grep -q nowhere out || fail "a missing folder"
mkdir link && ln -s ../ended/events.jsonl link/events.jsonl
"$MEND" top link >out 2>&1; [ $? = 1 ] && grep -q 'symbolic link' out || fail "a link is followed"

# whoever wrote the folder: no escape sequence of theirs, no number makes it large or endless
begin=1000
mkdir foreign
cat >foreign/job.json <<'J'
{"mend":1,"state":"\u001b]0;owned\u0007","ranks":3,"every":1e300,"levels":"memory:9,\u001b[2J,erasure:::::,global:99999999999999999999","program":["\u001b[31mred","\u009b2J\u202eleft",{"hex":"1b5b326a"}]}
J
{
    events | sed -e 's/"openmpi"/"\\u001b[2J"/' -e 's/"Allreduce"/"\\u009b31m\\u007f\\n\\r"/' -e 's/node1/\\u001b[5mnode1/' -e 's/"killed"/"\\u0008\\u001bc"/' \
        -e 's/shrink=/\\u001b[1mshrink=/'
    event 9.81 2147483646 recover.playing '"pid":7'
    event 9.81 0 recover.playing '"pid":1e300,"spares":1e300'
    event 9.81 -1 run.crash '"of":1e300,"signal":-1e300,"at":1e300'
    event 9.81 -1 run.crash '"of":-7,"signal":1.5'
    event 9.81 0 rank.silent '"who":99999999999'
    event 9.81 -1 launch.lost '"host":7,"processes":1e308,"how":[]'
    event 9.81 0 checkpoint.commit '"version":999999999999999,"level":"\u001b[2J","bytes":1e18,"seconds":0.000000001,"sent":-5'
    event 9.81 0 checkpoint.failed '"version":3,"level":"local","why":"\u001b[2J"'
    event 9.81 -1 plan.level '"level":"local","seconds":1e11'
    event 9.81 -1 plan.interval '"seconds":-1e300'
    event 9.81 -1 run.launch '"launch":1,"ranks":4194304,"spares":-1'
    printf 'not JSON\n{"mend":1,"t":1001,"rank":0,"event":"recover.playing\000"}\n[]\n'
    head -c 17000000 /dev/zero | tr '\0' x # a line that is too long to be believed
    echo
    event 10 -1 run.end '"code":1,"seconds":10'
    printf '{"mend":1,"t":1011,"rank":0,"event":"run.la' # being written
} >foreign/events.jsonl
LC_ALL=C.UTF-8 "$MEND" top --once foreign >out || fail "a foreign folder"
LC_ALL=C tr -d '\n -~' <out | grep -q . && fail "not printable: $(LC_ALL=C tr -d '\n -~' <out | od -c | head -3)"
has out '\\x1b\[31mred \\xc2\\x9b2J\\xe2\\x80\\xaeleft \\x1b\[2j'
has out '^ended after 10\.0 s: .*, exit code 1$'
[ "$(wc -c <out)" -lt 200000 ] || fail "it is large"
event 1 -1 run.launch '"launch":0,"ranks":4194304,"spares":0,"mpi":"x"' >foreign/events.jsonl
timeout 60 "$MEND" top --once foreign >out || fail "many ranks"
has out '^and 4193305 more: 4193305 starting$'

# on a terminal: of 30 lines, and then of 12
if ! command -v script >/dev/null; then
    echo "SKIP: no terminal to be had: script(1) is not installed"
    exit 77
fi
begin=$(($(date +%s) - 10))
job live running
events >live/events.jsonl
cat >on_terminal <<J
#!/bin/sh
stty -echo rows 30 cols 70
(while [ -d live ] && [ ! -e resize ]; do sleep 0.1; done; stty rows 12 cols 40 </dev/tty) &
stty -a | sed 's/rows.*columns [0-9]*//' >before
sh -c 'echo \$\$ >pid; exec "$MEND" top live'
echo "code \$?" >code
touch resize
wait
stty -a | sed 's/rows.*columns [0-9]*//' >after
J
chmod +x on_terminal
after_a_while() { for _ in $(seq 900); do "$@" && return; sleep 0.1; done; return 1; }
seen() { # TEXT: on the screen, by now or later
    for _ in $(seq 900); do
        grep -qaF -- "$1" screen 2>/dev/null && return
        kill -0 "$helper" 2>/dev/null || break
        sleep 0.1
    done
    cat -v screen; fail "the terminal never shows: $1"
}
start() {
    rm -f screen keys code resize; mkfifo keys
    TERM=xterm script -qfc ./on_terminal screen <keys >/dev/null 2>&1 & helper=$!
    exec 9>keys
}
stop() { # what the terminal is like now is what it was like before
    after_a_while test -s code || fail "it has not ended"
    exec 9>&-
    wait "$helper"; helper=
    cmp before after || fail "the terminal is not as it was"
    grep -qaF $'\033[?25h\033[?1049l' screen || fail "the first screen is not back"
}
start
seen $'\033[?1049h'
seen 'running for'
seen 'node1'
event 9.9 2 recover.noticed '"how":"failure","call":"Recv"' >>live/events.jsonl
seen 'recovering (1 of 3 ranks)'
{
    for r in 0 1 2; do event 9.95 $r recover.resumed '"how":"resumed","version":3,"repair":2,"seconds":0.05,"phases":"load=1"'; done
} >>live/events.jsonl
seen 'resumed from version 3 in 50.0 ms'
touch resize # the next pictures fit the smaller window
picture() { # the last one, a line each, without what is not shown
    awk 'BEGIN{RS="\033\\[H"} /\033\[J/{last=$0} END{print last}' screen | sed -e 's/\x1b\[J.*//' -e 's/\x1b\[[0-9;?]*[a-zA-Z]//g' -e 's/\r*$//'
}
fits() { picture | awk 'length > 39 {bad = 1} END{exit bad || NR > 12 || NR < 8}'; }
after_a_while fits || { picture; fail "the picture does not fit the window"; }
# Ctrl-Z: the terminal is given back, and taken again when it goes on
printf '\032' >&9
is_stopped() { grep -q '^State:.T' "/proc/$(cat pid)/status"; }
is_left() { tail -c 14 screen | grep -qaF $'\033[?25h\033[?1049l'; }
is_drawn() { tail -c 3 screen | grep -qaF $'\033[J'; }
after_a_while is_stopped || fail "Ctrl-Z does not stop it"
after_a_while is_left || fail "it is stopped with the second screen up"
kill -CONT "$(cat pid)"
after_a_while is_drawn || fail "it does not go on"
event 11 -1 run.end '"code":0,"seconds":11' >>live/events.jsonl
stop
has code '^code 0$'
sed 's/.*\x1b\[?1049l//' screen | tail -8 >last
has last 'ended after 11\.0 s: done, exit code 0'

# q, Ctrl-C and a signal end it; the terminal is given back
events >live/events.jsonl
start
seen 'running for'
printf q >&9
stop
has code '^code 0$'
start
seen 'running for'
printf '\003' >&9 # Ctrl-C
stop
has code '^code 0$'
start
seen 'running for'
kill -TERM "$(cat pid)"
stop
has code '^code 143$'
echo PASS
