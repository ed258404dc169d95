/* SPDX-License-Identifier: GPL-2.0 */
/* Kernels of kernel/kernels.c on the executor */
#ifndef ISA_KERNEL_H
#define ISA_KERNEL_H

#include "fixture.h"

/**
 * struct kernel - a compiled kernel, and what it runs on
 * @t: the target
 * @prog: its code
 * @d: how it is started
 * @mem: the arena
 */
struct kernel {
	enum isa_target t;
	struct isa_program prog;
	struct isa_dispatch d;
	struct isa_memory mem;
};

#define N	64		/* of the matrices; the other kernels' arrays have N * N elements */
#define ALL	(N * N)
#define OUT	(ALL + 64)

struct arguments {
	const u32 *a, *b;
	u32 *out;
	u32 n;
};

/**
 * struct arena - the GPU's memory, at addresses that are the host's
 * @code: object file
 * @a: first input
 * @b: second
 * @args: of the kernel
 * @packet: of the dispatch, as far as kernels read it: size of the work-group, of the grid
 * @out: the results; all before is read-only
 * @scratch: scratch memory
 */
struct arena {
	u8 code[1 << 18];
	u32 a[ALL], b[ALL];
	struct arguments args;
	u32 packet[16];
	u32 out[OUT] __attribute__((aligned(ISA_PAGE)));
	u8 scratch[1 << 18];
};

extern struct arena arena;
extern void (*kernel_message)(void *ctx, u32 data);	/* isa_group.message */

u8 *compile(enum isa_target t, const char *options, size_t *bytes, const char **error);
u8 *compile_hip(const char *options, size_t *bytes);
struct kernel *load(enum isa_target t, const u8 *object, size_t bytes, const char *name,
		    struct isa_why *why);
struct kernel *load_raw(enum isa_target t, const u8 *code, size_t bytes, const u8 *descriptor);
void preempt(struct isa_group *g, const struct isa_dispatch *d, const u32 *id, void *space);
u64 run_kernel(struct kernel *k, u32 groups, u32 n,
	       void (*pause)(struct isa_group *g, const struct isa_dispatch *d, const u32 *id, void *space));

#endif
