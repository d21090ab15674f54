#!/usr/bin/env bash
# online_gpu.sh CASE [KILLS [SEED]]: an unmodified program with its state on a GPU (a stand-in of its driver) under `mend run`,
# hit by real kills. Cases: place (a spare takes over), relaunch (--no-online), exhausted (no spare), kills (many, by seed, at any
# moment, also while the driver takes the device or gives it back), slow (the driver takes longer than the job's patience),
# refused (the driver does not save it), early (nor memory that
# processes share, which is told long before the first checkpoint is due), helper (the process that asks the driver is killed in the middle of it), fails (the driver fails once, at a step of a
# checkpoint or of a restore), hang (it never answers), map (relaunched on other devices), kinds (which are of another
# kind), map_user (as the user says, not by position). The output must be that of the native run.
set -uo pipefail
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
case=$1 kills=${2:-6} seed=${3:-1}
scratch=$(mktemp -d) || exit 1
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
runner=
fail() { echo "FAIL: $*"; tail -n 5 err 2>/dev/null; tail -n 20 job/events.jsonl 2>/dev/null | cut -c1-300; [ -n "${KEEP:-}" ] && cp -r . "$KEEP.$$"; kill $runner 2>/dev/null; wait; exit 1; }
mkdir dev && : >dev/nvidia0 && cp "$MEND_BUILD/tests/libfake_driver.so" libcuda.so.1 && cp "$MEND_BUILD/tests/capsule/on_device" . || exit 1
export MEND_FAKE_CHECKPOINT=$PWD/dev/nvidia0
more_arguments=() before=()
start() { # OPTIONS…
    rm -rf job enough
    ${before[@]+"${before[@]}"} "$MEND" run -n 2 --dir job -q --every 200ms "$@" -- ./on_device ./libcuda.so.1 ./enough ${more_arguments[@]+"${more_arguments[@]}"} >got 2>err &
    runner=$!
}
gpu() { local four; printf -v four '%02x%02x%02x%02x' "'$1" "'$1" "'$1" "'$1"; echo "GPU-$four-${four:4}-${four:4}-${four:4}-$four${four:4}"; } # LETTER: as nvidia-smi names it
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { # PATTERN N: until so many events are there; the job must not end before
    until [ "$(count "$1")" -ge "$2" ]; do
        kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"
        sleep 0.02
    done
}
told() { # PATTERN: until stderr says it; the job must not end before
    until grep -qs "$1" err; do kill -0 $runner 2>/dev/null || fail "nobody was told"; sleep 0.05; done
}
ranks() { pgrep -f "capsule.openmpi (.* )?./on_device ./libcuda.so.1 " | while read -r p; do [ "$(readlink "/proc/$p/cwd")" = "$PWD" ] && echo "$p"; done; }
player() { grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -n 1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; }
more() { await '"level":"memory"' $(($(count '"level":"memory"') + 2 * $1)); }
finish() {
    touch enough
    wait $runner || fail "mend run ended with $?"
    local steps
    steps=$(sed -n 's/^on_device: .* after \([0-9]*\) steps$/\1/p' got)
    [ -n "$steps" ] || fail "no output"
    mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 2 ./on_device ./libcuda.so.1 "$steps" >want || fail "the native run"
    cmp got want || fail "the output differs from the native run"
}
case $case in
place) # one rank, then the other one: survivors go back, too
    start --spares 2
    more 2; kill -9 "$(player 1)"; await '"how":"resumed"' 2
    more 2; kill -9 "$(player 0)"; await '"how":"resumed"' 4
    more 1; finish
    [ "$(count run.launch)" = 1 ] || fail "launched again" ;;
exhausted) # nobody is left for the rank: the version in memory goes to disk, and the job is launched again
    start --spares 0
    more 2; kill -9 "$(player 1)"; await '"event":"run.launch"' 2
    more 2; finish
    grep -q 'run.torn_down.*"version":[1-9]' job/events.jsonl || fail "from the start" ;;
relaunch)
    start --no-online
    await checkpoint.commit 2; kill -9 "$(ranks | tail -n 1)"; await '"event":"run.launch"' 2
    await checkpoint.commit 4; finish
    grep -q 'run.torn_down.*"version":[1-9]' job/events.jsonl || fail "from the start" ;;
slow) # images hold all of the library as well
    MEND_FAKE_SLOW=1500 MEND_CAPSULE_PATIENCE=1 start --spares 1 --full-images
    more 1; kill -9 "$(player 1)"; await '"how":"resumed"' 2
    more 1; finish
    [ "$(count checkpoint.given_up)" = 0 ] || fail "given up" ;;
refused)
    MEND_FAKE_REFUSES=801 start --spares 1
    told 'rank [01]: no checkpoint: .*cuCheckpointProcessCheckpoint failed with CUDA_ERROR_NOT_SUPPORTED (801).*CUDA IPC'
    finish
    [ "$(count checkpoint.commit)" = 0 ] || fail "a version is said to be complete" ;;
early)
    more_arguments=(--share)
    start --spares 1 --every 1h
    told 'rank [01]: no checkpoint: .*cuCheckpointProcessCheckpoint failed with CUDA_ERROR_NOT_SUPPORTED (801).*drivers refuse memory that is shared between processes (CUDA IPC)'
    finish
    [ "$(count checkpoint.commit)" = 0 ] || fail "a version is said to be complete"
    more_arguments=() machine=$(uname -m) # and one that the driver saves has a version early; on a machine where nobody has tried it
    [ "$machine" != x86_64 ] || before=(setarch i686) machine=i686
    start --spares 1 --every 1h
    await checkpoint.commit 1; finish
    grep -q "note: this program uses a GPU; checkpoints of such programs were never tried on $machine" err || fail "not told that it was never tried" ;;
helper) # nobody knows then what the driver has done: the rank dies, and a spare takes its place
    mkdir faults
    MEND_FAKE_FAULTS=$PWD/faults start --spares 4
    n=0
    for fault in "lock:asker after" "checkpoint:asker before" "checkpoint:asker after" "restore:asker before"; do
        n=$((n + 2))
        more 1
        echo "${fault#*:}" >faults/new && mv faults/new "faults/${fault%%:*}"
        await '"how":"resumed"' $n
    done
    more 1; finish
    grep -q 'signal 9 has ended the process that asked the driver' err || fail "not told"
    [ "$(count run.launch)" = 1 ] || fail "launched again" ;;
fails) # at a checkpoint the job goes on without a version, at a restore the rank ends
    mkdir faults
    echo 'always owner 719' >faults/checkpoint
    MEND_FAKE_FAULTS=$PWD/faults start --spares 2
    told 'rank [01]: no checkpoint: .*cuCheckpointProcessCheckpoint failed with CUDA_ERROR_LAUNCH_FAILED (719) for process'
    [ "$(count checkpoint.commit)" = 0 ] || fail "a version is said to be complete"
    rm faults/checkpoint
    more 2
    echo 'asker 719' >faults/new && mv faults/new faults/restore
    told 'cannot restore the program.s state on the GPU: cuCheckpointProcessRestore failed with CUDA_ERROR_LAUNCH_FAILED (719) for process'
    await '"how":"resumed"' 2
    more 1; finish
    [ "$(count run.launch)" = 1 ] || fail "launched again"
    echo 'always asker 3' >faults/lock # a job tells the first reason only
    MEND_FAKE_FAULTS=$PWD/faults start --spares 0
    told 'rank [01]: no checkpoint: .*cuCheckpointProcessLock failed with CUDA_ERROR_NOT_INITIALIZED (3) for process'
    [ "$(count checkpoint.commit)" = 0 ] || fail "a version is said to be complete"
    rm faults/lock
    more 1; finish ;;
hang) # who does not answer within the limit is as good as dead
    mkdir faults
    MEND_CAPSULE_GPU_LIMIT=10 MEND_FAKE_FAULTS=$PWD/faults start --spares 3
    n=0
    for fault in "lock:asker hang" "checkpoint:asker hang" "restore:asker hang"; do
        n=$((n + 2))
        more 1
        echo "${fault#*:}" >faults/new && mv faults/new "faults/${fault%%:*}"
        await '"how":"resumed"' $n
        [ "$(grep -c 'the state of the program on the GPU is lost: the driver has not answered for 10 s (capsule.gpu_limit)' err)" = $((n / 2)) ] || fail "$fault: not told"
    done
    more 1; finish
    [ "$(count run.launch)" = 1 ] || fail "launched again" ;;
map) # by position
    export MEND_FAKE_KIND=alike MEND_FAKE_DEVICES=ab
    start --no-online
    await checkpoint.commit 1
    "$MEND" checkpoint --stop job >/dev/null 2>err || fail "it was not stopped"
    wait $runner
    export MEND_FAKE_DEVICES=cd
    "$MEND" restart -q job >got 2>err & runner=$!
    finish ;;
map_user) # the kinds are the other way round: each to the one at its position would be wrong, and so is a map that is none
    export MEND_FAKE_KIND=big,small MEND_FAKE_DEVICES=ab MEND_FAKE_MOVED=$PWD/moved
    start --no-online
    await checkpoint.commit 1
    "$MEND" checkpoint --stop job >/dev/null 2>err || fail "it was not stopped"
    wait $runner
    export MEND_FAKE_DEVICES=cd MEND_FAKE_KIND=small,big
    touch enough
    timeout 60 "$MEND" restart -q job >got 2>err && fail "it goes on, by position"
    grep -q 'the program used GPUs of another kind: GPU-61616161-.*=big,GPU-62626262-.*=small then, GPU-63636363-.*=small,GPU-64646464-.*=big now' err || fail "by position: not told"
    MEND_CAPSULE_GPU_MAP=$(gpu a):$(gpu c),GPU-nonsense timeout 60 "$MEND" restart -q job >got 2>err && fail "it goes on, with a map that is none"
    grep -q "capsule.gpu_map is not a list of GPU-…:GPU-… ($(gpu a):$(gpu c),GPU-nonsense)" err || fail "a map that is none: not told"
    MEND_CAPSULE_GPU_MAP=$(gpu a):$(gpu e),$(gpu b):$(gpu c) timeout 60 "$MEND" restart -q job >got 2>err && fail "it goes on, on a GPU that is not here"
    grep -q 'a GPU that the program used, or that capsule.gpu_map names, is not here: GPU-61616161-' err || fail "a GPU that is not here: not told"
    [ ! -s moved ] || fail "the driver was told to move: $(cat moved)"
    rm -f enough
    export MEND_CAPSULE_GPU_MAP=$(gpu a):$(gpu d),$(gpu b):$(gpu c)
    "$MEND" restart -q job >got 2>err & runner=$!
    finish
    [ "$(sort -u moved | tr '\n' ';')" = "a goes to d;b goes to c;" ] || fail "moved: $(cat moved)" ;;
kinds)
    export MEND_FAKE_KIND=alike MEND_FAKE_DEVICES=ab
    start --no-online
    await checkpoint.commit 1
    "$MEND" checkpoint --stop job >/dev/null 2>err || fail "it was not stopped"
    wait $runner
    export MEND_FAKE_DEVICES=cd MEND_FAKE_KIND=other
    touch enough; timeout 60 "$MEND" restart -q job >got 2>err && fail "it goes on"
    grep -q 'the program used GPUs of another kind: GPU-61616161-.*=alike,.* then, GPU-63636363-.*=other,.* now' err || fail "not told" ;;
kills) # the next as soon as the job has a version more, plus some time
    RANDOM=$seed
    start --spares "$kills"
    more 1
    for ((k = 1; k <= kills; k++)); do
        sleep "0.$(printf %03d $((RANDOM % 400)))"
        kill -9 "$(player $((RANDOM % 2)))" || fail "kill $k"
        await '"how":"resumed"' $((2 * k)); more 1
    done
    finish
    [ "$(count run.launch)" = 1 ] || fail "launched again"
    echo "ok: $kills kills, seed $seed" ;;
*) fail "no case $case" ;;
esac
echo PASS
