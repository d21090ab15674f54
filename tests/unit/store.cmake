mend_unit_test(NAME code SOURCES test_code.c LABELS store)
mend_unit_test(NAME image SOURCES test_image.c LABELS store TIMEOUT 300)
mend_unit_test(NAME store MPI SOURCES test_store.c LABELS store TIMEOUT 300)
