#!/usr/bin/env bash
# On emulated nodes, by seed: a node's ranks die with its storage, or one process dies, again and again; every
# output must equal that of a native run. MEND_TEST_SEEDS="FIRST COUNT". Called by tests/harness/mpitest on the head.
set -uo pipefail
cd "$MEND_TEST_DIR" || exit 1
read -r seed count <<<"${MEND_TEST_SEEDS:-1 40}"
[[ $seed =~ ^[0-9]+$ && $count =~ ^[1-9][0-9]*$ ]] || { echo "MEND_TEST_SEEDS is \"FIRST COUNT\", not \"$MEND_TEST_SEEDS\""; exit 1; }
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
# shellcheck disable=SC2086
$MEND_MPIRUN -n 4 ./steady 4000 4096 >want 2>native.err || { cat native.err; exit 1; }
printf 'node%d slots=2\n' 0 1 2 3 >hosts
hits=0 kills=0 bad=0
resumed() { local n; n=$(grep -c '"how":"res' job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
saved() { local n; n=$(grep -c '"level":"memory"' job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
until_true() { until "$@"; do kill -0 $runner 2>/dev/null || return 1; sleep 0.05; done; }
more_saved() { [ "$(saved)" -ge $((have + 8)) ]; }
moved_on() { [ "$(resumed)" -gt $before ] || [ "$(saved)" -ge $((have + 12)) ]; } # nobody stops for a spare
for ((s = seed; s < seed + count; s++)); do
    RANDOM=$s
    rm -rf job; : >done
    "$MEND_SOURCE/tests/harness/within" 600 "$MEND_BUILD/bin/mend" run -n 4 --spares 4 --every 200ms --hostfile hosts --dir "$PWD/job" -q --retries 9 \
        --levels memory,partner,erasure:2+2:2,global:3 --local-dir /mnt/local --launcher mpirun --launcher-args "--prtemca plm_ssh_agent /mnt/ctl/rsh" -- ./steady 4000 4096 >got 2>err & runner=$!
    free=4 row=""
    while [ $free -gt 0 ]; do # spares that are left
        have=$(saved) before=$(resumed)
        until_true more_saved || break
        k=$((RANDOM % 4))
        mapfile -t there < <("$MEND_SOURCE/tests/harness/node" list $k capsule.openmpi)
        [ ${#there[@]} -gt 0 ] && [ ${#there[@]} -le $free ] || { free=$((free - 1)); continue; }
        if [ $((RANDOM % 2)) = 0 ]; then
            "$MEND_SOURCE/tests/harness/node" ranks $k capsule.openmpi || break
            n=${#there[@]} row="$row node$k"
        else
            kill -9 "${there[0]}" || break
            n=1 row="$row one@node$k"
        fi
        have=$(saved) free=$((free - n)) kills=$((kills + n)) hits=$((hits + 1))
        until_true moved_on || break
    done
    wait $runner; code=$?
    verdict=ok
    cmp -s got want || verdict=WRONG
    [ $code = 0 ] || verdict="FAILED($code)"
    echo "seed $s:$row in place $(($(resumed) / 4)) $verdict" | tee -a table
    [ "$verdict" = ok ] || { bad=$((bad + 1)); tail -5 err; tail -5 job/events.jsonl | cut -c1-300; }
done
echo "$count runs, $hits faults, $kills processes killed, $bad bad" | tee -a table
[ $bad = 0 ] && [ $hits -gt 0 ] && { echo PASS; cat table; } >"$MEND_TEST_MARKER"
