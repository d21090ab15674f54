/* The stand-in of the GPU's driver from inside: its devices, their memory and streams (fake_engine.c). */
#ifndef FAKE_INSIDE_H
#define FAKE_INSIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICES 2
#define SPACE   ((size_t)1 << 32) /* addresses of one device */
#define GAP     ((size_t)1 << 16)
#define ALIGN   ((size_t)512)
#define LATE_NS 300000
#define COUNTED 64 /* functions */

typedef uint64_t address;
enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_KERNEL = 209,
    INVALID_CONTEXT = 201
};

struct block {
    struct block *next;
    uint8_t *at; /* as the program sees it */
    size_t bytes;
    enum { DEVICE, PINNED, REGISTERED, MANAGED } kind;
    int device;
    bool no_context; /* of a pool, or mapped by hand */
};

struct work {
    struct work *next;
    void *to;
    const void *from;
    size_t bytes;
    int kernel; /* 0: a copy; 1: look; 2: gather; 3: zeros */
    uint64_t count, most;
    uint64_t *list, *sums, *news, *found;
    int fail;
};

struct stream {
    struct stream *next;
    struct context *context;
    pthread_t thread;
    struct work *first;
    bool busy, stop;
};

struct context {
    int device;
    struct stream *legacy, *streams;
    int error; /* sticky */
    uint8_t *seen, *real;
    size_t limit, used, next;
};

struct failure {
    char function[40];
    int hit, code, sticky, late;
};

#pragma GCC visibility push(hidden)

extern pthread_mutex_t lock;
extern pthread_cond_t changed;
extern struct context contexts[DEVICES];
extern struct block *blocks;
extern struct failure failure;
extern struct counted {
    char name[40];
    int count;
} counted[COUNTED];
extern bool ready, locked; /* locked: by another process, calls wait */
extern _Thread_local struct context *stack[16];
extern _Thread_local int depth;

/* --- faults --- */
int entering(const char *function, int *late);

/* --- memory --- */
struct block *find(const void *p);
void add(void *at, size_t bytes, int kind, int device);
int take_away(const void *at, int kind);
void *real(address a, size_t bytes);
bool map_memory(struct context *c);
bool set_up(void);

/* --- streams --- */
struct stream *new_stream(struct context *c);
struct stream *stream_of(struct context *c, void *stream);
void drained(struct stream *s);
int enqueue(void *stream, struct work w);

#pragma GCC visibility pop

#define ENTER(name)                    \
    int late = 0;                      \
    pthread_mutex_lock(&lock);         \
    int code = entering(#name, &late); \
    if (code) {                        \
        pthread_mutex_unlock(&lock);   \
        return code;                   \
    }                                  \
    (void)late
#define LEAVE(value)                 \
    do {                             \
        int left = (value);          \
        pthread_mutex_unlock(&lock); \
        return left;                 \
    } while (0)

#endif
