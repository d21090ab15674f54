#!/usr/bin/env bash
# conform.sh MPI PROGRAM [PART...]: calls at the edges of the standard, natively and in the capsule on the same library: every
# word that the program says must be the same, also with checkpoints in between. Each rank writes a file of its own: a
# launcher forwards in pieces, and may put one stream into the middle of another's line. A program of the standard's ABI has no
# library of its own: natively the same source runs as it is compiled for MPICH.
set -uo pipefail
mpi=$1 program=$2; shift 2
. "$(dirname "$0")/../scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx MEND_CAPSULE_KEEP=1 CONFORM_FILE=$work/file
case $mpi in
    openmpi) launch=(mpirun.openmpi --oversubscribe) ;;
    mpich) launch=(mpirun.mpich) ;;
esac
run() { # folder command...
    local out=$work/$1; shift
    mkdir "$out"
    # shellcheck disable=SC2016  # the ranks' shells expand it
    within "${LIMIT:-60}" "${launch[@]}" -n 3 sh -c \
        'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec "$@" >"$0/$rank" 2>"$0/errors.$rank"' "$out" "$@"
    echo $? >"$out/code"
}
# Where it shows what a handle is in C, or calls both MPI_PROC_NULL and MPI_ANY_TAG -1, MPICH's answer is not the standard's.
alike() { case $program in *.standard) sed -E 's/\(\(MPI_Datatype\)0x[0-9a-f]+\)/TYPE/g; s/; source (null|any),/; source -,/; s/^(env: version).*/\1 of the ABI/; /^inter: neighborhood/d' "$1" ;; *) cat "$1" ;; esac; }
fail=0
compare() { # how folder
    local rank bad=0
    for rank in 0 1 2; do
        if ! cmp -s <(alike "$work/native/$rank") <(alike "$work/$2/$rank"); then
            echo "FAIL  $mpi, $1: rank $rank does not see what it sees natively (<):"
            diff <(alike "$work/native/$rank") <(alike "$work/$2/$rank") | head -"${LINES_SHOWN:-20}"
            head -3 "$work/$2/errors.$rank"
            bad=1
        fi
    done
    # MPICH says at its end that objects are left: the capsule's own are not the program's
    if ! grep -qs leaked "$work/native/errors."* && grep -s leaked "$work/$2/errors."*; then
        echo "FAIL  $mpi, $1: something is left behind, but not natively"; bad=1
    fi
    cmp -s "$work/native/code" "$work/$2/code" || { echo "FAIL  $mpi, $1: ended with $(cat "$work/$2/code")"; bad=1; }
    [ $bad = 0 ] && echo "ok    $mpi, $1: $(cat "$work/native/"[012] | wc -l) lines"
    fail=$((fail | bad))
}
run native "${program/%.standard/.mpich}" "$@"
grep -q '^end:' "$work/native/0" || { echo "FAIL  natively on $mpi: ended with $(cat "$work/native/code")"; tail -n 3 "$work/native/"*; exit 1; }
if [ "$mpi" = openmpi ]; then # MPICH's ranks spin, and take their time: only the other run, which makes the same calls
    run plain "$MEND_BUILD/lib/mend/capsule.$mpi" "$program" "$@"
    compare "in the capsule" plain
fi
export MEND_CAPSULE_AT=40 MEND_CAPSULE_AGAIN=150 MEND_CAPSULE_DIR=$work/images
run saved "$MEND_BUILD/lib/mend/capsule.$mpi" "$program" "$@"
compare "with checkpoints" saved
ls "$work"/images/versions/*.img >/dev/null 2>&1 || { echo "FAIL  no checkpoint was taken"; fail=1; }
exit $fail
