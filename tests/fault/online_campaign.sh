#!/usr/bin/env bash
# online_campaign.sh [KILLS] [SEED]: random kills (ranks, pairs, spares) until so many are counted; every
# output must equal that of a native run. Prints a table row per run and the sums.
# CAMPAIGN_MTBF: mean time between kills; CAMPAIGN_MORE_SPARES: so many spares more, so more kills a job. CAMPAIGN_FAULTS: at
# most so many a job: on a busy machine all of them may fall into starts, and nothing survives an endless row of those.
# CAMPAIGN_CACHE: a folder where programs and native outputs are kept for other calls, also at the same time.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
wanted=${1:-200} seed=${2:-1}
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
cache=${CAMPAIGN_CACHE:-$scratch}
keep() { local t; t=$(mktemp "$cache/.$1.XXXXXX") && cp "$1" "$t" && chmod 755 "$t" && mv "$t" "$cache/$1"; } # whole or not at all
compile() { # NAME WORDS…
    if [ -x "$cache/$1" ]; then [ "$cache" = "$scratch" ] || cp "$cache/$1" .; return; fi
    mpicc.openmpi -O2 -o "$@" -lm && { [ "$cache" = "$scratch" ] || keep "$1"; }
}
for p in steady makers; do compile $p "$here/apps/$p.c" || exit 1; done
compile heat -I"$MEND_SOURCE/apps/common" "$MEND_SOURCE"/apps/heat/heat.c || exit 1
compile md "$MEND_SOURCE"/apps/md/{md,cells,exchange,setup}.c || exit 1
programs=("./steady 4000 4096" "./steady 1200 120000 0" "./heat -m 2 -s 8000 -r 800" "./md --steps 600 -t 50" "./makers 2000")
reference() { # the output of program number I, without faults, in want.I
    [ ! -s want.$1 ] || return 0
    if [ -s "$cache/want.$1" ]; then cp "$cache/want.$1" .; return; fi
    native "${programs[$1]}" 2>/dev/null | grep -v ' s$\|seconds\|time' >want.$1 && { [ "$cache" = "$scratch" ] || keep want.$1; }
}
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 $1; }
kills=0 runs=0 bad=0
while [ $kills -lt "$wanted" ]; do
    i=$((seed % ${#programs[@]})) spares=$((1 + seed / 4 % 4 + ${CAMPAIGN_MORE_SPARES:-0}))
    extra=(); [ $((seed % 3)) = 0 ] && extra=(--launcher-args "--mca smsc ^cma") # fragments instead of single copy
    rm -rf job
    reference $i || { echo "native ${programs[$i]}"; exit 1; }
    [ "${programs[$i]}" != "./makers 2000" ] || spares=8 # Open MPI's own way out of a failed creation ends further processes
    "$MEND_SOURCE/tests/harness/within" 300 "$MEND" chaos --mtbf ${CAMPAIGN_MTBF:-1200ms} --seed $seed ${CAMPAIGN_FAULTS:+--max $CAMPAIGN_FAULTS} --leave 4 --wait-ranks $((4 + spares)) -o table -- \
        "$MEND" run -n 4 --spares $spares --every 200ms --dir job -q "${extra[@]}" -- ${programs[$i]} 2>err | grep -v ' s$\|seconds\|time' >got
    code=${PIPESTATUS[0]} n=$(grep killed table 2>/dev/null | grep -o 'pid [0-9]*' | wc -l)
    kills=$((kills + n)) runs=$((runs + 1)) verdict=ok
    case ${programs[$i]} in *makers*) sort -o got got; sort -o want.$i want.$i ;; esac # lines of all ranks
    cmp -s got want.$i || verdict=WRONG
    [ "$code" = 0 ] || verdict="FAILED($code)"
    [ "$code" = 124 ] || [ "$code" = 137 ] && verdict=HUNG
    echo "seed $seed ${programs[$i]} ${extra[*]} spares $spares kills $n $verdict"
    if [ "$verdict" != ok ]; then bad=$((bad + 1)); mkdir -p "${KEEP:-/dev/null}" 2>/dev/null && cp -r . "${KEEP}/$seed" 2>/dev/null; tail -5 err; tail -5 job/events.jsonl | cut -c1-250; fi
    seed=$((seed + 1))
done
echo "$runs runs, $kills kills, $bad bad"
[ $bad = 0 ] && echo PASS
