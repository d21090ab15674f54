#!/usr/bin/env bash
# hammer.sh RANKS ROUNDS (at least): MPI calls at the machine's limit while checkpoints come every half second; the result is that of a native
# run, and so is that of each MPI's resume from the last version.
set -uo pipefail
np=$1 rounds=$2 build=$MEND_BUILD fail=0
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
while :; do # as many rounds as some checkpoints need, on any machine
    SECONDS=0
    launch openmpi "$build/tests/capsule/hammer" "$rounds" >"$work/native" 2>"$work/err"
    [ -s "$work/native" ] || { echo "FAIL  natively"; tail -3 "$work/err"; exit 1; }
    [ $SECONDS -lt 2 ] || break
    rounds=$((rounds * 3))
done
for first in "${mpis[@]}"; do
    MEND_CAPSULE_DIR=$work/$first MEND_CAPSULE_EVERY=0.5 launch "$first" "$build/lib/mend/capsule.$first" \
        "$build/tests/capsule/hammer" "$rounds" >"$work/out" 2>"$work/err"
    commits=$(grep -c checkpoint.commit "$work/$first/events.jsonl")
    check "on $first, $commits checkpoints" "$work/out"
    [ "$commits" -ge 1 ] || { echo "FAIL  no checkpoint: the run was too short"; fail=1; continue; }
    for second in "${mpis[@]}"; do
        cp -a "$work/$first" "$work/copy"
        launch "$second" "$build/lib/mend/capsule.$second" --restart "$work/copy" >"$work/out" 2>"$work/err"
        check "resumed from the last version on $second" "$work/out"
        rm -rf "$work/copy"
    done
done
exit $fail
