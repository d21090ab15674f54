/* undo/locked.c - a rank resumes, and somebody else holds a lock that it had: see upper/os/locks.c. */
#include "undo/together.h"
#include "undo/undo.h"

#include <base/event.h>

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

int undo_program_locks(void)
{
    return lower.upper && lower.upper->locks_files;
}

/* Another process with a lock on the file; 0: none that is visible here. */
static int holder_of(const struct stat *st)
{
    FILE *f = fopen("/proc/locks", "re");
    char line[256];
    int found = 0;
    while (f && !found && fgets(line, sizeof line, f)) {
        unsigned major, minor;
        unsigned long inode;
        int pid;
        if (sscanf(line, "%*d: %*s %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) == 4 &&
            inode == st->st_ino && makedev(major, minor) == st->st_dev && pid > 0 &&
            pid != getpid())
            found = pid;
    }
    if (f)
        fclose(f);
    return found;
}

static void path_of(int fd, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = 0;
}

static void say(int fd, const char *path, const char *what)
{
    char name[64], comm[32] = "?", who[128] = "a process that is not visible here";
    struct stat st;
    int pid = fstat(fd, &st) ? 0 : holder_of(&st);
    if (pid) {
        snprintf(name, sizeof name, "/proc/%d/comm", pid);
        FILE *f = fopen(name, "re");
        if (f && fgets(comm, sizeof comm, f))
            comm[strcspn(comm, "\n")] = 0;
        if (f)
            fclose(f);
        snprintf(who, sizeof who, "process %d (%s)", pid, comm);
    }
    fprintf(stderr, "mend: rank %d %s a lock on %s that it held at the version: %s holds it\n",
            lower.upper->rank, what, path, who);
}

/* The upper half asks again and again. The holder may be about to end. */
void lower_lock_awaited(int fd, struct lock_wait *wait)
{
    static const double patience = 2, limit = 30; /* seconds */
    char path[PATH_MAX];
    double now = seconds_now();
    recover_look(); /* after another death this does not return */
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    if (!wait->since)
        wait->since = now;
    path_of(fd, path);
    if (now - wait->since > patience && !wait->told++)
        say(fd, path, "waits for");
    if (now - wait->since <= limit)
        return;
    say(fd, path, "cannot go on without");
    end_refused_job(-1, path);
}
