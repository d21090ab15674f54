#!/usr/bin/env bash
# Events: what real jobs write is what share/events/events.schema.json says, field by field; every event in the source
# is there; the guide's page is made from it. And the figures for Prometheus.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
runner=
fail() { echo "FAIL: $*"; [ -z "$runner" ] || kill "$runner" 2>/dev/null; wait; exit 1; }
schema=$MEND_SOURCE/share/events/events.schema.json
check=$MEND_BUILD/tests/events_check

# 1. every name in the source, and no other
find "$MEND_SOURCE/src" "$MEND_SOURCE/tools" -name '*.c' -exec cat {} + | tr '\n' ' ' |
    grep -oE 'mend_event\(([^",]*\? *)?"[a-z_.]+"( *: *"[a-z_.]+")?' | grep -oE '"[a-z_.]+"' | tr -d '"' | sort -u >source
"$check" "$schema" --names | sort >schema || fail "the schema cannot be read"
diff source schema || fail "the source (<) and the schema (>) have other events"
if command -v python3 >/dev/null; then # and every field
    fields() { python3 -B "$MEND_SOURCE/tests/cli/events_source.py" "$1" "$MEND_SOURCE/src" "$MEND_SOURCE/tools"; }
    fields "$schema" || fail "the source and the schema have other fields"
    for damage in '/"\$ref": "#\/\$defs\/run.end"/d' 's/"at": {"type": "integer"/"at": {"type": "string"/' '0,/"signal", "at"\]/s//"signal", "at", "why"]/' \
        '0,/"signal": {"type"/s//"signals": {"type"/'; do
        sed "$damage" "$schema" >damaged; cmp -s damaged "$schema" && fail "nothing was changed: $damage"
        fields damaged >/dev/null && fail "not seen: $damage"
    done
fi

# 2. the page
"$check" "$schema" --page >tables
sed '1,/^<!-- from events.schema.json -->$/d' "$MEND_SOURCE/docs/guide/events.md" | diff - tables ||
    fail "docs/guide/events.md (<) is not what tests/events_check $schema --page prints (>)"

# 3. a wrong line is found
printf '%s\n' '{"mend":1,"t":1.5,"rank":0,"event":"recover.finished","version":"3"}' >wrong
"$check" "$schema" wrong >/dev/null && fail "a wrong type was not found"
printf '%s\n' '{"mend":1,"t":1.5,"rank":0,"event":"recover.finished"}' >wrong
"$check" "$schema" wrong >/dev/null && fail "a missing field was not found"

# 4. a real job, with a rank killed; its figures while it runs and afterwards
[ -e "$MEND_BUILD/lib/mend/capsule.openmpi" ] || { echo "PASS (no job: Mend was built without Open MPI)"; exit 0; }
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
"$MEND" run -n 2 --spares 1 --every 100ms --levels memory,partner,global:1 --dir job -q --metrics job.prom -- ./steady 2000 4096 >got 2>err & runner=$!
until [ "$(grep -c '"level":"partner"' job/events.jsonl 2>/dev/null)" -ge 4 ] 2>/dev/null; do kill -0 $runner || fail "it ended: $(cat err)"; sleep 0.02; done
[ -e job.prom ] || fail "no metrics while it runs"
kill -9 "$(grep '"rank":1,"event":"recover.playing"' job/events.jsonl | tail -1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*')" || fail "nobody to kill"
wait $runner || fail "code $?: $(cat err)"
runner=
"$check" "$schema" job/events.jsonl || fail "events of a job in place"
"$MEND" metrics job >after || fail "mend metrics: code $?"
cmp after job.prom || fail "mend run --metrics has other figures at the end"
value() { sed -n "s/^mend_$1{[^}]*} //p" after; }
[ "$(value recoveries_total)" = 1 ] || fail "recoveries: $(value recoveries_total)"
[ "$(value up)" = 0 ] && [ "$(value launches_total)" = 1 ] && [ "$(value ranks)" = 2 ] || fail "figures: $(cat after)"
[ "$(value events_total)" = "$(wc -l <job/events.jsonl)" ] && [ "$(value events_unreadable_total)" = 0 ] || fail "events: $(value events_total)"
newest=$(grep '"event":"checkpoint.commit"' job/events.jsonl | grep -o '"version":[0-9]*' | cut -d: -f2 | sort -n | tail -1)
[ "$(value version)" = "$newest" ] || fail "version: $(value version), not $newest"
# the format: HELP, TYPE, samples of that name; counters end in _total
awk '/^# HELP/ {h = $3; next} /^# TYPE/ {if ($3 != h || ($4 == "counter") != ($3 ~ /_total$/)) exit 1; n = $3; next}
    {split($0, a, "{"); if (a[1] != n || $NF !~ /^[-0-9.e+]+$/) exit 1}' after || fail "the format: $(cat after)"

# 5. by relaunch
"$MEND" run --no-online -n 2 --every 200ms --dir job2 -q -- ./steady 1000 4096 >got 2>err || fail "by relaunch: $(cat err)"
"$check" "$schema" job2/events.jsonl || fail "events of a job by relaunch"
"$MEND" metrics nowhere 2>err; [ $? = 1 ] || fail "no folder: code $?"
echo PASS
