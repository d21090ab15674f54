# The conformance suite: one program of each ABI, natively and in the capsule on its own library (conform/conform.sh).
if(NOT TARGET capsule-openmpi)
    return()
endif()
set(conform ${CMAKE_CURRENT_SOURCE_DIR}/conform)
file(GLOB conform_sources CONFIGURE_DEPENDS ${conform}/*.c ${conform}/wide/*.c)
file(GLOB conform_tables CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/capsule/table/*.def)
set(conform_mpis openmpi)
if(TARGET capsule-mpich)
    list(APPEND conform_mpis mpich)
endif()
foreach(mpi IN LISTS conform_mpis)
    set(program ${CMAKE_BINARY_DIR}/tests/capsule/conform.${mpi})
    add_custom_command(OUTPUT ${program}
        COMMAND mpicc.${mpi} -std=gnu17 -O1 -g -w -I${CMAKE_SOURCE_DIR}/src/capsule -I${conform} ${conform_sources} -o ${program}
        DEPENDS ${conform_sources} ${conform}/conform.h ${conform}/wide/wide.h ${conform_tables} VERBATIM)
    add_custom_target(capsule-conform-${mpi} ALL DEPENDS ${program})
    mend_limited_test(NAME capsule.conform.${mpi} TIMEOUT 240 COMMAND bash ${conform}/conform.sh ${mpi} ${program})
    set_tests_properties(capsule.conform.${mpi} PROPERTIES PROCESSORS 3 LABELS capsule
        ENVIRONMENT "MEND_BUILD=${CMAKE_BINARY_DIR}")
    # every function that the capsule carries has a case there
    find_program(CAPSULE_PYTHON python3)
    if(CAPSULE_PYTHON)
        mend_limited_test(NAME capsule.conform.${mpi}.complete TIMEOUT 60 COMMAND ${CAPSULE_PYTHON} ${conform}/complete.py
            ${CMAKE_SOURCE_DIR} $<TARGET_FILE:capsule-upper-${mpi}> ${program})
        set_tests_properties(capsule.conform.${mpi}.complete PROPERTIES LABELS capsule)
    endif()
    # the same through Fortran: mpif.h, use mpi, use mpi_f08
    if(NOT MEND_HAVE_FORTRAN)
        continue()
    endif()
    foreach(face H MPI F08)
        set(edges ${CMAKE_BINARY_DIR}/tests/capsule/conform.${face}.${mpi})
        set(more -fallow-argument-mismatch)
        if("${face}.${mpi}" STREQUAL "F08.openmpi")
            set(more -DNO_PARTITIONED)
        endif()
        file(MAKE_DIRECTORY ${edges}.mod)
        add_custom_command(OUTPUT ${edges}
            COMMAND mpifort.${mpi} -cpp -O1 -g -w ${more} -DFACE_${face} -J${edges}.mod ${conform}/fortran/edges.F90 -o ${edges}
            DEPENDS ${conform}/fortran/edges.F90 VERBATIM)
        add_custom_target(capsule-conform-${face}-${mpi} ALL DEPENDS ${edges})
        mend_limited_test(NAME capsule.conform.fortran_${face}.${mpi} TIMEOUT 240 COMMAND bash ${conform}/conform.sh ${mpi} ${edges})
        set_tests_properties(capsule.conform.fortran_${face}.${mpi} PROPERTIES PROCESSORS 3 LABELS capsule
            ENVIRONMENT "MEND_BUILD=${CMAKE_BINARY_DIR}")
    endforeach()
    set_tests_properties(capsule.conform.fortran_MPI.${mpi} PROPERTIES LABELS "campaign;capsule") # much the same as mpif.h
endforeach()
