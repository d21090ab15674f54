/* Agreements on a stack of their own.
 *
 * Open MPI keeps pointers to variables of those who wait for an agreement: where its value goes, and where the group
 * of the dead goes. An agreement that was left may still end later, when a message comes that was long on its way;
 * then the library writes there. So who leaves a call leaves its stack, too:
 *   1. the call is made on a stack of its own, and the order lies there as well;
 *   2. from the library's progress loop, between two of its turns, it may be left: back to the stack of the caller;
 *   3. a stack that was left stays as it is, for ever. Only what has been touched of it takes memory.
 *
 * With several threads in MPI this is not enough. A thread that waits is in a list of the library, and the first of
 * the list drives progress for all: if it has gone, all others sleep for ever. There no call is left (hall.c). */
#include <ulfm/apart.h>

#include <base/event.h>
#include <ulfm/ulfm.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 8 << 20 }; /* as a thread has it by default */

/* At the upper end of the stack. */
struct work {
    struct mend_apart_order order;
    ucontext_t outside, inside;
    bool done;
};

static struct work *now; /* the call under way */

void mend_apart_here(struct mend_apart_order *order)
{
    order->mpi_code = order->agree ? mend_ulfm_agree(order->comm, &order->flags)
                                   : mend_ulfm_shrink(order->comm, &order->alive);
}

static void carry_out(void)
{
    struct work *work = now;
    mend_apart_here(&work->order);
    work->done = true;
}

void mend_apart_leave(void)
{
    struct work *work = now;
    if (!work)
        return;
    now = NULL;
    setcontext(&work->outside);
}

static void enter(struct work *work, void *stack, size_t size)
{
    getcontext(&work->inside); /* cannot fail: it only stores */
    work->inside.uc_stack.ss_sp = stack;
    work->inside.uc_stack.ss_size = size;
    work->inside.uc_link = &work->outside;
    makecontext(&work->inside, carry_out, 0);
    now = work;
    swapcontext(&work->outside, &work->inside);
    now = NULL;
}

bool mend_apart(struct mend_apart_order *order)
{
    const size_t room = (sizeof(struct work) + 63) / 64 * 64;
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) { /* the others are on their way: without a way out, then */
        mend_event("ulfm.apart", ev_str("error", strerror(errno)));
        mend_apart_here(order);
        return true;
    }
    mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE); /* a guard: stacks grow downwards */
    struct work *work = (struct work *)(stack + STACK - room);
    work->order = *order;
    enter(work, stack, STACK - room);
    if (!work->done)
        return false;
    *order = work->order;
    munmap(stack, STACK);
    return true;
}
