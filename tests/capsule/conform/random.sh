#!/usr/bin/env bash
# random.sh SEED COUNT [LANES [SUMMARY]]: COUNT trials, LANES at a time. Each takes one of the programs of the conformance suite
# and of the chapters by its seed, stops it at random checkpoints on either MPI, resumes it on either, until it ends by itself.
# Each line that a rank says must be the one that it says uninterrupted on one of the two MPIs (error codes may differ between
# them). SUMMARY (a file): a line for each trial that was not ok, and the sums. KEEP=DIR keeps the folders of those.
# One trial again: random.sh SEED 1
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${MEND_ENV_ENTERED:-}" ] || exec "$MEND_SOURCE/env/run" bash "$0" "$@"
seed=$1 count=$2 lanes=${3:-1} summary=${4:-/dev/null}
export OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx MEND_CAPSULE_KEEP=1 CHAPTER_IN_CAPSULE=1
programs=()
for mpi in openmpi mpich; do
    programs+=("conform.$mpi")
    for face in H MPI F08; do programs+=("conform.$face.$mpi"); done
    dot=${mpi/#openmpi/} dot=${dot:+.$dot}
    for chapter in coll comms io p2p partitioned rma sessions topo types; do programs+=("chapter-$chapter$dot"); done
done
run() { # MPI folder command...: what each rank says goes behind what it has said before
    local launch=(mpirun.openmpi --oversubscribe) out=$2
    [ "$1" = mpich ] && launch=(mpirun.mpich)
    shift 2
    # shellcheck disable=SC2016  # the ranks' shells expand it
    within "${LIMIT:-120}" "${launch[@]}" -n 3 sh -c \
        'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec "$@" >>"$0/said.$rank" 2>>"$0/errors.$rank"' "$out" "$@" </dev/null >>"$out/launcher" 2>&1
}
# conform.MPI takes parts of the suite as arguments, and all without; the chapters take rounds
command_of() { case $1 in chapter-*) command=("$MEND_BUILD/tests/capsule/$1" 30) ;; *) command=("$MEND_BUILD/tests/capsule/$1") ;; esac; }
reference() { # program: uninterrupted on each MPI
    local mpi command
    command_of "$1"
    for mpi in openmpi mpich; do
        mkdir -p "$refs/$1/$mpi"
        CONFORM_FILE=$refs/$1/$mpi/file CHAPTER_FILE=$refs/$1/$mpi/file run $mpi "$refs/$1/$mpi" \
            "$MEND_BUILD/lib/mend/capsule.$mpi" "${command[@]}" || { echo "$1 does not run on $mpi"; return 1; }
    done
}
same() { # folder program rank
    paste -d $'\001' "$1/said.$3" "$refs/$2/openmpi/said.$3" "$refs/$2/mpich/said.$3" |
        awk -F $'\001' 'NF != 3 || ($1 != $2 && $1 != $3) {print NR ": " $1 " | " $2; bad = 1} END {exit bad}' >"$1/wrong.$3"
}
trial() { # seed: prints one line
    RANDOM=$1
    local program=${programs[RANDOM % ${#programs[@]}]} d=$work/$1 mpi code=0 stops=0 path="" at rank verdict=ok
    local command next
    command_of "$program"
    next=("${command[@]}")
    mkdir "$d"
    export CONFORM_FILE=$d/file CHAPTER_FILE=$d/file MEND_TEST_STACKS=$d/stacks
    while :; do
        mpi=openmpi at=$((RANDOM % (stops ? 150 : 60) + 1))
        ((RANDOM % 2)) && mpi=mpich
        path="$path $mpi"
        if [ $stops -ge 3 ]; then
            run $mpi "$d" "$MEND_BUILD/lib/mend/capsule.$mpi" "${next[@]}"; code=$?
            break
        fi
        MEND_CAPSULE_AT=$at MEND_CAPSULE_EXIT=1 MEND_CAPSULE_DIR=$d/image.$stops run $mpi "$d" "$MEND_BUILD/lib/mend/capsule.$mpi" "${next[@]}"; code=$?
        [ $code = 0 ] || break
        ls "$d/image.$stops"/versions/*.img >/dev/null 2>&1 || break # it has come to its end
        path="$path@$at"
        next=(--restart "$d/image.$stops") stops=$((stops + 1))
    done
    [ -s "$d/said.0" ] || verdict=SILENT
    for rank in 0 1 2; do same "$d" "$program" $rank || verdict=WRONG; done
    [ $code = 0 ] || verdict="FAILED($code)"
    [ $code = 124 ] || [ $code = 137 ] && verdict=HUNG
    echo "seed $1 $program:$path checkpoints $stops $verdict $([ $verdict = ok ] || head -qn1 "$d"/wrong.? | head -1 | cut -c1-150 | tr -d '\000')"
    if [ "$verdict" != ok ] && [ -n "${KEEP:-}" ]; then mkdir -p "$KEEP" && cp -r "$d" "$KEEP/"; fi
    rm -rf "$d"
}
if [ -n "${RANDOM_REFS:-}" ]; then # one trial, started below
    refs=$RANDOM_REFS work=$RANDOM_WORK
    MEND_TEST_HARNESS=$here/../../harness
    within() { "$MEND_TEST_HARNESS/within" "$@"; }
    trial "$seed"
    exit 0
fi
. "$here/../scratch.sh"
refs=$work/refs
for ((i = 0; i < count && i < 4 * ${#programs[@]}; i++)); do # only those that are needed
    RANDOM=$((seed + i))
    program=${programs[RANDOM % ${#programs[@]}]}
    [ -d "$refs/$program" ] || reference "$program" || exit 1
done
for program in "${programs[@]}"; do [ "$count" -lt 100 ] || [ -d "$refs/$program" ] || reference "$program" || exit 1; done
export RANDOM_REFS=$refs RANDOM_WORK=$work
seq "$seed" $((seed + count - 1)) | xargs -P "$lanes" -I{} bash "$here/random.sh" {} 1 | tee "$work/trials"
{
    grep -v ' ok *$' "$work/trials"
    awk '{for (i = 1; i < NF; i++) if ($i == "checkpoints") {n += $(i + 1); v = $(i + 2)} t++; bad += v != "ok"; hung += v == "HUNG"}
        END {printf "%d trials, %d checkpoints with resumes, %d bad, %d of these hung\n", t, n, bad, hung; exit bad > 0}' "$work/trials"
} | tee "$summary"
exit "${PIPESTATUS[0]}"
