/* mpi/twin.c - memory of the MPI library that the program also has: we map the library's pages a second time,
 * at an address of the upper half. An image must not hold a mapping that others write to, so for an image the
 * program's side becomes a private copy. */
#include "mpi/twin.h"

#include "ground/ground.h"
#include "images/image.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Does one shared mapping hold all of it? Only pages of a shared mapping can be mapped twice. */
static int is_shared(uintptr_t from, uintptr_t to)
{
    char line[4352], perm[8];
    unsigned long first, end;
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%lx-%lx %7s", &first, &end, perm) == 3 && first <= from &&
                to <= end && !strncmp(perm, "rw-s", 4);
    if (f)
        fclose(f);
    return found;
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
