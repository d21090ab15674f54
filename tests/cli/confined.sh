#!/usr/bin/env bash
# Mend in a container: no capabilities, a user and a process namespace, little shared memory, and system calls that the default
# profile of a container denies (programs/confined.c). A killed rank is repaired in place, and `mend doctor` names what is
# denied. Where filters are denied, too, or a single call that Mend needs, an unmodified program is refused before anything is
# launched; layers that need none work.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
runner=
trap '[ -z "$runner" ] || kill $runner 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -5 err doctor 2>/dev/null; tail -3 job/events.jsonl 2>/dev/null | cut -c1-300; exit 1; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
gcc -O1 -Wall -o confined "$MEND_SOURCE/tests/cli/programs/confined.c" || fail "confined does not compile"
"$MEND" cc -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" -lm || fail "steady does not compile"
./confined docker true || { echo "SKIP: no seccomp filters here"; exit 77; }
program=(./steady 3000 4096)
mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 3 "${program[@]}" >want || exit 1

# contained PROFILE COMMAND…: as process 1 of a container that has one user
inside=(unshare --user --map-root-user --mount --pid --ipc --fork --kill-child --mount-proc)
shm='mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm'
if ! "${inside[@]}" sh -c "$shm" 2>/dev/null; then
    echo "left out: user namespaces (not allowed here)"
    inside=() shm=:
fi
contained() {
    local profile=$1
    shift
    # shellcheck disable=SC2016
    "${inside[@]}" sh -c "$shm"' && exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all ./confined "$@"' sh "$profile" "$@"
}
contained docker true || { inside=() shm=:; contained docker true; } || { echo "SKIP: setpriv does not work here"; exit 77; }

contained docker "$MEND" doctor --dir . >doctor 2>&1 || fail "mend doctor: code $?"
for row in 'ok  ulfm' '--  userfaultfd' 'ok  seccomp' '--  cma'; do grep -q -e "^$row" doctor || { cat doctor; fail "mend doctor does not say: $row"; }; done
[ "$shm" = : ] || { grep -q -e '^ok  container .*user namespace' doctor && grep -q -e '^--  shm .*only 64 MiB' doctor; } || { cat doctor; fail "mend doctor does not see the container"; }
echo "ok: mend doctor"

# the victim is found and killed inside: its number is another one here
cat >life <<'LIFE'
"$MEND" run -n 3 --spares 1 --every 100ms --dir job -- ./steady 3000 4096 >got 2>err &
runner=$!
until [ "$(grep -c '"level":"memory"' job/events.jsonl 2>/dev/null)" -ge 6 ] 2>/dev/null; do
    kill -0 $runner 2>/dev/null || { echo "the job ended before its second version"; exit 1; }
    sleep 0.02
done
kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | sed 's/.*"pid":\([0-9]*\).*/\1/')" || exit 1
wait $runner
LIFE
contained docker bash ./life || fail "a job that loses a rank: code $?"
[ "$(count '"how":"resumed"')" -ge 3 ] || fail "nothing was repaired"
cmp got want || fail "the output differs from that of an undisturbed run"
echo "ok: repaired in place"

rm -rf job
contained strict "$MEND" run -n 3 --dir job -- "${program[@]}" >got 2>err; code=$?
[ $code = 1 ] || fail "no filters: code $code"
grep -q 'does not let processes install seccomp filters (Operation not permitted), and an unmodified program needs one' err || fail "no filters: not said"
[ "$(grep -c . err)" = 1 ] && [ ! -e job ] || fail "no filters: launched"
contained strict "$MEND" doctor --dir . >doctor 2>&1
grep -q -e '^--  seccomp .*unmodified programs cannot be protected' doctor || { cat doctor; fail "mend doctor: filters"; }
echo "ok: refused without filters"

# single calls that the capsule or the launcher needs: refused at once as well, not after a hang or some launches
for call in tgkill rt_sigtimedwait memfd_create socketpair eventfd2 epoll_create1 signalfd4 timer_create membarrier -tgkill; do
    rm -rf job
    "$MEND_SOURCE/tests/harness/within" 60 ./confined $call "$MEND" run -n 2 --dir job -- "${program[@]}" >got 2>err; code=$?
    [ $code = 1 ] || fail "no $call: code $code"
    grep -q "this system refuses the system call ${call#-} (Operation not permitted), which Mend needs" err || fail "no $call: not said"
    [ "$(grep -c . err)" = 1 ] && [ ! -e job ] || fail "no $call: launched"
done
./confined tgkill "$MEND" doctor --dir . >doctor 2>&1
grep -q -e '^--  seccomp .*system call tgkill is refused .*unmodified programs cannot be protected' doctor || { cat doctor; fail "mend doctor: calls"; }
echo "ok: refused without a call"
echo PASS
