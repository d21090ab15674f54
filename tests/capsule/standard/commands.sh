#!/usr/bin/env bash
# commands.sh: the commands of `mend` with a program of the standard's ABI: saved and stopped, resumed on the other library, with
# the output of an undisturbed run. Which ABI a program has is found out, or said; another word is refused.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scratch.sh"
mend=$MEND_BUILD/bin/mend tests=$MEND_BUILD/tests/capsule
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
fail=0
ok() { if [ "$1" = 0 ]; then echo "ok    $2"; else echo "FAIL  $2"; head -5 "$work/e"; fail=1; fi; }
cd "$work" || exit 1
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
run() { local mpi=$1; shift; case $mpi in openmpi) within 150 mpirun.openmpi --oversubscribe -n 2 "$@" ;; mpich) within 150 mpirun.mpich -n 2 "$@" ;; esac; }
run openmpi ./steady 2000 512 0 >want 2>e; ok $? "natively"
mpis=(openmpi); [ -x "$MEND_BUILD/lib/mend/capsule.mpich" ] && mpis+=(mpich)
for first in "${mpis[@]}"; do
    rm -f first
    run "$first" "$mend" exec --mpi "$first" --dir "job.$first" "$tests/steady.standard" 2000 512 1000 >first 2>e & job=$!
    for ((i = 0; i < 800; i++)); do [ -s first ] && break; sleep 0.05; done
    "$mend" checkpoint "job.$first" --stop >said 2>&1; ok $? "on $first: mend checkpoint --stop: $(tail -1 said)"
    wait $job
    for second in "${mpis[@]}"; do
        rm -rf again; cp -r "job.$first" again
        within 150 "$mend" restart again --mpi "$second" >second 2>e; ok $? "mend restart --mpi $second"
        cat first second | cmp -s - want; ok $? "its output is that of an undisturbed run"
    done
done
MEND_CAPSULE_ABI=standard run openmpi "$mend" exec "$tests/steady.standard" 100 512 0 >said 2>e; ok $? "the ABI is said"
MEND_CAPSULE_ABI=other run openmpi "$mend" exec "$tests/steady.standard" 100 512 0 >said 2>e
grep -q 'capsule.abi is "other"; it is openmpi, mpich or standard' e; ok $? "an ABI that there is not"
exit $fail
