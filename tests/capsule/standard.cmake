# The standard's own ABI (MPI-5.0): programs that are linked with a stub of libmpi_abi, in the capsule on both libraries.
if(NOT TARGET capsule-openmpi)
    return()
endif()
set(standard ${CMAKE_CURRENT_SOURCE_DIR}/standard)
set(standard_stubs ${CMAKE_BINARY_DIR}/tests/capsule/standard)
foreach(version 1 0) # .so.0 is what libraries had before the standard was final
    set(stub ${standard_stubs}/${version}/libmpi_abi.so)
    add_custom_command(OUTPUT ${stub}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${standard_stubs}/${version}
        COMMAND bash ${standard}/stub.sh ${standard}/functions.txt libmpi_abi.so.${version} ${stub}
        DEPENDS ${standard}/functions.txt ${standard}/stub.sh VERBATIM)
    add_custom_target(capsule-standard-stub-${version} DEPENDS ${stub})
endforeach()

# standard_program(NAME version FLAGS… SOURCES files…)
function(standard_program name version)
    cmake_parse_arguments(ARG "" "" "FLAGS;SOURCES;DEPENDS" ${ARGN})
    set(output ${CMAKE_BINARY_DIR}/tests/capsule/${name})
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_C_COMPILER} -std=gnu17 -O2 -g -w -fopenmp -I${CMAKE_BINARY_DIR}/include/standard ${ARG_FLAGS} ${ARG_SOURCES}
            -o ${output} -L${standard_stubs}/${version} -lmpi_abi -lm
        DEPENDS ${ARG_SOURCES} ${ARG_DEPENDS} ${CMAKE_BINARY_DIR}/include/standard/mpi.h ${standard_stubs}/${version}/libmpi_abi.so VERBATIM)
    add_custom_target(capsule-program-${name} ALL DEPENDS ${output})
    add_dependencies(capsule-program-${name} capsule-standard-header capsule-standard-stub-${version})
endfunction()
standard_program(standard.standard 1 SOURCES ${standard}/standard.c)
standard_program(heat2d.standard 0 SOURCES ${apps}/heat2d.c)
standard_program(inflight.standard 1 SOURCES ${apps}/inflight.c)
standard_program(features.standard 1 SOURCES ${apps}/features.c)
standard_program(steady.standard 1 SOURCES ${CMAKE_SOURCE_DIR}/tests/fault/apps/steady.c)

mend_limited_test(NAME capsule.standard.table TIMEOUT 120 COMMAND bash ${standard}/table.sh)
set_tests_properties(capsule.standard.table PROPERTIES LABELS capsule ENVIRONMENT "MEND_BUILD=${CMAKE_BINARY_DIR}")
foreach(first IN LISTS mpis)
    capsule_roundtrip(standard ${first} 3 30 standard.standard ARGS 6 ENV "REFERENCE=standard: 6 rounds, 0 wrong" OMPI_MCA_osc=^ucx)
    if(TARGET capsule-mpich)
        capsule_roundtrip(heat2d_standard ${first} 4 250 heat2d.standard ARGS 300 400 ENV ROUND=1)
        capsule_roundtrip(inflight_standard ${first} 4 8 inflight.standard ARGS 16)
        capsule_roundtrip(features_standard ${first} 4 25 features.standard ARGS 20)
    endif()
endforeach()
if(TARGET capsule-mpich) # of each program one direction is enough for `make check`
    set_tests_properties(capsule.heat2d_standard.openmpi capsule.inflight_standard.mpich capsule.features_standard.mpich
        PROPERTIES LABELS "campaign;capsule")
endif()
capsule_script(standard.commands standard/commands.sh 600)
set_tests_properties(capsule.standard.commands PROPERTIES LABELS capsule)
standard_program(chapter-refused.standard 1 SOURCES ${chapters}/refused.c DEPENDS ${chapters}/chapter.h)
capsule_script(standard.refused refused.sh 120 openmpi ${CMAKE_BINARY_DIR}/tests/capsule/chapter-refused.standard)
set_tests_properties(capsule.standard.refused PROPERTIES LABELS capsule)
if(TARGET capsule-mpich) # the conformance suite, against MPICH's own answers
    standard_program(conform.standard 1 SOURCES ${conform_sources} DEPENDS ${conform}/conform.h ${conform}/wide/wide.h ${conform_tables}
        FLAGS -DMPICH -include ${standard}/fortran.h -I${CMAKE_SOURCE_DIR}/src/capsule -I${conform})
    mend_limited_test(NAME capsule.conform.standard TIMEOUT 240 COMMAND bash ${conform}/conform.sh mpich
        ${CMAKE_BINARY_DIR}/tests/capsule/conform.standard)
    set_tests_properties(capsule.conform.standard PROPERTIES PROCESSORS 3 LABELS capsule ENVIRONMENT "MEND_BUILD=${CMAKE_BINARY_DIR}")
endif()
