mend_cli_test(NAME site SCRIPT site.sh)
mend_quick(cli.site)
if(MEND_WITH_MPI)
    mend_cli_test(NAME quick_start SCRIPT quick_start.sh TIMEOUT 600)
    set_tests_properties(cli.quick_start PROPERTIES PROCESSORS 2 LABELS "cli;campaign") # a minute and a half
endif()
