mend_bench(NAME capsule SCRIPT capsule.sh)
mend_bench(NAME capsule_parts SCRIPT capsule_parts.sh)
mend_bench(NAME capsule_lammps SCRIPT capsule_lammps.sh)
