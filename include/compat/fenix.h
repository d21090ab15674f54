/* fenix.h: the interface of Fenix (process recovery and in-memory data for MPI programs), implemented
 * by Mend. A program written for Fenix compiles against this header and links with -lmend.
 *
 * Both forms of Fenix_Init work: the one with spawn and info (nine arguments) and the newer one
 * without (seven). So do both forms of Fenix_get_role. Some functions that Fenix declares but does not implement work
 * here: spawning, ranks by role, roles of other ranks.
 *
 * ERRORS
 * Errors are negative, warnings positive; mend_error_text() (mend/error.h) has the facts. Wrong
 * arguments and calls out of order are errors, never crashes. Every process function may return
 * FENIX_ERROR_UNINITIALIZED (before Fenix_Init or after Fenix_Finalize), FENIX_ERROR_NOCATEGORY (a
 * wrong argument) and FENIX_ERROR_INTERN (no memory, the job was stopped, another thread): these are
 * "the common errors" below.
 *
 * DEATHS
 * If a process dies inside a collective call, Mend repairs the job. In mode JUMP survivors then continue at
 * Fenix_Init; in modes RETURN and THROW the call returns FENIX_ERROR_CANCELLED, with the communicator repaired. Calls
 * that are not collective do not notice a death.
 */
#ifndef MEND_COMPAT_FENIX_H
#define MEND_COMPAT_FENIX_H

#include <mpi.h>
#include <setjmp.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- return codes ---------------------------------------------------------------------------- */

typedef enum {
    FENIX_SUCCESS = 0,
    FENIX_ERROR_UNINITIALIZED = -100,
    FENIX_ERROR_NOCATEGORY = -99,
    FENIX_ERROR_CALLBACK_NOT_REGISTERED = -98,
    FENIX_ERROR_GROUP_CREATE = -97,
    FENIX_ERROR_MEMBER_CREATE = -96,
    FENIX_ERROR_MEMBER_EXISTS = -95,
    FENIX_ERROR_COMMIT_BARRIER = -94,
    FENIX_ERROR_INVALID_GROUPID = -93,
    FENIX_ERROR_INVALID_MEMBERID = -92,
    FENIX_ERROR_INVALID_LOGIC_CALL = -91,
    FENIX_ERROR_INVALID_POLICY_NAME = -90,
    FENIX_ERROR_INVALID_TIMESTAMP = -89,
    FENIX_ERROR_INVALID_TIMESTART = -88,
    FENIX_ERROR_INVALID_DEPTH = -87,
    FENIX_ERROR_INVALID_ATTRIBUTE_NAME = -86,
    FENIX_ERROR_INVALID_ATTRIBUTE_VALUE = -85,
    FENIX_ERROR_INVALID_POSITION = -84,
    FENIX_ERROR_DATA_WAIT = -83,
    FENIX_ERROR_SUBSET_NUM_BLOCKS = -82,
    FENIX_ERROR_SUBSET_START_OFFSET = -81,
    FENIX_ERROR_SUBSET_END_OFFSET = -80,
    FENIX_ERROR_SUBSET_STRIDE = -79,
    FENIX_ERROR_NODATA_FOUND = -78,
    FENIX_ERROR_INTERN = -77,
    FENIX_ERROR_CANCELLED = -76,
    FENIX_ERROR_INVALID_SETTING_NAME = -75,
    FENIX_ERROR_INVALID_SETTING_OPTION = -74,
    FENIX_ERROR_INVALID_MLOGID = -73,
    FENIX_ERROR_MLOG_EXISTS = -72,
    FENIX_WARNING_SPARE_RANKS_DEPLETED = 100,
    FENIX_WARNING_PARTIAL_RESTORE = 101
} Fenix_Return_codes;
/* as older headers spell it */
#define FENIX_ERROR_CALLBACK_NOT_REGISTERD FENIX_ERROR_CALLBACK_NOT_REGISTERED

/* ---- processes ------------------------------------------------------------------------------- */

typedef enum {
    FENIX_ROLE_INITIAL_RANK = 0,
    FENIX_ROLE_RECOVERED_RANK = 1,
    FENIX_ROLE_SURVIVOR_RANK = 2
} Fenix_Rank_role;

typedef enum {
    FENIX_RECOVERY_MODE,
    FENIX_RESUME_MODE,
    FENIX_UNHANDLED_MODE,
    FENIX_CALLBACK_EXCEPTION_MODE,
    FENIX_SETTING_NAME_MAXCODE
} Fenix_Setting_name;

typedef enum {
    FENIX_RECOVERY_IGNORE, /* not supported: Fenix_set_option refuses it */
    FENIX_RECOVERY_NOOP,   /* not supported: Fenix_set_option refuses it */
    FENIX_RECOVERY_REPAIR, /* spares, then shrink (default) */
    FENIX_RECOVERY_SPAWN,  /* spares, then new processes, then shrink */
    FENIX_RECOVERY_MODE_MAXCODE
} Fenix_Recovery_mode;

typedef enum {
    FENIX_RESUME_JUMP,   /* back to Fenix_Init (default) */
    FENIX_RESUME_RETURN, /* the failing MPI call returns its error, after the repair */
    FENIX_RESUME_THROW,  /* C++: the failing MPI call throws fenix::CommException */
    FENIX_RESUME_MODE_MAXCODE
} Fenix_Resume_mode;

typedef enum {
    FENIX_UNHANDLED_SILENT,
    FENIX_UNHANDLED_PRINT,
    FENIX_UNHANDLED_ABORT, /* (default) */
    FENIX_UNHANDLED_MODE_MAXCODE
} Fenix_Unhandled_mode;

typedef enum {
    FENIX_CALLBACK_EXCEPTION_RETHROW,
    FENIX_CALLBACK_EXCEPTION_SQUASH, /* not supported: Fenix_set_option refuses it */
    FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE
} Fenix_Callback_exception_mode;

/* void Fenix_Init(int *role, MPI_Comm comm, MPI_Comm *newcomm, int *argc, char ***argv,
 *                 int spare_ranks, [int spawn, MPI_Info info,] int *error)
 *
 * Sets *newcomm to the resilient communicator and marks the place that survivors come back to. Every
 * recovery sets *role, *newcomm and *error again, so they must live as long as the calling function.
 * Spares wait here; those that are never needed call MPI_Finalize and exit(0) when the others have
 * finished. argc and argv are not used. info: key FENIX_RESUME_MODE (Fenix_init or JUMP; NO_JUMP or
 * RETURN; THROW), key FENIX_UNHANDLED_MODE (SILENT, PRINT, ABORT); they override Fenix_set_option.
 *
 * Collective over comm. Agreed. A process that dies inside the call is a failure to repair: the call
 * ends with those that are left.
 * Errors, in *error (then *newcomm is MPI_COMM_NULL): FENIX_ERROR_NOCATEGORY (a wrong argument,
 * options that differ), FENIX_ERROR_INVALID_SETTING_OPTION (an unknown info value),
 * FENIX_ERROR_INVALID_LOGIC_CALL (called twice, or MPI is not running), FENIX_ERROR_INTERN (no ULFM,
 * too few processes, no memory). Warning: FENIX_WARNING_SPARE_RANKS_DEPLETED after the communicator
 * had to shrink. */
#define Fenix_Init(...)                                                                          \
    MEND_FENIX_INIT_FORM(__VA_ARGS__, MEND_FENIX_INIT_9, MEND_FENIX_INIT_BAD, MEND_FENIX_INIT_7, \
                         MEND_FENIX_INIT_BAD, MEND_FENIX_INIT_BAD, MEND_FENIX_INIT_BAD,          \
                         MEND_FENIX_INIT_BAD, MEND_FENIX_INIT_BAD, MEND_FENIX_INIT_BAD)          \
    (__VA_ARGS__)
#define MEND_FENIX_INIT_FORM(a, b, c, d, e, f, g, h, i, form, ...) form
#define MEND_FENIX_INIT_BAD(...)                                   Fenix_Init_takes_seven_or_nine_arguments
#define MEND_FENIX_INIT_7(role, comm, newcomm, argc, argv, spares, error) \
    MEND_FENIX_INIT_9(role, comm, newcomm, argc, argv, spares, -1, MPI_INFO_NULL, error)
#define MEND_FENIX_INIT_9(role, comm, newcomm, argc, argv, spares, spawn, info, error)      \
    do {                                                                                    \
        (void)(argc);                                                                       \
        (void)(argv);                                                                       \
        __fenix_preinit(role, comm, newcomm, spares, spawn, info, error, MEND_FENIX_THROW); \
        (void)_setjmp(*__fenix_jump_buffer());                                              \
        __fenix_postinit();                                                                 \
    } while (0)
/* For the macro: as the macro, but the buffer is not collective. */
void __fenix_preinit(int *role, MPI_Comm comm, MPI_Comm *newcomm, int spares, int spawn,
                     MPI_Info info, int *error, void (*thrower)(MPI_Comm, int));
jmp_buf *__fenix_jump_buffer(void);
void __fenix_postinit(void);

/* Between Fenix_Init and Fenix_Finalize *flag is 1, else 0. Not collective. Errors:
 * FENIX_ERROR_NOCATEGORY (NULL). */
int Fenix_Initialized(int *flag);
/* 1 after Fenix_Finalize. Not collective. Errors: FENIX_ERROR_NOCATEGORY (NULL). */
int Fenix_Finalized(int *flag);

/* Settings hold for this Fenix_Init and later ones. Not collective, but must be the same
 * everywhere. Errors: FENIX_ERROR_INVALID_SETTING_NAME, FENIX_ERROR_INVALID_SETTING_OPTION,
 * FENIX_ERROR_NOCATEGORY (NULL). */
int Fenix_set_option(Fenix_Setting_name setting, unsigned option);
int Fenix_get_option(Fenix_Setting_name setting, unsigned *option);

/* Callbacks run after every recovery, newest first, before work resumes, on every rank that registered
 * them: with the new communicator, the MPI error code that reported the failure, and callback_data.
 * Not collective. Errors: the common errors; FENIX_ERROR_CALLBACK_NOT_REGISTERED (nothing to pop). */
int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void *), void *callback_data);
int Fenix_Callback_pop(void);
/* Run them now, with the facts of the last recovery. Collective if the callbacks are. If a process dies in the
 * meantime, Mend repairs the job and runs them again. Errors: the common errors, FENIX_ERROR_INVALID_LOGIC_CALL (not
 * at work). */
int Fenix_Callback_invoke_all(void);

/* MPI_SUCCESS, or MPI_ERR_PROC_FAILED if this process knows of a failure. With do_recovery the call
 * repairs the job; in mode JUMP it then does not return. Not collective and not agreed; a repair is
 * both. Errors: the common errors, FENIX_ERROR_INVALID_LOGIC_CALL (not at work). */
int Fenix_Process_detect_failures(int do_recovery);

/* The ranks that failed last: their number (or a negative code), and the list, owned by the library
 * and valid until the next recovery. Not collective; the same on all ranks. Errors: the common
 * errors. */
int Fenix_Process_fail_list(int **fail_list);

/* A request from before the recovery: 0 if it completed, else 1. *request is MPI_REQUEST_NULL
 * afterwards. Not collective; waits a second at most. Errors: the common errors. */
int Fenix_check_cancelled(MPI_Request *request, MPI_Status *status);

/* Roles. Fenix_get_role() is this process's own, Fenix_get_role(comm, rank, &role) that of any rank of
 * the resilient communicator. Not collective; the same answers on all ranks. Errors: the common
 * errors. */
int Fenix_get_number_of_ranks_with_role(int role, int *number_of_ranks);
int Fenix_get_rank_role(MPI_Comm comm, int rank, int *role);
Fenix_Rank_role Fenix_get_own_role(void);
#define Fenix_get_role(...)                                                                       \
    MEND_FENIX_ROLE_FORM(__VA_ARGS__, Fenix_get_rank_role, MEND_FENIX_ROLE_BAD, MEND_FENIX_OWN, ) \
    (__VA_ARGS__)
#define MEND_FENIX_ROLE_FORM(a, b, c, form, ...) form
#define MEND_FENIX_ROLE_BAD(...)                 Fenix_get_role_takes_none_or_three_arguments
#define MEND_FENIX_OWN(...)                      Fenix_get_own_role()

/* The last value of Fenix_Init's *error; the number of spares left. Not collective. Errors:
 * FENIX_ERROR_UNINITIALIZED. */
int Fenix_get_error(void);
int Fenix_get_nspare(void);

/* The end of the work. Collective over the active ranks. Agreed. If a process dies before all have called it, Mend
 * repairs the job: in mode JUMP the call does not return, otherwise it returns FENIX_ERROR_CANCELLED and Fenix stays
 * active. Errors: FENIX_ERROR_CANCELLED, the common errors. */
int Fenix_Finalize(void);

/* ---- data ------------------------------------------------------------------------------------ */

#define FENIX_DATA_GROUP_WORLD_ID            10
#define FENIX_GROUP_ID_MAX                   11
#define FENIX_MEMBER_ID_MAX                  (1 << 30)
#define FENIX_TIME_STAMP_MAX                 (1 << 30)
#define FENIX_DATA_MEMBER_ALL                (-1)
#define FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER   11
#define FENIX_DATA_MEMBER_ATTRIBUTE_COUNT    12
#define FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE 13
#define FENIX_DATA_MEMBER_ATTRIBUTE_SIZE     14
#define FENIX_DATA_SNAPSHOT_LATEST           (-1)
#define FENIX_DATA_SNAPSHOT_ALL              (-2)
#define FENIX_RESIZEABLE                     0
#define FENIX_DATA_SUBSET_CREATED            2
#define FENIX_DATA_POLICY_IN_MEMORY_RAID     13
#define FENIX_DATA_POLICY_IMR                FENIX_DATA_POLICY_IN_MEMORY_RAID
#define FENIX_TIME_STAMP_IGNORE              NULL

typedef struct {
    MPI_Request mpi_send_req;
    MPI_Request mpi_recv_req;
} Fenix_Request;

/* A set of elements of a member; made by Fenix_Data_subset_create(v), or one of the constants. */
typedef struct {
    void *impl;
} Fenix_Data_subset;

extern const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
extern const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY;
extern const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED;
extern Fenix_Data_subset *FENIX_DATA_SUBSET_IGNORE;

/* Groups, members, storing and restoring. See docs/guide/compat.md for what the policies mean.
 * Every function that takes a group may return FENIX_ERROR_INVALID_GROUPID, every function that takes
 * a member FENIX_ERROR_INVALID_MEMBERID. "Collective" is over the group's communicator. */

/* Create a group, or bind it again after a repair. Collective. Agreed; wrong arguments are not, and
 * must be wrong everywhere. *flag gets FENIX_SUCCESS or FENIX_ERROR_GROUP_CREATE. Errors:
 * FENIX_ERROR_UNINITIALIZED, FENIX_ERROR_INVALID_TIMESTART, FENIX_ERROR_INVALID_DEPTH,
 * FENIX_ERROR_INVALID_POLICY_NAME, FENIX_ERROR_GROUP_CREATE, FENIX_ERROR_CANCELLED. */
int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth,
                            int policy_name, void *policy_value, int *flag);
/* 1 if this process has the group, else 0. Not collective. No errors. */
int Fenix_Data_group_created(int group_id);
/* Add a member; after a repair, give a replacement's member its buffer. Not collective, but all ranks
 * create the same members. Errors: FENIX_ERROR_MEMBER_CREATE, FENIX_ERROR_MEMBER_EXISTS. */
int Fenix_Data_member_create(int group_id, int member_id, void *buffer, int count,
                             MPI_Datatype datatype);
/* 1 if this process has the member, else 0. Not collective. No errors. */
int Fenix_Data_member_created(int group_id, int member_id);
/* The group's policy; *flag = 1 if policy_value was given. Not collective. */
int Fenix_Data_group_get_redundancy_policy(int group_id, int *policy_name, void *policy_value,
                                           int *flag);
/* Stores complete at once, so there is nothing to wait for. Not collective. Errors:
 * FENIX_ERROR_DATA_WAIT (not a request of istore). */
int Fenix_Data_wait(Fenix_Request request);
int Fenix_Data_test(Fenix_Request request, int *flag);
/* Copy the subset of a member (FENIX_DATA_MEMBER_ALL: of all) for the next commit. Not collective: the commit makes it
 * redundant. Errors: FENIX_ERROR_SUBSET_END_OFFSET (beyond the member, no buffer, or no memory),
 * FENIX_ERROR_INVALID_LOGIC_CALL (prestaged data in stage; NULL). */
int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request *request);
int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request *request);
/* Make the stored data a snapshot, on all ranks or on none; both functions do the same. Collective. Agreed.
 * Errors: FENIX_ERROR_CANCELLED (a process died; there is no such snapshot),
 * FENIX_ERROR_INVALID_LOGIC_CALL (create the group again after a repair), FENIX_ERROR_INTERN or, from
 * commit_barrier, FENIX_ERROR_COMMIT_BARRIER (it could not be saved). */
int Fenix_Data_commit(int group_id, int *time_stamp);
int Fenix_Data_commit_barrier(int group_id, int *time_stamp);
/* Collective. Agreed. Errors: FENIX_ERROR_CANCELLED. */
int Fenix_Data_barrier(int group_id);
/* Restore up to max_count elements of a member; *found_data (may be FENIX_DATA_SUBSET_IGNORE) gets those
 * found. restore and restore_from_rank are collective; whether the snapshot exists is agreed, the
 * elements found are this rank's. lrestore is not collective: it uses only this rank's own data.
 * Errors: FENIX_ERROR_NODATA_FOUND, FENIX_ERROR_INVALID_LOGIC_CALL (NULL, a wrong rank, or create the
 * group again after a repair), FENIX_ERROR_CANCELLED. Warning: FENIX_WARNING_PARTIAL_RESTORE. */
int Fenix_Data_member_restore(int group_id, int member_id, void *target_buffer, int max_count,
                              int time_stamp, Fenix_Data_subset *found_data);
int Fenix_Data_member_lrestore(int group_id, int member_id, void *target_buffer, int max_count,
                               int time_stamp, Fenix_Data_subset *found_data);
int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void *data, int max_count,
                                        int time_stamp, Fenix_Data_subset *found_data,
                                        int source_rank);
/* Subsets. Not collective. Errors: FENIX_ERROR_SUBSET_NUM_BLOCKS, FENIX_ERROR_SUBSET_START_OFFSET,
 * FENIX_ERROR_SUBSET_END_OFFSET, FENIX_ERROR_SUBSET_STRIDE, FENIX_ERROR_INVALID_LOGIC_CALL (NULL),
 * FENIX_ERROR_INTERN (no memory). */
int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset *subset_specifier);
int Fenix_Data_subset_createv(int num_blocks, int *array_start_offsets, int *array_end_offsets,
                              Fenix_Data_subset *subset_specifier);
int Fenix_Data_subset_delete(Fenix_Data_subset *subset_specifier);
/* Contents of a group, newest snapshot first. Not collective. Errors: FENIX_ERROR_INVALID_LOGIC_CALL
 * (NULL), FENIX_ERROR_INVALID_POSITION. */
int Fenix_Data_group_get_number_of_members(int group_id, int *number_of_members);
int Fenix_Data_group_get_member_at_position(int group_id, int *member_id, int position);
int Fenix_Data_group_get_number_of_snapshots(int group_id, int *number_of_snapshots);
int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int *time_stamp);
/* Attributes of a member; *flag = 1 if the value is known or was set. Only the buffer can change after
 * the first store. Not collective; source_rank is not used. Errors:
 * FENIX_ERROR_INVALID_ATTRIBUTE_NAME, FENIX_ERROR_INVALID_ATTRIBUTE_VALUE. */
int Fenix_Data_member_attr_get(int group_id, int member_id, int attribute_name,
                               void *attribute_value, int *flag, int source_rank);
int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name,
                               void *attribute_value, int *flag);
/* Forget a snapshot: this rank does not offer it any more. Not collective. Errors: FENIX_ERROR_INVALID_TIMESTAMP. */
int Fenix_Data_snapshot_delete(int group_id, int time_stamp);
/* Delete a group with its snapshots. Collective while all ranks live. */
int Fenix_Data_group_delete(int group_id);
/* Delete a member. Not collective, but all ranks do. */
int Fenix_Data_member_delete(int group_id, int member_id);

/* ---- message logs: not supported ------------------------------------------------------------- */

/* Not collective. Every call returns FENIX_ERROR_INTERN, with a message that names the call. */

#define FENIX_MLOG_NONE     (-1)
#define FENIX_MLOG_CONTINUE (-1)
int Fenix_Mlog_create(int mlog_id, MPI_Comm *comm, int depth);
int Fenix_Mlog_activate(int mlog_id);
int Fenix_Mlog_begin_region(int mlog_id, int region_id);
int Fenix_Mlog_sync(int mlog_id, int region_id);
int Fenix_Mlog_stage(int mlog_id, int group_id, int member_id);
int Fenix_Mlog_lrestore(int mlog_id, int group_id, int member_id, int time_stamp);
int Fenix_Mlog_delete(int mlog_id);

#ifdef __cplusplus
} /* extern "C" */

#include <exception>
namespace fenix
{
struct CommException : public std::exception {
    MPI_Comm repaired_comm;
    const int fenix_err;
    CommException(MPI_Comm comm, int err) : repaired_comm(comm), fenix_err(err)
    {
    }
    const char *what() const noexcept override
    {
        return "a process of the resilient communicator has failed";
    }
};
inline void mend_throw(MPI_Comm comm, int err)
{
    throw CommException(comm, err);
}
} /* namespace fenix */
#define MEND_FENIX_THROW (&fenix::mend_throw)
#else
#define MEND_FENIX_THROW NULL
#endif

#endif
