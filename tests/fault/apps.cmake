# The programs of online.sh, online_use.sh, relaunch.sh and launcher.sh, compiled once for all their cases (programs.sh).
if(TARGET capsule-openmpi)
    set(folder ${CMAKE_BINARY_DIR}/tests/fault/apps)
    file(MAKE_DIRECTORY ${folder})
    set(apps)
    foreach(app append collectives groups locked mainless makers odd outside overwrite rewrite rows sparse standard steady waits windows)
        set(source ${CMAKE_CURRENT_SOURCE_DIR}/apps/${app}.c)
        add_custom_command(OUTPUT ${folder}/${app} COMMAND mpicc.openmpi -O2 -o ${folder}/${app} ${source} -lm -pthread
            DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/apps/until.h VERBATIM)
        list(APPEND apps ${folder}/${app})
    endforeach()
    add_custom_target(fault-apps ALL DEPENDS ${apps})
endif()
