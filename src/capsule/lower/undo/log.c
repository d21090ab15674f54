/* undo/log.c - the log that undo.c writes to; see undo.h. Functions that run in the trap handler use only raw
 * system calls. */
#include "undo/undo.h"

#include <base/config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct undo_log undo_log = {.fd = -1};

size_t log_length(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

int log_bytes(const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        long n = CALL(pwrite64, undo_log.fd, (const char *)bytes + done, count - done,
                      undo_log.at + done);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    undo_log.at += count;
    return 1;
}

int log_record(enum undo_kind kind, const char *path, uint64_t inode, uint64_t offset,
               uint64_t bytes)
{
    struct undo_record r = {
        UNDO_MAGIC, kind, (uint32_t)log_length(path) + 1, inode, offset, bytes, ground.job_sum};
    return log_bytes(&r, sizeof r) && log_bytes(path, r.path_bytes);
}

/* A record is either whole or absent: an incomplete one would hide those that follow it. */
void log_back_to(uint64_t at)
{
    CALL(ftruncate, undo_log.fd, at, 0, 0);
    undo_log.at = at;
}

void log_mark_lost(void)
{
    undo_log.marked = 1;
    CALL(fchmod, undo_log.fd, 0600 | UNDO_MARKED_LOST, 0, 0);
}

char *log_number(char *end, int64_t n)
{
    *--end = 0;
    do
        *--end = (char)('0' + n % 10);
    while (n /= 10);
    return end;
}

/* dir/name into path[PATH_MAX]; 0: too long. */
int log_join(char *path, const char *dir, const char *name)
{
    size_t a = log_length(dir), b = log_length(name);
    if (a + b + 2 > PATH_MAX)
        return 0;
    memmove(path, dir, a);
    path[a] = '/';
    memcpy(path + a + 1, name, b + 1);
    return 1;
}

int log_path_of(int fd, char *path)
{
    char digits[16], link[32] = "/proc/self/fd/";
    const char *number = log_number(digits + sizeof digits, fd);
    memcpy(link + 14, number, log_length(number) + 1);
    long n = CALL(readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (n <= 0)
        return 0;
    path[n] = 0;
    return path[0] == '/';
}

/* What the application means by (dir, name), as an absolute path. */
int log_absolute(int dir, const char *name, char *path)
{
    if (name[0] == '/')
        return log_length(name) < PATH_MAX && memcpy(path, name, log_length(name) + 1);
    if (dir != AT_FDCWD)
        return log_path_of(dir, path) && log_join(path, path, name);
    return CALL(getcwd, path, PATH_MAX, 0, 0) > 0 && log_join(path, path, name);
}

/* 0: nothing is recorded now, or not by this process: a forked child has no log. */
int undo_take(void)
{
    if (undo_log.fd < 0 || CALL(getpid, 0, 0, 0, 0) != undo_log.owner)
        return 0;
    while (__atomic_exchange_n(&undo_log.lock, 1, __ATOMIC_ACQUIRE))
        raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    return 1;
}

void undo_give(void)
{
    __atomic_store_n(&undo_log.lock, 0, __ATOMIC_RELEASE);
}

static uint64_t machine_number(void)
{
    char text[256] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    uint64_t sum = 14695981039346656037ull;
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        gethostname(text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    for (const char *c = text; *c; c++)
        sum = (sum ^ (unsigned char)*c) * 1099511628211ull;
    return sum;
}

void undo_open(const char *dir)
{
    undo_log.limit = mend_setting_bytes(MEND_KEY_ONLINE_UNDO);
    if (undo_log.limit == 0)
        return;
    if (!log_join(undo_log.folder, dir, "undo"))
        die("the path of the job's folder %s is too long", dir);
    if (mkdir(undo_log.folder, 0700) && errno != EEXIST)
        die("cannot make %s: %s", undo_log.folder, strerror(errno));
    shared_machine(machine_number());
}

/* Indexes of another meeting or version: nobody adds to them any more. */
static void remove_indexes(const char *but)
{
    DIR *d = opendir(undo_log.folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strncmp(e->d_name, "index.", 6) == 0 && strcmp(e->d_name, but) != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

void undo_meeting(uint64_t id)
{
    undo_log.meeting = id;
}

/* The threads of the upper half may have ended at any step of a record, and left the index locked. */
void undo_leave(void)
{
    shared_unlock();
}

void undo_begin(int rank, mend_version_t version)
{
    char path[PATH_MAX + 64], index[64];
    if (!undo_log.folder[0])
        return;
    if (undo_log.fd >= 0)
        CALL(close, undo_log.fd, 0, 0, 0);
    if (undo_log.fd >= 0 && !undo_log.at && !undo_log.marked &&
        version != undo_log.version) { /* nothing was changed */
        snprintf(path, sizeof path, "%s/%d/%lld", undo_log.folder, undo_log.rank,
                 (long long)undo_log.version);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/%d", undo_log.folder, rank);
    if (mkdir(path, 0700) && errno != EEXIST)
        die("cannot make %s: %s", path, strerror(errno));
    snprintf(path, sizeof path, "%s/%d/%lld", undo_log.folder, rank, (long long)version);
    undo_log.fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (undo_log.fd < 0 || fchmod(undo_log.fd, 0600))
        die("cannot open %s: %s", path, strerror(errno));
    undo_log.marked = 0;
    undo_log.rank = rank;
    undo_log.version = version;
    undo_log.at = 0;
    undo_log.lock = 0;
    undo_note_again();
    snprintf(index, sizeof index, "index.%llu.%lld", (unsigned long long)undo_log.meeting,
             (long long)version);
    snprintf(path, sizeof path, "%s/%s", undo_log.folder, index);
    shared_begin(path);
    if (rank == 0) {
        remove_indexes(index);
        undo_copies_done();
    }
    undo_log.owner = getpid();
    undo_outside_begin();
}
