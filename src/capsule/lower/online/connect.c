/* online/connect.c - MPI_Comm_connect and MPI_Comm_accept, which may wait forever after a death.
 *
 * Both call PMIx_Connect(), which returns when all processes of both sides have called it. It waits forever for a process
 * that died, or failed, before it got there. So
 *   1. we interpose PMIx_Connect();
 *   2. ours makes the nonblocking call, and drives MPI until the answer arrives;
 *   3. it leaves the call with an error when one of our processes has died, a communicator was revoked, the other side is
 *      gone, or a limit has passed. The memory for the answer is never freed.
 * The PMIx server then keeps a list of processes that wait for each other. Nobody uses it again: each new process has a
 * new name, so no later list has the same members.
 */
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/event.h>
#include <ulfm/ulfm.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

enum {
    PMIX_LEFT = -24, /* its PMIX_ERR_TIMEOUT */
    ASK_EVERY = 500, /* ms */
    NAP = 200000     /* ns */
};

struct answer {
    int come, code;
};

static struct {
    MPI_Comm comm; /* MPI_COMM_NULL: no call of ours */
    double limit, ask_at;
    int (*gone)(void);
} watched = {.comm = MPI_COMM_NULL};

void connect_begin(MPI_Comm comm, double seconds, int (*gone)(void))
{
    watched.comm = comm;
    watched.limit = seconds_now() + seconds;
    watched.ask_at = seconds_now() + 1e-3 * ASK_EVERY;
    watched.gone = gone;
}

void connect_end(void)
{
    watched.comm = MPI_COMM_NULL;
}

/* Runs in a thread of the PMIx library. */
static void on_answer(int code, void *arg)
{
    struct answer *answer = arg;
    answer->code = code;
    __atomic_store_n(&answer->come, 1, __ATOMIC_RELEASE);
}

const char *connect_reason(void)
{
    double now = seconds_now();
    if (mend_ulfm_is_revoked(watched.comm))
        return "revoke";
    if (mend_ulfm_failed(watched.comm, NULL) > 0)
        return "failure";
    if (now > watched.limit)
        return "time";
    if (now < watched.ask_at || !watched.gone)
        return NULL;
    watched.ask_at = now + 1e-3 * ASK_EVERY;
    return watched.gone() ? "other side" : NULL;
}

typedef int connect_function(const void *processes, size_t count, const void *info,
                             size_t info_count);
typedef int connect_nb_function(const void *processes, size_t count, const void *info,
                                size_t info_count, void (*then)(int code, void *arg), void *arg);

static int connect_unless_left(const void *processes, size_t count, const void *info, size_t n)
{
    union {
        void *symbol;
        connect_nb_function *call;
    } library = {dlsym(RTLD_DEFAULT, "PMIx_Connect_nb")};
    struct answer *answer = calloc(1, sizeof *answer);
    if (!answer || !library.symbol)
        die("%s", answer ? "this Open MPI has no PMIx_Connect_nb" : "no memory for an answer");
    int rc = library.call(processes, count, info, n, on_answer, answer);
    while (!rc && !__atomic_load_n(&answer->come, __ATOMIC_ACQUIRE)) {
        mend_ulfm_progress(MPI_COMM_SELF);
        const char *why = connect_reason();
        if (why) {
            mend_event("recover.unjoined", ev_str("how", why));
            return PMIX_LEFT;
        }
        nanosleep(&(struct timespec){0, NAP}, NULL);
    }
    rc = rc ? rc : answer->code;
    free(answer);
    return rc;
}

__attribute__((visibility("default"))) connect_function PMIx_Connect;
int PMIx_Connect(const void *processes, size_t count, const void *info, size_t info_count)
{
    union {
        void *symbol;
        connect_function *call;
    } library;
    if (watched.comm != MPI_COMM_NULL)
        return connect_unless_left(processes, count, info, info_count);
    library.symbol = dlsym(RTLD_NEXT, "PMIx_Connect");
    return library.symbol ? library.call(processes, count, info, info_count) : PMIX_LEFT;
}
#endif
