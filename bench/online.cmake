if(TARGET capsule-openmpi)
    mend_bench(NAME online SCRIPT online.sh)
    mend_bench(NAME online_lammps SCRIPT online_lammps.sh)
endif()
