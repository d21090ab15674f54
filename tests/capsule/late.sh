#!/usr/bin/env bash
# late.sh MPI: after some checkpoints rank 0 gets no core until the next one has begun and stops the ranks. It stopped inside MPI_Isend
# and goes on with that, so it must not count as stopped for the next checkpoint: rank 1, which is not drained as long as an
# MPI_Issend of its own waits for rank 0, would receive a message that nobody told it of. Two things are asked:
#
# 1. The output is that of a native run.
# 2. No checkpoint is given up, and there are some.
set -uo pipefail
mpi=$1
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
launch() { # command…
    case $mpi in
        openmpi) within 60 mpirun.openmpi --oversubscribe -n 2 "$@" ;;
        mpich) within 60 mpirun.mpich -n 2 "$@" ;;
    esac
}
cat >"$work/late.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, got = 0, seven = 7, posted = 0;
    unsigned wrong = 0;
    MPI_Request out = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double end = MPI_Wtime() + atof(argv[1]);
    if (rank == 0) {
        for (unsigned more = 1; more;) {
            more = MPI_Wtime() < end;
            MPI_Isend(&more, 1, MPI_UNSIGNED, 1, 0, MPI_COMM_WORLD, &out);
            MPI_Wait(&out, MPI_STATUS_IGNORE);
        }
        MPI_Recv(&posted, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < posted; i++) {
            MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += got != 7;
        }
        printf("late: %u wrong\n", wrong);
    } else {
        unsigned more = 1;
        while (more) {
            MPI_Request in;
            int here = 0, taken = 0;
            MPI_Irecv(&more, 1, MPI_UNSIGNED, 0, 0, MPI_COMM_WORLD, &in);
            for (MPI_Test(&in, &here, MPI_STATUS_IGNORE); !here; MPI_Test(&in, &here, MPI_STATUS_IGNORE)) {
                MPI_Test(&out, &taken, MPI_STATUS_IGNORE);
                if (taken) {
                    posted++;
                    MPI_Issend(&seven, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &out);
                }
            }
        }
        MPI_Send(&posted, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Wait(&out, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
C
"mpicc.$mpi" -O2 -o "$work/late" "$work/late.c" || exit 1
late=
for hit in 2 4 6 8 10 12 14 16; do late+=${late:+,}capsule.go_on:rank=0:hit=$hit:delay=200; done
launch "$work/late" 1 >"$work/native" 2>"$work/native.err"
launch env MEND_FAULT="$late" MEND_CAPSULE_EVERY=0.02 MEND_CAPSULE_DIR="$work/job" MEND_CAPSULE_PATIENCE=2 \
    "$MEND_BUILD/lib/mend/capsule.$mpi" "$work/late" 4 >"$work/out" 2>"$work/err"
made=$(grep -c '"checkpoint.commit"' "$work/job/events.jsonl")
if ! [ -s "$work/native" ] || ! cmp "$work/native" "$work/out"; then
    echo "FAIL  the output differs after $made checkpoints"; tail -n 5 "$work/native.err" "$work/err"; exit 1
fi
if grep '"checkpoint.given_up"' "$work/job/events.jsonl" | grep -v 'the job is ending'; then
    echo "FAIL  a checkpoint was given up"; exit 1
fi
[ "$made" -ge 5 ] || { echo "FAIL  only $made checkpoints"; exit 1; }
echo "ok    $made checkpoints, none given up"
