# shellcheck shell=bash
# Sourced by the campaigns: one job that is watched.
#
# A job that hangs does nothing any more; one on a busy machine is slow. So it is not its duration that has a limit but the
# time without a new byte of events or output: QUIET seconds, longer as the machine has more to do than this job alone.
# A job that has come to that limit leaves the stacks of all its processes and its events, and counts as hung.
quiet_limit=${FLOW_CAMPAIGN_LIMIT:-120}

job_processes() { # TAG: all processes of the job, the launcher and its daemons too
    grep -lazs "^FLOW_CAMPAIGN_JOB=$1\$" /proc/[0-9]*/environ | sed 's|/proc/\([0-9]*\)/.*|\1|'
}
job_ranks() { # TAG
    local p
    for p in $(job_processes "$1"); do
        # a rank that was killed and is not yet waited for has no environment
        grep -qazs '^OMPI_COMM_WORLD_RANK=' "/proc/$p/environ" && echo "$p"
    done
}
allowed() { # RANKS: seconds without news, by how many more processes want to run than the job has
    local load
    read -r load _ </proc/loadavg
    awk -v l="$load" -v r="$1" -v q="$quiet_limit" 'BEGIN { s = l / (r + 2); printf "%d\n", s > 1 ? q * s : q }'
}
job_is_stuck() { # TAG EVENTS OUT ERR
    echo "--- no news for long; the stacks of all processes:"
    # shellcheck disable=SC2046
    "$MEND_SOURCE/tests/harness/stacks" $(job_processes "$1")
    echo "--- its events:"
    cat "$2" 2>/dev/null
    echo "--- what it said:"
    cat "$3" "$4"
    echo "---"
}
# run_watched TAG RANKS EVENTS OUT ERR COMMAND…: the command's code, or 124 if it hung.
run_watched() {
    local tag=$1 ranks=$2 events=$3 out=$4 err=$5 pid news seen='' since=$SECONDS code
    shift 5
    FLOW_CAMPAIGN_JOB=$tag setsid "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        news=$(stat -c %s "$events" "$out" "$err" 2>/dev/null)
        [ "$news" = "$seen" ] || { seen=$news since=$SECONDS; }
        if [ $((SECONDS - since)) -gt "$quiet_limit" ] && [ $((SECONDS - since)) -gt "$(allowed "$ranks")" ]; then
            job_is_stuck "$tag" "$events" "$out" "$err"
            # shellcheck disable=SC2046
            kill -KILL "$pid" $(job_processes "$tag") 2>/dev/null
            wait "$pid" 2>/dev/null
            return 124
        fi
        sleep 0.1
    done
    wait "$pid"
    code=$?
    return $code
}
