/* Crash consistency: a process that saves is killed, or gets ENOSPC, EIO or a short transfer, at
 * every system call on its files in turn; afterwards a fresh process must be able to restore what
 * was last acknowledged, or newer, bit by bit.
 *
 *     store_crash drive [CALL]   drive all of it, or one kind of system call; tells the verdict.
 *                            CALL+bundle: the shared files are bundles
 *     store_crash child      what is broken: saves, deltas, merges, prunes, global files
 *     store_crash check N    restore; N: the last version that was acknowledged (-1: none)
 */
#define MEND_STORE_NO_MPI
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/store/internal.h"

#define BYTES    (5 * 4096 + 77)
#define VERSIONS 7

static char dir[128];

static mend_store *open_store(uint8_t *data)
{
    static char local[160], global[160];
    mend_store_options o;
    mend_store *s = NULL;
    if (mend_store_defaults(&o))
        return NULL;
    snprintf(local, sizeof local, "%s/local", dir);
    snprintf(global, sizeof global, "%s/global", dir);
    o.local_dir = local;
    o.global_dir = global;
    o.delta = MEND_DELTA_HASH;
    o.delta_chain = 4;
    o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 1, .keep = 1};
    o.level[MEND_LEVEL_GLOBAL] = (mend_level_options){.every = 3, .keep = 1};
    o.global_files = getenv("CRASH_BUNDLES") != NULL;
    if (o.global_files)
        o.level[MEND_LEVEL_GLOBAL].every = 2;
    if (mend_store_open_single("crash", &o, &s) != 0 ||
        mend_store_region(s, 1, "data", data, BYTES) != 0)
        return NULL;
    s->alone = !o.global_files; /* bundles are of jobs: this one has a single rank */
    return s;
}

static void fill(uint8_t *data, long version)
{
    for (long v = 0; v <= version; v++) /* most pages stay: deltas */
        for (size_t i = 0; i < 4096; i++)
            data[(size_t)v * 3 % 5 * 4096 + i] = (uint8_t)(v * 31 + (long)i);
}

/* Versions 2 and 5 are followed by a pause in which the engine merges them with their bases. A
 * merge that was broken does not come: the wait is bounded. */
static void await_merge(mend_store *s, long v)
{
    mend_store_stats stats = {0};
    for (int i = 0; v % 3 == 2 && i < 60; i++) {
        mend_store_statistics(s, &stats);
        if (stats.merges > (uint64_t)(v / 3))
            break;
        usleep(2000);
    }
}

/* Says on descriptor 3 which version is safe. */
static int child(void)
{
    static uint8_t data[BYTES];
    mend_store *s = open_store(data);
    if (!s)
        return 3; /* could not even open: no harm done */
    long version = -1;
    int rc = mend_store_restore_newest(s, &version);
    if (rc && rc != MEND_ERR_NO_VERSION)
        return 4;
    for (long v = version + 1; v < VERSIONS; v++) {
        unsigned levels = 0;
        fill(data, v);
        if (mend_store_save(s, v) == 0)
            mend_store_wait(s);
        if (mend_store_reached(s, v, &levels) == 0 && levels && dprintf(3, "%ld\n", v) < 0)
            return 5;
        await_merge(s, v);
    }
    mend_store_close(s);
    return 0;
}

static int check(long acknowledged)
{
    static uint8_t data[BYTES], right[BYTES];
    mend_store *s = open_store(data);
    long version = -1;
    if (!s) {
        printf("cannot open: %s\n", mend_error_text());
        return 1;
    }
    int rc = mend_store_restore_newest(s, &version);
    if (rc == MEND_ERR_NO_VERSION && acknowledged < 0)
        return 0;
    if (rc || version < acknowledged) {
        printf("version %ld was acknowledged; restored %ld: %s\n", acknowledged, version,
               rc ? mend_error_text() : "ok");
        return 1;
    }
    fill(right, version);
    if (memcmp(data, right, BYTES) != 0) {
        printf("version %ld is wrong\n", version);
        return 1;
    }
    data[0] ^= 0; /* and life goes on */
    if (mend_store_save(s, version + 1) || mend_store_wait(s) || mend_store_close(s)) {
        printf("cannot save after it: %s\n", mend_error_text());
        return 1;
    }
    return 0;
}

/* ---- the driver ------------------------------------------------------------------------------ */

/* Run ourselves; *said = the last number written to descriptor 3. Returns the wait status. */
static int run(const char *mode, const char *argument, const char *fault, long *said)
{
    int pipes[2], status = -1;
    char text[4096];
    size_t n = 0;
    ssize_t got;
    if (pipe(pipes))
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], 3);
        if (fault)
            setenv("MEND_FAULT", fault, 1);
        alarm(60); /* a hang ends as a failure */
        execl("/proc/self/exe", "store_crash", mode, dir, argument, NULL);
        _exit(127);
    }
    close(pipes[1]);
    while (n < sizeof text - 1 && (got = read(pipes[0], text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = 0;
    close(pipes[0]);
    waitpid(pid, &status, 0);
    for (char *p = text; said && *p; p = strchr(p, '\n') + 1)
        *said = atol(p);
    return status;
}

static void clean(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s/local %s/global", dir, dir);
    if (system(command))
        exit(1);
}

/* Children mostly wait, for the engine and for the disk: so many trials run at a time, each in a
 * folder of its own. */
#define WORKERS 8

/* Shared by the workers. */
struct common {
    atomic_int next;    /* the next trial to be taken */
    atomic_int reached; /* hits of a place at which a child was killed */
    atomic_int past;    /* the lowest hit that no child got to */
    atomic_int trials, failures;
};
static struct common *common;

/* One place, one action; true if the process got as far as that. */
static bool one(const char *place, int hit, const char *action)
{
    char fault[100], number[20];
    long said = -1;
    clean();
    snprintf(fault, sizeof fault, "io.%s:hit=%d:%s", place, hit, action);
    int status = run("child", "", fault, &said);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) <= 4;
    snprintf(number, sizeof number, "%ld", said);
    int verdict = run("check", number, NULL, NULL);
    atomic_fetch_add(&common->trials, 1);
    if ((!killed && !ended) || verdict != 0) {
        printf("FAILED: %s (child %x, check %x)\n", fault, status, verdict);
        atomic_fetch_add(&common->failures, 1);
    }
    return strcmp(action, "kill") != 0 || killed;
}

/* The workers take the hits of a place in turn until one is found that no child gets to. */
static void kill_everywhere(const char *place)
{
    for (;;) {
        int hit = 1 + atomic_fetch_add(&common->next, 1);
        if (hit >= atomic_load(&common->past))
            return;
        if (one(place, hit, "kill")) {
            atomic_fetch_add(&common->reached, 1);
        } else {
            int past = atomic_load(&common->past);
            while (hit < past && !atomic_compare_exchange_weak(&common->past, &past, hit))
                ;
        }
    }
}

/* The errors that a place can give, at each hit. */
static void fail_everywhere(const char *place)
{
    const char *errors[3];
    int count = 0, hits = atomic_load(&common->past) - 1;
    bool reads = strcmp(place, "read") == 0, writes = strcmp(place, "write") == 0;
    errors[count++] = "eio";
    if (!reads) /* which meets no full disk */
        errors[count++] = "enospc";
    if (reads || writes)
        errors[count++] = "short";
    for (;;) {
        int trial = atomic_fetch_add(&common->next, 1);
        if (trial >= hits * count)
            return;
        one(place, 1 + trial / count, errors[trial % count]);
    }
}

/* Everybody does `work`, in a folder each, until there is none. */
static void share(void (*work)(const char *), const char *place)
{
    pid_t workers[WORKERS];
    atomic_store(&common->next, 0);
    fflush(stdout);
    for (int w = 0; w < WORKERS; w++) {
        workers[w] = fork();
        if (workers[w] == 0) {
            size_t n = strlen(dir);
            snprintf(dir + n, sizeof dir - n, "-%d", w);
            work(place);
            clean();
            rmdir(dir);
            fflush(stdout);
            _exit(0);
        }
    }
    for (int w = 0; w < WORKERS; w++) {
        int status = -1;
        if (workers[w] < 0 || waitpid(workers[w], &status, 0) != workers[w] || status != 0) {
            printf("FAILED: worker %d (%x)\n", w, status);
            atomic_fetch_add(&common->failures, 1);
        }
    }
}

static int drive(char *only)
{
    const char *places[] = {"open",   "read",  "write",   "fsync", "rename",
                            "unlink", "mkdir", "opendir", "close"};
    snprintf(dir, sizeof dir, "%s/mend-crash-%d",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED)
        return 1;
    char *plus = only ? strchr(only, '+') : NULL;
    if (plus) {
        *plus = 0;
        setenv("CRASH_BUNDLES", "1", 1);
    }
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        if (only && strcmp(only, places[p]) != 0)
            continue;
        atomic_store(&common->reached, 0);
        atomic_store(&common->past, INT_MAX);
        share(kill_everywhere, places[p]);
        share(fail_everywhere, places[p]);
        printf("io.%s: %d places, killed at %d\n", places[p], common->past - 1, common->reached);
        if (common->past <= 1) {
            printf("FAILED: no child gets to io.%s\n", places[p]);
            common->failures++;
        }
    }
    printf("%d trials, %d failures\n", common->trials, common->failures);
    return common->failures != 0 || common->trials < 10;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "drive") != 0)
        snprintf(dir, sizeof dir, "%s", argv[2]);
    if (argc > 2 && strcmp(argv[1], "child") == 0)
        return child();
    if (argc > 3 && strcmp(argv[1], "check") == 0)
        return check(atol(argv[3]));
    return drive(argc > 2 ? argv[2] : NULL);
}
