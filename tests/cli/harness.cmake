mend_cli_test(NAME harness SCRIPT harness.sh TIMEOUT 300)
mend_cli_test(NAME yardstick SCRIPT yardstick.sh)
mend_cli_test(NAME campaign SCRIPT campaign.sh TIMEOUT 300)
