# The stand-in of the GPU's driver, for this machine that has none.
set(driver ${CMAKE_SOURCE_DIR}/tests/harness/driver)
add_library(fake_driver MODULE ${driver}/fake_driver.c ${driver}/fake_engine.c ${driver}/fake_kinds.c
    ${driver}/fake_checkpoint.c ${driver}/fake_faults.c)
set_target_properties(fake_driver PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests PREFIX "lib")
target_link_options(fake_driver PRIVATE -Wl,-soname,libcuda.so.1)
target_link_libraries(fake_driver PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
# the same, older: it has no cuCheckpointProcess…
add_library(fake_driver_old MODULE ${driver}/fake_driver.c ${driver}/fake_engine.c ${driver}/fake_kinds.c
    ${driver}/fake_checkpoint.c ${driver}/fake_faults.c)
set_target_properties(fake_driver_old PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests PREFIX "lib")
target_compile_definitions(fake_driver_old PRIVATE FAKE_OLD)
target_link_options(fake_driver_old PRIVATE -Wl,-soname,libcuda.so.1)
target_link_libraries(fake_driver_old PRIVATE Threads::Threads ${CMAKE_DL_LIBS})

mend_unit_test(NAME device SOURCES test_device.c LABELS device)
set_tests_properties(unit.device PROPERTIES ENVIRONMENT MEND_DEVICE_DRIVER=$<TARGET_FILE:fake_driver>)
add_dependencies(test_device fake_driver)
if(MEND_WITH_MPI)
    mend_unit_test(NAME store_device MPI SOURCES test_store_device.c LABELS "store;device" TIMEOUT 300)
    set_tests_properties(unit.store_device PROPERTIES ENVIRONMENT MEND_DEVICE_DRIVER=$<TARGET_FILE:fake_driver>)
    add_dependencies(test_store_device fake_driver)
    # 184 KiB: half of what the first device needs, and enough for the second
    foreach(bound 0=0 184KiB=1 1GiB=3)
        string(REPLACE "=" ";" arguments ${bound})
        list(GET arguments 1 copies)
        mend_limited_test(NAME unit.store_device_bound_${copies} TIMEOUT 60 COMMAND test_store_device ${arguments})
        set_tests_properties(unit.store_device_bound_${copies} PROPERTIES LABELS "unit;store;device" ENVIRONMENT MEND_DEVICE_DRIVER=$<TARGET_FILE:fake_driver>)
    endforeach()
    mend_unit_test(NAME store_device_faults MPI SOURCES test_store_device_faults.c LABELS "store;device" TIMEOUT 300)
    set_tests_properties(unit.store_device_faults PROPERTIES ENVIRONMENT MEND_DEVICE_DRIVER=$<TARGET_FILE:fake_driver>)
    add_dependencies(test_store_device_faults fake_driver)
    mend_limited_test(NAME unit.store_device_all_faults TIMEOUT 300 COMMAND test_store_device_faults all)
    set_tests_properties(unit.store_device_all_faults PROPERTIES LABELS "campaign;store;device" ENVIRONMENT MEND_DEVICE_DRIVER=$<TARGET_FILE:fake_driver>)
endif()
# The kernels that are built in belong to their source.
mend_limited_test(NAME unit.device_kernels TIMEOUT 120 COMMAND ${CMAKE_SOURCE_DIR}/src/device/kernels.sh --check)
set_tests_properties(unit.device_kernels PROPERTIES SKIP_RETURN_CODE 77 LABELS "unit;device")
# Every kind of memory that CUDA gives out. tests/device/real.sh runs the same program on a GPU.
if(MEND_WITH_MPI)
    add_executable(device_kinds ${CMAKE_SOURCE_DIR}/tests/device/kinds.c)
    set_target_properties(device_kinds PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    mend_use_layers(device_kinds)
    mend_limited_test(NAME unit.device_kinds TIMEOUT 60 COMMAND device_kinds ${CMAKE_CURRENT_BINARY_DIR})
    set_tests_properties(unit.device_kinds PROPERTIES LABELS "unit;store;device"
        ENVIRONMENT MEND_DEVICE_DRIVER=$<TARGET_FILE:fake_driver>)
    add_dependencies(device_kinds fake_driver)
endif()
