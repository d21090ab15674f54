#!/usr/bin/env bash
# counts.sh [BUILD]: real kills of programs with data on a GPU, in the numbers that count, side by side and by seed:
#
#     views      25 runs of four ranks with a view on the GPU, two of them killed in each (device_views)
#     place      20 runs of an unmodified MPI program on the GPU under mend run: a rank killed, repaired in place
#     relaunch   20 runs of it with --no-online: a rank killed, launched again
#     resume     20 runs of it with one or two ranks: stopped by mend checkpoint --stop, resumed by mend restart
#     example    examples/gpu/heat.cu, built by nvcc if there is one: with and without a kill it prints the same sum
#
# Every result is compared bit for bit with one that the host computes. Each trial prints a line when it ends, the parts take
# turns, and no trial takes longer than MEND_COUNTS_LIMIT (60) seconds: then its processes are shown and killed. No trial begins
# later than that before the end, MEND_TEST_SECONDS (480). After each trial none of its processes may be left, and at the end no
# process and no memory on the device. Last comes a table, also if this script is told to end (SIGTERM).
#
#     MEND_COUNTS="views:25 place:20 relaunch:20 resume:20 example:1"   what, how often
#     MEND_COUNTS_JOBS   trials at a time: 3, or fewer with few cores
#     MEND_TEST_LOGS     a folder: what failed trials have left goes there, as failed.tar.gz
#     MEND_TEST_DRIVER   a stand-in of the driver, for a machine without a GPU
#
# Exit code: 0, 1, or 77: there is no GPU.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
fake=${MEND_TEST_DRIVER:-}

# ==== one trial: counts.sh --trial PART N, in a folder of its own ================================================
# By the variable that all of its processes inherit; not those that look for it.
members() { env -u MEND_COUNTS_ID grep -lazs "^MEND_COUNTS_ID=$MEND_COUNTS_ID\$" /proc/[0-9]*/environ | env -u MEND_COUNTS_ID sed 's|/proc/\([0-9]*\)/.*|\1|'; }
look() { # how its processes look from outside
    local p t
    for p in $(members); do
        grep -qazs counts.sh "/proc/$p/cmdline" && continue
        echo "  process $p: $(tr '\0' ' ' </proc/"$p"/cmdline | cut -c1-120)"
        for t in /proc/"$p"/task/*; do echo "    $(cat "$t/comm") $(sed -n 's/^State:\t//p' "$t/status") $(cut -d' ' -f1-2 "$t/syscall")"; done 2>/dev/null | sort | uniq -c | head -n 12
    done 2>/dev/null | head -n 60
}
stop() { # why
    look >looks 2>&1
    { echo "$1"; tail -n 6 err 2>/dev/null; } | cut -c1-400 >why
    echo "FAIL: $1"
    exit 1
}
in_time() { [ $SECONDS -lt $((MEND_COUNTS_LIMIT - 8)) ] || stop "not done in time: $doing"; }
ended() { # PID: wait for it, but not for ever; its exit code
    while kill -0 "$1" 2>/dev/null; do
        in_time
        sleep 0.05
    done
    wait "$1"
}
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { # PATTERN N: until so many events are there
    doing="waiting for $2 x $1"
    until [ "$(count "$1")" -ge "$2" ]; do
        in_time
        kill -0 "$runner" 2>/dev/null || stop "the job ended before $2 x $1"
        sleep 0.03
    done
}
begin() { # RANKS OPTION…
    local np=$1; shift
    "$mend" run -n "$np" --dir job -q --every 1s "$@" -- "${program[@]}" >got 2>err &
    runner=$!
}
since() { echo "$(((${EPOCHREALTIME/[.,]/} - $1) / 1000)) ms"; }
nap_by() { sleep "0.$(printf %03d $(($1 * 7919 % 900)))"; } # by the trial's number
pid_of() { # the process that is this rank now: in place, by the events; else by its environment
    local p
    if [ "$part" = place ]; then
        grep "\"rank\":$1,\"event\":\"recover.playing\"" job/events.jsonl | tail -n 1 | grep -o '"pid":[0-9]*' | grep -o '[0-9]*'
        return
    fi
    for p in $(members); do
        grep -qazs "^PMIX_RANK=$1\$" "/proc/$p/environ" && ! tr '\0' ' ' <"/proc/$p/cmdline" | grep -q -e ' --gpu ' && echo "$p"
    done | head -n 1 || : # the last one looked at need not be it
}
strike() { # a rank, by the trial's number
    local victim
    doing="looking for a rank"
    until victim=$(pid_of $((n % 2))) && [ -n "$victim" ]; do
        in_time
        sleep 0.02
    done
    kill -9 "$victim" 2>/dev/null || stop "no rank to kill"
    struck=${EPOCHREALTIME/[.,]/}
}
finish() { # RANKS: it ends well, with the right output
    local steps
    doing="waiting for its end"
    touch enough
    ended "$runner" || stop "mend ended with $?"
    steps=$(sed -n 's/^on_device: .* after \([0-9]*\) steps$/\1/p' got)
    [ -n "$steps" ] || stop "no output"
    "$on_device" --expect "$1" "$steps" >want
    cmp -s got want || stop "WRONG: $(head -c 100 got), not $(cat want)"
}
heat() { # NAME RANKS: its sum
    doing="heat, $1"
    local -a flags
    mapfile -t flags < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$top/share/launch/openmpi" "$top/share/launch/openmpi-one-node")
    mpirun.openmpi "${flags[@]}" -n "$2" ./heat 1024 400 >"$1" 2>"$1.err" &
    ended $! || true # the launcher's code says nothing when a rank was killed
    grep -q '400 steps on 4 ranks' "$1" || { tail -n 3 "$1.err" >>err; stop "heat, $1: $(head -c 100 "$1")"; }
}
example() {
    local nvcc cuda
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) && [ -z "$fake" ] || { echo "ok: skipped, no nvcc or no GPU"; return; }
    cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    doing="building heat"
    # shellcheck disable=SC2046
    "$nvcc" -O2 -c -o heat.o "$top/examples/gpu/heat.cu" -I"$top/include" $(pkg-config --cflags-only-I ompi-c) >>err 2>&1 || stop "nvcc: $(tail -n 1 err)"
    mpicc.openmpi heat.o -o heat -L"$build/lib" -Wl,-rpath,"$build/lib" -lmend -L"$cuda/lib64" -lcudart_static -lstdc++ -lpthread -ldl -lrt >>err 2>&1 ||
        stop "mpicc: $(tail -n 1 err)"
    MEND_FLOW_SPARES=0 heat calm 4
    MEND_FLOW_SPARES=1 MEND_FLOW_EVERY=20 HEAT_DIE="2 150" heat hit 5
    grep -q ' 1 repairs' hit || stop "no repair: $(head -c 100 hit)"
    [ "$(grep -o 'sum .*' calm)" = "$(grep -o 'sum .*' hit)" ] || stop "WRONG: $(cat calm hit)"
    echo "ok: $(grep -o 'sum .*' hit), with and without a kill"
}
trial() {
    part=$1 n=$2 doing="beginning" runner='' struck=0
    local start=${EPOCHREALTIME/[.,]/} first np=2
    case $part in
    views)
        doing="device_views"
        "$top/tests/harness/mpitest" --np 4 --spares 2 --timeout $((MEND_COUNTS_LIMIT - 12)) --env MEND_FLOW_SPARES=2 --env MEND_FLOW_EVERY=7 \
            --env MEND_STORE_DELTA="$([ $((n % 2)) = 0 ] && echo hash || echo off)" -- \
            "$build/tests/device_views" 2 "$n" ${MEND_COUNTS_KERNEL:+"$MEND_COUNTS_KERNEL"} >got 2>err &
        ended $! || stop "$(tail -n 1 got | cut -c1-200)"
        grep -q '^device_views: 0 words wrong.* 2 of 2 kills' got || stop "WRONG: $(grep '^device_views:' got)"
        echo "ok: 2 kills"
        return ;;
    example)
        example
        return ;;
    resume)
        np=$((1 + n % 2))
        begin $np --no-online ;;
    place) begin $np --spares 1 ;;
    relaunch) begin $np --no-online ;;
    esac
    if [ "$part" = place ]; then await '"level":"memory"' 2; else await checkpoint.commit 1; fi
    first=$(since "$start")
    nap_by "$n"
    case $part in
    place)
        strike
        await '"how":"resumed"' 2
        struck=$(since "$struck")
        finish $np
        [ "$(count '"event":"run.launch"')" = 1 ] || stop "it was launched again" ;;
    relaunch)
        strike
        await '"event":"run.launch"' 2
        await checkpoint.commit $(($(count checkpoint.commit) + 1)) # its ranks are there and go on
        struck=$(since "$struck")
        finish $np
        grep -q 'run.torn_down.*"version":[1-9]' job/events.jsonl || stop "it began anew" ;;
    resume)
        doing="mend checkpoint --stop"
        struck=${EPOCHREALTIME/[.,]/}
        "$mend" checkpoint --stop job >said 2>&1 &
        ended $! || stop "mend checkpoint --stop: $(tail -n 1 said)"
        doing="waiting for its stop"
        ended "$runner"
        [ ! -s got ] || stop "it ended instead of being stopped"
        touch enough
        "$mend" restart -q job >got 2>>err & runner=$!
        finish $np
        struck=$(since "$struck") ;;
    esac
    echo "ok: first version after $first, $(case $part in resume) echo stop to end ;; relaunch) echo kill to next version ;; *) echo kill to resumed ;; esac) $struck"
}
if [ "${1:-}" = --trial ]; then
    build=$MEND_COUNTS_BUILD mend=$build/bin/mend on_device=$MEND_COUNTS_PROGRAM
    program=("$on_device" "$MEND_COUNTS_LIBRARY" "$PWD/enough" ${MEND_COUNTS_KERNEL:+"$MEND_COUNTS_KERNEL"})
    if [ -n "$fake" ]; then
        mkdir dev && : >dev/nvidia0 && export MEND_FAKE_CHECKPOINT=$PWD/dev/nvidia0
    fi
    trial "$2" "$3"
    exit
fi

# ==== all of them ================================================================================================
build=$(cd "${1:-$top/build}" && pwd) || exit 1
[ -n "$fake" ] || ls /dev/nvidia0 >/dev/null 2>&1 || { echo "SKIP: no GPU (/dev/nvidia0)"; exit 77; }
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$top/env/run" "$0" "$build"
most=${MEND_TEST_SECONDS:-480} jobs=${MEND_COUNTS_JOBS:-}
if [ -z "$jobs" ]; then
    jobs=$(($(nproc) / 3))
    [ $jobs -le 3 ] || jobs=3
    [ $jobs -ge 1 ] || jobs=1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/mend-counts-XXXXXX")
export MEND_COUNTS_LIMIT=${MEND_COUNTS_LIMIT:-60} MEND_COUNTS_BUILD=$build MEND_COUNTS_KERNEL='' MEND_COUNTS_PROGRAM=$work/on_device
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
declare -A wanted=() good=() bad=()
for pair in ${MEND_COUNTS:-views:25 place:20 relaunch:20 resume:20 example:1}; do wanted[${pair%:*}]=${pair#*:}; done
keeper='' memory=''
stamp() { printf '%4d s  %s\n' "$SECONDS" "$1"; }

# ---- the driver, the kernel, and whether anything works at all ---------------------------------------------------
cp "$build/tests/capsule/on_device" "$work/on_device" || exit 1
export TMPDIR=$work
natively() { # LIBRARY KERNEL: the program without Mend
    local limit=25
    [ -z "$fake" ] || limit=$MEND_COUNTS_LIMIT
    timeout -k 2 "$limit" mpirun.openmpi --oversubscribe --bind-to none -n 2 "$work/on_device" "$1" 100 ${2:+"$2"} >"$work/native" 2>"$work/native.err" &&
        "$work/on_device" --expect 2 100 | cmp -s - "$work/native"
}
kernels() { # step.cu as machine code, which needs no compiler at run time; "": the host computes
    local nvcc sm
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
    sm=$(timeout 20 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
    [ -z "$nvcc" ] || ! timeout 60 "$nvcc" -O3 -arch="sm_${sm:-90}" -cubin -o "$work/step.cubin" "$here/step.cu" >"$work/nvcc.err" 2>&1 || echo "$work/step.cubin"
    echo
}
libraries=("$work/libcuda.so.1")
if [ -n "$fake" ]; then
    cp "$fake" "$work/libcuda.so.1"
    export MEND_DEVICE_DRIVER=$fake
else
    unset MEND_DEVICE_DRIVER
    . "$here/driver.sh"
    use_driver "$work/lib" "$build/lib/mend/capsule.openmpi" 2>"$work/driver"
    tail -n 3 "$work/driver"
    libraries=(${driver:+"$driver"} libcuda.so.1)
    timeout 20 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
    # A device that nobody has open is shut down, and its start takes seconds. No trial should wait for that.
    # shellcheck disable=SC2217
    sleep 100000 </dev/nvidia0 & keeper=$!
    disown "$keeper"
    sleep 1
    memory=$(device_memory)
fi
mapfile -t kernel < <(if [ -n "$fake" ]; then echo; else kernels; fi)
chosen=''
for k in "${kernel[@]}"; do
    for library in "${libraries[@]}"; do
        [ -z "$chosen" ] && natively "$library" "$k" && chosen=$library MEND_COUNTS_KERNEL=$k && stamp "natively right, as the host computes it: $library, ${k:-without a kernel}"
    done
done
[ -n "$chosen" ] || { echo "FAIL: the program does not run natively"; tail -n 5 "$work/native.err" "$work/nvcc.err" 2>/dev/null; [ -z "$keeper" ] || kill "$keeper"; exit 1; }
export MEND_COUNTS_LIBRARY=$chosen MEND_COUNTS_KERNEL

# ---- trials -----------------------------------------------------------------------------------------------------
finished() { # what is left of it: nothing
    local left='' i
    for ((i = 0; i < 40; i++)); do
        left=$(members)
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    # shellcheck disable=SC2086
    ps -o pid=,args= -p "$(echo $left | tr ' ' ,)" 2>/dev/null | cut -c1-150 >>"$1/looks"
    # shellcheck disable=SC2086
    kill -9 $left 2>/dev/null
    return 1
}
run_trial() { # PART N
    local folder=$work/$1.$2 begun=$SECONDS verdict
    mkdir "$folder" && cd "$folder" || return
    local MEND_COUNTS_ID=$1.$2.$$
    env MEND_COUNTS_ID="$MEND_COUNTS_ID" TMPDIR="$folder" timeout -k 6 "$MEND_COUNTS_LIMIT" "$here/counts.sh" --trial "$1" "$2" </dev/null >verdict 2>errors
    verdict=$(grep -a '^ok:\|^FAIL:' verdict | tail -n 1)
    [ -n "$verdict" ] || verdict="FAIL: it said nothing, $(tail -n 1 errors | cut -c1-150)"
    finished "$folder" || verdict="FAIL: processes were left behind; ${verdict}"
    cd "$work" || return
    case $verdict in ok:*) rm -rf "$folder" ;; *) find "$folder" -name '*.img' -delete 2>/dev/null ;; esac
    echo "$1 $verdict" >"$work/result.$1.$2"
    stamp "$(printf '%-8s %2d  %3d s  %s' "$1" "$2" $((SECONDS - begun)) "$(echo "$verdict" | cut -c1-220)")"
    [ "${verdict%%:*}" = ok ] || sed 's/^/            /' "$folder/why" 2>/dev/null | tail -n +2 | head -n 6
}
gather() {
    local part verdict f
    for part in "${!wanted[@]}"; do good[$part]=0 bad[$part]=0; done
    for f in "$work"/result.*; do
        [ -e "$f" ] || continue
        read -r part verdict <"$f"
        case $verdict in ok:*) good[$part]=$((good[$part] + 1)) ;; *) bad[$part]=$((bad[$part] + 1)) ;; esac
    done
}
middle() { # PART: the median of the last figure of its lines
    cat "$work/result.$1".* 2>/dev/null | sed -n 's/.* \([0-9]*\) ms$/\1/p' | sort -n | awk '{a[NR]=$1} END {if (NR) print a[int((NR+1)/2)] ", at most " a[NR]}'
}
sum() { local all=0 one; for one in "$@"; do all=$((all + one)); done; echo $all; }
sum_up() {
    local part failed=0 m apps
    gather
    echo "---- in short, after $SECONDS s, $jobs at a time"
    for part in views place relaunch resume example; do
        [ -n "${wanted[$part]:-}" ] || continue
        m=$(middle "$part")
        printf '%-10s %s right, %s wrong, %s wanted%s%s\n' "$part" "${good[$part]}" "${bad[$part]}" "${wanted[$part]}" \
            "$([ "$part" != views ] || echo "; two kills each: $((2 * good[$part])) kills")" "${m:+; ms: median $m}"
        [ "${good[$part]}" = "${wanted[$part]}" ] || failed=1
    done
    if [ -z "$fake" ]; then
        apps=$(timeout 20 nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader 2>/dev/null | wc -l)
        m=$(device_memory)
        echo "processes on the device: $apps; MiB in use before and after: $memory, $m"
        # shellcheck disable=SC2086
        [ "$apps" = 0 ] && [ "$(sum $m)" -le $(($(sum $memory) + 4)) ] || failed=1
    fi
    [ -z "$keeper" ] || kill "$keeper" 2>/dev/null
    if [ -n "${MEND_TEST_LOGS:-}" ] && compgen -G "$work/*/why" >/dev/null; then
        (cd "$work" && find . -path './*.[0-9]*' -type f -size -400k ! -name 'result.*' | tar czf "$MEND_TEST_LOGS/failed.tar.gz" -T - 2>/dev/null)
    fi
    [ $failed = 0 ] && { echo PASS; rm -rf "$work"; } || echo "FAIL; logs: $work"
    exit $failed
}
# shellcheck disable=SC2013,SC2317
cut_off() { # end what is running, and tell what was seen until now
    local p
    trap '' TERM INT
    for p in $(grep -lazs "^MEND_COUNTS_ID=.*\.$$\$" /proc/[0-9]*/environ | sed 's|/proc/\([0-9]*\)/.*|\1|'); do kill -9 "$p" 2>/dev/null; done
    stamp "told to end"
    sum_up
}
trap cut_off TERM INT
hopeless() { gather; [ "${bad[$1]}" -ge 4 ] && [ "${good[$1]}" = 0 ]; }
for n in $(seq 1 100); do
    for part in views place relaunch resume example; do
        [ "$n" -le "${wanted[$part]:-0}" ] || continue
        [ $((SECONDS + MEND_COUNTS_LIMIT + 10)) -lt "$most" ] || { stamp "the time is over: nothing begins any more"; break 2; }
        hopeless "$part" && continue
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do sleep 0.1; done
        run_trial "$part" "$n" &
    done
done
while [ -n "$(jobs -rp)" ]; do sleep 0.1; done
sum_up
