/* restart.c - resuming the upper half from an image, in a new process. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "lower.h"

static void read_all(int fd, void *p, size_t n, off_t off)
{
    while (n) {
        ssize_t r = pread(fd, p, n > 1ul << 30 ? 1ul << 30 : n, off);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            die("cannot read the image: %s", n ? "it is cut short" : "");
        p = (char *)p + r;
        n -= r;
        off += r;
    }
}

static void check_header(int fd, const char *name, struct image_header *h)
{
    read_all(fd, h, sizeof *h, 0);
    if (memcmp(h->magic, IMAGE_MAGIC, 8))
        die("%s is not an image of a capsule", name);
    if (h->border_version != BORDER_VERSION)
        die("%s was written by another version of Mend", name);
    if (strncmp(h->arch, ARCH_NAME, sizeof h->arch))
        die("%s is an image of another CPU architecture (%.15s, here " ARCH_NAME ")", name,
            h->arch);
}

static int open_image(const char *dir, int rank, struct image_header *h)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/ckpt.%d.img", dir, rank);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("cannot open %s: %s", path, strerror(errno));
    check_header(fd, path, h);
    return fd;
}

/* Bring back one further thread: it starts on the signal frame it was parked in and returns through
 * it, which reloads every register. (The frame's own return address points into the old vdso, so
 * sigreturn is issued by clone_into_frame().)
 */
static long spawn_thread(void *frame, void *thread_pointer, int *tid)
{
    return clone_into_frame(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                                CLONE_CHILD_CLEARTID,
                            frame, thread_pointer, tid);
}

/* A signal may still come, to any thread: the old handlers must not run once their code is gone. */
static uint64_t ignored;
void upper_wipe(void)
{
    struct itimerval off = {0};
    for (int i = 0; i < 3; i++)
        setitimer(i, &off, NULL);
    for (int s = 1; s <= 64; s++) {
        struct sigaction sa;
        if (s == SIGNAL_LEAVE || sigaction(s, NULL, &sa))
            continue;
        uintptr_t handler = (uintptr_t)sa.sa_handler;
        if (handler <= (uintptr_t)SIG_IGN || handler >= UPPER_END)
            continue;
        signal(s, SIG_IGN);
        ignored |= 1ul << (s - 1);
    }
    syscall(SYS_close_range, UPPER_FILES, ~0u, 0);
    syscall(SYS_set_robust_list, NULL, sizeof(void *) * 3);
    struct run *rn = NULL;
    size_t n = 0;
    char line[4352];
    uintptr_t from, to;
    FILE *f = fopen("/proc/self/maps", "re");
    if (!f)
        die("cannot read /proc/self/maps: %s", strerror(errno));
    while (fgets(line, sizeof line, f) && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
           from < UPPER_END) {
        if (n && rn[n - 1].to == from) {
            rn[n - 1].to = to;
            continue;
        }
        rn = realloc(rn, (n + 1) * sizeof *rn);
        rn[n++] = (struct run){from, to};
    }
    fclose(f);
    for (size_t i = 0; i < n; i++)
        munmap((void *)rn[i].from, rn[i].to - rn[i].from);
    free(rn);
    steering = (struct steering){UPPER_ARENA, UPPER_BREAK};
}

static struct image_header loaded;
void image_load(int fd, const char *name)
{
    struct image_header h;
    check_header(fd, name, &h);
    upper_wipe();
    struct region *rg = malloc(h.nregions * sizeof *rg);
    struct run *rn = malloc(h.nruns * sizeof *rn);
    read_all(fd, rg, h.nregions * sizeof *rg, sizeof h);
    read_all(fd, rn, h.nruns * sizeof *rn, sizeof h + h.nregions * sizeof *rg);
    for (size_t i = 0; i < h.nregions;
         i++) /* NOREPLACE: a collision is an error, not a corruption */
        if (mmap((void *)rg[i].from, rg[i].to - rg[i].from, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
                 0) != (void *)rg[i].from)
            die("cannot map a region of the image: %s", strerror(errno));
    off_t off = h.data_offset;
    for (size_t i = 0; i < h.nruns; off += rn[i].to - rn[i].from, i++)
        read_all(fd, (void *)rn[i].from, rn[i].to - rn[i].from, off);
    for (size_t i = 0; i < h.nregions; i++) {
        if (rg[i].prot & PROT_EXEC)
            __builtin___clear_cache((char *)rg[i].from, (char *)rg[i].to);
        if (mprotect((void *)rg[i].from, rg[i].to - rg[i].from, rg[i].prot))
            die("cannot protect a region of the image: %s", strerror(errno));
    }
    free(rg);
    free(rn);
    steering = h.steering;
    lower.tid_address = h.tid_address;
    loaded = h;
}

void image_resume(void)
{
    struct upper *u = loaded.upper;
    u->lower = &lower;
    lower.upper = u;
    steering_install();
    for (int s = 1; s <= 64; s++)
        if (ignored >> (s - 1) & 1)
            signal(s, SIG_DFL); /* the upper half installs its own again */
    ignored = 0;
    /* What glibc of the upper half once told the kernel, and what it remembers. */
    *lower.tid_address = syscall(SYS_set_tid_address, lower.tid_address);
    syscall(SYS_set_robust_list, loaded.robust_list, loaded.robust_length);
    ptrdiff_t tid_off = (char *)lower.tid_address - (char *)u->thread_pointer;
    disable_pointer_authentication();
    for (int i = 0; i < u->nthreads; i++)
        if (u->threads[i].used &&
            spawn_thread(u->threads[i].frame, u->threads[i].thread_pointer,
                         (int *)((char *)u->threads[i].thread_pointer + tid_off)) < 0)
            die("cannot bring back a thread: %s", strerror(errno));
    context_resume(&u->context, u->thread_pointer);
}

void restart(const char *dir)
{
    struct image_header h;
    int provided, rank, size;
    double t0 = seconds_now();
    close(open_image(dir, 0, &h)); /* thread level, world size */
    lower.Init_thread(h.thread_level, &provided);
    lower.Comm_rank(lower.predef[PRE_MPI_COMM_WORLD], &rank);
    lower.Comm_size(lower.predef[PRE_MPI_COMM_WORLD], &size);
    if (size != h.size)
        die("%s holds images of %d ranks, but %d were started", dir, h.size, size);
    double t1 = seconds_now();
    int fd = open_image(dir, rank, &h);
    image_load(fd, dir);
    close(fd);
    if (getenv("MEND_CAPSULE_VERBOSE") && rank == 0)
        fprintf(
            stderr,
            "mend: resumed %d ranks on %s: MPI_Init %.1f ms, read %zu bytes in %.1f ms (rank 0)\n",
            size, lower.name, 1e3 * (t1 - t0), (size_t)h.bytes, 1e3 * (seconds_now() - t1));
    image_resume();
}
