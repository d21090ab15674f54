#!/usr/bin/env bash
# gpu.sh: a program that uses a GPU whose driver does not save it is not checkpointed: it is told so in one sentence a rank, no
# version is complete, and the program ends as if nothing were; with mend exec, and with mend run. The same if MPS shares the GPU,
# whatever the driver says, and if the driver is too old.
set -uo pipefail
mend=$MEND_BUILD/bin/mend
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
fail() { echo "FAIL: $*"; tail -n 20 "$work"/*.out "$work"/*.err; exit 1; }
mkdir "$work/dev" && : >"$work/dev/nvidia0" && cp "$MEND_BUILD/tests/libfake_driver.so" "$work/libcuda.so.1" || exit 1
program=("$MEND_BUILD/tests/capsule/gpu" "$work/libcuda.so.1" "$work/dev/nvidia0")
want='gpu: 2250000'
commits() { grep -c checkpoint.commit "$1/events.jsonl" 2>/dev/null; }
judge() { # NAME [REASON]
    [ "$(grep '^[a-z_]*: ' "$work/$1.out")" = "$want" ] || fail "$1: the program did not end as it should"
    grep -q "rank [01]: no .*: the program uses a GPU ($work/dev/nvidia0 is open), and its state there cannot be saved: ${2:-}" "$work/$1.err" || fail "$1: nobody said why"
    [ "$(commits "$work/$1")" = 0 ] || fail "$1: $(commits "$work/$1") versions are said to be complete"
}
within 150 mpirun.openmpi --oversubscribe -n 2 "$mend" exec --dir "$work/exec" --every 0.2 "${program[@]}" >"$work/exec.out" 2>"$work/exec.err" ||
    fail "mend exec: exit code $?"
judge exec
"$mend" restart "$work/exec" >"$work/restart.out" 2>&1 && fail "a restart succeeds"
within 150 "$mend" run -n 2 --spares 1 --dir "$work/run" --every 0.2 -- "${program[@]}" >"$work/run.out" 2>"$work/run.err" || fail "mend run: exit code $?"
judge run
grep -q "note: no checkpoint will hold the state of this program on a GPU ($work/dev/nvidia0): cuCheckpointProcessGetState failed" "$work/run.err" || fail "mend run: nothing is said at the start"
[ "$(grep -c 'uses a GPU' "$work/run.err")" -le 2 ] || fail "mend run: it is said again and again"

mkdir "$work/old" && cp "$MEND_BUILD/tests/libfake_driver_old.so" "$work/old/libcuda.so.1" || exit 1
within 150 "$mend" run -n 2 --spares 1 --dir "$work/older" --every 0.2 -- "${program[0]}" "$work/old/libcuda.so.1" "$work/dev/nvidia0" >"$work/older.out" 2>"$work/older.err" ||
    fail "an old driver: exit code $?"
judge older 'the driver has no cuCheckpointProcessLock: it is too old (570 or newer is needed)'
grep -qF "GPU ($work/dev/nvidia0): the driver has no cuCheckpointProcessGetState: it is too old (570 or newer is needed)" "$work/older.err" || fail "an old driver: nothing is said at the start"

mkdir "$work/mps" && : >"$work/mps/control"
mps="the driver cannot save programs that share a GPU by MPS ($work/mps/control exists)"
program=("$MEND_BUILD/tests/capsule/on_device" "$work/libcuda.so.1" 600)
want=$("$MEND_BUILD/tests/capsule/on_device" --expect 2 600)
export MEND_FAKE_CHECKPOINT=$work/dev/nvidia0
CUDA_MPS_PIPE_DIRECTORY=$work/mps within 150 "$mend" run -n 2 --spares 1 --dir "$work/shared" --every 0.2 -- "${program[@]}" >"$work/shared.out" 2>"$work/shared.err" ||
    fail "MPS: exit code $?"
judge shared "$mps"
grep -qF "note: no checkpoint will hold the state of this program on a GPU ($work/dev/nvidia0): $mps" "$work/shared.err" || fail "MPS: nothing is said at the start"
echo PASS
