#!/usr/bin/env bash
# chain.sh RESTARTS NP: a job that is saved, stopped and resumed again and again, on each MPI in turn. What it
# prints is that of an undisturbed run; its images do not grow.
set -uo pipefail
count=$1 np=$2 build=$MEND_BUILD program=$MEND_BUILD/tests/capsule/heat2d
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 MEND_CAPSULE_DIR=$work/job MEND_CAPSULE_EXIT=1 MEND_CAPSULE_AT=10 MEND_CAPSULE_KEEP=1
mpis=(openmpi); [ -x "$build/lib/mend/capsule.mpich" ] && mpis+=(mpich)
capsule() { # MPI words…
    local m=$1; shift
    case $m in
        openmpi) within 200 mpirun.openmpi --oversubscribe -n "$np" "$build/lib/mend/capsule.openmpi" "$@" ;;
        mpich) within 200 mpirun.mpich -n "$np" "$build/lib/mend/capsule.mpich" "$@" ;;
    esac
}
size() { ls -l "$work"/job/versions/*-r0-* 2>/dev/null | awk '{ print $5 }' | tail -n 1; }
round() { sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g; s/([0-9]{6}\.[0-9]{6})[0-9]+/\1/g' "$@"; }
steps=$((10 * (count + 3)))
within 200 mpirun.openmpi --oversubscribe -n "$np" "$program" 200 $steps >"$work/native" 2>/dev/null
capsule openmpi "$program" 200 $steps >"$work/out" 2>"$work/err"
first=$(size)
for ((i = 1; i <= count; i++)); do
    m=${mpis[i % ${#mpis[@]}]}
    capsule "$m" --restart "$work/job" >>"$work/out" 2>>"$work/err" || { echo "FAIL  restart $i on $m"; tail -n 3 "$work/err"; exit 1; }
done
last=$(size) files=$(ls "$work/job/versions" | wc -l)
MEND_CAPSULE_EXIT=0 MEND_CAPSULE_AT=0 capsule openmpi --restart "$work/job" >>"$work/out" 2>>"$work/err"
echo "$count restarts: image of rank 0 $first bytes at first, $last at last; $files files"
cmp -s <(round "$work/native") <(round "$work/out") || { echo "FAIL  the output differs"; diff "$work/native" "$work/out" | head -5; exit 1; }
[ "$files" = "$np" ] && [ -n "$first" ] && [ "$last" -le $((first + first / 50 + 65536)) ] || { echo "FAIL  it grows"; exit 1; }
