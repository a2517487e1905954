#include "fiber.h"

#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, stack, bytes) ((void)0)
#define __sanitizer_finish_switch_fiber(saved, stack, bytes) ((void)0)
#define __asan_unpoison_memory_region(stack, bytes) ((void)0)
#endif

/* Pushes the registers a call preserves, stores the stack pointer to *save and goes on where `load`
 * was stored.  swapcontext() would do, but asks the kernel for the signal mask each time. */
void simt_fiber_swap(void **save, void *load);

#if defined(__x86_64__)

__asm__(".text\n"
	".globl simt_fiber_swap\n"
	".hidden simt_fiber_swap\n"
	".type simt_fiber_swap, @function\n"
	"simt_fiber_swap:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size simt_fiber_swap, . - simt_fiber_swap\n");

/* Six registers, the address to return to, and a return address of the entry's own, so that the
 * stack is aligned there as after a call. */
#define FRAME_WORDS 8
#define ENTRY_WORD 6

#elif defined(__aarch64__)

__asm__(".text\n"
	".globl simt_fiber_swap\n"
	".hidden simt_fiber_swap\n"
	".type simt_fiber_swap, %function\n"
	"simt_fiber_swap:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size simt_fiber_swap, . - simt_fiber_swap\n");

#define FRAME_WORDS 20
#define ENTRY_WORD 11

#else
#error "simt_fiber_swap is written for x86-64 and aarch64"
#endif

void fiber_begin_at(struct fiber *f, void (*entry)(void))
{
	uintptr_t top = ((uintptr_t)f->stack + f->stack_bytes) & ~(uintptr_t)15;
	uintptr_t *frame = (uintptr_t *)top - FRAME_WORDS;

	/* Frames that were abandoned there left their red zones. */
	__asan_unpoison_memory_region(f->stack, f->stack_bytes);
	for (int i = 0; i < FRAME_WORDS; i++)
		frame[i] = 0;
	frame[ENTRY_WORD] = (uintptr_t)entry;
	f->stack_pointer = frame;
	f->fake_stack = NULL;
}

void fiber_entered(struct fiber *from)
{
	(void)from;
	__sanitizer_finish_switch_fiber(NULL, (const void **)&from->stack, &from->stack_bytes);
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
	__sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_bytes);
	simt_fiber_swap(&from->stack_pointer, to->stack_pointer);
	__sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
}

void fiber_leave(struct fiber *from, struct fiber *to)
{
	__sanitizer_start_switch_fiber(NULL, to->stack, to->stack_bytes);
	simt_fiber_swap(&from->stack_pointer, to->stack_pointer);
}
