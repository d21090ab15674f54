# A layer is one folder src/NAME and one object library. It sees its own folder, the public headers
# and the include/ folders of the layers it needs: nothing else, so that arrows point down only.
set_property(GLOBAL PROPERTY MEND_LAYERS_BUILT "")

function(mend_add_layer_folder name)
    foreach(folder src/${name} src/compat/${name} src/ulfm/${name})
        if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt)
            add_subdirectory(${CMAKE_SOURCE_DIR}/${folder})
        endif()
    endforeach()
endfunction()

# mend_layer(NAME [MPI] [ROOMS folder…] NEEDS layer…)
function(mend_layer name)
    cmake_parse_arguments(ARG "MPI" "" "NEEDS;ROOMS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    foreach(room IN LISTS ARG_ROOMS)
        file(GLOB more CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.c)
        list(APPEND sources ${more})
    endforeach()
    add_library(mend_${name} OBJECT ${sources})
    target_include_directories(mend_${name}
        PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/include
        PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(mend_${name} PUBLIC ${MEND_CORE_LIBRARIES})
    if(ARG_MPI)
        target_link_libraries(mend_${name} PUBLIC PkgConfig::OMPI)
    endif()
    foreach(needed IN LISTS ARG_NEEDS)
        if(NOT TARGET mend_${needed})
            message(FATAL_ERROR "layer ${name} needs ${needed}, which is not below it")
        endif()
        target_include_directories(mend_${name} PUBLIC
            $<TARGET_PROPERTY:mend_${needed},INTERFACE_INCLUDE_DIRECTORIES>)
    endforeach()
    set_property(GLOBAL APPEND PROPERTY MEND_LAYERS_BUILT ${name})
endfunction()

# The static library for users: one object whose hidden names are local, so that it defines the same names
# as the shared library and can clash with nothing. (NAME_static, for our tests, shows all names.)
function(mend_static_library name)
    set(archive ${CMAKE_BINARY_DIR}/lib/lib${name}.a)
    set(object ${CMAKE_BINARY_DIR}/lib/${name}.o)
    add_custom_command(OUTPUT ${archive}
        COMMAND ${CMAKE_LINKER} -r -o ${object} ${ARGN}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
        COMMAND ${CMAKE_AR} rcs ${archive} ${object}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${object}
        DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/MendLayer.cmake COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${name}_archive ALL DEPENDS ${archive})
    install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# One shared and one static library from the objects of the given layers.
function(mend_library name map)
    set(objects "")
    foreach(layer IN LISTS ARGN)
        list(APPEND objects $<TARGET_OBJECTS:mend_${layer}>)
    endforeach()
    add_library(${name} SHARED ${objects})
    add_library(${name}_static STATIC ${objects})
    set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name}-internal)
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0
        LINK_DEPENDS ${map})
    target_link_options(${name} PRIVATE -Wl,--version-script=${map})
    set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON) # nothing is rewritten when it is installed
    foreach(target ${name} ${name}_static)
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
        target_include_directories(${target} INTERFACE
            $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    endforeach()
    if(NOT MEND_SANITIZE)
        mend_static_library(${name} ${objects})
        add_dependencies(${name}_archive ${name}_static) # the objects are other targets' files
    endif()
    target_link_libraries(${name} PRIVATE ${MEND_CORE_LIBRARIES})
    target_link_libraries(${name}_static PUBLIC ${MEND_CORE_LIBRARIES})
endfunction()

function(mend_products)
    get_property(built GLOBAL PROPERTY MEND_LAYERS_BUILT)
    set(core "")
    foreach(layer IN LISTS built)
        if(layer IN_LIST MEND_CORE_LAYERS)
            list(APPEND core ${layer})
        endif()
    endforeach()
    set(map ${CMAKE_SOURCE_DIR}/src/mend.map)
    mend_library(mend-core ${map} ${core})
    if(MEND_WITH_MPI)
        set(store "")
        foreach(layer IN LISTS built)
            if(layer IN_LIST MEND_STORE_LAYERS)
                list(APPEND store ${layer})
            endif()
        endforeach()
        mend_library(mend-store ${map} ${store})
        mend_library(mend ${map} ${built})
        foreach(target mend-store mend-store_static mend mend_static)
            target_link_libraries(${target} PUBLIC PkgConfig::OMPI)
        endforeach()
    endif()
endfunction()
