/* arch.h - all that differs between CPUs, except context_*.S. Used by both halves.
 *
 * struct context         callee-saved registers, filled by context_save()
 * thread_pointer_get/set the register that leads to thread-local storage
 * raw_syscall            a system call that touches no errno
 * trap_argument/result   of the system call that a SIGSYS reports
 * signal_frame           where rt_sigreturn expects the stack pointer
 * clone_into_frame       a thread whose first act is rt_sigreturn through a saved frame
 * return_through_frame   the same for the calling thread
 */
#ifndef CAPSULE_ARCH_H
#define CAPSULE_ARCH_H
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__aarch64__)
#include "aarch64.h"
#elif defined(__x86_64__)
#include "x86_64.h"
#else
#error "the capsule knows aarch64 and x86_64"
#endif

/* 0 when saving, 1 when resumed. */
int context_save(struct context *context) __attribute__((returns_twice, visibility("hidden")));
void context_resume(struct context *context, void *thread_pointer)
    __attribute__((noreturn, visibility("hidden")));
/* Start a program as the kernel does after execve. */
void context_enter(void *entry, void *stack) __attribute__((noreturn, visibility("hidden")));
#endif
