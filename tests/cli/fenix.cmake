if(MEND_WITH_MPI)
    mend_cli_test(NAME fenix SCRIPT fenix.sh TIMEOUT 600 LABELS process)
endif()
