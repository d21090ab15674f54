#!/usr/bin/env bash
# damage.sh TRIALS SEED: an image with a byte flipped, a stretch overwritten, cut short or made longer, at random places, or one
# put in another rank's or version's place, or with a wrong address or count but right checksums (forge): a sentence and an exit
# code each time, and no word of the program.
set -uo pipefail
trials=$1; RANDOM=$2
tests=$MEND_BUILD/tests/capsule capsule=$MEND_BUILD/lib/mend/capsule.openmpi
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 MEND_CAPSULE_KEEP=1
run() { within 100 mpirun.openmpi --oversubscribe -n 2 "$@"; }
MEND_CAPSULE_AT=30 MEND_CAPSULE_EXIT=1 MEND_CAPSULE_DIR=$work/good run "$capsule" "$tests/moments" 100 2 >"$work/out" 2>&1
run "$capsule" --restart "$work/good" >"$work/whole" 2>&1 || { echo "FAIL  the good image does not resume"; cat "$work/whole"; exit 1; }
files=("$work"/good/versions/*.img)
any() { echo $(((RANDOM << 30 | RANDOM << 15 | RANDOM) % $1)); }
"$tests/forge" "${files[0]}" check 20000 "$2" || { echo "FAIL  the checks of a restart"; exit 1; }
bad=0
for ((t = 1; t <= trials; t++)); do
    rm -rf "$work/bad" && cp -r "$work/good" "$work/bad"
    f=$work/bad/versions/$(basename "${files[RANDOM % 2]}") size=0
    size=$(stat -c %s "$f")
    at=$(any "$size")
    [ $((RANDOM % 2)) = 0 ] && at=$(any 8192) # the head and the tables more often
    [ "$at" -lt "$size" ] || at=0
    case $((RANDOM % 9)) in
        0 | 1) what="byte $at flipped"
            old=$(od -An -tu1 -j "$at" -N 1 "$f")
            printf "\\x$(printf %02x $((old ^ (1 << RANDOM % 8))))" | dd of="$f" bs=1 seek="$at" conv=notrunc 2>/dev/null ;;
        2) what="64 random bytes from $at"
            dd if=/dev/urandom of="$f" bs=1 seek="$at" count=64 conv=notrunc 2>/dev/null ;;
        3) what="cut at $at" && truncate -s "$at" "$f" ;;
        4) what="4096 bytes zeroed at $at"
            cp "$f" "$work/same" && dd if=/dev/zero of="$f" bs=1 seek="$at" count=4096 conv=notrunc 2>/dev/null
            cmp -s "$f" "$work/same" && { echo "ok    $t: nothing was changed"; continue; } ;;
        5) what="the other rank's image in its place"
            other=${files[0]}; [ "$(basename "$f")" = "$(basename "${files[0]}")" ] && other=${files[1]}
            cp "$other" "$f" ;;
        *) seed=$(any 1000000000)
            what="forged: $("$tests/forge" "$f" mutate "$seed") (seed $seed)" ;;
    esac
    run "$capsule" --restart "$work/bad" >"$work/out" 2>"$work/err"; rc=$?
    if [ $rc != 0 ] && [ $rc -lt 124 ] && [ ! -s "$work/out" ] && grep -q '^mend: ' "$work/err" && ! grep -qiE 'signal|segmentation|core dumped' "$work/err"; then
        echo "ok    $t: $what: $(grep -m1 '^mend: ' "$work/err" | sed "s#$work##g" | cut -c1-110)"
    else
        echo "FAIL  $t: $what: exit code $rc"; head -5 "$work/err"; head -3 "$work/out"; bad=$((bad + 1))
    fi
done
echo "$trials damaged images by seed $2, $bad failures"
exit $((bad > 0))
