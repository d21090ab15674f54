/* load.c - starts the application as the upper half of this process.
 *
 * We map only ld.so by hand; we then start it as
 *     ld-linux.so --preload FACE APP ARGS...
 * would, and it maps the application and its libraries itself (through the trap of steer.c). With --preload
 * our face, which has the soname of the application's MPI library, satisfies the application's DT_NEEDED even
 * if the application has an RPATH.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "start/start.h"

#include <base/config.h>
#include <image/abi.h>

extern char **environ;
static struct {
    char **environ; /* as the kernel passed it: MPI_Init changes and moves it */
    char interpreter[4096], program[4096];
} first;
void load_remember_environment(void)
{
    if (!first.environ)
        first.environ = environ;
}

struct elf {
    Elf64_Ehdr eh;
    Elf64_Phdr ph[32];
    uintptr_t base, end;
};

static void read_elf(const char *path, int *fd, struct elf *im)
{
    if ((*fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        die("cannot open %s: %s", path, strerror(errno));
    if (pread(*fd, &im->eh, sizeof im->eh, 0) != sizeof im->eh ||
        memcmp(im->eh.e_ident, ELFMAG, 4) || im->eh.e_phnum > 32)
        die("%s is not an ELF program", path);
    if (im->eh.e_machine != ARCH_MACHINE)
        die("%s is not a program for " ARCH_NAME, path);
    size_t bytes = im->eh.e_phnum * sizeof im->ph[0];
    if (pread(*fd, im->ph, bytes, im->eh.e_phoff) != (ssize_t)bytes)
        die("%s is cut short", path);
}

static char *interpreter_of(const char *app)
{
    struct elf im;
    int fd;
    char *path = first.interpreter;
    read_elf(app, &fd, &im);
    for (int i = 0; i < im.eh.e_phnum; i++)
        if (im.ph[i].p_type == PT_INTERP && im.ph[i].p_filesz < sizeof first.interpreter) {
            if (pread(fd, path, im.ph[i].p_filesz, im.ph[i].p_offset) != (ssize_t)im.ph[i].p_filesz)
                die("%s is cut short", app);
            close(fd);
            return path;
        }
    die("%s is statically linked; the capsule runs only dynamically linked programs", app);
}

static int prot_of(int flags)
{
    return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
           (flags & PF_X ? PROT_EXEC : 0);
}

static void map_elf(const char *path, struct elf *im)
{
    int fd;
    uintptr_t lo = ~0ul, hi = 0;
    read_elf(path, &fd, im);
    for (int i = 0; i < im->eh.e_phnum; i++)
        if (im->ph[i].p_type == PT_LOAD) {
            if (ROUND_DOWN(im->ph[i].p_vaddr, ground.page_size) < lo)
                lo = ROUND_DOWN(im->ph[i].p_vaddr, ground.page_size);
            if (ROUND_UP(im->ph[i].p_vaddr + im->ph[i].p_memsz, ground.page_size) > hi)
                hi = ROUND_UP(im->ph[i].p_vaddr + im->ph[i].p_memsz, ground.page_size);
        }
    long at = arena_mmap(hi - lo, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at < 0)
        die("cannot reserve memory for %s: %s", path, strerror(-at));
    im->base = at - lo;
    im->end = at + hi - lo;
    for (int i = 0; i < im->eh.e_phnum; i++) {
        Elf64_Phdr *p = &im->ph[i];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t a = ROUND_DOWN(im->base + p->p_vaddr, ground.page_size),
                  file_end = im->base + p->p_vaddr + p->p_filesz;
        uintptr_t mem_end = ROUND_UP(im->base + p->p_vaddr + p->p_memsz, ground.page_size);
        if (mmap((void *)a, file_end - a, prot_of(p->p_flags), MAP_PRIVATE | MAP_FIXED, fd,
                 ROUND_DOWN(p->p_offset, ground.page_size)) == MAP_FAILED)
            die("cannot map %s: %s", path, strerror(errno));
        if (p->p_memsz > p->p_filesz) { /* .bss */
            memset((void *)file_end, 0, ROUND_UP(file_end, ground.page_size) - file_end);
            if (mem_end > ROUND_UP(file_end, ground.page_size) &&
                mmap((void *)ROUND_UP(file_end, ground.page_size),
                     mem_end - ROUND_UP(file_end, ground.page_size), prot_of(p->p_flags),
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
                die("cannot map %s: %s", path, strerror(errno));
        }
    }
    close(fd);
}

/* From /proc: once somebody has called setenv, the vector is no longer behind the environment. */
static int kernel_auxv(Elf64_auxv_t *av, int room)
{
    int fd = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC), n = 0;
    ssize_t bytes = fd < 0 ? -1 : read(fd, av, (size_t)room * sizeof *av);
    if (bytes <= 0)
        die("cannot read /proc/self/auxv: %s", strerror(errno));
    close(fd);
    while (n < bytes / (ssize_t)sizeof *av && av[n].a_type != AT_NULL)
        n++;
    return n;
}

/* Room for the stack, and a guard page below it; returns the upper end. The kernel lets an unlimited stack grow until it
 * meets another mapping; ours has a fixed place, so it gets more than programs need, or what ulimit -v leaves. Only pages
 * that are touched take memory, here and in images. */
static char *map_stack(void)
{
    static const size_t unlimited = 16ul << 30, least = 64ul << 20;
    const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    struct rlimit rl;
    getrlimit(RLIMIT_STACK, &rl);
    size_t size = rl.rlim_cur > unlimited ? unlimited : ROUND_UP(rl.rlim_cur, ground.page_size);
    long at;
    while ((at = arena_mmap(size + ground.page_size, PROT_READ | PROT_WRITE, kind, -1, 0)) < 0 &&
           size > least)
        size /= 2;
    if (at < 0)
        die("cannot map a stack: %s", strerror(-at));
    mprotect((void *)at, ground.page_size, PROT_NONE);
    return (char *)at + size + ground.page_size;
}

/* The initial stack as the kernel builds it: argc, argv, envp, auxv, strings. */
static void *build_stack(int argc, char **argv, const struct elf *ldso)
{
    char *top = map_stack();
#define PUSH_STR(s)                \
    ({                             \
        size_t n_ = strlen(s) + 1; \
        top -= n_;                 \
        memcpy(top, s, n_);        \
        top;                       \
    })
    char **env = first.environ ? first.environ : environ;
    int envc = 0;
    while (env[envc])
        envc++;
    Elf64_auxv_t av[64];
    int avc = kernel_auxv(av, 64);
    uint64_t *w = need(calloc(1 + argc + 1 + envc + 1 + 2 * (avc + 8), sizeof *w)), n = 0;
    w[n++] = argc;
    for (int i = 0; i < argc; i++)
        w[n++] = (uintptr_t)PUSH_STR(argv[i]);
    w[n++] = 0;
    for (int i = 0; i < envc; i++)
        w[n++] = (uintptr_t)PUSH_STR(env[i]);
    w[n++] = 0;
    for (int i = 0; i < avc; i++) {
        uint64_t t = av[i].a_type, v = av[i].a_un.a_val;
        if (t == AT_SYSINFO_EHDR)
            continue; /* no vdso up there: it moves */
        if (t == AT_PHDR)
            v = ldso->base + ldso->eh.e_phoff;
        if (t == AT_PHNUM)
            v = ldso->eh.e_phnum;
        if (t == AT_ENTRY)
            v = ldso->base + ldso->eh.e_entry; /* "ld.so is the program" */
        if (t == AT_BASE)
            v = 0;
        if (t == AT_EXECFN)
            v = (uintptr_t)PUSH_STR(argv[0]);
        if (t == AT_PLATFORM && v)
            v = (uintptr_t)PUSH_STR((char *)v);
        if (t == AT_RANDOM) {
            top -= 16;
            memcpy(top, (void *)v, 16);
            v = (uintptr_t)top;
        }
        w[n++] = t;
        w[n++] = v;
    }
    w[n++] = AUXV_MEND_LOWER;
    w[n++] = (uintptr_t)&lower;
    w[n++] = AT_NULL;
    w[n++] = 0;
    char *sp = (char *)ROUND_DOWN(top - n * sizeof *w, 16);
    memcpy(sp, w, n * sizeof *w);
    free(w);
    return sp;
}

static char *find_in_path(char *name)
{
    char *buf = first.program;
    char *path = getenv("PATH");
    if (strchr(name, '/') || !path)
        return name;
    for (char *p = strtok(need(strdup(path)), ":"); p; p = strtok(NULL, ":"))
        if (snprintf(buf, sizeof first.program, "%s/%s", p, name) < (int)sizeof first.program &&
            !access(buf, X_OK))
            return buf;
    return name;
}

/* Which MPI does the program ask for? MEND_CAPSULE_ABI says it for one that loads MPI later (Python). */
static const char *abi_of(const char *app)
{
    const char *said = mend_setting_string(MEND_KEY_CAPSULE_ABI);
    const char *found = said[0] ? said : mend_abi_name(mend_abi_of_program(app));
    if (!found)
        die("cannot read %s: %s", app, strerror(errno));
    return found;
}

/* The folder of our faces as --preload can name it. In its list a blank or a colon ends a name, so we reach
 * such a path through a descriptor, which stays open. */
static const char *nameable(const char *folder, char *name, size_t size)
{
    if (!strpbrk(folder, " :"))
        return folder;
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        die("cannot open %s: %s", folder, strerror(errno));
    snprintf(name, size, "/proc/self/fd/%d", fd);
    return name;
}

/* Each soname that a program may need must be loaded already. */
static void preload_of(const char *abi, const char *faces, char *list, size_t size)
{
    static const char *const libraries[][3] = {{"openmpi", "libmpi.so.40", "libmpi_mpifh.so.40"},
                                               {"mpich", "libmpi.so.12", "libmpich.so.12"},
                                               {"standard", "libmpi_abi.so.1", "libmpi_abi.so.0"}};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strcmp(abi, libraries[i][0]) == 0) {
            snprintf(list, size, "%s/%s/%s:%s/%s/%s", faces, abi, libraries[i][1], faces, abi,
                     libraries[i][2]);
            return;
        }
    die("capsule.abi is \"%s\"; it must be openmpi, mpich or standard", abi);
}

void load_and_enter(int argc, char **argv)
{
    char self[4096], stub[8400], by_descriptor[64];
    struct elf ldso;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        die("cannot read /proc/self/exe: %s", strerror(errno));
    self[n] = 0;
    dirname(self);
    argv[0] = find_in_path(argv[0]);
    char *interp = interpreter_of(argv[0]);
    const char *faces = nameable(self, by_descriptor, sizeof by_descriptor);
    preload_of(abi_of(argv[0]), faces, stub, sizeof stub);
    struct stat st;
    if (!stat(argv[0], &st) && st.st_mode & (S_ISUID | S_ISGID))
        die("%s is setuid; the capsule does not run setuid programs", argv[0]);
    map_elf(interp, &ldso);
    char **av = need(calloc(argc + 4, sizeof *av));
    int ac = 0;
    av[ac++] = interp;
    av[ac++] = "--preload";
    av[ac++] = stub;
    for (int i = 0; i < argc; i++)
        av[ac++] = argv[i];
    void *sp = build_stack(ac, av, &ldso);
    steering_install();
    machine_release_returns();
    context_enter((void *)(ldso.base + ldso.eh.e_entry), sp);
}
