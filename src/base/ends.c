#include <base/ends.h>
#include <base/fail.h>
#include <base/io.h>
#include <mend/error.h>
#include <mend/event.h>

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(mend_ends_entry) == 40, "no hidden padding");
_Static_assert(offsetof(mend_ends_entry, started) == MEND_ENDS_TOLD, "the last one");

/* State of a rank. The file does not stay open: a program may close descriptors that it did not open. */
static struct {
    char path[4400];
    uint64_t launch;
} mine;

static void path_of(char *path, size_t size, const char *dir)
{
    snprintf(path, size, "%s/ends", dir);
}

/* Write zeros instead of leaving a hole: the disk reserves space only for bytes that were written once. */
int mend_ends_make(const char *dir, int entries)
{
    char path[4400];
    path_of(path, sizeof path, dir);
    mend_ends_entry *nothing = calloc((size_t)entries, sizeof *nothing);
    if (!nothing)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", entries);
    int rc = mend_io_replace_file(path, (const char *)nothing, (size_t)entries * sizeof *nothing);
    free(nothing);
    return rc;
}

mend_ends_entry *mend_ends_read(const char *dir, int *entries)
{
    char path[4400];
    struct stat st;
    mend_ends_entry *all = NULL;
    path_of(path, sizeof path, dir);
    *entries = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size < 1 << 30)
        all = malloc((size_t)st.st_size);
    if (all && pread(fd, all, (size_t)st.st_size, 0) == st.st_size)
        *entries = (int)((size_t)st.st_size / sizeof *all);
    if (fd >= 0)
        close(fd);
    return all;
}

void mend_ends_open(const char *dir, uint64_t launch)
{
    path_of(mine.path, sizeof mine.path, dir);
    mine.launch = launch;
}

static void put(const void *bytes, size_t count, off_t at)
{
    int fd = mine.path[0] ? open(mine.path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    while (fd >= 0 && pwrite(fd, bytes, count, at) < 0 && errno == EINTR)
        ;
    if (fd >= 0)
        close(fd);
}

void mend_ends_started(int process)
{
    put(&mine.launch, sizeof mine.launch,
        (off_t)((size_t)process * sizeof(mend_ends_entry) + offsetof(mend_ends_entry, started)));
}

void mend_ends_ended(int rank, enum mend_ended_how how, int code)
{
    mend_ends_entry p = {mine.launch, how, code, (uint64_t)mend_event_lost(), 0, 0};
    if (rank >= 0)
        put(&p, MEND_ENDS_TOLD, (off_t)((size_t)rank * sizeof p));
}

const char *mend_ends_path(void)
{
    return mine.path;
}

mend_ends_entry mend_ends_crash(int signal, uint64_t at, int process)
{
    return (mend_ends_entry){mine.launch, MEND_ENDS_CRASHED, signal, (uint64_t)process, at, 0};
}
