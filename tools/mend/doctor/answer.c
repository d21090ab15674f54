/* A machine's answer to `mend doctor --host`: one line of JSON behind a word that no shell prints as a greeting. */
#include "doctor.h"
#include "launch.h"
#include "mpi_paths.h"

#include <mend/error.h>

#include <gnu/libc-version.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The processor's features: the first line of /proc/cpuinfo that lists them. The caller frees it. */
static char *features(void)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL, *found = NULL;
    size_t size = 0;
    while (file && !found && getline(&line, &size, file) > 0) {
        const char *list = strchr(line, ':');
        if (list && (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0))
            found = strndup(list + 2, strcspn(list + 2, "\n"));
    }
    if (file)
        fclose(file);
    free(line);
    return found;
}

int doctor_answer(const char *folder)
{
    struct utsname name;
    struct timespec clock;
    char mpi[256], node[4400];
    tool_mpi_environment();
    doctor_open_mpi(mpi, sizeof mpi);
    char *list = features();
    uname(&name);
    clock_gettime(CLOCK_REALTIME, &clock);
    json_t *answer =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:I, s:b, s:b}", "mend", mend_version_text(),
                  "openmpi", mpi, "machine", name.machine, "features", list ? list : "", "libc",
                  gnu_get_libc_version(), "page", (json_int_t)sysconf(_SC_PAGESIZE), "clock",
                  (double)clock.tv_sec + 1e-9 * (double)clock.tv_nsec, "user", (json_int_t)getuid(),
                  "daemon", tool_find_file("lib/mend/mend-node", node, sizeof node), "folder",
                  !folder || access(folder, R_OK | W_OK | X_OK) == 0);
    char *text = answer ? json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(16)) : NULL;
    if (text)
        printf("\nmend-answer %s\n", text);
    int failed = !text || fflush(stdout);
    free(text);
    free(list);
    json_decref(answer);
    return failed ? -1 : 0;
}
