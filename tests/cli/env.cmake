mend_cli_test(NAME env SCRIPT env.sh TIMEOUT 300)
