mend_unit_test(NAME base_fault SOURCES test_base_fault.c)
