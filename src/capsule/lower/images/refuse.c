/* refuse.c - what no image can hold: the state of a GPU, which is with its driver.
 *
 * A program with the driver's library in its half and a device of the driver open would be saved without it, and fail at
 * its first call after a resume. The launcher and the lower half's MPI may have such devices open as
 * well (to look at the machine), so the open device alone says nothing.
 */
#include "images/image.h"
#include "images/snapshot.h"

#include <base/fail.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int has_driver(void)
{
    char line[4352];
    unsigned long from;
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && !found && fgets(line, sizeof line, f) && sscanf(line, "%lx", &from) == 1 &&
           from < UPPER_END)
        found = strstr(line, "/libcuda.so") != NULL;
    if (f)
        fclose(f);
    return found;
}

/* The path of a device of the driver that is open, into `path`. */
static int has_device(char *path, size_t room)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    int found = 0;
    while (d && !found && (e = readdir(d))) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, path, room - 1);
        path[n > 0 ? n : 0] = 0;
        found = strstr(path, "/dev/nvidia") != NULL;
    }
    if (d)
        closedir(d);
    return found;
}

int snapshot_refused(void)
{
    char path[4200];
    if (!has_driver() || !has_device(path, sizeof path))
        return 0;
    return mend_fail(
        MEND_ERR_UNSUPPORTED,
        "the program uses a GPU (%s is open): what its driver holds is in no image, so "
        "this job cannot be checkpointed without changes to the program",
        path);
}
