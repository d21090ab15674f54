#!/usr/bin/env bash
# The disk of the global level is full: said at once, once, and in the summary; the job ends with its right output. And
# after a kill the summary says how much work was done again.
set -uo pipefail
if [ "${1:-}" != inside ]; then
    how=(unshare -m)
    [ "$(id -u)" = 0 ] || how=(unshare -Urm)
    "${how[@]}" true 2>/dev/null || { echo "SKIP: no mount namespaces here"; exit 77; }
    exec "${how[@]}" bash "$0" inside
fi
scratch=$(mktemp -d) runner=
trap '[ -z "$runner" ] || kill $runner 2>/dev/null; umount "$scratch/job/images" 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -n 5 "$scratch"/*.txt; exit 1; }
cd "$scratch" || exit 1
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || fail "steady does not compile"
count() { local n; n=$(grep -c "$1" "$2"/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1" "$2")" -ge "$3" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $3 x $1"; sleep 0.02; done; }
start() { # DIR DOUBLES OPTIONS…: until ./enough is there
    rm -f enough
    "$MEND" run -n 2 --dir "$1" "${@:3}" -- ./steady ./enough "$2" >out.txt 2>said.txt &
    runner=$!
}
end() { echo 0 >enough && wait $runner || fail "$1"; runner=; }

mkdir -p -m 700 job/images
mount -t tmpfs -o size=256k,mode=700 none job/images || { echo "SKIP: no tmpfs may be mounted"; exit 77; }
start job 100000 --spares 0 --every 200ms --levels memory,partner,global:1
until grep -q WARNING said.txt; do kill -0 $runner 2>/dev/null || fail "the job ended before its disk was full"; sleep 0.02; done
await '"event":"checkpoint.commit"' job $(($(count '"event":"checkpoint.commit"' job) + 3))
end "the job failed with its disk"
steps=$(sed -n 's/^steady: \([0-9]*\) steps, .*/\1/p' out.txt)
mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 2 ./steady "$steps" 100000 0 >expected.txt 2>native.txt || fail "an undisturbed run of $steps steps"
cmp -s expected.txt out.txt || fail "another output"
[ "$(grep -c 'WARNING: version .* was not written at the level global: .*No space left' said.txt)" = 1 ] || fail "not said once"
grep -q 'LEVEL global FAILED [0-9]* time' said.txt || fail "not in the summary"

start kill 4096 --spares 1 --every 300ms
await '"level":"memory"' kill 4
kill -9 "$(grep '"rank":1,"event":"recover.playing"' kill/events.jsonl | tail -1 | sed 's/.*"pid":\([0-9]*\).*/\1/')" || fail "rank 1 could not be killed"
await '"how":"resumed"' kill 2
end "a kill"
grep -q 'survived in place.* s of work done again' said.txt || fail "the summary does not say what was done again"
echo PASS
