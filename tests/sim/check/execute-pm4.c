// SPDX-License-Identifier: GPL-2.0
/*
 * sim-execute-pm4 OBJECT [PREEMPTIONS]: the kernels of tests/unit/isa/kernel in OBJECT, dispatched by PM4 packets, give the
 * host's results, as they do by AQL packets (sim-execute): as they are, after PREEMPTIONS in mid-kernel (default 100), and
 * behind packets that write their arguments. TAP.
 */
#include "execute.h"

enum { KD_GROUP_BYTES = 0, KD_RSRC3 = 44, KD_RSRC1 = 48, KD_RSRC2 = 52, KD_PROPERTIES = 56 };
enum { PROP_KERNARG = 3, PROP_FIXED = 7 };

#define LDS_SIZE(bytes)	(((bytes) + 511) / 512 << 15)	/* COMPUTE_PGM_RSRC2 */
#define TAKES_NS	(20 * MS)

static uint32_t field(uint64_t kd, uint32_t at)
{
	uint32_t v;

	memcpy(&v, (const char *)(uintptr_t)kd + at, sizeof(v));
	return v;
}

/* The registers that say what the descriptor of a kernel says */
static struct kfdc_pm4_code registers(const char *name)
{
	static const uint32_t widths[PROP_FIXED] = { 4, 2, 2, 2, 2, 2, 1 };
	uint64_t kd = descriptor(name), args = (uintptr_t)&mem->args;
	uint32_t i, properties = field(kd, KD_PROPERTIES);
	struct kfdc_pm4_code code = {
		.size = { 256, 1, 1 }, .wave32 = properties >> 10 & 1,
		.rsrc = { field(kd, KD_RSRC1), field(kd, KD_RSRC2) | LDS_SIZE(field(kd, KD_GROUP_BYTES)), field(kd, KD_RSRC3) },
	};
	int64_t distance;

	memcpy(&distance, (const char *)(uintptr_t)kd + KD_ENTRY, sizeof(distance));
	code.entry = kd + distance;
	if (code.entry % 256)
		tap_bail("%s: its code begins at %#llx, which is no multiple of 256", name, (unsigned long long)code.entry);
	for (i = 0; i < PROP_FIXED; i++) {
		if (!(properties >> i & 1))
			continue;
		if (i == PROP_KERNARG)
			memcpy(&code.user[code.nuser], &args, sizeof(args));
		code.nuser += widths[i];
	}
	return code;
}

static void set_up(const struct test *t)
{
	memset(mem->out, 0, sizeof(mem->out));
	memset(want, 0, sizeof(want));
	mem->args = (struct arguments){ mem->a, mem->b, target, t->n };
	t->host(t->n);
}

/* @at: where the number of work-groups is to lie; NULL: in the packet */
static void begin_pm4(struct kfdc_ring *r, const struct test *t, struct kfdc_signal *s, uint32_t *at)
{
	struct kfdc_pm4_code code = registers(t->name);
	uint32_t groups[3] = { t->groups, 1, 1 };

	set_up(t);
	if (at)
		memcpy(at, groups, sizeof(groups));
	kfdc_signal_set(s, 1);
	must(kfdc_pm4_code(r, &code));
	must(kfdc_pm4_groups(r, &code, groups, at));
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
}

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

static void preempted(struct kfdc_ring *r, struct kfdc_signal *s, uint64_t preemptions)
{
	uint64_t before, saved, rounds, wrong, end;
	uint32_t i;

	for (i = 0; i < TESTS; i++) {
		before = counter("executed_saved_running");
		rounds = 0;
		wrong = 0;
		do {
			begin_pm4(r, &tests[i], s, NULL);
			end = kfdc_now() + 20 * SEC;
			while (kfdc_signal_value(s) > 0) {
				if (kfdc_now() > end)
					tap_bail("%s, preempted in mid-kernel, does not end", tests[i].name);
				sleep_ns(100 * US + rnd() % 256 * US);
				must(kfdc_ring_update(r, 0, 7));
				must(kfdc_ring_update(r, 100, 7));
			}
			wrong += !right();
			rounds++;
			saved = counter("executed_saved_running") - before;
		} while (saved < preemptions && rounds < preemptions);
		tap_diag("%s: %llu dispatches, %llu preemptions in the middle of a work-group", tests[i].name,
			 (unsigned long long)rounds, (unsigned long long)saved);
		tap_ok(!wrong && saved >= preemptions, "PM4: %s computes what the host does, preempted %llu times in mid-kernel",
		       tests[i].name, (unsigned long long)preemptions);
	}
}

/* The registers are the queue's: they are there again when it is, and another queue does not have them */
static void kept(struct kfdc_ring *r, struct kfdc_signal *s)
{
	struct kfdc_pm4_code code = registers(tests[0].name), none = { .size = { 1, 1, 1 } };
	struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	struct kfdc_ring *other;

	must(kfdc_ring_create(c, &attr, &other));
	set_up(&tests[0]);
	kfdc_signal_set(s, 1);
	must(kfdc_pm4_code(r, &code));
	run(r);
	must(kfdc_pm4_code(other, &none));
	run(other);
	must(kfdc_ring_update(r, 0, 7));
	must(kfdc_ring_update(r, 100, 7));
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
	struct kfdc_pm4_code code = registers(tests[0].name);
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
	struct kfdc_pm4_code code = registers(tests[2].name);
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

static void modelled(struct kfdc_ring *r)
{
	uint64_t before = counter("modelled_dispatch") + counter("modelled_unreadable");
	struct kfdc_pm4_code code = registers(tests[0].name);
	uint32_t groups[3] = { 1, 1, 1 };

	code.rsrc[1] |= 1;	/* SCRATCH_EN */
	must(kfdc_pm4_code(r, &code));
	must(kfdc_pm4_groups(r, &code, groups, NULL));
	code.rsrc[1] &= ~1u;
	code.entry = 0;
	must(kfdc_pm4_code(r, &code));
	must(kfdc_pm4_groups(r, &code, groups, NULL));
	run(r);
	tap_eq(counter("modelled_dispatch") + counter("modelled_unreadable") - before, 2,
	       "PM4: scratch memory, and no code: these take time, are not executed, and are counted with the reason");
}

int main(int argc, char **argv)
{
	struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	struct kfdc_signal *s;
	struct kfdc_ring *r;
	struct kfdc_bo bo;
	uint64_t lost;

	if (argc < 2)
		tap_bail("usage: sim-execute-pm4 OBJECT [PREEMPTIONS]");
	must(kfdc_open(&c, 0));
	prepare(argv[1]);
	must(kfdc_bo_alloc(c, 4096, GTT, &bo));
	must(kfdc_ring_create(c, &attr, &r));
	must(kfdc_signal_create(c, true, &s));
	lost = counter("executed_lost");
	param("wave_ns", TAKES_NS);
	plain(r, s, bo.va);
	kept(r, s);
	ordered(r, s, bo.va);
	again(r, s, bo.va);
	preempted(r, s, argc > 2 ? strtoull(argv[2], NULL, 10) : 100);
	param("wave_ns", 20000);
	modelled(r);
	must(kfdc_ring_destroy(r));
	tap_eq(counter("executed_lost") - lost, 0, "PM4: no state was lost");
	return tap_done();
}
