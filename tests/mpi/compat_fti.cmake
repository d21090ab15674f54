# The FTI face, as its users use it, in C and in Fortran.
if(MEND_WITH_MPI)
    foreach(program fti fti_cases)
        add_executable(mpi_${program} compat_${program}.c)
        set_target_properties(mpi_${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        mend_use_layers(mpi_${program})
        target_include_directories(mpi_${program} PRIVATE ${CMAKE_SOURCE_DIR}/include/compat)
    endforeach()
endif()
add_mpi_test(NAME fti SCRIPT compat_fti.sh ARGS $<TARGET_FILE:mpi_fti> NP 4 TIMEOUT 300 LABELS "store")
set(fortran_program)
if(MEND_WITH_MPI AND MEND_HAVE_FORTRAN)
    set(built ${CMAKE_BINARY_DIR}/tests/fortran/fti)
    set(fortran_program ${built}/program)
    set(module ${CMAKE_SOURCE_DIR}/bindings/fortran/fti.f90)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/fortran_fti.f90)
    file(MAKE_DIRECTORY ${built})
    add_custom_command(OUTPUT ${fortran_program}
        COMMAND mpifort.openmpi -O2 -g -std=f2018 -Wall -Wextra -Werror -fall-intrinsics -J${built} -c ${module} -o ${built}/module.o
        COMMAND mpifort.openmpi -O2 -g -J${built} ${source} ${built}/module.o -L${CMAKE_BINARY_DIR}/lib -lmend
            -Wl,-rpath,${CMAKE_BINARY_DIR}/lib -o ${fortran_program}
        DEPENDS ${module} ${source} mend VERBATIM)
    add_custom_target(fortran-fti ALL DEPENDS ${fortran_program})
endif()
add_mpi_test(NAME fti_cases SCRIPT compat_fti_cases.sh ARGS $<TARGET_FILE:mpi_fti_cases> ${fortran_program} NP 4 TIMEOUT 300 LABELS "store"
    ENV MEND_BUILD=${CMAKE_BINARY_DIR})
