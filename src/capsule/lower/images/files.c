/* files.c - pages that images leave to the files they come from.
 *
 * Most of what a program has mapped is code and tables of its libraries, which nobody has written to. An image
 * names the file of such a mapping and holds only the pages that were written; a resume maps the file again.
 * That is right only if the file still has the same content. So
 *
 * 1. An image names a file only if
 *    - its path still leads to it, and it is not memory (/dev/shm, memfd) that disappears with the node;
 *    - it has not changed since this process began, so that it is the file that was mapped (in an overlay file
 *      system a changed file is another file of the same name), nor in the last second, because file times are
 *      only as exact as the ticks of a clock;
 *    - the program is not about to change it: it is code (ELF), or this user may not write to it;
 *    - it does not belong to our own upper half, whose images must survive a new installation of Mend.
 *    The image stores all other pages, and those of files that cannot be read.
 * 2. We checksum the mapped parts of a file, once for as long as it does not change (same inode, size, times):
 *    later versions cost one look at each file.
 * 3. A resume opens each file (files_open). If inode, size and times are the same, so is the content. On another
 *    node, or after a new installation of the file, its checksums are compared. Any other file is refused by name.
 *    The file is mapped at once, elsewhere, and moved into place later: so what was checked is what runs.
 *
 * A process that goes back to an older version of itself has the mappings already, and keeps them
 * (images/wipe.c): it does not matter to it that a library was replaced meanwhile.
 */
#include "images/load.h"

#include <base/fail.h>
#include <base/sum.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PARTS = 4096 };
struct part { /* of a file */
    uint64_t offset, bytes, sum;
};
struct known {
    char *path;
    struct named_file is;
    int named;       /* may be named */
    uint64_t looked; /* in which survey */
    uint32_t number; /* in that survey; 0: not in it yet */
    struct part *part;
    size_t parts;
};
static struct {
    struct known *known;
    size_t known_count, last; /* last: the result of the last search */
    uint64_t surveys;
    struct timespec began; /* this process */
    char own[4096];        /* the folder of our upper half, with a slash */
} files;

void files_began(void)
{
    clock_gettime(CLOCK_REALTIME, &files.began);
}

void files_look_again(void)
{
    files.surveys++;
}

static struct named_file described(const struct stat *st)
{
    return (struct named_file){.device = (uint64_t)st->st_dev,
                               .inode = (uint64_t)st->st_ino,
                               .bytes = (uint64_t)st->st_size,
                               .modified = {st->st_mtim.tv_sec, st->st_mtim.tv_nsec},
                               .changed = {st->st_ctim.tv_sec, st->st_ctim.tv_nsec}};
}

static int same_file(const struct named_file *a, const struct named_file *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
           !memcmp(a->modified, b->modified, sizeof a->modified) &&
           !memcmp(a->changed, b->changed, sizeof a->changed);
}

int files_sum(int fd, uint64_t offset, uint64_t bytes, uint64_t *sum)
{
    enum { PIECE = 1 << 20 };
    static char *piece;
    int rc = 0;
    if (!piece && !(piece = malloc(PIECE)))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to read a file");
    *sum = 0;
    while (bytes > 0 && rc == 0) {
        ssize_t n = pread(fd, piece, bytes < PIECE ? bytes : PIECE, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = mend_fail_errno("cannot read a file");
        if (n <= 0)
            break; /* end of file */
        *sum = mend_sum(piece, (size_t)n, *sum);
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return rc;
}

/* --- when an image is made --- */

static int is_before(const int64_t a[2], const struct timespec *b)
{
    return a[0] < b->tv_sec || (a[0] == b->tv_sec && a[1] < b->tv_nsec);
}

static int is_ours(const char *path)
{
    if (!files.own[0]) {
        ssize_t n = readlink("/proc/self/exe", files.own, sizeof files.own - 1);
        char *slash = n > 0 ? strrchr(files.own, '/') : NULL;
        if (!slash)
            return 1;
        slash[1] = 0;
    }
    return !strncmp(path, files.own, strlen(files.own));
}

static int is_stable(const char *path)
{
    static const char *const fleeting[] = {"/dev/", "/proc/", "/sys/", "/memfd:", "/SYSV"};
    static const char deleted[] = " (deleted)";
    size_t n = strlen(path);
    if (path[0] != '/' || strchr(path, '\\') || is_ours(path) ||
        (n >= sizeof deleted && !strcmp(path + n - (sizeof deleted - 1), deleted)))
        return 0;
    for (size_t i = 0; i < sizeof fleeting / sizeof *fleeting; i++)
        if (!strncmp(path, fleeting[i], strlen(fleeting[i])))
            return 0;
    return 1;
}

static int is_code(int fd)
{
    char magic[SELFMAG];
    return pread(fd, magic, sizeof magic, 0) == sizeof magic && !memcmp(magic, ELFMAG, SELFMAG);
}

/* Step 1, as far as it concerns the file itself. */
static int may_be_named(const struct known *k)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec--;
    if (!is_before(k->is.changed, &files.began) || !is_before(k->is.modified, &files.began) ||
        !is_before(k->is.changed, &now) || !is_before(k->is.modified, &now))
        return 0;
    if (faccessat(AT_FDCWD, k->path, W_OK, AT_EACCESS) && (errno == EACCES || errno == EROFS))
        return 1;
    int fd = open(k->path, O_RDONLY | O_CLOEXEC), yes = fd >= 0 && is_code(fd);
    if (fd >= 0)
        close(fd);
    return yes;
}

static struct known *known_find(const char *path)
{
    if (files.last < files.known_count && !strcmp(files.known[files.last].path, path))
        return &files.known[files.last];
    for (files.last = 0; files.last < files.known_count; files.last++)
        if (!strcmp(files.known[files.last].path, path))
            return &files.known[files.last];
    struct known *more = realloc(files.known, (files.known_count + 1) * sizeof *files.known);
    char *copy = strdup(path);
    if (more)
        files.known = more;
    if (!more || !copy) {
        free(copy);
        return NULL;
    }
    files.known[files.known_count] = (struct known){.path = copy};
    return &files.known[files.known_count++];
}

/* Once in a survey: has it changed? */
static void look(struct known *k)
{
    struct stat st;
    if (k->looked == files.surveys)
        return;
    k->looked = files.surveys;
    k->number = 0;
    struct named_file is = {0};
    int there = !stat(k->path, &st) && S_ISREG(st.st_mode);
    if (there)
        is = described(&st);
    if (there && k->named && same_file(&is, &k->is))
        return;
    k->is = is;
    k->parts = 0;
    k->named = there && may_be_named(k);
}

/* Step 2. 0: the checksum is unavailable, or the file changed under our eyes. */
static int sum_of(struct known *k, uint64_t offset, uint64_t bytes, uint64_t *sum)
{
    for (size_t i = 0; i < k->parts; i++)
        if (k->part[i].offset == offset && k->part[i].bytes == bytes)
            return *sum = k->part[i].sum, 1;
    if (k->parts == MOST_PARTS) /* mapped here and there, in turns */
        k->parts = 0;
    struct stat st;
    struct named_file after;
    int fd = open(k->path, O_RDONLY | O_CLOEXEC);
    int ok = fd >= 0 && !files_sum(fd, offset, bytes, sum) && !fstat(fd, &st);
    if (ok)
        after = described(&st);
    if (fd >= 0)
        close(fd);
    struct part *more =
        ok && same_file(&after, &k->is) ? realloc(k->part, (k->parts + 1) * sizeof *more) : NULL;
    if (!more)
        return 0;
    k->part = more;
    k->part[k->parts++] = (struct part){offset, bytes, *sum};
    return 1;
}

static int add_file(struct survey *s, struct known *k)
{
    size_t length = strlen(k->path) + 1;
    if (s->meta.files == s->file_room) {
        size_t room = 2 * s->file_room + 64;
        void *more = realloc(s->files, room * sizeof *s->files);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list the files");
        s->files = more;
        s->file_room = room;
    }
    if (s->meta.names + length > s->name_room) {
        size_t room = 2 * s->name_room + length + 4096;
        void *more = realloc(s->names, room);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list the files");
        s->names = more;
        s->name_room = room;
    }
    memcpy(s->names + s->meta.names, k->path, length);
    s->files[s->meta.files] = k->is;
    s->files[s->meta.files].name = s->meta.names;
    s->meta.names += length;
    k->number = ++s->meta.files;
    return 0;
}

int files_name(struct survey *s, struct mapping *m, const struct mapped_file *file)
{
    uint64_t sum;
    if (!is_stable(file->path))
        return 0;
    struct known *k = known_find(file->path);
    if (!k)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list the files");
    look(k);
    if (!k->named || k->is.inode != file->inode || !sum_of(k, file->offset, m->to - m->from, &sum))
        return 0;
    int rc = k->number ? 0 : add_file(s, k);
    if (rc)
        return rc;
    m->file = k->number;
    m->offset = file->offset;
    m->sum = sum;
    return 1;
}

/* --- when an image is resumed --- */

static int refuse(const char *path, const char *why)
{
    return mend_fail(MEND_ERR_PROGRAM,
                     "%s %s since the image was made, and the image needs it (mend run "
                     "--full-images makes images that do not)",
                     path, why);
}

/* Is the file `fd` what the mappings of file number `file` need? */
static int check_content(const struct loaded *l, uint64_t file, int fd, const char *path)
{
    const struct named_file *f = &l->files[file - 1];
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return refuse(path, "became something else");
    struct named_file is = described(&st);
    if (same_file(&is, f))
        return 0;
    if (is.bytes != f->bytes)
        return refuse(path, "has another length");
    for (uint32_t i = 0; i < l->meta.mappings; i++) {
        const struct mapping *m = &l->mappings[i];
        uint64_t sum;
        int rc = m->file == file ? files_sum(fd, m->offset, m->to - m->from, &sum) : 0;
        if (rc)
            return mend_fail_within(rc, "%s", path);
        if (m->file == file && sum != m->sum)
            return refuse(path, "has changed");
    }
    return 0;
}

static int map_parts(struct loaded *l, uint64_t file, int fd, const char *path)
{
    for (uint32_t i = 0; i < l->meta.mappings; i++) {
        const struct mapping *m = &l->mappings[i];
        if (m->file != file)
            continue;
        void *at =
            mmap(NULL, m->to - m->from, m->prot, MAP_PRIVATE | MAP_NORESERVE, fd, (off_t)m->offset);
        if (at == MAP_FAILED)
            return mend_fail_errno("cannot map %s", path);
        l->ready[i] = at;
    }
    return 0;
}

/* Step 3 for one file. */
static int open_one(struct loaded *l, uint64_t file)
{
    const char *path = l->names + l->files[file - 1].name;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return refuse(path, "has been removed");
    if (fd < 0)
        return mend_fail_errno("cannot open %s, which the image needs", path);
    rc = check_content(l, file, fd, path);
    if (rc == 0)
        rc = map_parts(l, file, fd, path);
    close(fd);
    return rc;
}

int files_open(struct loaded *l, int going_back)
{
    l->ready = calloc(l->meta.mappings + 1, sizeof *l->ready);
    if (!l->ready)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a table of mappings");
    for (uint64_t file = 1; file <= l->meta.files; file++) {
        int rc = open_one(l, file);
        if (rc && !going_back)
            return rc;
        if (rc && !l->refusal[0])
            snprintf(l->refusal, sizeof l->refusal, "%s", mend_error_text());
    }
    return 0;
}

void files_close(struct loaded *l)
{
    for (uint32_t i = 0; l->ready && i < l->meta.mappings; i++)
        if (l->ready[i])
            munmap(l->ready[i], l->mappings[i].to - l->mappings[i].from);
    free(l->ready);
    l->ready = NULL;
}
