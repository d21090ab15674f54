#!/usr/bin/env bash
# What mend run inherits from whoever starts it: few descriptors, few processes, small files, few addresses, little shared
# memory, a folder that all may change, an ignored SIGCHLD, blocked signals. It runs the job, or says why not and ends. It
# never signals processes that it did not start.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
. "$MEND_SOURCE/tests/harness/yardstick"
if [ "${1:-}" != inside ]; then # the old error killed all processes of the user: let it see few of them
    how=(unshare --pid --fork --kill-child --mount --mount-proc)
    [ "$(id -u)" = 0 ] || how+=(--user --map-root-user)
    "${how[@]}" true 2>/dev/null || { echo "SKIP: no process namespaces here"; exit 77; }
    exec "${how[@]}" bash "$0" inside
fi
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -n 5 got err 2>/dev/null; exit 1; }
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
program=(./steady 60 16)
mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 2 "${program[@]}" >want || exit 1
setsid sleep 1000 & bystander=$!
judge() { # WHAT CODE
    [ "$2" != 124 ] || fail "$1: it hangs"
    kill -0 $bystander 2>/dev/null || fail "$1: a process of somebody else was ended"
    if [ "$2" = 0 ]; then cmp -s got want || fail "$1: another output"; else [ -s err ] || fail "$1: code $2 without a word"; fi
}

failed=0
for files in 7 8 9 16; do # 16: too few for a rank
    rm -rf job
    ( ulimit -n $files; exec timeout -k 30 60 "$MEND" run -n 2 --spares 0 --retries 0 --dir job -- "${program[@]}" >got 2>err )
    code=$?
    judge "$files descriptors" $code
    ! grep -q 'cannot start the launcher: Too many open files' err || failed=1
done
[ $failed = 1 ] || fail "no number of descriptors was too small for the launcher only"
grep -q 'Too many open files' err || fail "16 descriptors: not said why"
rm -rf job # a soft limit is no reason: the program has it, the launcher has more
( ulimit -Sn 48; exec timeout -k 30 60 "$MEND" run -n 2 --spares 0 --dir job -- "${program[@]}" >got 2>err ) || fail "ulimit -Sn 48: code $?"
cmp -s got want || fail "ulimit -Sn 48: another output"
echo "ok: descriptors"

rm -rf job # MPI's shared memory does not fit into files that small: it is said, and not tried for ever
( ulimit -f 200; exec timeout -k 30 120 "$MEND" run -n 2 --spares 0 --dir job -- "${program[@]}" >got 2>err )
[ $? = 1 ] || fail "ulimit -f 200: code $?"
grep -q 'got through MPI_Init: process [01] exited with code .*; a file here may have at most 204800 bytes (ulimit -f)' err || fail "ulimit -f 200: not said why"
[ "$(grep -c '"run.launch"' job/events.jsonl)" -le 5 ] || fail "ulimit -f 200: launched $(grep -c '"run.launch"' job/events.jsonl) times"
echo "ok: file sizes"

rm -rf job
( ulimit -v 200000; exec timeout -k 30 120 "$MEND" run -n 2 --spares 0 --dir job -- "${program[@]}" >got 2>err )
[ $? = 1 ] && grep -q 'got through MPI_Init.*; a process here may have at most 204800000 bytes of addresses (ulimit -v)' err || fail "ulimit -v 200000: not said why"
echo "ok: addresses"

rm -rf job
if unshare -m true 2>/dev/null; then
    timeout -k 30 120 unshare -m sh -c 'mount -t tmpfs -o size=1m none /dev/shm && exec "$@"' sh "$MEND" run -n 2 --spares 0 --dir job -- "${program[@]}" >got 2>err
    [ $? = 1 ] && grep -q 'got through MPI_Init.*; /dev/shm has 1 MiB for 2 processes' err || fail "a small /dev/shm: not said why"
    echo "ok: shared memory"
fi

open=$(mktemp -d /tmp/mend-open-XXXXXX); chmod 777 "$open"
(cd "$open" && "$MEND" run -n 2 --dir job -- "$scratch/${program[0]#./}" "${program[@]:1}") >got 2>err; code=$?
said=$([ -s "$open/job/events.jsonl" ] || grep -c "every user could replace the files in the folder $open (mode 0777)" err)
rm -rf "$open"
[ $code = 1 ] && [ "$said" = 1 ] || fail "a folder that all may change: code $code"
echo "ok: a folder that all may change"

clock_start
rm -rf job
env --ignore-signal=CHLD timeout -k 5 120 "$MEND" run -n 2 --spares 0 --dir job -- "${program[@]}" >got 2>err || fail "SIGCHLD ignored: code $?"
clock_read
cmp -s got want || fail "SIGCHLD ignored: another output"
[ "$clock" -lt 20000 ] || fail "SIGCHLD ignored: it took $clock ms"
echo "ok: SIGCHLD"

rm -rf job
env --block-signal=TERM --block-signal=CHLD "$MEND" run -n 2 --spares 0 --dir job -- ./steady 100000 16 >got 2>err & runner=$!
until grep -q '"event":"recover.playing"' job/events.jsonl 2>/dev/null; do kill -0 $runner || fail "it ended early"; nap 20; done
kill -TERM $runner
for ((i = 0; i < 600; i++)); do kill -0 $runner 2>/dev/null || break; nap 100; done
kill -0 $runner 2>/dev/null && { kill -9 $runner; fail "SIGTERM blocked: it does not end"; }
wait $runner; [ $? != 0 ] || fail "SIGTERM blocked: code 0"
echo "ok: SIGTERM"
kill $bystander
echo PASS
