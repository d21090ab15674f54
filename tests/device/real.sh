#!/usr/bin/env bash
# real.sh [BUILD]: everything about GPUs that no stand-in can show, on a machine with one: the kernels belong to their source,
# every kind of memory comes back bit for bit, speeds against what the machine can do, and 50 kills of ranks with data on the
# device. Prints one line a check; the logs are in the folder that it names. No kill begins after MEND_TEST_SECONDS (560) less
# one run. MEND_REAL_KILLS=0 and MEND_REAL_SPEEDS=no leave parts out. Exit code 77: there is no GPU.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd) || exit 1
gib=${MEND_REAL_GIB:-7.45} kills=${MEND_REAL_KILLS:-25} most=${MEND_TEST_SECONDS:-560}
work=$(mktemp -d "${TMPDIR:-/tmp}/mend-real-XXXXXX")
unset MEND_DEVICE_DRIVER
failed=0
say() { printf '%-34s %s\n' "$1" "$2"; case $2 in FAIL*) failed=1 ;; esac; }
last() { tail -n "${2:-3}" "$1" | sed 's/^/    /'; }
ls /dev/nvidia0 >/dev/null 2>&1 || { echo "SKIP: no GPU (/dev/nvidia0)"; exit 77; }
echo "logs: $work"
mkdir "$work/memory"
. "$top/tests/device/driver.sh"
use_driver "$work/lib" "$build/lib/mend/capsule.openmpi"
memory=$(device_memory)
timeout 20 nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null

timeout 120 "$top/src/device/kernels.sh" --check >"$work/kernels" 2>&1
case $? in 0) say kernels ok ;; 77) say kernels "skipped: no nvcc" ;; *) say kernels FAIL; last "$work/kernels" ;; esac

if timeout -k 5 200 "$top/env/run" mpirun.openmpi --allow-run-as-root --oversubscribe -n 1 --bind-to none "$build/tests/device_kinds" "$work/memory" 64 >"$work/kinds" 2>&1; then say "kinds of memory" ok; else say "kinds of memory" "FAIL ($?)"; fi
last "$work/kinds" 8

if [ "${MEND_REAL_SPEEDS:-yes}" = yes ]; then
    timeout -k 5 200 "$top/env/run" mpirun.openmpi --allow-run-as-root --oversubscribe -n 1 --bind-to none "$build/bench/bench_gpu" "$gib" >"$work/bench" 2>&1
    rc=$?
    if [ $rc = 0 ]; then say "speeds" "$(grep -c ' ok$' "$work/bench") ok, $(grep -c MISSED "$work/bench") missed"; else say speeds "FAIL ($rc)"; fi
    last "$work/bench" 14
fi

good=0 bad=0
for seed in $(seq 1 "$kills"); do # two kills each
    [ $SECONDS -lt $((most - 95)) ] || { say "the time is over" "FAIL, after $SECONDS s"; break; }
    if MEND_TEST_GPU=1 MEND_STORE_DELTA=hash MEND_TEST_ELEMENTS=2000000 timeout -k 5 90 "$top/env/run" "$top/tests/harness/mpitest" --np 4 --spares 2 --nodes 0 --timeout 80 -- \
        "$build/tests/mpi_store_kill" memory,partner,erasure,global 2 "$seed" >"$work/kill.$seed" 2>&1; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        say "kills, seed $seed" FAIL
        [ $bad -gt 3 ] || last "$work/kill.$seed" 12 | cut -c1-200
    fi
done
say "kills of ranks on the device" "$good of $((good + bad)) runs right, two kills each, after $SECONDS s"
left=$(timeout 20 nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader 2>/dev/null | wc -l)
say "processes left on the device" "$left"
say "MiB in use, before and after" "$memory, $(device_memory)"
[ $failed = 0 ] && echo PASS || echo FAIL
exit $failed
