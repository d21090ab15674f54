/* fenix.h: the interface of Fenix (process recovery and in-memory data for MPI programs), carried
 * out by Mend. A program written for Fenix compiles against this header and links with -lmend.
 *
 * Both forms of Fenix_Init are understood: the one with spawn and info (nine arguments) and the
 * newer one without (seven); and both of Fenix_get_role. What Fenix declares and does not do is
 * done here: spawning, ranks by role, roles of other ranks.
 *
 * Errors are negative, warnings positive; mend_error_text() (mend/error.h) has the facts. Wrong
 * arguments and calls out of order are errors, never crashes.
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
    FENIX_RECOVERY_IGNORE, /* not supported: Fenix_set_option says so */
    FENIX_RECOVERY_NOOP,   /* not supported: Fenix_set_option says so */
    FENIX_RECOVERY_REPAIR, /* spares, then shrink (default) */
    FENIX_RECOVERY_SPAWN,  /* spares, then new processes, then shrink */
    FENIX_RECOVERY_MODE_MAXCODE
} Fenix_Recovery_mode;

typedef enum {
    FENIX_RESUME_JUMP,   /* back to Fenix_Init (default) */
    FENIX_RESUME_RETURN, /* the failing MPI call returns its error, everything is repaired */
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
    FENIX_CALLBACK_EXCEPTION_SQUASH, /* not supported: Fenix_set_option says so */
    FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE
} Fenix_Callback_exception_mode;

/* void Fenix_Init(int *role, MPI_Comm comm, MPI_Comm *newcomm, int *argc, char ***argv,
 *                 int spare_ranks, [int spawn, MPI_Info info,] int *error)
 *
 * Collective over comm. Sets *newcomm to the resilient communicator and marks the place that
 * survivors come back to; *role, *newcomm and *error are set again after every recovery, so they
 * must live as long as the calling function. Spares wait here; those that are never needed call
 * MPI_Finalize and exit(0) when the others have finished. argc and argv are not used. info: key
 * FENIX_RESUME_MODE (Fenix_init or JUMP; NO_JUMP or RETURN; THROW), key FENIX_UNHANDLED_MODE
 * (SILENT, PRINT, ABORT); they override Fenix_set_option. *error: FENIX_SUCCESS;
 * FENIX_WARNING_SPARE_RANKS_DEPLETED after the communicator had to shrink; an error code, then
 * *newcomm is MPI_COMM_NULL. */
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
void __fenix_preinit(int *role, MPI_Comm comm, MPI_Comm *newcomm, int spares, int spawn,
                     MPI_Info info, int *error, void (*thrower)(MPI_Comm, int));
jmp_buf *__fenix_jump_buffer(void);
void __fenix_postinit(void);

/* Between Fenix_Init and Fenix_Finalize *flag is 1, else 0. Not collective. */
int Fenix_Initialized(int *flag);
/* 1 after Fenix_Finalize. Not collective. */
int Fenix_Finalized(int *flag);

/* Settings hold for this Fenix_Init and later ones. Not collective, but must be the same
 * everywhere. Errors: FENIX_ERROR_INVALID_SETTING_NAME, FENIX_ERROR_INVALID_SETTING_OPTION. */
int Fenix_set_option(Fenix_Setting_name setting, unsigned option);
int Fenix_get_option(Fenix_Setting_name setting, unsigned *option);

/* Callbacks run on survivors after every recovery, newest first, before they resume: with the new
 * communicator, the MPI error code that told of the failure, and callback_data. Not collective. */
int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void *), void *callback_data);
int Fenix_Callback_pop(void);
/* Run them now, with the facts of the last recovery. */
int Fenix_Callback_invoke_all(void);

/* MPI_SUCCESS, or the MPI error code of a failure that is known here. With do_recovery it is
 * repaired, and in mode JUMP the call does not return. Not collective; a repair is. */
int Fenix_Process_detect_failures(int do_recovery);

/* The ranks that failed last: their number (or a negative code), and the list, owned by the library
 * and valid until the next recovery. Not collective, the same on all ranks. */
int Fenix_Process_fail_list(int **fail_list);

/* Asks a request from before the recovery: 0 if it completed, else 1; then it is freed. */
int Fenix_check_cancelled(MPI_Request *request, MPI_Status *status);

/* Roles. Not collective. Fenix_get_role() is this process's own, Fenix_get_role(comm, rank, &role)
 * that of any rank of the resilient communicator. */
int Fenix_get_number_of_ranks_with_role(int role, int *number_of_ranks);
int Fenix_get_rank_role(MPI_Comm comm, int rank, int *role);
Fenix_Rank_role Fenix_get_own_role(void);
#define Fenix_get_role(...)                                                                       \
    MEND_FENIX_ROLE_FORM(__VA_ARGS__, Fenix_get_rank_role, MEND_FENIX_ROLE_BAD, MEND_FENIX_OWN, ) \
    (__VA_ARGS__)
#define MEND_FENIX_ROLE_FORM(a, b, c, form, ...) form
#define MEND_FENIX_ROLE_BAD(...)                 Fenix_get_role_takes_none_or_three_arguments
#define MEND_FENIX_OWN(...)                      Fenix_get_own_role()

/* What Fenix_Init or the last recovery has put into *error; the number of spares left. */
int Fenix_get_error(void);
int Fenix_get_nspare(void);

/* Collective over the active ranks. If a process dies before all have come, the job is repaired: in
 * mode JUMP the call does not return, else it returns FENIX_ERROR_CANCELLED and Fenix is still on.
 */
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

/* Which elements of a member; made by Fenix_Data_subset_create(v), or one of the constants. */
typedef struct {
    void *impl;
} Fenix_Data_subset;

extern const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
extern const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY;
extern const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED;
extern Fenix_Data_subset *FENIX_DATA_SUBSET_IGNORE;

int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth,
                            int policy_name, void *policy_value, int *flag);
int Fenix_Data_group_created(int group_id);
int Fenix_Data_member_create(int group_id, int member_id, void *buffer, int count,
                             MPI_Datatype datatype);
int Fenix_Data_member_created(int group_id, int member_id);
int Fenix_Data_group_get_redundancy_policy(int group_id, int *policy_name, void *policy_value,
                                           int *flag);
int Fenix_Data_wait(Fenix_Request request);
int Fenix_Data_test(Fenix_Request request, int *flag);
int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier);
int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request *request);
int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request *request);
int Fenix_Data_commit(int group_id, int *time_stamp);
int Fenix_Data_commit_barrier(int group_id, int *time_stamp);
int Fenix_Data_barrier(int group_id);
int Fenix_Data_member_restore(int group_id, int member_id, void *target_buffer, int max_count,
                              int time_stamp, Fenix_Data_subset *found_data);
int Fenix_Data_member_lrestore(int group_id, int member_id, void *target_buffer, int max_count,
                               int time_stamp, Fenix_Data_subset *found_data);
int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void *data, int max_count,
                                        int time_stamp, Fenix_Data_subset *found_data,
                                        int source_rank);
int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset *subset_specifier);
int Fenix_Data_subset_createv(int num_blocks, int *array_start_offsets, int *array_end_offsets,
                              Fenix_Data_subset *subset_specifier);
int Fenix_Data_subset_delete(Fenix_Data_subset *subset_specifier);
int Fenix_Data_group_get_number_of_members(int group_id, int *number_of_members);
int Fenix_Data_group_get_member_at_position(int group_id, int *member_id, int position);
int Fenix_Data_group_get_number_of_snapshots(int group_id, int *number_of_snapshots);
int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int *time_stamp);
int Fenix_Data_member_attr_get(int group_id, int member_id, int attribute_name,
                               void *attribute_value, int *flag, int source_rank);
int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name,
                               void *attribute_value, int *flag);
int Fenix_Data_snapshot_delete(int group_id, int time_stamp);
int Fenix_Data_group_delete(int group_id);
int Fenix_Data_member_delete(int group_id, int member_id);

/* ---- message logs: not supported; every call returns an error that says so ------------------- */

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
