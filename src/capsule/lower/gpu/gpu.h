/* gpu.h - the state of a program on GPUs, brought into the process' own memory by the driver, so that an
 * image holds it.
 *
 * The driver does this for a process when another one asks (cuCheckpointProcess…, since CUDA 12.8). That other one is this
 * program again, started as a helper (helper.c). Around an image:
 *
 *   1. gpu_lock(), when all messages are counted: what is queued on the device ends; calls of the
 *      driver wait from now on. It comes before the application's thread is interrupted, which may
 *      be inside such a call.
 *   2. gpu_hold(), before the threads are parked, for one of them does it: the content of the
 *      devices comes into host memory, the devices are closed.
 *   3. The image. The process has no device open any more: it is like any other.
 *   4. gpu_let_go(): back onto the devices, and the calls go on.
 * In a process that was resumed: gpu_again() is 4, with the new number of the process.
 */
#ifndef CAPSULE_GPU_H
#define CAPSULE_GPU_H
#include "ground/ground.h"

/* Does the program have a device of the driver open? Its path, into `path`. */
int gpu_used(char *path, size_t room);
/* Why the last step failed; "": it did not, or none was tried. */
const char *gpu_why(void);

void gpu_lock(void);
int gpu_hold(void); /* 1: an image holds it now; 0: there is nothing, or it cannot be (gpu_why) */
void gpu_let_go(void);  /* what of 1 and 2 was done is undone, in the background */
int gpu_is_bound(void); /* something is to be undone */
void gpu_again(void);   /* or die */

/* The helper: `capsule --gpu PID LIBRARY STEP…`; ends the process. */
void gpu_help(int argc, char **argv);
/* Run it for this process: 0, or what it said in `text`. */
int gpu_ask(const char *library, const char *const *steps, char *text, size_t room);
#endif
