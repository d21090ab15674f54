/* The job's ranks: finding them in /proc. */
#include "chaos.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t read_small(const char *path, char *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t used = 0;
    ssize_t n;
    while (used < size - 1 && (n = read(fd, buffer + used, size - 1 - used)) > 0)
        used += (size_t)n;
    close(fd);
    buffer[used] = 0;
    return (ssize_t)used;
}

struct seen {
    pid_t pid, parent, group;
    unsigned long long born;
    char state;
};

static bool read_stat(pid_t pid, struct seen *p)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (read_small(path, text, sizeof text) <= 0)
        return false;
    char *after = strrchr(text, ')'); /* the name may contain anything */
    p->pid = pid;
    return after && sscanf(after + 1,
                           " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                           "%*d %*d %llu",
                           &p->state, &p->parent, &p->group, &p->born) == 4;
}

/* The rank that a launcher gave to a process; -1: none. */
static int rank_of(pid_t pid)
{
    static const char *const names[] = {
        "PMIX_RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_PROCID="};
    static char text[1 << 18];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    ssize_t size = read_small(path, text, sizeof text);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (ssize_t at = 0; at < size; at += (ssize_t)strlen(text + at) + 1)
            if (strncmp(text + at, names[n], strlen(names[n])) == 0)
                return atoi(text + at + strlen(names[n]));
    return -1;
}

static bool descends(const struct seen *all, int count, pid_t parent, pid_t launcher)
{
    for (int depth = 0; depth < 64 && parent > 1; depth++) {
        if (parent == launcher)
            return true;
        pid_t up = 0;
        for (int i = 0; i < count; i++)
            if (all[i].pid == parent)
                up = all[i].parent;
        parent = up;
    }
    return false;
}

static int by_rank(const void *a, const void *b)
{
    const struct chaos_process *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->pid > y->pid) - (x->pid < y->pid);
}

static int all_processes(struct seen **out)
{
    struct seen *all = NULL;
    int count = 0, room = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc));) {
        int pid = atoi(e->d_name);
        struct seen p;
        if (pid <= 0 || !read_stat(pid, &p))
            continue;
        if (count == room) {
            struct seen *grown = realloc(all, (size_t)(room = room * 2 + 256) * sizeof *all);
            if (!grown)
                break;
            all = grown;
        }
        all[count++] = p;
    }
    if (proc)
        closedir(proc);
    *out = all;
    return count;
}

/* Processes that a rank started and left behind have its rank and its process group as well: the oldest one counts. */
static bool counted(struct chaos_job *job, const struct seen *p, int rank)
{
    for (int i = 0; i < job->count; i++) {
        struct chaos_process *known = &job->process[i];
        if (known->rank != rank || known->group != p->group)
            continue;
        if (p->born < known->born || (p->born == known->born && p->pid < known->pid)) {
            known->pid = p->pid;
            known->born = p->born;
        }
        return true;
    }
    return false;
}

/* A rank is a descendant of the launcher with a rank in its environment whose parent has none: a
 * helper that a rank has started is not one. */
int chaos_look(struct chaos_job *job)
{
    struct seen *all;
    int count = all_processes(&all);
    job->count = 0;
    for (int i = 0; i < count; i++) {
        if (all[i].state == 'Z' || all[i].state == 'X' ||
            !descends(all, count, all[i].parent, job->launcher))
            continue;
        int rank = rank_of(all[i].pid);
        if (rank < 0 || rank_of(all[i].parent) == rank || counted(job, &all[i], rank))
            continue;
        struct chaos_process *grown =
            realloc(job->process, (size_t)(job->count + 1) * sizeof *job->process);
        if (!grown)
            break;
        job->process = grown;
        char path[64];
        struct stat node = {0};
        snprintf(path, sizeof path, "/proc/%d/ns/uts", all[i].pid);
        (void)!stat(path, &node);
        job->process[job->count++] =
            (struct chaos_process){all[i].pid, all[i].born, rank, node.st_ino, all[i].group};
    }
    free(all);
    if (job->count)
        qsort(job->process, (size_t)job->count, sizeof *job->process, by_rank);
    if (job->count > job->largest)
        job->largest = job->count;
    return job->count;
}

bool chaos_is_same(pid_t pid, unsigned long long born)
{
    struct seen p;
    return read_stat(pid, &p) && p.born == born && p.state != 'Z' && p.state != 'X';
}
