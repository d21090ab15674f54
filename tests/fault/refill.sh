#!/usr/bin/env bash
# refill.sh CASE: new processes in place of those that died (mend run --refill). Cases:
#   one     a rank is killed; the new process plays a rank after the next kill
#   ten     ten kills in a row with one spare
#   pair    two ranks are killed at once, with one spare: the recovery waits for a new process
#   steps   the new process, or an old one, is killed at a step of joining
#   raw     what a new process prints under --raw
#   hopeless  a rank that is killed at once after each recovery: the job ends, with a sentence
#   again   a job that was stopped and is resumed by mend restart starts new processes, too
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
runner=
trap 'exit 1' TERM INT
trap '[ -z "$runner" ] || kill $runner 2>/dev/null; wait; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -20 err 2>/dev/null; grep -v checkpoint job/events.jsonl 2>/dev/null | tail -20 | cut -c1-300; [ -n "$runner" ] && kill "$runner" 2>/dev/null; wait; exit 1; }
. "$here/told.sh"
mpicc.openmpi -O2 -o steady "$here/apps/steady.c" -lm -pthread || exit 1
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
player() { grep '"recover.playing"' job/events.jsonl | grep "\"rank\":$1," | tail -1 | sed 's/.*"pid":\([0-9]*\).*/\1/'; }
gone() { for _ in $(seq 100); do pgrep -f "$PWD/job" >/dev/null || return 0; sleep 0.1; done; pgrep -af "$PWD/job"; return 1; }
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "$@"; }
run() { rm -rf job; untold -- ./steady ./enough 4096; "$MEND" run --launcher mend --dir job -n 4 --spares 1 --every 100ms "$@" -- ./steady ./enough 4096 >got 2>err & runner=$!; }
start() { run --refill; await '"level":"memory"' 8; }
end() {
    tell
    wait $runner || fail "code $?"
    reference
    cmp got want || fail "the output differs"
    gone || fail "processes are left"
    [ "$(count run.launch)" = "${1:-1}" ] || fail "launched $(count run.launch) times"
    [ "$(grep '"recover.playing"' job/events.jsonl | grep -c '"version":0,')" = 4 ] || fail "it began anew"
}
listening() { # the addresses at which the job's processes listen, in the kernel's writing
    local p i
    for p in $(pgrep -f "$PWD/job"); do
        for i in $(find "/proc/$p/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n'); do
            cat "/proc/$p/net/tcp" "/proc/$p/net/tcp6" 2>/dev/null | awk -v i="$i" '$4 == "0A" && $10 == i { split($2, a, ":"); print a[1] }'
        done
    done | sort -u
}
versions() { await '"level":"memory"' $(($(count '"level":"memory"') + $1)); }

case $1 in
one | ten)
    kills=2; [ "$1" = ten ] && kills=10
    start
    at=$(listening); [ -n "$at" ] || fail "no process listens: the test sees nothing"
    grep -vxE '0100007F|0{24}01000000' <<<"$at" && fail "on one machine they listen on the network"
    for k in $(seq $kills); do
        kill -9 "$(player $((k % 4)))" || fail "no player of $((k % 4))"
        await '"launch.filled"' "$k"; versions 4
    done
    end ;;
pair)
    start
    kill -9 "$(player 1)" "$(player 3)" || fail "no players" # neither keeps the image of the other
    await '"launch.filled"' 1
    end
    grep -q 'survived in place' err || fail "no recovery" ;;
steps) # each process that comes to the point ends there, new ones, too: the job goes on all the same
    for fault in recover.join_ask:rank=3:hit=3 recover.join_connect:rank=3 recover.join_merge:rank=3 recover.join_welcome:rank=0 \
        recover.join_wait recover.join_accepted recover.join_merged recover.join_joined; do
        export MEND_FAULT="$fault:kill"
        start
        victim=1; [[ $fault != *rank=0 ]] || victim=2 # both may die in one recovery: they do not keep each other's image
        kill -9 "$(player $victim)" || fail "no player"
        await '"launch.ended"' 2
        unset MEND_FAULT
        end
        echo "$fault: survived, $(count '"launch.ended"') deaths, $(count '"launch.filled"') new processes"
    done ;;
raw)
    run --refill --raw; await '"level":"memory"' 8
    for k in 1 2; do kill -9 "$(player 0)" || fail "no player"; await '"launch.filled"' $k; versions 4; done
    tell
    wait $runner || fail "code $?"
    runner=
    sort -u got >sorted # what was done again is printed again, perhaps in the middle of a line
    grep -E '^steady: [0-9]+ (steps|rounds), ' got >last || fail "the end is not printed: $(tail -n 2 got)"
    reference last
    sort -u want | comm -23 - sorted >missing
    [ ! -s missing ] || fail "not printed: $(head -n 3 missing)" ;;
hopeless)
    printf '%s\n' '#include <mpi.h>' '#include <signal.h>' '#include <unistd.h>' 'int main(int argc, char **argv) {' \
        ' int rank; double x = 1, y; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);' \
        ' for (;;) { MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); usleep(1000);' \
        '  if (rank == 1 && access("die", F_OK) == 0) raise(SIGKILL); } }' >hopeless.c
    mpicc.openmpi -o hopeless hopeless.c || exit 1
    "$MEND" run --launcher mend --refill --dir job -n 2 --spares 1 --every 1s --retries 0 -- ./hopeless >got 2>err & runner=$!
    await '"level":"memory"' 2; : >die
    wait $runner && fail "code 0"
    runner=
    grep -q 'without a checkpoint in between: no more' err || fail "no sentence"
    gone || fail "processes are left"
    deaths=$(count '"launch.ended"'); [ "$deaths" -le 40 ] || fail "$deaths deaths"
    echo "$deaths deaths" ;;
again)
    run --refill --levels memory,partner,global:1
    await '"checkpoint.commit".*"level":"global"' 8; kill -TERM $runner; wait $runner
    "$MEND" restart job >got 2>err & runner=$!
    await '"recover.playing"' 8; versions 2; kill -9 "$(player 1)" || fail "no player"
    await '"launch.filled"' 1
    end 2 ;;
*) echo "no case $1"; exit 2 ;;
esac
echo PASS
