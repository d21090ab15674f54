mend_cli_test(NAME plan SCRIPT plan.sh TIMEOUT 900)
