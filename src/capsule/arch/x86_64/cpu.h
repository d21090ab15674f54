/* cpu.h - x86_64; see arch.h. */
#ifndef CAPSULE_X86_64_H
#define CAPSULE_X86_64_H
#define ARCH_NAME    "x86_64"
#define ARCH_AUDIT   AUDIT_ARCH_X86_64
#define ARCH_MACHINE EM_X86_64

struct context {
    uint64_t rbx, rbp, r12, r13, r14, r15, sp, pc; /* context.S uses the offsets */
    uint32_t mxcsr, fpucw;
};

static inline uint64_t context_target(const struct context *c)
{
    return c->pc;
}

static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return number;
}

/* The thread pointer is the FS base; by the ABI, the word there points to itself. wrfsbase needs a
 * CPU and a kernel (5.9) that allow it; without them, arch_prctl sets the base. The flag is a
 * property of the machine, not of the image: each half has one, and a resume sets it again.
 */
#define ARCH_SETS_FS 0x1002
extern int thread_pointer_fast __attribute__((visibility("hidden"))); /* context.S */

static inline void thread_pointer_choose(int fast)
{
    thread_pointer_fast = fast;
}

static inline __attribute__((always_inline)) void *thread_pointer_get(void)
{
    void *p;
    __asm__ volatile("mov %%fs:0, %0" : "=r"(p));
    return p;
}

/* The system call lies out of line, at the end of the section, and changes no register. Written in C, it would
 * make each of the busiest functions spill its arguments to memory, even where the call never happens. It is not
 * a function, because in_fast_code() recognises the caller's section. A leaf function may keep data in the 128
 * bytes below the stack pointer, so the code skips them.
 */
static inline __attribute__((always_inline)) void thread_pointer_set(void *p)
{
    __asm__ volatile("cmpl $0, %[fast]\n\t"
                     "je 1f\n\t"
                     "wrfsbase %[p]\n"
                     "2:\n\t"
                     ".subsection 1\n"
                     "1:\n\t"
                     "lea -128(%%rsp), %%rsp\n\t"
                     "push %%rax\n\t"
                     "push %%rcx\n\t"
                     "push %%rdi\n\t"
                     "push %%rsi\n\t"
                     "push %%r11\n\t"
                     "mov %[p], %%rsi\n\t"
                     "mov %[code], %%edi\n\t"
                     "mov %[call], %%eax\n\t"
                     "syscall\n\t"
                     "pop %%r11\n\t"
                     "pop %%rsi\n\t"
                     "pop %%rdi\n\t"
                     "pop %%rcx\n\t"
                     "pop %%rax\n\t"
                     "lea 128(%%rsp), %%rsp\n\t"
                     "jmp 2b\n\t"
                     ".previous"
                     :
                     : [p] "r"(p), [fast] "m"(thread_pointer_fast), [code] "i"(ARCH_SETS_FS),
                       [call] "i"(SYS_arch_prctl)
                     : "memory", "cc");
}

/* Where the caller knows that the instruction is allowed. */
static inline __attribute__((always_inline)) void thread_pointer_set_fast(void *p)
{
    __asm__ volatile("wrfsbase %0" ::"r"(p) : "memory");
}

static inline unsigned long trap_argument(const ucontext_t *uc, int i)
{
    static const int place[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    return (unsigned long)uc->uc_mcontext.gregs[place[i]];
}

static inline void trap_result(ucontext_t *uc, long value)
{
    uc->uc_mcontext.gregs[REG_RAX] = value;
}

static inline void trap_repeat(ucontext_t *uc, unsigned long first)
{
    uc->uc_mcontext.gregs[REG_RDI] = (greg_t)first;
    uc->uc_mcontext.gregs[REG_RIP] -= 2;
}

static inline int is_before_call(const ucontext_t *uc, long number)
{
    const unsigned char *at = (const unsigned char *)uc->uc_mcontext.gregs[REG_RIP];
    return uc->uc_mcontext.gregs[REG_RAX] == number && at[0] == 0x0f && at[1] == 0x05;
}

static inline uintptr_t interrupted_at(const ucontext_t *uc)
{
    return (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
}

static inline void *signal_frame(void *siginfo, void *uc)
{
    (void)siginfo;
    return uc; /* the frame is: return address, ucontext, siginfo */
}

/* A tile shape if the program uses AMX tiles, else NULL (machine.c). The kernel gives a thread room for
 * tiles when the thread first touches one, and drops the tiles of a signal frame if there is no room. So
 * the thread touches a tile before it returns through its frame.
 */
extern const void *machine_tiles __attribute__((visibility("hidden")));

static inline long clone_into_frame(long flags, void *frame, void *thread_pointer, int *tid)
{
    register int *r10 __asm__("r10") = tid;
    register void *r8 __asm__("r8") = thread_pointer;
    register const void *r9 __asm__("r9") = machine_tiles;
    long r = SYS_clone;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "test %%r9, %%r9\n\t"
                     "jz 2f\n\t"
                     ".byte 0xc4, 0xc2, 0x78, 0x49, 0x01\n\t" /* ldtilecfg (%r9) */
                     ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0\n"   /* tilezero %tmm0 */
                     "2:\n\t"
                     "mov %[sigreturn], %%eax\n\t"
                     "syscall\n"
                     "1:"
                     : "+a"(r)
                     : "D"(flags), "S"(frame), "d"(tid), "r"(r10), "r"(r8),
                       "r"(r9), [sigreturn] "i"(SYS_rt_sigreturn)
                     : "rcx", "r11", "memory", "cc");
    return r;
}
#endif
