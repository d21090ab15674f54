/* context.S - save and resume the callee-saved registers (aarch64, AAPCS64).
 * struct context: x19..x30 at 0, sp at 96, d8..d15 at 104, fpcr at 168 */
	.text
	.global context_save
	.hidden context_save
	.type context_save, %function
context_save:
	stp x19, x20, [x0, 0]
	stp x21, x22, [x0, 16]
	stp x23, x24, [x0, 32]
	stp x25, x26, [x0, 48]
	stp x27, x28, [x0, 64]
	stp x29, x30, [x0, 80]
	mov x2, sp
	str x2, [x0, 96]
	stp d8,  d9,  [x0, 104]
	stp d10, d11, [x0, 120]
	stp d12, d13, [x0, 136]
	stp d14, d15, [x0, 152]
	mrs x2, fpcr
	str x2, [x0, 168]
	mov w0, 0
	ret
	.size context_save, .-context_save

	.global context_resume
	.hidden context_resume
	.type context_resume, %function
context_resume:                             /* (struct context *, thread pointer) */
	msr tpidr_el0, x1
	ldp x19, x20, [x0, 0]
	ldp x21, x22, [x0, 16]
	ldp x23, x24, [x0, 32]
	ldp x25, x26, [x0, 48]
	ldp x27, x28, [x0, 64]
	ldp x29, x30, [x0, 80]
	ldr x2, [x0, 96]
	mov sp, x2
	ldp d8,  d9,  [x0, 104]
	ldp d10, d11, [x0, 120]
	ldp d12, d13, [x0, 136]
	ldp d14, d15, [x0, 152]
	ldr x2, [x0, 168]
	msr fpcr, x2
	mov w0, 1
	ret
	.size context_resume, .-context_resume

/* context_enter(entry, sp): start a program the way the kernel does after execve */
	.global context_enter
	.hidden context_enter
	.type context_enter, %function
context_enter:
	mov x16, x0
	mov sp, x1
	mov x0, 0
	mov x29, 0
	mov x30, 0
	br x16
	.size context_enter, .-context_enter

/* context_call(function, sp): call a C function at the top of another stack. It must not return. */
	.global context_call
	.hidden context_call
	.type context_call, %function
context_call:
	and x1, x1, -16
	mov sp, x1
	mov x29, 0
	blr x0
	brk 1
	.size context_call, .-context_call

/* where signal handlers of the upper half return to */
	.global signal_restorer
	.hidden signal_restorer
	.type signal_restorer, %function
signal_restorer:
	mov x8, 139                     /* rt_sigreturn */
	svc 0
	.size signal_restorer, .-signal_restorer

	.section .note.GNU-stack,"",%progbits
