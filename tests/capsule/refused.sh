#!/usr/bin/env bash
# refused.sh MPI PROGRAM: functions that the capsule does not carry fail with a sentence that names them, on every rank.
# Each rank writes its own files: a launcher forwards in pieces, and may put one stream into the middle of another's line.
set -uo pipefail
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
. "$(dirname "$0")/scratch.sh"
fail() { echo "FAIL: $*"; tail -n +1 "$work"/*; exit 1; }
case $1 in
    openmpi) launch=(mpirun.openmpi --oversubscribe) ;;
    mpich) launch=(mpirun.mpich) ;;
esac
# shellcheck disable=SC2016  # the ranks' shells expand it
within 60 "${launch[@]}" -n 2 sh -c 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec "$@" >"$0/out.$rank" 2>"$0/err.$rank"' "$work" \
    "$MEND_BUILD/lib/mend/capsule.$1" "$2" || fail "the program ended with $?"
grep -q '^refused: 1 rounds, .*, ok$' "$work/out.0" || fail "the program did not come to its end"
for rank in 0 1; do
    for name in MPI_Comm_spawn MPI_Open_port MPI_Comm_connect MPI_Register_datarep; do
        grep -q "^mend: rank $rank: the capsule does not support $name: ." "$work/err.$rank" || fail "rank $rank does not name $name"
    done
done
