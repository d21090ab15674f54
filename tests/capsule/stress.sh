#!/usr/bin/env bash
# stress.sh TRIALS SEED: random checkpoints and resumes. Each trial takes a program, an MPI to start on, a
# random moment of the run at which `mend checkpoint --stop` is asked for, and an MPI to resume on, and
# compares what is printed with an undisturbed run. On a failure the seed and the folder are kept.
set -uo pipefail
trials=$1; RANDOM=$2
build=$MEND_BUILD mend=$MEND_BUILD/bin/mend tests=$MEND_BUILD/tests/capsule
work=$(mktemp -d)
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive
mpis=(openmpi) abis=(""); [ -x "$build/lib/mend/capsule.mpich" ] && mpis+=(mpich) && abis+=(.mpich)
chapters=()
for c in rma io comms p2p coll topo types env; do for m in "${abis[@]}"; do chapters+=("chapter-$c$m"); done; done
export OMPI_MCA_osc=^ucx CHAPTER_FILE=$work/chapter
launch() { # MPI ranks words…
    local mpi=$1 np=$2; shift 2
    case $mpi in
        openmpi) timeout -k 5 200 mpirun.openmpi --oversubscribe -n "$np" "$@" ;;
        mpich) timeout -k 5 200 mpirun.mpich -n "$np" "$@" ;;
    esac
}
other() { # MPI: the reference from the other one
    local program=$tests/anything mpi=openmpi
    [ "$1" = mpich ] || { program+=.mpich mpi=mpich; }
    launch $mpi "$np" "$program" "${words[@]:1}" >"$key" 2>/dev/null
}
bad=0 taken=0
for ((t = 1; t <= trials; t++)); do
    np=$((RANDOM % 3 + 2)) one=$((RANDOM % 3 + 1))
    case $((RANDOM % 10)) in
        0) np=4 words=("$tests/heat2d" 200 600) ;;
        1) np=4 words=("$tests/inflight" 60) ;;
        2) np=2 words=("$tests/omp" 400) ;;
        3) words=("$tests/moments" 300 "$one") ;;
        4) words=("$build/apps/heat" -m 4 -s 400 -r 50) ;;
        5) np=$((np / 2 * 2)) words=("$build/apps/md" -c 4 -s 400 -t 20) ;; # it divides its cells
        6 | 7) words=("$tests/${chapters[RANDOM % ${#chapters[@]}]}" 12 60) ;;
        *) words=("$tests/anything${abis[RANDOM % ${#abis[@]}]}" 800 $((RANDOM % 50 + 1)) "$work/data") ;;
    esac
    a=${mpis[RANDOM % ${#mpis[@]}]} b=${mpis[RANDOM % ${#mpis[@]}]}
    key=$work/$(printf '%s_' "$np" "${words[@]##*/}") native=openmpi
    case ${words[0]} in *.mpich) native=mpich ;; esac
    [ -s "$key" ] || launch $native "$np" "${words[@]}" >"$key" 2>/dev/null
    # some seeds are too much for one of the libraries itself; the other prints the same
    case $key in *anything*) tail -n 1 "$key" | grep ', ok$' >/dev/null || other "$native" ;; esac
    dir=$work/job.$t; rm -rf "$dir"; mkdir -m 700 "$dir"
    pause=0.$((RANDOM % 900 + 100))
    MEND_CAPSULE_DIR=$dir launch "$a" "$np" "$build/lib/mend/capsule.$a" "${words[@]}" >"$dir.1" 2>"$dir.e1" &
    job=$!
    sleep "$pause"
    for ((i = 0; i < 600; i++)); do [ -d "$dir/versions" ] && break; sleep 0.05; done
    "$mend" checkpoint "$dir" --stop --timeout 150 >"$dir.c" 2>&1; rc=$?
    wait $job
    : >"$dir.2"; how="ended before it could be asked"
    if [ $rc = 0 ]; then
        taken=$((taken + 1)) how="$a -> $b, $(cat "$dir.c")"
        launch "$b" "$np" "$build/lib/mend/capsule.$b" --restart "$dir" >"$dir.2" 2>"$dir.e2"
    fi
    round() { sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g; s/([0-9]{6}\.[0-9]{6})[0-9]+/\1/g' "$@"; }
    if [ -s "$key" ] && cmp -s <(round "$key") <(cat "$dir.1" "$dir.2" | round); then echo "ok $t: $np ranks, ${words[*]##*/} at ${pause} s, $how"
    else echo "FAIL $t: $np ranks, ${words[*]##*/} at ${pause} s, $how"; cat "$dir.1" "$dir.2" "$key"; tail -3 "$dir.c" "$dir.e1" "$dir.e2" 2>/dev/null; cat "$dir/events.jsonl"; bad=$((bad + 1)); fi
    rm -rf "$dir" "$dir".*
done
echo "$trials trials by seed $2, $taken checkpoints and resumes, $bad failures"
[ $bad = 0 ] && rm -rf "$work"
exit $((bad > 0))
