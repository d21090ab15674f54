/* lower.h - inside the lower half: steer.c (whose addresses), load.c (start), snapshot.c (image
 * out), restart.c (image in), mpi.c (the only file that sees the real mpi.h).
 */
#ifndef CAPSULE_LOWER_H
#define CAPSULE_LOWER_H
#include "../border.h"

extern struct lower lower; /* mpi.c */
extern size_t page_size;

#define ROUND_UP(x, a)   (((uintptr_t)(x) + (a)-1) & ~((uintptr_t)(a)-1))
#define ROUND_DOWN(x, a) ((uintptr_t)(x) & ~((uintptr_t)(a)-1))

/* One sentence on stderr, and the end of the process. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- steer.c --- */
struct steering {        /* what a restart must know of it */
    uintptr_t cursor;    /* next address to hand out */
    uintptr_t break_now; /* emulated program break */
};
extern struct steering steering;
extern unsigned long steering_traps; /* system calls redirected so far */
long arena_mmap(size_t length, int prot, int flags, int fd, long offset);
void steering_install(void);

/* --- load.c --- */
void load_and_enter(int argc, char **argv) __attribute__((noreturn));
void disable_pointer_authentication(void);

/* --- snapshot.c, restart.c --- */
#define IMAGE_MAGIC "MENDCAP1"
struct image_header {
    char magic[8];
    uint64_t border_version, nregions, nruns, data_offset, bytes;
    struct upper *upper;
    struct steering steering;
    int *tid_address;
    void *robust_list;
    size_t robust_length;
    int rank, size, thread_level;
    char arch[16];
};
struct region { /* a mapping of the upper half */
    uintptr_t from, to;
    int prot, shared;
};
struct run { /* a stretch of a region with content */
    uintptr_t from, to;
};
int snapshot_write(struct upper *upper, const char *dir);
void restart(const char *dir) __attribute__((noreturn));
double seconds_now(void);
#endif
