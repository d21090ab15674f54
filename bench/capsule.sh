#!/usr/bin/env bash
# capsule.sh calls|image: the capsule against native MPI, in turns, the best of each: what disturbs a run makes it longer,
# never shorter; image writing against write(), restarts against read().
set -uo pipefail
work=$(mktemp -d /dev/shm/mend-bench.XXXXXX 2>/dev/null || mktemp -d); trap 'rm -rf "$work"' EXIT
programs=$MEND_BUILD/bench/programs
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
run() { timeout -k 5 300 mpirun.openmpi --oversubscribe -n 2 "$@" 2>/dev/null; }
capsule=$MEND_BUILD/lib/mend/capsule.openmpi
row() { # name value unit baseline target
    awk -v n="$1" -v v="$2" -v u="$3" -v b="$4" -v t="$5" 'BEGIN { r = b > 0 ? v / b : 0; ok = r > 0 && r <= t ? "true" : "false"
        printf "%-34s %12.4g %-3s native %12.4g ratio %.3f (target %.2f) %s\n", n, v, u, b, r, t, ok == "true" ? "ok" : "MISSED"
        printf "{\"name\":\"%s\",\"value\":%g,\"unit\":\"%s\",\"baseline\":%g,\"ratio\":%.4f,\"target\":%g,\"ok\":%s}\n", n, v, u, b, r, t, ok >> ENVIRON["MEND_BENCH_OUT"] }'
}
if [ "$1" = calls ]; then
    for i in 1 2 3 4 5 6 7; do # native and capsule in turns: what disturbs one of a pair disturbs the other
        run "$programs/calls" >"$work/n.$i"
        MEND_CAPSULE_DIR=$work/job run "$capsule" "$programs/calls" >"$work/c.$i"
    done
    best() { cat "$work/$1".* | awk -v k="$2" '$1 == k && (!n++ || $2 < least) { least = $2 } END { print n ? least : 0 }'; }
    for which in pingpong8:1.03 allreduce8:1.03 pingpong1M:1.01 waitall64:1.05 fetch_and_op8:1.5 locked_put8:5; do
        row "capsule.${which%:*}" "$(best c "${which%:*}")" ns "$(best n "${which%:*}")" "${which#*:}"
    done
    exit 0
fi
# images of 128 MiB a rank; the program times write() of as much, on both ranks at once as images are
images() { # so many of them after the program has timed write(): it goes on until it is told
    local n first=
    rm -f "$work/enough"
    MEND_CAPSULE_DIR=$work/img.$1 MEND_CAPSULE_EVERY=0.3 run "$capsule" "$programs/image" 128 "$work" >"$work/i.$1" & local runner=$!
    while kill -0 $runner 2>/dev/null; do
        n=$(grep -c '"checkpoint.commit"' "$work/img.$1/events.jsonl" 2>/dev/null)
        [ -s "$work/i.$1" ] && first=${first:-${n:-0}} && [ $((${n:-0} - first)) -ge "$2" ] && break
        sleep 0.05
    done
    touch "$work/enough"; wait $runner
    cat "$work/i.$1" >>"$work/i"
}
for i in 1 2 3; do
    images $i 5
    cat "$work/img.$i/events.jsonl" >>"$work/events"; rm -rf "$work/img.$i"
done
of() { grep '"checkpoint.commit"' "$work/events" | grep -o "\"$1\":[0-9.e-]*" | cut -d: -f2 | sort -g; }
resident=$(awk '/plain/{print $4}' "$work/i" | tail -1) write=$(of write | head -1) bytes=$(of bytes | head -1) stop=$(of stop | sed -n 2p)
# the same bytes: an image also holds stacks and what libraries have written
plain=$(awk '/plain/{print $2}' "$work/i" | sort -g | awk -v bytes="${bytes:-0}" 'NR == 1 {print $1 * bytes / 2 / (128 * 1024 * 1024)}')
row capsule.image_write "${write:-0}" s "${plain:-0}" 1.05
alone=$(awk '/plain/{print $6}' "$work/i" | sort -g | awk -v bytes="${bytes:-0}" 'NR == 1 {print $1 * bytes / 2 / (128 * 1024 * 1024)}')
echo "write() of as much into the pages of a file that was just removed: ${alone:-?} s, image $(awk -v a="${write:-0}" -v b="${alone:-0}" 'BEGIN { print (b > 0 ? a / b : "?") }') times that (no target: the versions before stay until an image is complete)"
row capsule.image_size $((${bytes:-0} / 2)) B "${resident:-0}" 1.02
row capsule.request_to_stop "${stop:-0}" s 0.1 1

rm -f "$work/enough"
# a restart, from opening the images until all memory is in its place and verified, against read() of the same files
MEND_CAPSULE_DIR=$work/read MEND_CAPSULE_AT=40 MEND_CAPSULE_EXIT=1 MEND_CAPSULE_KEEP=1 run "$capsule" "$programs/image" 128 "$work" >/dev/null
files=("$work"/read/versions/*.img); touch "$work/enough"
for i in 1 2 3; do MEND_CAPSULE_DIR=$work/read MEND_CAPSULE_KEEP=1 run "$capsule" --restart "$work/read" >/dev/null; done
load=$(grep '"event":"restart"' "$work/read/events.jsonl" | grep -o '"load":[0-9.e-]*' | cut -d: -f2 | sort -g | head -1)
plain=$(run "$programs/image" 0 "$work" "${files[@]}" | awk '/^read/ { print $2 }')
row capsule.restart_read "${load:-0}" s "${plain:-0}" 1.11 # 0.9 of the speed of read()
