/* Which MPI library does a program ask for?
 *
 * 1. The strings of its DT_NEEDED entries are in its file: looking for a soname there is enough.
 * 2. A program may name none itself, like gmx_mpi with libgromacs: then its own ld.so lists all that it loads.
 *
 * This file has nothing that the library needs: a program that is linked with libmend.a must not contain these names.
 */
#include <image/abi.h>

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static enum mend_abi abi_in(const char *text, size_t bytes)
{
    static const struct {
        const char *soname;
        enum mend_abi abi;
    } libraries[] = {
        {"libmpich.so.12", MEND_ABI_MPICH},     {"libmpi.so.12", MEND_ABI_MPICH},
        {"libmpichfort.so.12", MEND_ABI_MPICH}, {"libmpifort.so.12", MEND_ABI_MPICH},
        {"libmpi.so.40", MEND_ABI_OPENMPI},     {"libmpi_mpifh.so.40", MEND_ABI_OPENMPI},
        {"libmpi_abi.so.", MEND_ABI_STANDARD}};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (memmem(text, bytes, libraries[i].soname, strlen(libraries[i].soname)))
            return libraries[i].abi;
    return MEND_ABI_UNKNOWN;
}

/* What `LOADER --list PROGRAM` prints. No shell: a path may hold anything. */
static FILE *libraries_of(const char *loader, const char *program, pid_t *child)
{
    int ends[2];
    *child = -1;
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    char *words[] = {(char *)loader, "--list", (char *)program, NULL};
    if (posix_spawn(child, loader, &actions, NULL, words, environ))
        *child = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *list = fdopen(ends[0], "r");
    if (!list)
        close(ends[0]);
    return list;
}

static enum mend_abi abi_of_libraries(const char *loader, const char *program)
{
    char line[PATH_MAX + 512];
    enum mend_abi abi = MEND_ABI_UNKNOWN;
    pid_t child;
    FILE *list = libraries_of(loader, program, &child);
    while (list &&
           fgets(line, sizeof line, list)) /* to its end: the loader must not find a closed pipe */
        abi = abi ? abi : abi_in(line, strlen(line));
    if (list)
        fclose(list);
    if (child > 0)
        waitpid(child, NULL, 0);
    return abi;
}

/* The path in a program's PT_INTERP; NULL: it has none. */
static const char *loader_in(const char *file, uint64_t size)
{
    Elf64_Ehdr e;
    Elf64_Phdr p;
    if (size < sizeof e)
        return NULL;
    memcpy(&e, file, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_phoff > size || e.e_phnum > (size - e.e_phoff) / sizeof p)
        return NULL;
    for (int i = 0; i < e.e_phnum; i++) {
        memcpy(&p, file + e.e_phoff + (uint64_t)i * sizeof p, sizeof p);
        if (p.p_type == PT_INTERP && p.p_offset <= size && p.p_filesz <= size - p.p_offset)
            return memchr(file + p.p_offset, 0, p.p_filesz) ? file + p.p_offset : NULL;
    }
    return NULL;
}

static enum mend_abi abi_of_file(const char *program, const char *file, size_t size)
{
    enum mend_abi abi = abi_in(file, size);
    const char *loader = abi ? NULL : loader_in(file, size);
    if (loader)
        abi = abi_of_libraries(loader, program);
    return abi ? abi : MEND_ABI_OPENMPI;
}

enum mend_abi mend_abi_of_program(const char *program)
{
    struct stat st;
    enum mend_abi abi = MEND_ABI_UNKNOWN;
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        size_t size = (size_t)st.st_size;
        char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            abi = abi_of_file(program, file, size);
            munmap(file, size);
        }
    }
    if (fd >= 0)
        close(fd);
    return abi;
}
