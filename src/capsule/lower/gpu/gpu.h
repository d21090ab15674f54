/* gpu.h - the driver moves the state of a program on GPUs into the process' own memory, so that an image holds it.
 *
 * The driver does this for a process when another process asks (cuCheckpointProcess…, since CUDA 12.8). That other
 * process is this program again, started as a helper (helper.c). A thread of the driver in our process does the
 * work. It may need any lock of malloc, so no thread may be stopped meanwhile. Around an image:
 *
 *   1. gpu_take(), when all messages are counted, before any thread is interrupted: work that is queued on the device
 *      completes, and calls of the driver wait from now on. The content of the devices moves into host memory, and the
 *      devices are closed. The program may continue its work on the host.
 *   2. The image. The process has no device open any more: it is like any other.
 *   3. gpu_give_back(), when all threads continue: the content moves back onto the devices, and the calls continue.
 *      The same in a resumed process (gpu_resumed), under its new process id.
 *
 * 1 and 3 take seconds, in which the agent must answer others: a thread of ours waits for them.
 *
 * A job that repairs itself in place needs no more than that. When an older upper half replaces the current one:
 *
 *   4. gpu_abandon() kills a helper that is at work, because the thread that would answer it is about to end.
 *   5. The upper half's threads end, its files are closed and its memory is unmapped, including those of the devices:
 *      to the kernel driver this is the end of a process that used them, and it frees what is on the devices.
 *   6. The older upper half is loaded as in any other process, and 3 follows. What was on the devices meanwhile is lost
 *      on purpose: nobody waits for a kernel that may never end.
 */
#ifndef CAPSULE_GPU_H
#define CAPSULE_GPU_H
#include "ground/ground.h"

/* Does the program have a device of the driver open? If so, `path` gets its path. */
int gpu_used(char *path, size_t room);
/* Why the last step failed; "": it did not, or there was none. */
const char *gpu_why(void);

/* Call it at the start of a job, repeatedly, until it is not 0. If the program uses a GPU, it asks the driver.
 * 1: the driver knows the program. -1: it is clear that no image will hold the state of the GPU; say() was called,
 * perhaps from another thread. Other obstacles (memory that the driver does not take, such as managed or shared
 * memory) show only at the first checkpoint. */
int gpu_look(void (*say)(const char *device, const char *why));

/* Begins, and calls done() at the end, from another thread; or does nothing if there is nothing to take
 * (gpu_is_busy). */
void gpu_take(void (*done)(void));
void gpu_give_back(
    void);              /* begins; the process dies if it fails, as it does if a helper is killed */
int gpu_is_busy(void);  /* one of them is in progress */
int gpu_held(void);     /* 1: an image holds it now; 0: nothing to hold, or impossible (gpu_why) */
void gpu_resumed(void); /* from an image that holds it: gpu_give_back() will follow */
void gpu_abandon(void); /* the upper half will be replaced; returns when nothing is in progress */

/* The helper: `capsule --gpu PID LIBRARY [from=DEVICES] [map=MAP] STEP…`; ends the process. */
void gpu_help(int argc, char **argv);
/* Runs it for this process. 0; -1: failed, the driver is as before; -2: failed, and it is not; -3: the helper was
 * killed, by us if the driver does not answer within capsule.gpu_limit (getState: 60 s), and nobody knows. `text` gets what the helper said: why it failed, or the devices of a program that was
 * taken. */
int gpu_ask(const char *library, const char *const *steps, char *text, size_t room);
void gpu_stop_asking(void); /* from another thread: kills the running helper, if any */
#endif
