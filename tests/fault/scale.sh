#!/usr/bin/env bash
# scale.sh RANKS…: messages and bytes of a round of checkpointing, by the coordinator's own count (checkpoint.messages), for
# each number of ranks: as docs/guide/scale.md has it, 9 messages a rank, and a few more when ranks must run on before they
# can stop. What ranks say to each other by MPI is counted by mpi.store_count_*, and the launcher's messages by launcher.count.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
. "$here/told.sh"
trap 'rm -rf "$scratch"' EXIT
runner=
fail() { echo "FAIL: $*"; tail -5 err 2>/dev/null; [ -z "$runner" ] || kill "$runner" 2>/dev/null; wait; exit 1; }
mpicc.openmpi -O2 -o steady "$here/apps/steady.c" -pthread || exit 1
rounds() { local n; n=$(grep -c '"checkpoint.messages"' job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
field() { grep '"checkpoint.messages"' job/events.jsonl | grep -o "\"$1\":[0-9]*" | cut -d: -f2; }

for ranks in "$@"; do
    native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n "$ranks" "$@"; }
    rm -rf job
    untold -- ./steady ./enough 512 500
    "$MEND" run -n "$ranks" --every 50ms --levels memory,partner --dir job -q -- "${program[@]}" >got 2>err & runner=$!
    until [ "$(rounds)" -ge 8 ]; do kill -0 $runner 2>/dev/null || fail "$ranks ranks: the job ended after $(rounds) rounds"; sleep 0.02; done
    tell
    wait $runner || fail "$ranks ranks: code $?"
    runner=
    reference
    cmp got want || fail "$ranks ranks: the output differs"
    paste <(field sent) <(field received) <(field bytes) | awk -v n="$ranks" '
        { all = $1 + $2
          if ($1 < 5 * n || $2 < 4 * n) { printf "FAIL: a round of %d ranks had %d + %d messages\n", n, $1, $2; exit bad = 1 }
          if (NR == 1 || all < least) { least = all; bytes = $3 }
          if (all > most) most = all }
        END { if (bad) exit 1
              printf "%d ranks, %d rounds: %.1f to %.1f messages a rank, %.0f bytes a rank at least\n", n, NR, least / n, most / n, bytes / n
              exit (least > 14 * n || bytes > 1024 * n) }' || fail "$ranks ranks: a round takes more than 14 messages or 1 KiB a rank"
done
echo PASS
