/* main.c - the lower half: starts (or resumes) the upper half in this process.
 *
 *   mpirun -n 4 capsule.openmpi ./app args...        start an application
 *   mpirun -n 4 capsule.mpich --restart DIR          resume it from its images
 */
#include <base/hwloc_plugins.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "ground/settings.h"
#include "images/image.h"
#include "online/online.h"
#include "start/start.h"
#include "versions/versions.h"

/* Network libraries cache memory registrations and watch the process' own munmap() to learn when one is void.
 * They do not see the upper half's munmap(): a registration that outlived its memory would send from, or
 * receive into, pages that belong to nobody. So the cache is switched off. UCX logs to stderr: its messages,
 * for example about windows that still exist when a job is stopped, must not mix with the application's
 * output. The libraries read these variables before main(), so we set them and start the program again. A
 * value that the user has set stays. */
static void tame_network_libraries(char **argv)
{
    static const char *const rules[][2] = {{"UCX_MEM_EVENTS", "n"},
                                           {"UCX_LOG_FILE", "stderr"},
                                           {"FI_MR_CACHE_MONITOR", "disabled"},
                                           {"OMPI_MCA_memory", "^patcher"}};
    int again = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!getenv(rules[i][0]))
            again |= setenv(rules[i][0], rules[i][1], 0) == 0;
    if (again)
        execv("/proc/self/exe", argv);
}

/* A GPU driver in the lower half would take addresses that belong to the upper half. The application's own
 * environment stays as it is: the application may use hwloc, too. */
static void leave_gpus_to_program(void)
{
    load_remember_environment();
    mend_hwloc_without_gpus();
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    prctl(PR_SET_NAME,
          slash ? slash + 1 : argv[0]); /* it may have been started as /proc/self/exe */
    if (argc > 3 && !strcmp(argv[1], "--gpu"))
        gpu_help(argc - 2, argv + 2);
    tame_network_libraries(argv);
    leave_gpus_to_program();
    standard_keep();
    ground.page_size = sysconf(_SC_PAGESIZE);
    lower.thread_pointer = thread_pointer_get();
    lower.thread_pointer_fast = machine_fast_thread_pointer();
    thread_pointer_choose(lower.thread_pointer_fast);
    if ((uintptr_t)__builtin_frame_address(0) < UPPER_END)
        die("this kernel gives a process fewer than the 47 address bits that the capsule needs");
    if ((uintptr_t)&lower < UPPER_END)
        die("the lower half must be a position-independent program");
    settings_load();
    files_began();
    survey_store_all(settings.full);
    if (argc > 1 && !strcmp(argv[1], "--online"))
        recover_main(argc - 2, argv + 2);
    relaunch_open();
    if (argc >= 3 && !strcmp(argv[1], "--restart"))
        restart(argv[2], argc > 3 ? atoll(argv[3]) : -1, 0, NULL);
    if (argc >= 5 && !strcmp(argv[1], "--resume"))
        restart(argv[2], atoll(argv[3]), argc - 4, argv + 4);
    if (argc < 2) {
        fprintf(stderr, "usage: %s PROGRAM ARGS... | --restart DIR [VERSION]\n", argv[0]);
        return 2;
    }
    relaunch_begin();
    load_and_enter(argc - 1, argv + 1);
}
