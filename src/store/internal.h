/* What the files of this layer share. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#ifndef MPI_VERSION
#define MEND_STORE_NO_MPI /* net.c and open.c include mpi.h themselves */
#endif
#include <mend/store.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/io.h>
#include <image/folder.h>
#include <image/image.h>
#include <image/parity.h>

#include "net/net.h"

#define NAME_MAX_LENGTH 64
#define PATH_ROOM       4096
#define PAGE            4096u
#define LEVELS_OWN_FILE                                                      \
    (MEND_LEVEL_BIT(MEND_LEVEL_LOCAL) | MEND_LEVEL_BIT(MEND_LEVEL_PARTNER) | \
     MEND_LEVEL_BIT(MEND_LEVEL_ERASURE))
#define GROUP_MAX MEND_GROUP_MAX

/* ---- placement.c ------------------------------------------------------------------------------------ */

/* Who lives where, who helps whom: pure functions of the homes that all ranks have exchanged. */

enum { DOMAIN_SIZE = 128 }; /* more than a host name can have */

struct home {
    char domain[DOMAIN_SIZE];
    uint64_t folder_device, folder_inode; /* of the local folder; 0: none */
};

struct group {
    int size, parity;      /* k = size - parity */
    int index;             /* mine */
    int member[GROUP_MAX]; /* logical ranks */
};

struct placement {
    struct home *homes; /* by logical rank */
    int partner;        /* who holds my copy; -1: nobody */
    int holds;          /* whose copy I hold; -1: nobody's */
    bool partner_apart; /* in another domain */
    struct group group; /* size 1: no redundancy possible */
    bool group_apart;
    int folder_peers; /* ranks that share my local folder, including me */
    int folder_index; /* mine among them */
};

int placement_make(struct placement *placement, struct home *homes, int rank, int size, int k,
                   int m);
void placement_partners(const struct home *homes, int size, int *partner, bool *apart);
void placement_groups(const struct home *homes, int size, int k, int m, int rank,
                      struct group *group, bool *apart);
int placement_domain_from_file(const char *path, int rank, char domain[DOMAIN_SIZE]);
int placement_domain_from_text(const char *path, const char *text, size_t size, int rank,
                               char domain[DOMAIN_SIZE]);

/* ---- slot.c: one copy of one rank's data in memory ------------------------------------------- */

struct slot {
    uint8_t *memory;
    size_t room;
    mend_image_head head; /* whose data, and which version; valid if complete */
    uint64_t *sums;       /* of the blocks; NULL: not computed yet */
    bool complete;
    bool poisoned;   /* a message may still write to it: never used again */
    int users;       /* jobs and open parts */
    uint64_t *stale; /* pages mode: what differs from the application's tracked data */
    uint64_t stale_bits;
    uint64_t serial;                     /* layout that `stale` refers to */
    bool pinned;                         /* registered with a GPU driver, see device.c */
    struct mend_device_sum *device_sums; /* of the pages that came from a device; 0: other pages */
    uint64_t device_serial;              /* the layout that they refer to; 0: not valid */
    struct table *device_tables;         /* the same sums on the devices, by pool */
    int device_table_count;
    uint64_t device_key; /* which pages of which region are where in the tables */
};

struct slots {
    struct slot **list;
    int count;
};

struct mend_store;

int slot_reserve(struct mend_store *store, struct slot *slot, size_t bytes);
int slot_add(struct mend_store *store, struct slots *slots, struct slot **slot);
void slot_forget(struct slot *slot); /* it holds nothing any more */
void slot_free(struct mend_store *store, struct slot *slot);
uint64_t *slot_sums(const struct slot *slot);
int slot_digest(struct mend_store *store, struct slot *slot, uint64_t *digest);
int slot_verify(const struct slot *slot);
int slot_set_head(struct slot *slot, const mend_image_head *head); /* copies the regions */
/* Get a free copy with this much room, for a save; waits at most max_stall seconds. */
int slot_acquire(struct mend_store *store, size_t bytes, struct slot **slot);
void slot_release(struct mend_store *store, struct slot *slot);
/* May a save overwrite a copy that the memory level keeps, before its successor is committed? Call it with the lock
 * held. */
bool slots_tight(const struct mend_store *store);
struct draft {         /* see draft.c */
    struct slot *slot; /* NULL: none */
    mend_image_head layout;
};
/* The draft, if it has this layout, with one more user. */
struct slot *draft_for(struct mend_store *store, const mend_image_head *head);
struct slot *slot_find(const struct slots *slots, mend_version_t version, uint64_t id, int rank);

/* ---- versions that this process knows of ----------------------------------------------------- */

struct known {
    mend_version_t version;
    uint64_t id;
    unsigned reached; /* levels where it is committed and kept */
    unsigned failed;
};

/* A base for deltas of one kind of file (own or global). */
struct base {
    mend_version_t version; /* -1: none */
    uint64_t id;
    unsigned levels; /* at which it is committed */
    int chain;
    uint64_t serial;   /* layout */
    uint64_t *changed; /* pages changed since, by the stream's numbering */
};

enum base_kind { BASE_OWN, BASE_GLOBAL, BASES };

/* ---- the background engine ------------------------------------------------------------------- */

struct job {
    struct job *next;
    struct slot *slot;
    mend_version_t version;
    uint64_t id;
    unsigned levels; /* wanted */
    unsigned reached;
    bool full, rebuild;
    bool later;    /* the copy is under way: see cow.c */
    bool steady;   /* memory level: all have agreed that no size changed */
    bool own_done; /* the own file is written */
    bool own_delta, global_delta;
    uint64_t *changed;   /* pages changed since the last save; NULL: unknown, so all */
    uint64_t serial;     /* layout of the slot */
    int error;           /* first */
    struct drain *drain; /* regions on devices whose snapshot still exists; NULL: none */
    bool device, mine;   /* some rank has such regions; this one has */
};

struct pages; /* userfaultfd, which pages changed */
struct cow;   /* userfaultfd, copying later */
struct gpu;   /* snapshots on devices */
struct drain; /* a snapshot in transit */

/* ---- an opened part of a version, see restore.c ---------------------------------------------- */

struct part {
    mend_image *image;    /* or */
    struct slot *slot;    /* memory of our own */
    uint8_t *buffer;      /* what the image reads from, if it came in a message */
    struct drain *staged; /* already on the devices; NULL: nothing */
    const mend_image_head *head;
};

struct region {
    int id;
    char label[MEND_IMAGE_LABEL];
    uint8_t *address;
    size_t bytes;
    bool global;
    uint64_t global_offset, global_total;
};

/* The call in progress; see guard.c. */
struct guard {
    pthread_mutex_t lock;
    const char *call; /* NULL: none */
    pthread_t by;
    uintptr_t frame; /* of its stack */
    /* held by a save */
    struct slot *slot;
    struct job *job;
    mend_image_region *regions;
};

struct mend_store {
    struct guard guard;
    char name[MEND_IMAGE_NAME];
    mend_store_options options;
    char *local_dir, *global_dir, *domain, *topology; /* what options point to */
    char *local, *global;                             /* folders of this store; NULL: none */
    unsigned levels;                                  /* in use */
    struct net *net;
    struct placement placement;
    int rank, size; /* logical; size 1 with alone */
    bool alone, threaded;

    struct region *regions; /* ascending ids */
    int region_count, region_room;

    struct slots own, held;
    struct draft draft;
    struct {
        uint64_t serial;       /* layout of mine that the partner has last seen; 0: none */
        uint64_t head, stream; /* and what came back then */
    } exchanged;
    uint64_t serial;        /* counts layouts */
    mend_image_head layout; /* of the last save, to see changes */

    mend_version_t last;  /* last version saved or restored */
    int64_t turn;         /* saves so far, for level[].every */
    mend_version_t floor; /* the restored version; whatever is above it and not ours is abandoned */
    bool saved_since;     /* something was saved since the last restore or open */

    pthread_mutex_t lock; /* guards all below, slots' users, known */
    pthread_cond_t changed;
    pthread_t thread;
    bool running, stop;
    bool merge_due, merging; /* see merge.c */
    int hold;                /* calls that read or remove files: no merging */
    atomic_bool hurry;       /* a merge in progress must stop */
    struct job *queue;
    struct job *current;
    int pending;
    bool oldest_may_go;  /* see draft.h */
    int result;          /* of the last save */
    struct known *known; /* ascending versions */
    int known_count;
    struct known *bad; /* found damaged everywhere since the last bind */
    int bad_count;
    atomic_bool cancel;
    _Atomic uint64_t bytes_done, bytes_total;
    atomic_int level_now;
    double budget_from;    /* throttle: when, and */
    uint64_t budget_bytes; /* how much was written since */

    struct base base[BASES];
    void *hashes; /* hash mode: of the pages of the last save */
    uint64_t hash_count, hash_serial;
    uint8_t *last_copy; /* cmp mode: the stream of the last save, and its layout */
    uint64_t copy_serial;
    int pause, pause_left; /* saves during which we do not look for changes */
    struct pages *pages;
    struct cow *cow;
    struct gpu *gpu;
    char why[400]; /* why the last copy failed */

    struct part *open_part;
    mend_store_stats stats;
};

/* ---- region.c ---- */
/* Make the head of a save with these regions and streams; regions malloc'ed. ids NULL: all. */
int layout_make(mend_store *store, const int *ids, int id_count, const mend_store_stream *streams,
                int stream_count, mend_image_head *head);
bool layout_same(const mend_image_head *a, const mend_image_head *b);
struct region *region_find(mend_store *store, int id);

/* ---- guard.c: one collective call of a store at a time ---- */
int guard_enter(mend_store *store, const char *call, uintptr_t frame);
void guard_leave(mend_store *store);
/* For a call that does not take the guard itself: is it allowed now? */
int guard_check(mend_store *store, const char *call, uintptr_t frame);
#define FRAME ((uintptr_t)__builtin_frame_address(0))

/* ---- engine.c ---- */
int engine_start(mend_store *store);
void engine_stop(mend_store *store); /* waits for the thread; drops what is queued */
void engine_push(mend_store *store, struct job *job);
void engine_drain(mend_store *store); /* until nothing is pending */
/* Between these two the engine changes no file on its own; it still runs jobs. They may nest. */
void engine_hold(mend_store *store);
void engine_release(mend_store *store);
void job_free(mend_store *store, struct job *job);

/* ---- version.c ---- */
struct known *known_find(mend_store *store, mend_version_t version, uint64_t id);
struct known *known_add(mend_store *store, mend_version_t version, uint64_t id);
void known_forget(mend_store *store);
/* A save of `version` begins: known versions at or above it are abandoned. */
void known_abandon(mend_store *store, mend_version_t version);
bool known_kept(const mend_store *store, mend_version_t version, uint64_t id, unsigned levels);
bool known_any(const mend_store *store,
               unsigned levels); /* some version is committed at one of them */
/* The version that this level will drop when its next one is committed, if it may go earlier (store_let_oldest_go)
 * and a newer one stays; NULL: none. Call it with the lock held. */
struct known *known_due(const mend_store *store, mend_level level);
/* Is it up to this rank to remove the file? */
bool version_is_mine(const mend_store *store, const mend_file *file);
/* After a commit at `level`: drop what exceeds its count, and remove files. Call it without the lock. */
void prune_level(mend_store *store, mend_level level);
/* Before we write files of a new version: drop what is due. Call it without the lock. */
void prune_due(mend_store *store, mend_level level);
void prune_files(mend_store *store);

/* ---- levels ---- */
struct level_ops {
    int (*prepare)(mend_store *store, struct job *job); /* local work only; may be NULL */
    int (*exchange)(
        mend_store *store,
        struct job *job); /* with messages; continues after errors so that peers can; may be NULL */
};
/* Will the next exchange of copies have the same sizes as the last, and a place ready for it? */
bool memory_steady(mend_store *store);
extern const struct level_ops level_memory, level_local, level_partner, level_erasure, level_global;

/* ---- file.c: images written by the engine ---- */
struct file_sink {
    mend_store *store;
    int fd;
    uint64_t at;
    const char *path;
};
int file_sink_write(void *context, const void *bytes, size_t count);
int throttle(mend_store *store, size_t bytes); /* 0 or MEND_ERR_CANCELLED */
int file_write_image(mend_store *store, struct job *job, const char *folder,
                     enum mend_file_kind kind, enum base_kind base, int compress);
int file_write_own(mend_store *store, struct job *job);
int file_path(const char *folder, const mend_file *file, char path[PATH_ROOM]);

/* ---- delta.c ---- */
void delta_note(mend_store *store, struct job *job); /* find what changed, for all bases */
bool delta_choose(mend_store *store, struct job *job, enum base_kind kind);
void delta_committed(mend_store *store, struct job *job, enum base_kind kind, unsigned levels,
                     bool was_delta);
void delta_reset(mend_store *store);
void delta_free(mend_store *store);

/* ---- pages.c ---- */
bool pages_work(void); /* self-test, once */

/* ---- restore.c ---- */
struct item; /* inventory.c */
int part_read(struct part *part, uint64_t at, void *to, size_t count);
void part_close(mend_store *store, struct part *part);
const mend_image_region *part_region(const struct part *part, int id);

static inline uint64_t page_count(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE;
}

static inline size_t bitmap_words(uint64_t bits)
{
    return (size_t)((bits + 63) / 64);
}

#endif
