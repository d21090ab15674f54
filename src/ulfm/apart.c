/* Runs agreements on a stack of their own.
 *
 * Open MPI keeps pointers to variables of a caller that waits for an agreement: where to store its value, and where
 * to store the group of the dead. An abandoned agreement may still end later, when a message arrives that was delayed
 * for long, and then the library writes there. So a process that abandons a call must abandon its stack, too:
 *   1. We make the call on a stack of its own, which also holds the order.
 *   2. From the library's progress loop, between two of its turns, we may leave the call, back to the caller's stack.
 *   3. We never touch or free an abandoned stack. It takes only the memory that the call has used.
 *
 * With several threads in MPI this is not enough. The library keeps a list of waiting threads, and the first on the
 * list drives progress for all. If that one leaves, all others sleep forever. So there no process leaves a call
 * (hall.c). */
#include <ulfm/apart.h>

#include <base/event.h>
#include <ulfm/ulfm.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 8 << 20 }; /* the default size of a thread's stack */

/* Lies at the upper end of the stack. */
struct work {
    struct mend_apart_order order;
    ucontext_t outside, inside;
    bool done;
};

static struct work *now; /* the current call */

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
    if (stack == MAP_FAILED) { /* the others are on their way, so enter without a way out */
        mend_event("ulfm.apart", ev_str("error", strerror(errno)));
        mend_apart_here(order);
        return true;
    }
    mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE); /* a guard: stacks grow down */
    struct work *work = (struct work *)(stack + STACK - room);
    work->order = *order;
    enter(work, stack, STACK - room);
    if (!work->done)
        return false;
    *order = work->order;
    munmap(stack, STACK);
    return true;
}
