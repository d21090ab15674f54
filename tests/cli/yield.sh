#!/usr/bin/env bash
# Ranks that wait yield their cores only where they share them, unless the user says otherwise.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
[ -x "$MEND_BUILD/lib/mend/mend-node" ] || { echo "SKIP: no launcher of our own"; exit 77; }
unset OMPI_MCA_mpi_yield_when_idle
cat >say.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *yields = getenv("OMPI_MCA_mpi_yield_when_idle");
    if (rank == 0)
        printf("yields %s\n", yields ? yields : "unset");
    return MPI_Finalize();
}
C
mpicc.openmpi -O2 -o say say.c || exit 1
case_of() { # WANT CORES OPTIONS…: as many cores as taskset allows
    local want=$1 cores=$2; shift 2
    rm -rf job; taskset -c "$cores" "$MEND" run --dir job -q "$@" -- ./say >got 2>err || { tail -n 5 err; echo "FAIL: $*"; exit 1; }
    [ "$(cat got)" = "yields $want" ] || { echo "FAIL: $* on cores $cores: $(cat got), not $want"; exit 1; }
}
first=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
case_of 0 "$first" -n 1 --spares 1
case_of 1 "$first" -n 2 --spares 1
case_of 0 "$first" -n 1 --spares 1 --no-online
case_of 1 "$first" -n 1 --spares 1 --launcher-args "--mca mpi_yield_when_idle 1"
echo PASS
