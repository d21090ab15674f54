#!/usr/bin/env bash
# mend chaos: the same seed gives the same faults, a schedule is kept, storage is put back, wrong use is 2.
set -uo pipefail
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
. "$MEND_SOURCE/tests/harness/events"

# Ranks without MPI: a launcher is whoever has children with a rank in their environment.
cat >launcher <<'E'
#!/usr/bin/env bash
for r in 0 1 2 3 4 5; do PMIX_RANK=$r setsid sleep "${1:-3}" & done
wait
E
chmod +x launcher
chaos() { "$MEND" chaos "$@"; }
planned() { grep -o '"planned": [0-9.]*\|"kind": "[a-z]*"\|rank [0-9]*' "$1"; }

chaos --mtbf 300ms --seed 7 --leave 2 --wait-ranks 6 --json -o a.json -- ./launcher 2 || fail "run a"
chaos --mtbf 300ms --seed 7 --leave 2 --wait-ranks 6 --json -o b.json -- ./launcher 2 || fail "run b"
chaos --mtbf 300ms --seed 8 --leave 2 --wait-ranks 6 --json -o c.json -- ./launcher 2 || fail "run c"
# the first kills: later ones may fall beyond the end of one of the runs
diff <(planned a.json | head -6) <(planned b.json | head -6) || fail "one seed, two plans"
diff <(planned a.json | head -6) <(planned c.json | head -6) >/dev/null && fail "two seeds, one plan"
grep -q '"result": "killed"' a.json || fail "nobody was killed"

# Exactly the ranks of the schedule die, a stopped one goes on, two are hit at once.
chaos --schedule "200ms kill 1,4; 400ms stop 0 200ms; 700ms kill *1; 900ms kill 9" --wait-ranks 6 \
    -o table -- ./launcher 3 || fail "schedule"
grep -Eq 'kill +rank 1 \(pid [0-9]+\), rank 4 .* killed' table || fail "1,4: $(cat table)"
grep -Eq 'stop +rank 0 .* stopped' table || fail "stop: $(cat table)"
grep -q 'not done: no such process' table || fail "rank 9: $(cat table)"
grep -q '4 faults in' table || fail "sum: $(cat table)"

# A rank that is named twice is one; and faults are in the events of a job that begins with a new file.
chaos --schedule "200ms kill 1,1" --wait-ranks 6 --leave 5 -o table -- ./launcher 2 || fail "named twice"
grep -Eq 'kill +rank 1 \(pid [0-9]+\) +killed' table || fail "named twice: $(cat table)"
chaos --schedule "200ms kill 1; 400ms kill 2" --wait-ranks 6 --dir job -o table -- sh -c 'sleep 0.1; rm -f job/events.jsonl; ./launcher 2' || fail "--dir"
[ "$(grep -c '"event":"chaos.fault"' job/events.jsonl)" = 2 ] || fail "faults are not in the events: $(cat table job/events.jsonl)"

# An emulated node: its ranks and its storage.
mkdir -p store/node0 store/node1; echo x >store/node0/f; echo x >store/node1/f
chaos --schedule "200ms node 1" --nodes 2 --storage 'store/node%d' --wait-ranks 6 -o table -- ./launcher 2
grep -q 'rank 3 .*rank 4 .*rank 5 .*its storage emptied' table || fail "node: $(cat table)"
[ -e store/node0/f ] && [ ! -e store/node1/f ] || fail "storage of the node"

# A node fault between two launches, when the job has no process, hits nobody.
chaos --schedule "$(for i in $(seq 100); do echo "${i}00ms node"; done)" --leave 0 --wait-ranks 6 --dir again -o table -- \
    sh -c './launcher 600; while kill -0 $PPID && ! grep -q "no such process" again/events.jsonl; do sleep 0.1; done' || fail "node again: $?"
grep -Eq 'node .* killed' table && grep -q 'node .*not done: no such process' table || fail "node without processes: $(cat table)"

# Break, then it is back; flip changes one bit; fill refuses a disk that is too large.
head -c 4096 /dev/zero >store/node0/f
chaos --schedule "100ms break 300ms; 1200ms flip; 1300ms fill" --fill-limit 1KiB --storage store/node0 \
    --wait-ranks 6 -o table -- ./launcher 3
[ -d store/node0 ] || fail "the folder is not back"
[ "$(tr -d '\0' <store/node0/f | wc -c)" = 1 ] || fail "flip: $(cat table)"
grep -q 'refused' table || fail "fill: $(cat table)"
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
    chaos --schedule "100ms fill" --storage small --wait-ranks 6 -o table -- ./launcher 1
    left=$(ls -A small); umount small
    grep -q 'full (1 MiB written)' table || fail "fill: $(cat table)"
    [ -z "$left" ] || fail "the filling is still there"
fi

# A running launcher by its pid; a failing command; wrong use.
./launcher 2 & chaos --pid $! --schedule "100ms kill 2" -o table || fail "--pid"
grep -q 'rank 2 .* killed' table || fail "pid: $(cat table)"
chaos --schedule "1s kill" -- false 2>/dev/null; [ $? = 1 ] || fail "exit code of a failed command"
chaos --mtbf 1s 2>/dev/null; [ $? = 2 ] || fail "no command"
chaos --schedule "1s boom" -- true 2>/dev/null; [ $? = 2 ] || fail "unknown kind"
chaos --mtbf 1s --kinds kill=x -- true 2>/dev/null; [ $? = 2 ] || fail "bad weight"
grep -q Usage < <(chaos --help) || fail "help"
events_right job/events.jsonl again/events.jsonl
echo PASS
