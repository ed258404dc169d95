// SPDX-License-Identifier: GPL-2.0
/*
 * sim-cycles N: N times insmod, a process that uses the GPU, a reset on request with a process
 * waiting, rmmod; and what that costs of the kernel's memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define WARM_UP		5	/* cycles after which caches and pools are as they stay */

/**
 * struct memory - what the kernel uses, in KiB, but for the counts
 * @slab: unreclaimable slabs
 * @vmalloc: bytes of areas in /proc/vmallocinfo, but for those of the module loader
 * @areas: how many
 * @objects: active objects of caches that amdgpu's or DRM's code made itself
 * @percpu: per-CPU memory
 */
struct memory {
	long slab, vmalloc, areas, objects, percpu;
};

static long meminfo(const char *name)
{
	char line[256];
	long v = -1;
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			v = atol(line + strlen(name) + 1);
	if (f)
		fclose(f);
	return v;
}

struct cache {
	char name[64];
	long objects, size;
};

/* All slab caches; returns how many */
static int caches(struct cache *c, int max)
{
	FILE *f = fopen("/proc/slabinfo", "re");
	char line[512];
	int n = 0;

	while (f && n < max && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %*d %ld %ld", c[n].name, &c[n].objects, &c[n].size) == 3)
			n++;
	if (f)
		fclose(f);
	return n;
}

/* Which caches have grown by 32 KiB or more */
static void show_growth(const struct cache *a, int na, const struct cache *b, int nb)
{
	int i, k;
	long grown;

	for (i = 0; i < nb; i++) {
		for (k = 0; k < na && strcmp(a[k].name, b[i].name); k++)
			;
		grown = (b[i].objects - (k < na ? a[k].objects : 0)) * b[i].size;
		if (grown >= 32768)
			tap_diag("%s: %ld objects of %ld bytes more, %ld KiB", b[i].name,
				 b[i].objects - (k < na ? a[k].objects : 0), b[i].size, grown / 1024);
	}
}

static struct memory memory(void)
{
	struct memory m = {};
	char line[512];
	FILE *f;

	/* what RCU and work queues still hold, and empty slabs, are nobody's leak */
	sync();
	sim_poke("/proc/sys/vm/drop_caches", "3");
	usleep(300000);
	m.slab = meminfo("SUnreclaim");
	m.percpu = meminfo("Percpu");
	f = fopen("/proc/vmallocinfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strstr(line, "vm_map_ram")) {
			m.areas++;
			m.vmalloc += atol(strchr(line, ' ') ? strchr(line, ' ') : "0") / 1024;
		}
	if (f)
		fclose(f);
	f = fopen("/proc/slabinfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "amdgpu") || strstr(line, "kfd") || strstr(line, "drm_"))
			m.objects += atol(strchr(line, ' '));
	if (f)
		fclose(f);
	return m;
}

static int waiter(int fd, void *arg)
{
	struct kfdc_queue *q;
	struct kfdc *c;

	(void)arg;
	if (kfdc_open(&c, 0) || kfdc_queue_create(c, NULL, &q) ||
	    kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 60000000000ULL }) ||
	    write(fd, "r", 1) != 1)
		return 1;
	pause();
	return 0;
}

/* From loaded to loaded. Return: what went wrong, NULL: nothing */
static const char *cycle(long long pages)
{
	struct sim_child ch;
	bool ready;
	char r;

	if (sim_use(0, true))
		return "use";
	ch = sim_child(waiter, NULL);
	ready = sim_child_hear(&ch, &r, 1, 20000);
	if (ready && sim_write(0, "reset", "1"))
		ready = false;
	sim_child_kill(&ch);
	if (!ready)
		return "reset";
	if (sim_use(0, false))
		return "use after the reset";
	if (!sim_clean(0, pages))
		return "something is left";
	if (sim_unload())
		return "rmmod";
	if (sim_load(""))
		return "insmod";
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 50, i, per;
	long long pages = sim_counter(0, "ram_pages");
	static struct cache before[512], after[512];
	int nbefore = 0, nafter;
	struct memory a = {}, b;
	const char *why = NULL;
	uint64_t t = 0;

	for (i = -WARM_UP; i < n && !why; i++) {
		if (!i) {
			sim_unload();
			a = memory();
			nbefore = caches(before, 512);
			sim_load("");
			t = kfdc_now();
		}
		why = cycle(pages);
	}
	t = kfdc_now() - t;
	tap_ok(!why, "%d cycles of load, use, reset, unload%s%s", n, why ? ": " : "", why ? why : "");
	sim_unload();
	b = memory();
	nafter = caches(after, 512);
	show_growth(before, nbefore, after, nafter);
	tap_diag("%.1f ms of guest time per cycle", n ? t / 1e6 / n : 0);
	tap_diag("SUnreclaim %ld -> %ld KiB, Percpu %ld -> %ld KiB, vmalloc %ld -> %ld KiB in %ld -> %ld areas, slab objects of DRM and amdkfd %ld -> %ld",
		 a.slab, b.slab, a.percpu, b.percpu, a.vmalloc, b.vmalloc, a.areas, b.areas, a.objects,
		 b.objects);
	/* one object of 64 bytes leaked per cycle is 64 KiB in 1000 cycles */
	per = 512 + n / 20;
	tap_ok(b.slab - a.slab < per, "unreclaimable slabs grow by %ld KiB (less than %d)", b.slab - a.slab,
	       per);
	tap_ok(b.areas <= a.areas + 2 && b.vmalloc - a.vmalloc < 64, "no vmalloc area stays");
	tap_ok(b.percpu - a.percpu < 64, "no per-CPU memory stays");
	tap_eq(b.objects, a.objects, "no object of DRM's and amdkfd's caches stays");
	sim_load("");
	return tap_done();
}
