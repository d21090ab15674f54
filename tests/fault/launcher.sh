#!/usr/bin/env bash
# launcher.sh CASE: Mend's own launcher by itself. Cases:
#   owner   mend run is killed, hung up, quit: the job ends with it, and nobody is left, nor any shared memory
#   detach  a job without a terminal, and those who look at it
#   daemon  the only node's daemon is killed: launched again
#   door    who may connect: garbage, guesses, a replay, a flood, another user; the job does not notice
#   streams exit codes, signals, input and output as they should be
#   later   nodes that are added, lost and back again while the job runs; the job does not depend on them
#   fill    many new processes that fail together, and that are lost with their node: others are started all the same
#   names   a slow name server, asked while the job runs: the job does not wait for it
#   stall   the head stands still for a while: said in the events, and no node is lost for what it did not hear meanwhile
#   last    much output in the last moment, and a head that is slow: all of it comes, from here and from elsewhere, and no node is lost; nor
#           one that takes its time to clean up
#   guest   somebody connects to a daemon's PMIx port and says nothing: a rank that dies then is replaced all the same, and a new process comes
#   reader  nobody reads standard error and the reports: the head has something to say, and does not wait
#   mute    a head that falls silent before it has sent the job: the daemon does not wait for ever
#   add     mend run --add: many machines, long names, a full disk, a damaged list
#   count   messages of a start and of a fence: no worse than N log N
#   spawn   MPI_Comm_spawn is refused, with a sentence
#   many    64 ranks on one machine
#   left    mend run, the head, the daemon or a rank is killed at any moment, from the start to the end, by seed: nobody is
#           left, no shared memory, no file. MEND_TEST_SEEDS: first and count
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
if [ "$1" = left ] && [ -z "${MEND_TEST_INSIDE:-}" ]; then # in a /dev/shm of its own
    user=(); [ "$(id -u)" = 0 ] || user=(--user --map-root-user)
    unshare "${user[@]}" --mount true 2>/dev/null || { echo "SKIP: this user may not have namespaces"; exit 77; }
    MEND_TEST_INSIDE=1 exec unshare "${user[@]}" --mount bash "$0" "$@"
fi
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
runner=
fail() { echo "FAIL: $*"; tail -20 err 2>/dev/null; tail -5 job/events.jsonl 2>/dev/null | cut -c1-300; [ -n "$runner" ] && kill "$runner" 2>/dev/null; wait; exit 1; }
. "$here/programs.sh"
. "$MEND_SOURCE/tests/harness/events"
programs odd steady
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 "$@"; }
start() { events_right job/events.jsonl; rm -rf job; "$MEND" run --launcher mend --dir job "$@" >got 2>err & runner=$!; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
gone() { for _ in $(seq 100); do pgrep -f "$PWD/job" >/dev/null || return 0; sleep 0.1; done; pgrep -af "$PWD/job"; return 1; }
mapped() { local p; for p in $(pgrep -f "$PWD/job"); do grep -ho '/dev/shm/[^ ]*sm_segment[^ ]*' "/proc/$p/maps"; done 2>/dev/null | sort -u; }
removed() { # FILES: of shared memory; and the daemons' folders
    [ -n "$1" ] || fail "the ranks share no memory"
    for _ in $(seq 100); do ls -d $1 "$TMPDIR"/mend-node-* $(dirname $1 | grep mend-node) >left 2>/dev/null || [ -s left ] || return 0; sleep 0.1; done
    cat left; return 1
}
second() { awk '{print $2}' /proc/$runner/task/$runner/children; } # the daemon that was started after the first (numbers of processes go round)
head_of() { awk '{print $1}' "/proc/$1/task/$1/children"; }
node=$MEND_BUILD/lib/mend/mend-node

case $1 in
owner)
    export TMPDIR=$PWD/tmp; mkdir tmp
    start -n 2 --every 100ms -- ./odd wait
    await '"level":"memory"' 4; shared=$(mapped); kill -9 $runner; wait $runner 2>/dev/null
    gone || fail "killed: processes are left"
    removed "$shared" || fail "killed: memory is left"
    for s in HUP QUIT; do
        start -n 2 --every 100ms --levels memory,partner,global:1 -- ./odd wait
        await '"checkpoint.commit".*"level":"global"' 4; shared=$(mapped); kill -$s $runner; wait $runner && fail "$s: code 0"
        gone || fail "$s: processes are left"
        removed "$shared" || fail "$s: memory is left"
        grep -q "mend restart .* resumes" err || fail "$s: no sentence"
    done
    start -n 2 --every 100ms -- ./steady 4000 4096 # and one that ends by itself
    await '"level":"memory"' 4; shared=$(mapped); wait $runner || fail "code $?"
    removed "$shared" || fail "done: memory is left" ;;
detach)
    native -n 2 ./steady 1000 4096 >want || exit 1
    "$MEND" run --launcher mend --dir job --detach -n 2 --every 100ms -- ./steady 1000 4096 >got 2>err || fail "code $?"
    grep -q 'mend attach .*/job shows it' err || fail "no sentence: $(cat err)"
    "$MEND" attach job >/dev/null 2>&1 & first=$!; sleep 0.5
    kill $first; wait $first 2>/dev/null # it has no part in the job
    "$MEND" attach job >got 2>err || fail "attach: code $?"
    cmp got want || fail "the output differs"
    "$MEND" attach job 2>/dev/null | cmp - want || fail "attached after its end"
    "$MEND" run --launcher mend --dir job2 --detach -n 2 -- ./odd exit 3 2>/dev/null; "$MEND" attach job2 >got 2>err; [ $? = 1 ] || fail "a job that failed: code $?"
    "$MEND" attach . 2>err && fail "attached to nothing"
    grep -q 'is not the folder of a job' err || fail "no sentence: $(cat err)" ;;
daemon)
    export TMPDIR=$PWD/tmp; mkdir tmp
    native -n 2 ./steady 2000 4096 >want || exit 1
    start -n 2 --every 100ms --levels memory,partner,global:1 -- ./steady 2000 4096
    await '"checkpoint.commit".*"level":"global"' 4; shared=$(mapped); kill -9 "$(head_of "$(head_of $runner)")" || fail "no daemon"
    wait $runner || fail "code $?"
    cmp got want || fail "the output differs"
    removed "$shared" || fail "memory or folders are left"
    grep -q '"launch.lost"' job/events.jsonl || fail "not said"
    [ "$(count run.launch)" = 2 ] || fail "launched $(count run.launch) times" ;;
door)
    cat >agent <<'AGENT'
#!/bin/sh
read -r line; echo "$line" >line.new; mv line.new line
until [ -e go ]; do sleep 0.05; done
shift; echo "$line" | exec "$@"
AGENT
    chmod +x agent
    "$node" head -n 2 --host 127.0.0.2:2 --agent ./agent --report 3 -- sh -c 'echo "rank $OMPI_COMM_WORLD_RANK"; cat; sleep 1' 3>report >got 2>err <<<"a line of input" & runner=$!
    until [ -e line ]; do kill -0 $runner || fail "it ended"; sleep 0.02; done
    read -r _ _ address port _ secret <line
    [ "$address" = 127.0.0.1 ] || fail "it listens at $address"
    for f in cmdline environ; do grep -lasF "$secret" /proc/[0-9]*/$f && fail "the secret is in a $f"; done
    half=$(sed 's/../\\x&/g' <<<"${secret:0:32}")
    hello() { printf '\x20\0\0\0\1\0\0\0mend\3\0\0\0\0\0\0\0\x10\0\0\0'"$1"; }
    cut_off() { # WHAT BYTES: the connection is closed, within a while
        exec 7<>"/dev/tcp/$address/$port" || fail "$1: cannot connect"
        printf "$2" >&7 2>/dev/null
        timeout 8 cat <&7 >answer 2>/dev/null; [ $? != 124 ] || fail "$1: still connected"
        [ ! -s answer ] || fail "$1: answered"
        exec 7>&-
    }
    cut_off "garbage" 'GET / HTTP/1.0\r\n\r\n'
    cut_off "a long frame" '\xff\xff\xff\x7f\1\0\0\0mend'
    cut_off "another message first" '\0\0\0\0\x1a\0\0\0'
    cut_off "a guess" "$(hello AAAAAAAAAAAAAAAA | sed 's/\\/\\\\/g' | od -An -v -tx1 | tr -d '\n' | sed 's/ /\\x/g')"
    for i in $(seq 200); do exec 8<>"/dev/tcp/$address/$port" || fail "flood"; done # each one closes the one before
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "exec 7<>/dev/tcp/$address/$port && printf '\x20\0\0\0\1\0\0\0mend\3\0\0\0\0\0\0\0\x10\0\0\0BBBBBBBBBBBBBBBB' >&7 && timeout 8 cat <&7" >answer 2>/dev/null
        [ $? != 124 ] && [ ! -s answer ] || fail "another user was not refused"
        setpriv --reuid=65534 --regid=65534 --clear-groups cat "/proc/$runner/environ" "$PWD/line" >answer 2>/dev/null
        [ ! -s answer ] || fail "another user reads our secrets"
    else echo "(another user: not tried, this user may not become one)"; fi
    : >go
    until grep -q started report; do kill -0 $runner || fail "it ended"; sleep 0.02; done
    cut_off "a replay" "$(printf '\\x20\\0\\0\\0\\1\\0\\0\\0mend\\3\\0\\0\\0\\0\\0\\0\\0\\x10\\0\\0\\0%s' "$half")"
    wait $runner || fail "code $?"
    sort got >sorted; printf '%s\n' "a line of input" "rank 0" "rank 1" | cmp - sorted || fail "the output: $(cat got)" ;;
streams)
    # all ranks have ended, and the rest waits in the head for longer than a launcher may hang
    "$MEND" run --launcher mend --dir job -n 1 --raw -- ./odd much 90 2>raw.err | { sleep 16; cat; } >raw & slow=$!
    "$node" head -n 3 --on-death end -- sh -c 'exit $((OMPI_COMM_WORLD_RANK == 1 ? 7 : 0))' 2>err; [ $? = 7 ] || fail "exit code $?"
    "$node" head -n 2 --on-death end -- sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || kill -9 $$; sleep 100' 2>err; [ $? = 137 ] || fail "signal: code $?"
    (ulimit -n 50; exec timeout 60 "$node" head -n 2 -- echo few </dev/null) >got || fail "few open files: code $?"
    [ "$(grep -c few got)" = 2 ] || fail "few open files: $(cat got)"
    (ulimit -Sn 50; exec timeout 60 "$node" head -n 40 -- sh -c 'ulimit -n' </dev/null) >got || fail "few open files for a daemon: code $?"
    [ "$(grep -cx 50 got)" = 40 ] || fail "few open files for a daemon: $(cat got)"
    "$node" head -n 2 -- ./nothing 2>err; [ $? = 127 ] || fail "no program: code $?"
    grep -q 'cannot run ./nothing' err || fail "no sentence"
    head -c 3000000 /dev/urandom >input
    "$node" head -n 1 -- cat <input >got || fail "cat: code $?"
    cmp input got || fail "input and output"
    "$node" head -n 4 -- sh -c 'head -c 1000000 /dev/zero' </dev/null | { sleep 1; wc -c; } >got
    [ "$(cat got)" = 4000000 ] || fail "a slow reader: $(cat got) bytes"
    "$node" head -n 1 -- sh -c 'head -c 200000 /dev/zero' </dev/null | { sleep 3; wc -c; } >got # the job ends long before
    [ "$(cat got)" = 200000 ] || fail "a very slow reader: $(cat got) bytes"
    "$node" head -n 1 -- echo lost >/dev/full 2>err || fail "a full disk: code $?"
    grep -q "cannot write the ranks' standard output.*No space" err || fail "a full disk: $(cat err)"
    "$node" head -n 2 -- sh -c 'trap "echo got it; exit 0" USR1; echo ready; while :; do sleep 0.1; done' >got & runner=$!
    until [ "$(grep -c ready got)" = 2 ]; do kill -0 $runner || fail "it ended"; sleep 0.02; done
    kill -USR1 $runner; wait $runner || fail "USR1: code $?"
    [ "$(grep -c 'got it' got)" = 2 ] || fail "USR1: $(cat got)"
    "$node" head -n 2 -- sh -c 'sleep 1000 & setsid sleep 1000 & exit 0'; for _ in $(seq 50); do pgrep -P 1 -x sleep >/dev/null || break; sleep 0.1; done
    OMPI_COMM_WORLD_RANK=9 PMI_RANK=9 "$node" head -n 1 --pmi 1 -- sh -c 'echo $OMPI_COMM_WORLD_RANK $PMI_RANK' >got
    [ "$(cat got)" = "0 0" ] || fail "from within another job: $(cat got)"
    OMPI_MCA_btl_sm_backing_directory=/dev/shm/mend-node-hABCDEF OMPI_MCA_osc_sm_backing_directory=/tmp "$node" head -n 1 -- \
        sh -c 'test -d "$OMPI_MCA_btl_sm_backing_directory" && echo "own, $OMPI_MCA_osc_sm_backing_directory"' >got
    [ "$(cat got)" = "own, /tmp" ] || fail "from within another job: shared memory: $(cat got)"
    native -n 1 ./odd much 90 >want || exit 1
    wait $slow; cmp raw want || fail "mend run --raw and a slow reader: $(wc -c <raw) of $(wc -c <want) bytes: $(cat raw.err)"
    mkdir here; cd here; umask 027; V=value "$node" head -n 1 -- sh -c 'pwd; umask; echo $V' >../got; cd ..
    printf '%s\n' "$PWD/here" 0027 value | cmp - got || fail "folder, mask, environment: $(cat got)" ;;
later)
    printf '#!/usr/bin/env bash\n[ ! -e "away.$1" ] || exit 255\n[ ! -e "poor.$1" ] || ulimit -i 0\nshift; exec "$@"\n' >agent; chmod +x agent
    said() { until [ "$(grep -c "$1" report)" -ge "$2" ]; do kill -0 $runner || fail "it ended before $2 x $1: $(cat report)"; sleep 0.02; done; }
    "$node" head -n 2 --host 127.0.1.1:2 --agent ./agent --added added --retry 0.2 --report 3 -- sh -c 'until [ -e go ]; do sleep 0.05; done' 3>report >got 2>err </dev/null & runner=$!
    said started 2; echo "127.0.1.1 slots=1" >added; echo "127.0.1.2 slots=3" >>added; : >away.127.0.1.3; echo 127.0.1.3 >>added
    kill -HUP $runner; said '^added 127.0.1.1 3' 1; said '^added 127.0.1.2 3' 1; said '^unadded 127.0.1.3 ' 2; rm away.127.0.1.3; said '^added 127.0.1.3 1' 1
    kill -9 "$(second)" || fail "no daemon" # the first has the ranks
    said '^lost 127.0.1.[23] 0 ' 1; said '^added' 4
    : >poor.127.0.1.4; echo 127.0.1.4 >>added; kill -HUP $runner; said '^lost 127.0.1.4 0 refused' 1 # it may have no timers
    grep -q 'on 127.0.1.4: cannot make a timer' err || fail "a node that refuses: $(cat err)"
    rm poor.127.0.1.4; kill -HUP $runner; said '^added 127.0.1.4 1' 2; : >go
    wait $runner || fail "code $?"
    [ "$(grep -c '^ended . exit 0' report)" = 2 ] || fail "the ranks: $(cat report)" ;;
fill)
    printf '#!/bin/sh\nshift; exec "$@"\n' >agent; chmod +x agent
    said() { until [ "$(grep -c "$1" report)" -ge "$2" ]; do kill -0 $runner || fail "it ended before $2 x $1: $(tail -30 report)"; sleep 0.02; done; }
    here() { until [ "$(find . -name 'came.*' | wc -l)" -ge "$1" ]; do kill -0 $runner || fail "it ended before $1 were here: $(tail -30 report)"; sleep 0.02; done; }
    : >poor
    "$node" head -n 2 --keep 12 --host 127.0.1.1:2,127.0.1.2:10 --agent ./agent --retry 0.2 --report 3 -- sh -c \
        '[ -z "$MEND_ONLINE_JOIN" ] || { [ ! -e poor ] || exit 1; : >"came.$MEND_ONLINE_JOIN"; }; until [ -e go ]; do sleep 0.05; done' 3>report >got 2>err </dev/null & runner=$!
    said '^unfilled' 10; rm poor; here 10
    rm came.*; kill -9 "$(second)" || fail "no daemon"
    said '^lost 127.0.1.2 ' 1; here 10; : >go
    wait $runner || fail "code $?"
    [ "$(grep -c '^ended [01] exit 0' report)" = 2 ] && ! grep -q 'starts no more' err || fail "the ranks: $(cat report err)" ;;
names) # all daemons are here, so the head does not listen before a machine comes; then it must know its address
    cat >slow.c <<'SLOW'
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!hints || !(hints->ai_flags & AI_NUMERICHOST))
        sleep(4);
    return node && strncmp(node, "nobody", 6) == 0 ? EAI_NONAME : real(node, service, hints, found);
}
SLOW
    gcc -D_GNU_SOURCE -shared -fPIC -o slow.so slow.c -ldl || exit 1
    printf '#!/bin/sh\nshift; exec "$@"\n' >agent; chmod +x agent
    said() { until [ "$(grep -c "$1" report)" -ge "$2" ]; do kill -0 $runner || fail "it ended before $2 x $1: $(cat report)"; sleep 0.02; done; }
    LD_PRELOAD=$PWD/slow.so "$node" head -n 2 --host localhost:2 --agent ./agent --added added --retry 0 --node-timeout 2 --report 3 -- \
        sh -c 'until [ -e go ]; do sleep 0.05; done' 3>report >got 2>err </dev/null & runner=$!
    said started 2; echo nobody >added; kill -HUP $runner; said '^unadded nobody there is no route' 1
    printf '%s\n' 127.0.1.2 127.0.1.3 >added; kill -HUP $runner; said '^added 127.0.1.[23] 1' 2; : >go
    wait $runner || fail "code $?: $(cat report)"
    ! grep -q '^lost' report && [ "$(grep -c '^ended . exit 0' report)" = 2 ] || fail "the job waited: $(cat report)" ;;
stall)
    native -n 2 ./steady 2000 4096 >want || exit 1
    start -n 2 --every 100ms --node-timeout 20s -- ./steady 2000 4096
    await '"level":"memory"' 4
    head=$(head_of $runner)
    kill -STOP "$head"; sleep 2.5; kill -CONT "$head" || fail "no head"
    await launch.stalled 1
    wait $runner || fail "code $?"
    cmp got want || fail "the output differs"
    [ "$(count launch.lost)" = 0 ] && [ "$(count run.launch)" = 1 ] || fail "a node was lost"
    grep '"launch.stalled","doing":"waiting"' job/events.jsonl | grep -q '"seconds":[2-9]' || fail "how long: $(grep stalled job/events.jsonl)" ;;
last)
    printf '%s\n' '#include <dlfcn.h>' '#include <sys/socket.h>' '#include <unistd.h>' 'ssize_t recv(int fd, void *bytes, size_t size, int flags) {' \
        ' ssize_t (*real)(int, void *, size_t, int) = dlsym(RTLD_NEXT, "recv"), n = real(fd, bytes, size, flags);' \
        ' if (n > 8192) usleep(100000); return n; }' >slow.c
    gcc -D_GNU_SOURCE -shared -fPIC -o slow.so slow.c -ldl || exit 1
    printf '#!/bin/sh\nshift; unset LD_PRELOAD; exec "$@"\n' >agent; chmod +x agent
    for host in 127.0.1.1 localhost; do
        rm -f go
        LD_PRELOAD=$PWD/slow.so "$node" head -n 48 --host $host:48 --agent ./agent --node-timeout 60 --report 3 -- \
            sh -c 'until [ -e go ]; do sleep 0.2; done; head -c 60000 /dev/zero' 3>report >got 2>err </dev/null & runner=$!
        until [ "$(grep -c '^started' report)" = 48 ]; do kill -0 $runner || fail "it ended"; sleep 0.02; done
        : >go; wait $runner || fail "$host: code $?"
        [ "$(wc -c <got)" = 2880000 ] || fail "$host: $(wc -c <got) bytes of 2880000: $(cat report)"
        ! grep '^lost' report || fail "$host: a node was lost at the end"
    done
    printf '#include <unistd.h>\nint PMIx_server_finalize(void) { usleep(1900000); return 0; }\n' >slow.c # as it may be
    gcc -shared -fPIC -o slow.so slow.c || exit 1
    printf '#!/bin/sh\nshift; exec "$@"\n' >agent
    for host in 127.0.1.1 localhost; do
        LD_PRELOAD=$PWD/slow.so "$node" head -n 2 --host $host:2 --agent ./agent --node-timeout 0.5 --report 3 -- echo end 3>report >got 2>err </dev/null || fail "$host: code $?"
        ! grep '^lost' report || fail "$host: a node was lost while it cleaned up"
    done ;;
guest)
    start -n 2 --spares 1 --refill --every 100ms --node-timeout 5s -- ./odd wait
    await '"level":"memory"' 4
    daemon=$(head_of "$(head_of $runner)")
    inodes=$(readlink /proc/"$daemon"/fd/* | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
    port=$(awk -v inodes="$inodes" 'BEGIN { split(inodes, list); for (i in list) its[list[i]] } $4 == "0A" && $10 in its { split($2, a, ":"); print a[2] }' /proc/net/tcp | head -n 1)
    [ -n "$port" ] || fail "no PMIx port"
    exec 7<>"/dev/tcp/127.0.0.1/$((16#$port))" || fail "cannot connect"
    sleep 0.5
    kill -9 "$(head_of "$daemon")" || fail "no rank"
    await '"how":"res' 2; await launch.filled 1; exec 7>&- # (the daemon has waited for the library itself)
    [ "$(count run.launch)" = 1 ] && [ "$(count launch.lost)" = 0 ] || fail "launched again"
    kill $runner; wait $runner
    gone || fail "processes are left" ;;
reader)
    mkfifo pipe reports; exec 8<>reports 9<>pipe # they are full, and nobody reads
    timeout 1 cat /dev/zero >&8 & timeout 1 cat /dev/zero >&9; wait
    "$node" head -n 2 --added added --retry 0 --node-timeout 2 --report 3 -- sh -c ': >"here.$OMPI_COMM_WORLD_RANK"; until [ -e go ]; do sleep 0.05; done' 3>reports >got 2>pipe </dev/null & runner=$!
    until [ -e here.0 ] && [ -e here.1 ]; do kill -0 $runner || fail "it ended"; sleep 0.02; done
    echo ';;;' >added; kill -HUP $runner # "is not valid"
    sleep 4; : >go; cat <&9 >said 8>&- & readers=$!; cat <&8 >report 9>&- & readers="$readers $!"
    wait $runner; code=$?
    until grep -aq '^messages' report && grep -aq 'added is not valid' said; do sleep 0.1; done
    kill $readers; [ $code = 0 ] || fail "code $code: $(tr -d '\0' <report)"
    ! grep -aq 'lost' report && [ "$(grep -ac 'ended . exit 0' report)" = 2 ] || fail "the head was waiting: $(tr -d '\0' <report)" ;;
mute)
    gcc -o mute "$here/apps/mute.c" || exit 1
    ./mute >where & runner=$!
    until [ -s where ]; do kill -0 $runner || fail "nobody listens"; sleep 0.02; done
    secret=$(printf '%064d' 0)
    "$node" daemon <<<"mend 1 127.0.0.1 $(cat where) 0 $secret"; code=$?
    kill $runner; wait $runner; [ $? = 143 ] || fail "no daemon has said hello"
    [ $code = 0 ] || fail "the daemon's code is $code" ;;
add) # only 127.… can be reached
    printf '#!/bin/sh\ncase $1 in 127.*) shift; exec "$@" ;; esac\nexit 255\n' >agent; chmod +x agent
    add() { "$MEND" run --add "$1" --dir job >added 2>&1; }
    rm -rf job; "$MEND" run --launcher "$PWD/agent" --dir job -n 2 --spares 1 --host 127.0.1.1:3 --every 100ms --levels memory,partner,global:1 -- ./odd wait >got 2>err & runner=$!
    await '"checkpoint.commit".*"level":"global"' 2
    add 127.0.1.2:2,127.0.1.3 || fail "two that answer: code $? $(cat added)"
    [ "$(grep -c 'has joined the job' added)" = 2 ] || fail "not said: $(cat added)"
    long=$(printf 'n%.0s' $(seq 225)) # 300 of them are more than 64 KiB, and more than 256
    printf -v many "$long%d," $(seq 300); many=${many%,}
    add "$many"; [ $? = 1 ] || fail "300 that do not answer: code $?"
    [ "$(grep -c 'did not come' added)" = 300 ] || fail "300 that do not answer: $(grep -c 'did not come' added) named; $(tail -c 300 added)"
    [ "$(grep -cE "^$long[0-9]+ slots=1$" job/hosts.added)" = 300 ] && [ "$(wc -l <job/hosts.added)" = 302 ] || fail "the list is not whole"
    cp job/hosts.added before
    (trap '' XFSZ; ulimit -f $(($(stat -c %s before) / 1024 + 10)); add "$many"); [ $? = 1 ] || fail "a full disk: code $?"
    grep -q 'cannot write .*hosts.added: ' added || fail "a full disk: $(cat added)"
    cmp before job/hosts.added || fail "a full disk: half a list is left"
    for wrong in 'x;y' '' 'a,,b' 'a:0' 'a:x' -o; do add "$wrong"; [ $? = 2 ] || fail "\"$wrong\" was taken: $(cat added)"; done
    cmp before job/hosts.added || fail "a wrong name was written down"
    printf '127.0.1.1 slots=65536\n;;;\n' >job/hosts.new; mv job/hosts.new job/hosts.added # longer or shorter: the job reads it
    kill -9 "$(head_of "$(head_of $runner)")" || fail "no daemon"
    await '"run.launch"' 2; await '"recover.playing"' 4; await '"level":"memory"' $(($(count '"level":"memory"') + 4))
    kill $runner; wait $runner
    gone || fail "processes are left" ;;
count) # the nodes are daemons on this machine: what they say is the same
    printf '#!/bin/sh\nshift; exec "$@"\n' >agent; chmod +x agent
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_mpi_add_procs_cutoff=4096
    counted() { # RANKS NODES: "messages fences messages-of-fences"
        local hosts; hosts=$(for ((k = 0; k < $2; k++)); do printf '127.0.1.%d:%d,' $((k + 1)) $(($1 / $2)); done)
        "$node" head -n "$1" --host "${hosts%,}" --agent ./agent --start-timeout 300 --node-timeout 300 --report 3 -- ./odd brief 3>report >got 2>err </dev/null || fail "$1 ranks on $2 nodes: code $?"
        [ "$(grep -c "was here" got)" = "$1" ] || fail "$1 ranks on $2 nodes: $(grep -c "was here" got) have come"
        awk '/^messages/ { print $2 + $3, $5, $6 }' report
    }
    for nodes in 1 4; do # by ranks
        before=0
        for ranks in ${MEND_TEST_RANKS:-4 8 16}; do
            read -r all fences of_fences < <(counted $ranks $nodes)
            echo "$ranks ranks, $nodes nodes: $all messages, $fences fences of $of_fences messages"
            [ "$of_fences" = $((2 * nodes * fences)) ] || fail "a fence has more than two messages a node"
            [ $before = 0 ] || awk -v a=$all -v b=$before -v n=$ranks -v m=$last 'BEGIN { exit !(a / b <= n * log(n) / (m * log(m))) }' || fail "more than N log N"
            before=$all last=$ranks
        done
    done ;;
spawn) # the capsule says so before the launcher would be asked; without a capsule the launcher does
    printf '%s\n' '#include <mpi.h>' '#include <stdio.h>' 'int main(int argc, char **argv) {' ' MPI_Comm c; MPI_Init(&argc, &argv);' \
        ' MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);' \
        ' int rc = MPI_Comm_spawn("./odd", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &c, MPI_ERRCODES_IGNORE);' \
        ' printf("%s\n", rc ? "refused" : "spawned"); return MPI_Finalize(); }' >spawner.c
    mpicc.openmpi -o spawner spawner.c || exit 1
    start -n 2 -- ./spawner; wait $runner || fail "code $?"
    [ "$(grep -cx refused got)" = 2 ] && grep -q 'rank [01]: the capsule does not support MPI_Comm_spawn: .' err || fail "in the capsule: $(cat got)"
    OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm "$node" head -n 2 -- ./spawner >got 2>err </dev/null || fail "without: code $?"
    [ "$(grep -cx refused got)" = 2 ] && grep -q 'rank 0 calls MPI_Comm_spawn for ./odd, which' err || fail "without: $(cat got)" ;;
many)
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm OMPI_MCA_mpi_yield_when_idle=1
    "$node" head -n 64 --node-timeout 300 --report 3 -- ./odd brief 3>report >got 2>err </dev/null || fail "code $?"
    [ "$(grep -c "was here" got)" = 64 ] && [ "$(grep -c '^started' report)" = 64 ] || fail "$(cat report)" ;;
left)
    mount --make-rprivate / && mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit 1
    export TMPDIR=$PWD/tmp; mkdir tmp
    read -r first seeds <<<"${MEND_TEST_SEEDS:-1 30}"
    native -n 2 ./steady 300 4096 >want || exit 1
    strike() { # WHOM: false if it is not there
        local head daemon ranks
        head=$(head_of "$runner" 2>/dev/null) && [ -n "$head" ] && daemon=$(head_of "${head%% *}" 2>/dev/null)
        case $1 in
        run) kill -9 "$runner" ;;
        asked) kill -TERM "$runner" ;;
        head) [ -n "$head" ] && kill -9 "${head%% *}" ;;
        daemon) [ -n "${daemon:-}" ] && kill -9 "${daemon%% *}" ;;
        rank) [ -n "${daemon:-}" ] && mapfile -t ranks < <(pgrep -P "${daemon%% *}") && [ ${#ranks[@]} -gt 0 ] && kill -9 "${ranks[RANDOM % ${#ranks[@]}]}" ;;
        esac 2>/dev/null
    }
    for ((seed = first; seed < first + seeds; seed++)); do
        RANDOM=$seed
        whom=(run asked head daemon rank rank); whom=${whom[RANDOM % 6]} ms=$((RANDOM % 1500)) again=$((RANDOM % 3))
        start -n 2 --spares 1 --every 100ms --levels memory,partner,global:1 -- ./steady 300 4096
        sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"; strike "$whom" && hit=hit || hit=gone
        if [ $again = 0 ]; then sleep 0.1; strike daemon; fi
        wait $runner 2>/dev/null; code=$? # 0, if it had ended before or went on after it
        gone || fail "seed $seed: $whom after $ms ms: processes are left"
        for _ in $(seq 50); do left=$(find /dev/shm tmp -mindepth 1); [ -n "$left" ] || break; sleep 0.1; done
        [ -z "$left" ] || fail "seed $seed: $whom after $ms ms: $left"
        [ $code != 0 ] || cmp got want || fail "seed $seed: $whom after $ms ms: the output differs"
        [ $code = 0 ] || case $whom in run | asked) ;; *) fail "seed $seed: $whom after $ms ms: code $code" ;; esac
        echo "ok: seed $seed: $whom after $ms ms ($hit), code $code"
    done
    runner= ;;
*) echo "no case $1"; exit 2 ;;
esac
events_right job*/events.jsonl
echo PASS
