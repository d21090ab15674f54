#!/usr/bin/env bash
# compat_scr.sh PROGRAM: a program for SCR dies and is launched anew; what the copy type stands is taken away in
# between: nothing (SINGLE), the files of a node (PARTNER, XOR, RS), all node-local files (a flush). One machine plays
# four nodes.
set -uo pipefail
program=$1 dir=$MEND_TEST_DIR/scr
fail() { echo "FAIL: $*"; cat "$dir/out" "$dir/err" 2>/dev/null; rm -f "$MEND_TEST_MARKER"; exit 1; }
cat >"$MEND_TEST_DIR/rank" <<'EOF'
#!/bin/sh
cd "$SCR_PREFIX" && MEND_STORE_DOMAIN=node$OMPI_COMM_WORLD_RANK exec "$@"
EOF
chmod +x "$MEND_TEST_DIR/rank"
export SCR_PREFIX=$dir/prefix SCR_CACHE_BASE=$dir/cache/%d SCR_SET_SIZE=4
run() { $MEND_MPIRUN -n 4 "$MEND_TEST_DIR/rank" "$program" "$@" >"$dir/out" 2>"$dir/err" </dev/null; }
passed() { [ "$(cat "$MEND_TEST_MARKER" 2>/dev/null)" = PASS ] || fail "$*"; rm -f "$MEND_TEST_MARKER"; }
from() { grep -qx "from $1" "$dir/out" || fail "$2: not from step $1"; }
new() { rm -rf "$dir"; mkdir -p "$dir/prefix"; }

for type in SINGLE PARTNER XOR RS; do
    new
    export SCR_COPY_TYPE=$type SCR_FLUSH=10
    run 12 8
    [ ! -e "$MEND_TEST_MARKER" ] || fail "$type: a job that was killed ends well" # the launcher's code may be 0
    from 0 "$type"
    [ -s "$dir/prefix/unnamed/rank_2" ] || fail "$type: an output without a name is lost"
    [ -s "$dir/prefix/plot.5/rank_3.data" ] && [ ! -e "$dir/prefix/timestep.8" ] || fail "$type: outputs are at their names, checkpoints are not: $(find "$dir/prefix")"
    case $type in
        PARTNER | XOR) rm -rf "$dir/cache/node1" ;;
        RS) rm -rf "$dir/cache/node1" "$dir/cache/node2" ;;
    esac
    run 12 || fail "$type: the second start"
    from 8 "$type"
    passed "$type: another result"
    [ -s "$dir/prefix/timestep.12/rank_2.data" ] || fail "$type: the last checkpoint is not at its name"
    [ -z "$(find "$dir/cache" -path '*files-*' -type f)" ] || fail "$type: routed files are left"
done

# only the shared file system is left: back to the flushed checkpoint
new
export SCR_COPY_TYPE=XOR SCR_FLUSH=3
run 12 8
rm -rf "$dir/cache"
run 12 || fail "flush: the second start"
from 6 flush
passed "flush: another result"
# a job that ended well is offered its last checkpoint, from its shared files alone, and goes on
rm -rf "$dir/cache"
run 14 || fail "after the end: the third start"
from 12 "after the end"
passed "after the end"

# a checkpoint that a rank takes for invalid: the one before it
new
run 12 8
run 12 -1 timestep.8 || fail "refused: the second start"
from 7 refused
passed "refused: another result"

# dropped, and made current
new
export SCR_FLUSH=0
DROP=timestep.4 run 4 || fail "drop: the first run"
passed drop
run 6 || fail "drop: the second run"
from 3 drop
passed "drop: another result"
CURRENT=timestep.5 run 6 || fail "current: the first run"
from 6 current
passed current
SCR_CURRENT=timestep.5 run 8 || fail "current: the second run"
from 5 "SCR_CURRENT"
passed "current: another result"

# a checkpoint that fails is missing, and the next one is made
FAIL=timestep.10 run 11 || fail "failed: the first run"
passed failed
run 12 || fail "failed: the second run"
from 11 failed
passed "failed: another result"

# one that cannot be flushed is in the cache, and flushed at the end
for end in 12 6; do
    new
    rm -f "$MEND_TEST_MARKER"
    [ $end = 6 ] && die=-1 || die=6
    MEND_FAULT=store.global_write:hit=3:eio SCR_FLUSH=2 run $end $die
    grep -q 'dataset timestep.6: version .* was not saved at all its levels' "$dir/err" || fail "unflushed: not said"
    [ $end = 12 ] || rm -rf "$dir/cache"
    rm -f "$MEND_TEST_MARKER"
    SCR_FLUSH=2 run 12 || fail "unflushed: the second run"
    from 6 unflushed
    passed "unflushed: another result"
done

# by a file and by the clock; asked to end
new
printf '%s\n' '# kept' 'SCR_CHECKPOINT_INTERVAL = 4' 'SCR_DEBUG=1' >"$dir/conf"
SCR_CONF_FILE=$dir/conf run 12 11
SCR_CONF_FILE=$dir/conf run 12 || fail "interval: the second start"
from 8 interval
passed interval
mkdir -p "$dir/prefix/.scr-mend"; touch "$dir/prefix/.scr-mend/halt"
run 20 || fail "halt"
grep -qx 'asked to end after 13' "$dir/out" || fail "the halt file is not seen"
passed halt
rm "$dir/prefix/.scr-mend/halt"
SCR_HALT_SECONDS=1000 SCR_END_TIME=$(($(date +%s) + 500)) run 20 || fail "end of the time"
grep -qx 'asked to end after 14' "$dir/out" || fail "the end of the time is not seen"
passed "end of the time"

# what is not supported is refused by name
echo 'CKPT=0 INTERVAL=1 GROUP=NODE STORE=/tmp TYPE=XOR' >"$dir/conf"
SCR_CONF_FILE=$dir/conf run 2
grep -q 'the descriptor CKPT=0 INTERVAL=1.* is not supported' "$dir/err" || fail "a descriptor is not refused by name"
SCR_COPY_TYPE=FILE run 2; grep -q 'SCR_COPY_TYPE=FILE is not supported' "$dir/err" || fail "an unknown copy type passes"
SCR_ENABLE=0 run 2; grep -q 'SCR_ENABLE is 0' "$dir/err" || fail "SCR_ENABLE=0 is not said"
echo PASS >"$MEND_TEST_MARKER"
