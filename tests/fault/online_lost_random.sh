#!/usr/bin/env bash
# online_lost_random.sh [FIRST [COUNT]]: nodes are lost by seed, of four emulated ones: one, or one after the other, by
# kill, power, silence or SIGSTOP, at random moments. Each run has nodes of its own. Prints a row per run and the sums.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
first=${1:-1} count=${2:-40} bad=0 losses=0
"$MEND_SOURCE/tests/harness/nodes" --check || exit 77
kinds=(kill off silent stop)
for ((seed = first; seed < first + count; seed++)); do
    RANDOM=$seed
    one=$((1 + RANDOM % 3)) loss="${kinds[RANDOM % 4]}:$one" n=1
    other=$((1 + (one + RANDOM % 2) % 3))
    if [ $((RANDOM % 2)) = 0 ]; then loss="$loss ${kinds[RANDOM % 4]}:$other" n=2; fi
    out=$("$MEND_SOURCE/tests/harness/mpitest" --np 8 --nodes 4 --timeout 300 --env MEND_BUILD="$MEND_BUILD" \
        --env MEND_TEST_LOSS="$loss" --env MEND_TEST_WAIT="$(printf '0.%03d' $((RANDOM % 1000)))" -- "$here/online_lost.sh" 2>&1)
    verdict=$(tail -1 <<<"$out") losses=$((losses + n))
    [ "${verdict:0:4}" = PASS ] || { bad=$((bad + 1)); verdict="$verdict"$'\n'"$(tail -25 <<<"$out")"; }
    echo "seed $seed: $loss: $(grep 'run again' <<<"$out" | grep -o 'after .*' | tr '\n' ' ')$verdict"
done
echo "$count runs, $losses nodes lost, $bad bad"
[ $bad = 0 ] && echo PASS
