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
scratch=$(mktemp -d)
trap 'umount "$scratch/job/images" 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -n 5 "$scratch"/*.txt; exit 1; }
cd "$scratch" || exit 1
mpicc.openmpi -O2 -o heat "$MEND_SOURCE/apps/heat/heat.c" -lm || fail "heat does not compile"
program=(./heat -m 2 -s 1500 -r 500)
"$MEND" run -n 2 --spares 0 -q --dir quiet -- "${program[@]}" >expected.txt 2>quiet.txt || fail "an undisturbed run"

mkdir -p -m 700 job/images
mount -t tmpfs -o size=256k,mode=700 none job/images || { echo "SKIP: no tmpfs may be mounted"; exit 77; }
"$MEND" run -n 2 --spares 0 --every 200ms --levels memory,partner,global:1 --dir job -- "${program[@]}" >out.txt 2>said.txt ||
    fail "the job failed with its disk"
cmp -s expected.txt out.txt || fail "another output"
[ "$(grep -c 'WARNING: version .* was not written at the level global: .*No space left' said.txt)" = 1 ] || fail "not said once"
grep -q 'LEVEL global FAILED [0-9]* time' said.txt || fail "not in the summary"

"$MEND" chaos --schedule "2s kill 1" --wait-ranks 3 -o faults.txt -- \
    "$MEND" run -n 2 --spares 1 --every 300ms --dir kill -- ./heat -m 4 -s 4000 -r 500 >killed.txt 2>again.txt || fail "a kill"
grep -q 'survived in place.* s of work done again' again.txt || fail "the summary does not say what was done again"
echo PASS
