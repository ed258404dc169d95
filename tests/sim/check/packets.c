// SPDX-License-Identifier: GPL-2.0
/*
 * sim-packets: SDMA. What the engines of the simulated GPU do with the bytes of user space.
 */
#include "kfdclient.h"
#include "tap.h"

#include <linux/kfd_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS	1000000ULL
#define SEC	1000000000ULL
#define MB	(1ULL << 20)

static struct kfdc *c;

static void must(int r)
{
	if (r)
		tap_bail("%s", kfdc_error());
}

static void run(struct kfdc_ring *r)
{
	kfdc_ring_submit(r);
	must(kfdc_ring_wait(r, 60 * SEC));
}

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

static void copies(struct kfdc_ring *r, struct kfdc_bo *src, struct kfdc_bo *dst, const char *what)
{
	static const uint32_t sizes[] = { 1, 2, 3, 5, 63, 64, 65, 1000, 4095, 4096, 4097, 12289,
					  65535, 1048577, 4 * MB + 3 };
	unsigned char *s = src->va, *d = dst->va;
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
	tap_eq(bad, 0, "SDMA %s: copies of 1 B to 4 MB at odd offsets compare equal", what);
}

int main(void)
{
	struct kfdc_bo gtt, vram, gtt2;
	struct kfdc_ring *r;

	must(kfdc_open(&c, 0));
	must(kfdc_ring_create(c, NULL, &r));
	must(kfdc_bo_alloc(c, 8 * MB, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &gtt));
	must(kfdc_bo_alloc(c, 8 * MB, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &gtt2));
	must(kfdc_bo_alloc(c, 8 * MB, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC,
			   &vram));
	copies(r, &gtt, &vram, "GTT to VRAM");
	copies(r, &vram, &gtt, "VRAM to GTT");
	copies(r, &gtt, &gtt2, "GTT to GTT");
	must(kfdc_ring_destroy(r));
	kfdc_close(c);
	return tap_done();
}
