mend_cli_test(NAME env SCRIPT env.sh TIMEOUT 300)
mend_cli_test(NAME packages SCRIPT packages.sh)
