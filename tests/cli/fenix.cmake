if(MEND_WITH_MPI)
    mend_cli_test(NAME fenix SCRIPT fenix.sh TIMEOUT 600 LABELS process)
    mend_cli_test(NAME compat_refused SCRIPT compat_refused.sh TIMEOUT 300 LABELS store)
endif()
