/* checkpoint.c - when and how images are taken, and what follows a restart. */
#include "core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
static long ckpt_at, ckpt_every, world_calls;
static const char *ckpt_dir;
double wtime_shift; /* keeps MPI_Wtime going on across a restart */
static void rebind(void)
{
    bind_predefined();
    rebind_comms();
    rebind_types();
    rebind_ops();
    rebind_windows();
    rebind_files();
    rebind_buffer();
    rebind_requests();
}
static void checkpoint(void)
{
    drain();
    files_before_image();
    windows_before_image();
    os_before_image();
    double t = LOWER(Wtime);
    if (context_save(&upper.context) == 0) { /* going on: same lower half */
        LOWER(write_image, &upper, ckpt_dir);
        LOWER(Barrier, COMM_WORLD->real); /* all images are complete */
        if (getenv("MEND_CAPSULE_EXIT")) {
            EACH_LIVE(r, KIND_REQ) if (!r->req.done && !r->req.special) LOWER(Cancel, r->real);
            LOWER(Finalize);
            _exit(0);
        }
        os_go_on();
        windows_go_on();
    } else { /* a new process; upper.lower was replaced */
        in_lower = 0;
        unbind_requests();
        os_resumed();
        rebind();
        wtime_shift += t - LOWER(Wtime);
        LOWER(resumed);
    }
}
void checkpoint_at_collective(const object *c)
{
    if (c->comm.size == upper.size && __builtin_expect(++world_calls == ckpt_at, 0)) {
        if (ckpt_every)
            ckpt_at += ckpt_every;
        checkpoint();
    }
}

void checkpoint_summary(void)
{
    if (getenv("MEND_CAPSULE_VERBOSE") && upper.rank == 0)
        fprintf(stderr, "mend: %ld collectives of all ranks, each a possible checkpoint\n",
                world_calls);
}

__attribute__((constructor)) static void init_core(void)
{
    upper.lower = (const struct lower *)getauxval(AUXV_MEND_LOWER);
    if (!upper.lower) {
        fprintf(stderr, "mend: not started through the lower half\n");
        _exit(112);
    }
    ((struct lower *)upper.lower)->upper = &upper;
    upper.user_op = run_user_op;
    upper.each_request = each_request;
    const char *s;
    if ((s = getenv("MEND_CAPSULE_AT")))
        ckpt_at = atol(s);
    if ((s = getenv("MEND_CAPSULE_EVERY")))
        ckpt_every = atol(s);
    ckpt_dir = (s = getenv("MEND_CAPSULE_DIR")) ? s : "ckpt";
    objects_init();
    face_init();
    upper.thread_pointer = thread_pointer_get();
    os_init();
}
