#!/usr/bin/env bash
# online_waits.sh CASE: threads that wait in a call of the kernel (apps/waits.c) hold up no version, and see of it nothing.
#   all     every kind of call: versions go on meanwhile, and each call returns what it returns natively
#   deaths  those that a rollback brings back: ranks die while they wait
#   main    rank 0 itself waits, in open() of a named pipe and in write() to it: versions, a stop and a restart meanwhile
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
. "$MEND_SOURCE/tests/harness/yardstick"
. "$MEND_SOURCE/tests/harness/events"
. "$here/told.sh"
. "$here/programs.sh"
runner=
trap '[ -z "$runner" ] || kill $runner 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -5 err 2>/dev/null; tail -5 job/events.jsonl 2>/dev/null | cut -c1-300; exit 1; }
programs waits
native() { mkdir -p native && (cd native && mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 2 ../"$@"); }
start() { untold "$@"; "$MEND" run -n 2 --dir job -q "$@" >got 2>err & runner=$!; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { # PATTERN N: within 20 s of an idle machine
    clock_start
    until [ "$(count "$1")" -ge "$2" ]; do
        kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"
        nap 50; clock_read; [ "$clock" -lt 20000 ] || fail "no $1 number $2 within 20 s"
    done
}
more() { await '"level":"memory"' $(($(count '"level":"memory"') + 2 * $1)); } # N more versions, of 2 ranks
player() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
agrees() { tell; wait $runner || fail "code $?"; runner=; reference; sort got >a.sorted; sort want | cmp - a.sorted || fail "not as natively: $(sort want | diff - a.sorted)"; }
kept=(open_read open_write open_create open_raw stream_read stream_write stream_again read_pipe write_pipe write_pipe_parts stream_pipe
    lock_file lock_range queue_read semaphore_down word_wait many_select signal_wait signal_any many_masked signal_timed sleep_short)

case $1 in
all)
    start --every 100ms -- ./waits ./enough all
    more 5; agrees ;;
deaths)
    start --every 200ms --spares 2 -- ./waits ./enough "${kept[@]}"
    more 3; kill -9 "$(player 1)"; await '"how":"resumed"' 2
    more 2; kill -9 "$(player 0)"; await '"how":"resumed"' 4
    more 1; agrees ;;
main)
    mkfifo fifo
    start --every 100ms -- ./waits main fifo
    await recover.playing 2; more 5; echo "ok: versions while rank 0 waits in open()"
    "$MEND" checkpoint --stop --timeout 60 job >asked 2>&1 || fail "mend checkpoint: $(cat asked)"
    wait $runner; [ $? = 3 ] || fail "stopped: code $?"
    "$MEND" restart -q --every 100ms job >got 2>err & runner=$!
    more 5; echo "ok: stopped and resumed"
    exec 5<fifo
    more 4; echo "ok: versions while it waits in write()"
    read=$(cat <&5 | wc -c)
    [ "$read" = 300000 ] || fail "$read bytes have come"
    wait $runner || fail "code $?"
    runner=
    [ "$(sort got)" = "$(printf 'rank %d: 300000 bytes\n' 0 1)" ] || fail "$(cat got)" ;;
*) fail "which case?" ;;
esac
echo PASS
