/* The program's registers and stack at a safe point, as the unwinder sees them, and the way back: as if the call of
 * mend_point() returned once more. */
#include <base/fail.h>
#include <dlfcn.h>
#include <unwind.h>

#include "automatic/auto.h"

/* DWARF numbers, in the order of `saved`. */
#if defined(__aarch64__)
static const int numbers[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
                              29, 72, 73, 74, 75, 76, 77, 78, 79};
#else
static const int numbers[] = {3, 6, 12, 13, 14, 15};
#endif

struct walk {
    struct auto_registers *registers;
    char *top;
    bool found, was_program;
};

/* At a frame, the "CFA" is where the frame of the function that it called ends: its own stack pointer. */
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    char *code = (char *)_Unwind_GetIP(context), *stack = (char *)_Unwind_GetCFA(context);
    bool program = code >= auto_program.text.from && code < auto_program.text.to;
    if (w->was_program && !program)
        w->top = stack; /* the last time: the end of main()'s frame */
    w->was_program = program;
    if (!program || w->found)
        return _URC_NO_REASON;
    w->found = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        w->registers->saved[i] = _Unwind_GetGR(context, numbers[i]);
    w->registers->code = (uint64_t)code;
    w->registers->stack = (uint64_t)stack;
    return _URC_NO_REASON;
}

int registers_take(struct auto_registers *r, char **stack_top)
{
    struct walk w = {.registers = r};
    _Unwind_Backtrace(step, &w);
    if (!w.found || (uint64_t)w.top <= r->stack)
        return mend_fail(MEND_ERR_UNSUPPORTED,
                         "the stack cannot be walked from the safe point to main(): was the "
                         "program built without unwind tables?");
    *stack_top = w.top;
    return 0;
}

uint64_t registers_guard(void)
{
#if defined(__aarch64__)
    const uint64_t *guard = dlsym(RTLD_DEFAULT, "__stack_chk_guard");
    return guard ? *guard : 0;
#else
    uint64_t guard;
    __asm__("mov %%fs:0x28, %0" : "=r"(guard));
    return guard;
#endif
}

#if defined(__aarch64__)
_Noreturn void registers_resume(const struct auto_registers *r, int result)
{
    __asm__ volatile("mov x9, %0\n mov w0, %w1\n"
                     "ldp x19, x20, [x9, #0]\n ldp x21, x22, [x9, #16]\n"
                     "ldp x23, x24, [x9, #32]\n ldp x25, x26, [x9, #48]\n"
                     "ldp x27, x28, [x9, #64]\n ldr x29, [x9, #80]\n"
                     "ldp d8, d9, [x9, #88]\n ldp d10, d11, [x9, #104]\n"
                     "ldp d12, d13, [x9, #120]\n ldp d14, d15, [x9, #136]\n"
                     "ldp x10, x30, [x9, #192]\n mov sp, x10\n ret\n"
                     :
                     : "r"(r), "r"(result)
                     : "x0", "x9", "x10", "memory");
    __builtin_unreachable();
}
#else
_Noreturn void registers_resume(const struct auto_registers *r, int result)
{
    __asm__ volatile("mov %0, %%rcx\n mov %1, %%eax\n"
                     "mov 0(%%rcx), %%rbx\n mov 8(%%rcx), %%rbp\n"
                     "mov 16(%%rcx), %%r12\n mov 24(%%rcx), %%r13\n"
                     "mov 32(%%rcx), %%r14\n mov 40(%%rcx), %%r15\n"
                     "mov 192(%%rcx), %%rsp\n jmp *200(%%rcx)\n"
                     :
                     : "r"(r), "r"(result)
                     : "rax", "rcx", "memory");
    __builtin_unreachable();
}
#endif
_Static_assert(offsetof(struct auto_registers, stack) == 192, "the assembler code above knows");
