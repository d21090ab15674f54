# Agreement without the MPI library's: in all these jobs a call of that ends the process, and so fails the test.
if(NOT MEND_WITH_MPI)
    return()
endif()
add_library(process_no_agreement SHARED process_no_agreement.c)
set_target_properties(process_no_agreement PROPERTIES C_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_include_directories(process_no_agreement SYSTEM PRIVATE $<TARGET_PROPERTY:PkgConfig::OMPI,INTERFACE_INCLUDE_DIRECTORIES>)

# name, fault, program, arguments of it
function(agreement_test name fault program)
    if(fault)
        set(fault FAULT ${fault})
    endif()
    add_mpi_test(NAME agreement_${name} SCRIPT process_no_agreement.sh NP 4 SPARES 3 ${fault}
        ARGS $<TARGET_FILE:process_no_agreement> $<TARGET_FILE:${program}> ${ARGN} TIMEOUT 120 LABELS process)
endfunction()

foreach(case rank_zero several one_by_one callbacks builders spares_first again_and_again requests other_error)
    agreement_test(${case} "" mpi_process_wrong ${case})
endforeach()
add_mpi_test(NAME agreement_nearly_all SCRIPT process_no_agreement.sh NP 16
    ARGS $<TARGET_FILE:process_no_agreement> $<TARGET_FILE:mpi_process_wrong> nearly_all TIMEOUT 240 LABELS process)
# The number of processes makes no difference, not even above 512.
add_mpi_test(NAME agreement_large SCRIPT process_no_agreement.sh NP 520 SPARES 2
    ARGS $<TARGET_FILE:process_no_agreement> $<TARGET_FILE:mpi_process_wrong> in_repair TIMEOUT 1800 LABELS process campaign)
agreement_test(fenix_many "" mpi_fenix_many 3)
agreement_test(fenix_many_threads "" mpi_fenix_many 4 threads)

# A death at every step: in the repair of another one (hit 1 is the start) and in the first meeting; of the process that
# collects the words of all, of another, and of a spare.
foreach(at gather:0 gather:2 half_gathered:0 half_gathered:2 half_gathered:4 shrink:0 shrink:2 shrink:4 made:0 made:2 made:4
        confirmed:0 confirmed:2 confirmed:4 vote:0 vote:2 vote:4 voted:2 voted:4 decided:0 half_told:0)
    string(REPLACE ":" ";" at ${at})
    list(GET at 0 place)
    list(GET at 1 rank)
    agreement_test(${place}_${rank} ulfm.${place}:rank=${rank}:hit=2:kill mpi_process_wrong in_repair)
    agreement_test(start_${place}_${rank} ulfm.${place}:rank=${rank}:kill mpi_process_wrong at_the_end)
endforeach()
# At the end of the job, where those who have the result leave.
foreach(at half_gathered:2 made:2 confirmed:0 vote:0 vote:2 voted:2 decided:0 half_told:0)
    string(REPLACE ":" ";" at ${at})
    list(GET at 0 place)
    list(GET at 1 rank)
    agreement_test(end_${place}_${rank} ulfm.${place}:rank=${rank}:hit=3:kill mpi_process_wrong in_repair)
endforeach()
# In the steps of making the communicator: hits are of one process, over both meetings.
foreach(rank 0 2 5)
    foreach(hit 1 3 5 8 12 14 17 20)
        agreement_test(step_${rank}_${hit} ulfm.step:rank=${rank}:hit=${hit}:kill mpi_process_wrong in_repair)
    endforeach()
endforeach()
# Two at once, and one after the other.
agreement_test(two_made "ulfm.made:rank=2:hit=2:kill,ulfm.made:rank=3:hit=2:kill" mpi_process_wrong in_repair)
agreement_test(two_leaders "ulfm.half_told:rank=0:hit=2:kill,ulfm.made:rank=2:hit=3:kill" mpi_process_wrong in_repair)
agreement_test(two_unsure "ulfm.half_told:rank=0:hit=2:kill,ulfm.shrink:rank=2:hit=3:kill" mpi_process_wrong in_repair)
agreement_test(two_start "ulfm.half_told:rank=0:kill,ulfm.shrink:rank=2:hit=2:kill" mpi_process_wrong at_the_end)
agreement_test(two_gathering "ulfm.half_gathered:rank=0:hit=2:kill,ulfm.half_gathered:rank=3:hit=2:kill" mpi_process_wrong
    in_repair)
