/* What the store's MPI tests share: data that can be checked, scratch folders, the verdict. */
#ifndef STORE_COMMON_H
#define STORE_COMMON_H

#include <mpi.h>
#include <mpi-ext.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mend/store.h>

/* A rank that ends by a failed check looks like a death, from which the others recover: the verdict
 * must know. */
__attribute__((noreturn)) static inline void failed(const char *what, const char *file, int line)
{
    char path[4200];
    const char *dir = getenv("MEND_TEST_DIR");
    snprintf(path, sizeof path, "%s/failed", dir ? dir : "");
    FILE *f = dir ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%s:%d: not true: %s (%s)\n", file, line, what, mend_error_text());
        fclose(f);
    }
    fprintf(stderr, "%s:%d: not true: %s (%s)\n", file, line, what, mend_error_text());
    fflush(stderr);
    _exit(1);
}

#define CHECK(condition)                            \
    do {                                            \
        if (!(condition))                           \
            failed(#condition, __FILE__, __LINE__); \
    } while (0)
#define OK(call) CHECK((call) == 0)

/* Rank r's data at version v: two regions whose lengths differ from rank to rank. */
struct data {
    uint64_t *a;
    size_t n;
    unsigned char b[300];
};

static inline uint64_t value(int rank, long version, size_t i)
{
    uint64_t x = (uint64_t)rank * 1000003u + (uint64_t)version * 7919u + i;
    x ^= x >> 31;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

static inline void data_make(struct data *d, int rank, size_t base)
{
    d->n = base + (size_t)rank * 1111;
    d->a = calloc(d->n, sizeof *d->a);
    memset(d->b, 0, sizeof d->b);
}

static inline void data_fill(struct data *d, int rank, long version)
{
    for (size_t i = 0; i < d->n; i++)
        d->a[i] = value(rank, version, i);
    for (size_t i = 0; i < sizeof d->b; i++)
        d->b[i] = (unsigned char)value(rank, version, i + 5);
}

static inline bool data_is(const struct data *d, int rank, long version)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->a[i] != value(rank, version, i))
            return false;
    for (size_t i = 0; i < sizeof d->b; i++)
        if (d->b[i] != (unsigned char)value(rank, version, i + 5))
            return false;
    return true;
}

static inline void data_register(mend_store *s, struct data *d)
{
    OK(mend_store_region(s, 7, "a", d->a, d->n * sizeof *d->a));
    OK(mend_store_region(s, 3, "b", d->b, sizeof d->b));
}

/* Options with no level on; every rank is a failure domain of its own with a folder of its own. */
static inline mend_store_options plain_options(int rank)
{
    static char local[4096], global[4096], domain[64];
    mend_store_options o;
    OK(mend_store_defaults(&o));
    const char *dir = getenv("MEND_TEST_DIR") ? getenv("MEND_TEST_DIR") : "/tmp";
    snprintf(local, sizeof local, "%s/local-%%d", dir);
    snprintf(global, sizeof global, "%s/global", dir);
    snprintf(domain, sizeof domain, "node%d", rank);
    o.local_dir = local;
    o.global_dir = global;
    o.domain = domain;
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        o.level[i].every = 0;
    return o;
}

static inline void remove_files(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    char path[8192];
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (d)
        closedir(d);
}

/* The node of this rank loses its disk. */
static inline void lose_disk(int rank, const char *name)
{
    char dir[4200];
    snprintf(dir, sizeof dir, "%s/local-node%d/%s", getenv("MEND_TEST_DIR"), rank, name);
    remove_files(dir);
}

static inline void pass(void)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/failed", getenv("MEND_TEST_DIR"));
    if (access(path, F_OK) == 0)
        return;
    FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
    fputs("PASS\n", marker);
    fclose(marker);
}

#endif
