#!/usr/bin/env bash
# often.sh MPI VERSIONS PROGRAM HOW [RANKS]: a program with threads, which goes on until it is told to end (until.h).
#
# 1. On MPI, with 200 checkpoints a second wanted: until there are so many versions. The output is that of a native run with
#    as many rounds, and no checkpoint is given up while the program runs.
# 2. Stopped by a checkpoint at any moment, and resumed on each MPI, with the checkpoints again: the same.
set -uo pipefail
first=$1 versions=$2 program=$3 how=$4 np=${5:-2}
. "$(dirname "$0")/../scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMP_WAIT_POLICY=passive
launch() { # MPI command…
    local mpi=$1; shift
    case $mpi in
        openmpi) within 120 mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) within 120 mpirun.mpich -n "$np" "$@" ;;
    esac
}
capsule() { # MPI folder words…
    local mpi=$1 dir=$2; shift 2
    launch "$mpi" env MEND_CAPSULE_EVERY=0.005 MEND_CAPSULE_DIR="$dir" "$MEND_BUILD/lib/mend/capsule.$mpi" "$@"
}
native=openmpi; case $program in *.mpich) native=mpich ;; esac
count() { cat "$1/events.jsonl" 2>/dev/null | grep -c "$2"; }
fail() { echo "FAIL  $*"; tail -n 5 "$work"/*.err; exit 1; }
until_made() { # folder, versions
    while [ "$(count "$1" checkpoint.commit)" -lt "$2" ] && kill -0 $job 2>/dev/null; do sleep 0.02; done
}
check() { # what, output, folder
    local rounds; rounds=$(sed -n 's/.*: \([0-9]*\) rounds,.*/\1/p' "$2")
    [ -n "$rounds" ] || fail "$1: no result after $(count "$3" checkpoint.commit) versions"
    launch "$native" "$program" "$how" "$rounds" >"$work/native" 2>"$work/native.err"
    [ -s "$work/native" ] && cmp "$work/native" "$2" || fail "$1: the output differs"
    grep '"checkpoint.given_up"' "$3/events.jsonl" | grep -v 'the job is ending' && fail "$1: a checkpoint was given up"
    [ "$(count "$3" checkpoint.commit)" -ge "$versions" ] || fail "$1: only $(count "$3" checkpoint.commit) versions"
    echo "ok    $1: $(count "$3" checkpoint.commit) versions"
}
capsule "$first" "$work/job" "$program" "$how" "$work/enough" >"$work/out" 2>"$work/job.err" & job=$!
until_made "$work/job" "$versions"
: >"$work/enough"; wait $job
check "$how on $first" "$work/out" "$work/job"
rm "$work/enough"
capsule "$first" "$work/stop" "$program" "$how" "$work/enough" >"$work/out" 2>"$work/stop.err" & job=$!
until_made "$work/stop" 3
echo stop >"$work/stop/new" && mv "$work/stop/new" "$work/stop/request"
wait $job
[ -s "$work/out" ] && fail "$how on $first: it did not stop"
for second in openmpi mpich; do
    [ -x "$MEND_BUILD/lib/mend/capsule.$second" ] || continue
    rm -rf "$work/copy" "$work/enough"; cp -a "$work/stop" "$work/copy"
    : >"$work/copy/events.jsonl"
    capsule "$second" "$work/copy" --restart "$work/copy" >"$work/out" 2>"$work/copy.err" & job=$!
    until_made "$work/copy" "$versions"
    : >"$work/enough"; wait $job
    check "$how on $first, resumed on $second" "$work/out" "$work/copy"
done
