/* Options that kill this program, so that what protects it can be tried.
 *
 * "--kill R@I" makes rank R end itself by SIGKILL at the top of iteration I; it may be given
 * several times. A kill happens once in a job even if the iteration is computed again, by this
 * process or by one that took its place: before it dies the victim creates the file MARK.R@I. MARK
 * comes from
 * "--mark" or names this job in the folder for temporary files. Give the same --mark to a second
 * job (a relaunch of the first) and the kills of the first are not repeated.
 */
#ifndef MEND_APPS_KILL_H
#define MEND_APPS_KILL_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct kill_plan {
    int count;
    int rank[64], iteration[64];
    char mark[512];
};

static inline int kill_plan_add(struct kill_plan *plan, const char *text)
{
    int end = 0;
    if (plan->count == 64 ||
        sscanf(text, "%d@%d%n", &plan->rank[plan->count], &plan->iteration[plan->count], &end) !=
            2 ||
        text[end])
        return -1;
    plan->count++;
    return 0;
}

static inline void kill_plan_path(const struct kill_plan *plan, int i, char *path, size_t size)
{
    const char *job = getenv("PMIX_NAMESPACE"), *folder = getenv("TMPDIR");
    char name[256];
    int n = 0;
    if (!job)
        job = "job";
    for (; job[n] && n < 255; n++)
        name[n] = job[n] == '/' ? '_' : job[n];
    name[n] = 0;
    if (plan->mark[0])
        snprintf(path, size, "%s.%d@%d", plan->mark, plan->rank[i], plan->iteration[i]);
    else
        snprintf(path, size, "%s/killed.%s.%d@%d", folder ? folder : "/tmp", name, plan->rank[i],
                 plan->iteration[i]);
}

/* Call at the top of every iteration. */
static inline void kill_plan_act(const struct kill_plan *plan, int rank, int iteration)
{
    for (int i = 0; i < plan->count; i++) {
        if (plan->rank[i] != rank || plan->iteration[i] != iteration)
            continue;
        char path[1024];
        kill_plan_path(plan, i, path, sizeof path);
        int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0)
            continue;
        close(fd);
        raise(SIGKILL);
    }
}

/* Removes the marks; one rank calls it when the job has its result and no --mark was given. */
static inline void kill_plan_forget(const struct kill_plan *plan)
{
    for (int i = 0; i < plan->count && !plan->mark[0]; i++) {
        char path[1024];
        kill_plan_path(plan, i, path, sizeof path);
        unlink(path);
    }
}

#endif
