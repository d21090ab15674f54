#!/usr/bin/env bash
# A program that can never start is refused in one sentence, before anything is launched or made; so is a folder in which a
# job would replace what is no job's. A program that crashes by itself is named, with signal, rank and place, and ended when it
# crashes there again; a crash that does not come again is survived.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -n 8 got err 2>/dev/null; exit 1; }
refused() { # SENTENCE PROGRAM
    "$MEND" run -n 2 --dir job -- "$2" >got 2>err && fail "$2: exit code 0"
    [ $? = 124 ] && fail "$2: hangs"
    [ "$(wc -l <err)" = 1 ] && grep -q "^mend run: .*$1" err || fail "$2: not one sentence: $1"
    [ ! -e job ] && [ ! -s got ] || fail "$2: something was made or printed"
}
cat >crash.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, step, sum = 0, one = 1, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (step = 0; step < 600; step++) {
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
        usleep(1000);
        if (step == 400 && rank == 1 && strcmp(argv[1], "never") && (strcmp(argv[1], "once") || access("once", F_OK))) {
            if (!strcmp(argv[1], "once") && system("touch once"))
                return 3;
            if (!strcmp(argv[1], "abort"))
                abort();
            *(volatile int *)16 = 1;
        }
    }
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
C
mpicc.openmpi -O1 -o crash crash.c || exit 1
: >empty; chmod +x empty
printf '#!/nowhere/sh\n' >script; chmod +x script
cp crash plain; chmod -x plain
cp crash other; chmod +x other # of a machine that is neither of ours: EM_S390
printf '\x16\x00' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null
echo 'a text' >text; chmod +x text
head -c 40 crash >headless; head -c $(($(stat -c %s crash) / 3)) crash >cut; chmod +x headless cut
mkdir folder
refused 'there is no program ./missing$' ./missing
refused 'there is no program missing-program in PATH' missing-program
refused 'is an empty file' ./empty
refused 'is a script, not a program: name its interpreter' ./script
refused 'is not executable' ./plain
refused 'is a program for s390, this machine is' ./other
refused 'is not a program (no ELF file)' ./text
refused 'is not a program, but a folder' ./folder
refused './headless is cut short$' ./headless
refused './cut is cut short$' ./cut
for how in static static-pie; do
    PATH=/usr/bin:/bin cc -$how -x c -o $how - <<<'int main(void){return 0;}' 2>/dev/null && refused 'is statically linked' ./$how
done
mkdir -p mine/output mine/undo; echo data >mine/output/data # a folder of the user's
"$MEND" run -n 2 --dir mine -- ./crash never >got 2>err && fail "a folder of the user's: exit code 0"
[ "$(wc -l <err)" = 1 ] && grep -q "mine/output does not come from a job" err || fail "a folder of the user's: not one sentence"
[ "$(cat mine/output/data)" = data ] && [ -d mine/undo ] && [ ! -e mine/job.json ] && [ ! -s got ] || fail "a folder of the user's was changed"
mkdir home; echo mine >home/.profile
for dir in / home .; do # that of the whole machine, of the user, of the program
    ls -A "$dir" >before
    HOME=$PWD/home "$MEND" run -n 2 --dir "$dir" -- ./crash never >got 2>err && fail "--dir $dir: exit code 0"
    [ "$(wc -l <err)" = 1 ] && grep -q "does not come from a job, so .* cannot be the folder of one" err || fail "--dir $dir: not one sentence"
    ls -A "$dir" | diff before - || fail "--dir $dir: changed"
done
# what will not go away is not tried again
once() { # SENTENCE OPTIONS…
    rm -rf job; "$MEND" run -n 2 --dir job "${@:2}" -- ./crash never >got 2>err && fail "$1: exit code 0"
    grep -q "$1" err || fail "not said: $1"
    ! grep -q 'relaunching\|is lost' err && [ "$(grep -c '"run.launch"' job/events.jsonl)" -le 1 ] || fail "tried again: $1"
}
(ulimit -n 24 && once 'cannot start rank [0-9]*: Too many open files (ulimit -n)') || exit 1
if [ "$(id -u)" = 0 ]; then # to whom access() says that /proc may be written
    TMPDIR=/proc once 'mpirun needs a temporary folder, and none can be made in /proc (TMPDIR)' --launcher mpirun
    rm -rf job; TMPDIR=/proc "$MEND" run -n 2 --dir job -- ./crash never >got 2>err || fail "TMPDIR=/proc: code $?"
    [ "$(grep -c '"run.launch"' job/events.jsonl)" = 1 ] || fail "TMPDIR=/proc: launched again"
fi
echo "ok: refused"

crashes() { # LAUNCHES SIGNAL OPTIONS… -- ARGS…
    local launches=$1 signal=$2; shift 2
    rm -rf job
    "$MEND" run -n 2 --dir job --every 1h "$@" >got 2>err && fail "$*: exit code 0"
    grep -q "^mend run: the program crashes: rank 1 by $signal .* at 0x[0-9a-f]*, [23] times at the same place" err || fail "$*: not named"
    [ "$(grep -c "^mend: rank 1 crashed by $signal" err)" = 2 ] || fail "$*: not twice"
    # (more: Open MPI itself crashes in MPI_Init now and then, which is no crash of the program)
    [ "$(grep -c '"run.launch"' job/events.jsonl)" -ge "$launches" ] || fail "$*: launched $(grep -c '"run.launch"' job/events.jsonl) times"
    ! grep -q survived err || fail "$*: called survived"
}
crashes 1 SIGSEGV --spares 2 -- ./crash always
crashes 2 SIGSEGV --spares 0 -- ./crash always
crashes 1 SIGABRT --spares 1 -- ./crash abort
crashes 2 SIGSEGV --no-online -- ./crash always
echo "ok: crashes"
rm -rf job
"$MEND" run -n 2 --spares 1 --dir job --every 1h -- ./crash once >got 2>err || fail "a crash that did not come again"
[ "$(cat got)" = "sum 1200" ] && grep -q 'rank 1 crashed by SIGSEGV' err && grep -q '1 failure survived' err || fail "once"
echo PASS
