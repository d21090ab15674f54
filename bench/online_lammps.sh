#!/usr/bin/env bash
# What mend run costs LAMMPS (Debian's, 2 ranks + 1 spare) when nothing fails, with saves at the planner's interval for a failure
# every 10 minutes: LAMMPS' own loop time, against its native one, in turns. Long enough for some intervals.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${MEND_ENTERED_ROOT:-}" ]; then
    ready=$(ls -d "$MEND_SOURCE"/.env/programs-*/ready 2>/dev/null | head -1)
    [ -n "$ready" ] || { echo "online.lammps_overhead: not measured, there is no root with LAMMPS (tests/programs/try makes one)"; exit 0; }
    env=$(cd "$MEND_SOURCE/.env" && pwd -P)
    : "${MEND_BENCH_OUT:=/dev/null}"
    rows=$(mktemp -p "$MEND_BUILD")
    unset TMPDIR MEND_ENV MEND_ENV_ENTERED OPAL_PREFIX PRTE_PREFIX PMIX_PREFIX
    MEND_ENTERED_ROOT=1 ROWS=$rows PATH=/usr/bin:/usr/sbin "$MEND_SOURCE/tests/programs/enter" "$(dirname "$(realpath "$ready")")/root" \
        "$MEND_SOURCE" "$env" "$MEND_BUILD" -- "$here/online_lammps.sh"
    code=$?
    cat "$rows" >>"$MEND_BENCH_OUT"; rm -f "$rows"
    [ $code = 77 ] && { echo "online.lammps_overhead: not measured, the root cannot be entered here"; exit 0; }
    exit $code
fi
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
export OMP_NUM_THREADS=1 LC_ALL=C
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT; cd "$scratch" || exit 1
sed "s/^run.*/run ${MEND_BENCH_LAMMPS_STEPS:-48000}/" /usr/share/lammps/examples/melt/in.melt >in.melt
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 2 lmp -in in.melt; }
mended() { rm -rf job; "$MEND_BUILD/bin/mend" run -n 2 --spares 1 --every auto --mtbf 10min --dir job -q -- lmp -in in.melt; }
thermo() { sed -n '/Step  /,/Loop time/p' "$1" | grep -v Loop; }
loop_time() { sed -n 's/^Loop time of \([0-9.]*\) .*/\1/p' "$1"; }
for ((i = 0; i < ${MEND_BENCH_TIMES:-2}; i++)); do
    native >a 2>/dev/null </dev/null && mended >b 2>err </dev/null || { echo "LAMMPS did not run"; tail -3 err; exit 1; }
    cmp -s <(thermo a) <(thermo b) || { echo "WRONG OUTPUT"; exit 1; }
    loop_time a >>plain; loop_time b >>carried
    grep -c '"level":"memory"' job/events.jsonl >>saves
done
median() { sort -g | awk '{v[NR]=$1} END{print NR ? v[int((NR+1)/2)] : "null"}'; }
mean() { awk '{s+=$1} END{print NR ? s/NR : "null"}'; }
p=$(mean <plain) c=$(mean <carried) ratio=$(awk -v a="$(mean <carried)" -v b="$(mean <plain)" 'BEGIN{print a/b}')
ok=$(awk -v r="$ratio" 'BEGIN{print r <= 1.02 ? "true" : "false"}')
echo "online.lammps_overhead $c s baseline $p ratio $ratio (target <= 1.02 of native) $ok ($(median <saves) images per run)"
printf '{"name":"online.lammps_overhead","value":%s,"unit":"s","baseline":%s,"ratio":%s,"target":"<= 1.02 of native","ok":%s}\n' "$c" "$p" "$ratio" "$ok" >>"${ROWS:-/dev/null}"
