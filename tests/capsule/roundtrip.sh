#!/usr/bin/env bash
# roundtrip.sh FIRST NP AT PROGRAM ARGS…: a program, uninterrupted, against the same in the capsule.
#
# 1. The program's own MPI runs it natively: the reference. A program of the standard's ABI has none: MPICH runs the same
#    source, or $REFERENCE is the reference.
# 2. In the capsule on FIRST (openmpi or mpich): uninterrupted; with a checkpoint; checkpoint and stop.
# 3. From that image on each MPI: what was printed before and after must be the reference, byte for byte
#    (set ROUND=1 for programs whose sums depend on the library's order of addition: 10 digits).
set -uo pipefail
first=$1 np=$2 at=$3; shift 3
build=$MEND_BUILD
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMP_WAIT_POLICY=passive OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
limit="within ${LIMIT:-300}"
launch() { # MPI command…
    local mpi=$1; shift
    case $mpi in
        openmpi) $limit mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) $limit mpirun.mpich -n "$np" "$@" ;;
    esac
}
export MEND_CAPSULE_KEEP=1 SYSTEM_DIR=$work
capsule() { local mpi=$1; shift; launch "$mpi" "$build/lib/mend/capsule.$mpi" "$@"; }
same() {
    if [ -n "${ROUND:-}" ]; then sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g; s/([0-9]{6}\.[0-9]{6})[0-9]+/\1/g' "$1" "$2" >/dev/null
        cmp -s <(sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g; s/([0-9]{6}\.[0-9]{6})[0-9]+/\1/g' "$1") <(sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g; s/([0-9]{6}\.[0-9]{6})[0-9]+/\1/g' "$2")
    else cmp -s "$1" "$2"; fi
}
fail=0
check() { # what, file, errors
    if [ -s "$work/native" ] && same "$work/native" "$2"; then echo "ok    $1"
    else echo "FAIL  $1"; diff "$work/native" "$2" | head -5; tail -5 "$3"; fail=1; fi
}
native=openmpi own=$1; case $1 in *.mpich) native=mpich ;; *.standard) native=mpich own=${1%.standard}.mpich ;; esac
if [ -n "${REFERENCE:-}" ]; then echo "$REFERENCE" >"$work/native"
else launch "$native" "$own" "${@:2}" >"$work/native" 2>"$work/e0"; fi
capsule "$first" "$@" >"$work/plain" 2>"$work/e1"
check "on $first, uninterrupted" "$work/plain" "$work/e1"
MEND_CAPSULE_AT=$at MEND_CAPSULE_DIR=$work/on capsule "$first" "$@" >"$work/goon" 2>"$work/e2"
check "on $first, checkpoint at $at and on" "$work/goon" "$work/e2"
ls "$work"/on/versions/*.img >/dev/null 2>&1 || { echo "FAIL  no checkpoint was taken"; fail=1; }
MEND_CAPSULE_AT=$at MEND_CAPSULE_DIR=$work/img MEND_CAPSULE_EXIT=1 capsule "$first" "$@" >"$work/part1" 2>"$work/e3"
for second in openmpi mpich; do
    [ -x "$build/lib/mend/capsule.$second" ] || continue
    capsule "$second" --restart "$work/img" >"$work/part2" 2>"$work/e4"
    [ -s "$work/part2" ] || echo "nothing after the restart" >>"$work/part2"
    cat "$work/part1" "$work/part2" >"$work/whole"
    check "on $first, resumed on $second" "$work/whole" "$work/e4"
done
exit $fail
