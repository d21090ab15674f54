/* error.c - error codes, error handlers, refusals.
 *
 * Below the border every error is returned; here the handler that the program chose runs. Codes
 * inside the core are neutral (table/errors.def); codes that the program made itself start at
 * FIRST_USER_ERROR and are the same everywhere.
 */
#include "core/core.h"
#include "core/face.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread object *error_holder;

struct user_error {
    int is_class, class;
    char *text;
};
static struct {
    struct user_error *list;
    int count;
} user_errors;

static struct user_error *user_error(int code)
{
    int i = code - FIRST_USER_ERROR;
    return i >= 0 && i < user_errors.count ? &user_errors.list[i] : NULL;
}
static int add_error(int is_class, int class, int *code)
{
    struct user_error *more = realloc(user_errors.list, (user_errors.count + 1) * sizeof *more);
    if (!more)
        return NEUTRAL_MPI_ERR_NO_MEM;
    user_errors.list = more;
    *code = FIRST_USER_ERROR + user_errors.count;
    more[user_errors.count++] = (struct user_error){is_class, is_class ? *code : class, NULL};
    return 0;
}
int last_user_error(void)
{
    return FIRST_USER_ERROR + user_errors.count - (user_errors.count > 0);
}
int core_Add_error_class(int *class)
{
    return add_error(1, 0, class);
}
int core_Add_error_code(int class, int *code)
{
    return add_error(0, class, code);
}
int core_Add_error_string(int code, const char *text)
{
    struct user_error *e = user_error(code);
    if (!e)
        return NEUTRAL_MPI_ERR_ARG;
    free(e->text);
    e->text = strdup(text);
    return e->text ? 0 : NEUTRAL_MPI_ERR_NO_MEM;
}
static const char *text_of(int code)
{
    struct user_error *e = user_error(code);
    if (e)
        return e->text ? e->text : "";
    switch (code) {
    case 0: return "MPI_SUCCESS: no errors";
#define ERROR_CLASS(name, value, openmpi, mpich) \
    case value: return #name ": " openmpi;
#include "table/errors.def"
#undef ERROR_CLASS
    }
    return NULL;
}
int core_Error_class(int code, int *class)
{
    struct user_error *e = user_error(code);
#ifndef MPICH_ABI /* which says nothing to a code that is none */
    if (!text_of(code))
        return NEUTRAL_MPI_ERR_ARG;
#endif
    *class = e ? e->class : code;
    return 0;
}
/* The same, in the words of the library whose ABI this is. */
static const char *text_of_abi(int code)
{
#ifdef MPICH_ABI
    switch (code) {
    case 0: return "No MPI error";
#define ERROR_CLASS(name, value, openmpi, mpich) \
    case value: return mpich;
#include "table/errors.def"
#undef ERROR_CLASS
    }
#endif
    return text_of(code);
}
int core_Error_string(int code, char *s, int *len)
{
    const char *text = text_of_abi(code);
    *len = snprintf(s, 256, "%s", text ? text : "unknown error code");
    return text ? 0 : NEUTRAL_MPI_ERR_ARG;
}

/* --- handlers --- */
object *new_errhandler(int kind, void *fn, enum language language)
{
    object *e = object_new(KIND_ERRH);
    e->errh.fn = fn;
    e->errh.kind = kind;
    e->errh.language = language;
    return e;
}
static void errhandler_unref(object *e)
{
    if (e && !e->predefined && !--e->refs)
        object_delete(e);
}
int core_Errhandler_free(object **e)
{
    if (*e == predef[PRE_MPI_ERRHANDLER_NULL])
        return NEUTRAL_MPI_ERR_ARG;
    errhandler_unref(*e);
    *e = predef[PRE_MPI_ERRHANDLER_NULL];
    return 0;
}
static object **place_of(object *holder)
{
    return holder->kind == KIND_COMM      ? &holder->comm.errh
           : holder->kind == KIND_WIN     ? &holder->win.errh
           : holder->kind == KIND_SESSION ? &holder->session.errh
                                          : &holder->file.errh;
}
object *errhandler_of(object *holder)
{
    object *e = *place_of(holder);
    if (e)
        return e;
    return predef[holder->kind == KIND_FILE ? PRE_MPI_ERRORS_RETURN : PRE_MPI_ERRORS_ARE_FATAL];
}
void errhandler_attach(object *holder, object *errh)
{
    object **p = place_of(holder), *old = *p;
    if (errh && !errh->predefined)
        errh->refs++;
    *p = errh;
    errhandler_unref(old);
}
#define HANDLERS(What, KIND)                                \
    int core_##What##_set_errhandler(object *o, object *e)  \
    {                                                       \
        if (!e || e == predef[PRE_MPI_ERRHANDLER_NULL] ||   \
            (!e->predefined && e->errh.kind != KIND))       \
            return NEUTRAL_MPI_ERR_ARG;                     \
        errhandler_attach(o, e);                            \
        return 0;                                           \
    }                                                       \
    int core_##What##_get_errhandler(object *o, object **e) \
    {                                                       \
        *e = errhandler_of(o);                              \
        if (!(*e)->predefined)                              \
            (*e)->refs++;                                   \
        return 0;                                           \
    }
HANDLERS(Comm, KIND_COMM)
HANDLERS(Win, KIND_WIN)
HANDLERS(File, KIND_FILE)
HANDLERS(Session, KIND_SESSION)

static void stop_job(object *holder, int code, const char *function)
{
    const char *text = text_of(code);
    fprintf(stderr,
            "mend: rank %d: an error in %s: %s; the error handler is MPI_ERRORS_ARE_FATAL\n",
            upper.rank, function, text ? text : "unknown error code");
    fflush(NULL);
    (void)holder;
    LOWER(Abort, COMM_WORLD->real, code);
    _Exit(1);
}
static void call_handler(object *holder, int code, const char *function)
{
    object *e = errhandler_of(holder);
    if (e == predef[PRE_MPI_ERRORS_RETURN])
        return;
    if (e->predefined)
        stop_job(holder, code, function);
    face_call_errhandler(e, holder, face_error_out(code));
}
/* The rule is the room ulfm's; see ulfm/failure.c. */
static int may_be_a_death(int code)
{
    switch (code) {
#define OWN_ERROR(name) case NEUTRAL_MPI_ERR_##name:
#include <ulfm/own_errors.def>
        return 0;
    default: return 1;
    }
}
void request_failed(int code, object *comm)
{
    upper.doubtful |= may_be_a_death(code);
    error_holder = comm;
}
int raise_error(int code, object *holder, const char *function)
{
    if (code != NEUTRAL_MPI_ERR_IN_STATUS) /* request_failed() has seen the errors in it */
        upper.doubtful |= may_be_a_death(code);
    if (error_holder && error_holder->refs > 0)
        holder = error_holder;
    error_holder = NULL;
    if (holder && holder->kind == KIND_COMM && holder->comm.of)
        holder = holder->comm.of;
    if (!holder || holder == predef[PRE_MPI_COMM_NULL] || holder == predef[PRE_MPI_WIN_NULL] ||
        holder == predef[PRE_MPI_SESSION_NULL])
        holder = COMM_WORLD;
    call_handler(holder, code, function);
    return face_error_out(code);
}
/* codes here come from the program, in the ABI's spelling: the face has not converted them */
#define CALL_HANDLER(What)                                      \
    int core_##What##_call_errhandler(object *o, int code)      \
    {                                                           \
        object *e = errhandler_of(o);                           \
        if (!e->predefined)                                     \
            face_call_errhandler(e, o, code);                   \
        else if (e != predef[PRE_MPI_ERRORS_RETURN])            \
            stop_job(o, code, "MPI_" #What "_call_errhandler"); \
        return 0;                                               \
    }
CALL_HANDLER(Comm)
CALL_HANDLER(Win)
CALL_HANDLER(File)
CALL_HANDLER(Session)

int refuse(const char *function, const char *why)
{
    fprintf(stderr, "mend: rank %d: the capsule does not support %s: %s\n", upper.rank, function,
            why);
    return NEUTRAL_MPI_ERR_UNSUPPORTED_OPERATION;
}
