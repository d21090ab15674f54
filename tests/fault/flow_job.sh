# shellcheck shell=bash
# Sourced by the campaigns: one job that is watched.
#
# A job that hangs does nothing any more. So it is not its duration that has a limit but the time without a new byte of
# events or output: QUIET seconds of a quiet machine. A job that has come to that limit leaves the stacks of all its processes and its events, and counts as hung.
. "$MEND_SOURCE/tests/harness/yardstick"
. "$MEND_SOURCE/tests/harness/events"
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
# run_watched TAG RANKS EVENTS OUT ERR COMMAND…: the command's code, 124 if it hung, or 125 if its events are not those of the schema.
run_watched() {
    local tag=$1 events=$3 out=$4 err=$5 pid news seen='' since=0 code
    shift 5
    clock_start
    FLOW_CAMPAIGN_JOB=$tag setsid "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        news=$(stat -c %s "$events" "$out" "$err" 2>/dev/null)
        clock_read
        [ "$news" = "$seen" ] || { seen=$news since=$clock; }
        if [ $((clock - since)) -gt $((quiet_limit * 1000)) ]; then
            job_is_stuck "$tag" "$events" "$out" "$err"
            # shellcheck disable=SC2046
            kill -KILL "$pid" $(job_processes "$tag") 2>/dev/null
            wait "$pid" 2>/dev/null
            return 124
        fi
        nap 100
    done
    wait "$pid"
    code=$?
    events_valid "$events" || code=125
    return $code
}
