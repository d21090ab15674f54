#!/usr/bin/env bash
# A Mend that was built with somebody's own Open MPI and MPICH works: both in a prefix that is neither the system's nor that
# of this build, for which they were not built either (so OPAL_PREFIX is set while Mend is configured), with blanks in all
# paths. Afterwards the environment has nothing of them: a job loses a rank and ends with the output of an undisturbed run;
# a job is stopped and resumed on MPICH; and the processes have mapped these libraries, not others.
# Uses the packages that are here already, no network.
set -uo pipefail
[ "${MEND_ENV:-}" = prefix ] || { echo "SKIP: this system has its own Open MPI 5, and there are no packages to make another prefix of"; exit 77; }
scratch=$(mktemp -d)
runner=
trap '[ -z "$runner" ] || kill $runner 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
fail() { echo "FAIL: $*"; tail -n 25 log err 2>/dev/null; exit 1; }
quiet() { "$@" >log 2>&1 || fail "$*"; }

# the other prefix, made of the same packages
base="$scratch/their own" env=$MEND_SOURCE/env
mkdir "$base"
for debs in "${MEND_ENV_PREFIX%/*}"/debs-*; do ln -s "$debs" "$base/"; done
quiet "$env/prefix" "$base" "$(basename "$MEND_ENV_PREFIX")"
own=$base/$(basename "$MEND_ENV_PREFIX")
theirs=$own/root/usr

quiet env OPAL_PREFIX="$theirs" cmake -S "$MEND_SOURCE" -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    -DMEND_OPENMPI="$theirs" -DMEND_MPICH="$theirs"
quiet cmake --build build -j 2
quiet cmake --install build --prefix "$scratch/my mend"
rm -rf build
mend="$scratch/my mend/bin/mend"
for row in openmpi.mpirun openmpi.cc mpich.mpirun mpich.cc; do
    path=$(sed -n "s/^$row //p" "$scratch/my mend/share/mend/mpi")
    [[ $path = "$theirs/bin/"* ]] || fail "$row is ${path:-missing}"
done

quiet "$own/bin/mpicc.openmpi" -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" -lm
arguments=(3000 4096)
quiet "$own/bin/mpirun" --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 3 ./steady "${arguments[@]}"
mv log want
plain() { env -i PATH=/usr/bin:/bin HOME="$scratch" TMPDIR="$scratch" "$@"; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
start() { # OPTIONS…
    rm -rf job
    plain "$mend" run -n 3 --every 100ms --dir job "$@" -- ./steady "${arguments[@]}" >got 2>err &
    runner=$!
}
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
rank() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -1 | sed 's/.*"pid":\([0-9]*\).*/\1/'; }
maps_only_theirs() { # PID
    local other
    grep -q "$theirs/lib/.*/libmpi\.so\|$theirs/lib/.*/libmpich\.so" "/proc/$1/maps" || fail "a rank has not mapped this MPI: $(grep libmpi "/proc/$1/maps")"
    other=$(awk '{ $1 = $2 = $3 = $4 = $5 = ""; print }' "/proc/$1/maps" | grep -E '/lib(mpi|mpich|open-pal|pmix|prrte)[.-]' | grep -vF "$theirs/")
    [ -z "$other" ] || fail "a rank has mapped another MPI: $other"
}

start --spares 1
await '"level":"memory"' 6
maps_only_theirs "$(rank 0)"
kill -9 "$(rank 1)" || fail "rank 1 could not be killed"
wait $runner || fail "mend run ended with $?"
runner=
[ "$(count '"how":"resumed"')" -ge 3 ] || fail "nothing was repaired"
cmp got want || fail "the output differs from that of an undisturbed run"
echo "ok: a rank killed and replaced in place"

start --no-online --spares 0
await '"event":"checkpoint.commit"' 3
plain "$mend" checkpoint job --stop >log 2>&1 || fail "it cannot be stopped"
wait $runner
[ $? = 3 ] || fail "the stopped job has another code"
mv got first
plain "$mend" restart job --mpi mpich >got 2>err &
runner=$!
await '"event":"run.launch"' 2
wait $runner || fail "it does not resume on MPICH: code $?"
runner=
cat first got | cmp - want || fail "resumed on MPICH, the output differs"
echo "ok: stopped on Open MPI, resumed on MPICH"
echo PASS
