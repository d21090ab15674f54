#!/usr/bin/env bash
# compat_fti_cases.sh PROGRAM [FORTRAN]: names, parts, mixed recoveries, a second FTI_Init, structures, levels, a failed checkpoint; what is lost is
# said; FTI's way to write a configuration; the Fortran module. One machine plays four nodes.
set -uo pipefail
program=$1 fortran=${2:-} dir=$MEND_TEST_DIR/fti
fail() { echo "FAIL: $*"; cat "$dir/out" "$dir/err" "$dir/config" 2>/dev/null; rm -f "$MEND_TEST_MARKER"; exit 1; }
export OMPI_MCA_mpi_yield_when_idle=1 # as in share/launch: there are more ranks than cores
# Mend's own launcher: mpirun now and then does not end after its processes, and there are many starts here
run() { "$MEND_BUILD/lib/mend/mend-node" head -n 4 -- "$program" "$dir/config" "$@" >"$dir/out" 2>"$dir/err" </dev/null; }
passed() { [ "$(cat "$MEND_TEST_MARKER" 2>/dev/null)" = PASS ] || fail "$*"; rm -f "$MEND_TEST_MARKER"; }
config() { # KEY=VALUE… : with capitals, as iniparser allows them
    rm -rf "$dir"; mkdir -p "$dir"
    printf '%s\n' '[Basic]' 'Head = 0' 'node_size = 1' "ckpt_dir = $dir/local/%d" "glbl_dir = $dir/global" \
        "meta_dir = $dir/meta" 'group_size = 4' 'ckpt_L1 = 3' "$@" '' '[Restart]' 'Failure = 0' 'exec_id = none' '' \
        '[Advanced]' 'local_test = 1' >"$dir/config"
}
for case in names parts mixed again types levels failed; do
    config
    run $case || fail "$case: the first start"
    passed "$case: the first start"
    [ "$(grep -ci '^failure = 1' "$dir/config")" = 1 ] && [ "$(grep -ci '^failure' "$dir/config")" = 1 ] || fail "$case: the configuration does not tell of the checkpoint"
    [ "$(grep -ci '^\[restart\]' "$dir/config")" = 1 ] || fail "$case: a second section"
    [ $case != levels ] || rm -rf "$dir/local" # the last one is at level 4
    run $case || fail "$case: the second start"
    grep -qx 'init 0 status 1' "$dir/out" || fail "$case: nothing to recover"
    passed "$case: the second start"
done
# a job that ended before its first checkpoint starts anew: that is no loss
config
run none || fail "no checkpoint: the first start"
passed "no checkpoint: the first start"
run none || fail "no checkpoint: the second start"
grep -qx 'init 0 status 0' "$dir/out" || fail "no checkpoint: something is recovered, or missed"
passed "no checkpoint: the second start"
# one whose checkpoint is gone is told so, and goes on
config
run types || fail "lost: the first start"
passed "lost: the first start"
rm -rf "$dir/local" "$dir/global"
run none || fail "lost: the second start"
grep -qx 'init -2 status 0' "$dir/out" || fail "lost: FTI_Init does not say FTI_NREC"
grep -q 'no checkpoint of .* can be recovered' "$dir/err" || fail "lost: no message"
passed "lost: the second start"
config; sed -i 's/Failure = 0/Failure = 3/; s/exec_id = none/exec_id = x/' "$dir/config"
run types; grep -q 'failure = 3: .*another number of processes' "$dir/err" || fail "failure = 3 is not refused by name"
config 'keep_l4_ckpt = 1'
run types || fail "keep_l4_ckpt"
grep -q 'keep_l4_ckpt = 1 is not supported' "$dir/err" || fail "keep_l4_ckpt is not named"
passed "keep_l4_ckpt"
if [ -n "$fortran" ]; then
    program=$fortran
    config
    run save || fail "Fortran: the first start"
    passed "Fortran: the first start"
    run check || fail "Fortran: the second start"
    passed "Fortran: the second start"
fi
echo PASS >"$MEND_TEST_MARKER"
