/* Sends the executable's calls, and nobody else's, that allocate memory or draw random numbers to the arena.
 *
 * A library that exports malloc() would catch everybody's calls: MPI's, the C library's, our own. But the executable
 * reaches malloc through an entry of its own relocation table, so we set those entries, once, before main(). free()
 * and realloc() look at the address: memory that a library allocated for the program goes back to the C library. We
 * also replace functions of the C library that return memory for the program to keep (strdup, getline, …). Numbers
 * from rand() and drand48() are bitwise those of the C library; only their state lives in the arena. */
#include <base/fail.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "automatic/arena.h"
#include "automatic/auto.h"

/* ---- memory ---- */

static void *d_malloc(size_t n)
{
    return arena_take(n);
}

static void *d_calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return arena_take(bytes);
}

static void d_free(void *p)
{
    if (arena_holds(p))
        arena_give(p);
    else
        free(p);
}

static void *d_realloc(void *p, size_t n)
{
    if (!p)
        return arena_take(n);
    if (!arena_holds(p))
        return realloc(p, n);
    if (n)
        return arena_resize(p, n);
    arena_give(p);
    return NULL;
}

static void *d_reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return d_realloc(p, bytes);
}

static void *d_memalign(size_t alignment, size_t n)
{
    if (!alignment || alignment & (alignment - 1)) {
        errno = EINVAL;
        return NULL;
    }
    return arena_take_aligned(alignment, n);
}

static int d_posix_memalign(void **p, size_t alignment, size_t n)
{
    if (!alignment || alignment & (alignment - 1) || alignment % sizeof(void *))
        return EINVAL;
    void *made = arena_take_aligned(alignment, n);
    if (!made)
        return ENOMEM;
    *p = made;
    return 0;
}

static void *d_valloc(size_t n)
{
    return arena_take_aligned((size_t)sysconf(_SC_PAGESIZE), n);
}

static size_t d_usable(void *p)
{
    return arena_holds(p) ? arena_room(p) : malloc_usable_size(p);
}

/* ---- what the C library allocates for the program ---- */

static char *copied(const char *text, size_t bytes)
{
    char *made = arena_take(bytes + 1);
    if (made)
        memcpy(made, text, bytes);
    return made;
}

static char *d_strdup(const char *text)
{
    return copied(text, strlen(text));
}

static char *d_strndup(const char *text, size_t n)
{
    return copied(text, strnlen(text, n));
}

static int d_vasprintf(char **to, const char *format, va_list list)
{
    char *text = NULL;
    int n = vasprintf(&text, format, list);
    if (n < 0)
        return n;
    *to = copied(text, (size_t)n);
    free(text);
    return *to ? n : -1;
}

static int d_asprintf(char **to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = d_vasprintf(to, format, list);
    va_end(list);
    return n;
}

static int d_vasprintf_chk(char **to, int flag, const char *format, va_list list)
{
    (void)flag;
    return d_vasprintf(to, format, list);
}

static int d_asprintf_chk(char **to, int flag, const char *format, ...)
{
    va_list list;
    (void)flag;
    va_start(list, format);
    int n = d_vasprintf(to, format, list);
    va_end(list);
    return n;
}

static ssize_t d_getdelim(char **line, size_t *room, int end, FILE *from)
{
    char *text = NULL;
    size_t text_room = 0;
    ssize_t n = getdelim(&text, &text_room, end, from);
    if (n >= 0 && (!*line || *room < (size_t)n + 1)) {
        char *moved = d_realloc(*line, (size_t)n + 1);
        if (moved) {
            *line = moved;
            *room = (size_t)n + 1;
        } else {
            n = -1;
        }
    }
    if (n >= 0)
        memcpy(*line, text, (size_t)n + 1);
    free(text);
    return n;
}

static ssize_t d_getline(char **line, size_t *room, FILE *from)
{
    return d_getdelim(line, room, '\n', from);
}

static char *d_realpath(const char *path, char *to)
{
    char *found = realpath(path, to);
    if (to || !found)
        return found;
    char *made = copied(found, strlen(found));
    free(found);
    return made;
}

static char *d_getcwd(char *to, size_t n)
{
    char *found = getcwd(to, n);
    if (to || !found)
        return found;
    char *made = copied(found, strlen(found));
    free(found);
    return made;
}

/* ---- random numbers ---- */

static long d_random(void)
{
    int32_t n = 0;
    random_r(&arena_random()->random, &n);
    return n;
}

static int d_rand(void)
{
    return (int)d_random();
}

static void d_srandom(unsigned seed)
{
    srandom_r(seed, &arena_random()->random);
}

static double d_drand48(void)
{
    double x = 0;
    drand48_r(&arena_random()->drand48, &x);
    return x;
}

static long d_lrand48(void)
{
    long n = 0;
    lrand48_r(&arena_random()->drand48, &n);
    return n;
}

static long d_mrand48(void)
{
    long n = 0;
    mrand48_r(&arena_random()->drand48, &n);
    return n;
}

static void d_srand48(long seed)
{
    srand48_r(seed, &arena_random()->drand48);
}

/* ---- the table of relocations ---- */

static const struct diversion {
    const char *name;
    void *to;
} diversions[] = {
    {"malloc", d_malloc},
    {"calloc", d_calloc},
    {"realloc", d_realloc},
    {"reallocarray", d_reallocarray},
    {"free", d_free},
    {"cfree", d_free},
    {"memalign", d_memalign},
    {"aligned_alloc", d_memalign},
    {"posix_memalign", d_posix_memalign},
    {"valloc", d_valloc},
    {"malloc_usable_size", d_usable},
    {"strdup", d_strdup},
    {"__strdup", d_strdup},
    {"strndup", d_strndup},
    {"__strndup", d_strndup},
    {"asprintf", d_asprintf},
    {"vasprintf", d_vasprintf},
    {"__asprintf_chk", d_asprintf_chk},
    {"__vasprintf_chk", d_vasprintf_chk},
    {"getline", d_getline},
    {"getdelim", d_getdelim},
    {"__getdelim", d_getdelim},
    {"realpath", d_realpath},
    {"getcwd", d_getcwd},
    {"rand", d_rand},
    {"srand", d_srandom},
    {"random", d_random},
    {"srandom", d_srandom},
    {"drand48", d_drand48},
    {"lrand48", d_lrand48},
    {"mrand48", d_mrand48},
    {"srand48", d_srand48},
};

/* Functions that return memory or state that the arena cannot hold. */
static const char *const refused[] = {"_Znwm",   "initstate", "setstate", "seed48", "erand48",
                                      "lcong48", "sbrk",      "brk",      "pvalloc"};

#if defined(__aarch64__)
enum { SLOT = R_AARCH64_JUMP_SLOT, DATA = R_AARCH64_GLOB_DAT, WORD = R_AARCH64_ABS64 };
#else
enum { SLOT = R_X86_64_JUMP_SLOT, DATA = R_X86_64_GLOB_DAT, WORD = R_X86_64_64 };
#endif

static int set_entry(void **entry, void *value)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = (char *)((size_t)entry / page * page);
    bool protected = auto_is_relro(entry);
    if (protected && mprotect(at, page, PROT_READ | PROT_WRITE))
        return mend_fail(MEND_ERR_UNSUPPORTED, "cannot divert malloc: %s", strerror(errno));
    *entry = value;
    if (protected)
        mprotect(at, page, PROT_READ);
    return 0;
}

static int divert(const struct auto_program *program, const ElfW(Rela) * table, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *table; i++) {
        unsigned long type = ELF64_R_TYPE(table[i].r_info);
        if (type != SLOT && type != DATA && type != WORD)
            continue;
        const ElfW(Sym) *symbol = &program->symbols[ELF64_R_SYM(table[i].r_info)];
        const char *name = program->strings + symbol->st_name;
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            if (strcmp(name, refused[k]) == 0)
                return mend_fail(MEND_ERR_UNSUPPORTED,
                                 "MEND_STATE_ALL: the program uses %s%s, whose memory or state "
                                 "cannot be saved",
                                 name, name[0] == '_' ? " (C++)" : "()");
        for (size_t k = 0; k < sizeof diversions / sizeof *diversions; k++) {
            if (strcmp(name, diversions[k].name) != 0)
                continue;
            int rc = set_entry((void **)(program->base + table[i].r_offset), diversions[k].to);
            if (rc)
                return rc;
        }
    }
    return 0;
}

int divert_calls(const struct auto_program *program)
{
    int rc = divert(program, program->slots, program->slots_bytes);
    return rc ? rc : divert(program, program->relocations, program->relocations_bytes);
}
