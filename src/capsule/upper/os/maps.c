/* os/maps.c - files that the application has mapped with MAP_SHARED. An image restores their content as
 * private memory; this file maps the files again, with that content.
 *
 * No malloc, no stdio: the checkpoint may have interrupted the application inside them.
 */
#include "os/os.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct shared_map {
    char *from;
    size_t length, file_size;
    long offset;
    int prot, writable; /* writable: the application may write to the file */
    char path[4096];
};
static struct {
    struct shared_map *list;
    int count, room;
} maps;

static void add(const struct shared_map *m)
{
    if (maps.count == maps.room) {
        struct shared_map *more = keep_alloc((size_t)(2 * maps.room + 8) * sizeof *more);
        for (int i = 0; i < maps.count; i++)
            more[i] = maps.list[i];
        if (maps.list)
            keep_free(maps.list);
        maps.list = more;
        maps.room = 2 * maps.room + 8;
    }
    maps.list[maps.count++] = *m;
}

/* One line of /proc/self/maps: 7f00-7f10 rw-s 00001000 fe:00 1234   /path */
static void consider(const char *line)
{
    struct shared_map m = {0};
    unsigned long from, to, offset, inode;
    char perm[8];
    int at = 0;
    struct stat st;
    if (scan(line, "%lx-%lx %7s %lx %*x:%*x %lu %n", &from, &to, perm, &offset, &inode, &at) < 5 ||
        from >= UPPER_END || !inode || line[at] != '/')
        return;
    if (strstr(line + at, "/libcuda.so"))
        number_note(from, to, offset == 0);
    if (perm[3] != 's')
        return;
    if (strlen(line + at) >= sizeof m.path) {
        file_say("its path is too long: its mapping will not be shared after a restart",
                 "a mapped file");
        return;
    }
    strcpy(m.path, line + at);
    size_t n = strlen(m.path);
    if (n > 10 && !strcmp(m.path + n - 10, " (deleted)"))
        return; /* shared memory without a name comes back as private memory */
    if (stat(m.path, &st) || !S_ISREG(st.st_mode) || st.st_ino != inode)
        return;
    m.from = (char *)from;
    m.length = to - from;
    m.offset = (long)offset;
    m.file_size = (size_t)st.st_size;
    m.prot = (perm[0] == 'r' ? PROT_READ : 0) | (perm[1] == 'w' ? PROT_WRITE : 0) |
             (perm[2] == 'x' ? PROT_EXEC : 0);
    m.writable = perm[1] == 'w';
    add(&m);
}

void note_maps(void)
{
    char buffer[8192];
    size_t have = 0;
    long fd =
        raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0);
    maps.count = 0;
    while (fd >= 0) {
        long n = raw_syscall(SYS_read, fd, (long)(buffer + have), (long)(sizeof buffer - 1 - have),
                             0, 0, 0);
        if (n <= 0)
            break;
        have += (size_t)n;
        buffer[have] = 0;
        char *line = buffer;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            consider(line);
        }
        have -= (size_t)(line - buffer);
        memmove(buffer, line, have);
        if (have == sizeof buffer - 1)
            have = 0; /* drop a line longer than the buffer */
    }
    if (fd >= 0)
        raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static long file_of(const struct shared_map *m)
{
    struct stat st;
    long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)m->path,
                          (m->writable ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600, 0, 0);
    if (fd < 0 || !m->writable || fstat((int)fd, &st) || (size_t)st.st_size >= m->file_size)
        return fd;
    long rc = raw_syscall(SYS_ftruncate, fd, (long)m->file_size, 0, 0, 0, 0);
    if (rc == 0)
        return fd;
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    return rc; /* to write beyond its end would be a SIGBUS */
}

/* Returns NULL, or an error text. */
static const char *map_again(const struct shared_map *m)
{
    long fd = file_of(m);
    if (fd < 0)
        return "cannot be opened again: its mapping is no longer shared";
    long to = raw_syscall(SYS_mmap, 0, (long)m->length, m->prot | (m->writable ? PROT_WRITE : 0),
                          MAP_SHARED, fd, m->offset);
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    if (to < 0)
        return "cannot be mapped again: its mapping is no longer shared";
    size_t there = m->file_size > (size_t)m->offset ? m->file_size - (size_t)m->offset : 0;
    if (m->writable && m->prot & PROT_READ)
        memcpy((void *)to, m->from, there < m->length ? there : m->length);
    if (raw_syscall(SYS_mremap, to, (long)m->length, (long)m->length, MREMAP_MAYMOVE | MREMAP_FIXED,
                    (long)m->from, 0) >= 0)
        return NULL;
    raw_syscall(SYS_munmap, to, (long)m->length, 0, 0, 0, 0);
    return "cannot be mapped at its place again: its mapping is no longer shared";
}

void map_files_again(void)
{
    for (int i = 0; i < maps.count; i++) {
        const char *wrong = map_again(&maps.list[i]);
        if (wrong)
            file_say(wrong, maps.list[i].path);
    }
    maps.count = 0;
}
