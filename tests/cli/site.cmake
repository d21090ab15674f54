mend_cli_test(NAME site SCRIPT site.sh)
mend_cli_test(NAME site_look SCRIPT site_look.sh TIMEOUT 300)
mend_quick(cli.site)
mend_cli_test(NAME guide_commands SCRIPT guide_commands.sh)
if(MEND_INNER_BUILDS AND TARGET capsule-openmpi AND TARGET capsule-mpich) # else not all tests are there
    mend_cli_test(NAME guide_tests SCRIPT guide_tests.sh)
endif()
if(MEND_WITH_MPI)
    mend_limited_test(NAME cli.guide_commands_run TIMEOUT 600 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/guide_commands.sh run)
    set_tests_properties(cli.guide_commands_run PROPERTIES PROCESSORS 2 SKIP_RETURN_CODE 77 LABELS "cli;campaign" ENVIRONMENT
        "MEND=${CMAKE_BINARY_DIR}/bin/mend;MEND_BUILD=${CMAKE_BINARY_DIR};MEND_SOURCE=${CMAKE_SOURCE_DIR}")
    mend_cli_test(NAME quick_start SCRIPT quick_start.sh TIMEOUT 600)
    set_tests_properties(cli.quick_start PROPERTIES PROCESSORS 2 LABELS "cli;campaign") # a minute and a half
endif()
