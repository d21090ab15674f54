# Mend's own launcher, which is the default: what is its own, and nodes that are lost with their daemons. Then mpirun: a few
# of all tests in `make check`, the others in the campaign.
if(TARGET capsule-openmpi AND TARGET mend-node)
    set(own "MEND=${CMAKE_BINARY_DIR}/bin/mend;MEND_BUILD=${CMAKE_BINARY_DIR};MEND_SOURCE=${CMAKE_SOURCE_DIR};MEND_RUN_LAUNCHER=mend")
    string(REPLACE "LAUNCHER=mend" "LAUNCHER=mpirun" theirs "${own}")
    foreach(case owner detach daemon door streams last guest later fill names stall reader add spawn count)
        mend_limited_test(NAME launcher.${case} TIMEOUT 600 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/launcher.sh ${case})
        list(APPEND tests launcher.${case})
    endforeach()
    set_tests_properties(${tests} PROPERTIES PROCESSORS 2 SKIP_RETURN_CODE 77
        LABELS "fault;launcher" ENVIRONMENT "${own}")
    mend_limited_test(NAME launcher_all.many TIMEOUT 600 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/launcher.sh many)
    set_tests_properties(launcher_all.many PROPERTIES PROCESSORS 4 SKIP_RETURN_CODE 77
        LABELS "campaign;launcher" ENVIRONMENT "${own}")
    mend_limited_test(NAME launcher_all.mute TIMEOUT 300 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/launcher.sh mute)
    set_tests_properties(launcher_all.mute PROPERTIES LABELS "campaign;launcher" ENVIRONMENT "${own}")
    mend_limited_test(NAME launcher_all.left TIMEOUT 1800 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/launcher.sh left)
    set_tests_properties(launcher_all.left PROPERTIES PROCESSORS 2 SKIP_RETURN_CODE 77
        LABELS "campaign;launcher" ENVIRONMENT "${own}")
    # `mend run --launcher mpirun`
    function(with_mpirun label name script)
        mend_limited_test(NAME mpirun.${name} TIMEOUT 600 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
        set_tests_properties(mpirun.${name} PROPERTIES PROCESSORS 2 SKIP_RETURN_CODE 77
            LABELS "${label};launcher" ENVIRONMENT "${theirs}")
    endfunction()
    foreach(case rank init)
        with_mpirun(fault ${case} online.sh ${case})
    endforeach()
    with_mpirun(fault use_ends online_use.sh ends)
    foreach(case ranks hung)
        with_mpirun(fault relaunch_${case} relaunch.sh ${case} openmpi)
    endforeach()
    foreach(case launcher exhausted pair levels spare files rewrite back floor refuse outside overwrite words during)
        with_mpirun(campaign ${case} online.sh ${case})
    endforeach()
    foreach(case signals streams restart stop late folders auto windows stuck groups makers)
        with_mpirun(campaign use_${case} online_use.sh ${case})
    endforeach()
    foreach(case early append rewrite overwrite outside refuse input clock threads exec stop)
        with_mpirun(campaign relaunch_${case} relaunch.sh ${case} openmpi)
    endforeach()
    mend_limited_test(NAME launcher_all.count TIMEOUT 600 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/launcher.sh count)
    set_tests_properties(launcher_all.count PROPERTIES PROCESSORS 4 SKIP_RETURN_CODE 77
        LABELS "campaign;launcher" ENVIRONMENT "${own};MEND_TEST_RANKS=4 16 64")

    # many nodes start and end, and the messages that it takes
    add_mpi_test(NAME launcher_nodes SCRIPT launcher_nodes.sh NP 12 NODES 6 TIMEOUT 300 LABELS launcher
        ENV MEND_BUILD=${CMAKE_BINARY_DIR} MEND_TEST_EACH=2)
    add_mpi_test(NAME launcher_nodes_many SCRIPT launcher_nodes.sh NP 64 NODES 16 TIMEOUT 900 LABELS launcher campaign
        ENV MEND_BUILD=${CMAKE_BINARY_DIR} MEND_TEST_EACH=4)
    set_tests_properties(mpi.launcher_nodes mpi.launcher_nodes_many PROPERTIES PROCESSORS 4)

    add_mpi_test(NAME online_uneven SCRIPT online_uneven.sh NP 5 NODES 2 TIMEOUT 120 LABELS launcher
        ENV MEND_BUILD=${CMAKE_BINARY_DIR})
    foreach(loss kill:1 off:1 silent:1)
        string(REPLACE ":" "_" name ${loss})
        add_mpi_test(NAME online_lost_${name} SCRIPT online_lost.sh NP 8 NODES 4 TIMEOUT 300 LABELS launcher
            ENV MEND_BUILD=${CMAKE_BINARY_DIR} MEND_TEST_LOSS=${loss})
        set_tests_properties(mpi.online_lost_${name} PROPERTIES PROCESSORS 4) # two jobs of four nodes starve each other's daemons
    endforeach()
    foreach(loss kill:2 stop:1 together:1,3 apart:1,3 saving:1 door:1 recovering:1,2 launching:1 launching:3 headless:1)
        string(REGEX REPLACE "[:,]" "_" name ${loss})
        add_mpi_test(NAME online_lost_${name} SCRIPT online_lost.sh NP 8 NODES 4 TIMEOUT 300 LABELS launcher campaign
            ENV MEND_BUILD=${CMAKE_BINARY_DIR} MEND_TEST_LOSS=${loss})
    endforeach()
    add_mpi_test(NAME online_lost_quit_1 SCRIPT online_lost.sh NP 8 NODES 4 TIMEOUT 300 LABELS launcher campaign
        ENV MEND_BUILD=${CMAKE_BINARY_DIR} MEND_TEST_LOSS=quit:1 MEND_TEST_SILENCE=20s)
    add_mpi_test(NAME online_lost_heat SCRIPT online_lost.sh NP 8 NODES 4 TIMEOUT 300 LABELS launcher campaign
        ENV MEND_BUILD=${CMAKE_BINARY_DIR} "MEND_TEST_LOSS=kill:1 kill:2" MEND_TEST_PROGRAM=heat)
    # MPICH's ranks, by its own launcher, and on several nodes by ours (PMI-1)
    if(TARGET capsule-mpich)
        foreach(case ranks append input stop)
            with_mpirun(campaign mpich_${case} relaunch.sh ${case} mpich)
        endforeach()
        add_mpi_test(NAME launcher_mpich_nodes SCRIPT launcher_mpich.sh NP 2 NODES 4 TIMEOUT 300 LABELS launcher campaign
            ENV MEND_BUILD=${CMAKE_BINARY_DIR})
    endif()
    # new processes in place of the dead
    foreach(case one ten pair steps raw hopeless again)
        mend_limited_test(NAME launcher_refill.${case} TIMEOUT 900 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/refill.sh ${case})
        set_tests_properties(launcher_refill.${case} PROPERTIES PROCESSORS 2 SKIP_RETURN_CODE 77
            LABELS "campaign;launcher" ENVIRONMENT "${own}")
    endforeach()
    foreach(case lost ten add hup back relaunch)
        add_mpi_test(NAME refill_nodes_${case} SCRIPT refill_nodes.sh NP 8 NODES 4 TIMEOUT 600 LABELS launcher campaign
            ENV MEND_BUILD=${CMAKE_BINARY_DIR} MEND_TEST_CASE=${case})
    endforeach()
    add_test(NAME launcher_all.lammps COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/online_lost_lammps.sh)
    set_tests_properties(launcher_all.lammps PROPERTIES TIMEOUT 7200 PROCESSORS 4 SKIP_RETURN_CODE 77 LABELS "campaign;launcher"
        ENVIRONMENT "${own}")
    mend_quick(launcher.owner mpirun.rank)
    add_test(NAME launcher_all.random COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/online_lost_random.sh)
    set_tests_properties(launcher_all.random PROPERTIES TIMEOUT 7200 SKIP_RETURN_CODE 77 LABELS "campaign;launcher"
        ENVIRONMENT "${own}")
endif()
