#!/usr/bin/env bash
# flow_resume.sh APPS: coming back in other ways than by spares in a running job, and saving in other ways than every n points.
set -uo pipefail
apps=$1 bad=0 np=3
args=(-m 0.25 -s 200)
events=$MEND_TEST_DIR/events
job() { # extra ranks, program, args
    local extra=$1
    shift
    rm -f "$events"
    # shellcheck disable=SC2086
    MEND_FLOW_EVENTS=$events "$MEND_SOURCE/tests/harness/within" 120 $MEND_MPIRUN -n $((np + extra)) "$@" >"$MEND_TEST_DIR/out" 2>"$MEND_TEST_DIR/err"
    case $? in 124 | 137) echo hung ;; esac
    grep -o 'checksum.*' "$MEND_TEST_DIR/out"
}
check() { # what, got, expected
    [ "$2" = "$3" ] && { echo "ok: $1"; return; }
    echo "BAD: $1: got '$2', expected '$3'"
    cat "$MEND_TEST_DIR/err"
    bad=$((bad + 1))
}
restored() { sed -n 's/.*"flow.restore","version":\([0-9]*\).*/\1/p' "$events" | sort -u | tr '\n' ' '; }
fresh() { rm -rf "$MEND_TEST_DIR/store" "$MEND_TEST_DIR"/mark*; }
expected=$(job 0 "$apps/heat" "${args[@]}")
[ -n "$expected" ] || { cat "$MEND_TEST_DIR/err"; exit 1; }

# 1. A whole job dies and is started again: the same program, the same command.
export MEND_FLOW_EVERY=20 MEND_FLOW_PROCESS=off MEND_STORE_LOCAL=$MEND_TEST_DIR/store/local MEND_STORE_LOCAL_EVERY=1 \
    MEND_STORE_LOCAL_KEEP=3 MEND_STORE_SYNC=yes
fresh
for level in local global; do
    fresh
    [ $level = local ] || export MEND_STORE_GLOBAL=$MEND_TEST_DIR/store/global MEND_STORE_GLOBAL_EVERY=2
    got=$(job 0 "$apps/heat_flow" "${args[@]}" -k 1@119 --mark "$MEND_TEST_DIR/mark")
    check "the job dies" "$got" ""
    [ $level = local ] || rm -rf "$MEND_TEST_DIR/store/local"
    got=$(job 0 "$apps/heat_flow" "${args[@]}" -k 1@119 --mark "$MEND_TEST_DIR/mark")
    check "started again from $level" "$got" "$expected"
    check "from version" "$([ "$(restored)" != "" ] && echo some)" some
    got=$(job 0 "$apps/heat_flow" "${args[@]}")
    check "a finished job starts from the beginning" "$got" "$expected"
    check "restores then" "$(restored)" ""
done
unset MEND_STORE_GLOBAL MEND_STORE_GLOBAL_EVERY

# 2. Ranks that hold different versions: the newest one that all have.
fresh
job 0 "$apps/heat_flow" "${args[@]}" -k 1@119 --mark "$MEND_TEST_DIR/mark" >/dev/null
newest=$(find "$MEND_TEST_DIR/store/local" -type f -printf '%T@ %p\n' | grep -i 'r\(ank\)\?-\?0*2' | sort -n | tail -1 | cut -d' ' -f2-)
[ -n "$newest" ] || newest=$(find "$MEND_TEST_DIR/store/local" -type f -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
echo "removed: ${newest#"$MEND_TEST_DIR"/}"
rm -f "$newest"
got=$(job 0 "$apps/heat_flow" "${args[@]}" -k 1@119 --mark "$MEND_TEST_DIR/mark")
check "one rank has lost its newest version" "$got" "$expected"
lost=${newest##*-v} lost=${lost%%-*}
check "all take the one before it" "$(restored)" "$((lost - 20)) "
fresh

# 3. A death between "saved here" and "complete everywhere".
unset MEND_STORE_SYNC MEND_FLOW_PROCESS MEND_STORE_LOCAL MEND_STORE_LOCAL_EVERY MEND_STORE_LOCAL_KEEP
export MEND_FLOW_SPARES=2
for place in store.save.copied store.memory_send store.before_commit store.after_commit flow.save.before flow.save.after; do
    export MEND_FAULT=$place:rank=1:hit=3:kill
    got=$(job 2 "$apps/heat_flow" "${args[@]}")
    check "death at $place" "$got" "$expected"
    unset MEND_FAULT
done

# 4. Saves by time, and by the planner.
for every in 0.02s auto; do
    export MEND_FLOW_EVERY=$every MEND_FLOW_MTBF=10s
    fresh
    got=$(job 2 "$apps/heat_flow" "${args[@]}" -k 0@80 -k 2@150 --mark "$MEND_TEST_DIR/mark")
    check "saves every $every" "$got" "$expected"
    echo "   saves: $(grep -c '"flow.save"' "$events")"
    check "failed saves with $every" "$(grep -c '"flow.save_failed"' "$events")" 0
done

# With the planner, which level when: the cheapest often, each of the others seldomer and never without those below.
export MEND_FLOW_EVERY=auto MEND_FLOW_MTBF=1s MEND_STORE_LOCAL=$MEND_TEST_DIR/store/local MEND_STORE_LOCAL_EVERY=1 \
    MEND_STORE_GLOBAL=$MEND_TEST_DIR/store/global MEND_STORE_GLOBAL_EVERY=1 MEND_STORE_SYNC=yes MEND_STORE_BANDWIDTH=2000000
fresh
got=$(job 2 "$apps/heat_flow" -m 0.25 -s 60000)
levels=$(grep -v '"bytes":0,' "$events" | sed -n 's/.*"flow.save".*"levels":\([0-9]*\).*/\1/p' | sort -n | uniq -c | awk '{print $2 ":" $1}' | tr '\n' ' ')
echo "   saves by set of levels: $levels"
# every save has all levels below its highest one, so a level is saved less often than the one below if there is a save without it
check "sets of levels are nested, lower ones more often" "$(echo "$levels" | awk '{ ok = NF >= 2 && $1 ~ /^1:/; for (i = 1; i <= NF; i++)
    if ($i !~ /^(1|3|19):/) ok = 0; print ok }')" 1
unset MEND_STORE_LOCAL MEND_STORE_LOCAL_EVERY MEND_STORE_GLOBAL MEND_STORE_GLOBAL_EVERY MEND_STORE_SYNC MEND_STORE_BANDWIDTH

# 5. Partial rollback: survivors keep their data; heat converges to the same state within the tolerance of its own test.
export MEND_FLOW_EVERY=200
args=(-m 0.05 -s 100000 -u 1e-4)
job 0 "$apps/heat" "${args[@]}" >/dev/null
mean=$(grep -o 'mean [^ ]*' "$MEND_TEST_DIR/out")
fresh
export MEND_FLOW_ROLLBACK=partial
job 2 "$apps/heat_flow" "${args[@]}" -k 1@590 --mark "$MEND_TEST_DIR/mark" >/dev/null
got=$(grep -o 'mean [^ ]*' "$MEND_TEST_DIR/out")
echo "   plain $mean, partial rollback $got, kept: $(grep -c '"kept":1' "$events"), restored by replacements: $(grep -c '"joined":1' "$events")"
close=$(echo "$mean $got" | awk '{d = $2 - $4; if (d < 0) d = -d; print (NF == 4 && d <= 0.01 * $2) ? "close" : "far"}')
check "partial rollback converges to the same state within 1 %" "$close" close
check "survivors kept their data" "$(grep -c '"kept":1' "$events")" 2

# 6. More spares than deaths, deaths of spares only, no spares left.
export MEND_FLOW_EVERY=20 MEND_FLOW_ROLLBACK=full MEND_FLOW_SPARES=1
args=(-m 0.25 -s 200)
fresh
got=$(job 1 "$apps/heat_flow" "${args[@]}" -k 0@50 -k 1@120 --mark "$MEND_TEST_DIR/mark")
check "no spare is left: no result" "$got" ""
check "and a reason" "$(grep -c 'no spare for the dead rank' "$MEND_TEST_DIR/err" | sed 's/[1-9][0-9]*/some/')" some
[ $bad = 0 ] && echo PASS >"$MEND_TEST_MARKER"
