/* undo/shared.c - files that several ranks write (by MPI-IO): each byte is recorded once, by the rank that
 * first changes it after the version. A second record would hold what the first rank wrote.
 *
 * DIR/undo/index.MEETING.VERSION lists what all ranks have recorded since the version: ranges, the length of
 * each file, and files that did not exist. A rank that is about to change bytes
 *   1. locks the index and reads what is new in it;
 *   2. writes the old content of those bytes that nobody has recorded to its own log;
 *   3. adds them to the index;
 *   4. unlocks the index and makes the change.
 * If it dies after 2, another rank records the bytes again, unchanged, because the change was not made. If it
 * dies after 3 or 4, they are in its log, and its successor puts them back.
 * What this process' own copy of the index already holds needs no lock.
 *
 * Raw system calls only: this code runs with the thread pointer of either half.
 */
#include "undo/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum { LENGTH = 1, RANGE, CREATED };
struct entry { /* of the index */
    uint64_t kind, key, from, to;
};

static struct {
    int fd;
    uint64_t end;     /* of the part that was read */
    uint64_t machine; /* hash of the machine's boot id */
    /* Sorted by key, kind and place; ranges of one file that touch are merged. */
    struct entry *table;
    size_t count, room;
    struct entry some[128]; /* being read, under the lock */
} common = {.fd = -1};

static int before(const struct entry *a, const struct entry *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->to < b->from;
}

/* The first entry that does not lie before e: if any entry touches e, this is the first that does. */
static size_t place(const struct entry *e)
{
    size_t low = 0, high = common.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (before(&common.table[middle], e))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int grow(void)
{
    size_t more = common.room ? 2 * common.room : 4096;
    long p = raw_syscall(SYS_mmap, 0, (long)(more * sizeof *common.table), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p < 0)
        return 0;
    if (common.room) {
        memcpy((void *)p, common.table, common.count * sizeof *common.table);
        CALL(munmap, common.table, common.room * sizeof *common.table, 0, 0);
    }
    common.table = (void *)p;
    common.room = more;
    return 1;
}

static int insert(struct entry e)
{
    size_t at = place(&e), next = at;
    while (next < common.count && !before(&e, &common.table[next])) { /* touches e */
        if (e.kind != RANGE)
            return 1; /* the first is right */
        e.from = common.table[next].from < e.from ? common.table[next].from : e.from;
        e.to = common.table[next].to > e.to ? common.table[next].to : e.to;
        next++;
    }
    if (next == at && common.count == common.room && !grow())
        return 0;
    memmove(&common.table[at + 1], &common.table[next],
            (common.count - next) * sizeof *common.table);
    common.table[at] = e;
    common.count = common.count + 1 - (next - at);
    return 1;
}

static int read_news(uint64_t size)
{
    size -= size % sizeof *common.some; /* a death cut the last entry: the next overwrites it */
    while (common.end < size) {
        uint64_t want =
            size - common.end < sizeof common.some ? size - common.end : sizeof common.some;
        long n = CALL(pread64, common.fd, common.some, want, common.end);
        if (n == -EINTR)
            continue;
        if (n < (long)sizeof *common.some)
            return 0;
        for (long i = 0; i < n / (long)sizeof *common.some; i++)
            if (!insert(common.some[i]))
                return 0;
        common.end += (uint64_t)n - (uint64_t)n % sizeof *common.some;
    }
    return 1;
}

static int append(struct entry e)
{
    for (uint64_t done = 0; done < sizeof e;) {
        long n = CALL(pwrite64, common.fd, (char *)&e + done, sizeof e - done, common.end + done);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return 0;
        done += (uint64_t)n;
    }
    common.end += sizeof e;
    return insert(e);
}

int shared_lock(void)
{
    struct stat st;
    long rc;
    if (common.fd < 0)
        return 0;
    while ((rc = CALL(flock, common.fd, LOCK_EX, 0, 0)) == -EINTR)
        ;
    if (rc == 0 && CALL(fstat, common.fd, &st, 0, 0) == 0 && read_news((uint64_t)st.st_size))
        return 1;
    shared_unlock();
    return 0;
}

void shared_unlock(void)
{
    if (common.fd >= 0)
        CALL(flock, common.fd, LOCK_UN, 0, 0);
}

int shared_length(uint64_t key, uint64_t now, uint64_t *length)
{
    struct entry e = {LENGTH, key, 0, 0};
    size_t at = place(&e);
    if (at == common.count || before(&e, &common.table[at])) {
        *length = now;
        return append((struct entry){LENGTH, key, 0, now});
    }
    *length = common.table[at].to;
    return 1;
}

int shared_next(uint64_t key, uint64_t *from, uint64_t *to)
{
    struct entry e = {RANGE, key, *from, *from};
    for (size_t at = place(&e); at < common.count && *from < *to; at++) {
        const struct entry *t = &common.table[at];
        if (t->key != key || t->kind != RANGE || t->from >= *to)
            break;
        if (t->from > *from) {
            *to = t->from;
            return 1;
        }
        if (t->to > *from)
            *from = t->to;
    }
    return *from < *to;
}

int shared_created(uint64_t key)
{
    struct entry e = {CREATED, key, 0, 0};
    size_t at = place(&e);
    return at < common.count && !before(&e, &common.table[at]);
}

int shared_note_created(uint64_t key)
{
    return append((struct entry){CREATED, key, 0, 0});
}

int shared_note(uint64_t key, uint64_t from, uint64_t to)
{
    return append((struct entry){RANGE, key, from, to});
}

static uint64_t mix(uint64_t sum, const void *bytes, size_t n)
{
    for (const unsigned char *b = bytes; n--; b++)
        sum = (sum ^ *b) * 1099511628211ull;
    return sum;
}

/* All ranks compute the same key for a file, and different keys for different files, although nodes may have
 * folders of their own under the same names. On a file system of one machine: device and inode on that
 * machine (emulated nodes share it). On one that many machines share: inode and path. */
uint64_t shared_key(const struct stat *st, const char *path)
{
    static const uint32_t of_one_machine[] = {
        0xef53,     0x58465342, 0x9123683e, 0x01021994, 0x794c7630,
        0x2fc12fc1, 0xf2f52010, 0x858458f6, 0xca451a4e, 0x52654973,
    }; /* ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs, ramfs, bcachefs, reiserfs */
    uint64_t sum = 14695981039346656037ull;
    struct statfs fs = {0};
    CALL(statfs, path, &fs, 0, 0);
    sum = mix(sum, &st->st_ino, sizeof st->st_ino);
    for (size_t i = 0; i < sizeof of_one_machine / sizeof *of_one_machine; i++)
        if ((uint32_t)fs.f_type == of_one_machine[i])
            return mix(mix(sum, &common.machine, sizeof common.machine), &st->st_dev,
                       sizeof st->st_dev);
    size_t n = 0;
    while (path[n])
        n++;
    return mix(sum, path, n);
}

void shared_machine(uint64_t number)
{
    common.machine = number;
}

void shared_begin(const char *path)
{
    if (common.fd >= 0)
        CALL(close, common.fd, 0, 0, 0);
    common.count = common.end = 0;
    common.fd = (int)CALL(openat, AT_FDCWD, path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (common.fd < 0)
        common.fd = -1;
}
