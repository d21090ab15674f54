/* A small allocator inside one range of addresses.
 *
 * The range begins with its bookkeeping (struct heap). Blocks of up to 32 KiB come in classes, four to each doubling,
 * cut from chunks; freed ones go to a list of their class. Larger ones are spans of whole pages. Freed spans are kept
 * in order of their addresses, merged with their neighbours, and returned to the end of the heap if they touch it.
 *
 * We zero freed memory: a pointer left in it must not look like one in use (auto.c looks for those), and a version
 * without garbage has fewer changed pages. So memory that we hand out is always zero.
 *
 * Only the lock is outside the range, so a copy of the heap is never a locked one. */
#include "automatic/arena.h"

#include <base/fail.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE_BYTES = 4096,       /* the unit of spans, on every machine */
    KERNEL_BYTES = 64 << 10, /* the unit of requests to the kernel: a multiple of any page size */
    CHUNK_BYTES = 64 << 10,
    CLASS_MAX = 32 << 10,
    CLASSES = 44,
    LARGE = 0xffff,
    GROWTH_MIN = 1 << 20,
    RETURN_MIN = 256 << 10, /* from this size on, freed pages go back to the kernel */
};
/* Far from where any kernel puts programs, libraries and stacks, even with 39-bit addresses. */
#define BASE   ((char *)0x1000000000)
#define ROOM   ((size_t)128 << 30)
#define MAGIC  0x70616568646e656dul
#define TAGGED 0x6b636f6cu

struct tag { /* before every block */
    uint32_t magic;
    uint16_t kind; /* its class, or LARGE */
    uint16_t spare;
    uint32_t back; /* distance from the start of the block to this tag, for aligned blocks */
    uint32_t spare2;
    uint64_t room; /* usable bytes behind the tag */
    uint64_t spare3;
};

struct span { /* a free one, at its start */
    size_t bytes;
    struct span *next;
};

struct heap {
    uint64_t magic;
    char *end;       /* the first byte that was never part of a block */
    char *committed; /* the first byte without memory */
    struct span *spans;
    struct tag *lists[CLASSES]; /* the link is behind the tag */
    struct arena_random random;
};

static struct {
    pthread_mutex_t lock;
    size_t room; /* reserved; 0: not open */
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct heap *heap(void)
{
    return (struct heap *)BASE;
}

static size_t up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

bool arena_is_open(void)
{
    return arena.room != 0;
}

char *arena_base(void)
{
    return BASE;
}

size_t arena_bytes(void)
{
    return (size_t)(heap()->committed - BASE);
}

bool arena_holds(const void *address)
{
    return arena.room && (char *)address >= BASE && (char *)address < BASE + arena.room;
}

struct arena_random *arena_random(void)
{
    return &heap()->random;
}

static int commit(char *from, size_t bytes)
{
    size_t before = (size_t)from % KERNEL_BYTES; /* the heap of an older version may end anywhere */
    return mprotect(from - before, before + bytes, PROT_READ | PROT_WRITE)
               ? mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes of heap: %s", bytes,
                           strerror(errno))
               : 0;
}

int arena_open(void)
{
    size_t first = up(sizeof(struct heap), GROWTH_MIN);
    for (size_t want = ROOM; !arena.room && want >= ((size_t)1 << 30); want /= 2)
        if (mmap(BASE, want, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == BASE)
            arena.room = want;
    if (!arena.room)
        return mend_fail(MEND_ERR_NO_MEMORY, "the addresses of the heap (%p and up) are taken",
                         (void *)BASE);
    int rc = commit(BASE, first);
    if (rc)
        return rc;
    struct heap *h = heap();
    h->magic = MAGIC;
    h->end = BASE + up(sizeof *h, PAGE_BYTES);
    h->committed = BASE + first;
    initstate_r(1, h->random.random_state, sizeof h->random.random_state, &h->random.random);
    return 0;
}

/* The kernel rounds a length up: if a piece ended within a page, we would lose the rest of that page. */
static void wipe(char *from, size_t bytes)
{
    char *first = (char *)up((size_t)from, KERNEL_BYTES);
    char *last = (char *)((size_t)(from + bytes) / KERNEL_BYTES * KERNEL_BYTES);
    if (bytes < RETURN_MIN || madvise(first, (size_t)(last - first), MADV_DONTNEED)) {
        memset(from, 0, bytes);
        return;
    }
    memset(from, 0, (size_t)(first - from));
    memset(last, 0, (size_t)(from + bytes - last));
}

int arena_set_bytes(size_t bytes)
{
    char *now = heap()->committed, *then = BASE + bytes;
    if (bytes > arena.room || bytes % PAGE_BYTES || bytes < sizeof(struct heap))
        return mend_fail(MEND_ERR_NO_MEMORY, "a heap of %zu bytes does not fit into %zu", bytes,
                         arena.room);
    if (then > now)
        return commit(now, (size_t)(then - now));
    if (then < now)
        wipe(then, (size_t)(now - then));
    return 0;
}

/* ---- spans of pages ---- */

static int grow(struct heap *h, char *to)
{
    if (to <= h->committed)
        return 0;
    size_t step = up((size_t)(h->committed - BASE) / 4, KERNEL_BYTES);
    char *want = h->committed + (step > GROWTH_MIN ? step : GROWTH_MIN);
    if (want < to)
        want = (char *)up((size_t)to, GROWTH_MIN);
    if (want > BASE + arena.room)
        want = BASE + arena.room;
    if (to > want || commit(h->committed, (size_t)(want - h->committed)))
        return -1;
    h->committed = want;
    return 0;
}

static void *take_span(size_t bytes)
{
    struct heap *h = heap();
    for (struct span **link = &h->spans; *link; link = &(*link)->next) {
        struct span *s = *link;
        if (s->bytes < bytes)
            continue;
        if (s->bytes > bytes) {
            struct span *rest = (struct span *)((char *)s + bytes);
            *rest = (struct span){s->bytes - bytes, s->next};
            *link = rest;
        } else {
            *link = s->next;
        }
        *s = (struct span){0, NULL};
        return s;
    }
    if (bytes > arena.room || grow(h, h->end + bytes))
        return NULL;
    char *made = h->end;
    h->end += bytes;
    return made;
}

/* The span must be zero. */
static void give_span(char *from, size_t bytes)
{
    struct heap *h = heap();
    struct span *before = NULL, *after = h->spans;
    for (; after && (char *)after < from; after = after->next)
        before = after;
    if (before && (char *)before + before->bytes == from) {
        from = (char *)before;
        bytes += before->bytes;
    } else {
        struct span *s = (struct span *)from;
        *(before ? &before->next : &h->spans) = s;
    }
    if (after && from + bytes == (char *)after) {
        bytes += after->bytes;
        struct span *gone = after;
        after = after->next;
        *gone = (struct span){0, NULL};
    }
    *(struct span *)from = (struct span){bytes, after};
    if (from + bytes != h->end)
        return;
    struct span **link = &h->spans;
    while ((char *)*link != from)
        link = &(*link)->next;
    *link = NULL;
    memset(from, 0, sizeof(struct span));
    h->end = from;
}

/* ---- classes ---- */

/* Whole blocks, including the tag: 48, 64, then 80 96 112 128, 160 192 224 256 … 32 KiB. */
static size_t class_bytes(int class)
{
    if (class < 2)
        return class ? 64 : 48;
    int doubling = (class - 2) / 4, quarter = (class - 2) % 4 + 1;
    return ((size_t)64 << doubling) + ((size_t)16 << doubling) * (size_t)quarter;
}

static int class_of(size_t bytes)
{
    int class = 0;
    while (class_bytes(class) < bytes)
        class ++;
    return class;
}

static struct tag **link_of(struct tag *t)
{
    return (struct tag **)(t + 1);
}

static int refill(struct heap *h, int class)
{
    size_t each = class_bytes(class);
    char *chunk = take_span(CHUNK_BYTES);
    if (!chunk)
        return -1;
    for (size_t at = CHUNK_BYTES / each; at-- > 0;) {
        struct tag *t = (struct tag *)(chunk + at * each);
        *link_of(t) = h->lists[class];
        h->lists[class] = t;
    }
    return 0;
}

static struct tag *take_block(size_t bytes)
{
    struct heap *h = heap();
    size_t need = bytes + sizeof(struct tag);
    if (need < bytes)
        return NULL;
    if (need <= CLASS_MAX) {
        int class = class_of(need);
        if (!h->lists[class] && refill(h, class))
            return NULL;
        struct tag *t = h->lists[class];
        h->lists[class] = *link_of(t);
        *link_of(t) = NULL;
        *t = (struct tag){.magic = TAGGED, .kind = (uint16_t)class};
        t->room = class_bytes(class) - sizeof *t;
        return t;
    }
    size_t whole = up(need, PAGE_BYTES);
    struct tag *t = whole < need ? NULL : take_span(whole);
    if (t)
        *t = (struct tag){.magic = TAGGED, .kind = LARGE, .room = whole - sizeof *t};
    return t;
}

static void give_block(struct tag *t)
{
    struct heap *h = heap();
    char *begin = (char *)t - t->back;
    size_t whole = t->back + sizeof *t + t->room;
    int kind = t->kind;
    wipe(begin, whole);
    if (kind == LARGE) {
        give_span(begin, whole);
        return;
    }
    *link_of((struct tag *)begin) = h->lists[kind];
    h->lists[kind] = (struct tag *)begin;
}

/* ---- the face ---- */

static struct tag *tag_of(const void *memory)
{
    struct tag *t = (struct tag *)memory - 1;
    if (t->magic != TAGGED)
        abort(); /* freed twice, or never allocated: do as the C library does */
    return t;
}

void *arena_take(size_t bytes)
{
    pthread_mutex_lock(&arena.lock);
    struct tag *t = take_block(bytes);
    pthread_mutex_unlock(&arena.lock);
    if (!t)
        errno = ENOMEM;
    return t ? t + 1 : NULL;
}

void *arena_take_aligned(size_t alignment, size_t bytes)
{
    if (alignment <= 16)
        return arena_take(bytes);
    if (bytes > SIZE_MAX - alignment || alignment > UINT32_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    char *block = arena_take(bytes + alignment);
    if (!block)
        return NULL;
    char *user = (char *)up((size_t)block, alignment);
    if (user == block)
        return block;
    struct tag old = *tag_of(block), *t = (struct tag *)user - 1;
    *t = old; /* it may overlap the old one, which we no longer need */
    t->back = (uint32_t)(user - block);
    t->room = old.room - t->back;
    return user;
}

void arena_give(void *memory)
{
    pthread_mutex_lock(&arena.lock);
    give_block(tag_of(memory));
    pthread_mutex_unlock(&arena.lock);
}

size_t arena_room(const void *memory)
{
    return tag_of(memory)->room;
}

void *arena_resize(void *memory, size_t bytes)
{
    size_t have = arena_room(memory);
    if (bytes <= have && bytes >= have / 2)
        return memory;
    void *made = arena_take(bytes);
    if (!made)
        return NULL;
    memcpy(made, memory, have < bytes ? have : bytes);
    arena_give(memory);
    return made;
}
