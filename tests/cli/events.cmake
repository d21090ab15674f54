add_executable(events_check events_check.c)
set_target_properties(events_check PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
mend_use_layers(events_check)
mend_cli_test(NAME events SCRIPT events.sh TIMEOUT 300)
