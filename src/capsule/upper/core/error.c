/* error.c - error codes, error handlers, refusals.
 *
 * The lower half returns every error; this file runs the handler that the program chose. Codes inside
 * the core are neutral (table/errors.def). Codes that the program adds start at FIRST_USER_ERROR and
 * are the same everywhere.
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
    int removed;
};
static struct {
    struct user_error *list;
    int count;
} user_errors;

static struct user_error *user_error(int code)
{
    int i = code - FIRST_USER_ERROR;
    return i >= 0 && i < user_errors.count && !user_errors.list[i].removed ? &user_errors.list[i]
                                                                           : NULL;
}
static int add_error(int is_class, int class, int *code)
{
    struct user_error *more = realloc(user_errors.list, (user_errors.count + 1) * sizeof *more);
    if (!more)
        return NEUTRAL_MPI_ERR_NO_MEM;
    user_errors.list = more;
    *code = FIRST_USER_ERROR + user_errors.count;
    more[user_errors.count++] = (struct user_error){is_class, is_class ? *code : class, NULL, 0};
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
/* Numbers of the last ones are given out again, others are not. */
static int remove_error(int code, int is_class)
{
    struct user_error *e = user_error(code);
    if (!e || e->is_class != is_class)
        return NEUTRAL_MPI_ERR_ARG;
    for (int i = 0; is_class && i < user_errors.count; i++)
        if (&user_errors.list[i] != e && !user_errors.list[i].removed &&
            user_errors.list[i].class == code)
            return NEUTRAL_MPI_ERR_ARG; /* it still has codes */
    free(e->text);
    *e = (struct user_error){.removed = 1};
    while (user_errors.count && user_errors.list[user_errors.count - 1].removed)
        user_errors.count--;
    return 0;
}
int remove_error_class(int class)
{
    return remove_error(class, 1);
}
int remove_error_code(int code)
{
    return remove_error(code, 0);
}
int remove_error_string(int code)
{
    struct user_error *e = user_error(code);
    if (!e)
        return NEUTRAL_MPI_ERR_ARG;
    free(e->text);
    e->text = NULL;
    return 0;
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
#ifndef MPICH_ABI /* MPICH accepts an invalid code */
    if (!text_of(code))
        return NEUTRAL_MPI_ERR_ARG;
#endif
    *class = e ? e->class : code;
    return 0;
}
/* The same, in the words of the library with this ABI. */
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
#ifdef MPICH_ABI
enum { LONGEST_ERROR = 512 }; /* MPI_MAX_ERROR_STRING */
#else
enum { LONGEST_ERROR = 256 };
#endif
int core_Error_string(int code, char *s, int *len)
{
    const char *text = text_of_abi(code);
    *len = snprintf(s, LONGEST_ERROR, "%s", text ? text : "unknown error code");
    if (*len >= LONGEST_ERROR)
        *len = LONGEST_ERROR - 1;
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

static void stop_job(const object *e, int code, const char *function)
{
    const char *text = text_of(code);
    fprintf(stderr, "mend: rank %d: an error in %s: %s; the error handler is %s\n", upper.rank,
            function, text ? text : "unknown error code",
            e == predef[PRE_MPI_ERRORS_ABORT] ? "MPI_ERRORS_ABORT" : "MPI_ERRORS_ARE_FATAL");
    fflush(NULL);
    LOWER(Abort, COMM_WORLD->real, code);
    _Exit(1);
}
/* MPI::ERRORS_THROW_EXCEPTIONS: it is the caller, a function of C++, that throws. */
static int throws(const object *e)
{
    return e->predefined && e->errh.language == LANGUAGE_CXX;
}
/* Returns what the function that failed returns. After a handler in C++ that is success: the handler throws if it wants to. */
static int call_handler(object *holder, int code, const char *function)
{
    object *e = errhandler_of(holder);
    int told = face_error_out(code), in_cxx = e->errh.language == LANGUAGE_CXX;
    if (e == predef[PRE_MPI_ERRORS_RETURN] || throws(e))
        return told;
    if (e->predefined)
        stop_job(e, code, function);
    face_call_errhandler(e, holder, told);
    return in_cxx ? 0 : told;
}
/* src/ulfm owns this rule; see its failure.c. */
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
/* Who hears of an error that belongs to no object. Open MPI 5.0 still behaves as MPI-3 asks, unless it is told otherwise. */
#ifdef MPICH_ABI
#define NOBODY COMM_SELF
#else
#define NOBODY COMM_WORLD
#endif
/* Whose handler is asked about an error of `holder`. */
static object *answers_for(object *holder)
{
    if (!holder || holder == predef[PRE_MPI_WIN_NULL] || holder == predef[PRE_MPI_SESSION_NULL])
        return NOBODY;
    if (holder->kind == KIND_COMM && !is_comm(holder))
        return NOBODY;
#ifdef MPICH_ABI /* also where none was set or inherited */
    if ((holder->kind == KIND_COMM || holder->kind == KIND_WIN) && !*place_of(holder))
        return NOBODY;
#endif
    return holder;
}
int raise_error(int code, object *holder, const char *function)
{
    if (code != NEUTRAL_MPI_ERR_IN_STATUS) /* request_failed() saw the errors in the statuses */
        upper.doubtful |= may_be_a_death(code);
    if (error_holder && error_holder->refs > 0)
        holder = error_holder;
    error_holder = NULL;
    if (holder && holder->kind == KIND_COMM && holder->comm.of)
        holder = holder->comm.of;
    return call_handler(answers_for(holder), code, function);
}
/* The program passes these codes in the ABI's encoding; the face does not convert them. */
#define CALL_HANDLER(What)                                         \
    int core_##What##_call_errhandler(object *o, int code)         \
    {                                                              \
        o = answers_for(o);                                        \
        object *e = errhandler_of(o);                              \
        if (!e->predefined)                                        \
            face_call_errhandler(e, o, code);                      \
        else if (e != predef[PRE_MPI_ERRORS_RETURN] && !throws(e)) \
            stop_job(e, code, "MPI_" #What "_call_errhandler");    \
        return 0;                                                  \
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
