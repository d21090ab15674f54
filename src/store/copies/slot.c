#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "copies/device.h"

#define HUGE_PAGE   ((size_t)2 << 20)
#define VERIFIERS   16
#define VERIFY_EACH ((uint64_t)16 << 20) /* bytes that justify a thread */

static void count_memory(mend_store *store, size_t more, size_t less)
{
    store->stats.memory += more;
    store->stats.memory -= less;
    if (store->stats.memory > store->stats.memory_peak)
        store->stats.memory_peak = store->stats.memory;
}

/* Make room for `bytes`, and touch it: the copy inside a save call must not meet fresh pages, which cost eight times
 * the copy. Unmap the old room first, so that the peak is not the sum of both. */
int slot_reserve(mend_store *store, struct slot *slot, size_t bytes)
{
    if (bytes <= slot->room)
        return 0;
    size_t room = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (bytes < HUGE_PAGE)
        room = (bytes + PAGE - 1) / PAGE * PAGE;
    if (room < bytes)
        return mend_fail(MEND_ERR_NO_MEMORY, "%zu bytes are too many", bytes);
    device_unpin_slot(store, slot);
    if (slot->room)
        munmap(slot->memory, slot->room);
    count_memory(store, 0, slot->room);
    slot->room = 0;
    slot->memory = NULL;
    free(slot->stale);
    slot->stale = NULL;
    slot->serial = 0;
    void *p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a copy of %zu bytes", bytes);
    madvise(p, room, MADV_HUGEPAGE);
    if (madvise(p, room, 23 /* MADV_POPULATE_WRITE */) != 0)
        memset(p, 0, room);
    slot->memory = p;
    slot->room = room;
    count_memory(store, room, 0);
    return 0;
}

/* Two copies of two versions take four times the data. We need them while only memory has a version: the old one must
 * not go before the new one exists. Once a level that survives the same losses has a version, we reuse the pair at
 * once, and twice the data is enough. */
bool slots_tight(const mend_store *store)
{
    unsigned others = MEND_LEVELS_ALL & ~MEND_LEVEL_BIT(MEND_LEVEL_MEMORY);
    switch (store->options.memory_tight) {
    case MEND_MEMORY_SAFE: return false;
    case MEND_MEMORY_TIGHT: return known_any(store, others);
    default:
        if (store->placement.partner_apart) /* losing a node takes its local files along */
            others &= ~MEND_LEVEL_BIT(MEND_LEVEL_LOCAL);
        return known_any(store, others);
    }
}

int slot_add(mend_store *store, struct slots *slots, struct slot **out)
{
    (void)store;
    struct slot *slot = calloc(1, sizeof *slot);
    struct slot **bigger = realloc(slots->list, (size_t)(slots->count + 1) * sizeof *bigger);
    if (bigger)
        slots->list = bigger;
    if (!slot || !bigger) {
        free(slot);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for one more copy");
    }
    slots->list[slots->count++] = slot;
    *out = slot;
    return 0;
}

void slot_forget(struct slot *slot)
{
    slot->complete = false;
    free(slot->head.regions);
    slot->head = (mend_image_head){0};
    free(slot->sums);
    slot->sums = NULL;
}

void slot_free(mend_store *store, struct slot *slot)
{
    slot_forget(slot);
    count_memory(store, 0, slot->room);
    if (slot->poisoned)
        return; /* leave it to the message that may still arrive */
    device_unpin_slot(store, slot);
    if (slot->room)
        munmap(slot->memory, slot->room);
    free(slot->stale);
    free(slot->device_sums);
    free(slot);
}

static uint64_t blocks_of(const mend_image_head *head)
{
    return (head->stream_bytes + head->block - 1) / head->block;
}

static size_t block_length(const mend_image_head *head, uint64_t block)
{
    uint64_t left = head->stream_bytes - block * head->block;
    return left < head->block ? (size_t)left : head->block;
}

/* The sums of a copy, for the caller to attach to it; NULL: no memory. */
uint64_t *slot_sums(const struct slot *slot)
{
    uint64_t n = blocks_of(&slot->head);
    uint64_t *sums = malloc((n ? n : 1) * sizeof *sums);
    for (uint64_t i = 0; sums && i < n; i++)
        sums[i] = mend_image_sum(slot->head.save_id, i, slot->memory + i * slot->head.block,
                                 block_length(&slot->head, i));
    return sums;
}

/* Sum the copy now if the engine has not done so, and make one number of all sums: two copies of one part that differ
 * cannot both be right. Call it without the lock; the engine may be summing the copy as well. */
int slot_digest(mend_store *store, struct slot *slot, uint64_t *digest)
{
    uint64_t n = blocks_of(&slot->head);
    pthread_mutex_lock(&store->lock);
    bool summed = slot->sums != NULL;
    pthread_mutex_unlock(&store->lock);
    uint64_t *sums = summed ? NULL : slot_sums(slot);
    pthread_mutex_lock(&store->lock);
    if (!slot->sums)
        slot->sums = sums;
    else
        free(sums);
    summed = slot->sums != NULL;
    if (summed)
        *digest = mend_image_sum(slot->head.save_id, n, slot->sums, n * sizeof *slot->sums);
    pthread_mutex_unlock(&store->lock);
    return summed ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory for the sums of a copy");
}

/* A stretch of the blocks of one copy, for one thread. */
struct stretch {
    const struct slot *slot;
    uint64_t from, to, bad; /* bad: the first that differs; equal to `to`: none */
    pthread_t thread;
    bool running;
};

static void *verify_stretch(void *argument)
{
    struct stretch *w = argument;
    const struct slot *slot = w->slot;
    for (w->bad = w->from; w->bad < w->to; w->bad++)
        if (slot->sums[w->bad] != mend_image_sum(slot->head.save_id, w->bad,
                                                 slot->memory + w->bad * slot->head.block,
                                                 block_length(&slot->head, w->bad)))
            break;
    return NULL;
}

/* The cores that this process may use; a small copy does not justify a thread. */
static int verifiers(const mend_image_head *head)
{
    cpu_set_t set;
    uint64_t wanted = head->stream_bytes / VERIFY_EACH;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    int most = cores < VERIFIERS ? cores : VERIFIERS;
    return wanted < 1 ? 1 : wanted < (uint64_t)most ? (int)wanted : most;
}

/* Everybody waits for a restore, so use several threads. */
int slot_verify(const struct slot *slot)
{
    struct stretch w[VERIFIERS] = {{0}};
    uint64_t n = slot->sums ? blocks_of(&slot->head) : 0, bad = n;
    int count = verifiers(&slot->head);
    sigset_t all, old;

    sigfillset(&all); /* these threads must not take the application's signals */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (int i = 0; i < count; i++) {
        w[i] = (struct stretch){
            slot, n * (uint64_t)i / (uint64_t)count, n * ((uint64_t)i + 1) / (uint64_t)count, 0, 0,
            false};
        w[i].running = i > 0 && pthread_create(&w[i].thread, NULL, verify_stretch, &w[i]) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    for (int i = 0; i < count; i++)
        if (!w[i].running)
            verify_stretch(&w[i]);
    for (int i = count - 1; i >= 0; i--) {
        if (w[i].running)
            pthread_join(w[i].thread, NULL);
        if (w[i].bad < w[i].to)
            bad = w[i].bad;
    }
    return bad < n
               ? mend_fail(MEND_ERR_DAMAGED,
                           "block %llu of version %lld, rank %d changed in memory",
                           (unsigned long long)bad, (long long)slot->head.version, slot->head.rank)
               : 0;
}

int slot_set_head(struct slot *slot, const mend_image_head *head)
{
    size_t bytes = head->region_count * sizeof *head->regions;
    mend_image_region *regions = malloc(bytes ? bytes : 1);
    if (!regions)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %u regions", head->region_count);
    if (bytes)
        memcpy(regions, head->regions, bytes);
    free(slot->head.regions);
    slot->head = *head;
    slot->head.regions = regions;
    return 0;
}

struct slot *slot_find(const struct slots *slots, mend_version_t version, uint64_t id, int rank)
{
    for (int i = 0; i < slots->count; i++) {
        struct slot *s = slots->list[i];
        if (s->complete && !s->poisoned && s->head.version == version && s->head.save_id == id &&
            s->head.rank == rank)
            return s;
    }
    return NULL;
}
