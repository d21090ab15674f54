mend_cli_test(NAME frame SCRIPT frame.sh LABELS sanitize)
if(MEND_WITH_MPI)
    mend_cli_test(NAME doctor SCRIPT doctor.sh TIMEOUT 300)
endif()
