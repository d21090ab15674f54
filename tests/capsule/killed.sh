#!/usr/bin/env bash
# killed.sh TRIALS SEED NP: jobs whose images are incremental, written in the background and kept at two levels (by the
# seed) lose a rank to SIGKILL at a random moment, often in the middle of an image. If a version was complete the job
# must resume from one, on either MPI, and print the end of what an undisturbed run prints.
set -uo pipefail
trials=$1 np=$3; RANDOM=$2
build=$MEND_BUILD program=$MEND_BUILD/tests/capsule/churn
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1
mpis=(openmpi); [ -x "$build/lib/mend/capsule.mpich" ] && mpis+=(mpich)
capsule() { # MPI words…
    local m=$1; shift
    case $m in
        openmpi) within 200 mpirun.openmpi --oversubscribe -n "$np" "$build/lib/mend/capsule.openmpi" "$@" ;;
        mpich) within 200 mpirun.mpich -n "$np" "$build/lib/mend/capsule.mpich" "$@" ;;
    esac
}
within 200 mpirun.openmpi --oversubscribe -n "$np" "$program" 120 8 >"$work/native" 2>/dev/null
bad=0 kills=0 resumes=0 early=0
for ((t = 1; t <= trials; t++)); do
    dir=$work/job.$t a=${mpis[RANDOM % ${#mpis[@]}]} b=${mpis[RANDOM % ${#mpis[@]}]}
    export MEND_CAPSULE_DIR=$dir MEND_CAPSULE_AT=3 MEND_CAPSULE_AGAIN=2 MEND_CAPSULE_CHAIN=3
    export MEND_CAPSULE_INCREMENTAL=$((RANDOM % 2)) MEND_CAPSULE_BACKGROUND=$((RANDOM % 2))
    unset MEND_CAPSULE_LOCAL; [ $((RANDOM % 3)) = 0 ] && export MEND_CAPSULE_LOCAL=$work/node.$t
    wait_for=$((RANDOM % 6)) pause=0.$((RANDOM % 300 + 100))
    capsule "$a" "$program" 120 8 >"$dir.1" 2>"$dir.e1" & job=$!
    for ((i = 0; i < 3000; i++)); do
        [ "$(ls "$dir/versions" "$work/node.$t"/* 2>/dev/null | grep -c img)" -gt $((wait_for / 2)) ] && break
        sleep 0.02
    done
    sleep "$pause"
    mapfile -t victims < <(for p in $(pgrep -f "^$build/lib/mend/capsule.*churn 120 8"); do
        grep -qazs "^MEND_CAPSULE_DIR=$dir\$" "/proc/$p/environ" && echo "$p"; done) # not those of another test
    [ ${#victims[@]} -gt 0 ] && kill -9 "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null && kills=$((kills + 1))
    wait $job 2>/dev/null
    complete=$(grep -c checkpoint.commit "$dir/events.jsonl" 2>/dev/null)
    unset MEND_CAPSULE_AT MEND_CAPSULE_AGAIN
    capsule "$b" --restart "$dir" >"$dir.2" 2>"$dir.e2"; rc=$?
    what="$a -> $b, incremental $MEND_CAPSULE_INCREMENTAL, background $MEND_CAPSULE_BACKGROUND, local ${MEND_CAPSULE_LOCAL:+yes}"
    if [ $rc = 0 ] && tail -n "$(wc -l <"$dir.2")" "$work/native" | cmp -s - "$dir.2"; then resumes=$((resumes + 1))
    elif [ "$complete" = 0 ] && grep -q "no complete version\|that all ranks have" "$dir.e2"; then early=$((early + 1))
    else echo "FAIL $t: $what, $complete versions were complete"; tail -n 4 "$dir.e2" "$dir.2" 2>/dev/null; ls "$dir/versions"; bad=$((bad + 1)); fi
    rm -rf "$dir" "$dir".* "$work/node.$t"
done
echo "$trials trials by seed $2 at $np ranks: $kills kills, $resumes resumed, $early killed before the first version, $bad failures"
exit $((bad > 0))
