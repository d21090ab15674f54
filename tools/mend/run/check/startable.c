/* Can this program start at all? We ask once, before the first launch. Otherwise each rank would report the error, and
 * the job would be relaunched in vain. The rules are those of the capsule (src/capsule/lower/start/load.c). */
#include "startable.h"
#include "identity.h"
#include "tool.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#elif defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#endif

static const char *machine_name(unsigned machine)
{
    static char other[32];
    switch (machine) {
    case EM_AARCH64: return "aarch64";
    case EM_X86_64: return "x86_64";
    case EM_386: return "i386";
    case EM_ARM: return "32-bit ARM";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390";
    default: snprintf(other, sizeof other, "machine %u", machine); return other;
    }
}

/* Access beyond the end of a mapped file is SIGBUS, in every rank. */
static bool ends_before(int fd, const Elf64_Phdr *p)
{
    struct stat st;
    return p->p_type == PT_LOAD && p->p_filesz &&
           (fstat(fd, &st) || p->p_offset > (uint64_t)st.st_size ||
            p->p_filesz > (uint64_t)st.st_size - p->p_offset);
}

static int check_segments(const char *path, int fd, const Elf64_Ehdr *e)
{
    for (int i = 0; i < e->e_phnum; i++) {
        Elf64_Phdr p;
        if (pread(fd, &p, sizeof p, (off_t)(e->e_phoff + (uint64_t)i * sizeof p)) != sizeof p ||
            ends_before(fd, &p))
            return tool_failed("run", "%s is cut short", path);
    }
    return TOOL_OK;
}

static int check_interpreter(const char *path, int fd, const Elf64_Ehdr *e)
{
    for (int i = 0; i < e->e_phnum; i++) {
        Elf64_Phdr p;
        char loader[4096] = "";
        if (pread(fd, &p, sizeof p, (off_t)(e->e_phoff + (uint64_t)i * sizeof p)) != sizeof p ||
            p.p_type != PT_INTERP)
            continue;
        if (p.p_filesz < 2 || p.p_filesz > sizeof loader ||
            pread(fd, loader, p.p_filesz, (off_t)p.p_offset) != (ssize_t)p.p_filesz ||
            loader[p.p_filesz - 1])
            return tool_failed("run", "%s is cut short", path);
        if (access(loader, R_OK))
            return tool_failed("run", "%s needs the loader %s, which is not here", path, loader);
        return TOOL_OK;
    }
    return tool_failed("run", "%s is statically linked: Mend runs only dynamically linked programs",
                       path);
}

static int check_content(const char *path, int fd)
{
    Elf64_Ehdr e = {0};
    ssize_t n = pread(fd, &e, sizeof e, 0);
    if (n < 0)
        return tool_failed("run", "cannot read %s: %s", path, strerror(errno));
    if (n == 0)
        return tool_failed("run", "%s is an empty file", path);
    if (n >= 2 && memcmp(&e, "#!", 2) == 0)
        return tool_failed("run",
                           "%s is a script, not a program: name its interpreter before it, or the "
                           "MPI program that it starts",
                           path);
    if (n < SELFMAG || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
        return tool_failed("run", "%s is not a program (no ELF file)", path);
    if (n < (ssize_t)sizeof e && e.e_ident[EI_CLASS] == ELFCLASS64)
        return tool_failed("run", "%s is cut short", path);
    if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != MACHINE)
        return tool_failed(
            "run", "%s is a program for %s%s, this machine is %s", path, machine_name(e.e_machine),
            e.e_ident[EI_CLASS] == ELFCLASS32 ? " (32 bit)" : "", machine_name(MACHINE));
    if ((e.e_type != ET_EXEC && e.e_type != ET_DYN) || e.e_phentsize != sizeof(Elf64_Phdr))
        return tool_failed("run", "%s is not a program, but another kind of ELF file", path);
    int rc = check_segments(path, fd, &e);
    return rc ? rc : check_interpreter(path, fd, &e);
}

int startable_check(const char *name, bool elsewhere)
{
    char path[4400];
    struct stat st;
    identity_program(name, path, sizeof path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT && elsewhere)
        return TOOL_OK; /* it may exist there */
    if (fd < 0 && errno == ENOENT)
        return tool_failed("run", "there is no program %s%s", name,
                           strchr(name, '/') ? "" : " in PATH");
    if (fd < 0)
        return tool_failed("run", "cannot open %s: %s", path, strerror(errno));
    int rc = TOOL_OK;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        rc = tool_failed("run", "%s is not a program, but %s", path,
                         S_ISDIR(st.st_mode) ? "a folder" : "a special file");
    else if (access(path, X_OK))
        rc = tool_failed("run", "%s is not executable: %s", path, strerror(errno));
    else if (st.st_mode & (S_ISUID | S_ISGID))
        rc = tool_failed(
            "run", "%s is setuid: Mend does not run programs with the privileges of another user",
            path);
    else
        rc = check_content(path, fd);
    close(fd);
    return rc;
}
