/* A version of a program with MEND_STATE_ALL: its parts and its outline; see auto.c. */
#ifndef FLOW_AUTOMATIC_VERSION_H
#define FLOW_AUTOMATIC_VERSION_H

#include <ucontext.h>

#include "automatic/auto.h"
#include "flow.h"

enum {
    OUTLINE_MAGIC = 0x4d415531,
    FIRST_ID = 0x40000001, /* above all hashes of labels (views.c) */
    ID_OUTLINE = FIRST_ID,
    ID_HEAP,
    ID_STACK,
    ID_TLS,
    ID_DATA, /* and up */
    BUILDERS_MAX = 64,
    HITS_MAX = 4096,
    STACK_BYTES = 8 << 20,
};

struct outline {
    uint32_t magic, builder_count, data_count, foreign_count;
    uint64_t program, objects, base, arguments, heap_bytes, stack_top, tls, guard;
    struct auto_registers registers;
    builder builders[BUILDERS_MAX];
    struct auto_range foreign[AUTO_FOREIGN_MAX];
};

struct automatic {
    struct outline now, then;       /* of this process; of the version */
    bool checked;                   /* the first save has looked for what cannot be restored */
    struct auto_registers at_start; /* at MPI_Init */
    char *stack_top;                /* the end of main()'s frame */
    uint64_t **hits;                /* words that C3 set to NULL */
    int hit_count;
    char *stacks[2]; /* ours; after a failure on one we continue on the other */
    int stack;
    ucontext_t context;
    void (*run)(mend_flow *f);
    mend_flow *flow;
};

/* For the only context of the short forms. */
extern struct automatic the_automatic;

/* All parts but the outline: heap, stack, variables. */
typedef int auto_part(mend_flow *f, int id, const char *label, char *from, size_t bytes);
int auto_each_part(mend_flow *f, const struct outline *c, auto_part *act);

#endif
