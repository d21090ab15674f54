/* snapshot.c - writes the upper half into an image.
 *
 * In the background (copy-on-write), by a child process:
 * 1. The upper half stands still. We list what there is to save, and copy memory that is shared with other
 *    processes, because a child would see it change.
 * 2. We make a child by clone() without a termination signal: the program may wait for its own children and
 *    never meets this one. The upper half continues.
 * 3. The child has one thread and calls no malloc. It chooses the pages, writes them, and ends.
 * 4. The agent's thread sees its end and gives the file its name.
 * If the process dies, the kernel kills the child, and the file never gets its name. If we cannot make a
 * child, we write the image at once.
 */
#include "images/snapshot.h"
#include "gpu/gpu.h"
#include "ground/settings.h"
#include "images/image.h"

#include <base/config.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/io.h>
#include <errno.h>
#include <fcntl.h>
#include <image/folder.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    struct survey survey;
    struct selection selection;
    struct control_save save;
    mend_io_replacement file;
    double started;
    void *copies; /* of shared memory */
    size_t copies_bytes;
    pid_t child;           /* 0: none */
    int watch;             /* readable when the child has ended */
    struct page_sums last; /* of the image that the next one may use as its base */
} snapshot = {.watch = -1, .last = {.version = -1}};

void snapshot_path(int rank, mend_version_t version, uint64_t save_id, char *path, size_t size)
{
    char name[MEND_FILE_NAME_MAX];
    mend_file file = {settings.local[0] ? MEND_FILE_OWN : MEND_FILE_GLOBAL, rank, version, save_id};
    mend_file_name(&file, name);
    if (settings.local[0])
        snprintf(path, size, "%s/%s", settings.local, name);
    else
        snprintf(path, size, "%s/versions/%s", settings.dir, name);
}

/* The copies of step 1. */
static int copy_shared(struct survey *s)
{
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->mappings[s->stretches[i].mapping].shared)
            bytes += s->stretches[i].to - s->stretches[i].from;
    if (!bytes)
        return 0;
    char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to copy %zu bytes of shared memory", bytes);
    snapshot.copies = copy;
    snapshot.copies_bytes = bytes;
    for (size_t i = 0; i < s->count; i++) {
        struct stretch *t = &s->stretches[i];
        const struct mapping *m = &s->mappings[t->mapping];
        if (!m->shared)
            continue;
        if (!(m->prot & PROT_READ))
            mprotect((void *)t->from, t->to - t->from, PROT_READ);
        memcpy(copy + at, (void *)t->from, t->to - t->from);
        if (!(m->prot & PROT_READ))
            mprotect((void *)t->from, t->to - t->from, m->prot);
        t->shift = copy + at - (char *)t->from;
        at += t->to - t->from;
    }
    return 0;
}

/* Step 3: in the child, alone, or here. */
static int write_image(int alone)
{
    struct selection *s = &snapshot.selection;
    int rc = selection_make(s, alone);
    if (rc == 0)
        rc = selection_write(s, snapshot.save.version, snapshot.save.save_id, snapshot.file.fd,
                             snapshot.file.path, alone, &s->found->written);
    return rc;
}

/* Only when everything is done: a child that dies before that leaves the code of snapshot_begin(). */
static void tell_end(int rc)
{
    struct found *f = snapshot.selection.found;
    if (rc)
        snprintf(f->text, sizeof f->text, "%s", mend_error_text());
    __atomic_store_n(&f->code, rc, __ATOMIC_RELEASE);
}

static pid_t wait_for(pid_t child, int options)
{
    pid_t got;
    do
        got = waitpid(child, NULL, __WALL | options);
    while (got < 0 && errno == EINTR);
    return got;
}

enum child { NO_CHILD, CHILD_WRITES, CHILD_ENDED };
static enum child start_child(void)
{
    pid_t parent = getpid();
    long pid = syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (pid < 0)
        return NO_CHILD;
    if (pid == 0) {
        raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
        if (raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0) != parent)
            raw_syscall(SYS_exit_group, 1, 0, 0, 0, 0, 0);
        /* a peer must not take our copies of this process' sockets for a live process */
        if (snapshot.file.fd > 3)
            raw_syscall(SYS_close_range, 3, snapshot.file.fd - 1, 0, 0, 0, 0);
        raw_syscall(SYS_close_range, snapshot.file.fd + 1, 0x7fffffff, 0, 0, 0, 0);
        int rc = write_image(1);
        tell_end(rc ? rc : mend_io_fsync(snapshot.file.fd, snapshot.file.path));
        raw_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    }
    snapshot.watch = (int)syscall(SYS_pidfd_open, pid, 0);
    if (snapshot.watch < 0) { /* nothing would tell the agent of its end */
        wait_for((pid_t)pid, 0);
        return CHILD_ENDED;
    }
    __atomic_store_n(&snapshot.child, (pid_t)pid, __ATOMIC_RELEASE);
    return CHILD_WRITES;
}

static void clean_up(void)
{
    selection_free(&snapshot.selection);
    survey_free(&snapshot.survey);
    if (snapshot.copies)
        munmap(snapshot.copies, snapshot.copies_bytes);
    snapshot.copies = NULL;
}

/* Step 4, and the end of an image that was written at once. */
static void finish(struct snapshot_result *r)
{
    struct found *f = snapshot.selection.found;
    int rc = f->code;
    if (rc)
        rc = mend_fail(rc, "%s", f->text[0] ? f->text : "the child process that wrote it died");
    else
        rc = mend_io_replace_commit(&snapshot.file);
    mend_io_replace_abort(&snapshot.file);
    r->code = rc;
    r->bytes = rc ? 0 : f->written;
    r->seconds = seconds_now() - snapshot.started;
    r->version = snapshot.save.version;
    if (rc)
        fprintf(stderr, "mend: rank %u: no image of version %lld: %s\n", snapshot.survey.meta.rank,
                (long long)snapshot.save.version, mend_error_text());
    else if (snapshot.selection.want_sums)
        selection_keep(&snapshot.selection, snapshot.save.version, snapshot.save.save_id,
                       &snapshot.last);
    clean_up();
}

static int prepare(struct upper *u)
{
    char path[4500];
    const struct control_save *s = &snapshot.save;
    int based = s->base_version >= 0 && snapshot.last.version == s->base_version &&
                snapshot.last.save_id == s->base_id;
    const struct page_sums *base = based ? &snapshot.last : NULL;
    int rc = snapshot_refused();
    if (rc == 0)
        rc = survey_take(&snapshot.survey, u, 0);
    if (rc == 0 && s->background)
        rc = copy_shared(&snapshot.survey);
    if (rc == 0)
        rc = selection_prepare(&snapshot.selection, &snapshot.survey, base, settings.chain > 0);
    if (rc)
        return rc;
    snapshot_path(u->rank, s->version, s->save_id, path, sizeof path);
    return mend_io_replace_begin(&snapshot.file, path);
}

void snapshot_begin(struct upper *u, const struct control_save *save, struct snapshot_result *r)
{
    snapshot.save = *save;
    snapshot.started = seconds_now();
    *r = (struct snapshot_result){0};
    int rc = prepare(u);
    if (rc) {
        fprintf(stderr, "mend: rank %d: no image of version %lld: %s\n", u->rank,
                (long long)save->version, mend_error_text());
        clean_up();
        r->code = rc;
        r->version = save->version;
        return;
    }
    snapshot.selection.found->code = MEND_ERR_IO; /* until the writer knows better */
    enum child child = save->background ? start_child() : NO_CHILD;
    if (child == CHILD_WRITES)
        return;
    if (child == NO_CHILD)
        tell_end(write_image(0));
    finish(r);
}

int snapshot_child(void)
{
    return __atomic_load_n(&snapshot.child, __ATOMIC_ACQUIRE) ? snapshot.watch : -1;
}

int snapshot_end(int wait, struct snapshot_result *r)
{
    pid_t child = __atomic_load_n(&snapshot.child, __ATOMIC_ACQUIRE);
    if (!child)
        return 0;
    if (wait_for(child, wait ? 0 : WNOHANG) == 0)
        return 0;
    close(snapshot.watch);
    snapshot.watch = -1;
    __atomic_store_n(&snapshot.child, 0, __ATOMIC_RELEASE);
    finish(r);
    return 1;
}

/* Without this check, a program that has the driver's library in its half and a device open would be saved without
 * its state there, and would fail at its first call after a resume. (If the driver did its part, no device is open
 * now: gpu/gpu.h.)
 */
int snapshot_refused(void)
{
    char path[4200];
    if (!gpu_used(path, sizeof path))
        return 0;
    const char *why = *gpu_why() ? gpu_why() : "it was opened during the checkpoint";
    return mend_fail(MEND_ERR_UNSUPPORTED,
                     "the program uses a GPU (%s is open), and its state there cannot be saved: %s",
                     path, why);
}
