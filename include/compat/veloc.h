/* veloc.h: the VeloC C interface on Mend's store. A program written for VeloC compiles and runs
 * unchanged; no back-end process has to be started.
 *
 * The configuration file is VeloC's: scratch (node-local folder), persistent (shared folder), mode
 * (sync or async), and optionally max_versions, scratch_versions, ec_interval, persistent_interval
 * (seconds; 0: every checkpoint, negative: never), failure_domain. Other keys of VeloC's are read
 * and have no effect: checksums are always on, transfers need no helper library.
 *
 * What is better than the promise: checkpoints carry checksums that are verified before anything is
 * restored; VELOC_Restart_test names a version that *every* rank can restore; a lost or damaged
 * part is rebuilt inside VELOC_Restart_begin; fewer or more ranks than written is an error, not
 * silence; a full disk fails the checkpoint and leaves the last good one.
 *
 * All functions return VELOC_SUCCESS or VELOC_FAILURE unless said otherwise; mend_error_text() of
 * <mend/error.h> has the reason. Collective calls are collective over the communicator given to
 * VELOC_Init, and their results agreed; with VELOC_Init_single nothing is collective.
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

/* Collective mode: checkpoints are made of the parts of all ranks of `comm`. Collective.
 * Asynchronous saving needs MPI_THREAD_MULTIPLE; with less it is done inside VELOC_Checkpoint_end.
 */
int VELOC_Init(MPI_Comm comm, const char *cfg_file);
/* Single mode: this process saves and restarts on its own, under the number `id`. */
int VELOC_Init_single(unsigned int id, const char *cfg_file);
/* Ends the library; what is under way is finished first. With `drain` its result is returned. */
int VELOC_Finalize(int drain);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Local. Region `id`: `count` elements of `base_size` bytes; a known id is replaced. */
int VELOC_Mem_protect(int id, void *ptr, size_t count, size_t base_size);
int VELOC_Mem_unprotect(int id);
int VELOC_Mem_clear(void);

/* The same for regions that belong to checkpoints called `name` only; they come before those of
 * VELOC_Mem_protect with the same id. */
int VELOC_Region_protect(int id, void *ptr, size_t count, size_t base_size, const char *name);
int VELOC_Region_unprotect(int id, const char *name);
int VELOC_Region_clear(const char *name);

/* ---- files ----------------------------------------------------------------------------------- */

/* Local, between begin and end. The path, in scratch, at which the program shall write (checkpoint)
 * or finds (restart) the file that it calls `original`. `routed` has VELOC_MAX_NAME bytes. The
 * file's content at VELOC_Checkpoint_end becomes part of the checkpoint. */
int VELOC_Route_file(const char *original, char *routed);

/* ---- checkpoint ------------------------------------------------------------------------------ */

/* Collective. Names hold letters, digits, '_', '-' and '.'; versions are not negative and grow. */
int VELOC_Checkpoint_begin(const char *name, int version);
/* Local. Takes a copy of the chosen regions: they may change afterwards. */
int VELOC_Checkpoint_mem(void);
int VELOC_Checkpoint_selective(int mode, int *ids, int id_count);
/* Collective. Without success on every rank there is no such version. */
int VELOC_Checkpoint_end(int success);
/* Collective. Waits for what is in the background and returns its result. */
int VELOC_Checkpoint_wait(void);
/* Local. VELOC_SUCCESS when nothing of this rank is under way any more, else VELOC_FAILURE. */
int VELOC_Checkpoint_finished(void);
/* Local. 1 when nothing is under way, 0 otherwise, VELOC_FAILURE before VELOC_Init. */
int VELOC_Backend_ready(void);
/* wait, begin, mem and end in one, with one copy less. Collective. */
int VELOC_Checkpoint(const char *name, int version);
/* Collective. Removes every version of `name`. */
int VELOC_Cleanup(const char *name);

/* ---- restart --------------------------------------------------------------------------------- */

/* Collective. The newest version below `version` (0: any) that all ranks can restore, or
 * VELOC_FAILURE. */
int VELOC_Restart_test(const char *name, int version);
/* Collective. Fetches, rebuilds and verifies this rank's part. */
int VELOC_Restart_begin(const char *name, int version);
/* Local, between begin and end. A region that is larger than what was saved is filled as far as it
 * goes; one that is smaller, or was not saved, is a failure and nothing is changed. */
int VELOC_Recover_mem(void);
int VELOC_Recover_selective(int mode, int *ids, int id_count);
/* Local, between begin and end. Bytes saved under `id`, or -1 (also if they exceed an int). */
int VELOC_Recover_size(int id);
/* Collective. */
int VELOC_Restart_end(int success);
/* begin, Recover_mem and end in one. Collective. */
int VELOC_Restart(const char *name, int version);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
