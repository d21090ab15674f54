#!/usr/bin/env bash
# The commands of docs/guide/quick-start.md, as they stand there and in their order (but for the build): the job that was hit
# by a kill, and the one that was stopped and resumed, print what the undisturbed one prints.
set -uo pipefail
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -30 said; exit 1; }
ln -s "$MEND_BUILD" build && ln -s "$MEND_SOURCE/apps" apps
awk '/^```/ {inside = !inside; next} inside && $0 != "make"' "$MEND_SOURCE/docs/guide/quick-start.md" >commands
[ "$(wc -l <commands)" -ge 12 ] || fail "only these commands were found: $(cat commands)"
bash -ex commands >said 2>&1 </dev/null || fail "the commands end with $?"
[ "$(grep -cx equal said)" = 2 ] || fail "the outputs differ"
[ "$(wc -l <calm.txt)" -gt 2 ] || fail "the program printed next to nothing"
grep -qE '^mend: .*, 1 failure survived in place .*/hit$' said || fail "nothing was killed, or it was not repaired in place"
grep -q '^version [0-9]* is complete' said || fail "no job was stopped by a checkpoint"
grep -q '</html>' hit.html || fail "there is no report"
echo "PASS: $(wc -l <commands) commands"
