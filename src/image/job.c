/* The job that images belong to: a process never takes an image of another job for one of its own, wherever it came
 * from. */
#include "format.h"

#include <image/abi.h>

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <base/fail.h>

static mend_image_job here;

void mend_image_belong_to(const mend_image_job *job)
{
    here = *job;
}

const mend_image_job *job_here(void)
{
    return &here;
}

static bool shows(const char *text, size_t room)
{
    size_t n = strnlen(text, room);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
            return false;
    return n < room;
}

static bool is_named(const mend_image_job *job)
{
    return shows(job->id, sizeof job->id) && shows(job->program, sizeof job->program);
}

int job_check(const mend_image_job *job)
{
    if (!is_named(job))
        return mend_fail(MEND_ERR_DAMAGED, "the image's job has an invalid name");
    if (!here.id[0])
        return 0;
    if (!job->id[0])
        return mend_fail(MEND_ERR_ARCHITECTURE,
                         "the image belongs to no job, this is job %s (program %s)", here.id,
                         here.program);
    if (strcmp(job->id, here.id) != 0)
        return mend_fail(MEND_ERR_ARCHITECTURE,
                         "the image belongs to job %s (program %s), this is job %s (program %s)",
                         job->id, job->program, here.id, here.program);
    if (here.build && job->build != here.build)
        return mend_fail(MEND_ERR_ARCHITECTURE,
                         "the image belongs to another build of the program (%s, %016" PRIx64
                         "), this is %s, %016" PRIx64,
                         job->program, job->build, here.program, here.build);
    if (here.build && job->arguments != here.arguments)
        return mend_fail(MEND_ERR_ARCHITECTURE,
                         "the image belongs to a run of %s with other arguments than this one",
                         job->program);
    return 0;
}

uint64_t mend_image_job_sum(const mend_image_job *job)
{
    mend_image_job without = *job;
    without.abi = MEND_ABI_UNKNOWN;
    return job->id[0] ? XXH3_64bits(&without, sizeof without) | 1 : 0;
}

/* The build id in one PT_NOTE segment; its sum, or 0. All of it lies in `bytes`. */
static uint64_t note_sum(const uint8_t *bytes, uint64_t size)
{
    for (uint64_t at = 0; size - at > sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr n;
        memcpy(&n, bytes + at, sizeof n);
        uint64_t name = ((uint64_t)n.n_namesz + 3) & ~3ull,
                 desc = ((uint64_t)n.n_descsz + 3) & ~3ull;
        at += sizeof n;
        if (name > size - at || desc > size - at - name)
            break;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && n.n_descsz &&
            memcmp(bytes + at, "GNU", 4) == 0)
            return XXH3_64bits(bytes + at + name, n.n_descsz);
        at += name + desc;
    }
    return 0;
}

static uint64_t build_id_sum(const uint8_t *file, uint64_t size)
{
    Elf64_Ehdr e;
    Elf64_Phdr p;
    uint64_t sum = 0;
    if (size < sizeof e)
        return 0;
    memcpy(&e, file, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_phoff > size || e.e_phnum > (size - e.e_phoff) / sizeof p)
        return 0;
    for (int i = 0; i < e.e_phnum && !sum; i++) {
        memcpy(&p, file + e.e_phoff + (uint64_t)i * sizeof p, sizeof p);
        if (p.p_type == PT_NOTE && p.p_offset <= size && p.p_filesz <= size - p.p_offset)
            sum = note_sum(file + p.p_offset, p.p_filesz);
    }
    return sum;
}

uint64_t mend_image_job_build(const char *program)
{
    struct stat st;
    uint64_t sum = 0;
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        uint64_t size = (uint64_t)st.st_size;
        uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            sum = build_id_sum(file, size);
            sum = sum ? sum : XXH3_64bits(file, size);
            munmap(file, size);
        }
    }
    if (fd >= 0)
        close(fd);
    return sum;
}

uint64_t mend_image_job_arguments(char *const *arguments)
{
    uint64_t sum = 0; /* each with its end, and with the sum so far */
    for (; *arguments; arguments++)
        sum = XXH3_64bits_withSeed(*arguments, strlen(*arguments) + 1, sum);
    return sum;
}

static const struct {
    const char *name, *title;
} abis[] = {
    {NULL, NULL}, {"openmpi", "Open MPI"}, {"mpich", "MPICH"}, {"standard", "the standard ABI"}};
enum { ABIS = sizeof abis / sizeof *abis };

const char *mend_abi_name(unsigned abi)
{
    return abi < ABIS ? abis[abi].name : NULL;
}

const char *mend_abi_title(unsigned abi)
{
    return abi < ABIS ? abis[abi].title : NULL;
}

enum mend_abi mend_abi_parse(const char *name)
{
    for (unsigned i = 1; i < ABIS; i++)
        if (strcmp(name, abis[i].name) == 0)
            return (enum mend_abi)i;
    return MEND_ABI_UNKNOWN;
}

void mend_image_job_name(mend_image_job *job, const char *program)
{
    const char *slash = strrchr(program, '/');
    snprintf(job->program, sizeof job->program, "%.39s", slash ? slash + 1 : program);
    for (char *c = job->program; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
            *c = '_';
}

void mend_image_job_text(const mend_image_job *job, char text[MEND_JOB_TEXT])
{
    const char *abi = mend_abi_name(job->abi);
    snprintf(text, MEND_JOB_TEXT, "%s %016" PRIx64 " %016" PRIx64 " %s%s%s", job->id, job->build,
             job->arguments, job->program, abi ? " " : "", abi ? abi : "");
}

int mend_image_job_parse(const char *text, mend_image_job *job)
{
    mend_image_job j = {0};
    int end = 0;
    bool ok =
        strlen(text) < MEND_JOB_TEXT && sscanf(text, "%35s %16" SCNx64 " %16" SCNx64 " %39s%n",
                                               j.id, &j.build, &j.arguments, j.program, &end) == 4;
    if (ok && text[end]) {
        j.abi = text[end] == ' ' ? mend_abi_parse(text + end + 1) : MEND_ABI_UNKNOWN;
        ok = j.abi != MEND_ABI_UNKNOWN;
    }
    if (!ok || !is_named(&j))
        return mend_fail(MEND_ERR_ARGUMENT, "\"%.120s\" does not name a job", text);
    *job = j;
    return 0;
}
