# The MPI libraries. Open MPI 5 or newer: -DMEND_OPENMPI=PREFIX, else pkg-config's ompi-c, else the mpicc on PATH.
# MPICH (only to run and resume images on it): -DMEND_MPICH=PREFIX or OFF, else pkg-config's mpich, else none.
# Afterwards: PkgConfig::OMPI, OMPI_INCLUDE_DIRS, OMPI_LIBRARY_DIRS; MPICH_FOUND, MPICH_INCLUDE_DIRS, MPICH_LIBRARY_DIRS;
# and share/mend/mpi in the build, which tells `mend` where their programs are (see tools/mend/mpi_paths.h).
set(MEND_OPENMPI "" CACHE PATH "Prefix of Open MPI 5 or newer (default: pkg-config, then mpicc on PATH)")
set(MEND_MPICH "" CACHE STRING "Prefix of MPICH, or OFF (default: pkg-config)")

# pkg-config looks into this prefix first.
function(mend_prefer_prefix prefix)
    file(GLOB folders ${prefix}/lib/pkgconfig ${prefix}/lib64/pkgconfig ${prefix}/lib/*/pkgconfig ${prefix}/share/pkgconfig)
    string(REPLACE ";" ":" folders "${folders}")
    set(ENV{PKG_CONFIG_PATH} "${folders}:$ENV{PKG_CONFIG_PATH}")
endfunction()

# Open MPI as its own mpicc describes it, for installations without pkg-config files.
macro(mend_ask_mpicc)
    find_program(MEND_MPICC NAMES mpicc mpicc.openmpi HINTS ${MEND_OPENMPI}/bin)
    set(OMPI_FOUND FALSE)
    if(MEND_MPICC)
        foreach(what version incdirs libdirs)
            execute_process(COMMAND ${MEND_MPICC} --showme:${what} OUTPUT_VARIABLE mpicc_${what}
                ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
        endforeach()
        if("${mpicc_version}" MATCHES "Open MPI ([0-9.]+)")
            set(OMPI_FOUND TRUE)
            set(OMPI_VERSION ${CMAKE_MATCH_1})
            separate_arguments(OMPI_INCLUDE_DIRS UNIX_COMMAND "${mpicc_incdirs}")
            separate_arguments(OMPI_LIBRARY_DIRS UNIX_COMMAND "${mpicc_libdirs}")
            find_library(MEND_MPICC_LIBMPI mpi HINTS ${OMPI_LIBRARY_DIRS} NO_DEFAULT_PATH REQUIRED)
            add_library(PkgConfig::OMPI INTERFACE IMPORTED GLOBAL)
            target_include_directories(PkgConfig::OMPI INTERFACE ${OMPI_INCLUDE_DIRS})
            target_link_libraries(PkgConfig::OMPI INTERFACE ${MEND_MPICC_LIBMPI})
        endif()
    endif()
endmacro()

if(MEND_WITH_MPI)
    if(MEND_OPENMPI)
        mend_prefer_prefix(${MEND_OPENMPI})
    endif()
    pkg_check_modules(OMPI IMPORTED_TARGET ompi-c)
    if(NOT OMPI_FOUND)
        mend_ask_mpicc()
    endif()
    if(NOT OMPI_FOUND OR OMPI_VERSION VERSION_LESS 5.0)
        message(FATAL_ERROR "Mend needs Open MPI 5.0 or newer and found ${OMPI_VERSION}: name its prefix by "
            "-DMEND_OPENMPI=PREFIX, or build what needs no MPI by -DMEND_WITH_MPI=OFF (docs/guide/building.md)")
    endif()
    if(NOT MEND_MPICH STREQUAL "OFF")
        if(MEND_MPICH)
            mend_prefer_prefix(${MEND_MPICH})
        endif()
        pkg_check_modules(MPICH IMPORTED_TARGET mpich)
    endif()
    message(STATUS "Open MPI ${OMPI_VERSION} in ${OMPI_LIBRARY_DIRS}; MPICH: ${MPICH_VERSION}")
endif()

# One row of share/mend/mpi: the program in the MPI's own prefix, else the one on PATH that has the MPI's name.
function(mend_mpi_row mpi what program)
    unset(found)
    foreach(prefix IN LISTS ARGN)
        find_program(found NAMES ${program}.${mpi} ${program} PATHS ${prefix}/bin NO_DEFAULT_PATH NO_CACHE)
    endforeach()
    find_program(found NAMES ${program}.${mpi} NO_CACHE)
    if(mpi STREQUAL openmpi)
        find_program(found NAMES ${program} NO_CACHE)
    endif()
    if(found)
        set_property(GLOBAL APPEND_STRING PROPERTY MEND_MPI_ROWS "${mpi}.${what} ${found}\n")
    endif()
endfunction()

set_property(GLOBAL PROPERTY MEND_MPI_ROWS
    "# Where the MPI libraries are that this Mend was built with; read by mend run, restart, exec, cc and doctor.\n")
if(MEND_WITH_MPI AND NOT CMAKE_CROSSCOMPILING)
    if("$ENV{MEND_ENV}" STREQUAL prefix AND NOT MEND_OPENMPI) # our wrappers, not what they wrap
        set(OMPI_PREFIX $ENV{MEND_ENV_PREFIX})
        set(MPICH_PREFIX $ENV{MEND_ENV_PREFIX})
    endif()
    foreach(pair mpirun=mpirun cc=mpicc cxx=mpicxx fortran=mpifort)
        string(REPLACE "=" ";" pair ${pair})
        mend_mpi_row(openmpi ${pair} "${MEND_OPENMPI}" "${OMPI_PREFIX}")
        if(MPICH_FOUND)
            mend_mpi_row(mpich ${pair} "${MEND_MPICH}" "${MPICH_PREFIX}")
        endif()
    endforeach()
    if(DEFINED ENV{OPAL_PREFIX}) # it is not where it was built for
        set_property(GLOBAL APPEND_STRING PROPERTY MEND_MPI_ROWS "openmpi.prefix $ENV{OPAL_PREFIX}\n")
    endif()
endif()
get_property(rows GLOBAL PROPERTY MEND_MPI_ROWS)
file(WRITE ${CMAKE_BINARY_DIR}/share/mend/mpi "${rows}")

# A build folder is laid out as an installed copy is.
file(GLOB flags CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/launch/*)
foreach(file IN LISTS flags)
    get_filename_component(name ${file} NAME)
    configure_file(${file} ${CMAKE_BINARY_DIR}/share/mend/launch/${name} COPYONLY)
endforeach()
