/* The head's command line, which only `mend run` writes, and the head's initial state. */
#include "binding.h"
#include "head/head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static bool take_binding(struct head *h, const char *value)
{
    enum binding binding;
    bool ok = binding_from(value, &binding);
    h->job.bind = ok ? binding : BINDING_AUTO;
    return ok;
}

/* A variable for the ranks only. A library to be preloaded into the ranks must not be loaded here or in an agent. */
static bool take_variable(struct head *h, const char *text)
{
    size_t count = 0, at = 0, length = strcspn(text, "=");
    if (length == 0 || !text[length])
        return false;
    while (h->job.environment[count])
        count++;
    while (at < count && strncmp(h->job.environment[at], text, length + 1) != 0)
        at++;
    char **all = launcher_memory(NULL, (count + 2) * sizeof *all);
    memcpy(all, h->job.environment, (count + 1) * sizeof *all);
    all[at] = (char *)text;
    all[at < count ? count : count + 1] = NULL;
    h->job.environment = all;
    return true;
}

static bool take_option(struct head *h, const char *name, const char *value, char **avoid)
{
    if (!strcmp(name, "-n"))
        h->job.ranks = (uint32_t)atol(value);
    else if (!strcmp(name, "--host"))
        h->host_list = value;
    else if (!strcmp(name, "--hostfile"))
        h->host_file = value;
    else if (!strcmp(name, "--added"))
        h->added_file = value;
    else if (!strcmp(name, "--retry"))
        h->retry = atof(value);
    else if (!strcmp(name, "--avoid"))
        *avoid = launcher_text(value);
    else if (!strcmp(name, "--agent"))
        h->agent = value;
    else if (!strcmp(name, "--interface"))
        h->interface = value;
    else if (!strcmp(name, "--node-timeout"))
        h->job.timeout_ms = (uint32_t)(1000 * atof(value));
    else if (!strcmp(name, "--start-timeout"))
        h->start_time = atof(value);
    else if (!strcmp(name, "--on-death"))
        h->tell = !strcmp(value, "tell");
    else if (!strcmp(name, "--bind"))
        return take_binding(h, value);
    else if (!strcmp(name, "--variable"))
        return take_variable(h, value);
    else if (!strcmp(name, "--pmi"))
        h->job.pmi = !strcmp(value, "1");
    else if (!strcmp(name, "--keep"))
        h->keep = (uint32_t)atol(value);
    else if (!strcmp(name, "--report"))
        h->report = atoi(value);
    else
        return false;
    return true;
}

/* Leave out nodes that were lost before, unless there are no others. The head tries them again later. */
static void avoid_hosts(struct head *h, char *list)
{
    char *rest = list;
    for (char *name; list && (name = strsep(&rest, ","));)
        for (uint32_t i = 0; i < h->hosts.count && h->hosts.count > 1; i++)
            if (strcmp(h->hosts.name[i], name) == 0) {
                later_absent(h, name, h->hosts.slots[i]);
                hosts_remove(&h->hosts, name);
            }
}

static bool begin(struct head *h, char *avoid)
{
    char name[64];
    uint64_t random;
    avoid_hosts(h, avoid);
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    snprintf(name, sizeof name, "mend-%016llx", (unsigned long long)random);
    h->job.name = launcher_text(name);
    h->job.folder = getcwd(NULL, 0);
    h->job.nodes = h->hosts.count;
    h->job.node_names = h->hosts.name;
    h->job.node_of = hosts_place(&h->hosts, h->job.ranks);
    h->job.mask = umask(0);
    umask((mode_t)h->job.mask);
    h->job.processes = h->left = h->job.ranks;
    h->ranks = calloc(h->job.ranks, sizeof *h->ranks);
    h->nodes = calloc(h->hosts.count, sizeof *h->nodes);
    for (uint32_t i = 0; h->nodes && i < h->hosts.count; i++)
        h->nodes[i].link.fd = -1;
    for (int i = 0; i < NEWCOMERS; i++)
        h->newcomers[i].link.fd = -1;
    /* Reading from a terminal whose foreground is another group would stop us. */
    h->input_open = !isatty(0) || tcgetpgrp(0) == getpgrp();
    return h->job.folder && h->ranks && h->nodes;
}

int head_main(int argc, char **argv)
{
    struct head h = {.report = -1,
                     .listener = -1,
                     .scout.answer = -1,
                     .agent = "ssh -x",
                     .start_time = 60,
                     .tell = true};
    char *avoid = NULL;
    h.job.ranks = 1;
    h.job.environment = environ;
    h.job.timeout_ms = 5000;
    int i = 0;
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
        if (!take_option(&h, argv[i], argv[i + 1], &avoid)) {
            fprintf(stderr, "mend-node: %s %s is not valid\n", argv[i], argv[i + 1]);
            return 2;
        }
    if (i + 1 >= argc || strcmp(argv[i], "--") != 0 || h.job.ranks < 1 ||
        h.job.ranks > JOB_RANKS_MAX || h.job.timeout_ms < 100) {
        fputs("mend-node is a part of mend run; you cannot start it by hand\n", stderr);
        return 2;
    }
    h.job.program = argv + i + 1;
    if (!later_hosts(&h, &h.hosts))
        return 2;
    if (h.report >= 0)
        fcntl(h.report, F_SETFD, FD_CLOEXEC);
    if (!begin(&h, avoid)) {
        fprintf(stderr, "mend-node: cannot start: %s\n", strerror(errno));
        return 1;
    }
    free(avoid);
    return head_serve(&h);
}
