#!/usr/bin/env bash
# The table of keys is true: every key is read by some code, no code reads a MEND_ variable behind its back, a mistyped
# variable or key is refused by name, and a key in a file has the effect of its variable.
set -uo pipefail
cd "$MEND_SOURCE" || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
complain() { echo "FAIL: $*"; bad=1; }
keys=$(sed -n 's/^CONFIG_KEY(\([A-Z_]*\),.*/\1/p' src/base/include/base/config_keys.def)
[ "$(wc -w <<<"$keys")" -gt 40 ] || complain "the table was not read"
for key in $keys; do
    grep -rqE "MEND_KEY_$key\b" src tools --include='*.c' || complain "nothing reads the key $key"
done
# every variable that the source names is a key's, or one of those that are none: the file of keys itself, the faults of
# tests, the mark of a process that was spawned. (MEND_STATE_ALL is a macro, MEND_ERR_… a code.)
none=" MEND_CONFIG MEND_FAULT MEND_SPAWNED MEND_STATE_ALL MEND_ERR_UNKNOWN MEND_ "
for name in $(grep -rhoE '"MEND_[A-Z0-9_]*"' src tools --include='*.[ch]' | tr -d '"' | sort -u); do
    grep -qx "${name#MEND_}" <<<"$keys" || [[ $none == *" $name "* ]] || complain "$name is no key of the table"
done
others=$(grep -rnE '[^a-z]getenv\("MEND_' src tools --include='*.[ch]' | grep -vE '"MEND_(CONFIG|FAULT)"')
[ -z "$others" ] || complain "read without the table: $others"

for mistake in MEND_STORE_LOCL=/x MEND_FLOW_EVRY=3 MEND_CAPSULE_KEEP=two MEND_LOG_LEVEL_=x; do
    said=$(env "$mistake" "$MEND" version 2>&1) && complain "$mistake was taken"
    grep -q "${mistake%%=*}" <<<"$said" || complain "$mistake is not named: $said"
done
printf '[flow]\nevery = 5\nevrey = 7\n' >"$scratch/mend.conf"
said=$("$MEND" --config "$scratch/mend.conf" version 2>&1) && complain "a mistyped key was taken"
grep -q 'mend.conf:3.*flow.evrey' <<<"$said" || complain "the key is not named with its line: $said"
printf '[capsule]\nkeep = 3\n[run]\nlauncher = mpirun\n[log]\nlevel = info\n' >"$scratch/mend.conf"
"$MEND" --config="$scratch/mend.conf" version >/dev/null || complain "a right file was refused"
[ $bad = 0 ] && echo PASS
exit $bad
