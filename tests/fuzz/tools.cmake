set(tool ${CMAKE_SOURCE_DIR}/tools/mend)
mend_fuzzer(NAME schedule SOURCES schedule.c ${tool}/chaos/schedule.c MAXLEN 4096)
mend_fuzzer(NAME events SOURCES events.c ${tool}/report/read.c ${tool}/report/svg.c ${tool}/report/timeline.c ${tool}/report/places.c
    ${tool}/report/failures.c ${tool}/report/words.c ${tool}/report/page.c ${tool}/report/head.c
    ${tool}/report/hindsight.c ${tool}/report/cores.c ${tool}/top/folder.c ${tool}/top/note.c ${tool}/top/levels.c
    ${tool}/top/view.c ${tool}/jobfile.c CHECK 6)
mend_fuzzer(NAME job SOURCES job.c ${tool}/jobfile.c CHECK 6)
mend_fuzzer(NAME hosts SOURCES hosts.c ${CMAKE_SOURCE_DIR}/src/launcher/hosts.c MAXLEN 4096)
foreach(name schedule events job)
    if(TARGET fuzz_${name})
        target_include_directories(fuzz_${name} PRIVATE ${tool})
    endif()
endforeach()
