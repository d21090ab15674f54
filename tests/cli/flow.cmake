mend_cli_test(NAME apps_diff SCRIPT apps_diff.sh)
