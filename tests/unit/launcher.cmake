# The launcher's messages, and who is placed where.
set(launcher ${CMAKE_SOURCE_DIR}/src/launcher)
mend_unit_test(NAME launcher SOURCES test_launcher.c ${launcher}/wire.c ${launcher}/job.c ${launcher}/hosts.c LABELS launcher)
target_include_directories(test_launcher PRIVATE ${launcher})
mend_unit_test(NAME launcher_binding SOURCES test_launcher_binding.c ${launcher}/binding.c ${launcher}/wire.c LABELS launcher)
target_include_directories(test_launcher_binding PRIVATE ${launcher})
mend_unit_test(NAME launcher_pmi SOURCES test_launcher_pmi.c ${launcher}/pmi/space.c ${launcher}/wire.c LABELS launcher)
target_include_directories(test_launcher_pmi PRIVATE ${launcher})
