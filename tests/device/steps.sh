#!/usr/bin/env bash
# steps.sh: what the GPU's driver does for a checkpoint of a process, step by step, and what the process looks like from
# outside after each. A tool for who works on images of CUDA programs, and no test. Exit code 77: there is no GPU.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ls /dev/nvidia0 >/dev/null 2>&1 || { echo "SKIP: no GPU (/dev/nvidia0)"; exit 77; }
work=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
cc -O1 -o "$work/steps" "$here/steps.c" -ldl && cc -O1 -shared -fPIC -o "$work/trace.so" "$here/trace.c" -ldl || exit 1
mkfifo "$work/in"
"$work/steps" victim "${1:-64}" <"$work/in" >"$work/out" 2>&1 &
pid=$!
exec 8>"$work/in"
sleep 3
look() {
    echo "  -- after $1: threads (name, state, system call), files, mappings of the driver's devices"
    for t in /proc/"$pid"/task/*; do
        echo "    $(cat "$t/comm") | $(sed -n 's/^State:\t//p' "$t/status") | $(cut -d' ' -f1-5 "$t/syscall" 2>/dev/null)"
    done
    for f in /proc/"$pid"/fd/*; do echo "    fd ${f##*/} $(readlink "$f") $(sed -n 's/^flags:\t//p' /proc/"$pid"/fdinfo/"${f##*/}")"; done | grep -v ' /dev/pts\|/dev/null'
    grep -c nvidia /proc/"$pid"/maps | sed 's/^/    mappings with nvidia in their name: /'
    grep "cuda-" /proc/net/unix | sed 's/^/    unix: /'
    ls -l /proc/"$pid"/map_files 2>/dev/null | grep -c 'memfd\|/dev/shm' | sed 's/^/    mappings of shared memory: /'
}
turn() { echo "== $1"; LD_PRELOAD=$work/trace.so "$work/steps" "$@" 2>&1 | grep -v 'trace: .*/proc/\(self\|sys\|driver\|devices\|cpuinfo\|modules\|[0-9]*/maps\|stat\)\|trace: read' | tail -n 60; }
look start
for s in state thread lock; do turn "$s" "$pid"; done
look lock
turn checkpoint "$pid"; turn state "$pid"
look checkpoint
turn restore "$pid"; turn state "$pid"; turn unlock "$pid"; turn state "$pid"
look unlock
sleep 1
exec 8>&-
wait "$pid"
echo "victim ends with $?"
tail -n 3 "$work/out"
