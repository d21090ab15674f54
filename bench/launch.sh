#!/usr/bin/env bash
# Starting and ending a job that does nothing: Mend's launcher against mpirun, in turn, with the same parameters of
# Open MPI; then the same through mend run, with each of them.
set -uo pipefail
times=${MEND_BENCH_TIMES:-11} node=$MEND_BUILD/lib/mend/mend-node mend=$MEND_BUILD/bin/mend
[ -x "$node" ] || exit 0 # built without libpmix
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT; cd "$scratch" || exit 1
row() { # name value unit baseline ratio target ok
    printf '%-34s %10s %-3s baseline %10s ratio %8s (target %s) %s\n' "$1" "$2" "$3" "$4" "$5" "${6:-none}" "$7"
    printf '{"name":"%s","value":%s,"unit":"%s","baseline":%s,"ratio":%s,"target":"%s","ok":%s}\n' "$@" >>"${MEND_BENCH_OUT:-/dev/null}"
}
median() { sort -g | awk '{v[NR]=$1} END{print NR ? v[int((NR+1)/2)] : "null"}'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN{printf "%.4g", a/b}'; }
le() { awk -v a="$1" -v b="$2" 'BEGIN{print (a <= b) ? "true" : "false"}'; }
cp "$MEND_BUILD/bench/programs/hello" . || exit 1
seconds() { # FILE CMD…: how long it takes
    local a=$EPOCHREALTIME; "${@:2}" </dev/null >out 2>&1 || { echo "failed: ${*:2}"; cat out; exit 1; }
    local b=$EPOCHREALTIME; awk -v a="$a" -v b="$b" 'BEGIN{print b-a}' >>"$1"
}
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_mpi_ft_enable=1 OMPI_MCA_async_mpi_finalize=1
for ((i = 0; i < times; i++)); do
    seconds ours "$node" head -n 4 --bind none -- ./hello
    seconds theirs mpirun.openmpi --with-ft ulfm --oversubscribe --bind-to none -n 4 ./hello
    for l in mend mpirun; do rm -rf job; seconds run.$l "$mend" run -n 4 --spares 0 --launcher $l --dir job -q -- ./hello; done
done
x=$(median <ours) y=$(median <theirs)
row launch.four_ranks "$x" s "$y" "$(ratio "$x" "$y")" "<= 1.0 of mpirun" "$(le "$x" "$y")"
x=$(median <run.mend) y=$(median <run.mpirun)
row launch.run_four_ranks "$x" s "$y" "$(ratio "$x" "$y")" "<= 1.0 of mpirun" "$(le "$x" "$y")"
