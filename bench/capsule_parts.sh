#!/usr/bin/env bash
# What a call through the capsule costs by itself, in ns: one rank natively and in the capsule, in turns, the lowest of all.
# No targets: the rows account for those of capsule.sh.
set -uo pipefail
program=$MEND_BUILD/bench/programs/parts work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
run() { timeout -k 5 120 mpirun.openmpi -n 1 "$@" 2>/dev/null; }
row() { # name value baseline
    awk -v n="$1" -v v="$2" -v b="$3" 'BEGIN {
        printf "%-34s %10.1f ns  native %10.1f  more %7.1f ns (no target)\n", n, v, b, v - b
        printf "{\"name\":\"%s\",\"value\":%g,\"unit\":\"ns\",\"baseline\":%g,\"ratio\":%.4f,\"target\":\"\",\"ok\":true}\n", n, v, b, (b > 0 ? v / b : 0) >> ENVIRON["MEND_BENCH_OUT"] }'
}
"$program" machine >"$work/machine"
for i in 1 2 3; do
    run "$program" >>"$work/native"
    MEND_CAPSULE_DIR=$work/job run "$MEND_BUILD/lib/mend/capsule.openmpi" "$program" >>"$work/capsule"
done
lowest() { awk -v k="$1" '$1 == k && (!n++ || $2 < least) { least = $2 } END { print n ? least : 0 }' "$2"; }
echo "the thread pointer is set $(awk '$1 == "by_instruction" { print $2 ? "by an instruction" : "by a system call" }' "$work/machine")"
row capsule.part.thread_pointer_twice "$(lowest set_twice "$work/machine")" 0
row capsule.part.two_system_calls "$(lowest set_twice_by_call "$work/machine")" 0
for part in barrier allreduce8 bcast8 iprobe send_recv irecv_send_wait waitall64; do
    c=$(lowest $part "$work/capsule") n=$(lowest $part "$work/native")
    [ "$c" != 0 ] && [ "$n" != 0 ] || { echo "capsule.part.$part: did not run"; exit 1; }
    row capsule.part.$part "$c" "$n"
done
