/* cpu.h - aarch64; see arch.h. */
#ifndef CAPSULE_AARCH64_H
#define CAPSULE_AARCH64_H
#define ARCH_NAME    "aarch64"
#define ARCH_AUDIT   AUDIT_ARCH_AARCH64
#define ARCH_MACHINE EM_AARCH64

struct context {
    uint64_t x[12], sp, d[8], fpcr; /* context.S uses the offsets */
};

static inline uint64_t context_target(const struct context *c)
{
    return c->x[11]; /* x30 */
}

static inline __attribute__((always_inline)) void *thread_pointer_get(void)
{
    void *p;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(p));
    return p;
}

static inline __attribute__((always_inline)) void thread_pointer_set(void *p)
{
    __asm__ volatile("msr tpidr_el0, %0" ::"r"(p) : "memory");
}

static inline __attribute__((always_inline)) void thread_pointer_set_fast(void *p)
{
    thread_pointer_set(p);
}

/* There is only one way, on every machine. */
static inline void thread_pointer_choose(int fast)
{
    (void)fast;
}

static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                     x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
                     x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

static inline unsigned long trap_argument(const ucontext_t *uc, int i)
{
    return uc->uc_mcontext.regs[i];
}

static inline void trap_result(ucontext_t *uc, long value)
{
    uc->uc_mcontext.regs[0] = (unsigned long)value;
}

static inline void trap_repeat(ucontext_t *uc, unsigned long first)
{
    uc->uc_mcontext.regs[0] = first;
    uc->uc_mcontext.pc -= 4;
}

static inline int is_before_call(const ucontext_t *uc, long number)
{
    enum { SVC_0 = 0xd4000001 };
    return uc->uc_mcontext.regs[8] == (unsigned long)number &&
           *(const uint32_t *)uc->uc_mcontext.pc == SVC_0;
}

static inline uintptr_t interrupted_at(const ucontext_t *uc)
{
    return uc->uc_mcontext.pc;
}

static inline void *signal_frame(void *siginfo, void *uc)
{
    (void)uc;
    return siginfo; /* the kernel's frame starts with siginfo */
}

static inline long clone_into_frame(long flags, void *frame, void *thread_pointer, int *tid)
{
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = flags;
    register void *x1 __asm__("x1") = frame;
    register int *x2 __asm__("x2") = tid;
    register void *x3 __asm__("x3") = thread_pointer;
    register int *x4 __asm__("x4") = tid;
    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x8, %[sigreturn]\n\t"
                     "svc 0\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3),
                       "r"(x4), [sigreturn] "i"(SYS_rt_sigreturn)
                     : "memory");
    return x0;
}
#endif
