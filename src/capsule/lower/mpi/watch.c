/* mpi/watch.c - what the running Open MPI lets a wait do that its interface does not.
 *
 * MPI_Test of Open MPI has a full barrier (`lock or` on x86_64) before it looks at a request, and another one after the turn
 * of the library's progress that brought the message: each waits until all stores before it are done, also those to memory
 * that is shared with other ranks. MPI_Wait has none: it looks at one word of the request between two turns. So do we,
 * because a checkpoint must be able to interrupt us there. When the word shows the end, MPI_Wait does the rest; or,
 * if nobody wants the status and there was no error, the program goes on, and MPI_Wait frees the request in the next wait.
 *
 * The places of the word and of the error are in no interface, so we do not assume them:
 *   1. A rank sends itself some messages that differ in everything. Before such a message is sent, and after some turns, the
 *      word is 0; afterwards it is 1. One message is too long for its receive: the error of that one, and of no other, is
 *      MPI_ERR_TRUNCATE.
 *   2. If just one place in the first 128 bytes (a request has 256 or more) is like that in all cases, it is the one.
 *      Otherwise we use MPI_Test, or do not leave requests.
 *   3. Every 64th turn of a wait is an MPI_Test, which also notices the death of a peer.
 *
 * The library also checks the arguments of each call, some 30 instructions of it. lower.checks is its switch for that, for
 * calls of which we know that they are right; elsewhere it is a byte that nobody reads.
 */
#include "mpi/watch.h"
#include "online/online.h"
#include <mpi.h>
#include <string.h>

struct watch watch = {.right = ~(handle_t)0}; /* none yet */

#ifdef OPEN_MPI
#include <dlfcn.h>
#include <ulfm/progress.h>

enum { LOOKED_AT = 128, TRIALS = 4, TURNS = 3, LONGEST = 48 };
struct candidates {
    uint32_t word, error; /* a bit for each place, at its 4 bytes */
};

static void strike_words(struct candidates *c, const void *request, uintptr_t expected)
{
    uintptr_t word;
    for (unsigned at = 0; at < LOOKED_AT; at += 4) {
        memcpy(&word, (const char *)request + at, sizeof word);
        if (at % sizeof word || word != expected)
            c->word &= ~(UINT32_C(1) << at / 4);
    }
}

static void strike_errors(struct candidates *c, const void *request, int expected)
{
    int error;
    for (unsigned at = 0; at < LOOKED_AT; at += 4) {
        memcpy(&error, (const char *)request + at, sizeof error);
        if (error != expected)
            c->error &= ~(UINT32_C(1) << at / 4);
    }
}

/* MPI_Test would free the request. */
static int is_done(MPI_Request request)
{
    int flag = 0;
    while (!flag)
        if (MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE))
            return 0;
    return 1;
}

/* One message to ourselves; 0: it did not work. */
static int try_message(int trial, struct candidates *c, void (*turn)(void))
{
    char in[LONGEST], out[LONGEST] = {0};
    int bytes = LONGEST - 8 * trial, tag = 17 + 1000 * trial;
    MPI_Request request;
    if (MPI_Irecv(in, bytes, MPI_BYTE, trial % 2 ? 0 : MPI_ANY_SOURCE, tag, MPI_COMM_SELF,
                  &request))
        return 0;
    for (int i = 0; i < TURNS; i++) {
        strike_words(c, request, 0);
        turn();
    }
    strike_words(c, request, 0);
    MPI_Send(out, bytes, MPI_BYTE, 0, tag, MPI_COMM_SELF);
    if (!is_done(request))
        return 0;
    strike_words(c, request, 1);
    strike_errors(c, request, MPI_SUCCESS);
    return MPI_Wait(&request, MPI_STATUS_IGNORE) == 0;
}

/* The message is there before its receive: otherwise Open MPI does not tell a rank that it sent itself too much. */
static int try_too_long(struct candidates *c)
{
    char in[1], out[LONGEST] = {0};
    MPI_Request send, request;
    if (MPI_Isend(out, LONGEST, MPI_BYTE, 0, 16, MPI_COMM_SELF, &send) ||
        MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 16, MPI_COMM_SELF, &request) || !is_done(request))
        return 0;
    strike_words(c, request, 1);
    strike_errors(c, request, MPI_ERR_TRUNCATE);
    return MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_TRUNCATE &&
           MPI_Wait(&send, MPI_STATUS_IGNORE) == 0;
}

/* The only one, as an offset; 0: none, or several. */
static size_t only(uint32_t places)
{
    return places & (places - 1) ? 0 : (size_t)__builtin_ctz(places | UINT32_C(1) << 31) * 4;
}

static void find_places(void)
{
    struct candidates c = {~UINT32_C(0), ~UINT32_C(0)};
    void (*turn)(void) = mend_progress_turn();
    if (!turn)
        return;
    for (int i = 0; i < TRIALS; i++)
        if (!try_message(i, &c, turn))
            return;
    if (!try_too_long(&c))
        return;
    if (!c.word || !only(c.word))
        return;
    watch.done_at = only(c.word);
    watch.error_at = c.error ? only(c.error) : 0;
    watch.turn = turn;
}

void watch_begin(void)
{
    find_places();
    unsigned char *checks = dlsym(RTLD_DEFAULT, "ompi_mpi_param_check");
    if (checks && *checks == 1) /* the user did not switch them off (mpi_param_check) */
        lower.checks = checks;
}

void watch_free(void)
{
    if (watch.finished) {
        MPI_Request request = (MPI_Request)watch.finished;
        watch.finished = 0;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
#else
void watch_begin(void)
{
}
void watch_free(void)
{
}
#endif
