#!/usr/bin/env bash
# refused.sh MPI PROGRAM: functions that the capsule does not carry fail with a sentence that names them.
set -uo pipefail
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
out=$(mktemp); trap 'rm -f "$out"' EXIT
case $1 in
    openmpi) timeout 60 mpirun.openmpi --oversubscribe -n 2 "$MEND_BUILD/lib/mend/capsule.openmpi" "$2" >"$out" 2>&1 ;;
    mpich) timeout 60 mpirun.mpich -n 2 "$MEND_BUILD/lib/mend/capsule.mpich" "$2" >"$out" 2>&1 ;;
esac
grep -q '^refused: 1 rounds, .*, ok$' "$out" || { echo "FAIL"; cat "$out"; exit 1; }
for name in MPI_Comm_spawn MPI_Open_port MPI_Comm_connect MPI_Psend_init MPI_Session_init MPI_Register_datarep; do
    grep -q "mend: rank 0: $name is not carried by the capsule" "$out" || { echo "FAIL: $name is not named"; cat "$out"; exit 1; }
done
