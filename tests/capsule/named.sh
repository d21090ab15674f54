#!/usr/bin/env bash
# named.sh: images without the pages of files that nobody has written to. They are mapped from the same file again; from
# one with the same content; another one is refused with its name. Full images need no file.
set -uo pipefail
build=$MEND_BUILD mend=$MEND_BUILD/bin/mend capsule=$MEND_BUILD/lib/mend/capsule.openmpi
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
source=$(dirname "$0")/apps/pages.c
fail=0
ok() { if [ "$1" = 0 ]; then echo "ok    $2"; else echo "FAIL  $2"; head -5 "$work/e"; fail=1; fi; }
run() { within 150 mpirun.openmpi --oversubscribe -n 2 "$@"; }
cd "$work" || exit 1
lib=$work/libpages.so
cc -shared -fPIC -nostdlib -DLIBRARY -o "$lib" "$source" && mpicc.openmpi -O1 -o pages "$source" -L. -lpages -Wl,-rpath,"$work" || exit 1
head -c 262144 /dev/urandom >input
run ./pages 300 "$work/input" >want 2>e || exit 1
save() { rm -rf "$1"; MEND_CAPSULE_AT=$2 MEND_CAPSULE_EXIT=1 MEND_CAPSULE_DIR=$work/$1 run "$capsule" "${@:3}" >>"$1.out" 2>e; }
bytes() { cat "$1"/versions/*-v"$2"-* | wc -c; }
resumes() { run "$capsule" --restart "$work/$1" >o 2>e; [ $? = 0 ] && cat "$1.out" o | cmp -s - want; }
refused() { # JOB WORDS
    run "$capsule" --restart "$work/$1" >o 2>e; local rc=$?
    [ $rc != 0 ] && [ $rc -lt 124 ] && [ ! -s o ] && grep -q "$lib $2" e && ! grep -qi 'signal' e
}
# a file that has just changed is not named: wait until it is a little older
settle() { until [ $(($(date +%s) - $(stat -c %Z "$lib"))) -ge 3 ]; do sleep 0.1; done; }
settle
: >j.out; save j 45 ./pages 300 "$work/input"
: >f.out; MEND_CAPSULE_FULL_IMAGES=yes save f 45 ./pages 300 "$work/input"
named=$(bytes j 1) full=$(bytes f 1)
[ "$named" -gt 0 ] && [ $((full - named)) -gt $((2 * 4 << 20)) ]; ok $? "2 images of $named bytes, full ones of $full"
resumes j; ok $? "resumed from the same file"
cp -p "$lib" "$lib.new" && mv "$lib.new" "$lib"; resumes j; ok $? "from a copy of it in its place"
# an image of a resumed program leaves the same pages to the file
cp -r j k; cp j.out k.out; settle
MEND_CAPSULE_AT=105 MEND_CAPSULE_EXIT=1 MEND_CAPSULE_DIR=$work/k run "$capsule" --restart "$work/k" >>k.out 2>e
again=$(bytes k 2)
[ "$again" -gt 0 ] && [ "$again" -lt $((named + named / 4)) ] && resumes k; ok $? "resumed twice, images of $again bytes then"
cp -p "$lib" keep
offset=$(LC_ALL=C grep -obUaP -m1 '\xef\xcd\xab\x89\x67\x45\x23\x01' "$lib" | head -1 | cut -d: -f1)
printf 'x' | dd of="$lib" bs=1 seek="$offset" conv=notrunc 2>/dev/null; touch -r keep "$lib"
refused j "has changed"; ok $? "another content is refused: $(grep -m1 mend: e | cut -c1-150)"
cp keep "$lib"; printf 'x' >>"$lib"; refused j "has another length"; ok $? "another length is refused"
rm "$lib"; refused j "has been removed"; ok $? "no file is refused"
resumes f; ok $? "a full image needs no file"
exit $fail
