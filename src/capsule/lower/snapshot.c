/* snapshot.c - writing the upper half into an image.
 *
 * File: header, regions[], runs[], pad to a page, then the bytes of each run. Pages of anonymous
 * mappings that were never touched are not written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lower.h"

static double clk(clockid_t c)
{
    struct timespec t;
    clock_gettime(c, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
double seconds_now(void)
{
    return clk(CLOCK_MONOTONIC);
}

static void write_all(int fd, const void *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n > 1ul << 30 ? 1ul << 30 : n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            die("cannot write the image: %s", strerror(errno));
        p = (const char *)p + w;
        n -= w;
    }
}

/* MEND_CAPSULE_AUDIT=1: list every aligned word of the upper half whose value is an
 * address mapped by the lower half: a restart must rewrite it or never use it. */
static void audit(const struct upper *u, const struct run *rn, size_t nruns)
{
    struct run *low = NULL;
    size_t n = 0, dead = 0, live = 0;
    char line[4352];
    uintptr_t lo, hi;
    FILE *f = fopen("/proc/self/maps", "re");
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo >= UPPER_END) {
            if (n && low[n - 1].to == lo) {
                low[n - 1].to = hi;
                continue;
            }
            low = realloc(low, (n + 1) * sizeof *low);
            low[n++] = (struct run){lo, hi};
        }
    for (size_t i = 0; i < nruns; i++)
        for (uintptr_t *p = (uintptr_t *)rn[i].from; p < (uintptr_t *)rn[i].to; p++)
            for (size_t j = 0; *p >= UPPER_END && j < n; j++)
                if (*p >= low[j].from && *p < low[j].to) {
                    if ((uintptr_t)p < u->context.sp && u->context.sp - (uintptr_t)p < 1 << 20) {
                        dead++;
                        continue;
                    }
                    live++;
                    rewind(f);
                    while (fgets(line, sizeof line, f) && sscanf(line, "%lx-%lx", &lo, &hi) == 2 &&
                           (uintptr_t)p >= hi)
                        ;
                    line[strcspn(line, "\n")] = 0;
                    fprintf(stderr, "audit %d: %p holds %lx; %s\n", u->rank, (void *)p, *p, line);
                }
    fprintf(stderr,
            "audit %d: %zu words point into the lower half, and %zu in dead stack below %lx\n",
            u->rank, live, dead, u->context.sp);
    fclose(f);
    free(low);
}

size_t snapshot_to(struct upper *u, int fd)
{
    double t0 = seconds_now();
    struct image_header h = {.magic = IMAGE_MAGIC,
                             .border_version = BORDER_VERSION,
                             .arch = ARCH_NAME,
                             .upper = u,
                             .steering = steering,
                             .tid_address = lower.tid_address,
                             .rank = u->rank,
                             .size = u->size,
                             .thread_level = u->thread_level};
    syscall(SYS_get_robust_list, 0, &h.robust_list, &h.robust_length);
    struct region *rg = NULL;
    struct run *rn = NULL;
    size_t rncap = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    int pm = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    char line[4352], perm[8];
    uintptr_t lo, hi;
    unsigned long off, ino;
    int maj, min;
    if (!f || pm < 0)
        die("cannot read /proc/self/maps: %s", strerror(errno));
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu", &lo, &hi, perm, &off, &maj, &min, &ino) != 7)
            continue;
        if (lo >= UPPER_END)
            break; /* the lower half's */
        rg = realloc(rg, (h.nregions + 1) * sizeof *rg);
        rg[h.nregions++] =
            (struct region){lo, hi,
                            (perm[0] == 'r' ? PROT_READ : 0) | (perm[1] == 'w' ? PROT_WRITE : 0) |
                                (perm[2] == 'x' ? PROT_EXEC : 0),
                            perm[3] == 's'};
        if (perm[3] == 's')
            fprintf(stderr, "mend: rank %d: shared mapping becomes private: %s", u->rank, line);
        int no_read = perm[0] != 'r';
        if (no_read && ino)
            continue; /* gap between the segments of a library */
        /* Pages of an anonymous mapping that were never touched are zero: skip them. */
        uint64_t ent[512];
        size_t np = (hi - lo) / page_size;
        for (size_t i = 0; i < np; i++) {
            if (i % 512 == 0) {
                size_t want = (np - i < 512 ? np - i : 512) * 8;
                if (pread(pm, ent, want, (lo / page_size + i) * 8) != (ssize_t)want)
                    memset(ent, 0xff, sizeof ent);
            }
            if (!ino && !(ent[i % 512] >> 62))
                continue; /* neither present nor swapped */
            uintptr_t a = lo + i * page_size;
            if (h.nruns && rn[h.nruns - 1].to == a && a != lo)
                rn[h.nruns - 1].to += page_size;
            else {
                if (h.nruns == rncap)
                    rn = realloc(rn, (rncap = rncap * 2 + 64) * sizeof *rn);
                rn[h.nruns++] = (struct run){a, a + page_size};
            }
            h.bytes += page_size;
        }
    }
    fclose(f);
    close(pm);
    if (getenv("MEND_CAPSULE_AUDIT"))
        audit(u, rn, h.nruns);
    size_t head = sizeof h + h.nregions * sizeof *rg + h.nruns * sizeof *rn;
    h.data_offset = ROUND_UP(head, page_size);
    double t1 = seconds_now(), c1 = clk(CLOCK_THREAD_CPUTIME_ID);
    write_all(fd, &h, sizeof h);
    write_all(fd, rg, h.nregions * sizeof *rg);
    write_all(fd, rn, h.nruns * sizeof *rn);
    char *pad = calloc(1, page_size);
    write_all(fd, pad, h.data_offset - head);
    free(pad);
    size_t r = 0;
    for (size_t i = 0; i < h.nruns; i++) {
        while (rg[r].to <= rn[i].from)
            r++;
        int hidden = !(rg[r].prot & PROT_READ); /* content behind PROT_NONE */
        if (hidden)
            mprotect((void *)rn[i].from, rn[i].to - rn[i].from, PROT_READ);
        write_all(fd, (void *)rn[i].from, rn[i].to - rn[i].from);
        if (hidden)
            mprotect((void *)rn[i].from, rn[i].to - rn[i].from, rg[r].prot);
    }
    double t2 = seconds_now();
    if (getenv("MEND_CAPSULE_VERBOSE"))
        fprintf(stderr,
                "mend: rank %d: image %zu bytes, %lu regions, %lu runs; scan %.1f ms, write %.1f "
                "ms (%.0f MB/s, cpu %.1f ms); %lu traps so far\n",
                u->rank, (size_t)h.bytes, h.nregions, h.nruns, 1e3 * (t1 - t0), 1e3 * (t2 - t1),
                h.bytes / (t2 - t1) / 1e6, 1e3 * (clk(CLOCK_THREAD_CPUTIME_ID) - c1),
                steering_traps);
    free(rg);
    free(rn);
    return h.data_offset + h.bytes;
}

int snapshot_write(struct upper *u, const char *dir)
{
    char path[4096], tmp[4200];
    mkdir(dir, 0777);
    snprintf(path, sizeof path, "%s/ckpt.%d.img", dir, u->rank);
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    int fd = open(tmp, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        die("cannot create %s: %s", tmp, strerror(errno));
    snapshot_to(u, fd);
    if (getenv("MEND_CAPSULE_FSYNC"))
        fsync(fd);
    if (close(fd) || rename(tmp, path))
        die("cannot finish %s: %s", path, strerror(errno));
    return 0;
}
