/* Faults, memory and streams of the stand-in driver (fake_driver.c). */
#include "fake_inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake_checkpoint.h"
#include "fake_driver.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
struct context contexts[DEVICES];
struct block *blocks;
struct failure failure;
struct counted counted[COUNTED];
bool ready, locked;
_Thread_local struct context *stack[16];
_Thread_local int depth;

/* ---- faults ---------------------------------------------------------------------------------- */

static void count_call(const char *function)
{
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        if (!counted[i].name[0])
            strncpy(counted[i].name, function, sizeof counted[i].name - 1);
        if (strcmp(counted[i].name, function) == 0) {
            counted[i].count++;
            return;
        }
    }
}

/* With the lock held. What this call must return; *late: its work must fail with that instead. */
int entering(const char *function, int *late)
{
    struct context *c = depth ? stack[depth - 1] : NULL;
    count_call(function);
    while (locked)
        pthread_cond_wait(&changed, &lock);
    *late = 0;
    if ((!ready && strcmp(function, "cuInit") != 0) || checkpoint_forked())
        return NOT_INITIALIZED;
    if (c && c->error)
        return c->error;
    bool meant = failure.function[0] == '*' || strcmp(failure.function, function) == 0;
    bool hit = failure.hit && meant && (failure.hit < 0 || --failure.hit == 0);
    if (hit) {
        if (failure.late) {
            *late = failure.code;
            return 0;
        }
        if (failure.sticky)
            for (int i = 0; i < DEVICES; i++)
                contexts[i].error = failure.code;
        return failure.code;
    }
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct block *find(const void *p)
{
    for (struct block *b = blocks; b; b = b->next)
        if ((const uint8_t *)p >= b->at && (const uint8_t *)p < b->at + b->bytes)
            return b;
    return NULL;
}

void add(void *at, size_t bytes, int kind, int device)
{
    struct block *b = calloc(1, sizeof *b);
    *b = (struct block){.next = blocks, .at = at, .bytes = bytes, .kind = kind, .device = device};
    blocks = b;
}

int take_away(const void *at, int kind)
{
    for (struct block **b = &blocks; *b; b = &(*b)->next)
        if ((*b)->at == at && (*b)->kind == (unsigned)kind) {
            struct block *gone = *b;
            *b = gone->next;
            if (kind == DEVICE)
                contexts[gone->device].used -= gone->bytes;
            if (kind == MANAGED)
                free(gone->at);
            free(gone);
            return 0;
        }
    return INVALID_VALUE;
}

/* Where the bytes really are; NULL: not all of them in one block. */
void *real(address a, size_t bytes)
{
    uint8_t *p = (uint8_t *)(uintptr_t)a;
    struct block *b = find(p);
    if (!b || (size_t)(b->at + b->bytes - p) < bytes)
        return NULL;
    if (b->kind != DEVICE)
        return p;
    struct context *c = &contexts[b->device];
    return c->real + (p - c->seen);
}

/* The device's memory, where it was if it was somewhere. */
bool map_memory(struct context *c)
{
    int fd = memfd_create("device", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)SPACE) != 0)
        return false;
    void *at = mmap(c->real, SPACE, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE | (c->real ? MAP_FIXED : 0), fd, 0);
    close(fd);
    if (at != MAP_FAILED)
        c->real = at;
    return at != MAP_FAILED;
}

bool set_up(void)
{
    for (int i = 0; i < DEVICES; i++) {
        struct context *c = &contexts[i];
        c->device = i;
        c->seen = mmap(NULL, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        c->limit = (size_t)1 << 30;
        if (c->seen == MAP_FAILED || !map_memory(c))
            return false;
    }
    return true;
}

/* ---- streams --------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void page_sum(const uint64_t *page, uint64_t sum[2])
{
    uint64_t low = 0, high = 0;
    for (uint64_t i = 1; i <= 512; i++) {
        low += mixed(page[i - 1] + i * 0x9e3779b97f4a7c15u);
        high += mixed((page[i - 1] ^ 0x5851f42d4c957f2du) + i * 0xd1342543de82ef95u);
    }
    sum[0] = low || high ? low : 1;
    sum[1] = high;
}

/* From the last page to the first: the order of the list is nothing to rely on. */
static void look(const struct work *w)
{
    for (uint64_t p = w->count; p-- > 0;) {
        const char *page = (const char *)w->from + p * 4096;
        uint64_t sum[2];
        page_sum((const uint64_t *)page, sum);
        if (w->to)
            memcpy((char *)w->to + p * 4096, page, 4096);
        if (memcmp(sum, w->sums + 2 * p, sizeof sum) == 0)
            continue;
        memcpy(w->sums + 2 * p, sum, sizeof sum);
        if (*w->found < w->most) {
            w->list[*w->found] = p;
            memcpy(w->news + 2 * *w->found, sum, sizeof sum);
        }
        ++*w->found;
    }
}

static void run(const struct work *w)
{
    if (w->kernel == 1)
        look(w);
    else if (w->kernel == 2)
        for (uint64_t i = 0; i < w->count; i++)
            memcpy((char *)w->to + i * 4096, (const char *)w->from + w->list[i] * 4096, 4096);
    else if (w->kernel == 3)
        memset(w->to, 0, w->bytes);
    else
        memcpy(w->to, w->from, w->bytes);
}

static void *streaming(void *argument)
{
    struct stream *s = argument;
    pthread_mutex_lock(&lock);
    while (!s->stop || s->first) {
        if (!s->first) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        struct work *w = s->first;
        s->first = w->next;
        s->busy = true;
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){0, LATE_NS}, NULL);
        if (!w->fail)
            run(w);
        pthread_mutex_lock(&lock);
        if (w->fail)
            s->context->error = w->fail;
        s->busy = false;
        free(w);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

struct stream *new_stream(struct context *c)
{
    struct stream *s = calloc(1, sizeof *s);
    s->context = c;
    s->next = c->streams;
    if (pthread_create(&s->thread, NULL, streaming, s) != 0)
        abort();
    return c->streams = s;
}

struct stream *stream_of(struct context *c, void *stream)
{
    if (stream)
        return stream;
    if (!c->legacy)
        c->legacy = new_stream(c);
    return c->legacy;
}

void drained(struct stream *s)
{
    while (s->first || s->busy)
        pthread_cond_wait(&changed, &lock);
}

int enqueue(void *stream, struct work w)
{
    struct context *c = depth ? stack[depth - 1] : NULL;
    if (!c)
        return INVALID_CONTEXT;
    struct stream *s = stream_of(c, stream);
    struct work *copy = malloc(sizeof *copy), **end = &s->first;
    *copy = w;
    while (*end)
        end = &(*end)->next;
    *end = copy;
    pthread_cond_broadcast(&changed);
    return 0;
}
