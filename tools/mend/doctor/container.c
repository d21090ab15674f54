/* Inside a container: which one, and whether it gives Mend what it needs. kernel.c tries what needs special permission
 * (seccomp, reading another process's memory, write tracking), in containers as elsewhere. */
#include "doctor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char *container(void)
{
    if (getenv("APPTAINER_CONTAINER") || getenv("SINGULARITY_CONTAINER"))
        return "Apptainer";
    if (access("/.dockerenv", F_OK) == 0)
        return "Docker";
    if (access("/run/.containerenv", F_OK) == 0)
        return "Podman";
    return NULL;
}

/* Are user IDs mapped, that is, different from those of the machine? */
static bool in_user_namespace(void)
{
    unsigned long inside = 0, outside = 0, count = 0;
    FILE *f = fopen("/proc/self/uid_map", "re");
    bool mapped =
        f && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3 && count < 4294967295ul;
    if (f)
        fclose(f);
    return mapped;
}

static void check_shared_memory(doctor *d)
{
    enum { ENOUGH = 512 }; /* MiB: Open MPI takes 16 MiB a process, and large messages more */
    struct statvfs s;
    if (statvfs("/dev/shm", &s)) {
        doctor_find(d, "shm", DOCTOR_MISSING, "mount a tmpfs at /dev/shm",
                    "/dev/shm is missing: ranks of a node cannot share memory");
        return;
    }
    double size = (double)s.f_blocks * (double)s.f_frsize / 1048576;
    doctor_finding *found =
        size >= ENOUGH
            ? doctor_find(d, "shm", DOCTOR_GOOD, NULL, "/dev/shm has %.0f MiB", size)
            : doctor_find(d, "shm", DOCTOR_MISSING, "docker run --shm-size=2g, or --ipc=host",
                          "/dev/shm has only %.0f MiB: jobs with many ranks may fail", size);
    if (found) {
        found->unit = "MiB";
        found->value = size;
    }
}

void doctor_check_container(doctor *d)
{
    const char *name = container();
    bool mapped = in_user_namespace();
    if (name || mapped)
        doctor_find(d, "container", DOCTOR_GOOD, NULL,
                    "%s%s: repair in place works as outside a container; the lines above show what "
                    "this container does not allow",
                    name ? name : "a user namespace", name && mapped ? " in a user namespace" : "");
    check_shared_memory(d);
}
