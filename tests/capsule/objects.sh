#!/usr/bin/env bash
# objects.sh MPI PROGRAM [WINDOWS]: what a checkpoint costs by the number of MPI objects (apps/objects.c). Eight times as many may
# not cost more than 32 times as much (what grows with the square costs 64 times): the checkpoint, and the use of the objects
# afterwards; the cheapest of three is taken. Then 100 communicators, 10,000 datatypes, 100,000 pending receives, 10,000 messages
# that nobody has asked for, and WINDOWS windows of two kinds, each stopped and resumed on both MPIs.
set -uo pipefail
mpi=$1 program=$2 windows=${3:-50}
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx MEND_CAPSULE_KEEP=1 MEND_CAPSULE_SIGNAL=12
capsule() { # MPI arguments...
    local on=$1 launch=(mpirun.openmpi --oversubscribe)
    [ "$on" = mpich ] && launch=(mpirun.mpich)
    shift
    within "${LIMIT:-200}" "${launch[@]}" -n 2 "$MEND_BUILD/lib/mend/capsule.$on" "$@" </dev/null 2>"$work/errors"
}
fail=0
for kind in comms:50 types:2000 requests:2000 drained:2000; do
    n=${kind#*:} kind=${kind%:*}
    MEND_CAPSULE_DIR=$work/$kind capsule "$mpi" "$program" "$kind" "$n" $((8 * n)) "$n" $((8 * n)) "$n" $((8 * n)) >"$work/out" ||
        { echo "FAIL  $kind"; cat "$work/out"; head -5 "$work/errors"; fail=1; }
    for part in checkpoint:6 use:8; do
        awk -v at="${part#*:}" -v small="$n" -v what="$mpi, $kind, ${part%:*}" '
            {i = $2 == small ? 0 : 1; if (!least[i] || $at < least[i]) least[i] = $at + 1}
            END {ratio = least[0] ? least[1] / least[0] : 99; bad = ratio > 32
                 printf "%s  %s: %d us for %d, %d us for %d: %.1f times\n", bad ? "FAIL" : "ok  ", what, least[0], small, least[1], 8 * small, ratio; exit bad}' \
            "$work/out" || fail=1
    done
    rm -rf "${work:?}/$kind"
done
for kind in comms:100 types:10000 requests:100000 drained:10000 windows:"$windows" allocated:"$windows"; do
    n=${kind#*:} kind=${kind%:*}
    MEND_CAPSULE_EXIT=1 MEND_CAPSULE_DIR=$work/$kind capsule "$mpi" "$program" "$kind" "$n" >"$work/part"
    for second in openmpi mpich; do
        [ -x "$MEND_BUILD/lib/mend/capsule.$second" ] || continue
        if capsule $second --restart "$work/$kind" >"$work/out" && grep -q "^$kind $n make" "$work/out"; then
            echo "ok    $n $kind on $mpi, resumed on $second: $(cat "$work/out")"
        else
            echo "FAIL  $n $kind on $mpi, resumed on $second"; cat "$work/part" "$work/out"; head -5 "$work/errors"; fail=1
        fi
    done
    rm -rf "${work:?}/$kind"
done
exit $fail
