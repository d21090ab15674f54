/* Fenix' process recovery on top of mend/process.h: names and habits are translated, nothing more.
 */
#include "fenix_internal.h"

#include <compat/fenix.h>

#include <base/fail.h>
#include <base/log.h>
#include <process/hooks.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

/* Fenix has no handle in its interface: this is it. */
static struct {
    mend_process *process;
    bool finalized;
    unsigned option[FENIX_SETTING_NAME_MAXCODE];
    bool option_set;
    int *role, *error; /* the variables given to Fenix_Init */
    MPI_Comm *comm;
    int last_error;
    bool shrunk;
    void (*thrower)(MPI_Comm, int);
    int start_error; /* Fenix_Init failed */
} fenix;

mend_process *mend_fenix_process(void)
{
    return fenix.process;
}

static void default_options(void)
{
    if (fenix.option_set)
        return;
    fenix.option[FENIX_RECOVERY_MODE] = FENIX_RECOVERY_REPAIR;
    fenix.option[FENIX_RESUME_MODE] = FENIX_RESUME_JUMP;
    fenix.option[FENIX_UNHANDLED_MODE] = FENIX_UNHANDLED_ABORT;
    fenix.option[FENIX_CALLBACK_EXCEPTION_MODE] = FENIX_CALLBACK_EXCEPTION_RETHROW;
    fenix.option_set = true;
}

/* The code that says best what one of ours says. */
static int translate(int code)
{
    switch (code) {
    case 0: return FENIX_SUCCESS;
    case MEND_ERR_STATE: return FENIX_ERROR_INVALID_LOGIC_CALL;
    case MEND_ERR_PEER_FAILED: return FENIX_ERROR_CANCELLED;
    case MEND_ERR_ARGUMENT: return FENIX_ERROR_NOCATEGORY;
    default: return FENIX_ERROR_INTERN;
    }
}

static int uninitialized(const char *call)
{
    mend_fail(MEND_ERR_STATE, "%s: before Fenix_Init or after Fenix_Finalize", call);
    return FENIX_ERROR_UNINITIALIZED;
}

static int wrong(const char *call, const char *what)
{
    mend_fail(MEND_ERR_ARGUMENT, "%s: %s", call, what);
    return FENIX_ERROR_NOCATEGORY;
}

/* ---- options --------------------------------------------------------------------------------- */

static mend_resume resume_mode(void)
{
    return fenix.option[FENIX_RESUME_MODE] == FENIX_RESUME_JUMP ? MEND_RESUME_JUMP
                                                                : MEND_RESUME_RETURN;
}

API int Fenix_set_option(Fenix_Setting_name setting, unsigned option)
{
    static const unsigned limits[] = {FENIX_RECOVERY_MODE_MAXCODE, FENIX_RESUME_MODE_MAXCODE,
                                      FENIX_UNHANDLED_MODE_MAXCODE,
                                      FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE};
    default_options();
    if ((unsigned)setting >= FENIX_SETTING_NAME_MAXCODE) {
        mend_fail(MEND_ERR_ARGUMENT, "Fenix_set_option: no setting %d", (int)setting);
        return FENIX_ERROR_INVALID_SETTING_NAME;
    }
    bool supported = option < limits[setting];
    if (setting == FENIX_RECOVERY_MODE)
        supported &= option == FENIX_RECOVERY_REPAIR || option == FENIX_RECOVERY_SPAWN;
    if (setting == FENIX_CALLBACK_EXCEPTION_MODE)
        supported &= option == FENIX_CALLBACK_EXCEPTION_RETHROW;
    if (!supported) {
        mend_fail(MEND_ERR_UNSUPPORTED, "Fenix_set_option: setting %d, option %u is not supported",
                  (int)setting, option);
        return FENIX_ERROR_INVALID_SETTING_OPTION;
    }
    fenix.option[setting] = option;
    if (fenix.process && setting == FENIX_RESUME_MODE)
        mend_process_set_resume(fenix.process, resume_mode());
    return FENIX_SUCCESS;
}

API int Fenix_get_option(Fenix_Setting_name setting, unsigned *option)
{
    default_options();
    if ((unsigned)setting >= FENIX_SETTING_NAME_MAXCODE)
        return FENIX_ERROR_INVALID_SETTING_NAME;
    if (!option)
        return wrong("Fenix_get_option", "NULL");
    *option = fenix.option[setting];
    return FENIX_SUCCESS;
}

/* One key of the info argument; the words are those of all versions of Fenix. */
static int info_option(MPI_Info info, const char *key, Fenix_Setting_name setting,
                       const char *const words[], const unsigned values[])
{
    char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    if (PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) != MPI_SUCCESS || !found)
        return FENIX_SUCCESS;
    for (int i = 0; words[i]; i++)
        if (strcasecmp(words[i], value) == 0)
            return Fenix_set_option(setting, values[i]);
    mend_fail(MEND_ERR_ARGUMENT, "Fenix_Init: info key %s = %s is not known", key, value);
    return FENIX_ERROR_INVALID_SETTING_OPTION;
}

static int read_info(MPI_Info info)
{
    static const char *const resume[] = {"Fenix_init", "JUMP", "NO_JUMP", "RETURN", "THROW", NULL};
    static const unsigned resume_values[] = {FENIX_RESUME_JUMP, FENIX_RESUME_JUMP,
                                             FENIX_RESUME_RETURN, FENIX_RESUME_RETURN,
                                             FENIX_RESUME_THROW};
    static const char *const unhandled[] = {"SILENT", "PRINT", "ABORT", NULL};
    static const unsigned unhandled_values[] = {FENIX_UNHANDLED_SILENT, FENIX_UNHANDLED_PRINT,
                                                FENIX_UNHANDLED_ABORT};
    if (info == MPI_INFO_NULL)
        return FENIX_SUCCESS;
    int rc = info_option(info, "FENIX_RESUME_MODE", FENIX_RESUME_MODE, resume, resume_values);
    if (rc == FENIX_SUCCESS)
        rc = info_option(info, "FENIX_UNHANDLED_MODE", FENIX_UNHANDLED_MODE, unhandled,
                         unhandled_values);
    return rc;
}

/* ---- init ------------------------------------------------------------------------------------ */

static void tell(int role, MPI_Comm comm, int error)
{
    fenix.last_error = error;
    if (fenix.role)
        *fenix.role = role;
    if (fenix.comm)
        *fenix.comm = comm;
    if (fenix.error)
        *fenix.error = error;
}

static void adopted(const mend_repair *now, void *arg)
{
    (void)arg;
    fenix.shrunk |= now->policy == MEND_POLICY_SHRINK;
    tell((int)now->role, now->comm,
         now->policy == MEND_POLICY_SHRINK ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS);
    mend_fenix_data_rebind(now);
}

static void returning(const mend_repair *now, void *arg)
{
    (void)arg;
    if (fenix.option[FENIX_RESUME_MODE] == FENIX_RESUME_THROW && fenix.thrower)
        fenix.thrower(now->comm, fenix.last_error);
}

static void unhandled(MPI_Comm comm, int code, void *arg)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void)arg;
    if (fenix.option[FENIX_UNHANDLED_MODE] == FENIX_UNHANDLED_SILENT)
        return;
    PMPI_Error_string(code, text, &length);
    mend_log(MEND_LOG_ERROR, "fenix: an MPI error that no death caused: %s", text);
    if (fenix.option[FENIX_UNHANDLED_MODE] == FENIX_UNHANDLED_ABORT)
        PMPI_Abort(comm, code); /* what Fenix promises by default */
}

static int start(MPI_Comm comm, int spares, int spawn)
{
    if (spawn > 0)
        fenix.option[FENIX_RECOVERY_MODE] = FENIX_RECOVERY_SPAWN;
    bool spawning = fenix.option[FENIX_RECOVERY_MODE] == FENIX_RECOVERY_SPAWN;
    mend_process_options options = {
        .spares = spares,
        .resume = resume_mode(),
        .order = {MEND_POLICY_SPARE, spawning ? MEND_POLICY_SPAWN : MEND_POLICY_SHRINK,
                  spawning ? MEND_POLICY_SHRINK : MEND_POLICY_NONE},
        .on_error = unhandled,
        .spares_return = 1,
    };
    int rc = mend_process_open(comm, &options, &fenix.process);
    if (rc != 0)
        return rc;
    mend_process_set_hooks(fenix.process, adopted, returning, NULL);
    return mend_process_state(fenix.process)->role == MEND_ROLE_SPARE
               ? mend_process_wait(fenix.process)
               : 0;
}

/* A spare that was not needed ends here, as Fenix has it: the program after Fenix_Init is not for
 * it. */
static void leave_as_spare(void)
{
    mend_process_close(fenix.process);
    PMPI_Finalize();
    exit(0);
}

API void __fenix_preinit(int *role, MPI_Comm comm, MPI_Comm *newcomm, int spares, int spawn,
                         MPI_Info info, int *error, void (*thrower)(MPI_Comm, int))
{
    default_options();
    if (fenix.process) { /* the running one is left as it is */
        mend_fail(MEND_ERR_STATE, "Fenix_Init: called twice");
        fenix.start_error = FENIX_ERROR_INVALID_LOGIC_CALL;
        if (error)
            *error = fenix.start_error;
        return;
    }
    fenix.role = role;
    fenix.comm = newcomm;
    fenix.error = error;
    fenix.thrower = thrower;
    fenix.shrunk = false;
    fenix.start_error = !newcomm ? wrong("Fenix_Init", "newcomm is NULL") : read_info(info);
    if (fenix.start_error == FENIX_SUCCESS)
        fenix.start_error = translate(start(comm, spares, spawn));
    if (fenix.start_error != FENIX_SUCCESS) {
        if (fenix.process)
            mend_process_close(fenix.process);
        fenix.process = NULL;
        mend_log(MEND_LOG_ERROR, "%s", mend_error_text());
        tell(FENIX_ROLE_INITIAL_RANK, MPI_COMM_NULL, fenix.start_error);
        return;
    }
    const mend_repair *now = mend_process_state(fenix.process);
    if (now->role == MEND_ROLE_RELEASED)
        leave_as_spare();
    fenix.finalized = false;
    if (now->generation == 0)
        adopted(now, NULL);
}

API jmp_buf *__fenix_jump_buffer(void)
{
    return mend_process_jump_buffer(fenix.process);
}

API void __fenix_postinit(void)
{
    if (!fenix.process || fenix.start_error != FENIX_SUCCESS) {
        fenix.start_error = FENIX_SUCCESS;
        return;
    }
    int rc = mend_process_resume(fenix.process);
    if (rc != 0) {
        mend_log(MEND_LOG_ERROR, "%s", mend_error_text());
        tell(FENIX_ROLE_SURVIVOR_RANK, MPI_COMM_NULL, translate(rc));
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

API int Fenix_Initialized(int *flag)
{
    if (!flag)
        return wrong("Fenix_Initialized", "NULL");
    *flag = fenix.process != NULL;
    return FENIX_SUCCESS;
}

API int Fenix_Finalized(int *flag)
{
    if (!flag)
        return wrong("Fenix_Finalized", "NULL");
    *flag = fenix.finalized;
    return FENIX_SUCCESS;
}

struct fenix_callback {
    void (*recover)(MPI_Comm, int, void *);
    void *data;
};

static void call_back(mend_process *p, const mend_repair *now, void *arg)
{
    struct fenix_callback *callback = arg;
    (void)p;
    if (now->role == MEND_ROLE_SURVIVOR || now->role == MEND_ROLE_RECOVERED)
        callback->recover(now->comm, now->caused_by, callback->data);
}

API int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void *), void *callback_data)
{
    if (!fenix.process)
        return uninitialized("Fenix_Callback_register");
    if (!recover)
        return wrong("Fenix_Callback_register", "NULL");
    struct fenix_callback *callback = malloc(sizeof *callback); /* lives as long as the program */
    if (!callback)
        return FENIX_ERROR_INTERN;
    *callback = (struct fenix_callback){recover, callback_data};
    return translate(mend_process_callback_push(fenix.process, call_back, callback));
}

API int Fenix_Callback_pop(void)
{
    if (!fenix.process)
        return uninitialized("Fenix_Callback_pop");
    return mend_process_callback_pop(fenix.process) == 0 ? FENIX_SUCCESS
                                                         : FENIX_ERROR_CALLBACK_NOT_REGISTERED;
}

API int Fenix_Callback_invoke_all(void)
{
    if (!fenix.process)
        return uninitialized("Fenix_Callback_invoke_all");
    return translate(mend_process_run_callbacks(fenix.process));
}

API int Fenix_Process_detect_failures(int do_recovery)
{
    if (!fenix.process)
        return uninitialized("Fenix_Process_detect_failures");
    int rc = mend_process_check(fenix.process, do_recovery);
    if (rc == MEND_ERR_PEER_FAILED)
        return MPI_ERR_PROC_FAILED;
    return rc == 0 ? MPI_SUCCESS : translate(rc);
}

API int Fenix_Process_fail_list(int **fail_list)
{
    if (fail_list)
        *fail_list = NULL;
    if (!fenix.process)
        return uninitialized("Fenix_Process_fail_list");
    if (!fail_list)
        return wrong("Fenix_Process_fail_list", "NULL");
    const mend_repair *now = mend_process_state(fenix.process);
    *fail_list = (int *)(uintptr_t)now->failed; /* Fenix' interface is not const */
    return now->n_failed;
}

API int Fenix_check_cancelled(MPI_Request *request, MPI_Status *status)
{
    mend_request_fate fate;
    if (!fenix.process)
        return uninitialized("Fenix_check_cancelled");
    int rc = mend_process_request(fenix.process, request, status, &fate);
    return rc != 0 ? translate(rc) : fate == MEND_REQUEST_LOST;
}

API int Fenix_get_number_of_ranks_with_role(int role, int *number_of_ranks)
{
    if (!fenix.process)
        return uninitialized("Fenix_get_number_of_ranks_with_role");
    if (role < FENIX_ROLE_INITIAL_RANK || role > FENIX_ROLE_SURVIVOR_RANK)
        return wrong("Fenix_get_number_of_ranks_with_role", "no such role");
    return translate(mend_process_count_role(fenix.process, (mend_role)role, number_of_ranks));
}

API int Fenix_get_rank_role(MPI_Comm comm, int rank, int *role)
{
    mend_role own;
    if (!fenix.process)
        return uninitialized("Fenix_get_role");
    if (comm != mend_process_state(fenix.process)->comm)
        return wrong("Fenix_get_role", "not the resilient communicator");
    if (!role)
        return wrong("Fenix_get_role", "NULL");
    int rc = mend_process_role_of(fenix.process, rank, &own);
    if (rc == 0)
        *role = (int)own;
    return translate(rc);
}

API Fenix_Rank_role Fenix_get_own_role(void)
{
    if (!fenix.process)
        return (Fenix_Rank_role)uninitialized("Fenix_get_role");
    return (Fenix_Rank_role)mend_process_state(fenix.process)->role;
}

API int Fenix_get_error(void)
{
    return fenix.process ? fenix.last_error : uninitialized("Fenix_get_error");
}

API int Fenix_get_nspare(void)
{
    return fenix.process ? mend_process_state(fenix.process)->spares
                         : uninitialized("Fenix_get_nspare");
}

API int Fenix_Finalize(void)
{
    if (!fenix.process)
        return uninitialized("Fenix_Finalize");
    int rc = mend_process_close(fenix.process);
    if (rc != 0)
        return translate(rc);
    mend_fenix_data_end();
    fenix.process = NULL;
    fenix.finalized = true;
    fenix.role = fenix.error = NULL;
    fenix.comm = NULL;
    return FENIX_SUCCESS;
}
