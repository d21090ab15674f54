#!/usr/bin/env bash
# Mend as others use it, each time with a job that loses a rank and ends with the output of an undisturbed run:
#   1. everything (the installation, the program, the job, the temporary files) in folders with blanks, with the modes
#      that a umask of 002 leaves;
#   2. installed by root, used by another user, with a site's configuration file that belongs to root.
# The user has nothing of env/run in the environment.
set -uo pipefail
scratch=$(mktemp -d /tmp/mend-users-XXXXXX) || exit 1 # outside of TMPDIR, where other users may not go
runner=
trap '[ -z "$runner" ] || kill $runner 2>/dev/null; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
fail() { echo "FAIL: $*"; cat "$scratch"/err; tail -5 "$job/events.jsonl" 2>/dev/null | cut -c1-300; exit 1; }
usr="$scratch/an installation" program="$scratch/my programs/steady" job=
cmake --install "$MEND_BUILD" --prefix "$usr" >"$scratch/err" 2>&1 || fail "it cannot be installed"
mkdir "$scratch/my programs"
"$usr/bin/mend" cc -O2 -o "$program" "$MEND_SOURCE/tests/fault/apps/steady.c" -lm 2>"$scratch/err" || fail "mend cc does not compile"
arguments=(3000 4096)
mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 3 "$program" "${arguments[@]}" >"$scratch/want" || exit 1

count() { local n; n=$(grep -c "$1" "$job/events.jsonl" 2>/dev/null); echo "${n:-0}"; }
survives() { # FOLDER COMMAND…: the job in FOLDER; COMMAND makes its words those of a user
    cd "$1" || exit 1
    job="$1/a job"
    shift
    env -i PATH=/usr/bin:/bin TMPDIR="$PWD" "$@" "$usr/bin/mend" run -n 3 --spares 1 --every 100ms --dir "a job" -- \
        "$program" "${arguments[@]}" >"$scratch/got" 2>"$scratch/err" &
    runner=$!
    until [ "$(count '"level":"memory"')" -ge 6 ]; do kill -0 $runner 2>/dev/null || fail "the job ended before its second version"; sleep 0.02; done
    kill -9 "$(grep '"rank":1,"event":"recover.playing"' "$job/events.jsonl" | tail -1 | sed 's/.*"pid":\([0-9]*\).*/\1/')" ||
        fail "rank 1 could not be killed"
    wait $runner || fail "mend run ended with $?"
    runner=
    [ "$(count '"how":"resumed"')" -ge 3 ] || fail "nothing was repaired"
    cmp "$scratch/got" "$scratch/want" || fail "the output differs from that of an undisturbed run"
}

chmod -R g+w "$usr" "$scratch/my programs"
umask 002
mkdir "$scratch/a folder"
survives "$scratch/a folder" env
echo "ok: blanks in every path, files that the group may write"

other=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" != 0 ] || ! "${other[@]}" true 2>/dev/null; then
    echo "left out: another user (this is not root)"
elif ! "${other[@]}" test -x "$(mpi=$("$usr/bin/mend" cc --where) && dirname "$mpi")"; then
    echo "left out: another user (may not read the MPI that this build uses)"
else
    install -d -o 65534 -g 65534 "$scratch/theirs"
    printf '[flow]\n' >"$scratch/site.conf"
    survives "$scratch/theirs" "${other[@]}" env MEND_CONFIG="$scratch/site.conf"
    [ "$(stat -c %u "$job/events.jsonl")" = 65534 ] || fail "the job was not another user's"
    echo "ok: another user's job"
fi
echo PASS
