#!/usr/bin/env bash
# chapter.sh FIRST NP AT ROUNDS PROGRAM: a chapter program of either ABI against its native run: in the capsule on FIRST, without
# a checkpoint, with one, and resumed from it on each MPI. AT: at which collective the image is taken; `rand` takes several
# from the seed SEED. Files that the program writes are put back before each resume.
set -uo pipefail
first=$1 np=$2 at=$3 rounds=$4 program=$5
build=$MEND_BUILD
. "$(dirname "$0")/scratch.sh"
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx MEND_CAPSULE_KEEP=1 CHAPTER_FILE=$work/file
limit="within ${LIMIT:-120}"
launch() { # MPI command…
    local mpi=$1
    shift
    case $mpi in
        openmpi) $limit mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) $limit mpirun.mpich -n "$np" "$@" ;;
    esac
}
capsule() { local mpi=$1; shift; CHAPTER_IN_CAPSULE=1 launch "$mpi" "$build/lib/mend/capsule.$mpi" "$@"; }
fail=0
check() { # what, output, errors
    if [ "$(tail -1 "$2")" = "$want" ]; then
        echo "ok    $1"
    else
        echo "FAIL  $1: $(tail -1 "$2"), not $want"
        head -8 "$3"
        fail=1
    fi
}
native=openmpi
case $program in *.mpich) native=mpich ;; esac
launch $native "$program" "$rounds" >"$work/native" 2>"$work/e0"
want=$(tail -1 "$work/native")
case $want in *ok) ;; *) echo "FAIL  natively on $native: $want"; head -8 "$work/e0"; exit 1 ;; esac
capsule "$first" "$program" "$rounds" >"$work/plain" 2>"$work/e1"
check "on $first, uninterrupted" "$work/plain" "$work/e1"
RANDOM=${SEED:-1}
[ "$at" = rand ] && at="$((RANDOM % 60 + 2)) $((RANDOM % 200 + 2)) $((RANDOM % 400 + 2))"
for a in $at; do
    MEND_CAPSULE_AT=$a MEND_CAPSULE_DIR=$work/on capsule "$first" "$program" "$rounds" >"$work/goon" 2>"$work/e2"
    check "on $first, checkpoint at $a and on" "$work/goon" "$work/e2"
    MEND_CAPSULE_AT=$a MEND_CAPSULE_DIR=$work/img MEND_CAPSULE_EXIT=1 capsule "$first" "$program" "$rounds" >"$work/part" 2>"$work/e3"
    if ! ls "$work"/img/versions/*.img >/dev/null 2>&1; then
        [ "$(tail -1 "$work/part")" = "$want" ] && { echo "ok    on $first, fewer than $a collectives"; continue; }
        echo "FAIL  no image at $a"
        fail=1
        continue
    fi
    if grep -vxFf "$work/native" "$work/part" >"$work/foreign"; then
        echo "FAIL  stopped on $first at $a, printed what is not the program's: $(head -1 "$work/foreign")"
        fail=1
    fi
    mkdir -p "$work/files"
    cp "$work"/file* "$work/files" 2>/dev/null
    for second in openmpi mpich; do
        [ -x "$build/lib/mend/capsule.$second" ] || continue
        cp "$work"/files/file* "$work" 2>/dev/null
        capsule "$second" --restart "$work/img" >"$work/part2" 2>"$work/e4"
        cat "$work/part" "$work/part2" >"$work/both" # the last line may have been printed before the image
        check "on $first at $a, resumed on $second" "$work/both" "$work/e4"
    done
    rm -rf "$work/on" "$work/img" "$work/files"
done
exit $fail
