// SPDX-License-Identifier: GPL-2.0
/*
 * sim-cycles N: N times insmod, a process that uses the GPU, a reset on request with a process
 * waiting, rmmod; and what that costs of the kernel's memory.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

/*
 * What amdkfd itself leaks per GPU that goes (6.1 and 6.12, patched or not): the CPU node's link to
 * it is taken off its list by kfd_topology_update_io_links() and never freed; its kobject keeps the
 * directories above it: io_links/0, io_links, nodes/0, nodes, topology, kfd and its class.
 */
#define KNOWN_NODES	7
#define KNOWN_BYTES	(KNOWN_NODES * (136 + 64) + 128 + 64)	/* and entries of sysfs's inode numbers */

#define SLACK_KB	256	/* noise: slabs that are not full */
#define WARM_UP		5	/* cycles after which caches and pools are as they stay */

/**
 * struct memory - what the kernel uses, in KiB, but for the counts
 * @slab: unreclaimable slabs
 * @nodes: objects of kernfs_node_cache
 * @vmalloc: KiB of areas in /proc/vmallocinfo that counts() lets count
 * @areas: how many
 * @objects: active objects of caches that amdgpu's or DRM's code made itself
 * @percpu: per-CPU memory
 */
struct memory {
	long slab, nodes, vmalloc, areas, objects, percpu;
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

/*
 * Areas that come and go by themselves: what is freed already and waits for the next purge ("unpurged"),
 * and the stacks of tasks ("kernel_clone"), of which work queues start and end some as they please.
 */
static bool counts(const char *line)
{
	return !strstr(line, "vm_map_ram") && !strstr(line, "unpurged") && !strstr(line, "kernel_clone");
}

static void show_areas(void)
{
	char line[512];
	FILE *f = fopen("/proc/vmallocinfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (counts(line))
			tap_diag("there: %.*s", (int)strcspn(line, "\n"), line);
	if (f)
		fclose(f);
}

/* Empty slabs and those of each CPU go back; only then the counts are true */
static void shrink(void)
{
	glob_t g;
	size_t i;

	if (glob("/sys/kernel/slab/*/shrink", 0, NULL, &g))
		return;
	for (i = 0; i < g.gl_pathc; i++)
		sim_poke(g.gl_pathv[i], "1");
	globfree(&g);
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
	shrink();
	usleep(100000);
	shrink();
	m.slab = meminfo("SUnreclaim");
	m.percpu = meminfo("Percpu");
	f = fopen("/proc/vmallocinfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (counts(line)) {
			m.areas++;
			m.vmalloc += atol(strchr(line, ' ') ? strchr(line, ' ') : "0") / 1024;
		}
	if (f)
		fclose(f);
	f = fopen("/proc/slabinfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "amdgpu") || strstr(line, "kfd") || strstr(line, "drm_"))
			m.objects += atol(strchr(line, ' '));
		else if (!strncmp(line, "kernfs_node_cache ", 18))
			m.nodes = atol(line + 18);
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
	int n = argc > 1 ? atoi(argv[1]) : 50, i;
	long known;
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
	known = (long)n * KNOWN_BYTES / 1024;
	tap_ok(b.slab - a.slab < known + SLACK_KB,
	       "unreclaimable slabs grow by %ld KiB: %ld of amdkfd's own leak, less than %d more",
	       b.slab - a.slab, known, SLACK_KB);
	tap_ok(b.nodes - a.nodes <= KNOWN_NODES * n + 20,
	       "sysfs grows by %ld nodes: %d per cycle are amdkfd's own leak", b.nodes - a.nodes,
	       KNOWN_NODES);
	if (!tap_ok(b.areas <= a.areas + 2 && b.vmalloc - a.vmalloc < 64, "no vmalloc area stays"))
		show_areas();
	tap_ok(b.percpu - a.percpu < 64, "no per-CPU memory stays");
	tap_eq(b.objects, a.objects, "no object of DRM's and amdkfd's caches stays");
	sim_load("");
	return tap_done();
}
