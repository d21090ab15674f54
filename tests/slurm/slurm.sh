#!/usr/bin/env bash
# slurm.sh CASE: `mend run` under a real slurmctld, slurmd and munge on emulated nodes. In each case the output must
# equal that of a native run, nothing may be printed twice, and nothing may be left on any node.
#   knows       without options: ranks, nodes, folder from the allocation; a rank on another node is killed
#   salloc      the same inside salloc, by hand: mend run is on a machine that is no node of the job
#   time_limit  the limit is near: checkpoint, stop, requeue, resume
#   warning     sbatch --signal: the same
#   preempt     a job of another partition takes the nodes: the same
#   node_loss   a node is lost under --no-kill: replaced in place, nothing is requeued
#   requeue     scontrol requeue: killed at once, resumed from the newest version on disk
#   array       three tasks of an array, each requeued
# Called by tests/harness/mpitest on the head.
set -uo pipefail
case=$1
if [ -z "${MEND_SLURM_STEPD:-}" ]; then
    [ "$(awk '{print $3; exit}' /proc/self/uid_map)" = 4294967295 ] || { echo "SKIP: slurmd needs root"; exit 77; }
    "$MEND_SOURCE/env/slurm" --fetch 2>fetch.log || { echo "SKIP: Slurm cannot be had here: $(tail -1 fetch.log)"; exit 77; }
    exec "$MEND_SOURCE/env/slurm" bash "$0" "$@"
fi
cd "$MEND_TEST_DIR" || exit 1
. "$MEND_SOURCE/tests/slurm/cluster.sh"
export MEND=$MEND_BUILD/bin/mend
script=$MEND_SOURCE/contrib/slurm/mend.sbatch
fail() {
    echo "FAIL: $*"
    for f in *.out; do [ -e "$f" ] && echo "--- $f" && tail -30 "$f"; done
    grep -hvE 'checkpoint.commit|undo' mend-*/events.jsonl 2>/dev/null | tail -30 | cut -c1-200
    scontrol -o show job | cut -c1-600
    grep -hiE 'error|fatal|requeue|preempt' "$conf"/*.log | tail -15
    exit 1
}
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
. "$MEND_SOURCE/tests/fault/told.sh" # the job ends when it has seen enough, on any machine
ranks=3
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n $ranks "$@" 2>native.err; }
program=(./steady ./enough 2048 1500)
enough() { cat "${1:-job.out}" >got 2>/dev/null; tell; }
slurm_start 4 || exit 1

submit() { sbatch --parsable -o '%x.out' -J job "$@" -- "${program[@]}" 2>&1; }
count() { local n; n=$(cat mend-*/events.jsonl 2>/dev/null | grep -c "$1"); echo "${n:-0}"; }
await() { # EVENT COUNT JOB
    until [ "$(count "$1")" -ge "$2" ]; do
        case $(state_of "$3") in COMPLETED | FAILED | CANCELLED | NODE_FAIL | TIMEOUT) fail "the job ended before $2 x $1" ;; esac
        sleep 0.05
    done
}
ended() { # JOB: it has ended well
    local s
    while :; do
        s=$(state_of "$1")
        case $s in COMPLETED) return 0 ;; FAILED | CANCELLED | NODE_FAIL | TIMEOUT | OUT_OF_MEMORY | '') fail "job $1: $s" ;; esac
        sleep 0.1
    done
}
right() { # FILE: what the program printed, once
    sed -z 's|slurmstepd[^\n]*\n||g' "$1" | grep '^steady' >got # (Slurm writes into the middle of lines)
    reference got
    diff got want >differs || fail "the output in $1 differs: $(head -6 differs)"
}
clean() { local left; left=$(slurm_left "$@"); [ -z "$left" ] || fail "left on the nodes: $left"; }
play=(-q --every 300ms --levels memory,partner,global:1)

case $case in
knows | salloc)
    if [ "$case" = knows ]; then job=$(submit -N3 --ntasks-per-node=1 "$script" "${play[@]}")
    else
        salloc -N3 --ntasks-per-node=1 --no-kill -J job "$MEND" run "${play[@]}" -- "${program[@]}" >job.out 2>salloc.out </dev/null & salloc=$!
        until job=$(sed -n 's/^salloc: Granted job allocation \([0-9]*\)$/\1/p' salloc.out) && [ -n "$job" ]; do
            kill -0 $salloc 2>/dev/null || fail "salloc ended with nothing"; sleep 0.05
        done
    fi
    await '"level":"partner"' 6 "$job"
    ls -d "mend-steady-slurm-$job" >/dev/null || fail "the folder is another one"
    hosts=$(cat mend-*/events.jsonl | grep recover.born | grep -o '"host":"[^"]*"' | sort -u | tr -d '\n')
    [ "$hosts" = '"host":"node1""host":"node2""host":"node3"' ] || fail "ranks on $hosts"
    victim=$("$MEND_SOURCE/tests/harness/node" list 3 capsule.openmpi | head -1)
    kill -9 "$victim" || fail "no rank on node3"
    await '"how":"resumed"' 1 "$job"; enough
    [ "$case" = knows ] || wait $salloc || fail "salloc: code $?"
    ended "$job"
    right job.out
    [ "$(count run.launch)" = 1 ] && [ "$(count '"how":"resumed"')" -ge 1 ] || fail "not repaired in place"
    clean 1 2 3 ;;
time_limit)
    job=$(submit -N3 -n3 --time=1 "$script" "${play[@]}" --stop-before 48s)
    await 'the time limit is near' 1 "$job"; enough
    ended "$job"
    right job.out
    [ "$(restarts_of "$job")" -ge 1 ] || fail "never requeued"
    [ "$(grep -c '"event":"run.leave"' mend-*/events.jsonl)" -ge 1 ] || fail "it did not leave in time"
    clean 1 2 3 ;;
warning)
    job=$(submit -N3 -n3 --time=2 --signal=B:USR1@115 "$script" "${play[@]}" --stop-before 0)
    await '"why":"SIGTERM"' 1 "$job"; enough
    ended "$job"
    right job.out
    [ "$(restarts_of "$job")" -ge 1 ] || fail "never requeued"
    clean 1 2 3 ;;
preempt)
    job=$(submit -N3 -n3 "$script" "${play[@]}")
    await '"level":"global"' 6 "$job"
    other=$(sbatch --parsable -p high -N3 -o high.out --wrap 'date') || fail "$other"
    await run.leave 1 "$job"; enough
    ended "$other"
    ended "$job"
    right job.out
    # once by its script, once more by Slurm if that had begun to: a life that finds the job done only says so
    [ "$(restarts_of "$job")" -ge 1 ] || fail "never requeued"
    clean 1 2 3 ;;
node_loss)
    job=$(submit -N3 -n3 "$script" "${play[@]}" --spares 3 --node-timeout 2s)
    await '"level":"partner"' 6 "$job"
    "$MEND_SOURCE/tests/harness/node" "${MEND_TEST_LOSS:-off}" 3 || fail "node3 stays"
    await launch.lost 1 "$job"
    await '"how":"resumed"' 1 "$job"; enough
    ended "$job"
    right job.out
    [ "$(restarts_of "$job")" = 0 ] && [ "$(count run.launch)" = 1 ] || fail "not repaired in place"
    clean 1 2 ;;
requeue)
    job=$(submit -N3 -n3 "$script" "${play[@]}")
    await '"level":"global"' 9 "$job"
    scontrol requeue "$job" || fail "scontrol requeue"
    await run.launch 2 "$job"; enough # not before: what Slurm has not killed yet could see it, and be done
    ended "$job"
    right job.out
    [ "$(restarts_of "$job")" -ge 1 ] || fail "never requeued"
    [ "$(count recover.fetched)" -ge 1 ] || fail "it began from the start"
    clean 1 2 3 ;;
array)
    ranks=2
    job=$(sbatch --parsable -o 'job.%a.out' --array=1-3 -N1 -n2 "$script" "${play[@]}" -- "${program[@]}")
    for t in 1 2 3; do
        until [ "$(grep -c '"level":"global"' "mend-steady-slurm-${job}_$t/events.jsonl" 2>/dev/null)" -ge 3 ] 2>/dev/null; do
            case $(state_of "${job}_$t") in COMPLETED | FAILED) fail "task $t ended early" ;; esac
            sleep 0.05
        done
        scancel --batch --signal=USR1 "${job}_$t" || fail "no signal to task $t"
    done
    for t in 1 2 3; do until [ "$(restarts_of "${job}_$t")" -ge 1 ]; do sleep 0.1; done; done
    cat job.*.out | grep -oE '^steady: step [0-9]+ ' | sort -k3n >got; tell
    for t in 1 2 3; do
        ended "${job}_$t"
        right "job.$t.out"
        [ "$(restarts_of "${job}_$t")" = 1 ] || fail "task $t was requeued $(restarts_of "${job}_$t") times"
    done
    clean 1 2 3 ;;
*) echo "no case $case"; exit 2 ;;
esac
echo PASS >"$MEND_TEST_MARKER"
