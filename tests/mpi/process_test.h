/* What the tests of the process layer share. A failed expectation ends the process, which fails the
 * test: no rank will write PASS then, or the job hangs and the harness says so. */
#ifndef PROCESS_TEST_H
#define PROCESS_TEST_H

#include <mend/process.h>

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPECT(condition)                                                                         \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            char text_[1000];                                                                     \
            snprintf(text_, sizeof text_, "%s:%d: rank %d (pid %d): not so: %s [%s]\n", __FILE__, \
                     __LINE__, test_rank(), getpid(), #condition, mend_error_text());             \
            test_fail(text_);                                                                     \
        }                                                                                         \
    } while (0)

static inline int test_rank(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank ? atoi(rank) : -1;
}

static inline int test_spares(void)
{
    const char *spares = getenv("MEND_TEST_SPARES");
    return spares ? atoi(spares) : 0;
}

static inline void test_file(const char *name, const char *text)
{
    const char *dir = getenv("MEND_TEST_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir ? dir : ".", name);
    int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        perror(path);
    if (fd >= 0)
        close(fd);
}

static inline int test_file_exists(const char *name)
{
    const char *dir = getenv("MEND_TEST_DIR");
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", dir ? dir : ".", name);
    return stat(path, &st) == 0;
}

/* Has everybody come here? A collective call that has succeeded here may still fail on a rank that
 * is late, if somebody dies meanwhile: whoever dies next waits until all `n` others are out of it. */
static inline void test_out_of_it(const char *name, int n, int dies_next)
{
    const char *dir = getenv("MEND_TEST_DIR");
    char path[4096];
    struct stat st = {0};
    if (!dies_next) {
        test_file(name, "x");
        return;
    }
    snprintf(path, sizeof path, "%s/%s", dir ? dir : ".", name);
    while (stat(path, &st) != 0 || st.st_size < n)
        usleep(1000);
}

/* A wrong result must not be healed by the very recovery that is tested: it stops the whole job. */
static inline void test_fail(const char *text)
{
    fputs(text, stderr);
    test_file("failed", text); /* the launcher may end before it has forwarded the text */
    kill(getppid(), SIGTERM);  /* the launcher: MPI_Abort does not end a job with fault tolerance */
    _exit(1);
}

static inline void test_pass(void)
{
    const char *marker = getenv("MEND_TEST_MARKER");
    if (test_file_exists("failed") || !marker)
        return;
    FILE *f = fopen(marker, "w");
    if (f) {
        fputs("PASS\n", f);
        fclose(f);
    }
}

static inline void test_die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Die if this process was started as `seat` (its rank in MPI_COMM_WORLD), once. */
static inline void test_die_as(int seat)
{
    if (test_rank() == seat)
        test_die();
}

#endif
