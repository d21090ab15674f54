/* mend/store.h: checkpoints of a program's data that survive the death of processes, nodes and disks.
 *
 * A program opens a store on a communicator under a name, registers regions (an id, an address, a
 * length), and saves their content as numbered versions. A save returns after one copy in memory; a
 * background thread writes the copy to the levels that are due:
 *
 *   memory    own copy in RAM and a second one in the RAM of a rank in another failure domain
 *   local     a file in a node-local folder
 *   partner   that file, and a copy of it in the local folder of another failure domain
 *   erasure   that file, and parity over a group of k+m ranks in different failure domains: any m of
 *             them may be lost
 *   global    a file on a shared file system (one per rank, or a few large ones)
 *
 * After a failure the program repairs its communicator, calls mend_store_rebind() on the survivors
 * and mend_store_open() on the replacements, asks for the newest version that every rank can
 * restore, and restores it.
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
 *  - Only one thread at a time may use a store. Several stores may be open at once.
 *  - "Collective" means over the communicator the store is bound to: every rank calls, in the same
 *    order.
 *  - "Agreed" means that every rank returns the same code. The exception is a peer that dies inside
 *    the call: then each survivor gets MEND_ERR_PEER_FAILED from this call or from its next
 *    collective call on the store, and never waits forever. The store then refuses all collective
 *    calls until it is rebound. No version becomes half visible: after a rebind the store forgets
 *    what it knew and asks all ranks again.
 *  - Calls that are not collective neither wait for a peer nor notice its death.
 *  - Without ULFM, the MPI library decides what happens when a peer dies. With ULFM, a store on a
 *    communicator ignores SIGPIPE, unless the program has set a handler, because a write to the
 *    connection of a dead process raises it. Spares that open no store must ignore it themselves.
 *  - A replacement's mend_store_open() is the same collective operation as a survivor's
 *    mend_store_rebind(): they match each other.
 *  - The background thread calls MPI. If MPI was initialised below MPI_THREAD_MULTIPLE, a store on
 *    more than one rank does all its work inside the save call (as with `sync`), and reports the
 *    event "store.sync_forced". Everything else is the same.
 *  - The caller numbers versions, from 0, each save larger than the one before. After a restore of
 *    version v, any number from v+1 on is allowed; after a rebind, any number. If a number is saved
 *    again, old versions with this number or a larger one are no longer valid: the store never
 *    mixes them with the new ones, and removes them when the new one is committed.
 *  - Regions may have any length, zero included, and differ from rank to rank.
 *
 * ERRORS
 * All functions return 0 or a negative MEND_ERR_* code unless they say otherwise; mend_error_text()
 * has the facts. "The common errors" below are MEND_ERR_ARGUMENT (a NULL pointer or a negative
 * count: not agreed, the call returns before it communicates), MEND_ERR_PEER_FAILED (see above),
 * MEND_ERR_MPI (a message failed for another reason) and MEND_ERR_NO_MEMORY.
 * Define MEND_STORE_NO_MPI before including this header to use single-process stores without mpi.h.
 */
#ifndef MEND_STORE_H
#define MEND_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <mend/error.h>
#include <mend/types.h>

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

/* How the levels that write files find unchanged blocks. */
typedef enum mend_delta {
    MEND_DELTA_OFF,   /* every version is a full one */
    MEND_DELTA_HASH,  /* XXH3 of blocks: always right, one pass over the data in the background */
    MEND_DELTA_CMP,   /* comparison with the last copy: always right, one more copy in memory */
    MEND_DELTA_PAGES, /* userfaultfd: even the save call copies only changed pages; for sparse
                         writers. If the kernel lacks it at open, the store uses HASH and reports
                         an event. */
} mend_delta;

/* The memory level keeps a copy of each rank's data here and one at its partner: twice the data. A
 * second pair, for the version that is being saved, makes it four times. Without it the store drops
 * the version in memory when the next save begins, so another level must have one. */
enum {
    MEND_MEMORY_SAFE,  /* always two pairs */
    MEND_MEMORY_TIGHT, /* one pair while any other level has a committed version */
    MEND_MEMORY_AUTO,  /* default: one pair while a level that survives the loss of a node (partner,
                          erasure, global; local, if all ranks share one failure domain) has a
                          committed version */
};

/* These three fields never change, because mend_store_options holds an array of them. A further
 * setting of levels becomes a separate array at the end of mend_store_options. */
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
    const char *domain;   /* this process' failure domain, up to 127 bytes; NULL: host name, or the
                               topology file's */
    const char *topology; /* file with lines "RANK DOMAIN" (logical ranks); NULL: none */
    mend_level_options level[MEND_LEVEL_COUNT];
    int sync;                 /* 1: every save returns when all its levels are done */
    int erasure_k, erasure_m; /* group of k+m ranks; parity of m */
    int global_files; /* global level: 0 = one file per rank, n = at most n files for all ranks */
    mend_delta delta; /* see above */
    int delta_chain;  /* most deltas on one full version */
    size_t block; /* bytes under one checksum in full versions; a power of two, 4 KiB to 16 MiB */
    int buffers;  /* copies of the data kept for saving, 1 or more. See mend_store_save() */
    size_t bandwidth;  /* background writing, bytes per second; 0: unlimited */
    double max_stall;  /* seconds a save may wait for a free buffer before MEND_ERR_BUSY */
    int copy_on_write; /* 1: a save write-protects the regions and returns; a thread copies them, and
                          a page that the application writes to is copied first. Before the copy is
                          complete, free or unmap memory of a region only after
                          mend_store_region_remove(), mend_store_region() with its new address, or
                          mend_store_wait(); otherwise that save fails (MEND_ERR_NOT_SAVED, event
                          store.copy_failed). If the kernel refuses, the store reports the event
                          store.cow_refused and copies as usual. Not with MEND_DELTA_PAGES. */
    int memory_tight;  /* MEND_MEMORY_*: may the memory level overwrite its pair of copies early? */
} mend_store_options;

/* Fill `options` from the configuration (MEND_STORE_* variables, INI file) and the built-in
 * defaults: memory every save if there is more than one rank, local every save if a local folder is
 * set. Not collective. Errors: MEND_ERR_CONFIG, MEND_ERR_ARGUMENT (NULL), MEND_ERR_NO_MEMORY. */
MEND_API int mend_store_defaults_sized(mend_store_options *options, size_t size);
static inline int mend_store_defaults(mend_store_options *options)
{ /* here and below: the size that this header gives a structure, so that later versions can add fields */
    return mend_store_defaults_sized(options, sizeof *options);
}

/* Name of a level, "memory" to "global"; "?" if there is no such level. Not collective. No errors. */
MEND_API const char *mend_level_name(mend_level level);

/* ---- opening, rebinding, closing ------------------------------------------------------------- */

#ifndef MEND_STORE_NO_MPI
/* Open the store `name` (letters, digits, '-', '_', '.'; at most 64) on `comm`.
 *
 * logical_rank: this process' number in the job: 0 to size-1, each once; -1: its rank in comm.
 * It identifies this process' data in versions, so that a replacement finds what its predecessor
 * saved. options: NULL: mend_store_defaults(). Strings are copied. comm is duplicated, not kept.
 * With MPI_COMM_NULL the store belongs to this process alone (mend_store_open_alone), and the call
 * is not collective.
 *
 * Collective over comm; matches mend_store_rebind() on other ranks. Agreed.
 * If a peer dies inside the call, comm is revoked, so that nobody waits.
 * Errors: the common errors (MEND_ERR_ARGUMENT also: a bad name, logical ranks that are not 0 to
 * size-1), MEND_ERR_CONFIG (options that are wrong or differ between ranks, a missing folder),
 * MEND_ERR_UNSUPPORTED (an option that this library does not know), MEND_ERR_STATE (MPI is not
 * running), MEND_ERR_IO, MEND_ERR_FULL, MEND_ERR_PERMISSION (the folder belongs to another user). */
MEND_API int mend_store_open(MPI_Comm comm, int logical_rank, const char *name,
                             const mend_store_options *options, mend_store **store);

/* Bind the store to another communicator, after a repair, a shrink or at will.
 *
 * Regions stay registered. Background work on the old communicator ends first; what it had not
 * committed is not a version. If the number of ranks differs from that of a saved version, only
 * its regions with a global layout can be restored (mend_store_region_global).
 *
 * Collective over comm; matches mend_store_open() on replacements. Agreed. Does not use the old
 * communicator. If a peer dies inside the call, comm is revoked; repair and rebind again.
 * Errors: as mend_store_open(); MEND_ERR_ARGUMENT also for a store of this process alone. */
MEND_API int mend_store_rebind(mend_store *store, MPI_Comm comm, int logical_rank);
#endif

/* Open a store for this process alone, without MPI: logical rank 0 of 1. It has the levels memory
 * (own copy only), local and global. Not collective. Errors: as mend_store_open(), without those of
 * MPI and of peers. */
MEND_API int mend_store_open_single(const char *name, const mend_store_options *options,
                                    mend_store **store);

/* Like mend_store_open_single(), for one of many processes that save independently of each other
 * (VeloC's "single mode"): versions are keyed by `logical_rank`, and ranks agree on nothing. Not
 * collective. Errors: as mend_store_open_single(); MEND_ERR_ARGUMENT also for a negative rank. */
MEND_API int mend_store_open_alone(const char *name, int logical_rank,
                                   const mend_store_options *options, mend_store **store);

/* Finish the background work, then release everything. Files stay. The handle is gone in any case.
 * store may be NULL.
 *
 * Collective while all peers live, because background work involves them; after
 * MEND_ERR_PEER_FAILED any rank may call it at any time. The result is this rank's, not agreed.
 * Errors, all about the last save: MEND_ERR_DEGRADED, MEND_ERR_NOT_SAVED, MEND_ERR_PEER_FAILED. */
MEND_API int mend_store_close(mend_store *store);

/* ---- regions --------------------------------------------------------------------------------- */

/* Register `bytes` bytes at `address` as region `id` (any int), or, if the id is known, move and
 * resize it. label: a name for mend ls and messages; NULL: none; copied. The memory stays the
 * caller's; the store reads it only inside save calls and writes it only inside restore calls. Not
 * collective; ranks may have different regions. Errors: MEND_ERR_ARGUMENT, MEND_ERR_NO_MEMORY. */
MEND_API int mend_store_region(mend_store *store, int id, const char *label, void *address,
                               size_t bytes);

/* Like mend_store_region() for this rank's part of an array that spans ranks: `bytes` bytes that
 * begin at byte `offset` of an array of `total` bytes. Any number of ranks can restore this region,
 * each with its own layout. Together the parts of all ranks should cover the array; overlaps must
 * be equal. Not collective. Errors: MEND_ERR_ARGUMENT (the part exceeds the total),
 * MEND_ERR_NO_MEMORY. */
MEND_API int mend_store_region_global(mend_store *store, int id, const char *label, void *address,
                                      size_t bytes, uint64_t offset, uint64_t total);

/* Device memory: regions may be in GPU memory (CUDA: cudaMalloc, memory pools, managed memory,
 * cuMemMap), all or some of them, on several devices. A save waits for the work that the program
 * has queued on the device, copies inside the device and returns; without room there it copies to
 * pinned host memory inside the call (key store.device_snapshot). The files are the same as for
 * host memory: a version can be restored into either. With delta on, only pages that changed cross
 * the bus. If the driver fails, the save returns MEND_ERR_DEVICE (MEND_ERR_NO_MEMORY), or the wait
 * returns MEND_ERR_NOT_SAVED, with the driver's message.
 *
 * By default a save waits for all streams of the context. This call names the one stream
 * (cudaStream_t, CUstream) that produces the data; NULL: all again. Not collective. Errors:
 * MEND_ERR_ARGUMENT, MEND_ERR_NO_MEMORY. */
MEND_API int mend_store_device_stream(mend_store *store, void *stream);

/* Forget region `id`. Saved versions keep it. Not collective. Errors: MEND_ERR_REGION (no such id). */
MEND_API int mend_store_region_remove(mend_store *store, int id);

/* The number of regions; and each of them, by index 0..n-1 in order of id. Any out pointer may be
 * NULL. Not collective. Errors: MEND_ERR_REGION (no such index). */
MEND_API int mend_store_region_count(const mend_store *store);
MEND_API int mend_store_region_info(const mend_store *store, int index, int *id, void **address,
                                    size_t *bytes);

/* ---- saving ---------------------------------------------------------------------------------- */

/* Save the content of every region as `version`, at the levels that are due (level[].every).
 *
 * Returns as soon as the application may change its data again: after one copy into memory that the
 * store keeps for this purpose. The levels follow in the background, fastest first. If all copies
 * (options.buffers) are still needed, the call waits up to max_stall seconds for one, then returns
 * MEND_ERR_BUSY and nothing is saved: a slow disk delays the program by a bounded time.
 * If a level fails (disk full, i/o error), the store reports an event, and mend_store_wait()
 * returns the error; the previous version at that level stays.
 *
 * Collective. Agreed. If a peer dies inside the call, the call fails. If a peer dies afterwards,
 * the levels that are not yet committed fail, and mend_store_wait() reports it.
 * Errors: the common errors, MEND_ERR_VERSION (negative, or not larger than the last), MEND_ERR_BUSY,
 * MEND_ERR_CONFIG (the store has no level), MEND_ERR_DEVICE (a GPU or its driver failed); with
 * `sync` also those of mend_store_wait(). */
MEND_API int mend_store_save(mend_store *store, mend_version_t version);

/* A stream: the content of an opaque region, produced piece by piece inside the save call. */
typedef struct mend_store_sink mend_store_sink;

/* Append bytes to the region being produced. The bytes are copied at once. Not collective. Errors:
 * MEND_ERR_ARGUMENT (more than announced). */
MEND_API int mend_store_put(mend_store_sink *sink, const void *bytes, size_t count);

/* Room for `count` more bytes, which the caller fills before its next call with this sink (for
 * read() or a gather). Valid until the producer returns. Not collective. Errors: NULL (more than
 * announced). */
MEND_API void *mend_store_put_room(mend_store_sink *sink, size_t count);

/* An opaque region of one save. `bytes` must be exact. produce() returns 0, or a negative code that
 * fails the save on all ranks with MEND_ERR_STREAM. Of the store's functions it may call only
 * mend_store_put() and mend_store_put_room(); other collective ones fail with MEND_ERR_STATE, in the
 * producer as in another thread. If it leaves the save by a jump, that save has failed: the other ranks
 * wait for it until the store is rebound. */
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
    /* opaque regions in addition; they are not registered and forgotten after the call */
    const mend_store_stream *streams;
    int stream_count;
} mend_save_options;

/* Save with a choice of levels, regions and streams. NULL options: as mend_store_save().
 * Read streams back with mend_store_saved_size() and mend_store_read().
 * Collective. `levels`, `sync` and `full` must be equal on all ranks. Agreed. Deaths: as
 * mend_store_save().
 * Errors: as mend_store_save(); MEND_ERR_STREAM; MEND_ERR_REGION (unknown id); MEND_ERR_ARGUMENT (a
 * level that the store was not opened with, ranks that differ); MEND_ERR_UNSUPPORTED (an option or
 * a size of streams that this library does not know). */
MEND_API int mend_store_save_sized(mend_store *store, mend_version_t version,
                                   const mend_save_options *options, size_t size,
                                   size_t stream_size);
static inline int mend_store_save_with(mend_store *store, mend_version_t version,
                                       const mend_save_options *options)
{
    return mend_store_save_sized(store, version, options, sizeof *options,
                                 sizeof *options->streams);
}

/* Wait until all background work is done. Returns 0 if the last save reached all its levels;
 * mend_store_reached() has the details. Collective. Agreed. A peer's death ends the wait.
 * Errors: the common errors, MEND_ERR_DEGRADED (some level failed, others are committed),
 * MEND_ERR_NOT_SAVED (no level is committed). */
MEND_API int mend_store_wait(mend_store *store);

/* Is all background work of this rank done? *done = 1 or 0. Not collective; never blocks.
 * If done, returns this rank's result of the last save, else 0. Errors: MEND_ERR_ARGUMENT (NULL),
 * MEND_ERR_DEGRADED, MEND_ERR_NOT_SAVED, MEND_ERR_PEER_FAILED. */
MEND_API int mend_store_test(mend_store *store, int *done);

typedef struct mend_store_progress_info {
    mend_version_t version; /* being worked on, or the last; -1: none yet */
    int pending;            /* saves not finished, this one included */
    mend_level level;       /* being written */
    uint64_t bytes_done;    /* of this level */
    uint64_t bytes_total;
} mend_store_progress_info;

/* The progress of this rank's background work. Not collective; never blocks. Errors:
 * MEND_ERR_ARGUMENT (NULL). */
MEND_API int mend_store_progress_sized(mend_store *store, mend_store_progress_info *info,
                                       size_t size);
static inline int mend_store_progress(mend_store *store, mend_store_progress_info *info)
{
    return mend_store_progress_sized(store, info, sizeof *info);
}

/* Give up background saves that have not begun to commit. Afterwards no save is in progress.
 * Committed versions stay. Collective. Agreed. Errors: the common errors. */
MEND_API int mend_store_cancel(mend_store *store);

/* The set of levels at which `version` is committed on all ranks, as far as this rank knows now.
 * Not collective. Errors: MEND_ERR_VERSION (not known), MEND_ERR_ARGUMENT (NULL). */
MEND_API int mend_store_reached(mend_store *store, mend_version_t version, unsigned *levels);

/* ---- restoring ------------------------------------------------------------------------------- */

/* The newest version that every rank can restore, from any level, including parts to fetch from a
 * partner or to rebuild from parity. Finishes background work first. Collective. Agreed.
 * Errors: the common errors, MEND_ERR_NO_VERSION, MEND_ERR_IO (none, and some file or folder could
 * not be read). */
MEND_API int mend_store_newest(mend_store *store, mend_version_t *version);

/* The newest such version that is not larger than `at_most`. Collective. Agreed. Errors: as
 * mend_store_newest(). */
MEND_API int mend_store_newest_until(mend_store *store, mend_version_t at_most,
                                     mend_version_t *version);

/* All such versions, newest first: up to `room` of them into versions[]; *count = how many there
 * are, 0 if none. Collective. Agreed. Errors: the common errors. */
MEND_API int mend_store_versions(mend_store *store, mend_version_t *versions, int room, int *count);

/* Restore every registered region from `version`.
 *
 * Verifies every checksum before it changes the first byte of the application's data. Takes a part
 * that is missing or damaged from another level or another rank, or rebuilds it from parity. Ignores
 * regions in the version that are not registered. If another number of ranks saved the version, it
 * redistributes regions with a global layout. On success it rebuilds lost redundancy in the
 * background.
 *
 * Collective. Agreed; on an error no region of any rank is changed (MEND_ERR_PEER_FAILED excepted).
 * Errors: the common errors, MEND_ERR_NO_VERSION (not every rank can restore it), MEND_ERR_DAMAGED (it
 * looked restorable, but some rank's part is damaged at all levels: mend_store_newest() now names an
 * older one), MEND_ERR_REGION (a registered region is not in the version), MEND_ERR_SIZE (it has
 * another length there: see mend_store_saved_size() and register again), MEND_ERR_RANK_COUNT (another
 * number of ranks, and a region without a global layout is registered). */
MEND_API int mend_store_restore(mend_store *store, mend_version_t version);

/* Restore only the regions `ids`. Collective (each rank may choose its own; count 0: none). Agreed.
 * Errors: as mend_store_restore(). */
MEND_API int mend_store_restore_regions(mend_store *store, mend_version_t version, const int *ids,
                                        int count);

/* Restore the newest version that every rank can restore. If it is damaged, go back to older ones,
 * with an event "store.fallback" for each; *version = the one restored. Collective. Agreed. Errors: as
 * mend_store_restore() (MEND_ERR_DAMAGED: all are damaged); MEND_ERR_IO as mend_store_newest(). */
MEND_API int mend_store_restore_newest(mend_store *store, mend_version_t *version);

/* Restore in parts. begin makes a part of `version` readable for this rank: that of logical rank
 * `rank` (-1: own), fetched, rebuilt and verified as in mend_store_restore(); -2: none, this rank
 * only helps. Another number of ranks may have saved the version. Then use the local calls below;
 * end releases the part.
 * begin is collective and agreed. Errors: the common errors, MEND_ERR_NO_VERSION, MEND_ERR_DAMAGED,
 * MEND_ERR_RANK_COUNT (no such rank in the version). end is not collective. Errors:
 * MEND_ERR_ARGUMENT (NULL). */
MEND_API int mend_store_begin_restore(mend_store *store, mend_version_t version, int rank);
MEND_API int mend_store_end_restore(mend_store *store);

/* The same, but newer versions stay: the next save must be newer than all of them. End it with
 * mend_store_end_restore(). Collective and agreed. Errors: as mend_store_begin_restore(). */
MEND_API int mend_store_begin_look(mend_store *store, mend_version_t version, int rank);

/* The same for this rank's own part, from its own memory or local file, without any other rank. This
 * is not a restore: the next allowed version stays the same. Not collective. Errors:
 * MEND_ERR_NO_VERSION (not here), MEND_ERR_DAMAGED, MEND_ERR_NO_MEMORY, MEND_ERR_ARGUMENT (NULL);
 * from the file also MEND_ERR_NOT_FOUND, MEND_ERR_IO, MEND_ERR_FORMAT, MEND_ERR_TRUNCATED,
 * MEND_ERR_PERMISSION. */
MEND_API int mend_store_begin_restore_own(mend_store *store, mend_version_t version);

/* Inside begin/end: the number of ranks that saved the version, the number of regions in this part,
 * and their ids and lengths by index or by id. Any out pointer may be NULL; label is valid until end.
 * Not collective. Errors: MEND_ERR_STATE (outside begin/end), MEND_ERR_REGION (no such index or id). */
MEND_API int mend_store_saved_ranks(mend_store *store, int *ranks);
MEND_API int mend_store_saved_count(mend_store *store, int *count);
MEND_API int mend_store_saved_region(mend_store *store, int index, int *id, size_t *bytes,
                                     const char **label);
MEND_API int mend_store_saved_size(mend_store *store, int id, size_t *bytes);

/* Inside begin/end: read `count` bytes of saved region `id` from `offset` into `to`. Verifies the
 * checksums again. Not collective. Errors: MEND_ERR_STATE, MEND_ERR_REGION, MEND_ERR_SIZE (beyond
 * the end), MEND_ERR_DAMAGED, MEND_ERR_IO. */
MEND_API int mend_store_read(mend_store *store, int id, size_t offset, void *to, size_t count);

/* ---- housekeeping ---------------------------------------------------------------------------- */

/* Remove every version older than `before` from all levels, except the newest restorable one. A file
 * that cannot be removed causes an event "store.prune" with the error. Collective. Agreed. Errors: as
 * mend_store_newest(), but without any version it returns 0. */
MEND_API int mend_store_prune(mend_store *store, long before);

/* Remove every version from all levels, also those of earlier runs; the next may have any number.
 * Collective. Agreed. Errors: the common errors, MEND_ERR_IO and MEND_ERR_PERMISSION (some file could
 * not be removed). */
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
    double level_seconds[MEND_LEVEL_COUNT]; /* of the last version at each level; 0: none yet */
    double restore_seconds;                 /* of the last restore */
    uint64_t saves_later;                   /* saves whose copy was made on write */
    uint64_t merges;                        /* chains of deltas replaced by full images */
    double cpu_background;                  /* CPU seconds of the background thread for saves */
    uint64_t device_bytes;                  /* of regions in device memory, all saves */
    uint64_t device_moved; /* of these, and of page checksums, the bytes that crossed the bus */
    double device_seconds; /* of the last copy from a device in the background */
} mend_store_stats;

/* Statistics of this rank. Not collective. Errors: MEND_ERR_ARGUMENT (NULL). */
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
