/* The automatic tier saves memory that contains pointers. They mean the same in another process if the executable,
 * its libraries, its heap and its stack have the same addresses there.
 *
 *   1. Before main(), if the kernel would choose addresses at random, switch that off and restart the program (exec).
 *   2. The stack begins below the arguments and the environment, and those differ from rank to rank. So pad the
 *      environment until it has a multiple of 1024 variables and argv[0] is at a multiple of 128 KiB, the next one
 *      below the end of all stacks, and restart the program. Environments are far smaller, so one variable more or
 *      less does not lead to another multiple.
 *   3. Find the executable's variables, libraries and code. Every version records what was found, and a process that
 *      differs refuses to restore it.
 * If the system does not allow 1, the log says so; then only survivors can restore. */
#include <base/fail.h>
#include <base/log.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <unistd.h>
#include <xxhash.h>

#include "automatic/arena.h"
#include "automatic/auto.h"

enum { ENVIRONMENT_STEP = 1024, STACK_STEP = 128 << 10 };

struct auto_program auto_program;

/* Has the loader made it read-only? Only ask about whole pages: with large pages, the last one may also hold data. */
bool auto_is_relro(const void *address)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *to = (char *)((size_t)auto_program.relro.to / page * page);
    return (char *)address >= auto_program.relro.from && (char *)address < to;
}

/* ---- starting again ---- */

static void start_again(char **argv, char **envp)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return;
    path[n] = 0;
    execve(path, argv, envp);
}

static int pad(char **argv, char **envp, int count)
{
    static char names[ENVIRONMENT_STEP][16];
    int added = ENVIRONMENT_STEP - count % ENVIRONMENT_STEP;
    char **all = calloc((size_t)count + (size_t)added + 1, sizeof *all), *fill;
    if (!all)
        return -1;
    memcpy(all, envp, (size_t)count * sizeof *all);
    size_t bytes = 0;
    for (int i = 1; i < added; i++) {
        bytes += (size_t)snprintf(names[i], sizeof names[i], "MEND_PAD%d=", i) + 1;
        all[count + i] = names[i];
    }
    static const char name[] = "MEND_PAD0=";
    size_t left = ((size_t)argv[0] - bytes - sizeof name) % STACK_STEP;
    fill = calloc(1, sizeof name + left);
    if (!fill)
        return -1;
    memcpy(fill, name, sizeof name - 1);
    memset(fill + sizeof name - 1, '.', left);
    all[count] = fill;
    start_again(argv, all);
    return -1;
}

int layout_fix(char **argv, char **envp)
{
    int count = 0, now = personality(0xffffffff);
    bool padded = false;
    while (envp[count])
        padded |= strncmp(envp[count++], "MEND_PAD0=", 10) == 0;
    if ((now & ADDR_NO_RANDOMIZE) == 0) {
        if (!padded && personality((unsigned long)now | ADDR_NO_RANDOMIZE) != -1 &&
            (personality(0xffffffff) & ADDR_NO_RANDOMIZE))
            start_again(argv, envp);
        return mend_fail(MEND_ERR_UNSUPPORTED,
                         "this system does not let a program choose fixed addresses; processes "
                         "that join later will not be able to restore");
    }
    if (!padded && (count % ENVIRONMENT_STEP || (size_t)argv[0] % STACK_STEP))
        pad(argv, envp, count);
    return 0;
}

/* ---- the executable ---- */

static void add_data(char *from, char *to)
{
    if (from < to && auto_program.data_count < AUTO_DATA_MAX)
        auto_program.data[auto_program.data_count++] = (struct auto_range){from, to};
}

/* Remove from the executable's data a library's variable whose only copy the linker put there. */
static void cut(char *from, char *to)
{
    struct auto_program *p = &auto_program;
    for (int i = 0; i < p->data_count; i++) {
        struct auto_range *r = &p->data[i];
        if (from >= r->to || to <= r->from)
            continue;
        char *end = r->to;
        r->to = from > r->from ? from : r->from;
        add_data(to, end);
    }
}

/* On most machines, but not all, the loader has relocated these addresses. */
static const void *table(const ElfW(Dyn) * d)
{
    char *at = (char *)d->d_un.d_ptr;
    return at < auto_program.base ? auto_program.base + d->d_un.d_ptr : at;
}

static void note_dynamic(const ElfW(Dyn) * d)
{
    struct auto_program *p = &auto_program;
    for (; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB: p->symbols = table(d); break;
        case DT_STRTAB: p->strings = table(d); break;
        case DT_JMPREL: p->slots = table(d); break;
        case DT_PLTRELSZ: p->slots_bytes = d->d_un.d_val; break;
        case DT_RELA: p->relocations = table(d); break;
        case DT_RELASZ: p->relocations_bytes = d->d_un.d_val; break;
        default: break;
        }
    }
}

static void note_executable(const struct dl_phdr_info *info)
{
    struct auto_program *p = &auto_program;
    p->base = (char *)info->dlpi_addr;
    p->image.from = (char *)UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        char *from = p->base + h->p_vaddr, *to = from + h->p_memsz;
        if (h->p_type == PT_GNU_RELRO)
            p->relro = (struct auto_range){from, to};
        else if (h->p_type == PT_DYNAMIC)
            note_dynamic((const void *)from);
        else if (h->p_type == PT_TLS) {
            p->tls = info->dlpi_tls_data;
            p->tls_bytes = h->p_memsz;
        }
        if (h->p_type != PT_LOAD)
            continue;
        p->image.from = from < p->image.from ? from : p->image.from;
        p->image.to = to > p->image.to ? to : p->image.to;
        if (h->p_flags & PF_X)
            p->text = (struct auto_range){from, to};
        if (h->p_flags & PF_W)
            add_data(from, to);
        else
            p->hash = XXH3_64bits_withSeed(from, h->p_memsz, p->hash);
    }
    cut(p->relro.from, p->relro.to);
}

static int note_object(struct dl_phdr_info *info, size_t size, void *first)
{
    struct auto_program *p = &auto_program;
    struct auto_range r = {(char *)UINTPTR_MAX, NULL};
    (void)size;
    if (*(bool *)first) {
        *(bool *)first = false;
        note_executable(info);
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        char *from = (char *)info->dlpi_addr + h->p_vaddr, *to = from + h->p_memsz;
        if (h->p_type != PT_LOAD)
            continue;
        r.from = from < r.from ? from : r.from;
        r.to = to > r.to ? to : r.to;
    }
    if (r.from < r.to && p->object_count++ < AUTO_OBJECTS_MAX)
        p->objects[p->object_count - 1] = r;
    uint64_t h = XXH3_64bits_withSeed(info->dlpi_name, strlen(info->dlpi_name), p->objects_hash);
    p->objects_hash = XXH3_64bits_withSeed(&r, sizeof r, h);
    return 0;
}

static void cut_copies(void)
{
    const struct auto_program *p = &auto_program;
#if defined(__aarch64__)
    const unsigned long copy = R_AARCH64_COPY;
#else
    const unsigned long copy = R_X86_64_COPY;
#endif
    for (size_t i = 0; i < p->relocations_bytes / sizeof *p->relocations; i++) {
        const ElfW(Rela) *r = &p->relocations[i];
        if (ELF64_R_TYPE(r->r_info) == copy)
            cut(p->base + r->r_offset,
                p->base + r->r_offset + p->symbols[ELF64_R_SYM(r->r_info)].st_size);
    }
}

int layout_find(void)
{
    bool first = true;
    struct auto_program *p = &auto_program;
    if (p->base || p->image.to)
        return 0;
    dl_iterate_phdr(note_object, &first);
    cut_copies();
    if (!p->symbols || !p->strings || p->data_count == AUTO_DATA_MAX)
        return mend_fail(MEND_ERR_UNSUPPORTED, "cannot read the executable%s",
                         p->symbols ? ": too many pieces of data" : " (linked statically?)");
    if (p->object_count > AUTO_OBJECTS_MAX)
        return mend_fail(MEND_ERR_UNSUPPORTED, "the program has %d libraries, more than %d",
                         p->object_count, AUTO_OBJECTS_MAX);
    if ((char *)&auto_program >= p->image.from && (char *)&auto_program < p->image.to)
        return mend_fail(MEND_ERR_UNSUPPORTED, "libmend is linked statically, and its own memory "
                                               "must not be saved with the program's");
    return 0;
}

/* ---- memory that a saved pointer must not point to ---- */

static bool inside(char *from, const struct auto_range *ranges, int count)
{
    for (int i = 0; i < count; i++)
        if (from >= ranges[i].from && from < ranges[i].to)
            return true;
    return false;
}

static bool is_fixed(char *from, const char *name)
{
    const struct auto_program *p = &auto_program;
    size_t page = (size_t)sysconf(_SC_PAGESIZE) - 1;
    struct auto_range image = {(char *)((size_t)p->image.from & ~page), p->image.to};
    return arena_holds(from) || inside(from, &image, 1) || strstr(name, "[stack]") ||
           strstr(name, "[v") || inside(from, p->objects, p->object_count);
}

int layout_foreign(struct auto_range *ranges, int room)
{
    char line[4400];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        int name = 0;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &from, &to, &name) < 2 ||
            is_fixed((char *)from, line + name))
            continue;
        if (count && (ranges[count - 1].to == (char *)from || count == room))
            ranges[count - 1].to = (char *)to;
        else
            ranges[count++] = (struct auto_range){(char *)from, (char *)to};
    }
    fclose(maps);
    return count;
}
