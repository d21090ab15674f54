/* scr.h: the SCR interface (version 3) on Mend's store. A program written for SCR compiles and runs unchanged.
 *
 * A dataset is a set of files that the ranks write at paths given by SCR_Route_file: in node-local storage. When a
 * checkpoint is complete, the content of its files is a version of the store, with the redundancy of SCR_COPY_TYPE;
 * every SCR_FLUSH-th also goes to the shared file system, into PREFIX/.scr-mend. The files of datasets with
 * SCR_FLAG_OUTPUT appear under their own names below the prefix, and so do those of the last checkpoint at
 * SCR_Finalize. When the job is launched again, on the same or on other nodes, Mend offers it the newest checkpoint
 * that every rank can restore.
 *
 * Parameters come, as with SCR, from the environment, then from SCR_Config, then from the file SCR_CONF_FILE. These
 * have a meaning here: SCR_PREFIX, SCR_CACHE_BASE (%d stands for the node), SCR_CACHE_SIZE, SCR_COPY_TYPE (SINGLE,
 * PARTNER, XOR, RS), SCR_SET_SIZE, SCR_SET_FAILURES, SCR_FLUSH, SCR_PREFIX_SIZE, SCR_CURRENT, SCR_JOB_NAME,
 * SCR_CHECKPOINT_INTERVAL, SCR_CHECKPOINT_SECONDS, SCR_CHECKPOINT_OVERHEAD, SCR_HALT_SECONDS, SCR_HALT_ENABLED,
 * SCR_END_TIME, SCR_ENABLE. Other SCR_ parameters are accepted and have no effect; a warning names each once. SCR_Init
 * fails on lists of stores, groups and checkpoint descriptors (STORE=, GROUP=, CKPT=, NODE=) and names them. With
 * SCR_ENABLE=0 SCR_Init and all other calls fail, as with SCR.
 *
 * Better than SCR: Mend verifies every byte before it restores it; the ranks agree on a checkpoint that each of them
 * can restore; if the disk is full, the checkpoint fails and the last good one stays; the library never exits.
 *
 * Collective calls are collective over MPI_COMM_WORLD, and their results agreed. Functions return SCR_SUCCESS or
 * SCR_FAILURE unless their description says otherwise; mend_error_text() of <mend/error.h> has the reason. When a rank
 * dies inside a call, the survivors get SCR_FAILURE (with ULFM), as from any further collective call.
 */
#ifndef MEND_COMPAT_SCR_H
#define MEND_COMPAT_SCR_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define SCR_MAJOR_VERSION   "3"
#define SCR_MINOR_VERSION   "1"
#define SCR_PATCH_VERSION   "0"
#define SCR_VERSION         "v3.1.0"

#define SCR_SUCCESS         (0)
#define SCR_FAILURE         (!SCR_SUCCESS)
#define SCR_MAX_FILENAME    1024

#define SCR_FLAG_NONE       (0)
#define SCR_FLAG_CHECKPOINT (1 << 0) /* the job can be restarted from this dataset */
#define SCR_FLAG_OUTPUT     (1 << 1) /* its files must appear below the prefix */

/* ---- life time ------------------------------------------------------------------------------- */

/* After MPI_Init. Collective. Agreed. */
int SCR_Init(void);
/* Write the last checkpoint to the shared file system and end the library. Checkpoints stay. Collective. Agreed. */
int SCR_Finalize(void);
/* The version of the interface. Not collective. */
char *SCR_Get_version(void);
/* "KEY=VALUE" sets a parameter and returns the value, which stays the library's; "KEY=" removes it and returns NULL
 * (both before SCR_Init); "KEY" gives its value in memory that the caller frees, or NULL. NULL also on an error, as for a
 * part of a descriptor ("STORE=/tmp GROUP"). Not collective; all ranks give the same. */
const char *SCR_Config(const char *config_string);
const char *SCR_Configf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- files ----------------------------------------------------------------------------------- */

/* The path at which the program writes (inside an output) or finds (inside a restart) the file that it calls `name`:
 * a path below the prefix. `file` has SCR_MAX_FILENAME bytes. Inside a restart it fails if the checkpoint has no such
 * file of this rank; there a name without a folder also means the only file of that name. Outside both, `file` is
 * `name`. Not collective. */
int SCR_Route_file(const char *name, char *file);

/* ---- restart --------------------------------------------------------------------------------- */

/* Is there a checkpoint to restart from? If there is, *flag is 1 and `name` (SCR_MAX_FILENAME bytes, or NULL) its
 * name. Collective. Agreed. */
int SCR_Have_restart(int *flag, char *name);
/* Fetch, rebuild and verify that checkpoint. Collective. Agreed. */
int SCR_Start_restart(char *name);
/* Did every rank read its files? If not, the call fails, and SCR_Have_restart offers an older checkpoint.
 * Collective. Agreed. */
int SCR_Complete_restart(int valid);

/* ---- output ---------------------------------------------------------------------------------- */

/* *flag is 1 if a checkpoint is due by SCR_CHECKPOINT_INTERVAL, _SECONDS or _OVERHEAD, or if none of them is set. Rank
 * 0 decides. Collective. Agreed. */
int SCR_Need_checkpoint(int *flag);
/* Begin a dataset. Names are unique and have no slash; a name that is used again replaces the dataset; NULL: the library
 * makes one up. Collective. Agreed. */
int SCR_Start_output(const char *name, int flags);
/* End the dataset. It exists only if `valid` is set on every rank. Collective. Agreed. */
int SCR_Complete_output(int valid);
/* The same, for a checkpoint whose name the library makes up. */
int SCR_Start_checkpoint(void);
int SCR_Complete_checkpoint(int valid);

/* ---- datasets -------------------------------------------------------------------------------- */

/* *flag is 1 when the job should end: less than SCR_HALT_SECONDS are left until SCR_END_TIME (or the end of the batch
 * job), or the file PREFIX/.scr-mend/halt exists. Rank 0 decides. Collective. Agreed. */
int SCR_Should_exit(int *flag);
/* Restart from dataset `name`, or, if the program has already read it, continue from it: newer datasets are no longer
 * valid. Collective. Agreed. */
int SCR_Current(const char *name);
/* Do not offer the checkpoint `name` again; its files stay. Collective. Agreed. */
int SCR_Drop(const char *name);
/* The same, and remove the files of this dataset below the prefix. Collective. Agreed. */
int SCR_Delete(const char *name);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
