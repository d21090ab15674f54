/* fti.h: the FTI interface on Mend's store. A program written for FTI compiles and runs unchanged.
 *
 * The configuration file is FTI's. These keys have a meaning here: [basic] head (0 only: Mend uses a background thread
 * instead of a dedicated process), node_size, ckpt_dir, glbl_dir, ckpt_l1 to ckpt_l4 (minutes; also fractions),
 * group_size, keep_last_ckpt; [restart] failure, exec_id; [advanced] local_test. As with FTI the library writes
 * failure and exec_id back, so that the next start of a job that died recovers. FTI's other keys are accepted and have
 * no effect.
 *
 * Levels: 1 the node-local file, 2 a copy of it on a partner node, 3 Reed-Solomon parity over a group of nodes, 4 the
 * global file system. A checkpoint has reached its level when the call returns.
 *
 * Better than FTI: Mend verifies every byte before it restores it; the ranks agree on a version that each of them can
 * restore; if the disk is full, the checkpoint fails and the last good one stays.
 *
 * Not supported: HDF5 (groups, datasets, checkpoints in one file, a restart on another number of processes), staging,
 * injected bit flips, attributes, FTI_GetConfig. Calls to these functions do not compile, and the error message says
 * why. In the configuration, head above 0 and failure = 3 are errors, and keep_l4_ckpt, enable_staging and
 * h5_single_file_enable cause a warning.
 *
 * Collective calls are collective over the communicator given to FTI_Init, and their results agreed. All functions
 * return FTI_SCES or FTI_NSCS unless their description says otherwise; mend_error_text() of <mend/error.h> has the
 * reason. When a rank dies inside a call, the survivors get FTI_NSCS (with ULFM), as from any further collective call.
 */
#ifndef MEND_COMPAT_FTI_H
#define MEND_COMPAT_FTI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* FTI's header has these as well, and programs rely on it */
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define FTI_BUFS   256
#define FTI_DONE   1 /* a checkpoint was made */
#define FTI_SCES   0
#define FTI_NSCS   (-1)
#define FTI_NREC   (-2) /* nothing, or not all, could be recovered */

#define FTI_L1     1
#define FTI_L2     2
#define FTI_L3     3
#define FTI_L4     4
#define FTI_L1_DCP 5 /* differential: as 1 and 4, only changed blocks are written */
#define FTI_L2_DCP 6 /* as 2 and 3 */
#define FTI_L3_DCP 7
#define FTI_L4_DCP 8

#define FTI_HEAD   2   /* never returned here: there are no heads */
#define FTI_ENDW   995 /* what programs send to heads at the end */

#define FTI_EROR   4 /* for FTI_Print */
#define FTI_WARN   3
#define FTI_IDCP   5
#define FTI_INFO   2
#define FTI_DBUG   1

typedef int fti_id_t;
typedef fti_id_t FTIT_type;
typedef struct FTIT_H5Group FTIT_H5Group; /* there are none: give NULL */

enum {
    FTI_CHAR,
    FTI_SHRT,
    FTI_INTG,
    FTI_LONG,
    FTI_UCHR,
    FTI_USHT,
    FTI_UINT,
    FTI_ULNG,
    FTI_SFLT,
    FTI_DBLE,
    FTI_LDBE
};

/* The communicator of the application: all processes of the one given to FTI_Init. */
extern MPI_Comm FTI_COMM_WORLD;

/* ---- life time ------------------------------------------------------------------------------- */

/* Read the configuration; find out whether there is a checkpoint to recover. FTI_NREC: there should be one, and none can
 * be recovered; FTI_Status then says 0, and all calls work as in a new start. A further call without FTI_Finalize ends
 * the first as a crash would. Collective over comm. Agreed. */
int FTI_Init(const char *config_file, MPI_Comm comm);
/* 0: a new start; 1: there is a checkpoint to recover; 2: the same, of a job that ended well with keep_last_ckpt.
 * Not collective. */
int FTI_Status(void);
/* The job has ended well. Removes checkpoints; with keep_last_ckpt it keeps the last one at level 4. Collective. */
int FTI_Finalize(void);

/* ---- data ------------------------------------------------------------------------------------ */

/* A type of `size` bytes. Not collective. */
int FTI_InitType(FTIT_type *type, int size);
/* The same for a structure; NULL for `group`. Fields must lie inside it, and mean nothing else here. The type, or
 * FTI_NSCS. Not collective. */
fti_id_t FTI_InitCompositeType(const char *name, size_t size, FTIT_H5Group *group);
int FTI_AddScalarField(fti_id_t type, const char *name, fti_id_t of, size_t offset);
int FTI_AddVectorField(fti_id_t type, const char *name, fti_id_t of, size_t offset, int dimensions,
                       int *sizes);
/* Variable `id`: `count` elements at ptr; a known id is changed. Not collective. */
int FTI_Protect(int id, void *ptr, long count, FTIT_type type);
/* An id for a name: the one that it has, or a free one. Names are kept in the checkpoints. FTI_NSCS: no memory, or no
 * name. Not collective. */
int FTI_setIDFromString(const char *name);
/* The id of a name, also of the run to recover. FTI_NSCS: nobody gave it one. Not collective. */
int FTI_getIDFromString(const char *name);
/* Bytes of variable `id` in the checkpoint to recover, else in the last one; 0: none. Not collective. */
long FTI_GetStoredSize(int id);
/* Make the memory at ptr as large as the checkpoint's variable `id`, and protect it there. NULL if there is no memory
 * or no such variable: then nothing has changed. Not collective. */
void *FTI_Realloc(int id, void *ptr);

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* Save all variables as checkpoint `id` at `level`. FTI_DONE, or FTI_NSCS: the last good one stays. Collective. */
int FTI_Checkpoint(int id, int level);
/* Call it in every step. It recovers if the job died before; otherwise it makes a checkpoint when a level is due by
 * the configured interval. FTI_DONE if it made one, FTI_SCES if not. Collective. */
int FTI_Snapshot(void);
/* A checkpoint in parts: begin; give the variables one by one (each may change again when the call returns, and others
 * are taken as they are at the end); make the checkpoint. With activate = 0 nothing is made. InitICP and AddVarICP are
 * not collective, FinalizeICP is. Each variable is copied: memory for the copies is needed until the end. */
int FTI_InitICP(int id, int level, bool activate);
int FTI_AddVarICP(int id);
int FTI_FinalizeICP(void);
/* Restore the content of all variables from the checkpoint that FTI_Init found: FTI_SCES, or FTI_NREC if one of them has
 * another size there, and nothing has changed. Not collective. After a checkpoint of this run: from that one, and
 * collective. */
int FTI_Recover(void);
/* Restore one variable. FTI_SCES, or FTI_NREC. Not collective. Init opens the checkpoint as FTI_Recover does. */
int FTI_RecoverVar(int id);
int FTI_RecoverVarInit(void);
int FTI_RecoverVarFinalize(void);

/* On rank 0's standard output, from FTI_INFO on. Not collective. */
void FTI_Print(char *message, int priority);

/* ---- not supported --------------------------------------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__)
#define MEND_FTI_REFUSED(what) __attribute__((error(what " is not supported by Mend's fti.h")))
#else
#define MEND_FTI_REFUSED(what) \
    __attribute__((unavailable(what " is not supported by Mend's fti.h")))
#endif
typedef unsigned long long FTIT_hsize_t;
typedef struct FTIT_allConfiguration {
    struct {
        int ioMode;
    } configuration;
} FTIT_allConfiguration;
typedef int FTIT_attributeFlag;
typedef struct FTIT_attribute {
    char name[FTI_BUFS];
    struct {
        int ndims;
        int count[FTI_BUFS];
    } dim;
} FTIT_attribute;
enum { FTI_ATTRIBUTE_NAME = 1, FTI_ATTRIBUTE_DIM = 2 };
enum { FTI_SI_NINI, FTI_SI_PEND, FTI_SI_ACTV, FTI_SI_SCES, FTI_SI_FAIL }; /* for GetStageStatus */
int FTI_SetAttribute(int id, FTIT_attribute attribute, FTIT_attributeFlag flag)
    MEND_FTI_REFUSED("FTI_SetAttribute");
int FTI_BitFlip(int id) MEND_FTI_REFUSED("FTI_BitFlip");
int FTI_SendFile(const char *local, const char *remote) MEND_FTI_REFUSED("FTI_SendFile");
int FTI_GetStageDir(char *folder, int size) MEND_FTI_REFUSED("FTI_GetStageDir");
int FTI_GetStageStatus(int id) MEND_FTI_REFUSED("FTI_GetStageStatus");
int FTI_InitGroup(FTIT_H5Group *group, const char *name, FTIT_H5Group *parent)
    MEND_FTI_REFUSED("FTI_InitGroup");
int FTI_RenameGroup(FTIT_H5Group *group, const char *name) MEND_FTI_REFUSED("FTI_RenameGroup");
int FTI_DefineDataset(int id, int rank, int *sizes, const char *name, FTIT_H5Group *group)
    MEND_FTI_REFUSED("FTI_DefineDataset");
int FTI_DefineGlobalDataset(int id, int rank, FTIT_hsize_t *sizes, const char *name,
                            FTIT_H5Group *group, fti_id_t type)
    MEND_FTI_REFUSED("FTI_DefineGlobalDataset");
int FTI_UpdateGlobalDataset(int id, int rank, FTIT_hsize_t *sizes)
    MEND_FTI_REFUSED("FTI_UpdateGlobalDataset");
int FTI_AddSubset(int id, int rank, FTIT_hsize_t *offset, FTIT_hsize_t *count, int dataset)
    MEND_FTI_REFUSED("FTI_AddSubset");
int FTI_UpdateSubset(int id, int rank, FTIT_hsize_t *offset, FTIT_hsize_t *count, int dataset)
    MEND_FTI_REFUSED("FTI_UpdateSubset");
int FTI_RecoverDatasetDimension(int dataset) MEND_FTI_REFUSED("FTI_RecoverDatasetDimension");
int FTI_GetDatasetRank(int dataset) MEND_FTI_REFUSED("FTI_GetDatasetRank");
FTIT_hsize_t *FTI_GetDatasetSpan(int dataset, int rank) MEND_FTI_REFUSED("FTI_GetDatasetSpan");
FTIT_allConfiguration FTI_GetConfig(const char *config_file, MPI_Comm comm)
    MEND_FTI_REFUSED("FTI_GetConfig");
#undef MEND_FTI_REFUSED

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
