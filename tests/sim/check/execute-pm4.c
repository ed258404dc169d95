// SPDX-License-Identifier: GPL-2.0
/*
 * sim-execute-pm4 OBJECT [PREEMPTIONS [DIRECTORY]]: the kernels of tests/unit/isa/kernel in OBJECT, dispatched by PM4
 * packets, give the host's results, as they do by AQL packets (sim-execute): as they are, after PREEMPTIONS in mid-kernel
 * (default 100), and behind packets that write their arguments. With DIRECTORY only after PREEMPTIONS, and the last result of
 * each becomes a file there, as those of tests/rocm/bits.cpp do. TAP.
 */
#include "execute-pm4.h"

static void plain(struct kfdc_ring *r, struct kfdc_signal *s, uint32_t *at)
{
	uint64_t executed = counter("executed");
	uint32_t i;

	for (i = 0; i < TESTS; i++) {
		begin_pm4(r, &tests[i], s, i % 2 ? at : NULL);
		must(kfdc_signal_wait(s, 60 * SEC));
		tap_ok(right(), "PM4: %s by DISPATCH_%s computes what the host does", tests[i].name, i % 2 ? "INDIRECT" : "DIRECT");
	}
	tap_eq(counter("executed") - executed, TESTS, "PM4: all of them were executed");
}

/*
 * While amdkfd waits for an unmap the model's time does not wait for what is executed: in the grace period, 38 us, the time of a
 * dispatch passes that is not executed yet. It is executed all the same: many dispatches that add to the same words, and unmaps
 */
static void behind(struct kfdc_ring *r, struct kfdc_signal *s)
{
	struct kfdc_pm4_code code = registers(&tests[2]);
	unsigned int i, n = 40;

	param("wave_ns", 60000);
	set_up(&tests[2]);
	for (i = 0; i < OUT; i++)
		want[i] *= n;
	kfdc_signal_set(s, 1);
	must(kfdc_pm4_code(r, &code));
	for (i = 0; i < n; i++)
		must(kfdc_pm4_groups(r, &code, (uint32_t []){ tests[2].groups, 1, 1 }, NULL));
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
	for (i = 0; i < 20; i++)
		toggle_pm4(r);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_ok(right(), "PM4: dispatches whose time passes while amdkfd waits are executed to their end");
	param("wave_ns", TAKES_NS);
}

/* The registers are the queue's: they are there again when it is, and another queue does not have them */
static void kept(struct kfdc_ring *r, struct kfdc_signal *s)
{
	struct kfdc_pm4_code code = registers(&tests[0]), none = { .size = { 1, 1, 1 } };
	struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	struct kfdc_ring *other;

	must(kfdc_ring_create(c, &attr, &other));
	set_up(&tests[0]);
	kfdc_signal_set(s, 1);
	must(kfdc_pm4_code(r, &code));
	run(r);
	must(kfdc_pm4_code(other, &none));
	run(other);
	toggle_pm4(r);
	must(kfdc_pm4_groups(r, &code, (uint32_t []){ tests[0].groups, 1, 1 }, NULL));
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_ok(right(), "PM4: registers that were set before the queue was off the GPU are there after it");
	must(kfdc_ring_destroy(other));
}

/* The GPU reads arguments and sizes when it comes to the packet that needs them, not when the packet is written */
static void ordered(struct kfdc_ring *r, struct kfdc_signal *s, uint32_t *at)
{
	struct kfdc_pm4_code code = registers(&tests[0]);
	volatile uint32_t *n = &mem->args.n;

	set_up(&tests[0]);
	mem->args.n = 0;
	memset(at, 0, 12);
	kfdc_signal_set(s, 1);
	must(kfdc_pm4_code(r, &code));
	must(kfdc_pm4_write(r, n, ALL));
	must(kfdc_pm4_write(r, at, tests[0].groups));
	must(kfdc_pm4_write(r, at + 1, 1));
	must(kfdc_pm4_write(r, at + 2, 1));
	must(kfdc_pm4_groups(r, &code, NULL, at));
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_ok(right(), "PM4: a kernel has the arguments, and an indirect dispatch the size, that WRITE_DATA before it wrote");
}

/* One buffer of packets, executed twice: its dispatch is, too */
static void again(struct kfdc_ring *r, struct kfdc_signal *s, uint32_t *ib)
{
	struct kfdc_pm4_code code = registers(&tests[2]);
	uint32_t init = 1 | 1 << 2 | (code.wave32 ? 1u << 15 : 0), i;

	set_up(&tests[2]);
	for (i = 0; i < OUT; i++)
		want[i] *= 2;
	memcpy(ib, (uint32_t []){ 0xc0031500, tests[2].groups, 1, 1, init, 0xc0004600, 0x407 }, 28);	/* then CS_PARTIAL_FLUSH */
	kfdc_signal_set(s, 1);
	must(kfdc_pm4_code(r, &code));
	must(kfdc_pm4_ib(r, ib, 7));
	must(kfdc_pm4_ib(r, ib, 7));
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
	must(kfdc_signal_wait(s, 60 * SEC));
	tap_ok(right(), "PM4: a dispatch in an indirect buffer that is executed twice is executed twice");
}

static void not_executed(struct kfdc_ring *r)
{
	uint64_t scratch = counter("modelled_scratch"), unreadable = counter("modelled_unreadable"), all = modelled();
	struct kfdc_pm4_code code = registers(&tests[0]);
	uint32_t groups[3] = { 1, 1, 1 };

	code.rsrc[1] |= 1;	/* SCRATCH_EN */
	must(kfdc_pm4_code(r, &code));
	must(kfdc_pm4_groups(r, &code, groups, NULL));
	code.rsrc[1] &= ~1u;
	code.entry = 0;
	must(kfdc_pm4_code(r, &code));
	must(kfdc_pm4_groups(r, &code, groups, NULL));
	run(r);
	tap_ok(counter("modelled_scratch") - scratch == 1 && counter("modelled_unreadable") - unreadable == 1,
	       "PM4: scratch memory that is not there, and no code: these take time, are not executed, and are counted with the reason");
	tap_eq(modelled() - all, 2, "PM4: ... and nothing else was modelled meanwhile");
}

int main(int argc, char **argv)
{
	uint64_t preemptions = argc > 2 ? strtoull(argv[2], NULL, 10) : 100, lost, not_before;
	const char *directory = argc > 3 ? argv[3] : NULL;
	struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	struct kfdc_signal *s;
	struct kfdc_ring *r;
	struct kfdc_bo bo;

	if (argc < 2)
		tap_bail("usage: sim-execute-pm4 OBJECT [PREEMPTIONS [DIRECTORY]]");
	must(kfdc_open(&c, 0));
	prepare(argv[1]);
	must(kfdc_bo_alloc(c, 4096, GTT, &bo));
	must(kfdc_ring_create(c, &attr, &r));
	must(kfdc_signal_create(c, true, &s));
	lost = counter("executed_lost");
	not_before = modelled();
	param("wave_ns", TAKES_NS);
	if (!directory) {
		plain(r, s, bo.va);
		behind(r, s);
		kept(r, s);
		ordered(r, s, bo.va);
		again(r, s, bo.va);
	}
	preempted(&pm4, r, s, tests, TESTS, preemptions, directory);
	param("wave_ns", 20000);
	tap_eq(modelled() - not_before, 0, "PM4: no dispatch was modelled");
	if (!directory)
		not_executed(r);
	must(kfdc_ring_destroy(r));
	tap_eq(counter("executed_lost") - lost, 0, "PM4: no state was lost");
	return tap_done();
}
