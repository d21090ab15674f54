/* refuse.c - what no image can hold: the state of a GPU that the driver did not bring into the process' memory.
 *
 * A program with the driver's library in its half and a device of the driver open would be saved without it, and fail at
 * its first call after a resume. (If the driver did its part, no device is open now: gpu/gpu.h.)
 */
#include "gpu/gpu.h"
#include "images/image.h"
#include "images/snapshot.h"

#include <base/fail.h>

int snapshot_refused(void)
{
    char path[4200];
    if (!gpu_used(path, sizeof path))
        return 0;
    const char *why = *gpu_why() ? gpu_why() : "it was opened during the checkpoint";
    return mend_fail(MEND_ERR_UNSUPPORTED,
                     "the program uses a GPU (%s is open), and its state there cannot be saved: %s",
                     path, why);
}
