#!/usr/bin/env bash
# mend ls and mend verify on a real store: whole, damaged, cut, foreign, empty.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
export MEND_STORE_LOCAL=$dir/local MEND_STORE_GLOBAL=$dir/global
fail() { echo "FAILED: $1"; exit 1; }
expect() { local want=$1; shift; local got=0; "$@" >"$dir/out" 2>&1 || got=$?; [ "$got" = "$want" ] || { cat "$dir/out"; fail "$* gave $got, not $want"; }; }

"$MEND_BUILD/tests/store_writer" 5
expect 0 "$MEND" ls "$dir"
grep -Eq '^sample +5 ' "$dir/out" || fail "ls does not show version 5"
grep -q 'own 1/1' "$dir/out" || fail "ls does not show the own part"
expect 0 "$MEND" ls --json "$dir"
grep -q '"mend": 1' "$dir/out" && grep -q '"complete": true' "$dir/out" || fail "json of ls"
expect 0 "$MEND" verify "$dir"
grep -q ' 0 damaged' "$dir/out" || fail "verify counts"
expect 0 "$MEND" verify --json "$dir"
grep -q '"ok": true' "$dir/out" || fail "json of verify"

grep -q 'on a GPU' "$dir/out" && fail "ls invents a GPU"
mkdir "$dir/gpu"
MEND_DEVICE_DRIVER=$MEND_BUILD/tests/libfake_driver.so MEND_STORE_LOCAL=$dir/gpu MEND_STORE_GLOBAL=$dir/gpu/global "$MEND_BUILD/tests/store_writer" 1
expect 0 "$MEND" ls "$dir/gpu"
grep -q 'on a GPU: grid$' "$dir/out" || { cat "$dir/out"; fail "ls does not name the region on a GPU"; }
expect 0 "$MEND" ls --json "$dir/gpu"
grep -q '"on_gpu": "grid"' "$dir/out" || fail "json of a region on a GPU"
rm -rf "$dir/gpu"

file=$(ls "$dir"/local/sample/own-r0-v5-*.img)
cp "$file" "$dir/saved"
printf '\xff' | dd of="$file" bs=1 seek=3000 conv=notrunc status=none
expect 1 "$MEND" verify "$dir"
grep -q "damaged: .*own-r0-v5" "$dir/out" || fail "verify does not name the damaged file"
expect 1 "$MEND" verify --json "$dir"
grep -q '"ok": false' "$dir/out" || fail "json of a damaged store"
truncate -s 1000 "$file"
expect 1 "$MEND" verify "$dir"
cp "$dir/saved" "$file"; chmod 600 "$file"
expect 0 "$MEND" verify "$dir"
chmod 666 "$file"
expect 1 "$MEND" verify "$dir" # others could have written it
chmod 600 "$file"

mkdir "$dir/empty"
expect 0 "$MEND" ls "$dir/empty"
grep -q 'no checkpoints' "$dir/out" || fail "ls of nothing"
expect 1 "$MEND" ls "$dir/missing"
expect 1 "$MEND" verify "$file"
expect 2 "$MEND" ls
expect 2 "$MEND" verify --wrong "$dir"
expect 0 "$MEND" ls --help
expect 0 "$MEND" verify --help
echo PASS
