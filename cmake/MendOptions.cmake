# What may be chosen, and how everything is compiled.
option(MEND_WITH_MPI "Build the layers that need MPI (process, store, flow, capsule)" ON)
set(MEND_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
option(BUILD_TESTING "Build the tests, benchmarks and example programs" ON)
set(ours OFF) # a build by `make`, in env/run: there a warning is an error
if(DEFINED ENV{MEND_ENV_ENTERED})
    set(ours ON)
endif()
option(MEND_WERROR "Treat warnings as errors (default: in our own builds only)" ${ours})
if(MEND_WERROR AND ((CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 15)
        OR (CMAKE_C_COMPILER_ID STREQUAL Clang AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 20)))
    message(STATUS "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} is newer than those Mend is tested with: warnings are no errors")
    set(MEND_WERROR OFF)
endif()
option(MEND_FUZZ "Build the fuzz targets (needs clang)" OFF)
# Tests that build everything another way (sanitizers, clang, fuzzers) belong to the outer build only.
set(MEND_INNER_BUILDS OFF)
if(BUILD_TESTING AND MEND_WITH_MPI AND NOT MEND_SANITIZE AND CMAKE_BINARY_DIR STREQUAL "${CMAKE_SOURCE_DIR}/build")
    set(MEND_INNER_BUILDS ON)
endif()

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set_property(GLOBAL PROPERTY TARGET_MESSAGES OFF) # only what is done is told
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_compile_definitions(_GNU_SOURCE)
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wall> $<$<COMPILE_LANGUAGE:C>:-Wextra>
    $<$<AND:$<BOOL:${MEND_WERROR}>,$<COMPILE_LANGUAGE:C>>:-Werror> $<$<COMPILE_LANGUAGE:C>:-fno-strict-aliasing> -fno-omit-frame-pointer)
# No path of the machine that builds is in what is built: not in __FILE__, not in the debug information. (gdb finds the
# sources when it is started in the clone's folder.)
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=./build)
# The libraries of a private prefix are found by the RPATH that its compiler wrapper (env/wrap/driver) sets;
# other libraries outside the system's folders by the one that CMake makes of the folders linked from.
if(NOT "$ENV{MEND_ENV}" STREQUAL prefix)
    set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL Clang)
    add_compile_options(-Wno-unknown-warning-option) # gcc's names of warnings in pragmas
endif()
if(MEND_SANITIZE)
    add_compile_options(-fsanitize=${MEND_SANITIZE} -fno-sanitize-recover=all)
    # gcc sees more than there is through the instrumentation
    add_compile_options(-Wno-format-truncation -Wno-maybe-uninitialized)
    add_link_options(-fsanitize=${MEND_SANITIZE})
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(INIH REQUIRED IMPORTED_TARGET inih)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
if(BUILD_TESTING)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
include(MendMpi)
set(MEND_CORE_LIBRARIES PkgConfig::ISAL PkgConfig::XXHASH PkgConfig::ZSTD PkgConfig::INIH
    PkgConfig::JANSSON Threads::Threads m)

# Fortran is for tests and bindings: a machine may have none, and they are left out.
execute_process(COMMAND gfortran --version RESULT_VARIABLE MEND_NO_FORTRAN OUTPUT_QUIET ERROR_QUIET)
set(MEND_HAVE_FORTRAN OFF)
if(MEND_NO_FORTRAN EQUAL 0)
    set(MEND_HAVE_FORTRAN ON)
endif()
