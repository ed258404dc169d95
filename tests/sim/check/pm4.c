// SPDX-License-Identifier: GPL-2.0
/*
 * sim-pm4: compute queues of PM4 packets on the simulated GPU. For --icount: times are checked.
 */
#include "packets.h"

enum { NOP = 0x10, DISPATCH = 0x15, INDIRECT = 0x16, ATOMIC_MEM = 0x1e, WRITE_DATA = 0x37, IB = 0x3f, COPY_DATA = 0x40,
       EVENT_WRITE = 0x46, RELEASE_MEM = 0x49, ACQUIRE_MEM = 0x58, SET_SH_REG = 0x76 };

#define HDR(op, n)	(3u << 30 | ((n) - 2u) << 16 | (op) << 8)

static uint32_t lo(const volatile void *p)
{
	return (uintptr_t)p;
}

static uint32_t hi(const volatile void *p)
{
	return (uintptr_t)p >> 32;
}

static void put(struct kfdc_ring *r, uint32_t n, const uint32_t *dw)
{
	must(kfdc_ring_write(r, dw, n));
}

#define PUT(r, ...) \
	put(r, sizeof((uint32_t []){ __VA_ARGS__ }) / 4, (uint32_t []){ __VA_ARGS__ })

/* The GPU's clock when everything before is complete */
static void stamp(struct kfdc_ring *r, volatile uint64_t *va)
{
	PUT(r, HDR(RELEASE_MEM, 8), 0x14 | 5 << 8, 3u << 29, lo(va), hi(va), 0, 0, 0);
}

static struct kfdc_ring *ring_new(uint32_t bytes)
{
	struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	struct kfdc_ring *r;

	attr.bytes = bytes;
	must(kfdc_ring_create(c, &attr, &r));
	return r;
}

static void writes(struct kfdc_ring *r, volatile uint32_t *m)
{
	uint32_t i, bad = 0;

	for (i = 1; i < 20; i++)
		must(kfdc_pm4_nop(r, i));
	PUT(r, HDR(WRITE_DATA, 8), 5 << 8 | 1 << 20, lo(m + 1), hi(m + 1), 10, 11, 12, 13);
	PUT(r, HDR(WRITE_DATA, 7), 1 << 8 | 1 << 16, lo(m + 8), hi(m + 8), 20, 21, 22);
	PUT(r, HDR(ACQUIRE_MEM, 7), 0, ~0u, 0xff, 0, 0, 10);
	PUT(r, 2u << 30, 2u << 30);	/* fillers */
	must(kfdc_pm4_write(r, m + 20, 99));
	run(r);
	for (i = 0; i < 4; i++)
		bad += m[1 + i] != 10 + i;
	tap_ok(!bad && !m[0] && !m[5], "WRITE_DATA of four dwords");
	tap_ok(m[8] == 22 && !m[9], "WRITE_DATA to one address");
	tap_eq(m[20], 99, "NOPs of 1 to 19 dwords, ACQUIRE_MEM and fillers are passed");
	tap_eq(*(volatile uint32_t *)r->rptr, r->put % (r->attr.bytes / 4),
	       "the read index counts dwords");
}

static void copies(struct kfdc_ring *r, volatile uint32_t *m)
{
	volatile uint64_t *wide = (volatile uint64_t *)(m + 32);

	memset((void *)m, 0, 512);
	wide[0] = 0x1122334455667788;
	PUT(r, HDR(COPY_DATA, 6), 5 | 5 << 8, 71, 72, lo(m), hi(m));			/* immediate, 32 bits */
	PUT(r, HDR(COPY_DATA, 6), 5 | 2 << 8 | 1 << 16, 73, 74, lo(m + 2), hi(m + 2));	/* 64 bits */
	PUT(r, HDR(COPY_DATA, 6), 1 | 5 << 8, lo(wide), hi(wide), lo(m + 4), hi(m + 4));	/* memory */
	PUT(r, HDR(COPY_DATA, 6), 2 | 1 << 8 | 1 << 16, lo(wide), hi(wide), lo(m + 6), hi(m + 6));
	stamp(r, &wide[1]);
	PUT(r, HDR(COPY_DATA, 6), 9 | 5 << 8 | 1 << 16, 0, 0, lo(wide + 2), hi(wide + 2));	/* the GPU's clock */
	stamp(r, &wide[3]);
	wide[4] = ~0ULL;
	PUT(r, HDR(COPY_DATA, 6), 9 | 5 << 8, 0, 0, lo(wide + 4), hi(wide + 4));
	run(r);
	tap_ok(wide[4] >> 32 == ~0u, "COPY_DATA of 32 bits of the clock leaves what is behind them");
	tap_ok(m[0] == 71 && !m[1] && m[2] == 73 && m[3] == 74, "COPY_DATA of immediate data, 32 and 64 bits");
	tap_ok(m[4] == 0x55667788 && !m[5] && m[6] == 0x55667788 && m[7] == 0x11223344, "COPY_DATA of memory");
	becomes((volatile uint32_t *)&wide[3], wide[3]);
	tap_ok(wide[1] && wide[1] <= wide[2] && wide[2] <= wide[3], "COPY_DATA of the clock: %llu, between %llu and %llu",
	       (unsigned long long)wide[2], (unsigned long long)wide[1], (unsigned long long)wide[3]);
}

/* ATOMIC_MEM of @op, and what memory is to have before and after it */
static const struct atomic {
	const char *name;
	uint32_t op;
	uint64_t before, src, cmp, after;
} atomics[] = {
	{ "SWAP", 0x07, 5, 6, 0, 6 },			{ "SWAP, 64 bits", 0x27, 5, 1ULL << 40, 0, 1ULL << 40 },
	{ "CMPSWAP that holds", 0x08, 5, 6, 5, 6 },	{ "CMPSWAP that does not", 0x08, 5, 6, 4, 5 },
	{ "ADD", 0x0f, ~0u, 2, 0, 1 },			{ "ADD, 64 bits", 0x2f, ~0u, 2, 0, 0x100000001 },
	{ "ADD that returns nothing", 0x4f, 1, 2, 0, 3 },	{ "ADD, 64 bits, that returns nothing", 0x6f, ~0u, 2, 0, 0x100000001 },
	{ "SUB", 0x10, 5, 6, 0, ~0u },			{ "SMIN", 0x11, 5, ~0u, 0, ~0u },
	{ "UMIN", 0x12, 5, ~0u, 0, 5 },			{ "SMAX", 0x13, 5, ~0u, 0, 5 },
	{ "UMAX", 0x14, 5, ~0u, 0, ~0u },		{ "SMAX, 64 bits", 0x33, 5, ~0u, 0, ~0u },
	{ "AND", 0x15, 6, 3, 0, 2 },			{ "OR", 0x16, 6, 3, 0, 7 },
	{ "XOR", 0x17, 6, 3, 0, 5 },			{ "INC", 0x18, 5, 6, 0, 6 },
	{ "INC that wraps", 0x18, 6, 6, 0, 0 },		{ "DEC", 0x19, 5, 6, 0, 4 },
	{ "DEC of 0", 0x19, 0, 6, 0, 6 },		{ "DEC of more", 0x19, 9, 6, 0, 6 },
};

static void atomic_ops(struct kfdc_ring *r, volatile uint32_t *m)
{
	volatile uint64_t *v = (volatile uint64_t *)m;
	uint32_t i, n = sizeof(atomics) / sizeof(*atomics);

	for (i = 0; i < n; i++) {
		v[i] = atomics[i].before;
		PUT(r, HDR(ATOMIC_MEM, 9), atomics[i].op, lo(v + i), hi(v + i), atomics[i].src, atomics[i].src >> 32,
		    atomics[i].cmp, atomics[i].cmp >> 32, 0);
	}
	run(r);
	for (i = 0; i < n; i++)
		tap_ok(v[i] == atomics[i].after, "ATOMIC_MEM: %s: %#llx, to be %#llx", atomics[i].name,
		       (unsigned long long)v[i], (unsigned long long)atomics[i].after);

	m[0] = 1;
	m[2] = 0;
	PUT(r, HDR(ATOMIC_MEM, 9), 0x08 | 1 << 8, lo(m), hi(m), 3, 0, 2, 0, 16);
	must(kfdc_pm4_write(r, m + 2, 1));
	kfdc_ring_submit(r);
	sleep_ns(5 * MS);
	tap_ok(m[0] == 1 && !m[2], "ATOMIC_MEM with a loop waits for the value to compare with");
	__atomic_store_n(&m[0], 2, __ATOMIC_RELEASE);
	tap_ok(becomes(m + 2, 1) && m[0] == 3, "and goes on when memory has it");
}

/* COMPUTE_START is the first work-group, the dimension of the dispatch the one behind the last */
static void begins(struct kfdc_ring *r, volatile uint32_t *m)
{
	uint32_t load = kfdc_max_waves(c);
	volatile uint64_t *ts = (volatile uint64_t *)m;
	uint64_t ns;

	memset((void *)m, 0, 64);
	stamp(r, &ts[0]);
	PUT(r, HDR(SET_SH_REG, 5), 0x204, 499 * load, 0, 0);
	must(kfdc_pm4_dispatch(r, 500 * load));
	PUT(r, HDR(SET_SH_REG, 5), 0x204, 0, 0, 0);
	stamp(r, &ts[1]);
	must(kfdc_pm4_release(r, &ts[2], 1, 0));
	run(r);
	becomes((volatile uint32_t *)&ts[2], 1);
	ns = (ts[1] - ts[0]) * 10;
	tap_ok(ns >= 20 * US && ns < 40 * US, "of 500 loads from COMPUTE_START 499 on, one runs: 20 us took %.3f", ns / 1e3);
}

static void fences(struct kfdc_ring *r, volatile uint32_t *m)
{
	uint32_t waves = kfdc_max_waves(c) * 500;	/* 500 full loads of 20 us */
	volatile uint64_t *ts = (volatile uint64_t *)(m + 64);
	struct kfdc_signal *s;
	uint64_t ns;

	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 1);
	m[0] = 0;
	stamp(r, &ts[0]);
	must(kfdc_pm4_dispatch(r, waves));
	stamp(r, &ts[1]);
	must(kfdc_pm4_write(r, m, 1));
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
	tap_ok(becomes(m, 1) && kfdc_signal_value(s) == 1 && !kfdc_ring_wait(r, MS),
	       "what is behind a dispatch and its RELEASE_MEM is executed meanwhile");
	must(kfdc_signal_wait(s, 20 * SEC));
	ns = (ts[1] - ts[0]) * 10;
	tap_ok(ns >= 10 * MS && ns < 10 * MS + 10 * US,
	       "RELEASE_MEM waits for the dispatch, and interrupts; 10 ms took %.3f", ns / 1e6);

	m[0] = 0;
	m[1] = 0;
	must(kfdc_pm4_dispatch(r, waves));
	PUT(r, HDR(EVENT_WRITE, 2), 4);			/* of no meaning here */
	must(kfdc_pm4_write(r, m, 1));
	PUT(r, HDR(EVENT_WRITE, 2), 7 | 4 << 8);	/* CS_PARTIAL_FLUSH */
	must(kfdc_pm4_write(r, m + 1, 1));
	kfdc_ring_submit(r);
	sleep_ns(5 * MS);
	tap_ok(m[0] == 1 && m[1] == 0, "CS_PARTIAL_FLUSH waits for the dispatch, other events do not");
	tap_ok(becomes(m + 1, 1), "and lets go on");

	/* dispatches in flight and fences between them are in order */
	stamp(r, &ts[0]);
	must(kfdc_pm4_dispatch(r, kfdc_max_waves(c) * 50));
	stamp(r, &ts[1]);
	must(kfdc_pm4_dispatch(r, kfdc_max_waves(c) * 100));
	stamp(r, &ts[2]);
	run(r);
	kfdc_signal_set(s, 1);
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
	must(kfdc_signal_wait(s, 20 * SEC));
	tap_ok((ts[1] - ts[0]) * 10 >= MS && (ts[2] - ts[1]) * 10 >= 2 * MS - US &&
	       (ts[2] - ts[0]) * 10 < 3 * MS + 10 * US,
	       "1 and 2 ms with fences between took %.3f and %.3f", (ts[1] - ts[0]) / 1e5,
	       (ts[2] - ts[1]) / 1e5);
	kfdc_signal_destroy(s);
}

static void buffers(struct kfdc_ring *r, volatile uint32_t *m)
{
	uint32_t *ib = (uint32_t *)m + 256, *next = ib + 64, n = 0, k = 0, i;

	memset((void *)m, 0, 256);
	for (i = 0; i < 3; i++) {
		memcpy(ib + n, (uint32_t []){ HDR(WRITE_DATA, 5), 5 << 8, lo(m + i), hi(m + i), 50 + i },
		       20);
		n += 5;
	}
	memcpy(next, (uint32_t []){ HDR(WRITE_DATA, 5), 5 << 8, lo(m + 3), hi(m + 3), 53 }, 20);
	k = 5;
	/* the chain replaces what follows it in its buffer */
	memcpy(ib + n, (uint32_t []){ HDR(IB, 4), lo(next), hi(next), k | 1 << 20,
				      HDR(WRITE_DATA, 5), 5 << 8, lo(m + 5), hi(m + 5), 1 }, 36);
	must(kfdc_pm4_ib(r, ib, n + 9));
	must(kfdc_pm4_write(r, m + 4, 54));
	kfdc_ring_submit(r);
	tap_ok(becomes(m + 4, 54) && m[0] == 50 && m[2] == 52 && m[3] == 53 && !m[5],
	       "an indirect buffer, its chain, and then the ring");
}

static void waits(struct kfdc_ring *r, volatile uint32_t *m)
{
	m[0] = 0;
	m[1] = 0;
	must(kfdc_pm4_wait(r, m, 3));
	must(kfdc_pm4_write(r, m + 1, 1));
	kfdc_ring_submit(r);
	sleep_ns(3 * MS);
	tap_ok(!m[1], "WAIT_REG_MEM waits for memory");
	m[0] = 3;
	tap_ok(becomes(m + 1, 1), "and goes on");
}

/* 256 dwords, packets of 5, 8 and 3: they lie across the end everywhere */
static void wrap(volatile uint32_t *m)
{
	struct kfdc_ring *r = ring_new(1024);
	uint32_t i, bad = 0;

	memset((void *)m, 0, 4096);
	for (i = 0; i < 1000; i++) {
		while (kfdc_ring_room(r) < 16)
			sleep_ns(20 * US);
		must(kfdc_pm4_write(r, m + i, i + 1));
		if (i % 3 == 1)
			must(kfdc_pm4_nop(r, 3));
		if (i % 3 == 2)
			must(kfdc_pm4_release(r, (volatile uint64_t *)(m + 1000), i, 0));
		if (i % 4 == 3)
			kfdc_ring_submit(r);
	}
	run(r);
	for (i = 0; i < 1000; i++)
		bad += m[i] != i + 1;
	tap_ok(!bad && becomes(m + 1000, 998), "1666 packets through a ring of 1 KB (%u bad)", bad);
	must(kfdc_ring_destroy(r));
}

/* -1: amdkfd has no such file for this GPU */
static long long occupancy(void)
{
	char path[128];
	long long v = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/stats_%u/cu_occupancy", getpid(),
		 kfdc_gpu_id(c));
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%lld", &v) != 1)
		tap_bail("%s: not a number", path);
	fclose(f);
	return v;
}

/* What amdkfd tells of a dispatch that runs */
static void occupied(struct kfdc_ring *r)
{
	long long in;

	must(kfdc_pm4_dispatch(r, kfdc_max_waves(c) * 1000));
	kfdc_ring_submit(r);
	sleep_ns(2 * MS);
	in = occupancy();
	sleep_ns(40 * MS);
	if (in < 0)
		tap_skip("cu_occupancy", "gfx9 only");
	else
		tap_ok(in > 0 && !occupancy(), "cu_occupancy: %lld while a dispatch runs, then 0", in);
}

/*
 * Off the GPU 100 times while dispatches with stamps between them run: each runs once, for as
 * long as it should, in order.
 */
static void unmaps(struct kfdc_ring *r, volatile uint64_t *ts)
{
	unsigned int i, n = 60, bad = 0, moved = 0;
	uint64_t busy = counter("busy_ns"), dispatches = counter("dispatches"), rp;
	struct kfdc_signal *s;

	must(kfdc_signal_create(c, false, &s));
	kfdc_signal_set(s, 1);
	memset((void *)ts, 0, 4096);
	stamp(r, &ts[0]);
	for (i = 1; i <= n; i++) {
		must(kfdc_pm4_dispatch(r, kfdc_max_waves(c) * 20));	/* 400 us */
		stamp(r, &ts[i]);
	}
	must(kfdc_pm4_signal(r, s));
	kfdc_ring_submit(r);
	for (i = 0; i < 100; i++) {
		sleep_ns(100 * US);
		must(kfdc_ring_update(r, 0, 7));
		rp = *(volatile uint32_t *)r->rptr;
		sleep_ns(100 * US);
		moved += *(volatile uint32_t *)r->rptr != rp;
		must(kfdc_ring_update(r, 100, 7));
		if (kfdc_signal_value(s) != 1)
			break;
	}
	tap_ok(i >= 50, "unmapped %u times in the middle of %u dispatches", i, n);
	must(kfdc_signal_wait(s, 20 * SEC));
	sleep_ns(MS);
	for (i = 1; i <= n; i++)
		bad += ts[i] < ts[i - 1] + 39990;
	tap_eq(bad, 0, "each took its time, in order");
	tap_eq(moved, 0, "nothing is read while it is unmapped");
	tap_eq(counter("dispatches") - dispatches, n, "each was launched once");
	tap_eq(counter("busy_ns") - busy, n * 400000, "and ran for its time in all");
	kfdc_signal_destroy(s);
}

static void refused(volatile uint32_t *m)
{
	uint32_t *ib = (uint32_t *)m + 256;
	const struct {
		const char *what;
		uint32_t n, dw[9];
	} bad[] = {
		{ "an unknown opcode", 2, { HDR(0xa0, 2), 0 } },
		{ "a type-0 packet", 2, { 0x00010000, 0 } },
		{ "WRITE_DATA to a register", 5, { HDR(WRITE_DATA, 5), 0, 0x2e07, 0, 1 } },
		{ "a dispatch without COMPUTE_NUM_THREAD", 5, { HDR(DISPATCH, 5), 1, 1, 1, 1 } },
		{ "a buffer in a buffer", 4, { HDR(IB, 4), lo(ib), hi(ib), 4 } },
		{ "DISPATCH_INDIRECT of 5 dwords", 5, { HDR(INDIRECT, 5), lo(m), hi(m), 1, 0 } },
		{ "COPY_DATA from a register", 6, { HDR(COPY_DATA, 6), 5 << 8, 0x2e07, 0, lo(m + 1), hi(m + 1) } },
		{ "COPY_DATA to a register", 6, { HDR(COPY_DATA, 6), 5, 1, 0, 0x2e07, 0 } },
		{ "ATOMIC_MEM of floats", 9, { HDR(ATOMIC_MEM, 9), 2, lo(m + 1), hi(m + 1), 1, 0, 0, 0, 0 } },
		{ "RELEASE_MEM of 7 dwords", 7, { HDR(RELEASE_MEM, 7), 0x514, 0, 0, 0, 0, 0 } },
		{ "RELEASE_MEM of DATA_SEL 4", 8, { HDR(RELEASE_MEM, 8), 0x514, 4u << 29, lo(m + 2), hi(m + 2), 0, 0, 0 } },
	};
	struct kfdc_ring *r;
	uint64_t errors;
	unsigned int i;

	memcpy(ib, (uint32_t []){ HDR(IB, 4), lo(ib), hi(ib), 4 }, 16);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset((void *)m, 0, 64);
		errors = counter("queue_errors");
		r = ring_new(4096);
		must(kfdc_pm4_write(r, m, 1));
		must(kfdc_ring_write(r, bad[i].dw, bad[i].n));
		must(kfdc_pm4_write(r, m + 1, 1));
		kfdc_ring_submit(r);
		becomes(m, 1);
		sleep_ns(MS);
		must(kfdc_ring_update(r, 0, 7));
		must(kfdc_ring_update(r, 100, 7));
		sleep_ns(MS);
		tap_ok(m[0] == 1 && !m[1] && counter("queue_errors") == errors + 1,
		       "%s stops the queue for good", bad[i].what);
		must(kfdc_ring_destroy(r));
	}
}

int main(void)
{
	struct kfdc_ring *r;
	struct kfdc_bo bo;

	must(kfdc_open(&c, 0));
	must(kfdc_bo_alloc(c, 65536, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &bo));
	r = ring_new(65536);
	writes(r, bo.va);
	copies(r, bo.va);
	atomic_ops(r, bo.va);
	begins(r, bo.va);
	fences(r, bo.va);
	buffers(r, bo.va);
	waits(r, bo.va);
	wrap(bo.va);
	unmaps(r, bo.va);
	occupied(r);
	must(kfdc_ring_destroy(r));
	refused(bo.va);
	kfdc_close(c);
	return tap_done();
}
