/* os/number.c - the process ID, as a GPU driver sees it.
 *
 * A driver remembers the process ID from its start and takes a process with another one for a forked child, which may not
 * use its devices. A resumed process has another ID. So in that process getpid() gives the driver's library the first ID; all
 * other code, and the process's children, get the true one.
 */
#include "os/os.h"

#include <unistd.h>

static struct {
    int first, now;     /* at the program's start; since the latest resume */
    uintptr_t from, to; /* addresses of the driver's library */
} number;

void number_init(void)
{
    number.first = number.now = (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

void number_resumed(void)
{
    number.now = (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

int is_forked_child(void)
{
    return raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != number.now;
}

/* At a checkpoint, for each mapping of the library. `first`: this is its first one. */
void number_note(uintptr_t from, uintptr_t to, int first)
{
    if (first)
        number.from = from;
    number.to = to;
}

pid_t getpid(void)
{
    int is = (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    return is == number.now && caller >= number.from && caller < number.to ? number.first : is;
}
