mend_cli_test(NAME report SCRIPT report.sh TIMEOUT 180)
mend_quick(cli.report)
