mend_cli_test(NAME chaos SCRIPT chaos.sh TIMEOUT 180)
mend_quick(cli.chaos)
