/* The faults themselves: kill, stop, fill, break, damage. */
#include "chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* What must be undone. */
struct chaos_undo {
    struct chaos_undo *next;
    double due; /* 0: at the end only */
    pid_t pid;  /* to continue, if it is still the same process */
    unsigned long long born;
    char *remove, *back_from, *back_to; /* a file to remove; a folder to put back */
};

/* ---- choosing ------------------------------------------------------------------------------ */

/* Node of a process: by its namespace if the job shows several, else by blocks of ranks. */
static int node_of(const struct chaos_job *job, int index)
{
    const struct chaos_process *p = &job->process[index];
    if (job->nodes > 0) {
        int block = (job->largest + job->nodes - 1) / job->nodes;
        return block > 0 ? p->rank / block : 0;
    }
    int node = 0;
    for (int i = 0; i < job->count; i++) {
        bool first = job->process[i].node < p->node;
        for (int k = 0; k < i && first; k++)
            first = job->process[k].node != job->process[i].node;
        node += first;
    }
    return node;
}

static bool is_chosen(const int *chosen, int n, int index)
{
    for (int k = 0; k < n; k++)
        if (chosen[k] == index)
            return true;
    return false;
}

/* Indices of the processes that this fault hits, each once. `chosen` has room for all. */
static int choose(struct chaos_job *job, struct chaos_fault *fault, int *chosen)
{
    int n = 0, nodes = 0;
    uint64_t draw = fault->draw;
    for (int i = 0; i < job->count; i++)
        if (node_of(job, i) >= nodes)
            nodes = node_of(job, i) + 1;
    if (fault->kind == CHAOS_NODE) {
        if (nodes == 0) /* no process now, as while the job is launched again */
            return 0;
        int wanted = fault->targets ? fault->target[0] : (int)(chaos_next(&draw) % (uint64_t)nodes);
        for (int i = 0; i < job->count; i++)
            if (node_of(job, i) == wanted)
                chosen[n++] = i;
        fault->target[0] = wanted;
        return n;
    }
    for (int t = 0; t < fault->targets; t++)
        for (int i = 0; i < job->count; i++)
            if (job->process[i].rank == fault->target[t] && !is_chosen(chosen, n, i))
                chosen[n++] = i;
    for (int t = 0; !fault->targets && t < fault->count && n < job->count; t++) {
        int pick = (int)(chaos_next(&draw) % (uint64_t)(job->count - n));
        for (int i = 0; i < job->count; i++) {
            if (!is_chosen(chosen, n, i) && pick-- == 0) {
                chosen[n++] = i;
                break;
            }
        }
    }
    return n;
}

/* ---- storage ------------------------------------------------------------------------------- */

static void free_paths(struct chaos_undo *u)
{
    free(u->remove);
    free(u->back_from);
    free(u->back_to);
}

/* The paths are freshly allocated; NULL: there was no memory. */
static void remember(struct chaos_job *job, struct chaos_undo what)
{
    bool whole = what.pid || what.remove || (what.back_from && what.back_to);
    struct chaos_undo *u = whole ? malloc(sizeof *u) : NULL;
    if (!u) {
        fputs("mend chaos: no memory: a fault will not be undone\n", stderr);
        free_paths(&what);
        return;
    }
    *u = what;
    u->next = job->undo;
    job->undo = u;
}

static void storage_path(const struct chaos_job *job, const struct chaos_fault *fault, char *path)
{
    const char *mark = strstr(job->storage, "%d");
    if (mark)
        snprintf(path, PATH_MAX, "%.*s%d%s", (int)(mark - job->storage), job->storage,
                 fault->target[0], mark + 2);
    else
        snprintf(path, PATH_MAX, "%s", job->storage);
}

static int fill(struct chaos_job *job, struct chaos_fault *fault, const char *path, double now)
{
    struct statvfs fs;
    char file[PATH_MAX + 32];
    if (statvfs(path, &fs))
        return snprintf(fault->result, sizeof fault->result, "no such folder"), 0;
    unsigned long long left = (unsigned long long)fs.f_bavail * fs.f_frsize;
    if (left > job->fill_limit)
        return snprintf(fault->result, sizeof fault->result,
                        "refused: %llu MiB are free, --fill-limit is %llu MiB", left >> 20,
                        job->fill_limit >> 20),
               0;
    snprintf(file, sizeof file, "%s/.mend-chaos-fill", path);
    int fd = open(file, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    static char zeros[1 << 16];
    unsigned long long written = 0;
    for (ssize_t n; fd >= 0 && (n = write(fd, zeros, sizeof zeros)) > 0;)
        written += (unsigned long long)n;
    if (fd >= 0)
        close(fd);
    remember(job, (struct chaos_undo){.due = fault->lasts > 0 ? now + fault->lasts : 0,
                                      .remove = strdup(file)});
    snprintf(fault->result, sizeof fault->result, "full (%llu MiB written)", written >> 20);
    return 1;
}

/* Replace the folder by a file: every access fails, for root as well. */
static int break_folder(struct chaos_job *job, struct chaos_fault *fault, const char *path,
                        double now)
{
    char aside[PATH_MAX + 32];
    snprintf(aside, sizeof aside, "%s.mend-chaos", path);
    if (rename(path, aside))
        return snprintf(fault->result, sizeof fault->result, "cannot: %s", strerror(errno)), 0;
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    remember(job, (struct chaos_undo){.due = fault->lasts > 0 ? now + fault->lasts : 0,
                                      .back_from = strdup(aside),
                                      .back_to = strdup(path)});
    snprintf(fault->result, sizeof fault->result, "broken");
    return 1;
}

static int flip(struct chaos_fault *fault, const char *folder)
{
    uint64_t draw = fault->draw;
    struct stat st;
    char file[PATH_MAX];
    int fd = chaos_draw_file(folder, &draw, file);
    unsigned char byte;
    if (fd < 0 || fstat(fd, &st) || st.st_size == 0) {
        if (fd >= 0)
            close(fd);
        return snprintf(fault->result, sizeof fault->result, "no file there"), 0;
    }
    off_t at = (off_t)(chaos_next(&draw) % (uint64_t)st.st_size);
    bool ok = pread(fd, &byte, 1, at) == 1;
    byte ^= (unsigned char)(1u << (chaos_next(&draw) % 8));
    ok = ok && pwrite(fd, &byte, 1, at) == 1;
    close(fd);
    snprintf(fault->hit, sizeof fault->hit, "%.120s", file);
    snprintf(fault->result, sizeof fault->result, ok ? "flipped a bit of byte %lld" : "cannot",
             (long long)at);
    return ok;
}

static int on_storage(struct chaos_job *job, struct chaos_fault *fault, double now)
{
    char path[PATH_MAX];
    if (!job->storage)
        return snprintf(fault->result, sizeof fault->result, "not done: no --storage given"), 0;
    storage_path(job, fault, path);
    snprintf(fault->hit, sizeof fault->hit, "%.120s", path);
    switch (fault->kind) {
    case CHAOS_FILL: return fill(job, fault, path, now);
    case CHAOS_BREAK: return break_folder(job, fault, path, now);
    default: return flip(fault, path);
    }
}

/* ---- doing --------------------------------------------------------------------------------- */

static int on_processes(struct chaos_job *job, struct chaos_fault *fault, const int *chosen, int n,
                        double now)
{
    bool kills = fault->kind != CHAOS_STOP;
    int done = 0;
    if (n == 0)
        return snprintf(fault->result, sizeof fault->result, "not done: no such process"), 0;
    if (kills && job->count - n < job->leave)
        return snprintf(fault->result, sizeof fault->result,
                        "not done: %d of %d would be left, --leave is %d", job->count - n,
                        job->count, job->leave),
               0;
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        struct chaos_process *p = &job->process[chosen[i]];
        if (!chaos_is_same(p->pid, p->born) || kill(p->pid, kills ? SIGKILL : SIGSTOP))
            continue;
        if (used < sizeof fault->hit)
            used += (size_t)snprintf(fault->hit + used, sizeof fault->hit - used,
                                     "%srank %d (pid %d)", done ? ", " : "", p->rank, p->pid);
        done++;
        if (!kills)
            remember(job, (struct chaos_undo){.due = fault->lasts > 0 ? now + fault->lasts : 0,
                                              .pid = p->pid,
                                              .born = p->born});
    }
    snprintf(fault->result, sizeof fault->result, "%s",
             done == 0 ? "gone already"
             : kills   ? "killed"
                       : "stopped");
    if (fault->kind == CHAOS_NODE && done && job->storage && strstr(job->storage, "%d")) {
        char path[PATH_MAX];
        storage_path(job, fault, path);
        chaos_empty(path);
        snprintf(fault->result, sizeof fault->result, "killed, its storage emptied");
    }
    return done;
}

int chaos_act(struct chaos_job *job, struct chaos_fault *fault, double now)
{
    fault->done_at = now;
    if (fault->kind >= CHAOS_FILL)
        return on_storage(job, fault, now);
    int *chosen = malloc((size_t)(job->count + 1) * sizeof *chosen);
    if (!chosen)
        return snprintf(fault->result, sizeof fault->result, "not done: no memory"), 0;
    int done = on_processes(job, fault, chosen, choose(job, fault, chosen), now);
    free(chosen);
    return done;
}

void chaos_undo_due(struct chaos_job *job, double now, bool all)
{
    for (struct chaos_undo **at = &job->undo, *u; (u = *at);) {
        if (!all && (u->due <= 0 || u->due > now)) {
            at = &u->next;
            continue;
        }
        if (u->pid && chaos_is_same(u->pid, u->born))
            kill(u->pid, SIGCONT);
        if (u->remove)
            unlink(u->remove);
        if (u->back_from) {
            unlink(u->back_to);
            (void)!rename(u->back_from, u->back_to);
        }
        *at = u->next;
        free_paths(u);
        free(u);
    }
}
