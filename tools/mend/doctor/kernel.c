/* Kernel features: try each in a child process instead of trusting what the kernel claims. */
#include "doctor.h"
#include "filters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a test in a child. Returns its answer, or 1 if it died. */
static int in_child(int (*attempt)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(attempt());
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Write one page of two under asynchronous write protection: exactly that one is reported. */
static int try_write_tracking(void)
{
#if defined(UFFD_FEATURE_WP_ASYNC) && defined(PAGEMAP_SCAN)
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (fd < 0)
        return 1;
    struct uffdio_api api = {.api = UFFD_API,
                             .features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED};
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ioctl(fd, UFFDIO_API, &api) || memory == MAP_FAILED)
        return 1;
    memset(memory, 1, 2 * page);
    struct uffdio_register area = {.range = {(uintptr_t)memory, 2 * page},
                                   .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protect = {.range = area.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    if (ioctl(fd, UFFDIO_REGISTER, &area) || ioctl(fd, UFFDIO_WRITEPROTECT, &protect))
        return 1;
    memory[page] = 2;
    struct page_region found[2];
    struct pm_scan_arg scan = {.size = sizeof scan,
                               .start = (uintptr_t)memory,
                               .end = (uintptr_t)memory + 2 * page,
                               .vec = (uintptr_t)found,
                               .vec_len = 2,
                               .category_mask = PAGE_IS_WRITTEN,
                               .return_mask = PAGE_IS_WRITTEN};
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    int regions = ioctl(pagemap, PAGEMAP_SCAN, &scan);
    return !(regions == 1 && found[0].start == (uintptr_t)memory + page);
#else
    return 1;
#endif
}

static int try_namespaces(void)
{
    int user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
    return unshare(user | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWPID) != 0;
}

/* Read a sibling's memory, as MPI libraries do for large messages on one node. */
static int try_single_copy(void)
{
    static volatile int secret = 41;
    int seen = 0;
    pid_t child = fork();
    if (child == 0) {
        secret = 42;
        pause();
        _exit(0);
    }
    if (child < 0) /* and not a process to kill: -1 means all of the user's */
        return 1;
    struct iovec here = {&seen, sizeof seen}, there = {(void *)(uintptr_t)&secret, sizeof secret};
    for (int i = 0; i < 1000 && seen != 42; i++) {
        if (process_vm_readv(child, &here, 1, &there, 1, 0) < 0)
            break;
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return seen != 42;
}

void doctor_check_kernel(doctor *d)
{
    struct utsname name;
    uname(&name);
    doctor_find(d, "kernel", DOCTOR_GOOD, NULL, "%s %s on %s", name.sysname, name.release,
                name.machine);
    if (in_child(try_write_tracking) == 0)
        doctor_find(d, "userfaultfd", DOCTOR_GOOD, NULL,
                    "the kernel tracks writes (write-protect async, pagemap scan)");
    else
        doctor_find(d, "userfaultfd", DOCTOR_MISSING,
                    "needs Linux 6.7 or newer and sysctl vm.unprivileged_userfaultfd or a free "
                    "seccomp profile",
                    "no write tracking: Mend finds what changed by hashing and comparing, which "
                    "always works");
    int why = 0;
    const char *call = filters_denied(&why);
    if (!call)
        doctor_find(d, "seccomp", DOCTOR_GOOD, NULL,
                    "filters can be installed: unmodified programs can be protected");
    else if (strcmp(call, "seccomp") != 0)
        doctor_find(d, "seccomp", DOCTOR_MISSING, "in a container, a profile that allows the call",
                    "the system call %s is refused (%s): unmodified programs cannot be protected",
                    call, strerror(why));
    else
        doctor_find(
            d, "seccomp", DOCTOR_MISSING,
            "a kernel with CONFIG_SECCOMP_FILTER; in a container, a profile that allows seccomp()",
            "no filters: unmodified programs cannot be protected");
    if (in_child(try_namespaces) == 0)
        doctor_find(d, "namespaces", DOCTOR_GOOD, NULL, "allowed: nodes can be emulated for tests");
    else
        doctor_find(d, "namespaces", DOCTOR_MISSING,
                    "only for tests: sysctl kernel.unprivileged_userns_clone=1, or root",
                    "not allowed: tests on emulated nodes are skipped");
    if (in_child(try_single_copy) == 0)
        doctor_find(d, "cma", DOCTOR_GOOD, NULL,
                    "processes may read each other's memory: large messages take one copy");
    else
        doctor_find(d, "cma", DOCTOR_MISSING,
                    "sysctl kernel.yama.ptrace_scope=0; in a container, the SYS_PTRACE capability",
                    "large messages between ranks of a node take two copies");
}
