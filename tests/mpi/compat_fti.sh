#!/usr/bin/env bash
# compat_fti.sh PROGRAM: a program for FTI dies and is launched anew, level by level; what the level stands is taken
# away in between: nothing (1), the files of a node (2, 3), all node-local files (4). One machine plays four nodes.
set -uo pipefail
program=$1 dir=$MEND_TEST_DIR/fti
fail() { echo "FAIL: $*"; cat "$dir/out" "$dir/err" "$dir/config" 2>/dev/null; rm -f "$MEND_TEST_MARKER"; exit 1; }
run() { $MEND_MPIRUN -n 4 "$program" "$dir/config" "$@" >"$dir/out" 2>"$dir/err" </dev/null; }
passed() { [ "$(cat "$MEND_TEST_MARKER" 2>/dev/null)" = PASS ] || fail "$*"; rm -f "$MEND_TEST_MARKER"; }
unfinished() { [ ! -e "$MEND_TEST_MARKER" ] || fail "$1: a job that was killed ends well"; } # the launcher's code may be 0
config() { # KEY=VALUE…
    rm -rf "$dir"; mkdir -p "$dir"
    printf '%s\n' '# kept as it is' '[basic]' 'head = 0' 'node_size = 1' "ckpt_dir = $dir/local/%d" "glbl_dir = $dir/global" \
        "meta_dir = $dir/meta" 'group_size = 4' 'verbosity = 2' "$@" '[restart]' 'failure = 0' 'exec_id = none' \
        '[advanced]' 'local_test = 1' 'block_size = 1024' >"$dir/config"
}
for level in 1 2 3 4; do
    config
    run $level 60 35
    unfinished "level $level"
    grep -q '^failure = 1' "$dir/config" && grep -q '^# kept as it is' "$dir/config" || fail "level $level: the configuration does not tell of the run"
    case $level in
        2 | 3) rm -rf "$dir/local/node1" ;;
        4) rm -rf "$dir/local" ;;
    esac
    run $level 60 || fail "level $level: the second start"
    grep -qx 'status 1 from 30' "$dir/out" || fail "level $level: not recovered from step 30"
    passed "level $level: another result"
    grep -q '^failure = 0' "$dir/config" || fail "level $level: the end is not in the configuration"
    [ -z "$(find "$dir/local" "$dir/global" -type f -size +0 2>/dev/null | grep -v lock)" ] || fail "level $level: files are left: $(find "$dir" -type f)"
    run $level 10 || fail "level $level: a new start"
    grep -qx 'status 0 from 0' "$dir/out" || fail "level $level: a new start recovers"
    passed "level $level: a new start"
done
config 'keep_last_ckpt = 1'
run 1 30 || fail "keep_last_ckpt: the first run"
grep -q '^failure = 2' "$dir/config" || fail "keep_last_ckpt: not said"
rm -rf "$dir/local"
run 1 50 || fail "keep_last_ckpt: the second run"
grep -qx 'status 2 from 30' "$dir/out" || fail "keep_last_ckpt: not recovered"
passed "keep_last_ckpt"
config 'ckpt_l1 = 0.002' 'ckpt_l2 = 0' 'ckpt_l4 = 0.01' # minutes
run 0 400 399
unfinished "snapshots"
run 0 420 || fail "snapshots: the second start"
grep -qx 'status 1 from [1-9][0-9]*' "$dir/out" || fail "snapshots: not recovered"
passed "snapshots"
config; sed -i 's/head = 0/head = 1/' "$dir/config"
run 1 10; grep -q 'head = 1: Mend dedicates no process to checkpoints' "$dir/err" || fail "head = 1 is not refused by name"
config; sed -i 's/^ckpt_dir.*//' "$dir/config"
run 1 10; grep -q 'names no ckpt_dir' "$dir/err" || fail "a configuration without ckpt_dir passes"
echo PASS >"$MEND_TEST_MARKER"
