#!/usr/bin/env bash
# LAMMPS's melt, Debian 13's unmodified program, natively and in the capsule in turns: the loop time that it prints itself; the pair
# whose ratio is the median. It runs in the root that `make campaign` makes (tests/programs): without that there is nothing to measure.
set -uo pipefail
pairs=5 steps=800
if [ "${1:-}" = inside ]; then
    work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 1
    sed "s/^run.*/run $steps/" /usr/share/lammps/examples/melt/in.melt >in.melt
    export OMP_NUM_THREADS=1 OMPI_MCA_btl=self,sm OMPI_MCA_pml=ob1 HOME=/tmp LC_ALL=C
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PMIX_MCA_pcompress_base_silence_warning=1
    loop() { # words…: seconds
        "$MEND_SOURCE/env/run" timeout -k 5 300 mpirun.openmpi -n 2 "$@" lmp -in in.melt </dev/null 2>err |
            sed -n 's/^Loop time of \([0-9.]*\) on.*/\1/p' | tail -1
    }
    for ((i = 0; i < pairs; i++)); do
        native=$(loop) capsule=$(MEND_CAPSULE_DIR=$work/job loop "$MEND_BUILD/lib/mend/capsule.openmpi")
        rm -rf job
        [ -n "$native" ] && [ -n "$capsule" ] || { tail -3 err >&2; exit 1; }
        echo "$capsule $native"
    done
    exit 0
fi
env=$(cd "$MEND_SOURCE/.env" 2>/dev/null && pwd -P) root=
for ready in "$env"/programs-*/ready; do [ -e "$ready" ] && root=${ready%/ready}/root; done
[ -n "$root" ] || { echo "capsule.lammps_melt: not measured: no root with LAMMPS (make campaign makes one)"; exit 0; }
times=$(unset TMPDIR MEND_ENV MEND_ENV_ENTERED OPAL_PREFIX PRTE_PREFIX PMIX_PREFIX
    PATH=/usr/bin:/usr/sbin "$MEND_SOURCE/tests/programs/enter" "$root" "$MEND_SOURCE" "$env" "$MEND_BUILD" -- "$MEND_SOURCE/bench/capsule_lammps.sh" inside)
case $? in
    0) ;;
    77) echo "capsule.lammps_melt: not measured: $times"; exit 0 ;;
    *) echo "capsule.lammps_melt: LAMMPS failed"; exit 1 ;;
esac
echo "$times" | awk '{ print $1 / $2, $1, $2 }' | sort -g | awk '{ r[NR] = $1; c[NR] = $2; n[NR] = $3 } END {
    m = int((NR + 1) / 2); ok = r[m] <= 1.01 ? "true" : "false"
    printf "%-34s %12.4g %-3s native %12.4g ratio %.3f (target %.2f) %s\n", "capsule.lammps_melt", c[m], "s", n[m], r[m], 1.01, ok
    printf "{\"name\":\"capsule.lammps_melt\",\"value\":%g,\"unit\":\"s\",\"baseline\":%g,\"ratio\":%.4f,\"target\":1.01,\"ok\":%s}\n", c[m], n[m], r[m], ok >> ENVIRON["MEND_BENCH_OUT"] }'
