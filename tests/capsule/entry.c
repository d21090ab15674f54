/* entry.c - code is entered by hand-written code as the ABI has it: the stack pointer aligned, the
 * registers and the rounding mode kept. Each case is a process of its own, and its exit code is the verdict.
 * lower/online/leave.c is linked as it is, without the rest of the lower half: nothing else of it runs.
 */
#include "arch.h"

#include <fenv.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void leave_prepare(void (*then)(void));
void on_own_stack(void (*function)(void)) __attribute__((noreturn));

enum { STACK = 1 << 18 };
static char *stack;

/* The frame pointer of a C function is a multiple of 16 on both machines, if it was entered rightly. And
 * where it was not, a compiler's aligned store of a vector register crashes: printf has some.
 */
static void entered(void)
{
    char text[64];
    snprintf(text, sizeof text, "%.3f %d", 1.25, 7);
    _exit((uintptr_t)__builtin_frame_address(0) % 16 == 0 && !strcmp(text, "1.250 7") ? 0 : 1);
}

/* What the kernel would start: it is not called, and finds argc where its stack pointer is. */
extern char program_entry[];
#if defined(__x86_64__)
__asm__(".text\nprogram_entry:\n mov %rsp, %rdi\n and $-16, %rsp\n call program_began\n ud2\n");
#else
__asm__(".text\nprogram_entry:\n mov x0, sp\n bl program_began\n brk 1\n");
#endif
__attribute__((used, noreturn)) void program_began(const char *stack_pointer)
{
    _exit(stack_pointer == stack + STACK / 2 ? 0 : 1);
}

static struct context context;
static void resumed_as_saved(void)
{
    fesetround(FE_UPWARD); /* of x87 and SSE, or FPCR */
    if (context_save(&context) == 0) {
        fesetround(FE_TONEAREST);
        context_resume(&context, thread_pointer_get());
    }
    _exit(fegetround() == FE_UPWARD ? 0 : 1);
}

static int failed;
static void verdict(const char *what, int offset, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    printf("FAIL: %s, stack %d off: %s %d\n", what, offset, WIFSIGNALED(status) ? "signal" : "code",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    failed = 1;
}

#define IN_A_CHILD(what, offset, does)  \
    do {                                \
        int status_ = 0;                \
        pid_t child_ = fork();          \
        if (child_ == 0) {              \
            does;                       \
            _exit(3);                   \
        }                               \
        waitpid(child_, &status_, 0);   \
        verdict(what, offset, status_); \
    } while (0)

int main(void)
{
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 1;
    for (int offset = 0; offset < 32; offset += 4) /* whatever the top of the stack is */
        IN_A_CHILD("context_call", offset, context_call(entered, stack + STACK - offset));
    IN_A_CHILD("context_enter", 0, context_enter(program_entry, stack + STACK / 2));
    IN_A_CHILD("context_save, context_resume", 0, resumed_as_saved());
    leave_prepare(entered);
    IN_A_CHILD("on_own_stack", 0, on_own_stack(entered));
    puts(failed ? "" : "PASS");
    return failed;
}
