#!/usr/bin/env bash
# capsule.sh [BUILD [ROUNDS [KILLS]]]: an unmodified MPI program with its state on a GPU, in the capsule. With 1 and with 2 ranks
# on one device: uninterrupted, with a checkpoint, and ROUNDS times stopped and resumed in new processes; then KILLS times (1)
# under mend run, where a rank is killed at a moment that the round's number gives: with relaunches, and in place.
# Each time the output must be that of the native run, and the exit code 0. The first steps that fail show what they said, their
# events, and how their processes looked. It ends by itself after MEND_TEST_SECONDS (560), and tells how far it came. The last
# lines sum up. MEND_TEST_PARTS names parts (resume, relaunch, place). Exit code 77: there is no GPU. MEND_TEST_DRIVER names a stand-in of the driver instead.
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
parts=${MEND_TEST_PARTS:-resume relaunch place}
failed=0 np=1 most=${MEND_TEST_SECONDS:-560} told=0 summary=()

# ---- running and looking --------------------------------------------------------------------------
ranks() { pgrep -f "^([^ ]*capsule.openmpi .*)?$work/on_device |^[^ ]*capsule.openmpi --restart $work" | head -n 4; }
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
    local f events=()
    echo "    exit code $(cat "$work/$1.rc" 2>/dev/null)"
    for f in out err; do
        [ -s "$work/$1.$f" ] && { echo "    -- $1.$f"; tail -n "$([ $f = out ] && echo 2 || echo 10)" "$work/$1.$f" | cut -c1-300 | sed 's/^/    /'; }
    done
    [ $told -lt 2 ] || return 0 # the first ones tell the most
    for f in look stacks; do
        [ -s "$work/$1.$f" ] && { echo "    -- $1.$f"; tail -n 25 "$work/$1.$f" | cut -c1-250 | sed 's/^/    /'; }
    done
    events=("$work"/*/events.jsonl)
    [ ! -s "$work/$1/events.jsonl" ] || events=("$work/$1/events.jsonl")
    for f in "${events[@]}"; do [ -s "$f" ] && { echo "    -- ${f#"$work/"}"; tail -n 14 "$f" | cut -c1-220 | sed 's/^/    /'; }; done
}
say() { # what, "ok…" or "FAIL…", NAME
    printf '%-44s %s\n' "$1" "$2"
    case $2 in FAIL*) failed=1; tell "$3" 2>&1 | head -c 4500; told=$((told + 1)) ;; esac
}
sum_up() { # what, "ok…" or "FAIL…"
    case $2 in FAIL*) failed=1 ;; esac
    summary+=("$(printf '%-44s %s' "$1" "$2, after $SECONDS s")")
    echo "${summary[-1]}"
}
finish() {
    [ -n "$fake" ] || sum_up "MiB in use on the device, before and after" "$memory, $(device_memory)"
    echo "---- in short"
    printf '%s\n' "${summary[@]}"
    [ $failed = 0 ] && echo PASS || echo FAIL
    exit $failed
}
ended() { [ "$(cat "$work/$1.rc")" = 0 ] || { echo "FAIL: exit code $(cat "$work/$1.rc")"; return 1; }; }
right() { # NAME [FILE]: it ended well, and printed what the native run did
    ended "$1" || return
    cmp -s "$work/native.$np" "${2:-$work/$1.out}" && echo ok || echo "FAIL: not the native output"
}
in_time() { [ $SECONDS -lt $((most - 50)) ] || { echo "the time is over: $SECONDS s"; failed=1; return 1; }; }
images() { find "$work/$1" -name '*.img' 2>/dev/null | wc -l; }

# ---- the program as it runs here -----------------------------------------------------------------
cp "$build/tests/capsule/on_device" "$work/on_device" || exit 1 # a name that only our processes have
steps=200 kernels=() libraries=(libcuda.so.1)
if [ -n "$fake" ]; then
    libraries=("$fake")
else
    . "$top/tests/device/driver.sh"
    use_driver "$work/lib" "$capsule"
    [ -n "$driver" ] && libraries=("$driver" libcuda.so.1)
    timeout 20 nvidia-smi --query-gpu=name,driver_version,compute_cap,compute_mode --format=csv,noheader 2>/dev/null
    memory=$(device_memory)
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
    if [ -n "$nvcc" ]; then # as src/device/kernels.sh does it; as nvcc does; machine code
        sm=$(timeout 20 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
        timeout 60 "$nvcc" -O3 -arch=compute_75 -ptx -o "$work/new.ptx" "$top/tests/device/step.cu" 2>>"$work/nvcc.err" && kernels+=("$work/new.ptx")
        [ -s "$work/new.ptx" ] && sed -e 's/^\.version .*/.version 6.4/' -e 's/^\.target .*/.target sm_70/' -e '/^\/\//d' -e '/^$/d' "$work/new.ptx" >"$work/old.ptx" && kernels=("$work/old.ptx" "${kernels[@]}")
        timeout 60 "$nvcc" -O3 -arch="sm_${sm:-90}" -cubin -o "$work/step.cubin" "$top/tests/device/step.cu" 2>>"$work/nvcc.err" && kernels+=("$work/step.cubin")
        grep -h '^\.version\|^\.target' "$work"/*.ptx | tr '\n' ' '; echo
        [ ! -s "$work/nvcc.err" ] || tail -n 3 "$work/nvcc.err"
    fi
fi
program=()
for kernel in "${kernels[@]}" ""; do
    for library in "${libraries[@]}"; do
        [ ${#program[@]} = 0 ] || break 2
        program=("$work/on_device" "$library" "$steps" ${kernel:+"$kernel"})
        run native launch "${program[@]}"
        echo "native, $library, ${kernel:-no kernel}: $(ended native && echo ok)"
        [ "$(cat "$work/native.rc")" = 0 ] || { tail -n 25 "$work/native.err" | grep -m 3 'on_device:' || tail -n 5 "$work/native.err"; program=(); }
    done
done
[ ${#program[@]} != 0 ] || { say "the program runs natively" "FAIL, in all ways" native; finish; }
if [ ${#program[@]} = 4 ]; then
    cp "$work/native.out" "$work/by_kernel"
    run host launch "${program[@]:0:3}"
    cmp -s "$work/host.out" "$work/by_kernel" && say "kernel and host agree" ok host || say "kernel and host agree" FAIL host
fi

# ---- without the capsule: what the driver does for our helper, and how the process looks meanwhile -------
hold() { # in its middle
    local pid library
    for _ in $(seq 1 80); do
        pid=$(pgrep -f "^$work/on_device " | tail -n 1)
        [ -n "$pid" ] && grep -qs '^cuda0' /proc/"$pid"/task/*/comm && break
        sleep 0.05
    done
    sleep 0.3
    library=$(grep -o '/.*/libcuda.so.*' /proc/"$pid"/maps | head -n 1)
    timeout 30 "$capsule" --gpu "$pid" "$library" lock checkpoint && look && timeout 30 "$capsule" --gpu "$pid" "$library" restore unlock && echo "given back"
}
program[2]=1000
run native launch "${program[@]}"
cp "$work/native.out" "$work/native.1"
hold >"$work/hold" 2>&1 & holder=$!
run held launch "${program[@]}"
wait "$holder"
cut -c1-300 "$work/hold" | sed 's/^/    /'
grep -q 'given back' "$work/hold" && verdict=$(right held) || verdict="FAIL: the helper"
say "native, held by the driver and given back" "$verdict" held
program[2]=$steps

# ---- stopped and resumed -------------------------------------------------------------------------
for np in 1 2; do
    [[ $parts = *resume* ]] && in_time || break
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
            echo "    -- first.look" && tail -n 25 "$work/first.look" | cut -c1-250 | head -c 1500 | sed 's/^/    /'
            [ "$good" != 0 ] || break
        }
    done
    [ "$good" = "$rounds" ] && verdict=ok || verdict=FAIL
    sum_up "capsule, $np ranks, stopped and resumed" "$verdict, $good of $rounds"
done

# ---- a rank dies, and the job goes on from its newest checkpoint -----------------------------------------
under_mend() { # NAME [OPTION…]: the program as a job of mend run, in the folder NAME
    local name=$1; shift
    run "$name" timeout -k 2 60 "$build/bin/mend" run -n 2 "$@" --every 1 --dir "$work/$name" -- "${program[@]}"
}
strike() { # NAME, number: a rank, by the number's parity, some time after the first complete version, by the number
    local victims
    for _ in $(seq 1 150); do grep -qs checkpoint.commit "$work/$1/events.jsonl" && break; sleep 0.1; done
    grep -qs checkpoint.commit "$work/$1/events.jsonl" || { echo "no version was complete in 15 s" >"$work/strike"; return; }
    sleep "0.$(printf %02d $(($2 * 37 % 90)))"
    mapfile -t victims < <(pgrep -f "^[^ ]*capsule.openmpi .*$work/on_device ")
    if [ "$1" = place ]; then # not a spare
        mapfile -t victims < <(for r in 0 1; do grep "\"rank\":$r,\"event\":\"recover.playing\"" "$work/$1/events.jsonl" | tail -n 1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'; done)
    fi
    kill -9 "${victims[$(($2 % 2))]}" && echo "killed ${victims[$(($2 % 2))]}" >"$work/strike"
}
again() { # NAME: what says that the job went on from a version, and did not begin anew
    case $1 in
        place) [ "$(grep -c '"how":"resumed"' "$work/$1/events.jsonl")" -ge 2 ] && ! grep -qs '"run.launch","launch":1' "$work/$1/events.jsonl" ;;
        *) grep -qs '"run.launch","launch":1' "$work/$1/events.jsonl" && grep -qs 'run.torn_down.*"version":[1-9]' "$work/$1/events.jsonl" ;;
    esac
}
with_kills() { # what, NAME, OPTION…
    local what=$1 name=$2 good=0 done=0 n start=$SECONDS; shift 2
    for n in $(seq 1 "$kills"); do
        in_time || break
        rm -rf "${work:?}/$name" "$work/strike"
        strike "$name" "$n" & striker=$!
        under_mend "$name" "$@"
        wait "$striker" 2>/dev/null
        done=$((done + 1))
        verdict="FAIL: $(cat "$work/strike" 2>/dev/null)"
        grep -q killed "$work/strike" 2>/dev/null && verdict=$(right "$name")
        [ "$verdict" != ok ] || again "$name" || verdict="FAIL: it did not go on in the way it should"
        if [ "$verdict" = ok ]; then good=$((good + 1)); else
            say "$what, round $n" "$verdict" "$name"
            [ $good != 0 ] || [ $done -lt 3 ] || break
        fi
    done
    [ "$good" = "$kills" ] && verdict=ok || verdict=FAIL
    sum_up "$what" "$verdict, $good right of $done, $kills wanted, $((SECONDS - start)) s"
}
in_time || finish
np=2 program[2]=1500
for library in "${libraries[@]}"; do # what the launcher of mend run gives to the program is not all that mpirun gives
    program[1]=$library
    run native launch "${program[@]}"
    cp "$work/native.out" "$work/native.2"
    under_mend whole --no-online
    verdict=$(right whole)
    [ "$verdict" != ok ] || break
done
say "mend run --no-online, uninterrupted" "$verdict" whole
[ "$verdict" = ok ] && [[ $parts = *relaunch* ]] && with_kills "mend run --no-online, a rank killed" job --no-online
[[ $parts = *place* ]] && in_time || finish
under_mend whole --spares 1
say "mend run, uninterrupted" "$(right whole)" whole
with_kills "mend run, a rank killed, in place" place --spares 1
finish
