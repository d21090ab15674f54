/* threads.c - how many threads may work on an image. */
#include "ground/ground.h"

#include <sched.h>

static const uint64_t least = 4 << 20; /* bytes for a thread: it has its price */

int threads_for(uint64_t bytes, uint64_t ranks)
{
    cpu_set_t cores;
    uint64_t n = sched_getaffinity(0, sizeof cores, &cores) ? 1 : (uint64_t)CPU_COUNT(&cores);
    n /= ranks ? ranks : 1;
    n = n < bytes / least ? n : bytes / least;
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
}
