#!/usr/bin/env bash
# often.sh MPI PROGRAM: a program that makes communicators, or writes a file, in every round, checkpointed 50 times a second,
# until there are ten checkpoints. Once more with a library whose MPI_Send takes long: then nearly all checkpoints find ranks inside one.
#
# 1. Its output must be that of a native run.
# 2. No checkpoint may be given up: a rank that is stopped while another is inside a call that waits for it is
#    seen only after the coordinator's patience. (One that begins when ranks are already on their way out is given up rightly.)
set -uo pipefail
mpi=$1 program=$2
. "$(dirname "$0")/scratch.sh"
cd "$work" || exit 1
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
launch() { # command…
    case $mpi in
        openmpi) within 200 mpirun.openmpi --oversubscribe -n 4 "$@" ;;
        mpich) within 200 mpirun.mpich -n 4 "$@" ;;
    esac
}
cat >"$work/slow.c" <<'C'
#include <mpi.h>
#include <unistd.h>
int MPI_Send(const void *b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c)
{
    int rc = PMPI_Send(b, n, t, dest, tag, c);
    usleep(3000);
    return rc;
}
C
"mpicc.$mpi" -O2 -fPIC -c -o "$work/slow.o" "$work/slow.c" && gcc -shared -o "$work/slow.so" "$work/slow.o" || exit 1
often() { # [VARIABLE=VALUE]
    rm -rf "$work/job" "$work/enough"
    launch env MEND_CAPSULE_EVERY=0.02 MEND_CAPSULE_DIR="$work/job" "$@" "$MEND_BUILD/lib/mend/capsule.$mpi" "$program" "$work/enough" \
        >"$work/often" 2>"$work/often.err" & job=$!
    made() { cat "$work/job/events.jsonl" 2>/dev/null | grep -c '"checkpoint.commit"'; }
    while [ "$(made)" -lt 10 ] && kill -0 $job 2>/dev/null; do sleep 0.02; done
    : >"$work/enough"
    wait $job
    made=$(made)
    rounds=$(sed -n 's/^[a-z]*: \([0-9]*\) rounds,.*/\1/p' "$work/often")
    launch "$program" "${rounds:-1}" >"$work/native" 2>"$work/native.err"
    if ! [ -s "$work/native" ] || ! cmp "$work/native" "$work/often"; then
        echo "FAIL  the output differs after $made checkpoints"; tail -n 5 "$work/native.err" "$work/often.err"; exit 1
    fi
    if grep '"checkpoint.given_up"' "$work/job/events.jsonl" | grep -v 'the job is ending'; then
        echo "FAIL  a checkpoint was given up"; exit 1
    fi
    [ "$made" -ge 10 ] || { echo "FAIL  only $made checkpoints"; exit 1; }
    echo "ok    $made checkpoints, none given up${1:+ ($1)}"
}
often
often LD_PRELOAD="$work/slow.so"
