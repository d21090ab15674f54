#!/usr/bin/env bash
# args.sh CALLS SEEDS: MPI functions with impossible arguments, by that many seeds: in the capsule each call ends as it does natively
# on Open MPI (MPICH, which checks less, dies of some of them by itself).
set -uo pipefail
calls=$1 seeds=$2 fail=0
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 MEND_CAPSULE_DIR=$work/job
run() { within 200 mpirun.openmpi -n 1 "$@"; }
for ((seed = 1; seed <= seeds; seed++)); do
    run "$MEND_BUILD/tests/capsule/args" "$calls" $seed >"$work/native" 2>"$work/e1" || { echo "FAIL  natively"; tail -3 "$work/e1"; exit 1; }
    run "$MEND_BUILD/lib/mend/capsule.openmpi" "$MEND_BUILD/tests/capsule/args" "$calls" $seed >"$work/out" 2>"$work/e2"; rc=$?
    if [ $rc = 0 ] && cmp -s "$work/native" "$work/out"; then
        echo "ok    seed $seed: $(grep -c error "$work/native") errors in $(wc -l <"$work/native") calls"
    else
        echo "FAIL  seed $seed, exit code $rc"; diff "$work/native" "$work/out" | head -5; tail -3 "$work/e2"; fail=1
    fi
done
exit $fail
