if(TARGET mend_flow)
    add_executable(bench_flow_point_program flow_point.c)
    set_target_properties(bench_flow_point_program PROPERTIES OUTPUT_NAME flow_point
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    target_link_libraries(bench_flow_point_program PRIVATE mend PkgConfig::OMPI)
    mend_bench(NAME flow SCRIPT flow.sh)
endif()
