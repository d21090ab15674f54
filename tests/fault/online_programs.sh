#!/usr/bin/env bash
# online_programs.sh chapters|threads|serialized|lammps|mtbf [KILLS] [SEED]: random kills of programs that are not made for this, until so
# many are counted; what they compute must equal what they compute natively. Prints a row per run and the sums.
#   chapters  the programs of the MPI chapters (tests/capsule/chapters)
#   threads   several threads of each rank inside MPI at once, pthreads and OpenMP (tests/capsule/apps/several.c)
#   serialized  several threads of each rank, one at a time inside MPI (tests/capsule/threads/serialized.c)
#   lammps    Debian's LAMMPS, in the root of tests/programs (77 if there is none)
#   mtbf      heat with a death every 10 s on average: it must come to its end
# Windows are left out: a death while one is open ends in a relaunch (online_use.sh windows).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
what=$1 wanted=${2:-60} seed=${3:-1}
if [ "$what" = lammps ] && [ -z "${MEND_ENTERED_ROOT:-}" ]; then
    root=$(ls -d "$MEND_SOURCE"/.env/programs-*/ready 2>/dev/null | head -1)
    [ -n "$root" ] || { echo "no root with LAMMPS here: tests/programs/try makes one"; exit 77; }
    env=$(cd "$MEND_SOURCE/.env" && pwd -P)
    unset TMPDIR MEND_ENV MEND_ENV_ENTERED OPAL_PREFIX PRTE_PREFIX PMIX_PREFIX
    MEND_ENTERED_ROOT=1 PATH=/usr/bin:/usr/sbin exec "$MEND_SOURCE/tests/programs/enter" "$(dirname "$(realpath "$root")")/root" \
        "$MEND_SOURCE" "$env" "$MEND_BUILD" -- "$here/online_programs.sh" "$what" "$wanted" "$seed"
fi
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
export OMP_NUM_THREADS=1 LC_ALL=C
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "$@"; }
mtbf=1500ms every=300ms last=10
case $what in
chapters)
    names=(coll comms p2p topo types fortran io partitioned sessions)
    command_of() { c=("$MEND_BUILD/tests/capsule/chapter-${names[$1]}" 400); }
    result() { tail -1 got; } ;;
threads)
    names=(pthread omp)
    command_of() { c=("$MEND_BUILD/tests/capsule/several" "${MEND_TEST_ROUNDS:-1000}" 3 "${names[$1]}" no-windows); }
    result() { cat got; } ;;
serialized)
    names=(worker compute turns omp)
    command_of() { c=("$MEND_BUILD/tests/capsule/serialized" "${names[$1]}" "${MEND_TEST_ROUNDS:-2000}"); }
    result() { cat got; } ;;
lammps)
    names=(melt)
    sed 's/^run.*/run 1500\nwrite_dump all custom final.txt id x y z vx vy vz modify sort id format float %20.15g/' /usr/share/lammps/examples/melt/in.melt >in.melt
    command_of() { c=(lmp -in in.melt); }
    result() { sed -n '/Step  /,/Loop time/p' got | grep -v Loop; cat final.txt; } ;;
mtbf)
    names=(heat) mtbf=10s every=auto last=1000
    mpicc.openmpi -O2 -I"$MEND_SOURCE/apps/common" -o heat "$MEND_SOURCE"/apps/heat/heat.c -lm || exit 1
    command_of() { c=(./heat -m 8 -s "${MEND_TEST_STEPS:-20000}" -r 1000); }
    result() { cat got; } ;;
*) echo "no $what"; exit 2 ;;
esac
for i in "${!names[@]}"; do
    command_of "$i"; native "${c[@]}" >got 2>err </dev/null || { echo "native ${c[*]}"; tail -5 err; exit 1; }
    result >"want.$i"
done
kills=0 runs=0 bad=0
while [ $kills -lt "$wanted" ]; do
    i=$((seed % ${#names[@]})) spares=$((1 + seed / ${#names[@]} % 3))
    [ "$what" = mtbf ] && spares=8
    command_of "$i"; rm -rf job final.txt table
    CHAPTER_IN_CAPSULE=1 "$MEND_SOURCE/tests/harness/within" 580 "$MEND" chaos --mtbf $mtbf --seed "$seed" --max $last --leave 4 --wait-ranks $((4 + spares)) -o table -- \
        "$MEND" run -n 4 --spares $spares --every $every --mtbf 10s --retries 1000 --dir job -q -- "${c[@]}" >got 2>err </dev/null
    code=$? n=$(grep killed table 2>/dev/null | grep -o 'pid [0-9]*' | wc -l)
    kills=$((kills + n)) runs=$((runs + 1)) verdict=ok
    result 2>/dev/null | cmp -s - "want.$i" || verdict=WRONG
    [ $code = 0 ] || verdict="FAILED($code)"
    [ $code = 124 ] || [ $code = 137 ] && verdict=HUNG
    echo "seed $seed ${names[$i]} spares $spares kills $n in place $(($(grep -c '"how":"resumed"' job/events.jsonl) / 4)) launches $(grep -c run.launch job/events.jsonl) $verdict"
    if [ "$verdict" != ok ]; then bad=$((bad + 1)); mkdir -p "${KEEP:-/dev/null}" 2>/dev/null && cp -r . "$KEEP/$what.$seed" 2>/dev/null; tail -5 err; tail -5 job/events.jsonl | cut -c1-250; fi
    seed=$((seed + 1))
done
echo "$runs runs, $kills kills, $bad bad"
[ $bad = 0 ] && echo PASS
