/* steer.c - keeping the upper half's mappings below UPPER_END.
 *
 * A seccomp filter looks at the few system calls that choose addresses. If the instruction that
 * issued one lies in the arena it is the upper half's, and SIGSYS is raised; the handler does the
 * call with an address of our choice. The lower half and its threads are never touched, nothing in
 * libc or ld.so is patched, and any code is caught: malloc, dlopen, thread stacks, raw system
 * calls. The filter is inherited by programs that the application starts, but does nothing there:
 * no program of its own accord has code at 7..16 TiB.
 *
 * The handler runs with the UPPER half's thread pointer: it must not touch libc (errno is
 * thread-local), hence raw_syscall().
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lower.h"

struct steering steering = {UPPER_ARENA, UPPER_BREAK};
unsigned long steering_traps;
int main_tid;

/* mmap() somewhere in the arena.  Addresses only grow, and wrap at the end. */
long arena_mmap(size_t len, int prot, int flags, int fd, long off)
{
    size_t align = len >= (2u << 20) ? (2u << 20) : 1u << 16; /* let THP work */
    for (int tries = 0; tries < 1 << 20; tries++) {
        uintptr_t old = __atomic_load_n(&steering.cursor, __ATOMIC_RELAXED), at, next;
        do {
            at = ROUND_UP(old, align);
            if (at + len > UPPER_END)
                at = UPPER_ARENA;
            next = at + ROUND_UP(len, page_size);
        } while (!__atomic_compare_exchange_n(&steering.cursor, &old, next, 0, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED));
        long r = raw_syscall(SYS_mmap, at, len, prot, flags | MAP_FIXED_NOREPLACE, fd, off);
        if (r != -EEXIST)
            return r;
    }
    return -ENOMEM;
}

static long upper_mmap(uintptr_t addr, size_t len, int prot, int flags, int fd, long off)
{
    if (len == 0)
        return -EINVAL;
#ifdef MAP_32BIT
    if ((flags & MAP_32BIT) && !(flags & MAP_FIXED)) /* below 2 GiB: the upper half's anyway */
        return raw_syscall(SYS_mmap, addr, len, prot, flags, fd, off);
#endif
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))
        return addr + len > UPPER_END ? -ENOMEM
                                      : raw_syscall(SYS_mmap, addr, len, prot, flags, fd, off);
    if (addr && addr + len <= UPPER_END) { /* honour a hint */
        long r = raw_syscall(SYS_mmap, ROUND_DOWN(addr, page_size), len, prot,
                             flags | MAP_FIXED_NOREPLACE, fd, off);
        if (r > 0)
            return r;
    }
    return arena_mmap(len, prot, flags, fd, off);
}

static long upper_mremap(uintptr_t old, size_t olen, size_t nlen, int flags, uintptr_t to)
{
    if (!(flags & MREMAP_MAYMOVE) || (flags & MREMAP_FIXED))
        return raw_syscall(SYS_mremap, old, olen, nlen, flags, to, 0);
    long r = raw_syscall(SYS_mremap, old, olen, nlen, flags & ~MREMAP_MAYMOVE, 0, 0);
    if (r != -ENOMEM)
        return r;
    r = arena_mmap(nlen, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return r < 0 ? r : raw_syscall(SYS_mremap, old, olen, nlen, flags | MREMAP_FIXED, r, 0);
}

static long upper_brk(uintptr_t want)
{
    uintptr_t have = ROUND_UP(steering.break_now, page_size), need = ROUND_UP(want, page_size);
    if (want < UPPER_BREAK || want > UPPER_ARENA)
        return steering.break_now;
    if (need > have && raw_syscall(SYS_mmap, have, need - have, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) < 0)
        return steering.break_now;
    if (need < have)
        raw_syscall(SYS_munmap, need, have - need, 0, 0, 0, 0);
    return steering.break_now = want;
}

/* The upper half is done: now run the exit handlers of the lower half, too
 * (MPICH 4 says goodbye to its process manager in one of them). */
static void upper_exit(int status)
{
    if (raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0) ==
        main_tid) { /* no fork()ed child, no other thread */
        thread_pointer_set(lower.thread_pointer);
        output_direct();
        if (recovering)
            recover_ended(status);
        exit(status);
    }
    raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

static void on_sigsys(int sig, siginfo_t *si, void *context)
{
#define A(i) trap_argument(context, i)
    long r = -ENOSYS;
    (void)sig;
    switch (si->si_syscall) {
    case SYS_mmap: r = upper_mmap(A(0), A(1), A(2), A(3), A(4), A(5)); break;
    case SYS_mremap: r = upper_mremap(A(0), A(1), A(2), A(3), A(4)); break;
    case SYS_brk: r = upper_brk(A(0)); break;
    case SYS_write: r = output_write(A(0), (const char *)A(1), A(2)); break;
    case SYS_writev: {
        const struct iovec *part = (const struct iovec *)A(1);
        r = 0;
        for (unsigned long i = 0; i < A(2) && r >= 0; i++) {
            long w = output_write(A(0), part[i].iov_base, part[i].iov_len);
            r = w < 0 ? w : r + w;
        }
        break;
    }
    case SYS_exit_group: upper_exit(A(0)); break;
    case SYS_set_tid_address:
        lower.tid_address = (int *)A(0);
        r = raw_syscall(SYS_set_tid_address, A(0), 0, 0, 0, 0, 0);
        break;
    }
    steering_traps++;
    trap_result(context, r);
#undef A
}

void steering_install(void)
{
    static int installed;
    if (installed++) /* filters add up, and cannot be removed */
        return;
    main_tid = syscall(SYS_gettid);
    struct sigaction sa = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&sa.sa_mask); /* no handler of the application in between */
    sigaction(SIGSYS, &sa, NULL);
    unsigned hold = output_held ? SYS_write : ~0u, holdv = output_held ? SYS_writev : ~0u;
    /* The system call number is tested first: for every other call the outcome
     * depends on (arch, nr) only, and the kernel then caches "allow" per call. */
    struct sock_filter f[] = {
#define LOAD(field, word) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + (word))
        /* 0*/ LOAD(arch, 0),
        /* 1*/ BPF_JUMP(BPF_JMP | BPF_JEQ, ARCH_AUDIT, 0, 19),
        /* 2*/ LOAD(nr, 0),
        /* 3*/ BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_mmap, 10, 0),
        /* 4*/ BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_mremap, 9, 0),
        /* 5*/ BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_brk, 8, 0),
        /* 6*/ BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_set_tid_address, 7, 0),
        /* 7*/ BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_exit_group, 6, 0),
        /* 8*/ BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_rseq, 5, 0),
        /* files 1 and 2, if what is printed is held back (output.c) */
        /* 9*/ BPF_JUMP(BPF_JMP | BPF_JEQ, hold, 1, 0),
        /*10*/ BPF_JUMP(BPF_JMP | BPF_JEQ, holdv, 0, 10),
        /*11*/ LOAD(args[0], 0),
        /*12*/ BPF_JUMP(BPF_JMP | BPF_JEQ, 1, 1, 0),
        /*13*/ BPF_JUMP(BPF_JMP | BPF_JEQ, 2, 0, 7),
        /*14*/ LOAD(instruction_pointer, 4),
        /*15*/ BPF_JUMP(BPF_JMP | BPF_JGE, UPPER_BREAK >> 32, 0, 5),
        /*16*/ BPF_JUMP(BPF_JMP | BPF_JGE, UPPER_END >> 32, 4, 0),
        /* rseq from the upper half: no such call.  An errno, not a trap: a new
         * thread registers rseq with all signals blocked, and a blocked SIGSYS kills. */
        /*17*/ LOAD(nr, 0),
        /*18*/ BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_rseq, 0, 1),
        /*19*/ BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        /*20*/ BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        /*21*/ BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog p = {sizeof f / sizeof *f, f};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &p))
        die("cannot install the seccomp filter: %s", strerror(errno));
}
