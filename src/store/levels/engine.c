/* The background engine: one thread for each store takes saves from a queue, in order, and carries each to its
 * levels. The order is the same on every rank, because saves are collective. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "copies/cow.h"
#include "copies/device.h"
#include "levels/merge.h"

#define QUIET_NS 20000000

static const struct level_ops *const levels[MEND_LEVEL_COUNT] = {
    [MEND_LEVEL_MEMORY] = &level_memory,   [MEND_LEVEL_LOCAL] = &level_local,
    [MEND_LEVEL_PARTNER] = &level_partner, [MEND_LEVEL_ERASURE] = &level_erasure,
    [MEND_LEVEL_GLOBAL] = &level_global,
};

/* The worst code of all ranks: 0 if all succeeded. */
static int agree(mend_store *store, int rc)
{
    int64_t worst = rc;
    int broken = net_all_min(store->net, WORK, &worst, 1);
    return broken ? broken : (int)worst;
}

/* Commit of one version at one level:
 *   0. Remove a version that 5 would remove, if the caller of the save has said that nobody needs it.
 *   1. Every rank does its local work (writes its file).
 *   2. All agree that it is done; otherwise nobody continues with this level.
 *   3. Exchange and write copies or parity.
 *   4. All agree again. This is the commit: a rank that learns of it knows that every part is complete and durable.
 *   5. Remove what the level need not keep any more.
 * If a process dies before 4, some parts may be missing; the previous version is untouched, and the next query finds
 * it. If one dies inside 4, some ranks may not learn of the commit, but all parts are complete, and both versions can
 * be restored. If one dies in 5, the next prune removes the files left over. */
static int run_level(mend_store *store, struct job *job, mend_level level)
{
    const struct level_ops *ops = levels[level];
    double start = mend_now();

    atomic_store(&store->level_now, level);
    int rc = ops->prepare ? ops->prepare(store, job) : 0;
    if (ops->exchange) {
        int all = ops->prepare ? agree(store, rc) : rc;
        rc = all == 0 ? ops->exchange(store, job) : rc ? rc : all;
    }
    int mine = rc;
    MEND_FAULT_POINT(store_before_commit);
    rc = agree(store, rc);
    MEND_FAULT_POINT(store_after_commit);
    double seconds = mend_now() - start;
    if (rc) {
        mend_event("store.level_failed", ev_str("store", store->name),
                   ev_int("version", job->version), ev_str("level", mend_level_name(level)),
                   ev_str("error", mend_error_name(rc)),
                   ev_str("here", mine ? mend_error_text() : ""), ev_real("seconds", seconds));
        return rc;
    }
    store->stats.level_seconds[level] = seconds;
    mend_event(job->rebuild ? "store.rebuild" : "store.commit", ev_str("store", store->name),
               ev_int("version", job->version), ev_str("level", mend_level_name(level)),
               ev_int("bytes", (long long)job->slot->head.stream_bytes),
               ev_real("seconds", seconds));
    return 0;
}

static void note_result(mend_store *store, struct job *job, mend_level level, int rc)
{
    pthread_mutex_lock(&store->lock);
    struct known *k = known_add(store, job->version, job->id);
    if (k && rc == 0)
        k->reached |= MEND_LEVEL_BIT(level);
    else if (k)
        k->failed |= MEND_LEVEL_BIT(level);
    if (rc == 0) {
        job->reached |= MEND_LEVEL_BIT(level);
        store->stats.commits++;
    } else {
        store->stats.failures++;
        if (!job->error)
            job->error = rc;
    }
    pthread_mutex_unlock(&store->lock);
}

/* Before the first heavy work of a job, wait until all ranks have made their copies: on a node with few cores the
 * engine of one rank would slow down the copy of another. The memory level starts with messages of its own. */
static int before_files(mend_store *store, const struct job *job)
{
    return job->levels & MEND_LEVEL_BIT(MEND_LEVEL_MEMORY) ? 0 : agree(store, 0);
}

/* A copy made in the background must be complete, on every rank. */
static int finish_copy(mend_store *store, struct job *job)
{
    if ((!store->options.copy_on_write && !job->device) || job->rebuild)
        return 0;
    int mine = job->later ? cow_wait(store) : 0;
    if (mine == 0 && job->drain)
        mine = device_drain(store, job->drain, job->slot, job->serial, job->version);
    pthread_mutex_lock(&store->lock);
    snprintf(store->why, sizeof store->why, "%s", mine ? mend_error_text() : "");
    device_release(store, job->drain); /* the next save may start */
    job->drain = NULL;
    pthread_mutex_unlock(&store->lock);
    if (mine)
        mend_event("store.copy_failed", ev_str("store", store->name),
                   ev_int("version", job->version), ev_str("error", mend_error_text()));
    pthread_mutex_lock(&store->lock);
    job->slot->complete = mine == 0;
    pthread_mutex_unlock(&store->lock);
    return agree(store, mine);
}

/* Is there a chain to merge? Only the file of a partner's copy tells the length of its chain. */
static void note_chains(mend_store *store, const struct job *job)
{
    bool copies =
        store->placement.holds >= 0 && (job->reached & MEND_LEVEL_BIT(MEND_LEVEL_PARTNER));
    bool due = store->options.delta != MEND_DELTA_OFF &&
               (copies || store->base[BASE_OWN].chain >= merge_from(store) ||
                store->base[BASE_GLOBAL].chain >= merge_from(store));
    pthread_mutex_lock(&store->lock);
    store->merge_due = due;
    pthread_mutex_unlock(&store->lock);
}

static double cpu_of_thread(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_job(mend_store *store, struct job *job)
{
    double start = mend_now(), cpu = cpu_of_thread();
    bool noted = false;
    int copied = finish_copy(store, job);

    for (int level = 0; level < MEND_LEVEL_COUNT; level++) {
        if (!(job->levels & MEND_LEVEL_BIT(level)))
            continue;
        int rc = copied;
        if (rc == 0 && level != MEND_LEVEL_MEMORY && !noted) {
            rc = before_files(store, job);
            noted = rc == 0;
            if (noted && !job->rebuild)
                delta_note(store, job);
        }
        if (rc == 0 && !job->rebuild && (LEVELS_OWN_FILE & MEND_LEVEL_BIT(level)))
            prune_due(store, (mend_level)level);
        if (rc == 0)
            rc = run_level(store, job, (mend_level)level);
        note_result(store, job, (mend_level)level, rc);
        if (rc == MEND_ERR_PEER_FAILED || rc == MEND_ERR_MPI)
            break;
        if (rc == 0)
            prune_level(store, (mend_level)level);
    }
    /* Do not forget the changes that the kernel saw, nor that it did not look: then everything may have changed. Hashes
     * and copies stay those of the last save that they were made for. */
    if (!noted && !job->rebuild && (job->changed || store->options.delta == MEND_DELTA_PAGES))
        delta_note(store, job);
    unsigned own = job->reached & LEVELS_OWN_FILE;
    unsigned global = job->reached & MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL);
    if (own && !job->rebuild)
        delta_committed(store, job, BASE_OWN, own, job->own_delta);
    if (global && !job->rebuild && !store->options.global_files)
        delta_committed(store, job, BASE_GLOBAL, global, job->global_delta);
    note_chains(store, job);
    store->stats.seconds_background += mend_now() - start;
    if (store->running) /* otherwise it is part of the call, and counted there */
        store->stats.cpu_background += cpu_of_thread() - cpu;
}

static int job_result(const struct job *job)
{
    if (job->error == MEND_ERR_PEER_FAILED || job->error == MEND_ERR_MPI || !job->error)
        return job->error;
    return job->reached ? MEND_ERR_DEGRADED : MEND_ERR_NOT_SAVED;
}

void job_free(mend_store *store, struct job *job)
{
    device_release(store, job->drain);
    if (job->slot)
        job->slot->users--;
    free(job->changed);
    free(job);
}

/* Take the next job, run it, report it. Call it with the lock held; returns with it held. */
static void step(mend_store *store)
{
    struct job *job = store->queue;

    store->queue = job->next;
    store->current = job;
    pthread_mutex_unlock(&store->lock);
    if (net_broken(store->net))
        job->error = MEND_ERR_PEER_FAILED;
    else
        run_job(store, job);
    pthread_mutex_lock(&store->lock);
    if (!job->rebuild || job_result(job) == MEND_ERR_PEER_FAILED)
        store->result = job_result(job);
    store->current = NULL;
    store->pending--;
    job_free(store, job);
    pthread_cond_broadcast(&store->changed);
}

static struct slot *unsummed(const struct slots *slots)
{
    for (int i = 0; i < slots->count; i++)
        if (slots->list[i]->complete && !slots->list[i]->users && !slots->list[i]->sums &&
            !slots->list[i]->poisoned)
            return slots->list[i];
    return NULL;
}

/* A copy that the memory level keeps and that has no sums yet. Call it with the lock held. */
static struct slot *to_be_summed(const mend_store *store)
{
    if (!(store->levels & MEND_LEVEL_BIT(MEND_LEVEL_MEMORY)))
        return NULL;
    struct slot *slot = unsummed(&store->own);
    return slot ? slot : unsummed(&store->held);
}

/* Sum copies when there is nothing else to do, so that a bit that flips later is noticed. Call it with the lock held;
 * returns with it held. False: nothing was done. */
static bool sum_one(mend_store *store)
{
    struct slot *slot = to_be_summed(store);
    if (!slot)
        return false;
    slot->users++; /* nobody writes to it meanwhile */
    pthread_mutex_unlock(&store->lock);
    uint64_t *sums = slot_sums(slot);
    pthread_mutex_lock(&store->lock);
    if (slot->sums) /* a restore was faster */
        free(sums);
    else
        slot->sums = sums;
    slot->users--;
    pthread_cond_broadcast(&store->changed);
    return slot->sums != NULL;
}

/* Call it with the lock held; returns with it held. */
static void merge_now(mend_store *store)
{
    store->merge_due = false;
    store->merging = true;
    pthread_mutex_unlock(&store->lock);
    merge_all(store);
    pthread_mutex_lock(&store->lock);
    store->merging = false;
    store->merge_due = store->merge_due || atomic_load(&store->hurry);
    pthread_cond_broadcast(&store->changed);
}

/* Nothing is queued: sleep. Sum and merge when it has been quiet for a moment (right after a commit, the
 * application's threads are just leaving a wait). Call it with the lock held. */
static void idle(mend_store *store)
{
    struct timespec end;
    bool merge = store->merge_due && !store->hold;
    if (!merge && !to_be_summed(store)) {
        pthread_cond_wait(&store->changed, &store->lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += QUIET_NS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    if (!pthread_cond_timedwait(&store->changed, &store->lock, &end) || store->queue || store->stop)
        return;
    if (!sum_one(store) && store->merge_due && !store->hold)
        merge_now(store);
}

void engine_hold(mend_store *store)
{
    pthread_mutex_lock(&store->lock);
    store->hold++;
    atomic_store(&store->hurry, true);
    while (store->merging)
        pthread_cond_wait(&store->changed, &store->lock);
    pthread_mutex_unlock(&store->lock);
}

void engine_release(mend_store *store)
{
    pthread_mutex_lock(&store->lock);
    if (--store->hold == 0)
        atomic_store(&store->hurry, false);
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
}

/* When this thread wakes up, it must not take the core from an application thread that is still copying or about to
 * compute. Once both run, they share the core. */
static void be_background(void)
{
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);
}

static void *engine_main(void *argument)
{
    mend_store *store = argument;

    be_background();
    pthread_mutex_lock(&store->lock);
    for (;;) {
        while (!store->queue && !store->stop)
            idle(store);
        if (!store->queue)
            break;
        step(store);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

int engine_start(mend_store *store)
{
    sigset_t all, old;

    if (!store->threaded || store->running)
        return 0;
    store->stop = false;
    sigfillset(&all); /* this thread must not take the application's signals */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&store->thread, NULL, engine_main, store);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error)
        return mend_fail(MEND_ERR_NO_MEMORY, "no background thread: %s", strerror(error));
    store->running = true;
    return 0;
}

void engine_stop(mend_store *store)
{
    if (!store->running)
        return;
    pthread_mutex_lock(&store->lock);
    store->stop = true;
    store->hold++;
    atomic_store(&store->hurry, true);
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
    pthread_join(store->thread, NULL);
    store->running = false;
    engine_release(store);
}

void engine_push(mend_store *store, struct job *job)
{
    pthread_mutex_lock(&store->lock);
    struct job **end = &store->queue;
    while (*end)
        end = &(*end)->next;
    *end = job;
    store->pending++;
    if (store->running)
        pthread_cond_broadcast(&store->changed);
    while (!store->running && store->queue) /* no thread may use MPI: do it now */
        step(store);
    while (!store->running && sum_one(store))
        ;
    pthread_mutex_unlock(&store->lock);
}

void engine_drain(mend_store *store)
{
    net_set_urgent(store->net, true);
    pthread_mutex_lock(&store->lock);
    while (store->pending)
        pthread_cond_wait(&store->changed, &store->lock);
    pthread_mutex_unlock(&store->lock);
    net_set_urgent(store->net, false);
}
