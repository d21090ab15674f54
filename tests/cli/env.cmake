mend_cli_test(NAME env SCRIPT env.sh TIMEOUT 300)
mend_cli_test(NAME packages SCRIPT packages.sh)
mend_cli_test(NAME dist SCRIPT dist.sh)
mend_cli_test(NAME recipes SCRIPT recipes.sh)
