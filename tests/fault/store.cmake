# Two real kills each, at random moments of save, commit, restore and rebuild; seeds are fixed, interleavings are not.
add_mpi_test(NAME store_kill SOURCES store_kill.c ARGS memory 2 1 NP 4 SPARES 2 TIMEOUT 240 LABELS "store;fault")
foreach(levels partner erasure global local memory,partner memory,erasure,global)
    string(REPLACE "," "_" name ${levels})
    foreach(seed 1 2 3 4 5 6 7 8)
        set(label "")
        if(seed GREATER 1)
            set(label campaign)
        endif()
        add_mpi_test(NAME store_kill_${name}_${seed} PROGRAM mpi_store_kill ARGS ${levels} 2 ${seed} NP 4 SPARES 2
            TIMEOUT 240 LABELS "store;fault;${label}")
    endforeach()
endforeach()
# The same with data on a GPU, which the stand-in of the driver makes believe; one of them finds changes only.
foreach(levels memory,partner,erasure,global local)
    string(REPLACE "," "_" name ${levels})
    foreach(seed 1 2 3 4)
        set(label "")
        if(seed GREATER 1)
            set(label campaign)
        endif()
        add_mpi_test(NAME store_kill_device_${name}_${seed} PROGRAM mpi_store_kill ARGS ${levels} 2 ${seed} NP 4 SPARES 2
            TIMEOUT 240 LABELS "store;fault;device;${label}"
            ENV MEND_TEST_GPU=1 MEND_STORE_DELTA=hash MEND_DEVICE_DRIVER=${CMAKE_BINARY_DIR}/tests/libfake_driver.so)
    endforeach()
endforeach()
# One kill at each named place.
foreach(place save.copied memory_send partner_send erasure_send local_write global_write before_commit after_commit prune)
    string(REPLACE "." "_" name ${place})
    add_mpi_test(NAME store_kill_at_${name} PROGRAM mpi_store_kill ARGS memory,partner,erasure,global 0 1 NP 4 SPARES 2
        FAULT store.${place}:rank=1:hit=2:kill TIMEOUT 240 LABELS "store;fault" ENV MEND_TEST_DEATHS=1)
endforeach()
# A death, and another one while its consequences are mended. (A plan is made at the start, too.)
foreach(second rebind:rank=1:hit=2 restore.plan:rank=1:hit=2 restore.copy:rank=1:hit=1)
    string(REGEX REPLACE ":.*" "" name ${second})
    string(REPLACE "." "_" name ${name})
    add_mpi_test(NAME store_kill_at_${name} PROGRAM mpi_store_kill ARGS memory,partner,erasure,global 0 1 NP 4 SPARES 2
        FAULT store.before_commit:rank=2:hit=2:kill,store.${second}:kill TIMEOUT 240 LABELS "store;fault"
        ENV MEND_TEST_DEATHS=2)
endforeach()
# Nodes with their disks die, one after the other; six nodes, one rank each, two of them spares.
if(MEND_WITH_MPI)
    add_executable(mpi_store_nodes store_nodes.c)
    set_target_properties(mpi_store_nodes PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    mend_use_layers(mpi_store_nodes)
    foreach(levels memory partner erasure)
        add_mpi_test(NAME store_nodes_${levels} SCRIPT store_nodes.sh ARGS $<TARGET_FILE:mpi_store_nodes> ${levels}
            NP 4 SPARES 2 NODES 6 TIMEOUT 300 LABELS "store;fault")
    endforeach()
endif()
if(MEND_WITH_MPI)
    mend_quick(mpi.store_kill mpi.store_kill_at_before_commit)
endif()
# A death at every step of every level's save, on one machine and on four nodes.
add_mpi_test(NAME store_steps SCRIPT store_steps.sh ARGS $<TARGET_FILE:mpi_store_kill> NP 4 SPARES 1 TIMEOUT 600 LABELS "store;fault;campaign")
add_mpi_test(NAME store_steps_nodes SCRIPT store_steps.sh ARGS $<TARGET_FILE:mpi_store_kill> NP 4 SPARES 4 NODES 4
    TIMEOUT 600 LABELS "store;fault")
