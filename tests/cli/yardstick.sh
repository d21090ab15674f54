#!/usr/bin/env bash
# Limits of tests count the seconds of a quiet machine: a slow or busy machine makes a test slower, not red; a hang
# still ends, and nothing of it is left, not even what has left its process group.
set -uo pipefail
harness=$MEND_SOURCE/tests/harness
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; cat "$scratch/stacks" 2>/dev/null; exit 1; }
export MEND_TEST_STACKS=$scratch/stacks MEND_TEST_LOADAVG=$scratch/load MEND_TEST_SLOWNESS=100
quiet() { echo "0.10 0.10 0.10 1/100 4711" >"$scratch/load"; }
busy() { echo "0.10 0.10 0.10 5000/6000 4711" >"$scratch/load"; }
waiting() { echo "5000.10 0.10 0.10 1/6000 4711" >"$scratch/load"; }

quiet; "$harness/within" 1 sleep 30; [ $? = 124 ] || fail "a quiet machine: it has no limit"
grep -q 'TIMEOUT: not done after 1 s' "$scratch/stacks" || fail "the limit is not said"
busy; "$harness/within" 1 sleep 3 || fail "a busy machine: the limit is that of a quiet one"
waiting; "$harness/within" 1 sleep 3 || fail "a slow disk: the limit is that of a quiet machine"
quiet; MEND_TEST_SLOWNESS=2000 "$harness/within" 1 sleep 3 || fail "a slow machine: the limit is that of a fast one"
"$harness/within" 5 sh -c 'exit 3'; [ $? = 3 ] || fail "the exit code is not handed on"

"$harness/within" 2 bash -c "setsid bash -c 'echo \$\$ >$scratch/pid; sleep 100; :' & wait"
[ $? = 124 ] || fail "no limit with a session of its own"
for ((i = 0; i < 100; i++)); do kill -0 "$(cat "$scratch/pid")" 2>/dev/null || break; sleep 0.1; done
kill -0 "$(cat "$scratch/pid")" 2>/dev/null && fail "a process that left the group is left behind"

. "$harness/yardstick"
MEND_TEST_SLOWNESS=1000000; clock_start; nap 900; clock_read; [ "$clock" -ge 25 ] || fail "a hang on a very slow machine never ends"
MEND_TEST_SLOWNESS=100; quiet; clock_start; for i in 1 2 3 4; do nap 250; clock_read; done
[ "$clock" -ge 990 ] || fail "the clock of a quiet machine loses time: $clock ms of 1000"
unset MEND_TEST_SLOWNESS; clock_start; [ "$MEND_TEST_SLOWNESS" -ge 100 ] || fail "slowness is measured as '$MEND_TEST_SLOWNESS'"
echo "PASS: this machine: $MEND_TEST_SLOWNESS % of the reference"
