#!/usr/bin/env bash
# online_lost_lammps.sh [LOSS...]: Debian's LAMMPS loses whole nodes, in each way of online_lost.sh (or in those named). Its
# thermodynamic output and the final positions, in full precision, must equal those of a native run. All of it inside the root
# of tests/programs, which is made if need be. Prints a row per loss.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$MEND_SOURCE/tests/harness/nodes" --check || exit 77
if [ -z "${MEND_ENTERED_ROOT:-}" ]; then
    env=$(mkdir -p "$MEND_SOURCE/.env" && cd "$MEND_SOURCE/.env" && pwd -P)
    root=$("$MEND_SOURCE/tests/programs/root" "$env") || exit 1
    unset TMPDIR MEND_ENV MEND_ENV_ENTERED OPAL_PREFIX PRTE_PREFIX PMIX_PREFIX
    MEND_ENTERED_ROOT=1 PATH=/usr/bin:/usr/sbin exec "$MEND_SOURCE/tests/programs/enter" "$root" \
        "$MEND_SOURCE" "$env" "$MEND_BUILD" -- "$here/online_lost_lammps.sh" "$@"
fi
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
export OMP_NUM_THREADS=1 LC_ALL=C
[ $# -gt 0 ] || set -- kill:1 off:1 silent:1 stop:1 kill:2 together:1,3 apart:1,3 saving:1 door:1 recovering:1,2 launching:1 launching:3 headless:1
bad=0
for loss in "$@"; do
    out=$("$MEND_SOURCE/tests/harness/mpitest" --np 8 --nodes 4 --timeout 300 --env MEND_BUILD="$MEND_BUILD" \
        --env MEND_TEST_PROGRAM=lammps --env MEND_TEST_LOSS="$loss" -- "$here/online_lost.sh" 2>&1)
    verdict=$(tail -1 <<<"$out")
    [ "${verdict:0:4}" = PASS ] || { bad=$((bad + 1)); verdict=$(grep -v "^{" <<<"$out" | tail -20; tail -20 <<<"$out"); }
    echo "$loss: $(grep -o 'run again after .*' <<<"$out" | tr '\n' ' ')$verdict"
done
echo "$# losses, $bad bad"
[ $bad = 0 ] && echo PASS
