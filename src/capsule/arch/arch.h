/* arch.h - everything that differs between CPUs, in one folder per CPU. Both halves use it.
 *
 * In CPU/cpu.h:
 *   ARCH_NAME, ARCH_AUDIT, ARCH_MACHINE  the CPU's name in images, in seccomp and in ELF files
 *   struct context         callee-saved registers, filled by context_save()
 *   context_target         the address at which context_resume() would continue
 *   thread_pointer_get/set the register that leads to thread-local storage
 *   thread_pointer_set_fast  the same without a check, where machine_fast_thread_pointer() is 1
 *   thread_pointer_choose  select how this half sets it from now on (struct lower says what is allowed)
 *   raw_syscall            a system call that leaves errno alone
 *   trap_argument/result   of the system call that a SIGSYS reports
 *   trap_repeat            the program makes that call once more, with this first argument
 *   is_before_call         has a signal interrupted the thread before this system call, or in it, so that the
 *                          kernel makes it again?
 *   interrupted_at         the instruction that a signal interrupted
 *   signal_frame           where rt_sigreturn expects the stack pointer
 *   clone_into_frame       a thread whose first act is rt_sigreturn through a saved frame
 */
#ifndef CAPSULE_ARCH_H
#define CAPSULE_ARCH_H
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__aarch64__)
#include "aarch64/cpu.h"
#elif defined(__x86_64__)
#include "x86_64/cpu.h"
#else
#error "the capsule knows aarch64 and x86_64"
#endif

#ifdef __clang_analyzer__
/* The analyser does not see that the kernel writes through the arguments of a system call: hide the assembly. */
long opaque_syscall(long number, long a, long b, long c, long d, long e, long f);
#define raw_syscall opaque_syscall
#endif

/* --- CPU/context.S, in both halves --- */
/* Returns 0 after saving, 1 after a resume. */
int context_save(struct context *context) __attribute__((returns_twice, visibility("hidden")));
void context_resume(struct context *context, void *thread_pointer)
    __attribute__((noreturn, visibility("hidden")));
/* Start a program the way the kernel does after execve. */
void context_enter(void *entry, void *stack) __attribute__((noreturn, visibility("hidden")));
/* Call a C function at the top of another stack, aligned as the ABI requires. It must not return. */
void context_call(void (*function)(void), void *stack)
    __attribute__((noreturn, visibility("hidden")));
/* Where signal handlers of the upper half return to. */
void signal_restorer(void) __attribute__((visibility("hidden")));

/* --- CPU/machine.c, in the lower half --- */
/* Can this machine set the thread pointer without a system call? */
int machine_fast_thread_pointer(void);
/* Return addresses on saved stacks must stay valid in the next process: switch off whatever ties
 * them to this one. Nothing ever returns to a frame that exists already.
 */
void machine_release_returns(void);
/* The CPU features by which a program may have selected its code, and the layout in which the kernel
 * saves the registers of a parked thread. Each image records them.
 */
#define MACHINE_WORDS 7
void machine_describe(uint64_t words[MACHINE_WORDS]);
/* Returns NULL if a program from a machine with these words can continue here, else the obstacle. */
const char *machine_refuses(const uint64_t words[MACHINE_WORDS]);
/* Ask the kernel again for the permissions that the program had there. Returns 0 unless it refuses. */
int machine_allow(const uint64_t words[MACHINE_WORDS]);
#endif
