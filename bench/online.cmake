if(TARGET capsule-openmpi)
    mend_bench(NAME online SCRIPT online.sh)
endif()
