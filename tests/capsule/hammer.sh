#!/usr/bin/env bash
# hammer.sh RANKS ROUNDS (at least): MPI calls at the machine's limit while checkpoints come every half second; the result is that of a native
# run, and so is that of each MPI's resume from the last version.
set -uo pipefail
np=$1 build=$MEND_BUILD fail=0
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
limit="within ${LIMIT:-600}"
launch() { # MPI words…
    local mpi=$1; shift
    case $mpi in
        openmpi) $limit mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) $limit mpirun.mpich -n "$np" "$@" ;;
    esac
}
check() { # what, output
    if cmp -s "$work/native" "$2"; then echo "ok    $1"; else echo "FAIL  $1: $(cat "$2")"; tail -3 "$work/err"; fail=1; fi
}
mpis=(openmpi); [ -x "$build/lib/mend/capsule.mpich" ] && mpis+=(mpich)
in_capsule() { # MPI
    rm -rf "${work:?}/$1"
    MEND_CAPSULE_DIR=$work/$1 MEND_CAPSULE_EVERY=0.5 launch "$1" "$build/lib/mend/capsule.$1" \
        "$build/tests/capsule/hammer" "$rounds" >"$work/out" 2>"$work/err"
    commits=$(grep -c checkpoint.commit "$work/$1/events.jsonl")
}
for first in "${mpis[@]}"; do
    rounds=$2
    for tries in 1 2 3 4 5 6; do # as many rounds as a checkpoint needs, on any machine
        launch openmpi "$build/tests/capsule/hammer" "$rounds" >"$work/native" 2>"$work/err"
        [ -s "$work/native" ] || { echo "FAIL  natively"; tail -3 "$work/err"; exit 1; }
        in_capsule "$first"
        check "on $first, $rounds rounds, $commits checkpoints" "$work/out"
        [ $fail = 0 ] || exit 1
        [ "$commits" -lt 2 ] || break
        [ "$tries" -lt 6 ] || { echo "FAIL  no checkpoints in $rounds rounds"; exit 1; }
        rounds=$((rounds * 3))
    done
    for second in "${mpis[@]}"; do
        cp -a "$work/$first" "$work/copy"
        launch "$second" "$build/lib/mend/capsule.$second" --restart "$work/copy" >"$work/out" 2>"$work/err"
        check "resumed from the last version on $second" "$work/out"
        rm -rf "$work/copy"
    done
done
exit $fail
