/* mpi/twin.c - memory of the MPI library that the program also has: we map the library's pages a second time,
 * at an address of the upper half. An image must not hold a mapping that others write to, so for an image the
 * program's side becomes a private copy. */
#include "mpi/twin.h"

#include "ground/ground.h"
#include "images/image.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

/* PROCMAP_QUERY of Linux 6.11 tells about one mapping. A program may have thousands of windows, and each has mappings: to
 * read the list of all for each window takes longer than to make it. The headers of older systems do not have it. */
struct mapping_question {
    uint64_t size, flags, address;
    uint64_t from, to, is, page_size, offset, inode;
    uint32_t device[2], name_room, id_room;
    uint64_t name, id;
};
enum { MAPPING_READABLE = 1, MAPPING_WRITABLE = 2, MAPPING_EXECUTABLE = 4, MAPPING_SHARED = 8 };
#define ASK_MAPPING _IOWR('f', 17, struct mapping_question)

/* Returns -1 if the kernel does not answer. */
static int asked_is_shared(int maps, uintptr_t from, uintptr_t to)
{
    enum { DATA = MAPPING_READABLE | MAPPING_WRITABLE | MAPPING_SHARED };
    struct mapping_question q = {.size = sizeof q, .address = from};
    if (ioctl(maps, ASK_MAPPING, &q))
        return errno == ENOENT ? 0 : -1;
    return q.from <= from && to <= q.to && (q.is & (DATA | MAPPING_EXECUTABLE)) == DATA;
}

static int listed_is_shared(FILE *maps, uintptr_t from, uintptr_t to)
{
    char line[4352], perm[8];
    unsigned long first, end;
    int found = 0;
    while (!found && fgets(line, sizeof line, maps))
        found = sscanf(line, "%lx-%lx %7s", &first, &end, perm) == 3 && first <= from &&
                to <= end && !strncmp(perm, "rw-s", 4);
    return found;
}

/* Does one shared mapping hold all of it? Only pages of a shared mapping can be mapped twice. */
static int is_shared(uintptr_t from, uintptr_t to)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    int shared = maps ? asked_is_shared(fileno(maps), from, to) : 0;
    if (shared < 0)
        shared = listed_is_shared(maps, from, to);
    if (maps)
        fclose(maps);
    return shared;
}

void *twin_make(void *library, size_t bytes)
{
    uintptr_t from = (uintptr_t)library, to = ROUND_UP(from + bytes, ground.page_size);
    if (from % ground.page_size || from < UPPER_END || !is_shared(from, to))
        return NULL;
    void *twin = mremap(library, 0, to - from, MREMAP_MAYMOVE); /* 0: one more mapping */
    return twin == MAP_FAILED ? NULL : twin;
}

void twin_drop(void *twin, size_t bytes)
{
    munmap(twin, ROUND_UP(bytes, ground.page_size));
}

void twin_move(void *twin, void *program, size_t bytes)
{
    size_t whole = ROUND_UP(bytes, ground.page_size);
    if (mremap(twin, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, program) != program)
        die("cannot map the memory of a window at %p: %s", program, strerror(errno));
}

void twin_part(const void *library, void *program, size_t bytes)
{
    const char *from = library;
    char *to = program;
    size_t whole = ROUND_UP(bytes, ground.page_size);
    if (mmap(program, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) != program)
        die("no memory for a copy of a window of %zu bytes: %s", bytes, strerror(errno));
    for (size_t at = 0; at < whole; at += ground.page_size)
        if (!page_is_zero(from + at)) /* else it is zero already */
            memcpy(to + at, from + at, ground.page_size);
}
