if(TARGET mend-node AND TARGET capsule-openmpi)
    mend_bench(NAME launch SCRIPT launch.sh)
endif()
