/* Is the program's C library new enough? We check before we launch anything.
 *
 * 1. We read the program's own loader from its file (PT_INTERP).
 * 2. That loader lists what the program needs together with our face, as a rank will load them. No code of the program
 *    runs.
 * 3. We name a missing version of the C library, and the file that needs it. We leave anything else that may be wrong
 *    with the program, and a program that is missing on this machine, to the ranks, which see their own machines.
 */
#include "capsule.h"
#include "launch.h"
#include "tool.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LISTED = 1 << 18 };

static bool loader_in(int fd, char *loader, size_t size)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof part)
        return false;
    for (int i = 0; i < head.e_phnum; i++) {
        if (pread(fd, &part, sizeof part, (off_t)(head.e_phoff + (size_t)i * sizeof part)) !=
            sizeof part)
            return false;
        if (part.p_type != PT_INTERP)
            continue;
        if (part.p_filesz < 2 || part.p_filesz > size ||
            pread(fd, loader, part.p_filesz, (off_t)part.p_offset) != (ssize_t)part.p_filesz)
            return false;
        return loader[0] == '/' && loader[part.p_filesz - 1] == 0;
    }
    return false;
}

static bool loader_of(const char *program, char *loader, size_t size)
{
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool found = fd >= 0 && loader_in(fd, loader, size);
    if (fd >= 0)
        close(fd);
    return found;
}

/* The loader's message: …: version `GLIBC_2.38' not found (required by FILE). */
static bool missing_version(const char *said, char version[64], char file[4096])
{
    for (const char *line = said; (line = strstr(line, "version `GLIBC_")); line++)
        if (sscanf(line, "version `%63[^'\n]' not found (required by %4095[^\n])", version, file) ==
            2) {
            char *end = strrchr(file, ')');
            if (end)
                *end = 0;
            return true;
        }
    return false;
}

int program_check(const char *command, const char *name)
{
    char program[4400], loader[4096], capsule[4400], face[64], version[64], file[4096];
    snprintf(program, sizeof program, "%s", name);
    if ((!strchr(name, '/') && !tool_find_program(name, program, sizeof program)) ||
        !loader_of(program, loader, sizeof loader) ||
        !capsule_find("openmpi", capsule, sizeof capsule))
        return TOOL_OK;
    *strrchr(capsule, '/') = 0;
    int folder = open(capsule, O_PATH | O_DIRECTORY); /* --preload ends a name at a blank */
    char *said = malloc(LISTED);
    if (folder < 0 || !said) {
        free(said);
        return TOOL_OK;
    }
    snprintf(face, sizeof face, "/proc/self/fd/%d/openmpi/libmpi.so.40", folder);
    char *words[] = {loader, "--preload", face, "--list", program, NULL};
    tool_capture(words, 20, said, LISTED);
    close(folder);
    bool missing = missing_version(said, version, file);
    free(said);
    if (!missing)
        return TOOL_OK;
    bool ours = strncmp(file, "/proc/self/fd/", 14) == 0;
    return tool_failed(command,
                       "%s uses the C library of %s, which is too old: %s needs %s; compile the "
                       "program with `mend cc`",
                       name, loader, ours ? "Mend" : file, version);
}
