/* os/number.c - the number of the process, as the driver of a GPU sees it.
 *
 * A driver that remembers the number it began with takes a process with another one for a forked child, which may not use
 * its devices. A resumed process has another number. So the library of the driver gets the first one, in that process; all
 * other code, and its children, get the true one.
 */
#include "os/os.h"

#include <unistd.h>

static struct {
    int first, now;     /* when the program began; since it was resumed */
    uintptr_t from, to; /* of the driver's library */
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

/* At a checkpoint: a part of the library. The first one begins it. */
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
