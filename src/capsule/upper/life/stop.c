/* stop.c - the upper half's part of a checkpoint, and what follows a restart. */
#include "comm/comm.h"
#include "core/face.h"
#include "io/io.h"
#include "messages/messages.h"
#include "os/os.h"
#include "types/types.h"
#include "windows/windows.h"

#include <errno.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bind all objects to a new lower half. Collective over all ranks. */
static void rebind(void)
{
    bind_predefined();
    LOWER(comms_rebuild, &upper);
    rebind_types();
    rebind_ops();
    rebind_windows();
    rebind_files();
    rebind_buffer();
    rebind_tool();
    rebind_requests();
}

/* Another thread already speaks for this process. Let it park this thread, or continue when the
 * checkpoint is over. */
static void let_the_other_speak(void)
{
    int inside = in_library;
    in_library = 0;
    while (upper.stop_phase == STOP_HERE)
        raw_syscall(SYS_nanosleep, (long)&(struct timespec){0, 1000000}, 0, 0, 0, 0, 0);
    in_library = inside;
}

/* Take the image. Returns 1 in the process that took it, 0 in a process resumed from it. */
static int save_or_resume(void)
{
    volatile double then = clock_now();
    forget_freed_comms();
    volatile int on_gpu = LOWER(gpu_held); /* the image includes the GPU's contents */
    files_before_image();
    os_before_image();
    windows_before_image(); /* unmaps shared windows for a while: the threads are parked */
    note_maps();            /* the mappings still shared are the program's own */
    if (context_save(&upper.context) == 0) {
        LOWER(agent_save, &upper);
        windows_go_on();
        os_go_on();
        return 1;
    }
    thread_pointer_choose(upper.lower->thread_pointer_fast);
    upper.stop_phase = STOP_NONE; /* in a new process, with a new upper.lower */
    upper.activity = ACTIVITY_NONE;
    core.wtime_shift += then - clock_now();
    unbind_requests();
    rebind();
    os_resumed();
    LOWER(resumed);
    if (on_gpu)
        LOWER_VOID(gpu_resumed); /* before anybody can ask for the next checkpoint */
    LOWER(agent_start, &upper);
    files_of_lower_half();
    LOWER_VOID(bring_back_threads, &upper);
    name_threads_again();
    if (on_gpu)
        LOWER_VOID(gpu_give_back); /* the program's GPU calls wait for that */
    return 0;
}

double core_clock(void)
{
    return clock_now() + core.wtime_shift;
}

static void leave_for_good(void)
{
    EACH_REQUEST (r)
        if (!r->req.done && !r->req.special)
            LOWER(Cancel, &r->real, &r->req.status);
    windows_leave();
    LOWER_VOID(agent_end);
    LOWER_VOID(leave);
    _exit(0);
}

/* The main thread speaks for this process. Until the checkpoint is over, or this thread is parked: */
static void step_aside(void)
{
    if (upper.several) {
        baton_rest();
        return;
    }
    in_library--;
    raw_syscall(SYS_nanosleep, (long)&(struct timespec){0, 50000}, 0, 0, 0, 0, 0);
    in_library++;
}

/* Stop here if a checkpoint is in progress.
 *
 *   1. Tell the agent that this rank sends nothing from now on: its counts are final.
 *   2. Drain until the agent knows that all messages to us have arrived and all of ours have left.
 *   3. When all ranks have done so, write the image at this very place. A restart comes back here.
 *   4. Wait until the version is complete (or given up), and continue.
 */
void stop_now(void)
{
    uint64_t mask;
    baton_pass();
    while (upper.stop_phase == STOP_HERE && !thread_may_speak() && in_library == 1 && !upper.unsafe)
        step_aside();
    if (upper.stop_phase != STOP_HERE || !thread_may_speak() || upper.unsafe || in_library > 1 ||
        child_is_awaited() || file_in_passing())
        return;
    block_signals(&mask);
    int role = LOWER(agent_stop_begin);
    if (role == STOP_ROLE_SPEAKER) {
        upper.sigmask = mask;
        core.speaking = 1;
        windows_flush();
        for (;;) {
            int quiet = drain_step();
            int command = LOWER(agent_stop_poll, quiet);
            if (command == STOP_COMMAND_SAVE && !save_or_resume())
                break;
            if (command == STOP_COMMAND_LEAVE)
                leave_for_good();
            if (command == STOP_COMMAND_GO_ON) {
                LOWER_VOID(agent_stop_end);
                break;
            }
        }
    }
    core.speaking = 0;
    restore_signals(&mask);
    if (role == STOP_ROLE_LISTENER)
        let_the_other_speak();
}

/* The agent interrupted the main thread outside MPI. Another thread may be inside, whatever the program has asked for, and
 * nothing counts who is (faces/fast.h): so all others are parked first, until this thread is out of MPI again. If one cannot
 * be parked, it is on its way to stop_now(), where it can, or out of MPI; the agent interrupts us again. */
void stop_from_signal(void)
{
    in_library++;
    if (!upper.several) {
        if (!child_is_awaited() && !file_in_passing() && hold_threads()) {
            stop_now();
            release_held_threads();
        }
    } else if (baton_try()) { /* else its holder stops, or the agent interrupts us again */
        stop_now();
        baton_give();
    }
    in_library--;
}

__attribute__((constructor)) static void start_core(int argc, char **argv)
{
    core.argc = argc;
    core.argv = argv;
    upper.lower = (const struct lower *)getauxval(AUXV_MEND_LOWER);
    if (!upper.lower) {
        fprintf(stderr, "mend: this MPI library works only in a capsule (mend run)\n");
        _exit(1);
    }
    thread_pointer_choose(upper.lower->thread_pointer_fast);
    ((struct lower *)upper.lower)->upper = &upper;
    upper.user_op = run_user_op;
    upper.each_request = each_request;
    objects_init();
    requests_init();
    face_init();
    bind_predefined();
    os_init();
}
