#!/usr/bin/env bash
# What killed launchers have left in the temporary folder must not keep a job from starting: mpirun names a folder there by
# its process id and does not start when there is one. Here such a folder lies at every process id that comes next.
# mend run, restart and doctor start all the same, take nothing of the user's TMPDIR away, and leave nothing there.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -n 12 got err 2>/dev/null; exit 1; }
mkdir "a trap" plain
export MEND_RUN_LAUNCHER=mpirun # Mend's own launcher has no such folder
cat >say.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) /* [FILE: goes on until it is there] */
{
    MPI_Init(&argc, &argv);
    int rank, enough = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (!enough) {
        enough = argc < 2 || access(argv[1], F_OK) == 0;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    const char *folder = getenv("TMPDIR");
    FILE *said = rank == 0 ? fopen("said", "w") : NULL; /* mpirun may lose the last words of a program */
    if (rank == 0)
        printf("TMPDIR %s\n", folder ? folder : "none");
    if (said) {
        fprintf(said, "TMPDIR %s\n", folder ? folder : "none");
        fclose(said);
    }
    return MPI_Finalize();
}
C
mpicc.openmpi -O2 -o say say.c || exit 1

export TMPDIR=$scratch/plain
# shellcheck disable=SC2016
name=$(mpirun.openmpi --oversubscribe -n 1 sh -c 'basename "$PMIX_SERVER_TMPDIR"') # prterun.HOST.PID.UID
user=${name##*.} name=${name%.*}
mpirun.openmpi --oversubscribe -n 2 "$MEND" exec --dir "$scratch/images" --every 0.02 ./say "$scratch/enough" >got 2>err & runner=$!
until grep -q complete < <("$MEND" ls images 2>/dev/null); do kill -0 $runner 2>/dev/null || fail "mend exec"; sleep 0.02; done
kill $runner # not to its end: a version from MPI_Finalize would have nothing more to say
wait $runner
: >enough

set_trap() { # for the next ids, which go round at the limit
    local limit; read -r limit </proc/sys/kernel/pid_max
    (cd "a trap" && awk -v name="${name%.*}" -v user="$user" -v from=$BASHPID -v limit="$limit" \
        'BEGIN { for (i = 0; i < 6000; i++) print name "." (from + i) % limit "." user }' | xargs mkdir -p)
}
left() { (cd "a trap" && ls -A | grep -v "^${name%.*}\.") }
TMPDIR="$scratch/a trap"
set_trap
mpirun.openmpi --oversubscribe -n 1 true >got 2>err && echo "this mpirun does not mind such folders"

want="TMPDIR $TMPDIR"
for mode in --online --no-online; do
    set_trap
    "$MEND" run -n 2 --spares 0 $mode -q -- ./say >got 2>err || fail "mend run $mode"
    [ "$(cat got)" = "$want" ] || fail "mend run $mode: another TMPDIR"
    [ -z "$(left)" ] || fail "mend run $mode has left $(left)"
done
set_trap
rm -f said
"$MEND" restart images >got 2>err || fail "mend restart"
[ "$(cat said)" = "TMPDIR $scratch/plain" ] || fail "mend restart: another result" # as it was when the image was taken
for ((i = 0; i < 500; i++)); do [ -n "$(left)" ] || break; sleep 0.02; done
[ -z "$(left)" ] || fail "mend restart has left $(left)"
set_trap
"$MEND" doctor --dir "$scratch" >got 2>err
grep -q '^ok  ulfm' got || fail "mend doctor"
[ -z "$(left)" ] || fail "mend doctor has left $(left)"

# a folder that the user has chosen is used as it is
mkdir chosen
PRTE_MCA_prte_tmpdir_base=$scratch/chosen "$MEND" run -n 2 --spares 0 -q -- ./say >got 2>err || fail "with a folder of the user's"
"$MEND" run -n 2 --spares 0 -q --launcher-args "--prtemca prte_tmpdir_base $scratch/chosen" -- ./say >got 2>err || fail "with a folder in --launcher-args"
mkdir -p home/.prte
echo "prte_tmpdir_base = $scratch/chosen # mine" >home/.prte/mca-params.conf
HOME=$scratch/home "$MEND" run -n 2 --spares 0 -q -- ./say >got 2>err || fail "with a folder in a file of parameters"
