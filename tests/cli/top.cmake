mend_cli_test(NAME top SCRIPT top.sh TIMEOUT 120)
mend_quick(cli.top)
