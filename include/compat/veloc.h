/* veloc.h: the VeloC C interface on Mend's store. A program written for VeloC compiles and runs
 * unchanged, without a back-end process.
 *
 * The configuration file is VeloC's: scratch (node-local folder), persistent (shared folder), mode
 * (sync or async), and optionally max_versions, scratch_versions, ec_interval, persistent_interval
 * (seconds; 0: every checkpoint, negative: never), failure_domain. VeloC's other keys have no
 * effect: checksums are always on, transfers need no extra library.
 *
 * Deliberate differences: Mend verifies checksums before it restores anything; VELOC_Restart_test
 * names a version that *every* rank can restore; VELOC_Restart_begin rebuilds a lost or damaged part;
 * a restart on fewer or more ranks is an error; if the disk is full, the checkpoint fails and the
 * last good one stays.
 *
 * ERRORS. All functions return VELOC_SUCCESS or VELOC_FAILURE unless they say otherwise.
 * mend_error_text() of <mend/error.h> has the reason, for example that VELOC_Init was not called, an
 * argument is wrong, there is no memory or a file could not be written.
 *
 * Collective calls are collective over the communicator given to VELOC_Init. Their results are agreed,
 * except that a call out of order or with a wrong argument fails at once on the calling rank. If a
 * peer dies inside, each survivor gets VELOC_FAILURE (MPI's own handling of a death permitting), and
 * no version is half visible. With VELOC_Init_single nothing is collective.
 */
#ifndef MEND_COMPAT_VELOC_H
#define MEND_COMPAT_VELOC_H

#include <mpi.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define VELOC_SUCCESS          (0)
#define VELOC_FAILURE          (-1)

#define VELOC_MAX_NAME         (1024)

#define VELOC_RECOVER_ALL      (0)
#define VELOC_RECOVER_SOME     (1)
#define VELOC_RECOVER_REST     (2)

#define VELOC_CKPT_ALL         (0)
#define VELOC_CKPT_SOME        (1)
#define VELOC_CKPT_REST        (2)

#define VELOC_OBSERVE_CKPT_END (0)

/* ---- life time ------------------------------------------------------------------------------- */

/* Collective mode: a checkpoint has the parts of all ranks of `comm`. Asynchronous saving needs
 * MPI_THREAD_MULTIPLE; with less, VELOC_Checkpoint_end does it. Collective. Agreed. Fails if it was
 * called before, or if any rank cannot read the configuration. */
int VELOC_Init(MPI_Comm comm, const char *cfg_file);
/* Single mode: this process saves and restarts on its own, under the number `id`. Not collective. */
int VELOC_Init_single(unsigned int id, const char *cfg_file);
/* Finish the background work and end the library. With `drain`, return the result of that work.
 * Collective while all ranks live; the result is this rank's. */
int VELOC_Finalize(int drain);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Region `id`: `count` elements of `base_size` bytes; a known id is replaced. Not collective. */
int VELOC_Mem_protect(int id, void *ptr, size_t count, size_t base_size);
int VELOC_Mem_unprotect(int id);
int VELOC_Mem_clear(void);

/* The same for regions that belong only to checkpoints called `name`; they take precedence over those
 * of VELOC_Mem_protect with the same id. Not collective. */
int VELOC_Region_protect(int id, void *ptr, size_t count, size_t base_size, const char *name);
int VELOC_Region_unprotect(int id, const char *name);
int VELOC_Region_clear(const char *name);

/* ---- files ----------------------------------------------------------------------------------- */

/* Between begin and end: the path, in scratch, at which the program must write (checkpoint) or finds
 * (restart) the file that it calls `original`; the only file of a checkpoint is found under any name.
 * `routed` has VELOC_MAX_NAME bytes. The file's content at VELOC_Checkpoint_end becomes part of the
 * checkpoint. Not collective. */
int VELOC_Route_file(const char *original, char *routed);

/* ---- checkpoint ------------------------------------------------------------------------------ */

/* Begin a checkpoint. Names hold letters, digits, '_', '-' and '.'; versions are not negative and
 * grow. Collective. */
int VELOC_Checkpoint_begin(const char *name, int version);
/* Copy the chosen regions; they may change afterwards. Not collective. */
int VELOC_Checkpoint_mem(void);
int VELOC_Checkpoint_selective(int mode, int *ids, int id_count);
/* Save the checkpoint. The version exists only if `success` is set on every rank. Collective.
 * Agreed. */
int VELOC_Checkpoint_end(int success);
/* Wait for the background work and return its result. Collective. Agreed. */
int VELOC_Checkpoint_wait(void);
/* VELOC_SUCCESS when this rank has no more background work, else VELOC_FAILURE. Not collective. */
int VELOC_Checkpoint_finished(void);
/* 1 when this rank has no background work, 0 otherwise, VELOC_FAILURE before VELOC_Init. Not
 * collective. */
int VELOC_Backend_ready(void);
/* wait, begin, mem and end in one call, with one copy less. Collective. Agreed. */
int VELOC_Checkpoint(const char *name, int version);
/* Remove every version of `name`. Collective. Agreed. */
int VELOC_Cleanup(const char *name);

/* ---- restart --------------------------------------------------------------------------------- */

/* The newest version below `version` (0: any) that all ranks can restore, or VELOC_FAILURE.
 * Collective. Agreed. */
int VELOC_Restart_test(const char *name, int version);
/* Fetch, rebuild and verify this rank's part. Collective. Agreed. */
int VELOC_Restart_begin(const char *name, int version);
/* Between begin and end: restore the regions. If a region is larger than its saved data, the rest
 * stays as it is. If it is smaller or was not saved, the call fails and changes nothing. Not
 * collective. */
int VELOC_Recover_mem(void);
int VELOC_Recover_selective(int mode, int *ids, int id_count);
/* Between begin and end: the bytes saved under `id`, or -1 (also if they exceed an int). Not
 * collective. */
int VELOC_Recover_size(int id);
/* End the restart. It fails on all ranks unless `success` is set on all. Collective. Agreed. */
int VELOC_Restart_end(int success);
/* begin, Recover_mem and end in one call. Collective. Agreed. */
int VELOC_Restart(const char *name, int version);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
