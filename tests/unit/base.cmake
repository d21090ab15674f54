mend_unit_test(NAME base_fault SOURCES test_base_fault.c)
mend_unit_test(NAME base_io SOURCES test_base_io.c)
mend_unit_test(NAME base_io_faults SOURCES test_base_io_faults.c TIMEOUT 300)
mend_unit_test(NAME base_config SOURCES test_base_config.c)
mend_unit_test(NAME base_event SOURCES test_base_event.c)
add_executable(json_check json_check.c) # for shell tests
target_link_libraries(json_check PRIVATE PkgConfig::JANSSON)
set_target_properties(json_check PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
