mend_cli_test(NAME site SCRIPT site.sh)
mend_quick(cli.site)
