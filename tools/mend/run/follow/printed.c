/* DIR/output/printed: how many bytes of each rank's output were printed, so that a job that continues with the same
 * output (requeued, with its output appended) prints nothing twice. An array of 64-bit numbers: rank 0's standard
 * output, its standard error, rank 1's … */
#include "follow.h"

#include <base/io.h>
#include <mend/error.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Standard output was truncated since (sbatch without --open-mode=append): then print all of it again. */
static bool was_emptied(const struct run_follower *f)
{
    struct stat st;
    long long sum = 0;
    for (int r = 0; r < f->job->ranks; r++)
        sum += f->printed[2 * r];
    return fstat(1, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < sum;
}

void printed_begin(struct run_follower *f)
{
    char path[4400];
    size_t size = 2 * (size_t)f->job->ranks * sizeof *f->printed;
    bool goes_on = f->job->resume && f->job->slurm.job[0] && f->job->slurm.life > 0;
    snprintf(path, sizeof path, "%s/output", f->job->dir);
    f->printed_fd = -1;
    if (f->job->raw)
        return;
    if (mend_io_make_folders(path) == MEND_OK) {
        snprintf(path, sizeof path, "%s/output/printed", f->job->dir);
        f->printed_fd =
            open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (goes_on ? 0 : O_TRUNC), 0600);
    }
    if (f->printed_fd < 0) {
        fprintf(stderr, "mend: WARNING: %s cannot be written: a requeue may print output twice\n",
                path);
        return;
    }
    if (goes_on && (pread(f->printed_fd, f->printed, size, 0) < 0 || was_emptied(f)))
        memset(f->printed, 0, size);
}

void printed_note(struct run_follower *f, int rank, int stream)
{
    off_t at = (off_t)((2 * (size_t)rank + (size_t)stream) * sizeof *f->printed);
    if (f->printed_fd >= 0 && pwrite(f->printed_fd, &f->printed[2 * rank + stream],
                                     sizeof *f->printed, at) != sizeof *f->printed) {
        close(f->printed_fd); /* the disk is full: the job itself will report that */
        f->printed_fd = -1;
    }
}

void printed_end(struct run_follower *f)
{
    if (f->printed_fd >= 0)
        close(f->printed_fd);
    f->printed_fd = -1;
}
