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

# Two processes ignore SIGTERM and two have a session of their own; all have memory that takes a while to be given back.
# None is there when `within` returns: at most zombies. The clock hardly goes until all have started.
cat >"$scratch/many" <<'SH'
big() { local all=x i; for ((i = 0; i < 22; i++)); do all+=$all; done; echo "$BASHPID" >>"$1"; sleep 100; echo "$all"; }
( trap '' TERM; big "$1" & big "$1" ) &
setsid bash -c "$(declare -f big); big '$1' & big '$1'" &
wait
SH
busy; : >"$scratch/pids"
"$harness/within" 1 bash "$scratch/many" "$scratch/pids" 2>/dev/null & job=$!
until [ "$(wc -l <"$scratch/pids")" = 4 ] || ! kill -0 $job 2>/dev/null; do sleep 0.1; done
quiet; wait $job
code=$?
there=$(while read -r pid; do grep -H '^State:' "/proc/$pid/status" 2>/dev/null; done <"$scratch/pids" | grep -v 'State:[[:space:]]*[ZX]')
[ $code = 124 ] || fail "no limit for a command with processes that ignore signals or left its group: code $code"
[ "$(wc -l <"$scratch/pids")" = 4 ] || fail "not all processes had started: $(cat "$scratch/pids")"
[ -z "$there" ] || fail "processes are left behind: $there"

. "$harness/yardstick"
MEND_TEST_SLOWNESS=1000000; clock_start; nap 900; clock_read; [ "$clock" -ge 25 ] || fail "a hang on a very slow machine never ends"
MEND_TEST_SLOWNESS=100; quiet; clock_start; for i in 1 2 3 4; do nap 250; clock_read; done
[ "$clock" -ge 990 ] || fail "the clock of a quiet machine loses time: $clock ms of 1000"
unset MEND_TEST_SLOWNESS; clock_start; [ "$MEND_TEST_SLOWNESS" -ge 100 ] || fail "slowness is measured as '$MEND_TEST_SLOWNESS'"
echo "PASS: this machine: $MEND_TEST_SLOWNESS % of the reference"
