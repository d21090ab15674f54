/* mend/store.h: versions of a program's data that survive the death of processes, nodes and disks.
 *
 * A store is opened on a communicator under a name. The program registers regions (an id, an
 * address, a length), and saves their content as numbered versions. Saving returns after one copy
 * in memory; a background thread carries the copy to the levels that are due:
 *
 *   memory    own copy in RAM and a second one in the RAM of a rank on another failure domain
 *   local     a file in a node-local folder
 *   partner   that file, and a copy of it in the local folder of another failure domain
 *   erasure   that file, and parity over a group of k+m ranks on different failure domains: any m
 *             of them may be lost
 *   global    a file on a shared file system (one per rank, or few large ones)
 *
 * After a failure the program repairs its communicator, calls mend_store_rebind() on the survivors
 * and mend_store_open() on the replacements, asks for the newest version that everybody can have,
 * and restores it.
 *
 *     mend_store *s;
 *     mend_store_open(comm, -1, "heat", NULL, &s);
 *     mend_store_region(s, 0, "grid", grid, n * sizeof *grid);
 *     mend_store_region(s, 1, "step", &step, sizeof step);
 *     if (mend_store_newest(s, &version) == 0)
 *         mend_store_restore(s, version);
 *     for (; step < steps; step++) {
 *         if (step % 100 == 0)
 *             mend_store_save(s, step);
 *         ...
 *     }
 *     mend_store_close(s);
 *
 * CAVEATS
 *  - A store is used by one thread at a time. Several stores may be open at once.
 *  - "Collective" means over the communicator the store is bound to: every rank calls, in the same
 *    order.
 *  - Collective results are agreed: every rank returns the same code. The exception is a peer that
 *    dies inside the call: then each survivor gets MEND_ERR_PEER_FAILED from this call or from its
 *    next collective call on the store, and never waits for ever. The store cannot be used further
 *    until it is rebound. No version becomes half visible by that: after a rebind the store forgets
 *    what it believed and asks all ranks again.
 *  - Without ULFM in the MPI library a dead peer is what that library makes of it.
 *  - A replacement's mend_store_open() is the same collective operation as a survivor's
 *    mend_store_rebind(): they match each other.
 *  - The background thread calls MPI. If MPI was initialised below MPI_THREAD_MULTIPLE, a store on
 *    more than one rank does all its work inside the save call (as with `sync`), and says so by the
 *    event "store.sync_forced". Everything else is the same.
 *  - Versions are numbered by the caller, from 0, each save larger than the one before. A restore
 *    of version v makes v+1 the next allowed number, a rebind any. What was saved at or above a
 *    number that is saved anew belongs to an abandoned past: it is never mixed with what is saved
 *    now, and removed when that is committed.
 *  - Regions may have any length, zero included, and differ from rank to rank.
 *
 * All functions return 0 or a negative MEND_ERR_* code; mend_error_text() has the facts.
 * Define MEND_STORE_NO_MPI before including this header to use single-process stores without mpi.h.
 */
#ifndef MEND_STORE_H
#define MEND_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <mend/error.h>

#ifndef MEND_STORE_NO_MPI
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mend_store mend_store; /* opaque */

/* ---- levels and options ---------------------------------------------------------------------- */

typedef enum mend_level {
    MEND_LEVEL_MEMORY,
    MEND_LEVEL_LOCAL,
    MEND_LEVEL_PARTNER,
    MEND_LEVEL_ERASURE,
    MEND_LEVEL_GLOBAL,
    MEND_LEVEL_COUNT
} mend_level;

#define MEND_LEVEL_BIT(level) (1u << (level))
#define MEND_LEVELS_ALL       ((1u << MEND_LEVEL_COUNT) - 1)

/* How unchanged blocks are found by the levels that write files. */
typedef enum mend_delta {
    MEND_DELTA_OFF,   /* every version is written whole */
    MEND_DELTA_HASH,  /* XXH3 of blocks: always right, costs a pass over the data in the background
                       */
    MEND_DELTA_CMP,   /* comparison with the last copy: always right, one more copy in memory */
    MEND_DELTA_PAGES, /* userfaultfd: even the copy inside the save call is of changed pages only;
                         for sparse writers. Tested at open; where the kernel lacks it HASH is used
                         and an event tells. */
} mend_delta;

/* The memory level keeps a copy of each rank's data here and one at its partner: twice the data. A
 * second pair, for the version that is being saved, makes it four times; without it the version in
 * memory is given up when the next save begins, so that another level must have one. */
enum {
    MEND_MEMORY_SAFE,  /* always two pairs */
    MEND_MEMORY_TIGHT, /* one pair while any other level has a committed version */
    MEND_MEMORY_AUTO,  /* default: one pair while a level that stands the loss of a node (partner,
                          erasure, global; local, if all ranks share one failure domain) has a
                          committed version */
};

typedef struct mend_level_options {
    int every;    /* this level takes every n-th save; 0: level not used */
    int keep;     /* committed versions kept, at least 1 */
    int compress; /* zstd level 1..19 for files; 0: none */
} mend_level_options;

typedef struct mend_store_options {
    size_t size;            /* sizeof(mend_store_options), set by mend_store_defaults() */
    const char *local_dir;  /* node-local folder; %d stands for the failure domain. Needed by local,
                               partner, erasure */
    const char *global_dir; /* folder that every rank sees. Needed by global */
    const char *domain; /* this process' failure domain; NULL: host name, or the topology file's */
    const char *topology; /* file with lines "RANK DOMAIN" (logical ranks); NULL: none */
    mend_level_options level[MEND_LEVEL_COUNT];
    int sync;                 /* 1: every save returns when all its levels are done */
    int erasure_k, erasure_m; /* group of k+m ranks; parity of m */
    int global_files; /* global level: 0 = one file per rank, n = at most n files for all ranks */
    mend_delta delta; /* see above */
    int delta_chain;  /* at most so many deltas on one whole version */
    size_t block; /* bytes under one checksum in whole versions; a power of two, 4 KiB to 16 MiB */
    int buffers;  /* copies of the data kept for saving, 1 or more. See mend_store_save() */
    size_t bandwidth;  /* background writing, bytes per second; 0: as fast as it goes */
    double max_stall;  /* seconds a save may wait for a free buffer before MEND_ERR_BUSY */
    int copy_on_write; /* 1: a save write-protects the regions and returns; they are copied behind
                          the application's back, what it writes to first. Until the copy is over
                          memory of a region may be freed or unmapped only after
                          mend_store_region_remove(), mend_store_region() with its new place, or
                          mend_store_wait(): else that save fails (MEND_ERR_STATE inside, event
                          store.copy_failed). Where the kernel refuses: event store.cow_refused, and
                          copies as always. Not together with MEND_DELTA_PAGES. */
    int memory_tight;  /* MEND_MEMORY_*: may the memory level overwrite its pair of copies early? */
} mend_store_options;

/* Fill `options` from the configuration (MEND_STORE_* variables, INI file) and the built-in
 * defaults: memory every save if there is more than one rank, local every save if a local folder is
 * set. Not collective. Errors: MEND_ERR_CONFIG. */
MEND_API int mend_store_defaults_sized(mend_store_options *options, size_t size);
static inline int mend_store_defaults(mend_store_options *options)
{ /* here and below: the size that this header gives a structure, so that later versions can add fields */
    return mend_store_defaults_sized(options, sizeof *options);
}

/* Name of a level, "memory" to "global"; "?" if there is no such level. Not collective. */
MEND_API const char *mend_level_name(mend_level level);

/* ---- opening, rebinding, closing ------------------------------------------------------------- */

#ifndef MEND_STORE_NO_MPI
/* Open the store `name` (letters, digits, '-', '_', '.'; at most 64) on `comm`.
 *
 * logical_rank: who this process is in the job: 0 to size-1, each once; -1: its rank in comm.
 * Versions are keyed by it, so that a replacement finds what its predecessor saved. options: NULL:
 * mend_store_defaults(). Strings are copied. comm is duplicated, not kept. With MPI_COMM_NULL the
 * store has this process alone (mend_store_open_single).
 *
 * Collective over comm; matches mend_store_rebind() on other ranks. Agreed.
 * If a peer dies inside the call, comm is revoked, so that nobody waits.
 * Errors: MEND_ERR_ARGUMENT, MEND_ERR_CONFIG (options differ between ranks, a folder is missing),
 *   MEND_ERR_IO, MEND_ERR_NO_MEMORY, MEND_ERR_PEER_FAILED, MEND_ERR_MPI.
 */
MEND_API int mend_store_open(MPI_Comm comm, int logical_rank, const char *name,
                             const mend_store_options *options, mend_store **store);

/* Bind the store to another communicator, after a repair, a shrink or at will.
 *
 * Regions stay registered. Work in the background that was under way on the old communicator ends
 * first; what it had not committed is not a version. If the number of ranks differs from that of a
 * saved version, only its regions with a global layout can be restored (mend_store_region_global).
 *
 * Collective over comm; matches mend_store_open() on replacements. Agreed. The old communicator is
 * not used. If a peer dies inside the call, comm is revoked; repair and rebind again. Errors: as
 * mend_store_open().
 */
MEND_API int mend_store_rebind(mend_store *store, MPI_Comm comm, int logical_rank);
#endif

/* Open a store for this process alone, without MPI: logical rank 0 of 1. Levels memory (own copy
 * only), local and global. Not collective. Errors: as mend_store_open(). */
MEND_API int mend_store_open_single(const char *name, const mend_store_options *options,
                                    mend_store **store);

/* Like mend_store_open_single(), for one of many processes that save independently of each other
 * (VeloC's "single mode"): the versions are keyed by `logical_rank`, no agreement takes place. Not
 * collective. */
MEND_API int mend_store_open_alone(const char *name, int logical_rank,
                                   const mend_store_options *options, mend_store **store);

/* Finish what is under way in the background, then release everything. Files stay. The handle is
 * gone in any case. Collective if the peers are alive; after MEND_ERR_PEER_FAILED it may be called
 * by any rank at any time. Returns the result of the last background work (as mend_store_wait()).
 * store may be NULL. */
MEND_API int mend_store_close(mend_store *store);

/* ---- regions --------------------------------------------------------------------------------- */

/* Register `bytes` bytes at `address` as region `id` (any int), or, if the id is known, move and
 * resize it. label: for people (mend ls, messages); NULL: none; copied. The memory stays the
 * caller's; it is read inside save calls and written inside restore calls only. Not collective;
 * ranks may have different regions. Errors: MEND_ERR_ARGUMENT, MEND_ERR_NO_MEMORY. */
MEND_API int mend_store_region(mend_store *store, int id, const char *label, void *address,
                               size_t bytes);

/* Like mend_store_region() for this rank's part of an array that spans ranks: `bytes` bytes that
 * begin at byte `offset` of an array of `total` bytes. Such a region can be restored by any number
 * of ranks, each with a layout of its own. The parts of all ranks should cover what is to be
 * restored; overlaps must be equal. Not collective. Errors: MEND_ERR_ARGUMENT (part exceeds total),
 * MEND_ERR_NO_MEMORY. */
MEND_API int mend_store_region_global(mend_store *store, int id, const char *label, void *address,
                                      size_t bytes, uint64_t offset, uint64_t total);

/* Forget region `id`. Saved versions keep it. Not collective. Errors: MEND_ERR_REGION (no such id).
 */
MEND_API int mend_store_region_remove(mend_store *store, int id);

/* Number of regions; and, by index 0..n-1 in order of id, what they are. Any out pointer may be
 * NULL. Not collective. */
MEND_API int mend_store_region_count(const mend_store *store);
MEND_API int mend_store_region_info(const mend_store *store, int index, int *id, void **address,
                                    size_t *bytes);

/* ---- saving ---------------------------------------------------------------------------------- */

/* Save the content of every region as `version`, at the levels that are due (level[].every).
 *
 * Returns as soon as the application may change its data again: after one copy into memory that is
 * kept and already touched. The levels follow in the background, fastest first. If all copies
 * (options.buffers) are still needed, the call waits up to max_stall seconds for one, then returns
 * MEND_ERR_BUSY and nothing is saved: a slow disk delays the program by a bounded time.
 * A level that fails (disk full, i/o error) is an event and a status, see mend_store_wait(); the
 * previous version at that level stays.
 *
 * Collective. Agreed.
 * Errors: MEND_ERR_VERSION (not larger than the last), MEND_ERR_NO_MEMORY, MEND_ERR_BUSY,
 * MEND_ERR_PEER_FAILED. With `sync` also those of mend_store_wait().
 */
MEND_API int mend_store_save(mend_store *store, long version);

/* A stream: the content of an opaque region, produced piece by piece inside the save call. */
typedef struct mend_store_sink mend_store_sink;

/* Append bytes to the region being produced. The pieces are copied at once. Errors:
 * MEND_ERR_NO_MEMORY, MEND_ERR_ARGUMENT (more than announced). */
MEND_API int mend_store_put(mend_store_sink *sink, const void *bytes, size_t count);

/* Room for `count` more bytes, to be filled by the caller before its next call with this sink (to
 * read() into, to fill by a gather). NULL as errors above. Valid until the producer returns. */
MEND_API void *mend_store_put_room(mend_store_sink *sink, size_t count);

/* An opaque region of one save. `bytes` must be exact. produce() returns 0, or a negative code that
 * fails the save on all ranks with MEND_ERR_STREAM; it must not call the store except
 * mend_store_put() and mend_store_put_room(). */
typedef struct mend_store_stream {
    int id;
    const char *label;
    size_t bytes;
    int (*produce)(mend_store_sink *sink, void *arg);
    void *arg;
} mend_store_stream;

typedef struct mend_save_options {
    unsigned levels; /* set of MEND_LEVEL_BIT(); 0: those that are due */
    int sync;        /* 1: wait for these levels */
    int full;        /* 1: no delta for this version */
    const int *ids;  /* only these regions; NULL: all registered ones */
    int id_count;    /* with ids; 0 and ids non-NULL: none (streams only) */
    const mend_store_stream
        *streams; /* opaque regions in addition; not registered, nothing is kept of them */
    int stream_count;
} mend_save_options;

/* Save with a choice of levels, regions and streams. NULL options: as mend_store_save().
 * Streams are read back by mend_store_saved_size() and mend_store_read().
 * Collective. `levels`, `sync` and `full` must be equal on all ranks. Agreed.
 * Errors: as mend_store_save(); MEND_ERR_STREAM; MEND_ERR_REGION (unknown id; agreed);
 * MEND_ERR_ARGUMENT (a level that the store was not opened with). */
MEND_API int mend_store_save_sized(mend_store *store, long version,
                                   const mend_save_options *options, size_t size);
static inline int mend_store_save_with(mend_store *store, long version,
                                       const mend_save_options *options)
{
    return mend_store_save_sized(store, version, options, sizeof *options);
}

/* Wait until all background work is done. Collective. Agreed.
 * Returns 0 if the last save reached every level it was meant for. Otherwise:
 * MEND_ERR_DEGRADED (some level failed, others are committed), MEND_ERR_NOT_SAVED (no level is),
 * MEND_ERR_PEER_FAILED. mend_store_reached() has the details. */
MEND_API int mend_store_wait(mend_store *store);

/* Is all background work of this rank done? *done = 1 or 0. Not collective; never blocks.
 * Returns what mend_store_wait() would if done, else 0. */
MEND_API int mend_store_test(mend_store *store, int *done);

typedef struct mend_store_progress_info {
    long version;        /* being worked on, or the last; -1: none yet */
    int pending;         /* saves not finished, this one included */
    mend_level level;    /* being written */
    uint64_t bytes_done; /* of this level */
    uint64_t bytes_total;
} mend_store_progress_info;

/* How far the background work of this rank is. Not collective; never blocks. */
MEND_API int mend_store_progress_sized(mend_store *store, mend_store_progress_info *info,
                                       size_t size);
static inline int mend_store_progress(mend_store *store, mend_store_progress_info *info)
{
    return mend_store_progress_sized(store, info, sizeof *info);
}

/* Give up the saves that are still in the background, where they have not begun to commit.
 * Collective. Agreed. Afterwards nothing is under way. Versions that were committed stay. */
MEND_API int mend_store_cancel(mend_store *store);

/* The set of levels at which `version` is committed on all ranks, as far as this rank knows by now.
 * Not collective. Errors: MEND_ERR_VERSION (never heard of it). */
MEND_API int mend_store_reached(mend_store *store, long version, unsigned *levels);

/* ---- restoring ------------------------------------------------------------------------------- */

/* The newest version that every rank can have, from whatever level, including what must be fetched
 * from a partner or rebuilt from parity. Background work is finished first. Collective. Agreed.
 * Errors: MEND_ERR_NO_VERSION, MEND_ERR_PEER_FAILED. */
MEND_API int mend_store_newest(mend_store *store, long *version);

/* The newest such version that is not larger than `at_most`. */
MEND_API int mend_store_newest_until(mend_store *store, long at_most, long *version);

/* All such versions, newest first: up to `room` of them into versions[]; *count = how many there
 * are. Collective. */
MEND_API int mend_store_versions(mend_store *store, long *versions, int room, int *count);

/* Restore every registered region from `version`.
 *
 * Every checksum is verified before the first byte of the application's data is changed. A part
 * that is missing or damaged is taken from another level, another rank, or rebuilt from parity,
 * inside this call. Regions that are registered but not in the version: MEND_ERR_REGION; in a
 * different length: MEND_ERR_SIZE (look at mend_store_saved_size() and register anew). Regions in
 * the version that are not registered are ignored. If the version was saved by another number of
 * ranks: regions with a global layout are redistributed; if any other region is registered:
 * MEND_ERR_RANK_COUNT. On success the lost redundancy is rebuilt in the background.
 *
 * Collective. Agreed; on an error no region of any rank is changed (MEND_ERR_PEER_FAILED excepted).
 * Errors: MEND_ERR_NO_VERSION (not restorable), MEND_ERR_DAMAGED (it was believed restorable; some
 * rank's part is damaged at all levels: ask mend_store_newest() again, it will name an older one),
 * MEND_ERR_REGION, MEND_ERR_SIZE, MEND_ERR_RANK_COUNT, MEND_ERR_PEER_FAILED. */
MEND_API int mend_store_restore(mend_store *store, long version);

/* Restore only the regions `ids`. Collective (each rank may choose its own; count 0: none). As
 * mend_store_restore(). */
MEND_API int mend_store_restore_regions(mend_store *store, long version, const int *ids, int count);

/* Restore the newest version that can be restored, going back to older ones as long as damage is
 * found; *version = the one taken. Collective. Agreed. Each version passed over is an event
 * "store.fallback". */
MEND_API int mend_store_restore_newest(mend_store *store, long *version);

/* Restore in parts. begin makes a part of `version` readable for this rank: that of logical rank
 * `rank` (-1: own), fetched, rebuilt and verified as in mend_store_restore(); -2: none, this rank
 * only helps. The part need not be of a version saved by the same number of ranks. Then the local
 * calls below; end releases it. begin is collective and agreed; errors as mend_store_restore(). end
 * is not collective. */
MEND_API int mend_store_begin_restore(mend_store *store, long version, int rank);
MEND_API int mend_store_end_restore(mend_store *store);

/* The same, but newer versions stay: the next save must be newer than all of them. Collective and
 * agreed; ended by mend_store_end_restore(); errors as mend_store_restore(). */
MEND_API int mend_store_begin_look(mend_store *store, long version, int rank);

/* The same for this rank's own part, from its own memory or local file, without anybody's help. Not
 * collective. Does not count as a restore: the next allowed version stays. Errors: MEND_ERR_NO_VERSION
 * (not here), MEND_ERR_DAMAGED. */
MEND_API int mend_store_begin_restore_own(mend_store *store, long version);

/* Inside begin/end: number of ranks that saved the version, regions in this part, and their ids and
 * lengths by index or by id. Any out pointer may be NULL; label is valid until end. Not collective.
 * Errors: MEND_ERR_STATE (outside begin/end), MEND_ERR_REGION. */
MEND_API int mend_store_saved_ranks(mend_store *store, int *ranks);
MEND_API int mend_store_saved_count(mend_store *store, int *count);
MEND_API int mend_store_saved_region(mend_store *store, int index, int *id, size_t *bytes,
                                     const char **label);
MEND_API int mend_store_saved_size(mend_store *store, int id, size_t *bytes);

/* Inside begin/end: read `count` bytes of saved region `id` from `offset` into `to`. Checksums are
 * verified again. Not collective. Errors: MEND_ERR_STATE, MEND_ERR_REGION, MEND_ERR_SIZE (beyond
 * the end), MEND_ERR_DAMAGED, MEND_ERR_IO. */
MEND_API int mend_store_read(mend_store *store, int id, size_t offset, void *to, size_t count);

/* ---- housekeeping ---------------------------------------------------------------------------- */

/* Remove every version older than `before` from all levels; never the newest restorable one.
 * Collective. Agreed. Errors: MEND_ERR_PEER_FAILED, MEND_ERR_IO (some file could not be removed).
 */
MEND_API int mend_store_prune(mend_store *store, long before);

/* Remove every version from all levels, also those of earlier runs; the next may have any number.
 * Collective. Agreed. Errors: MEND_ERR_PEER_FAILED, MEND_ERR_IO (some file could not be removed). */
MEND_API int mend_store_discard(mend_store *store);

typedef struct mend_store_stats {
    uint64_t saves;         /* calls that returned 0 */
    uint64_t commits;       /* versions x levels */
    uint64_t failures;      /* versions x levels that did not commit */
    uint64_t bytes_saved;   /* application's data, all saves */
    uint64_t bytes_written; /* to files by this rank */
    uint64_t bytes_sent;    /* to other ranks */
    uint64_t memory;        /* held now by this rank for the store */
    uint64_t memory_peak;
    double seconds_blocked;                 /* in save calls */
    double seconds_background;              /* of the background thread */
    double level_seconds[MEND_LEVEL_COUNT]; /* of the last version at each level, for planners; 0:
                                               none yet */
    double restore_seconds;                 /* of the last restore */
    uint64_t saves_later;                   /* saves whose copy was made on write */
    uint64_t merges;                        /* chains of deltas replaced by whole files */
    double cpu_background; /* seconds of a core that the background thread used for saves */
} mend_store_stats;

/* Figures of this rank. Not collective. */
MEND_API int mend_store_statistics_sized(const mend_store *store, mend_store_stats *stats,
                                         size_t size);
static inline int mend_store_statistics(const mend_store *store, mend_store_stats *stats)
{
    return mend_store_statistics_sized(store, stats, sizeof *stats);
}

#ifdef __cplusplus
}
#endif

#endif
