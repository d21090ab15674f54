#!/usr/bin/env bash
# capsule.sh [BUILD [ROUNDS]]: an unmodified MPI program with its state on a GPU, in the capsule. With 1 and with 2 ranks on one
# device: uninterrupted, with a checkpoint, and ROUNDS times stopped and resumed in new processes; then under mend run with a kill.
# Each time the output must be that of the native run. Exit code 77: there is no GPU, or no nvcc.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd) rounds=${2:-10}
ls /dev/nvidia0 >/dev/null 2>&1 || { echo "SKIP: no GPU (/dev/nvidia0)"; exit 77; }
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || { echo "SKIP: no nvcc"; exit 77; }
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$top/env/run" "$0" "$build" "$rounds"
work=$(mktemp -d "${TMPDIR:-/tmp}/mend-capsule-XXXXXX")
echo "logs: $work"
mkdir "$work/lib"
driver=$(ls /usr/lib/*-linux-gnu/libcuda.so.1 /usr/lib64/libcuda.so.1 /usr/local/cuda/compat/libcuda.so.1 2>/dev/null | head -n 1)
ln -s "${driver%/*}"/libcuda.so* "${driver%/*}"/libnvidia-* "$work/lib" 2>/dev/null
export LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MEND_CAPSULE_KEEP=1
"$nvcc" -arch=compute_75 -ptx -o "$work/new.ptx" "$top/tests/device/step.cu" || exit 1
# as src/device/kernels.sh does: the driver may be older than nvcc
sed -e 's/^\.version .*/.version 6.4/' -e 's/^\.target .*/.target sm_70/' "$work/new.ptx" >"$work/step.ptx"
program=("$build/tests/capsule/on_device" "$driver" 300 "$work/step.ptx")
failed=0
launch() { local np=$1; shift; timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$np" "$@"; }
say() { printf '%-44s %s\n' "$1" "$2"; case $2 in FAIL*) failed=1; tail -n 12 "$3" | sed 's/^/    /' ;; esac; }
same() { cmp -s "$work/native.$np" "$1" && echo ok || echo "FAIL: $(tail -n 1 "$1")"; }
for np in 1 2; do
    launch $np "${program[@]}" >"$work/native.$np" 2>"$work/e.native"
    echo "native, $np ranks: $(cat "$work/native.$np")"
    grep -q 'right$' "$work/native.$np" || { echo "FAIL: the program does not run natively, so nothing can be told"; tail -n 12 "$work/e.native"; exit 1; }
    launch $np "$build/lib/mend/capsule.openmpi" "${program[@]}" >"$work/plain" 2>"$work/e.plain"
    say "capsule, $np ranks, uninterrupted" "$(same "$work/plain")" "$work/e.plain"
    MEND_CAPSULE_AT=120 MEND_CAPSULE_DIR=$work/on$np launch $np "$build/lib/mend/capsule.openmpi" "${program[@]}" >"$work/on" 2>"$work/e.on"
    say "capsule, $np ranks, checkpoint and on" "$(same "$work/on")" "$work/e.on"
    images=$(find "$work/on$np" -name '*.img' 2>/dev/null | wc -l)
    [ "$images" -ge $np ] || say "capsule, $np ranks, images" "FAIL: $images" "$work/e.on"
    good=0
    for r in $(seq 1 "$rounds"); do
        rm -rf "$work/img"
        MEND_CAPSULE_AT=$((100 + 7 * r)) MEND_CAPSULE_DIR=$work/img MEND_CAPSULE_EXIT=1 launch $np "$build/lib/mend/capsule.openmpi" "${program[@]}" >"$work/first" 2>"$work/e.first"
        launch $np "$build/lib/mend/capsule.openmpi" --restart "$work/img" >"$work/second" 2>"$work/e.second"
        cat "$work/first" "$work/second" >"$work/both"
        if [ ! -s "$work/first" ] && cmp -s "$work/native.$np" "$work/both"; then # stopped before its end good=$((good + 1)); else
            cat "$work/e.first" "$work/e.second" >"$work/e.$np.$r"
            say "capsule, $np ranks, resumed, round $r" "FAIL: $(tail -n 1 "$work/both")" "$work/e.$np.$r"
            [ "$r" -ge 3 ] && [ "$good" = 0 ] && break
        fi
    done
    [ "$good" = "$rounds" ] || failed=1
    say "capsule, $np ranks, stopped and resumed" "$good of $rounds" /dev/null
done
np=2 # a rank dies, and the job is launched again from its newest checkpoint
program[2]=2000
launch 2 "${program[@]}" >"$work/native.2" 2>"$work/e.native"
timeout 100 "$build/bin/mend" run -n 2 --no-online --every 1 --dir "$work/job" -- "${program[@]}" >"$work/run" 2>"$work/e.run" &
pid=$!
for _ in $(seq 1 300); do grep -qs checkpoint.commit "$work/job/events.jsonl" && break; sleep 0.1; done
victim=$(pgrep -f "^[^ ]*capsule.openmpi .*$work/step.ptx" | tail -n 1)
versions=$(grep -c checkpoint.commit "$work/job/events.jsonl")
echo "versions before the kill: $versions, killing $victim"
[ "$versions" -ge 1 ] && [ -n "$victim" ] && kill -9 "$victim" || say "mend run, a kill after a checkpoint" "FAIL: there was none" "$work/e.run"
wait "$pid"
say "mend run --no-online, a rank killed" "$(same "$work/run")" "$work/e.run"
[ $failed = 0 ] && echo PASS || echo FAIL
exit $failed
