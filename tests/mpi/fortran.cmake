# The Fortran module, compiled as a user would, under a kill: the sum is that of an undisturbed run.
if(NOT MEND_HAVE_FORTRAN)
    add_test(NAME mpi.fortran COMMAND sh -c "echo SKIP: no gfortran; exit 77")
    set_tests_properties(mpi.fortran PROPERTIES SKIP_RETURN_CODE 77 LABELS mpi)
    return()
endif()
set(rod ${CMAKE_BINARY_DIR}/tests/fortran/rod)
set(module ${CMAKE_SOURCE_DIR}/bindings/fortran/mend.f90)
set(source ${CMAKE_SOURCE_DIR}/examples/fortran/rod.f90)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fortran)
add_custom_command(OUTPUT ${rod}
    COMMAND mpifort.openmpi -O2 -g -std=f2008 -Wall -Wextra -Werror -fall-intrinsics -J${CMAKE_BINARY_DIR}/tests/fortran
        -c ${module} -o ${rod}.module.o
    COMMAND mpifort.openmpi -O2 -g -J${CMAKE_BINARY_DIR}/tests/fortran ${source} ${rod}.module.o
        -L${CMAKE_BINARY_DIR}/lib -lmend -Wl,-rpath,${CMAKE_BINARY_DIR}/lib -o ${rod}
    DEPENDS ${module} ${source} mend VERBATIM)
add_custom_target(fortran-rod ALL DEPENDS ${rod})
add_mpi_test(NAME fortran SCRIPT fortran.sh NP 4 SPARES 2 TIMEOUT 180 ENV "ROD=${rod}")

# Safe points: the flow modules, with mpi and with mpi_f08.
set(built ${CMAKE_BINARY_DIR}/tests/fortran/flow)
set(bindings ${CMAKE_SOURCE_DIR}/bindings/fortran)
set(plate ${CMAKE_SOURCE_DIR}/examples/fortran/plate.f90)
set(flow_program ${CMAKE_CURRENT_SOURCE_DIR}/fortran_flow.f90)
file(MAKE_DIRECTORY ${built})
set(link -L${CMAKE_BINARY_DIR}/lib -lmend -Wl,-rpath,${CMAKE_BINARY_DIR}/lib)
set(compile mpifort.openmpi -O2 -g -J${built})
set(strict -Wall -Wextra -Werror)
add_custom_command(OUTPUT ${built}/program ${built}/plate
    COMMAND ${compile} ${strict} -std=f2018 -fall-intrinsics -c ${bindings}/mend_flow.f90 -o ${built}/flow.o
    COMMAND ${compile} ${strict} -c ${bindings}/mend_flow_f08.f90 -o ${built}/flow_f08.o
    COMMAND ${compile} ${flow_program} ${built}/flow.o ${link} -o ${built}/program
    COMMAND ${compile} ${plate} ${built}/flow.o ${built}/flow_f08.o ${link} -o ${built}/plate
    DEPENDS ${bindings}/mend_flow.f90 ${bindings}/mend_flow_f08.f90 ${flow_program} ${plate} mend VERBATIM)
add_custom_target(fortran-flow ALL DEPENDS ${built}/program ${built}/plate)
add_mpi_test(NAME fortran_flow SCRIPT fortran_flow.sh NP 4 SPARES 2 TIMEOUT 300
    ENV "PROGRAM=${built}/program" "PLATE=${built}/plate")
