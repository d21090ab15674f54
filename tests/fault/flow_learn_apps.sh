#!/usr/bin/env bash
# flow_learn_apps.sh HEAT APPS: what learn mode finds in heat and md is what their sources say, view by view. The result is that
# of the plain program, undisturbed and with a death after views were left out of versions. HEAT names both arrays of heat.
set -uo pipefail
heat=$1 apps=$2 np=3 bad=0
export MEND_FLOW_LEARN=yes MEND_FLOW_SPARES=0 MEND_FLOW_REPORT=$MEND_TEST_DIR/report
job() { # program args: its checksum
    # shellcheck disable=SC2086
    $MEND_MPIRUN -n $((np + MEND_FLOW_SPARES)) "$@" >"$MEND_TEST_DIR/out" 2>"$MEND_TEST_DIR/err" </dev/null
    grep -o 'checksum [0-9a-f]*' "$MEND_TEST_DIR/out"
}
listed() { # the report's lines as LABEL=fate, words of the fate joined
    awk 'NR > 1 && /^saved in a version/ { exit }
        NR > 1 { f = $3; for (i = 4; i <= NF; i++) f = f "-" $i; print $1 "=" f }' "$MEND_TEST_DIR/report" | sort | tr '\n' ' '
}
check() { # name plain-program program expected-list args
    local name=$1 plain=$2 program=$3 want got list
    want=$(tr ' ' '\n' <<<"$4" | sort | tr '\n' ' ')
    shift 4
    expected=$(job "$plain" "$@")
    [ -n "$expected" ] || { echo "$name: the plain program gave no checksum"; cat "$MEND_TEST_DIR/err"; bad=$((bad + 1)); return; }
    got=$(job "$program" "$@")
    list=$(listed)
    echo "$name: $list"
    [ "$list" = "$want" ] || { echo "$name: expected $want"; bad=$((bad + 1)); }
    [ "$got" = "$expected" ] || { echo "$name: got '$got', expected '$expected'"; cat "$MEND_TEST_DIR/err"; bad=$((bad + 1)); }
    got=$(MEND_FLOW_SPARES=1 job "$program" "$@" -k 1@55 --mark "$MEND_TEST_DIR/mark.$name")
    [ -n "$(find "$MEND_TEST_DIR" -name "mark.$name*")" ] || { echo "$name: nobody died"; bad=$((bad + 1)); }
    [ "$got" = "$expected" ] || { echo "$name, killed: got '$got', expected '$expected'"; cat "$MEND_TEST_DIR/err"; bad=$((bad + 1)); }
}
control='step=saved'
MEND_FLOW_EVERY=5 check heat "$apps/heat" "$apps/heat_flow" "plate=saved error=saved $control" -m 0.5 -s 70
MEND_FLOW_EVERY=5 check heat-both "$apps/heat" "$heat" "plate=saved old=dead-(found) error=saved $control" -m 0.5 -s 70
# Always overwritten before they are read, and flagged so: chain, cell, out, in. Read in every step: x, v, f. Small: counts, results,
# swaps. The rest (id, first, list, sent) is written when neighbours are sought anew.
always='x=saved v=saved f=saved chain=scratch cell=scratch out=scratch in=scratch counts=saved results=saved swaps=saved'
# never after the first time: constant
MEND_FLOW_EVERY=5 check md-once "$apps/md" "$apps/md_flow" \
    "$always id=constant-(found) first=constant-(found) list=constant-(found) sent=constant-(found) $control" -c 6 -s 70 -n 1000
# between two saves, and not in the iteration after one: alive
MEND_FLOW_EVERY=7 check md-between "$apps/md" "$apps/md_flow" "$always id=saved first=saved list=saved sent=saved $control" -c 6 -s 70
# In the iteration after every save, while atoms come and go: what lies behind the used part of an array stays as it was, and is taken
# for alive, since nothing but equal bits counts. Nothing moves at temperature 0: every element is written anew, and they are dead.
MEND_FLOW_EVERY=20 check md-anew "$apps/md" "$apps/md_flow" "$always id=saved first=saved list=saved sent=saved $control" -c 6 -s 70
MEND_FLOW_EVERY=20 check md-still "$apps/md" "$apps/md_flow" \
    "$always id=saved first=dead-(found) list=dead-(found) sent=dead-(found) $control" -c 6 -s 70 --temperature 0
[ $bad = 0 ] && echo PASS >"$MEND_TEST_MARKER"
