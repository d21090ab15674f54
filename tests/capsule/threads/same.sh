#!/usr/bin/env bash
# same.sh MPI RANKS PROGRAM WORDS…: the program prints in the capsule what it prints natively. FILE as a word: one that is not
# there yet.
set -uo pipefail
mpi=$1 np=$2 program=$3; shift 3
. "$(dirname "$0")/../scratch.sh"
# without single copies a sender must take part in a large message
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_MCA_btl_sm_single_copy_mechanism=none
launch() { # command…
    case $mpi in
        openmpi) within 60 mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) within 60 mpirun.mpich -n "$np" "$@" ;;
    esac
}
launch "$program" "${@/FILE/$work/natively}" >"$work/native" 2>"$work/native.err"
launch "$MEND_BUILD/lib/mend/capsule.$mpi" "$program" "${@/FILE/$work/capsule}" >"$work/out" 2>"$work/err"
if ! [ -s "$work/native" ] || ! cmp "$work/native" "$work/out"; then
    echo "FAIL  $*"; tail -n 5 "$work/native.err" "$work/err"; exit 1
fi
echo "ok    $*"
