// SPDX-License-Identifier: GPL-2.0
/*
 * sim-sdma: what the SDMA engines of the simulated GPU do with the bytes of user space.
 * For --icount: times are checked.
 */
#include "packets.h"

#define BIG	(64 * MB)

enum { WRITE = 2, INDIRECT = 4, POLL = 8, ATOMIC = 10, TIMESTAMP = 13, BAD = 0x63 };

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

/* every byte depends on its place and on a seed */
static void pattern(void *p, size_t n, uint32_t seed)
{
	uint64_t *q = p, x = seed * 0x9e3779b97f4a7c15ULL + 1;

	for (; n >= 8; n -= 8) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		*q++ = x;
	}
}

/* Copies compare equal and touch nothing else */
static void copies(struct kfdc_ring *r, void *src, void *dst, const char *what)
{
	static const uint32_t sizes[] = { 1, 2, 3, 5, 63, 64, 65, 1000, 4095, 4096, 4097, 12289,
					  65535, 1048577, 4 * MB + 3 };
	unsigned char *s = src, *d = dst;
	unsigned int i, bad = 0;
	uint32_t n, so, off;

	pattern(s, 8 * MB, 1);
	memset(d, 0xee, 8 * MB);
	for (i = 0, off = 7; i < sizeof(sizes) / sizeof(*sizes); i++, off += 13) {
		n = sizes[i];
		so = off * 31 % 4096;
		must(kfdc_sdma_copy(r, d + off, s + so, n));
		run(r);
		if (memcmp(d + off, s + so, n) || d[off - 1] != 0xee || d[off + n] != 0xee)
			bad++;
		memset(d + off, 0xee, n);
	}
	tap_eq(bad, 0, "%s: copies of 1 B to 4 MB at odd offsets compare equal", what);
}

static void big_copy(struct kfdc_ring *r, unsigned char *s, unsigned char *d, uint64_t *ts)
{
	uint32_t n = BIG - 4096 - 13;
	uint64_t ns;

	pattern(s, BIG, 2);
	memset(d, 0xee, BIG);
	PUT(r, TIMESTAMP | 2 << 8, lo(&ts[0]), hi(&ts[0]));
	must(kfdc_sdma_copy(r, d + 77, s + 3, n));
	PUT(r, TIMESTAMP | 2 << 8, lo(&ts[1]), hi(&ts[1]));
	run(r);
	tap_ok(!memcmp(d + 77, s + 3, n) && d[76] == 0xee && d[77 + n] == 0xee,
	       "64 MB at odd offsets compare equal");
	ns = (ts[1] - ts[0]) * 10;		/* 100 MHz */
	tap_ok(ns > n / 25 && ns < n / 25 * 11 / 10, "it took %.3f ms, 25 GB/s make %.3f",
	       ns / 1e6, n / 25e6);
	/* two ranges of one page, the whole of it moved on by one */
	must(kfdc_sdma_copy(r, s + 8192 + 2048, s + 8192 + 1, 2048));
	run(r);
	tap_ok(!memcmp(s + 8192 + 2048, s + 8192 + 1, 2047), "source and destination in one page");
}

static void packets(struct kfdc_ring *r, volatile uint32_t *m, uint64_t *ts)
{
	struct kfdc_signal *s;
	uint32_t i, bad;
	volatile uint64_t *wide = (volatile uint64_t *)(m + 40);

	must(kfdc_sdma_fill(r, (void *)m, 0xcafe0001, 64));
	PUT(r, WRITE, lo(m + 2), hi(m + 2), 2, 0x11, 0x22, 0x33);
	must(kfdc_sdma_fence(r, m + 30, 7));
	run(r);
	for (i = 0, bad = 0; i < 16; i++)
		bad += m[i] != (i < 2 || i > 4 ? 0xcafe0001 : 0x11 * (i - 1));
	tap_ok(!bad && m[16] == 0, "constant fill, and a write of three dwords over it");
	tap_eq(m[30], 7, "fence");

	m[32] = 0xfffffff0;
	*wide = 0xfffffffffULL;
	PUT(r, ATOMIC | 15u << 25, lo(m + 32), hi(m + 32), 0x20, 0, 0, 0, 0);
	PUT(r, ATOMIC | 47u << 25, lo(wide), hi(wide), 2, 1, 0, 0, 0);
	run(r);
	tap_ok(m[32] == 0x10 && m[33] == 0, "atomic add of 32 bits");
	tap_ok(*wide == 0xfffffffffULL + 0x100000002ULL, "atomic add of 64 bits (%#llx)",
	       (unsigned long long)*wide);

	ts[0] = 0;
	PUT(r, TIMESTAMP | 2 << 8, lo(ts), hi(ts));
	PUT(r, 0 | 5u << 16, 0xbad, 0xbad, 0xbad, 0xbad, 0xbad);	/* NOP and what it skips */
	must(kfdc_signal_create(c, true, &s));
	kfdc_signal_set(s, 1);
	must(kfdc_sdma_signal(r, s));
	kfdc_ring_submit(r);
	tap_ok(!kfdc_signal_wait(s, 20 * SEC), "a NOP skips its dwords; a trap signals an event");
	tap_ok(ts[0] != 0, "global time stamp");
	kfdc_signal_destroy(s);

	m[50] = 5;
	m[51] = 0;
	PUT(r, POLL | 3u << 28 | 1u << 31, lo(m + 50), hi(m + 50), 6, 0xff, 0xfff << 16 | 10);
	must(kfdc_sdma_fence(r, m + 51, 1));
	kfdc_ring_submit(r);
	sleep_ns(5 * MS);
	tap_ok(m[51] == 0, "a poll of memory waits");
	m[50] = 0xff06;
	tap_ok(becomes(m + 51, 1), "and goes on when the masked value is there");
}

static void indirect(struct kfdc_ring *r, volatile uint32_t *m)
{
	uint32_t *ib = (uint32_t *)m + 64, i, n = 0;

	for (i = 0; i < 4; i++) {
		ib[n++] = 5;				/* fence */
		ib[n++] = lo(m + i);
		ib[n++] = hi(m + i);
		ib[n++] = 100 + i;
	}
	PUT(r, INDIRECT, lo(ib), hi(ib), n, 0, 0);
	must(kfdc_sdma_fence(r, m + 4, 104));
	kfdc_ring_submit(r);
	tap_ok(becomes(m + 4, 104) && m[0] == 100 && m[3] == 103,
	       "an indirect buffer, then what is behind it");
}

/* A ring of 256 dwords and packets of 7: they lie across its end everywhere */
static void wrap(unsigned char *s, unsigned char *d)
{
	struct kfdc_ring_attr attr = KFDC_SDMA_DEFAULT;
	struct kfdc_ring *r;
	unsigned int i;

	attr.bytes = 1024;
	must(kfdc_ring_create(c, &attr, &r));
	pattern(s, 64 * 1024, 3);
	memset(d, 0, 64 * 1024);
	for (i = 0; i < 1000; i++) {
		while (kfdc_ring_room(r) < 7)
			sleep_ns(20 * US);
		must(kfdc_sdma_copy(r, d + i * 64, s + i * 64, 64));
		if (i % 5 == 4)
			kfdc_ring_submit(r);
	}
	run(r);
	tap_ok(!memcmp(s, d, 64000) && !d[64000], "1000 packets through a ring of 1 KB");
	must(kfdc_ring_destroy(r));
}

/* Indices count bytes: past 2^32 with NOPs of 64 KB, of which nobody writes more than the header */
static void past_4g(volatile uint32_t *m)
{
	struct kfdc_ring_attr attr = KFDC_SDMA_DEFAULT;
	const uint32_t dw = 16384;
	struct kfdc_ring *r;
	unsigned int i;

	attr.bytes = 4 * MB;
	must(kfdc_ring_create(c, &attr, &r));
	for (i = 0; i < 65540; i++) {
		if (kfdc_ring_room(r) < dw) {
			kfdc_ring_submit(r);
			must(kfdc_ring_wait(r, 10 * SEC));
		}
		r->ring[r->put % (attr.bytes / 4)] = (dw - 1) << 16;
		r->put += dw;
	}
	must(kfdc_sdma_fence(r, m + 20, 77));
	run(r);
	tap_ok(m[20] == 77 && *r->rptr == 65540 * 65536ULL + 16,
	       "indices of more than 32 bits (%#llx)", (unsigned long long)*r->rptr);
	must(kfdc_ring_destroy(r));
}

/* Off the GPU 100 times while a stream of copies and adds runs: everything happens once */
static void unmaps(struct kfdc_ring *r, unsigned char *s, unsigned char *d, volatile uint32_t *m)
{
	unsigned int i, half = 0, moved = 0;
	uint64_t rp;
	uint32_t sum;

	pattern(s, 32 * MB, 4);
	memset(d, 0, 32 * MB);
	m[0] = 0;
	param("sdma_gbs", 1);		/* 32 MB take 34 ms, 100 updates less */
	for (i = 0; i < 32; i++) {
		must(kfdc_sdma_copy(r, d + i * MB, s + i * MB, MB));
		PUT(r, ATOMIC | 15u << 25, lo(m), hi(m), 1, 0, 0, 0, 0);
	}
	kfdc_ring_submit(r);
	for (i = 0; i < 100; i++) {
		must(kfdc_ring_update(r, 0, 7));
		rp = *r->rptr;
		sum = m[0];
		half += *r->rptr != r->put * 4;
		sleep_ns(100 * US);
		moved += *r->rptr != rp || m[0] != sum;
		must(kfdc_ring_update(r, 100, 7));
		sleep_ns(150 * US);
	}
	must(kfdc_ring_wait(r, 20 * SEC));
	param("sdma_gbs", 25);
	tap_ok(half >= 90, "unmapped 100 times, %u times with copies to do", half);
	tap_eq(moved, 0, "nothing moves while it is unmapped");
	tap_eq(m[0], 32, "32 adds happened once each");
	tap_ok(!memcmp(s, d, 32 * MB), "and the copies between them are complete");
}

static void refused(volatile uint32_t *m)
{
	static const struct {
		const char *what;
		uint32_t header;
	} bad[] = {
		{ "unknown opcode", BAD },
		{ "tiled copy", 1 | 1 << 8 },
		{ "write of page tables", 12 },
		{ "write of a register", 14 },
	};
	struct kfdc_ring *r;
	unsigned int i;
	uint64_t errors;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		m[0] = 0;
		m[1] = 0;
		errors = counter("queue_errors");
		must(kfdc_ring_create(c, NULL, &r));
		must(kfdc_sdma_fence(r, m, 1));
		PUT(r, bad[i].header, 0, 0, 0, 0, 0, 0, 0);
		must(kfdc_sdma_fence(r, m + 1, 1));
		kfdc_ring_submit(r);
		becomes(m, 1);
		sleep_ns(MS);
		must(kfdc_ring_update(r, 0, 7));
		must(kfdc_ring_update(r, 100, 7));
		sleep_ns(MS);
		tap_ok(m[0] == 1 && m[1] == 0 && *r->rptr == 16 &&
		       counter("queue_errors") == errors + 1, "%s stops the queue for good",
		       bad[i].what);
		must(kfdc_ring_destroy(r));
	}
}

/* Garbage for a write index: the ring is read once, and the scheduler still answers */
static void ahead(void)
{
	struct kfdc_ring_attr small = KFDC_SDMA_DEFAULT;
	struct kfdc_ring *r;

	small.bytes = 1024;
	must(kfdc_ring_create(c, &small, &r));
	*r->wptr = 1ULL << 60;
	*r->doorbell = 0;
	sleep_ns(10 * MS);
	tap_eq(*r->rptr, 1024, "a write index far ahead means a full ring, of NOPs here");
	must(kfdc_ring_destroy(r));
}

int main(void)
{
	struct kfdc_bo gtt, vram, small;
	struct kfdc_ring *r;
	uint64_t handle;
	void *user;

	must(kfdc_open(&c, 0));
	must(kfdc_ring_create(c, NULL, &r));
	must(kfdc_bo_alloc(c, 65536, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &small));
	must(kfdc_bo_alloc(c, BIG, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &gtt));
	must(kfdc_bo_alloc(c, BIG, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC,
			   &vram));
	user = mmap(NULL, 9 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handle = userptr(c, user, 9 * MB);
	copies(r, gtt.va, vram.va, "GTT to VRAM");
	copies(r, vram.va, gtt.va, "VRAM to GTT");
	copies(r, user, vram.va, "user memory to VRAM");
	copies(r, vram.va, user, "VRAM to user memory");
	big_copy(r, gtt.va, vram.va, small.va);
	memset(small.va, 0, small.size);
	packets(r, small.va, (uint64_t *)((char *)small.va + 4096));
	indirect(r, small.va);
	wrap(gtt.va, vram.va);
	past_4g(small.va);
	unmaps(r, gtt.va, vram.va, small.va);
	refused(small.va);
	ahead();
	must(kfdc_ring_destroy(r));
	userptr_free(c, handle);
	kfdc_close(c);
	return tap_done();
}
