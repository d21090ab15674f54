#!/usr/bin/env bash
# capsule.sh [BUILD [ROUNDS [KILLS]]]: an unmodified MPI program with its state on a GPU, in the capsule. With 1 and with 2 ranks
# on one device: uninterrupted, with a checkpoint, and ROUNDS times stopped and resumed in new processes; then KILLS times (1)
# under mend run, where a rank is killed.
# Each time the output must be that of the native run, and the exit code 0. A step that fails shows what it said, its events, and
# how its processes looked. Exit code 77: there is no GPU. MEND_TEST_DRIVER names a stand-in of the driver instead.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd) || exit 1
rounds=${2:-10} kills=${3:-1} fake=${MEND_TEST_DRIVER:-}
[ -n "$fake" ] || ls /dev/nvidia0 >/dev/null 2>&1 || { echo "SKIP: no GPU (/dev/nvidia0)"; exit 77; }
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$top/env/run" "$0" "$build" "$rounds" "$kills"
work=$(mktemp -d "${TMPDIR:-/tmp}/mend-capsule-XXXXXX")
echo "logs: $work"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MEND_CAPSULE_KEEP=1
capsule=$build/lib/mend/capsule.openmpi
failed=0 np=1 most=${MEND_TEST_SECONDS:-100000}

# ---- running and looking --------------------------------------------------------------------------
ranks() { pgrep -f "^[^ ]*(capsule.openmpi|on_device) .*$work|^[^ ]*on_device " | head -n 4; }
look() { # how each rank looks from outside
    local p t
    for p in $(ranks); do
        echo "process $p: $(tr '\0' ' ' </proc/"$p"/cmdline | cut -c1-150)"
        for t in /proc/"$p"/task/*; do echo "  $(cat "$t/comm") | $(sed -n 's/^State:\t//p' "$t/status") | $(cut -d' ' -f1-4 "$t/syscall" 2>/dev/null)"; done
        for t in /proc/"$p"/fd/*; do echo "${t##*/}=$(readlink "$t")"; done | grep 'nvidia\|event\|pipe\|socket' | tr '\n' ' ' | cut -c1-1500
        echo
        grep 'nvidia' /proc/"$p"/maps | awk '{print $NF}' | sort | uniq -c | sed 's/^/  mapped: /'
        grep -o '@cuda-.*' /proc/net/unix | tr '\n' ' '
    done 2>/dev/null
}
watch() { # FILE: its last look, while there is something to see
    for _ in $(seq 1 60); do sleep 0.5; look >"$1.now"; [ ! -s "$1.now" ] || mv "$1.now" "$1"; done
}
stacks() { command -v eu-stack >/dev/null && for p in $(ranks); do eu-stack -p "$p" 2>/dev/null | head -n 40; done; }
run() { # NAME command…: output, errors, exit code and last look in files of that name
    local name=$1 watcher pid; shift
    rm -f "$work/$name."*
    watch "$work/$name.look" >/dev/null 2>&1 & watcher=$!
    "$@" >"$work/$name.out" 2>"$work/$name.err" & pid=$!
    (sleep 14; stacks >"$work/$name.stacks") >/dev/null 2>&1 & local slow=$!
    wait "$pid"; echo $? >"$work/$name.rc"
    kill "$watcher" "$slow" 2>/dev/null; wait "$watcher" "$slow" 2>/dev/null
}
launch() { timeout -k 2 20 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$np" "$@"; }
tell() { # what is known of NAME
    local f
    echo "    exit code $(cat "$work/$1.rc" 2>/dev/null)"
    for f in out err look stacks; do
        [ -s "$work/$1.$f" ] && { echo "    -- $1.$f"; tail -n "$([ $f = out ] && echo 3 || echo 25)" "$work/$1.$f" | cut -c1-600 | sed 's/^/    /'; }
    done
    for f in "$work"/*/events.jsonl; do [ -s "$f" ] && { echo "    -- ${f#"$work/"}"; tail -n 12 "$f" | cut -c1-300 | sed 's/^/    /'; }; done
}
say() { # what, "ok…" or "FAIL…", NAME
    printf '%-44s %s\n' "$1" "$2"
    case $2 in FAIL*) failed=1; tell "$3" ;; esac
}
ended() { [ "$(cat "$work/$1.rc")" = 0 ] || { echo "FAIL: exit code $(cat "$work/$1.rc")"; return 1; }; }
right() { # NAME [FILE]: it ended well, and printed what the native run did
    ended "$1" || return
    cmp -s "$work/native.$np" "${2:-$work/$1.out}" && echo ok || echo "FAIL: not the native output"
}
in_time() { [ $SECONDS -lt "$most" ] || { say "the time is over: $SECONDS s" "FAIL" none; return 1; }; }
images() { find "$work/$1" -name '*.img' 2>/dev/null | wc -l; }

# ---- the program as it runs here -----------------------------------------------------------------
steps=200 kernels=() libraries=(libcuda.so.1)
if [ -n "$fake" ]; then
    libraries=("$fake")
else
    # A private prefix has a loader of its own, which does not look where the system has the driver.
    mkdir "$work/lib"
    driver=$(. "$top/tests/device/driver.sh" && find_driver)
    [ -n "$driver" ] && ln -s "${driver%/*}"/libcuda.so* "${driver%/*}"/libnvidia-* "$work/lib" 2>/dev/null
    [ -n "$driver" ] && libraries+=("$driver")
    export LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    nvidia-smi --query-gpu=name,driver_version,compute_cap,compute_mode --format=csv,noheader 2>/dev/null
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
    if [ -n "$nvcc" ]; then # as src/device/kernels.sh does it; as nvcc does; machine code
        sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
        "$nvcc" -O3 -arch=compute_75 -ptx -o "$work/new.ptx" "$top/tests/device/step.cu" 2>>"$work/nvcc.err" && kernels+=("$work/new.ptx")
        [ -s "$work/new.ptx" ] && sed -e 's/^\.version .*/.version 6.4/' -e 's/^\.target .*/.target sm_70/' -e '/^\/\//d' -e '/^$/d' "$work/new.ptx" >"$work/old.ptx" && kernels=("$work/old.ptx" "${kernels[@]}")
        "$nvcc" -O3 -arch="sm_${sm:-90}" -cubin -o "$work/step.cubin" "$top/tests/device/step.cu" 2>>"$work/nvcc.err" && kernels+=("$work/step.cubin")
        grep -h '^\.version\|^\.target' "$work"/*.ptx | tr '\n' ' '; echo
        [ ! -s "$work/nvcc.err" ] || tail -n 3 "$work/nvcc.err"
    fi
fi
program=()
for kernel in "${kernels[@]}" ""; do
    for library in "${libraries[@]}"; do
        [ ${#program[@]} = 0 ] || break 2
        program=("$build/tests/capsule/on_device" "$library" "$steps" ${kernel:+"$kernel"})
        run native launch "${program[@]}"
        echo "native, $library, ${kernel:-no kernel}: $(ended native && echo ok)"
        [ "$(cat "$work/native.rc")" = 0 ] || { tail -n 25 "$work/native.err" | grep -m 3 'on_device:' || tail -n 5 "$work/native.err"; program=(); }
    done
done
[ ${#program[@]} != 0 ] || { say "the program runs natively" "FAIL, in all ways" native; exit 1; }
if [ ${#program[@]} = 4 ]; then
    cp "$work/native.out" "$work/by_kernel"
    run host launch "${program[@]:0:3}"
    cmp -s "$work/host.out" "$work/by_kernel" && say "kernel and host agree" ok host || say "kernel and host agree" FAIL host
fi

# ---- without the capsule: what the driver does for our helper, and how the process looks meanwhile -------
hold() { # in its middle
    local pid library
    for _ in $(seq 1 80); do
        pid=$(pgrep -f "^[^ ]*on_device " | tail -n 1)
        [ -n "$pid" ] && grep -qs '^cuda0' /proc/"$pid"/task/*/comm && break
        sleep 0.05
    done
    sleep 0.3
    library=$(grep -o '/.*/libcuda.so.*' /proc/"$pid"/maps | head -n 1)
    "$capsule" --gpu "$pid" "$library" lock checkpoint && look && "$capsule" --gpu "$pid" "$library" restore unlock && echo "given back"
}
program[2]=1000
run native launch "${program[@]}"
cp "$work/native.out" "$work/native.1"
hold >"$work/hold" 2>&1 & holder=$!
run held launch "${program[@]}"
wait "$holder"
cut -c1-900 "$work/hold" | sed 's/^/    /'
grep -q 'given back' "$work/hold" && verdict=$(right held) || verdict="FAIL: the helper"
say "native, held by the driver and given back" "$verdict" held
program[2]=$steps

# ---- stopped and resumed -------------------------------------------------------------------------
for np in 1 2; do
    in_time || break
    run native launch "${program[@]}"
    say "native, $np ranks" "$(ended native && { [ -s "$work/native.out" ] && cat "$work/native.out" || echo 'FAIL: no output'; })" native
    cp "$work/native.out" "$work/native.$np"
    [ $np != 1 ] || run plain launch "$capsule" "${program[@]}"
    [ $np != 1 ] || say "capsule, $np ranks, uninterrupted" "$(right plain)" plain
    MEND_CAPSULE_AT=120 MEND_CAPSULE_DIR=$work/on$np run on launch "$capsule" "${program[@]}"
    say "capsule, $np ranks, checkpoint and on" "$(right on)" on
    [ "$(images on$np)" -ge $np ] && say "capsule, $np ranks, images" "ok, $(images on$np)" on || say "capsule, $np ranks, images" "FAIL: $(images on$np)" on
    good=0
    for r in $(seq 1 "$rounds"); do
        in_time || break
        rm -rf "$work/img"
        MEND_CAPSULE_AT=$((100 + 7 * r % 95)) MEND_CAPSULE_DIR=$work/img MEND_CAPSULE_EXIT=1 run first launch "$capsule" "${program[@]}"
        if ! ended first || [ -s "$work/first.out" ] || [ "$(images img)" -lt $np ]; then
            say "capsule, $np ranks, stop, round $r" "FAIL: $(images img) images, output: $(wc -c <"$work/first.out") bytes" first
            break
        fi
        run second launch "$capsule" --restart "$work/img"
        verdict=$(right second)
        [ "$verdict" = ok ] && good=$((good + 1)) || {
            say "capsule, $np ranks, resume, round $r" "$verdict" second
            echo "    -- first.look" && tail -n 25 "$work/first.look" | cut -c1-1500 | sed 's/^/    /'
            [ "$good" != 0 ] || break
        }
    done
    [ "$good" = "$rounds" ] && verdict=ok || verdict=FAIL
    printf '%-44s %s\n' "capsule, $np ranks, stopped and resumed" "$verdict, $good of $rounds"
    [ "$verdict" = ok ] || failed=1
done

# ---- a rank dies, and the job is launched again from its newest checkpoint ---------------------------
in_time || { echo FAIL; exit 1; }
np=2 program[2]=1000
run native launch "${program[@]}"
cp "$work/native.out" "$work/native.2"
strike() { # once a version is complete
    local victim
    for _ in $(seq 1 150); do grep -qs checkpoint.commit "$work/job/events.jsonl" && break; sleep 0.1; done
    grep -qs checkpoint.commit "$work/job/events.jsonl" || { echo "no version was complete" >"$work/strike"; return; }
    victim=$(pgrep -f "^[^ ]*capsule.openmpi .*on_device" | tail -n 1)
    kill -9 "$victim" && echo "killed $victim" >"$work/strike"
}
good=0
for _ in $(seq 1 "$kills"); do
    in_time || break
    rm -rf "$work/job" "$work/strike"
    strike & striker=$!
    run job timeout -k 2 45 "$build/bin/mend" run -n 2 --no-online --every 1 --dir "$work/job" -- "${program[@]}"
    wait "$striker" 2>/dev/null
    grep -q killed "$work/strike" 2>/dev/null && verdict=$(right job) || verdict="FAIL: $(cat "$work/strike" 2>/dev/null)"
    [ "$verdict" = ok ] && good=$((good + 1)) || say "mend run --no-online, a rank killed" "$verdict" job
done
[ "$good" = "$kills" ] && verdict=ok || verdict=FAIL failed=1
printf '%-44s %s\n' "mend run --no-online, a rank killed" "$verdict, $good of $kills"
[ $failed = 0 ] && echo PASS || echo FAIL
exit $failed
