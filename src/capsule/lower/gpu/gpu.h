/* gpu.h - the state of a program on GPUs, brought into the process' own memory by the driver, so that an
 * image holds it.
 *
 * The driver does this for a process when another one asks (cuCheckpointProcess…, since CUDA 12.8). That other one is this
 * program again, started as a helper (helper.c). A thread of the driver's in our process does the work. It may need any
 * lock of malloc, so no thread may be held up meanwhile. Around an image:
 *
 *   1. gpu_take(), when all messages are counted, before any thread is interrupted: what is queued on the device ends,
 *      calls of the driver wait from now on. The content of the devices comes into host memory, the devices are
 *      closed. The program may go on with what it does on the host.
 *   2. The image. The process has no device open any more: it is like any other.
 *   3. gpu_give_back(), when all threads go on: back onto the devices, and the calls go on. In a process that was
 *      resumed (gpu_resumed), too, with its new number.
 *
 * 1 and 3 take seconds, in which the agent must answer others: a thread of ours waits for them.
 *
 * A job that repairs itself in place needs no more than that. Where the upper half is left for an older one:
 *
 *   4. gpu_abandon(): a helper that is at work is killed, for the thread that would answer it is about to end.
 *   5. The upper half's threads end, its files are closed and its memory is unmapped, those of the devices as well: to the
 *      kernel's driver this is the end of a process that used them, and it frees what is on the devices.
 *   6. The older upper half is loaded as in any other process, and 3 follows. What was on the devices meanwhile is lost on
 *      purpose: nobody waits for a kernel that may never end.
 */
#ifndef CAPSULE_GPU_H
#define CAPSULE_GPU_H
#include "ground/ground.h"

/* Does the program have a device of the driver open? Its path, into `path`. */
int gpu_used(char *path, size_t room);
/* Why the last step failed; "": it did not, or none was tried. */
const char *gpu_why(void);

/* At the start of a job, again and again until it is 1. If the program uses a GPU, it asks the driver, and calls say() if it
 * is clear that no image will hold what is on it, perhaps from another thread. Others (memory that the driver does not
 * take, such as managed or shared memory) are known at the first checkpoint. */
int gpu_look(void (*say)(const char *device, const char *why));

/* Begins, and calls done() at its end, from another thread; or it is over at once. */
void gpu_take(void (*done)(void));
void gpu_give_back(void); /* begins; the process dies if it cannot be done */
int gpu_is_busy(void);    /* one of them is under way */
int gpu_held(void); /* 1: an image holds it now; 0: there is nothing, or it cannot be (gpu_why) */
void gpu_resumed(void); /* from an image that holds it: gpu_give_back() will follow */
void gpu_abandon(void); /* the upper half will be replaced; returns when nothing is under way */

/* The helper: `capsule --gpu PID LIBRARY [from=DEVICES] [map=MAP] STEP…`; ends the process. */
void gpu_help(int argc, char **argv);
/* Run it for this process: 0; -1: the driver is left as it was, -2: it is not. What it said, in `text`: why it failed, or the
 * devices of a program that was taken. */
int gpu_ask(const char *library, const char *const *steps, char *text, size_t room);
void gpu_stop_asking(void); /* from another thread: kills the helper that runs, if any */
#endif
