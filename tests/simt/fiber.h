/* Stacks that take turns: what a CUDA thread runs on. */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <stddef.h>

struct fiber {
	void *stack_pointer; /* where it goes on, while another runs */
	void *stack;	     /* lowest address */
	size_t stack_bytes;
	void *fake_stack; /* AddressSanitizer's, while another runs */
};

/* Makes `f`, whose stack is set, begin at `entry` when it is next switched to.  Whatever ran on the
 * stack before is forgotten.  `entry` never returns. */
void fiber_begin_at(struct fiber *f, void (*entry)(void));

/* The first thing a new fiber's entry calls; `from` is the fiber that switched to it. */
void fiber_entered(struct fiber *from);

/* Goes on in `to`; returns when somebody switches back to `from`, which is the caller. */
void fiber_switch(struct fiber *from, struct fiber *to);

/* The same, for the last time: `from` is never gone back to. */
void fiber_leave(struct fiber *from, struct fiber *to);

#endif /* SIMT_FIBER_H */
