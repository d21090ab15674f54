#!/usr/bin/env bash
# mend doctor: finds what is here, survives a real kill, is honest when there is no MPI.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
has() { grep -q "$1" "$scratch/out" || { cat "$scratch/out"; fail "no $1"; }; }

"$MEND" doctor --dir "$scratch" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "exit code $?"; }
has '^ok  openmpi *Open MPI 5'
has '^ok  ulfm *one of 3 ranks was killed'
has '^ok  mpich'
has 'copied at [0-9.]* GB/s'
has "$scratch: [0-9.]* GB/s written"
has 'userfaultfd' && has 'seccomp' && has 'namespaces' && has 'slurm' && has 'cores'
[ "$(ls "$scratch")" = out ] || fail "files were left: $(ls "$scratch")"

"$MEND" doctor --json --dir "$scratch" >"$scratch/out" || fail "--json: exit code $?"
"$MEND_BUILD/tests/json_check" "$scratch/out" mend ok findings || fail "not JSON"

# without any MPI: exit code 1, and it says how to get one
mkdir "$scratch/bin"
cp "$MEND" "$scratch/bin/mend-alone"
MEND_ENV_ENTERED=none PATH=/nonexistent "$scratch/bin/mend-alone" doctor --dir "$scratch" >"$scratch/out" 2>&1
[ $? = 1 ] || fail "no MPI is not noticed"
has '^NO  openmpi' && has 'Open MPI 5 or newer is needed'

out=$("$MEND" doctor --dir /proc/no/such 2>&1); [ $? = 2 ] || fail "an unwritable folder: $out"
[ "$(grep -c . <<<"$out")" = 2 ] || fail "not one sentence: $out"
"$MEND" doctor --nonsense >/dev/null 2>&1; [ $? = 2 ] || fail "a wrong flag passes"
echo PASS
