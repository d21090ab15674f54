/* Asks the kernel, in a way that a container's profile cannot forbid: process_vm_readv is refused in many. */
#include "base/readable.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel reads the signal set before it looks at what to do with it, which is nothing that exists. */
static bool readable_as_set(const void *at)
{
    enum { NO_SUCH_CHANGE = 1 << 20, SET_BYTES = 8 };
    return syscall(SYS_rt_sigprocmask, NO_SUCH_CHANGE, at, NULL, SET_BYTES) != 0 && errno != EFAULT;
}

/* process_vm_readv comes first: unlike a load, it does not touch the registers of a mapped device. */
bool mend_readable(const void *at)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)at, 1};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1)
        return true;
    return errno != EFAULT && readable_as_set(at);
}
