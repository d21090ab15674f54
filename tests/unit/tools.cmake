# parts of the command
set(tool ${CMAKE_SOURCE_DIR}/tools/mend)
mend_unit_test(NAME slurm_allocation SOURCES test_slurm_allocation.c ${tool}/slurm/hostlist.c ${tool}/slurm/allocation.c)
if(TARGET test_slurm_allocation)
    target_include_directories(test_slurm_allocation PRIVATE ${tool})
endif()
