#!/usr/bin/env bash
# leak.sh CHECKPOINTS: that many checkpoints of one program; its memory must not grow, nor its result change.
set -uo pipefail
count=$1 tests=$MEND_BUILD/tests/capsule
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
run() { within 3000 mpirun.openmpi --oversubscribe -n 2 "$@"; }
steps=$((count + 20)) # four collectives a step, a checkpoint at every fourth
run "$tests/leak" $steps >"$work/native" 2>/dev/null
MEND_CAPSULE_DIR=$work/job MEND_CAPSULE_KEEP=1 MEND_CAPSULE_AT=4 MEND_CAPSULE_AGAIN=4 \
    run "$MEND_BUILD/lib/mend/capsule.openmpi" "$tests/leak" $steps >"$work/out" 2>"$work/err"
commits=$(grep -c checkpoint.commit "$work/job/events.jsonl")
cat "$work/out"; tail -2 "$work/err"
echo "$commits checkpoints"
[ "$commits" -ge "$count" ] && cmp "$work/native" "$work/out" && [ "$(ls "$work/job/versions" | wc -l)" = 2 ]
