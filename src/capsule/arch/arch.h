/* arch.h - all that differs between CPUs: one folder each. Used by both halves.
 *
 * In CPU/cpu.h:
 *   ARCH_NAME, ARCH_AUDIT, ARCH_MACHINE  as images, seccomp and ELF files name it
 *   struct context         callee-saved registers, filled by context_save()
 *   context_target         where context_resume() would go on
 *   thread_pointer_get/set the register that leads to thread-local storage
 *   thread_pointer_choose  how this half sets it from now on (struct lower says how it may)
 *   raw_syscall            a system call that touches no errno
 *   trap_argument/result   of the system call that a SIGSYS reports
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

/* --- CPU/context.S, in both halves --- */
/* 0 when saving, 1 when resumed. */
int context_save(struct context *context) __attribute__((returns_twice, visibility("hidden")));
void context_resume(struct context *context, void *thread_pointer)
    __attribute__((noreturn, visibility("hidden")));
/* Start a program as the kernel does after execve. */
void context_enter(void *entry, void *stack) __attribute__((noreturn, visibility("hidden")));
/* Call a C function at the top of another stack, aligned as the ABI has it. It must not return. */
void context_call(void (*function)(void), void *stack)
    __attribute__((noreturn, visibility("hidden")));
/* Where signal handlers of the upper half return to. */
void signal_restorer(void) __attribute__((visibility("hidden")));

/* --- CPU/machine.c, in the lower half --- */
/* May the thread pointer be set without a system call here? */
int machine_fast_thread_pointer(void);
/* Return addresses on saved stacks must be good in the next process, too: switch off what ties them
 * to this one. No frame that is there already is ever returned to.
 */
void machine_release_returns(void);
/* What a program may have chosen its code by, and how the kernel lays out the registers of a parked
 * thread: kept in each image.
 */
#define MACHINE_WORDS 7
void machine_describe(uint64_t words[MACHINE_WORDS]);
/* NULL if a program of the machine with these words can go on here, else what is in its way. */
const char *machine_refuses(const uint64_t words[MACHINE_WORDS]);
/* Ask the kernel for what it had given that program leave to use. 0, or it refused. */
int machine_allow(const uint64_t words[MACHINE_WORDS]);
#endif
