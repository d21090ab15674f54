/* The folders of a launch on this machine: one for files, and one in /dev/shm for the memory that the ranks share. That
 * memory is not given back as long as a file in it has a name, and a process that is killed removes nothing: neither a
 * rank that has just made such a file, nor a daemon with the PMIx library, which has the list of them.
 *
 * Both folders are held (base/io.h). What is left of a daemon that was killed is removed by
 *  1. its head, if it was on the same machine (head.c), and `mend run` after each launch;
 *  2. elsewhere the next daemon of this user.
 */
#include "node.h"

#include <base/io.h>
#include <mend/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "mend-node-h", memory[] = "/dev/shm";

static const char usual[] = "/tmp";

/* The name of a socket has 108 bytes, with all that comes behind the folder. */
static const char *place(void)
{
    enum { LONGEST = 89 };
    const char *tmp = getenv("TMPDIR");
    return tmp && strlen(tmp) <= LONGEST && access(tmp, W_OK) == 0 ? tmp : usual;
}

/* The user's own choice stays. That of a job from within which this one was started is its folder, not ours. */
static void set_variable(struct job *job, const char *name, const char *value)
{
    size_t count = 0, length = strlen(name), size = length + strlen(value) + 2;
    const char *now = getenv(name);
    if (now && (strncmp(now, memory, sizeof memory - 1) != 0 || !strstr(now, prefix)))
        return;
    while (job->environment[count] && (strncmp(job->environment[count], name, length) != 0 ||
                                       job->environment[count][length] != '='))
        count++;
    if (!job->environment[count]) {
        job->environment =
            launcher_memory(job->environment, (count + 2) * sizeof *job->environment);
        job->environment[count + 1] = NULL;
    }
    job->environment[count] = launcher_memory(NULL, size);
    snprintf(job->environment[count], size, "%s=%s", name, value);
}

/* Without such a folder Open MPI's files are in /dev/shm itself. */
static void make_shared(struct node *n)
{
    static const char *const users[] = {"OMPI_MCA_btl_sm_backing_directory",
                                        "OMPI_MCA_osc_sm_backing_directory",
                                        "OMPI_MCA_osc_rdma_backing_directory"};
    if (access(memory, W_OK) || mend_io_make_held(memory, prefix, n->shared, sizeof n->shared)) {
        n->shared[0] = 0;
        return;
    }
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        set_variable(&n->job, users[i], n->shared);
}

bool folders_make(struct node *n)
{
    folders_sweep();
    if (mend_io_make_held(place(), prefix, n->folder, sizeof n->folder) &&
        mend_io_make_held(usual, prefix, n->folder,
                          sizeof n->folder)) { /* root may write to /proc, they say */
        n->folder[0] = 0;
        return false;
    }
    if (!n->job.pmi)
        make_shared(n);
    return true;
}

static void remove_folder(const char *path)
{
    for (int i = 0; path[0] && mend_io_remove_tree(path) && i < 50; i++)
        usleep(10000); /* the PMIx library is removing, too */
}

void folders_remove(struct node *n)
{
    remove_folder(n->folder);
    remove_folder(n->shared);
}

void folders_sweep(void)
{
    mend_io_sweep_held(place(), prefix);
    if (place() != usual)
        mend_io_sweep_held(usual, prefix);
    mend_io_sweep_held(memory, prefix);
}
