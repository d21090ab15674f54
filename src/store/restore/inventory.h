/* What exists of which version, and where. We ask again whenever it matters: every rank lists what it holds, all
 * gather the lists, and every rank draws the same conclusions from the same list. */
#ifndef STORE_INVENTORY_H
#define STORE_INVENTORY_H

#include "internal.h"

enum source_kind { IN_MEMORY, IN_OWN, IN_COPY, IN_PARITY, IN_GLOBAL, IN_BUNDLE, IN_DOUBT };

struct item {
    mend_version_t version;
    uint64_t id;
    int32_t rank, ranks; /* whose part, of how many */
    int32_t holder;      /* the logical rank that can read it now */
    int32_t kind;
    int32_t bundle;
    int32_t whole;  /* the file is no delta */
    uint64_t bytes; /* of the file; IN_MEMORY: a sum of the copy's sums */
    /* parity only: */
    int32_t group_size, parity, index, reserved;
    uint64_t chunk;
    int32_t member[GROUP_MAX];
    uint64_t member_bytes[GROUP_MAX];
};

struct inventory {
    struct item *items;
    int count;
    bool unreadable; /* a rank could not read a folder or a file: there may be more */
};

/* Collective on the CALL lane. */
int inventory_take(mend_store *store, struct inventory *inventory);
void inventory_free(struct inventory *inventory);

/* A version attempt that exists in part or whole. */
struct attempt {
    mend_version_t version;
    uint64_t id;
    int ranks;
};

/* The code for "nothing to restore": MEND_ERR_NO_VERSION, or MEND_ERR_IO if something could not be read. After the
 * former a program may start from the beginning; after the latter it must not. */
int inventory_nothing(const mend_store *store, const struct inventory *inventory);

/* All attempts, newest first (version, then id); malloc'ed. */
int inventory_attempts(const struct inventory *inventory, struct attempt **attempts, int *count);

/* Can part `rank` be obtained, and from where? */
bool inventory_has(const struct inventory *inventory, const struct attempt *a, int rank);
bool inventory_complete(const mend_store *store, const struct inventory *inventory,
                        const struct attempt *a);
/* Levels at which the attempt is complete, including the level's redundancy. */
unsigned inventory_levels(const mend_store *store, const struct inventory *inventory,
                          const struct attempt *a);
/* Something of this kind exists. */
bool inventory_kind(const struct inventory *inventory, const struct attempt *a,
                    enum source_kind kind);

/* A parity item of the group of `rank`, if the group can make good its losses; NULL: it cannot, or there is none. */
const struct item *inventory_group(const struct inventory *inventory, const struct attempt *a,
                                   int rank);
const struct item *inventory_find(const struct inventory *inventory, const struct attempt *a,
                                  int rank, enum source_kind kind, int holder /* -1: any */);

/* ---- stripes.c: how a group's files are cut, see image/parity.h ---- */
int stripe_row(int g, int m, int stripe, int member); /* -1: gives data */
int stripe_column(int g, int m, int stripe,
                  int member); /* among those who give data; -1: holds parity */
int stripe_chunk(int g, int m, int stripe, int member); /* which chunk of its file it gives */

/* ---- level_erasure.c ---- */
struct rebuild {
    const struct inventory *inventory;
    const struct attempt *attempt;
    int rank;      /* whose file */
    int requester; /* who wants it */
};
/* Collective over all ranks; the requester gets the file in malloc'ed memory. */
int erasure_rebuild(mend_store *store, const struct rebuild *what, uint8_t **bytes,
                    uint64_t *count);
int parity_read_meta(mend_image *image, struct item *item);

#endif
