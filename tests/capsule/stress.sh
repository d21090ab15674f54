#!/usr/bin/env bash
# stress.sh TRIALS SEED [lammps]: random checkpoints and resumes. Each trial takes a program, an MPI to start on, a
# random moment of the run at which `mend checkpoint --stop` is asked for, and an MPI to resume on, and
# compares what is printed with an undisturbed run. On a failure the seed and the folder are kept.
# CAMPAIGN_CACHE: a folder where the outputs of undisturbed runs are kept for other calls, also at the same time.
# `lammps`: with Debian 13's LAMMPS as the only program, in the root of tests/programs (77 if there is none).
set -uo pipefail
trials=$1 program=${3:-}; RANDOM=$2
if [ "$program" = lammps ] && [ -z "${MEND_ENTERED_ROOT:-}" ]; then
    env=$(cd "$MEND_SOURCE/.env" 2>/dev/null && pwd -P) root=
    for ready in "$env"/programs-*/ready; do [ -e "$ready" ] && root=${ready%/ready}/root; done
    [ -n "$root" ] || { echo "no root with LAMMPS here: tests/programs/try makes one"; exit 77; }
    unset TMPDIR MEND_ENV MEND_ENV_ENTERED OPAL_PREFIX PRTE_PREFIX PMIX_PREFIX
    MEND_ENTERED_ROOT=1 PATH=/usr/bin:/usr/sbin exec "$MEND_SOURCE/tests/programs/enter" "$root" "$MEND_SOURCE" "$env" "$MEND_BUILD" -- \
        "$MEND_SOURCE/env/run" bash "$MEND_SOURCE/tests/capsule/stress.sh" "$@"
fi
build=$MEND_BUILD mend=$MEND_BUILD/bin/mend tests=$MEND_BUILD/tests/capsule
. "$(dirname "$0")/scratch.sh"
trap 'cat "$work.stacks"; rm -f "$work.stacks"' EXIT # $work is kept after a failure
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive
mpis=(openmpi) abis=(""); [ -x "$build/lib/mend/capsule.mpich" ] && mpis+=(mpich) && abis+=(.mpich)
chapters=()
for c in rma io comms p2p coll topo types env; do for m in "${abis[@]}"; do chapters+=("chapter-$c$m"); done; done
export OMPI_MCA_osc=^ucx CHAPTER_FILE=$work/chapter
launch() { # MPI ranks words…
    local mpi=$1 np=$2 stacks=${stacks:-$work.stacks}; shift 2
    case $mpi in
        openmpi) MEND_TEST_STACKS=$stacks within "${limit:-200}" mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) MEND_TEST_STACKS=$stacks within "${limit:-200}" mpirun.mpich -n "$np" "$@" ;;
    esac
}
other() { # MPI: the reference from the other one
    local other=$tests/anything mpi=openmpi
    [ "$1" = mpich ] || { other+=.mpich mpi=mpich; }
    stacks=$work/reference.stacks limit=60 launch $mpi "$np" "$other" "${words[@]:1}" >"$key.all" 2>/dev/null
    shown "$key.all" >"$key"
    is_whole && return
    echo "neither library gets through ${words[*]##*/} at $np ranks: compared with an undisturbed run in the capsule"
    launch "$1" "$np" "$build/lib/mend/capsule.$1" "${words[@]}" >"$key.all" 2>/dev/null
    shown "$key.all" >"$key"
}
is_whole() { tail -n 1 "$key" | grep ', ok$' >/dev/null; }
shown() { # output…: what must be equal
    if [ "$program" = lammps ]; then
        cat "$@" | sed -n '/Step  /,/Loop time/p' | grep -v Loop; cat "$work/final.txt"
    else
        cat "$@" | sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g; s/([0-9]{6}\.[0-9]{6})[0-9]+/\1/g'
    fi
}
if [ "$program" = lammps ]; then
    export OMP_NUM_THREADS=1 HOME=/tmp LC_ALL=C PMIX_MCA_pcompress_base_silence_warning=1
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    cd "$work" || exit 1
    sed 's/^run.*/run 1500\nwrite_dump all custom final.txt id x y z vx vy vz modify sort id format float %20.15g/' \
        /usr/share/lammps/examples/melt/in.melt >in.melt
fi
keep() { local t; [ -e "$CAMPAIGN_CACHE/${1##*/}" ] || { t=$(mktemp "$CAMPAIGN_CACHE/.XXXXXX") && cp "$1" "$t" && mv "$t" "$CAMPAIGN_CACHE/${1##*/}"; }; }
bad=0 taken=0
for ((t = 1; t <= trials; t++)); do
    np=$((RANDOM % 3 + 2)) one=$((RANDOM % 3 + 1))
    which=$((RANDOM % 10))
    [ -z "$program" ] || which=$program
    case $which in
        lammps) words=("$(command -v lmp)" -in in.melt) ;;
        0) np=4 words=("$tests/heat2d" 200 600) ;;
        1) np=4 words=("$tests/inflight" 60) ;;
        2) np=2 words=("$tests/omp" 400) ;;
        3) words=("$tests/moments" 300 "$one") ;;
        4) words=("$build/apps/heat" -m 4 -s 3000 -r 300) ;;
        5) np=$((np / 2 * 2)) words=("$build/apps/md" -c 4 -s 400 -t 20) ;; # it divides its cells
        6 | 7) words=("$tests/${chapters[RANDOM % ${#chapters[@]}]}" 12 60) ;;
        *) words=("$tests/anything${abis[RANDOM % ${#abis[@]}]}" 800 $((RANDOM % 50 + 1)) "$work/data") ;;
    esac
    a=${mpis[RANDOM % ${#mpis[@]}]} b=${mpis[RANDOM % ${#mpis[@]}]}
    key=$work/$(printf '%s_' "$np" "${words[@]##*/}") native=openmpi
    case ${words[0]} in *.mpich) native=mpich ;; esac
    if [ -s "${CAMPAIGN_CACHE:-$work}/${key##*/}" ]; then
        [ -s "$key" ] || cp "$CAMPAIGN_CACHE/${key##*/}" "$key"
    else
        case $key in *anything*) longest=60 ;; *) longest=600 ;; esac
        stacks=$work/reference.stacks limit=$longest launch $native "$np" "${words[@]}" >"$key.all" 2>/dev/null </dev/null # what hangs is not ours
        shown "$key.all" >"$key"
    fi
    # some seeds are too much for one of the libraries itself, it hangs; the other prints the same
    case $key in *anything*) is_whole || other "$native" ;; esac
    [ -z "${CAMPAIGN_CACHE:-}" ] || keep "$key"
    dir=$work/job.$t; rm -rf "$dir"; mkdir -m 700 "$dir"
    pause=0.$((RANDOM % 900 + 100))
    rm -f "$work/final.txt"
    MEND_CAPSULE_DIR=$dir launch "$a" "$np" "$build/lib/mend/capsule.$a" "${words[@]}" >"$dir.1" 2>"$dir.e1" </dev/null &
    job=$!
    sleep "$pause"
    for ((i = 0; i < 600; i++)); do [ -d "$dir/versions" ] && break; sleep 0.05; done
    "$mend" checkpoint "$dir" --stop --timeout 150 >"$dir.c" 2>&1; rc=$?
    wait $job
    : >"$dir.2"; how="ended before it could be asked"
    if [ $rc = 0 ]; then
        taken=$((taken + 1)) how="$a -> $b, $(cat "$dir.c")"
        launch "$b" "$np" "$build/lib/mend/capsule.$b" --restart "$dir" >"$dir.2" 2>"$dir.e2" </dev/null
    fi
    if [ -s "$key" ] && cmp -s "$key" <(shown "$dir.1" "$dir.2"); then echo "ok $t: $np ranks, ${words[*]##*/} at ${pause} s, $how"
    else echo "FAIL $t: $np ranks, ${words[*]##*/} at ${pause} s, $how"; cat "$dir.1" "$dir.2" "$key"; tail -n 3 "$dir.c" "$dir.e1" "$dir.e2" 2>/dev/null; cat "$dir/events.jsonl"; bad=$((bad + 1)); continue; fi
    rm -rf "$dir" "$dir".*
done
echo "$trials trials by seed $2, $taken checkpoints and resumes, $bad failures"
[ $bad = 0 ] && rm -rf "$work"
exit $((bad > 0))
