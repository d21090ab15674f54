/* Does the job still run as it should? This file finds what no event reports: dead processes, a recovery that does not
 * end, another program in a rank's place, a folder that was removed. */
#include "follow.h"

#include <base/event.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* On other nodes we cannot look for processes. */
static bool is_far(const struct run_follower *f)
{
    return f->job->host || f->job->hostfile || f->now.elsewhere;
}

char follow_state(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = pid > 0 ? fopen(path, "re") : NULL;
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        fclose(in);
    text[n] = 0;
    const char *end = strrchr(text, ')'); /* ends the name, which may itself contain one */
    return end && end[1] ? end[2] : 0;
}

/* A launcher that hangs leaves dead ranks as zombies. */
static bool is_dead(pid_t pid)
{
    char state = follow_state(pid);
    return state == 'Z' || state == 'X' || (state == 0 && kill(pid, 0) && errno == ESRCH);
}

/* Of this launch, on this machine; looked up a few times a second. */
static int count_dead(struct run_progress *p)
{
    double now = mend_now();
    if (now - p->counted_at < 0.1)
        return p->dead;
    p->counted_at = now;
    p->dead = 0;
    for (int i = 0; i < p->born_count; i++)
        p->dead += is_dead(p->born[i]);
    return p->dead;
}

bool follow_fell(const struct run_follower *f)
{
    const struct run_progress *p = &f->now;
    return p->fell && p->started < f->job->ranks + f->job->spares && p->exited + p->left == 0 &&
           !p->ended_by_program;
}

bool follow_stillborn(struct run_follower *f)
{
    /* seconds: catches a process that died before it could report its start, and those on other
     * nodes, where we cannot look */
    enum { MISSED = 30, FAR = 120 };
    struct run_progress *p = &f->now;
    int all = f->job->ranks + f->job->spares;
    double quiet = p->born_count ? mend_now() - p->last_born : 0;
    if (p->started >= all)
        return false;
    if (p->fell)
        return true;
    if (is_far(f))
        return quiet > FAR;
    return count_dead(p) > 0 || (p->born_count < all && quiet > MISSED);
}

/* Open MPI's launcher may hang when ranks end at the same time, or when one dies while others connect to it inside
 * MPI_Init. A job that does not repair itself needs it to end the others. */
bool follow_deserted(struct run_follower *f)
{
    enum { A_WHILE = 10 }; /* seconds; MPI_Abort and the last output take some */
    struct run_progress *p = &f->now;
    bool deserted = p->gave_up;
    if (!is_far(f) && !deserted && p->born_count > 0) {
        int dead = count_dead(p);
        deserted = dead == p->born_count || (!f->job->online && dead > p->exited + p->left);
    }
    if (!deserted || p->printing)
        p->deserted_since = 0;
    else if (p->deserted_since == 0)
        p->deserted_since = mend_now();
    return p->deserted_since > 0 && mend_now() - p->deserted_since > A_WHILE;
}

bool follow_stuck(const struct run_follower *f)
{
    return f->now.repair_since > 0 && mend_now() - f->now.repair_since > f->job->patience;
}

/* Nobody saves or repairs a rank that has become another program by exec(). */
void follow_replaced(struct run_follower *f)
{
    char path[64], program[4096];
    struct run_progress *p = &f->now;
    for (int i = 0; !p->refused && !is_far(f) && i < p->born_count; i++) {
        if (p->past[i])
            continue;
        snprintf(path, sizeof path, "/proc/%d/exe", (int)p->born[i]);
        ssize_t n = readlink(path, program, sizeof program - 1);
        p->past[i] = n <= 0; /* its ID may be given to another process */
        program[n > 0 ? n : 0] = 0;
        const char *name = strrchr(program, '/');
        if (!name || strncmp(name, "/capsule.", 9) == 0)
            continue;
        follow_wipe_line(f);
        fprintf(stderr,
                "mend: the program replaced itself by exec (%s), which Mend cannot follow: name "
                "that program after --\n",
                program);
        p->refused = true;
    }
}

ino_t follow_mark(const struct run_follower *f)
{
    char path[4400];
    struct stat st;
    snprintf(path, sizeof path, "%s/running", f->job->dir);
    if (stat(path, &st) == 0)
        return st.st_ino;
    return errno == ENOENT || errno == ENOTDIR
               ? 0
               : f->mark; /* a file server that is away for a while */
}

bool follow_lost(struct run_follower *f)
{
    double now = mend_now();
    if (now - f->looked_at < 1)
        return false;
    f->looked_at = now;
    f->missed = follow_mark(f) != f->mark ? f->missed + 1 : 0;
    return f->missed > 1;
}
