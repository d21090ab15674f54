#!/usr/bin/env bash
# border.sh PROGRAM RESTARTS NP [KIND]: a job that crosses the border of the halves all the time is saved, stopped and
# resumed again and again, on each MPI in turn. An image that had kept an address of the lower half would crash.
set -uo pipefail
count=$2 np=$3 build=$MEND_BUILD program=$MEND_BUILD/tests/capsule/$1
. "$(dirname "$0")/scratch.sh"; cd "$work" || exit 1
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 MEND_CAPSULE_DIR=$work/job MEND_CAPSULE_KEEP=1
export MEND_CAPSULE_EVERY=0.1 MEND_CAPSULE_EXIT=1
mpis=(openmpi); [ -x "$build/lib/mend/capsule.mpich" ] && mpis+=(mpich)
capsule() { # MPI words…
    local m=$1; shift
    case $m in
        openmpi) within 100 mpirun.openmpi --oversubscribe -n "$np" "$build/lib/mend/capsule.openmpi" "$@" ;;
        mpich) within 100 mpirun.mpich -n "$np" "$build/lib/mend/capsule.mpich" "$@" ;;
    esac >>"$work/out" 2>>"$work/err"
}
failed() { echo "FAIL  $1"; tail -n 5 "$work/err"; [ -n "${KEEP_FAILED:-}" ] && cp -r "$work" "$KEEP_FAILED"; exit 1; }
images() { ls "$work"/job/versions/*.img 2>/dev/null; }
capsule openmpi "$program" ${4:+"$4"} || failed "the first launch"
before=$(images)
for ((i = 1; i <= count; i++)); do
    m=${mpis[i % ${#mpis[@]}]}
    capsule "$m" --restart "$work/job" || failed "restart $i on $m"
    now=$(images)
    [ "$now" = "$before" ] && failed "restart $i on $m saved nothing"
    before=$now
done
touch enough
MEND_CAPSULE_EVERY=0 MEND_CAPSULE_EXIT=0 capsule openmpi --restart "$work/job" || failed "the last restart"
[ "$(cat "$work/out")" = "border: enough" ] || { cat "$work/out"; failed "the output"; }
echo "$count restarts"
