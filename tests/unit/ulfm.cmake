mend_unit_test(NAME ulfm_gate SOURCES test_ulfm_gate.c ${CMAKE_SOURCE_DIR}/src/ulfm/gate.c LABELS ulfm)
target_include_directories(test_ulfm_gate PRIVATE ${CMAKE_SOURCE_DIR}/src/ulfm/include)
mend_quick(unit.ulfm_gate)
