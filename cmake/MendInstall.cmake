# make install: libraries, headers, the command, its manual and completion, pkg-config and CMake packages.
install(DIRECTORY include/mend DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY include/compat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mend FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS mend-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY share/launch share/events DESTINATION ${CMAKE_INSTALL_DATADIR}/mend)
install(FILES ${CMAKE_BINARY_DIR}/share/mend/mpi DESTINATION ${CMAKE_INSTALL_DATADIR}/mend)
install(FILES contrib/completion/mend.bash RENAME mend
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(targets mend-core)
if(MEND_WITH_MPI)
    list(APPEND targets mend-store mend)
endif()
install(TARGETS ${targets} EXPORT mend LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set_target_properties(mend-core PROPERTIES EXPORT_NAME core)
if(TARGET mend-store)
    set_target_properties(mend-store PROPERTIES EXPORT_NAME store)
endif()
install(EXPORT mend NAMESPACE mend:: FILE mendTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mend)

# pkg-config: mend-core (no MPI), mend (all layers), and the faces of other systems
string(REGEX REPLACE "[^/]+" ".." up "${CMAKE_INSTALL_LIBDIR}")
set(MEND_PC_PREFIX "\${pcfiledir}/../${up}") # so that an installed copy can be moved
# a program finds the libraries where they are, without ldconfig or LD_LIBRARY_PATH; a package in /usr needs no help
set(MEND_PC_RPATH "-Wl,-rpath,\${libdir} ")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(MEND_PC_RPATH)
endif()
set(packages mend-core)
if(MEND_WITH_MPI)
    list(APPEND packages mend-store mend mend-fenix mend-veloc mend-fti mend-scr)
endif()
foreach(package IN LISTS packages)
    configure_file(cmake/${package}.pc.in ${CMAKE_BINARY_DIR}/pkgconfig/${package}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/pkgconfig/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# find_package(mend): mend::mend and mend::core
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/mendConfig.cmake.in ${CMAKE_BINARY_DIR}/package/mendConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mend
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/mendConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/mendConfig.cmake ${CMAKE_BINARY_DIR}/package/mendConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mend)
