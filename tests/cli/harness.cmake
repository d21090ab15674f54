mend_cli_test(NAME harness SCRIPT harness.sh TIMEOUT 300)
