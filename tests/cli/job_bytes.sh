#!/usr/bin/env bash
# Arguments and folders are bytes: a stopped job is resumed with exactly those it had, UTF-8 or not, and with its options.
# A byte of zero in the events hides nothing. job.json and the summary are valid JSON with a quote in the path; a job.json that
# others may have written is not believed.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; tail -n 5 "$scratch"/*.txt; exit 1; }
cd "$scratch" || exit 1
mpicc.openmpi -O1 -o echo_args "$MEND_SOURCE/tests/cli/programs/echo_args.c" || fail "the program does not compile"
folder=$(printf 'a"b\xe9')
mkdir "$folder" && cd "$folder" || fail "no folder"
word=$(printf '\xff\xfe raw \x01')
options=(--hang-timeout 77s --patience 11min --mtbf 5h --node-timeout 3s --raw --metrics "$word.prom")
"$MEND" run -n 2 --spares=0 --every 200ms "${options[@]}" --dir job -- ../echo_args 400 "$word" ünïcode '' 'a"b' >../first.txt 2>../run.txt &
job=$!
for _ in $(seq 600); do grep -q checkpoint.commit job/events.jsonl 2>/dev/null && break; sleep 0.1; done
printf '\0\n' >>job/events.jsonl # as a disk may leave one: what follows still counts
"$MEND" checkpoint job --stop >../checkpoint.txt 2>&1 || fail "no checkpoint"
wait $job; [ $? = 3 ] || fail "a byte of zero hides the events that follow"
[ ! -s ../first.txt ] || fail "the program had ended before it was stopped"
"$MEND_BUILD/tests/json_check" job/job.json program folder || fail "job.json is not what it should be"
grep -q '"hex": "fffe207261772001"' job/job.json || fail "job.json lost bytes: $(cat job/job.json)"
cd / || exit 1 # resumed from elsewhere
"$MEND" restart "$scratch/$folder/job" >"$scratch/second.txt" 2>"$scratch/restart.txt" || fail "it does not resume"
printf '%s\n' fffe207261772001 c3bc6ec3af636f6465 '' 612262 >"$scratch/expected"
cmp -s "$scratch/expected" "$scratch/second.txt" || fail "the program had other arguments"
for value in '"hang_timeout": 77.0' '"patience": 660.0' '"mtbf": 18000.0' '"node_timeout": 3.0' '"raw": true'; do
    grep -q "$value" "$scratch/$folder/job/job.json" || fail "not $value any more: $(cat "$scratch/$folder/job/job.json")"
done
[ "$(grep -c fffe20726177200 "$scratch/$folder/job/job.json")" = 2 ] || fail "the metrics have another file: $(cat "$scratch/$folder/job/job.json")"

cd "$scratch" || exit 1
"$MEND" run --json -n1 --spares=0 --dir 'q"job' -- ./echo_args 1 x >/dev/null 2>summary.txt || fail "--json"
grep '^{' summary.txt >summary.json
"$MEND_BUILD/tests/json_check" summary.json exit_code dir || fail "the summary is not JSON"
grep -qF 'q\"job' summary.json || fail "the summary names another folder"
chmod 666 'q"job/job.json'
"$MEND" restart 'q"job' >mode.txt 2>&1 && fail "a job.json that anybody may write to was believed"
grep -q job.json mode.txt || fail "the file is not named"
chmod 600 'q"job/job.json'
echo '{"mend": 1' >'q"job/job.json'
"$MEND" restart 'q"job' >damaged.txt 2>&1 && fail "a damaged job.json was believed"
grep -q 'job.json, line' damaged.txt || fail "the damage is not named"
echo PASS
