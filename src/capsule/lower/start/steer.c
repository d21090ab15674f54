/* steer.c - keeps the upper half's mappings below UPPER_END, and its pipes and event counters at numbers of
 * its own.
 *
 * A seccomp filter looks at the few system calls that choose addresses or make such files. If the instruction
 * that issued the call lies in the arena, it belongs to the upper half, and the kernel raises SIGSYS; the
 * handler makes the call with an address of our choice. The filter never touches the lower half and its
 * threads. Nothing in libc or ld.so is patched, and all code is covered: malloc, dlopen, thread stacks, raw
 * system calls. Programs that the application starts inherit the filter, but it does nothing there: no
 * program has code at 7..16 TiB of its own accord.
 *
 * The handler runs with the UPPER half's thread pointer: it must not touch libc (errno is thread-local), so
 * it uses raw_syscall().
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "undo/undo.h"
#include "output/output.h"
#include "start/start.h"

struct steering steering = {UPPER_ARENA, UPPER_BREAK};

/* mmap() somewhere in the arena. Addresses only grow, and wrap at the end. */
long arena_mmap(size_t len, int prot, int flags, int fd, long off)
{
    size_t align = len >= (2u << 20) ? (2u << 20) : 1u << 16; /* let THP work */
    if (len > UPPER_END - UPPER_ARENA)
        return -ENOMEM;
    for (int tries = 0; tries < 1 << 20; tries++) {
        uintptr_t old = __atomic_load_n(&steering.cursor, __ATOMIC_RELAXED), at, next;
        do {
            at = ROUND_UP(old, align);
            if (at + len > UPPER_END)
                at = UPPER_ARENA;
            next = at + ROUND_UP(len, ground.page_size);
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
    if (flags & MAP_SHARED && prot & PROT_WRITE && !(flags & MAP_ANONYMOUS))
        undo_note_map(fd, (uint64_t)off, len);
#ifdef MAP_32BIT
    if ((flags & MAP_32BIT) && !(flags & MAP_FIXED)) /* below 2 GiB: the upper half's anyway */
        return raw_syscall(SYS_mmap, addr, len, prot, flags, fd, off);
#endif
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))
        return addr + len > UPPER_END ? -ENOMEM
                                      : raw_syscall(SYS_mmap, addr, len, prot, flags, fd, off);
    if (addr && addr + len <= UPPER_END) { /* honour a hint */
        long r = raw_syscall(SYS_mmap, ROUND_DOWN(addr, ground.page_size), len, prot,
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
    uintptr_t have = ROUND_UP(steering.break_now, ground.page_size),
              need = ROUND_UP(want, ground.page_size);
    if (want < UPPER_BREAK || want > UPPER_ARENA)
        return steering.break_now;
    if (need > have && raw_syscall(SYS_mmap, have, need - have, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) < 0)
        return steering.break_now;
    if (need < have)
        raw_syscall(SYS_munmap, need, have - need, 0, 0, 0, 0);
    return steering.break_now = want;
}

/* The upper half is done: now run the exit handlers of the lower half, too (MPICH 4 says goodbye to its
 * process manager in one of them). */
static void upper_exit(int status)
{
    int pid = (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    if (pid == ground.main_tid) { /* else a fork()ed child */
        thread_pointer_set(lower.thread_pointer);
        if (!ended_output())
            exit(status ? status : 1);
        if (ground.recovering)
            recover_ended(status);
        else if (status)
            ended_by_exit(status);
        else
            ended_well();
        exit(status);
    }
    raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/* 1, 2: bytes that the application prints there, and that output.c numbers. 0: it writes to something else. What a
 * fork()ed child prints is not held back: its copy of our memory ends with it. */
static int printed(unsigned long fd)
{
    if (!output_is_held() || raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != ground.main_tid)
        return 0;
    int stream = standard_is((int)fd);
    return stream > 0 ? stream : 0;
}

static long output_writev(int stream, const struct iovec *part, unsigned long count)
{
    long r = 0;
    for (unsigned long i = 0; i < count; i++) {
        long w = output_write(stream, part[i].iov_base, part[i].iov_len);
        if (w < 0)
            return r ? r : w; /* the caller continues there, or sees the error next time */
        r += w;
        if ((size_t)w < part[i].iov_len)
            break;
    }
    return r;
}

/* All signals wait while the handler runs. A call that may wait for another process, or for a thread that a
 * checkpoint has parked, is not ours to make: open() of a named pipe, write() to a pipe, a socket or a terminal. None
 * of them changes a file. The program makes it again itself, with a mark in the half of the first argument, a
 * descriptor, that the kernel does not look at; the filter lets it pass.
 */
enum { PASSES = 0x4d656e64 };
static int is_write(long number)
{
    return number == SYS_write || number == SYS_writev;
}

static int may_wait(long number, const unsigned long a[6])
{
    struct stat st;
    long rc = number == SYS_openat ? CALL(newfstatat, a[0], a[1], &st, 0)
              : is_write(number)   ? CALL(fstat, a[0], &st, 0, 0)
                                   : -1;
    return rc == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int let_pass(const siginfo_t *si, void *context)
{
    unsigned long a[6];
    for (int i = 0; i < 6; i++)
        a[i] = trap_argument(context, i);
    if (!may_wait(si->si_syscall, a))
        return 0;
    trap_repeat(context, (unsigned long)PASSES << 32 | (uint32_t)a[0]);
    return 1;
}

static long file_call(const siginfo_t *si, const void *context)
{
    unsigned long a[6];
    for (int i = 0; i < 6; i++)
        a[i] = trap_argument(context, i);
    return undo_call(si->si_syscall, a);
}

/* upper/os moves the files that libc opens. A GPU driver makes these without libc. */
static long upper_number(long fd, long flags)
{
    if (fd < 0 || fd >= UPPER_FILES)
        return fd;
    long moved = raw_syscall(SYS_fcntl, fd, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD,
                             UPPER_FILES, 0, 0, 0);
    if (moved < 0)
        return fd;
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    return moved;
}

static long upper_pipe(int *two, long flags, unsigned long mark)
{
    long r = raw_syscall(SYS_pipe2, (long)two, flags, 0, 0, 0, 0);
    for (int i = 0; r == 0 && mark != NUMBERS_AS_THEY_ARE && i < 2; i++)
        two[i] = (int)upper_number(two[i], flags);
    return r;
}

static long upper_events(unsigned long count, long flags, unsigned long mark)
{
    long fd = raw_syscall(SYS_eventfd2, (long)count, flags, 0, 0, 0, 0);
    return mark == NUMBERS_AS_THEY_ARE ? fd : upper_number(fd, flags);
}

static void on_sigsys(int sig, siginfo_t *si, void *context)
{
#define A(i) trap_argument(context, i)
    long r = -ENOSYS;
    (void)sig;
    int stream = is_write(si->si_syscall) ? printed(A(0)) : 0;
    if (!stream && let_pass(si, context))
        return;
    switch (si->si_syscall) {
    case SYS_mmap: r = upper_mmap(A(0), A(1), A(2), A(3), A(4), A(5)); break;
    case SYS_mremap: r = upper_mremap(A(0), A(1), A(2), A(3), A(4)); break;
    case SYS_brk: r = upper_brk(A(0)); break;
    case SYS_pipe2: r = upper_pipe((int *)A(0), (long)A(1), A(5)); break;
    case SYS_eventfd2: r = upper_events(A(0), (long)A(1), A(5)); break;
#ifdef SYS_pipe
    case SYS_pipe: r = upper_pipe((int *)A(0), 0, 0); break;
    case SYS_eventfd: r = upper_events(A(0), 0, 0); break;
#endif
    case SYS_write:
        r = stream ? output_write(stream, (const char *)A(1), A(2)) : file_call(si, context);
        break;
    case SYS_writev:
        r = stream ? output_writev(stream, (const struct iovec *)A(1), A(2))
                   : file_call(si, context);
        break;
    case SYS_exit_group: upper_exit(A(0)); break;
    case SYS_set_tid_address:
        lower.tid_address = (int *)A(0);
        r = raw_syscall(SYS_set_tid_address, A(0), 0, 0, 0, 0, 0);
        break;
    default: r = file_call(si, context);
    }
    trap_result(context, r);
#undef A
}

/* --- the filter ---------------------------------------------------------------------------------
 * One block per system call: its number, then conditions on its arguments, then a jump to the test
 * of the instruction pointer. The number comes first: for every other call the outcome depends on
 * (arch, nr) only, and the kernel then caches "allow" per call.
 */
struct filter {
    struct sock_filter code[256];
    int count;
};

static void emit(struct filter *f, uint16_t code, uint32_t k, int yes, int no)
{
    f->code[f->count++] = (struct sock_filter){code, (uint8_t)yes, (uint8_t)no, k};
}

enum condition { ALWAYS, STANDARD_OUTPUT, ANY_FILE, BOTH, CREATES };

/* Test the call if the condition holds; `field` is the number of the argument that it is about. */
static void rule(struct filter *f, long number, enum condition condition, int field)
{
    int start = f->count;
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 0);
    if (number == SYS_openat || is_write(number)) {
        emit(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[0]) + 4, 0,
             0);
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, PASSES, 0, 1);
        emit(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    }
    if (condition != ALWAYS)
        emit(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[field]), 0,
             0);
    if (condition == CREATES)
        emit(f, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | O_TRUNC, 1, 0);
    if (condition == ANY_FILE)
        emit(f, BPF_JMP | BPF_JGE | BPF_K, 3, 1, 0);
    if (condition == BOTH)
        emit(f, BPF_JMP | BPF_JGE | BPF_K, 1, 1, 0);
    if (condition == STANDARD_OUTPUT) {
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 2, 0);
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 2, 1, 0);
    }
    if (condition != ALWAYS)
        emit(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    emit(f, BPF_JMP | BPF_JA, 0, 0, 0); /* to the test, see filter_build */
    f->code[start].jf = (uint8_t)(f->count - start - 1);
}

static void filter_build(struct filter *f)
{
    static const long address[] = {SYS_mmap,       SYS_mremap,          SYS_brk,
                                   SYS_exit_group, SYS_set_tid_address, SYS_rseq,
#ifdef SYS_pipe
                                   SYS_pipe,       SYS_eventfd,
#endif
                                   SYS_pipe2,      SYS_eventfd2};
    static const long by_name[] = {SYS_unlinkat,  SYS_renameat, SYS_renameat2, SYS_truncate,
#ifdef SYS_open
                                   SYS_creat,     SYS_unlink,   SYS_rename,
#endif
                                   SYS_ftruncate, SYS_fallocate};
    static const long at_place[] = {SYS_pwrite64, SYS_pwritev, SYS_pwritev2};
    int undo = undo_log.folder[0] != 0;
    emit(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, 1, 0);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    emit(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    for (size_t i = 0; i < sizeof address / sizeof *address; i++)
        rule(f, address[i], ALWAYS, 0);
    if (output_is_held() || undo) {
        enum condition c = !undo ? STANDARD_OUTPUT : !output_is_held() ? ANY_FILE : BOTH;
        rule(f, SYS_write, c, 0);
        rule(f, SYS_writev, c, 0);
    }
    for (size_t i = 0; undo && i < sizeof at_place / sizeof *at_place; i++)
        rule(f, at_place[i], ANY_FILE, 0);
    for (size_t i = 0; undo && i < sizeof by_name / sizeof *by_name; i++)
        rule(f, by_name[i], ALWAYS, 0);
    if (undo) {
        rule(f, SYS_openat, CREATES, 2);
#ifdef SYS_open
        rule(f, SYS_open, CREATES, 1);
#endif
        rule(f, SYS_copy_file_range, ALWAYS, 0);
    }
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    for (int i = 0; i < f->count; i++)
        if (f->code[i].code == (BPF_JMP | BPF_JA))
            f->code[i].k = (uint32_t)(f->count - i - 1);
    emit(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4, 0, 0);
    emit(f, BPF_JMP | BPF_JGE | BPF_K, UPPER_BREAK >> 32, 0, 1);
    emit(f, BPF_JMP | BPF_JGE | BPF_K, UPPER_END >> 32, 0, 1);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    /* rseq from the upper half: pretend that it does not exist. An errno, not a trap: a new thread registers
     * rseq with all signals blocked, and a blocked SIGSYS kills. The same for copies that undo.c cannot see.
     */
    emit(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_rseq, 1, 0);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_copy_file_range, 0, 1);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
    emit(f, BPF_RET | BPF_K, SECCOMP_RET_TRAP, 0, 0);
}

void steering_install(void)
{
    static int installed;
    if (installed++) /* filters add up, and cannot be removed */
        return;
    ground.main_tid = syscall(SYS_gettid);
    struct sigaction sa = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&sa.sa_mask); /* no application handler in between */
    sigaction(SIGSYS, &sa, NULL);
    struct filter f = {0};
    filter_build(&f);
    struct sock_fprog p = {(unsigned short)f.count, f.code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &p))
        die("this system does not let processes install seccomp filters (%s), and an unmodified "
            "program needs one",
            strerror(errno));
}
