#!/usr/bin/env bash
# commands.sh: the commands of `mend` with a program of the standard's ABI: saved and stopped, resumed on the other library, with
# the output of an undisturbed run. Which ABI a program has is found out, or said, and `mend ls` names it; another word is
# refused.
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
args=(600 512 400)
run openmpi ./steady "${args[@]}" >want 2>e; ok $? "natively"
roundtrip() { # FIRST SECOND: the MPI libraries
    run "$1" "$mend" exec --mpi "$1" --dir job "$tests/steady.standard" "${args[@]}" >first 2>e & local job=$!
    # not by its output: MPICH's launcher gives a rank a pipe, and the program's libc then prints nothing before its end
    for ((i = 0; i < 800; i++)); do [ -d job/versions ] && break; sleep 0.05; done; sleep 0.2
    "$mend" checkpoint job --stop >said 2>&1; ok $? "on $1: mend checkpoint --stop: $(tail -1 said)"
    wait $job
    "$mend" ls job >said 2>&1 && grep -q ' (steady.standard)  built for the standard ABI$' said; ok $? "mend ls names the ABI"
    sed -i 's/ standard$//' job/identity # as of a Mend that did not note it
    within 150 "$mend" restart job --mpi "$2" >second 2>e; ok $? "mend restart --mpi $2"
    cat first second | cmp -s - want; ok $? "its output is that of an undisturbed run"
    rm -rf job
}
if [ -x "$MEND_BUILD/lib/mend/capsule.mpich" ]; then
    roundtrip openmpi mpich
    roundtrip mpich openmpi
else
    roundtrip openmpi openmpi
fi
MEND_CAPSULE_ABI=standard run openmpi "$mend" exec "$tests/steady.standard" 100 512 0 >said 2>e; ok $? "the ABI is said"
MEND_CAPSULE_ABI=other run openmpi "$mend" exec "$tests/steady.standard" 100 512 0 >said 2>e
grep -q 'capsule.abi is "other"; it must be openmpi, mpich or standard' e; ok $? "an ABI that there is not"
exit $fail
