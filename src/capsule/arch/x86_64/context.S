/* context.S - save and resume the callee-saved registers (x86_64, System V).
 * struct context: rbx rbp r12..r15 at 0, rsp at 48, rip at 56, mxcsr at 64, x87 control word at 68 */
	.text
	.global context_save
	.hidden context_save
	.type context_save, @function
context_save:
	mov %rbx, 0(%rdi)
	mov %rbp, 8(%rdi)
	mov %r12, 16(%rdi)
	mov %r13, 24(%rdi)
	mov %r14, 32(%rdi)
	mov %r15, 40(%rdi)
	lea 8(%rsp), %rdx               /* its value after the return */
	mov %rdx, 48(%rdi)
	mov (%rsp), %rdx
	mov %rdx, 56(%rdi)
	stmxcsr 64(%rdi)
	fnstcw 68(%rdi)
	xor %eax, %eax
	ret
	.size context_save, .-context_save

	.global context_resume
	.hidden context_resume
	.type context_resume, @function
context_resume:                             /* (struct context *, thread pointer) */
	mov %rdi, %rbx
	mov $158, %eax                  /* arch_prctl(ARCH_SET_FS, tp): works on every kernel */
	mov $0x1002, %edi
	syscall
	mov %rbx, %rdx
	mov 0(%rdx), %rbx
	mov 8(%rdx), %rbp
	mov 16(%rdx), %r12
	mov 24(%rdx), %r13
	mov 32(%rdx), %r14
	mov 40(%rdx), %r15
	mov 48(%rdx), %rsp
	ldmxcsr 64(%rdx)
	fldcw 68(%rdx)
	mov $1, %eax
	jmp *56(%rdx)
	.size context_resume, .-context_resume

/* context_enter(entry, sp): start a program the way the kernel does after execve */
	.global context_enter
	.hidden context_enter
	.type context_enter, @function
context_enter:
	mov %rdi, %rax
	mov %rsi, %rsp
	xor %edx, %edx                  /* nothing for atexit */
	xor %ebp, %ebp
	xor %ecx, %ecx
	xor %esi, %esi
	xor %edi, %edi
	cld
	jmp *%rax
	.size context_enter, .-context_enter

/* context_call(function, sp): call a C function at the top of another stack. It must not return. At its
 * entry a function expects the stack pointer 8 below a multiple of 16, where `call` leaves it. */
	.global context_call
	.hidden context_call
	.type context_call, @function
context_call:
	mov %rsi, %rsp
	and $-16, %rsp
	xor %ebp, %ebp
	cld
	call *%rdi
	ud2
	.size context_call, .-context_call

/* where signal handlers of the upper half return to */
	.global signal_restorer
	.hidden signal_restorer
	.type signal_restorer, @function
signal_restorer:
	mov $15, %eax                   /* rt_sigreturn */
	syscall
	.size signal_restorer, .-signal_restorer

/* not 0: wrfsbase is allowed. Each half has its own flag (cpu.h). */
	.bss
	.balign 4
	.global thread_pointer_fast
	.hidden thread_pointer_fast
	.type thread_pointer_fast, @object
	.size thread_pointer_fast, 4
thread_pointer_fast:
	.zero 4

	.section .note.GNU-stack,"",%progbits
