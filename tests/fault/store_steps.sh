#!/usr/bin/env bash
# store_steps.sh PROGRAM [LEVEL…]: ranks die at every step of a save, level by level: one run of store_kill for each.
# On one machine rank 1 dies, on emulated nodes both ranks of node 1. A run that does not end within
# MEND_TEST_STEP_LIMIT seconds of a quiet machine (90) shows the stacks of all its ranks.
set -uo pipefail
. "$MEND_SOURCE/tests/harness/yardstick"
program=$1; shift
declare -A steps=(
    [memory]="save.copied memory_send before_commit after_commit" # keeps no files: nothing to prune
    [local]="save.copied local_write before_commit after_commit prune"
    [partner]="save.copied local_write partner_send before_commit after_commit prune"
    [erasure]="save.copied local_write erasure_send before_commit after_commit prune"
    [global]="save.copied global_write before_commit after_commit prune"
)
victims=1
[ "$MEND_TEST_NODES" = 0 ] || victims="2 3"
[ $# -gt 0 ] || set -- memory partner erasure global $([ "$MEND_TEST_NODES" = 0 ] && echo local)
ranks() { for p in /proc/[0-9]*; do [ "$(readlink "$p/exe")" = "$program" ] && echo "${p#/proc/}"; done 2>/dev/null; }
runs=0 limit=${MEND_TEST_STEP_LIMIT:-90}
for level; do
    for step in ${steps[$level]}; do
        fault=
        for v in $victims; do fault+="${fault:+,}store.$step:rank=$v:hit=2:kill"; done
        rm -f "$MEND_TEST_MARKER" "$MEND_TEST_DIR/out" "$MEND_TEST_DIR/failed"
        begun=$SECONDS
        # shellcheck disable=SC2086
        MEND_FAULT=$fault MEND_TEST_DEATHS=$(wc -w <<<"$victims") \
            $MEND_MPIRUN -n $((MEND_TEST_NP + MEND_TEST_SPARES)) "$program" "$level" 0 1 "steps$runs" >"$MEND_TEST_DIR/log" 2>&1 </dev/null & job=$!
        clock_start
        while kill -0 $job 2>/dev/null && [ "$clock" -lt $((limit * 1000)) ]; do nap 100; clock_read; done
        if kill -0 $job 2>/dev/null; then
            echo "FAIL: $level, a death at $step: no end within $limit s of a quiet machine ($((SECONDS - begun)) s here)"
            cat "$MEND_TEST_DIR/log" "$MEND_TEST_DIR/failed" 2>/dev/null
            # shellcheck disable=SC2046
            "$MEND_SOURCE/tests/harness/stacks" $(ranks)
            # shellcheck disable=SC2046
            kill -KILL $job $(ranks)
            exit 1
        fi
        [ "$(head -c4 "$MEND_TEST_MARKER" 2>/dev/null)" = PASS ] && [ ! -e "$MEND_TEST_DIR/failed" ] ||
            { cat "$MEND_TEST_DIR/log" "$MEND_TEST_DIR/failed" 2>/dev/null; echo "FAIL: $level, a death at $step"; rm -f "$MEND_TEST_MARKER"; exit 1; }
        echo "$level, a death at $step: $((SECONDS - begun)) s"
        runs=$((runs + 1))
    done
done
rm -rf "$MEND_TEST_DIR"/steps*
echo "PASS $runs runs" >"$MEND_TEST_MARKER"
