# make install: libraries, headers, the command, pkg-config and CMake packages.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS mend-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY share/launch DESTINATION ${CMAKE_INSTALL_DATADIR}/mend)
set(targets mend-core mend-core_static)
if(MEND_WITH_MPI)
    list(APPEND targets mend mend_static)
endif()
install(TARGETS ${targets} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
