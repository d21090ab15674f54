# shellcheck shell=bash disable=SC2034,SC2154
# Shared by run and kills: reads their words, prepares the case's folder and runs it natively; the result is in $work/native.result.
name=$1 np=$2 first=$3 cases=$here/cases
shift 3
build=${MEND_BUILD:-$here/../../build} abi=openmpi ranks=any environment=() fail=0
. "$cases/$name"
work=$(mktemp -d)
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx MEND_CAPSULE_KEEP=1 HOME=/tmp LC_ALL=C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PMIX_MCA_pcompress_base_silence_warning=1 MEND_CAPSULE_ABI=$abi "${environment[@]}"
limit="timeout -k 5 ${LIMIT:-280}"
launch() { # MPI words…: with the MPI that Mend was built with
    local mpi=$1
    shift
    case $mpi in
        openmpi) "$here/../../env/run" $limit mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) "$here/../../env/run" $limit mpirun.mpich -n "$np" "$@" ;;
    esac
}
native() { # with Debian's own
    case $abi in
        openmpi) $limit /usr/bin/mpirun.openmpi --oversubscribe -n "$np" "${command[@]}" ;;
        mpich) $limit /usr/bin/mpirun.mpich -n "$np" "${command[@]}" ;;
    esac
}
capsule() { local mpi=$1; shift; launch "$mpi" "$build/lib/mend/capsule.$mpi" "$@"; }
fresh() { rm -rf "$work/$1"; cp -a "$work/start" "$work/$1"; cd "$work/$1" || exit 1; }
check() { # what, folder; its output is in that folder's `out`
    cd "$work/$2" && result out >"$work/$2.result" 2>/dev/null
    if cmp -s "$work/native.result" "$work/$2.result"; then
        echo "ok    $name, $np ranks, $1: $(wc -l <"$work/native.result") lines equal"
    else
        echo "FAIL  $name, $np ranks, $1"
        diff "$work/native.result" "$work/$2.result" | head -6
        tail -n 4 "$work/$2.err"
        fail=1
    fi
}
mkdir "$work/start" && cd "$work/start" || exit 1
prepare >"$work/prepare.log" 2>&1
# all runs use one folder's name after the other: a program may print its paths
fresh run
begun=${EPOCHREALTIME/./}
native >out 2>"$work/native.err" </dev/null
native_code=$? native_ms=$(((${EPOCHREALTIME/./} - begun) / 1000))
result out >"$work/native.result" 2>/dev/null
[ $native_code != 124 ] || { echo "FAIL  $name: natively it did not end in ${LIMIT:-280} s"; exit 1; }
[ $native_code = 0 ] || echo "note: natively it exits with $native_code"
[ -s "$work/native.result" ] || { echo "FAIL  $name: natively no result"; tail -n 5 "$work/prepare.log" out "$work/native.err"; exit 1; }
