// SPDX-License-Identifier: GPL-2.0
/*
 * sim-multi: several GPUs in one machine, and one process that uses all of them.
 *
 * usage: sim-multi [reset|priority]
 * "priority": a priority holds on all GPUs.
 * "reset": what the reset of one GPU does to the others. Wants queue_preemption_timeout_ms=1500.
 */
#include "kfd.h"
#include "kfdclient.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS	1000000ULL
#define SEC	1000000000ULL
#define MAX	8

struct gpu {
	struct kfdc *c;
	struct kfdc_queue *q;
	struct kfdc_signal *s;
	uint64_t name;		/* device ID, for messages */
};

static struct gpu gpu[MAX];
static unsigned int num;

static void must(int r)
{
	if (r)
		tap_bail("%s", kfdc_error());
}

static uint64_t prop(unsigned int i, const char *name)
{
	uint64_t v;

	must(kfdc_prop(gpu[i].c, name, &v));
	return v;
}

static uint64_t counter(unsigned int i, const char *name)
{
	char line[128], path[64];
	unsigned long long v;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kfdsim/%u/counters", i);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line + strlen(name), " %llu", &v) == 1) {
			fclose(f);
			return v;
		}
	tap_bail("%s: no counter %s", path, name);
}

static void dispatch(unsigned int i, uint64_t ns, struct kfdc_signal *s)
{
	must(kfdc_dispatch(gpu[i].q, &(struct kfdc_dispatch){ .ns = ns, .signal = s }));
}

static void wait_all(void)
{
	for (unsigned int i = 0; i < num; i++)
		must(kfdc_signal_wait(gpu[i].s, 60 * SEC));
}

static void distinct(const char *name)
{
	unsigned int i, k, same = 0;

	for (i = 0; i < num; i++)
		for (k = 0; k < i; k++)
			same += prop(i, name) == prop(k, name);
	tap_eq(same, 0, "no two GPUs have the same %s", name);
}

static void topology(void)
{
	unsigned int i, k, same = 0, links = 0, p2p = 0, hives = 0;

	for (i = 0; i < num; i++)
		for (k = 0; k < i; k++)
			same += kfdc_gpu_id(gpu[i].c) == kfdc_gpu_id(gpu[k].c);
	tap_eq(same, 0, "no two GPUs have the same gpu_id");
	distinct("unique_id");
	distinct("location_id");
	distinct("drm_render_minor");
	for (i = 0; i < num; i++) {
		links += prop(i, "io_links_count");
		p2p += prop(i, "p2p_links_count");
		hives += !!prop(i, "hive_id");
	}
	tap_eq(links, num, "each GPU has one link, to the CPU");
	tap_eq(hives, 0, "no GPU is in a hive");
	tap_eq(p2p, 0, "no GPU reaches another one over PCIe: no CONFIG_HSA_AMD_P2P in this kernel");
}

static void at_once(void)
{
	uint64_t begin, ns, min = ~0ULL, max = 0;
	unsigned int i;

	for (i = 0; i < num; i++)
		kfdc_signal_set(gpu[i].s, 4);
	begin = kfdc_now();
	for (unsigned int n = 0; n < 4; n++)
		for (i = 0; i < num; i++)
			dispatch(i, 25 * MS, gpu[i].s);
	wait_all();
	ns = kfdc_now() - begin;
	tap_ok(ns >= 100 * MS && ns < (100 * num - 50) * MS,
	       "4 x 25 ms on each of %u GPUs take %llu ms in all, their events arrive", num,
	       (unsigned long long)(ns / MS));
	for (i = 0; i < num; i++) {
		ns = kfdc_signal_gpu_ns(gpu[i].s);
		min = ns < min ? ns : min;
		max = ns > max ? ns : max;
	}
	tap_ok(min > 24 * MS && max < 40 * MS, "the last of each took %.1f to %.1f ms", min / 1e6,
	       max / 1e6);
}

/* GPU i waits for its neighbour's signal, in the neighbour's memory */
static void chain(void)
{
	struct kfdc_signal *dep;
	unsigned int i;

	for (i = 1; i < num; i++)
		must(kfdc_signal_share(gpu[i - 1].c, gpu[i].c));
	for (i = 0; i < num; i++) {
		kfdc_signal_set(gpu[i].s, 1);
		if (i) {
			dep = gpu[i - 1].s;
			must(kfdc_barrier(gpu[i].q, false, &dep, 1, NULL));
			dispatch(i, MS, gpu[i].s);
		}
	}
	usleep(30000);
	tap_eq(kfdc_signal_value(gpu[num - 1].s), 1, "the last GPU waits for the first one");
	dispatch(0, MS, gpu[0].s);
	wait_all();
	tap_ok(true, "dispatches on all GPUs run one after the other, by barriers on each other's signals");

	/* the completion signal in another GPU's memory */
	kfdc_signal_set(gpu[0].s, 2);
	dispatch(1, MS, gpu[0].s);
	dispatch(0, MS, gpu[0].s);
	must(kfdc_signal_wait(gpu[0].s, 60 * SEC));
	tap_ok(true, "a dispatch of one GPU completes a signal of another, with its event");
}

static void memory(void)
{
	struct kfdc_bo sys, vram, user;
	struct kfdc_ring *r;
	unsigned int i;
	uint32_t *p;

	must(kfdc_bo_alloc(gpu[0].c, 1 << 20, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &sys));
	p = sys.va;
	for (i = 1; i < num; i++)
		must(kfdc_bo_map(gpu[i].c, &sys));
	tap_ok(true, "system memory of one GPU can be mapped to all");
	for (i = 0; i < num; i++) {
		must(kfdc_ring_create(gpu[i].c, NULL, &r));
		p[1000 * i] = 0xabc0 + i;
		must(kfdc_sdma_copy(r, &p[1000 * (i + 1)], &p[1000 * i], 4000));
		kfdc_ring_submit(r);
		must(kfdc_ring_wait(r, 60 * SEC));
		tap_eq(p[1000 * (i + 1)], 0xabc0 + i, "GPU %u copies in it", i);
		must(kfdc_ring_destroy(r));
	}
	must(kfdc_bo_alloc(gpu[0].c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM |
			   KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC, &vram));
	tap_eq(kfdc_bo_map(gpu[1].c, &vram), -EINVAL, "VRAM cannot: %s", kfdc_error());
	kfdc_bo_free(gpu[0].c, &vram);
	user = sys;
	for (i = 1; i < num; i++)
		must(kfdc_bo_unmap(gpu[i].c, &user));
	kfdc_bo_free(gpu[0].c, &sys);
	tap_ok(true, "unmapped from all");
}

static void poke(unsigned int i, const char *file, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kfdsim/%u/%s", i, file);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
}

/*
 * amdkfd evicts all processes of all GPUs while one is reset: the others stop too, for as
 * long as that takes, and lose nothing.
 */
static void reset(unsigned int victim)
{
	uint64_t was[MAX];
	unsigned int i;

	for (i = 0; i < num; i++) {
		was[i] = counter(i, "dispatches");
		kfdc_signal_set(gpu[i].s, 2);
		dispatch(i, 400 * MS, gpu[i].s);
		dispatch(i, 50 * MS, gpu[i].s);
	}
	usleep(100000);
	poke(victim, "hang", "1");
	/* changing the queue needs the scheduler, which hangs now: amdkfd resets the GPU */
	tap_ok(kfdc_queue_update(gpu[victim].q, 0, 7) < 0, "GPU %u hangs: %s", victim,
	       kfdc_error());
	for (i = 0; i < num; i++) {
		if (i == victim)
			continue;
		must(kfdc_signal_wait(gpu[i].s, 60 * SEC));
		tap_eq(counter(i, "dispatches") - was[i], 2, "GPU %u did its work, each once", i);
		tap_eq(counter(i, "queue_errors"), 0, "no queue of it stopped");
	}
	for (i = 0; i < 100 && counter(victim, "resets") < 1; i++)
		usleep(100000);
	tap_eq(counter(victim, "resets"), 1, "GPU %u was reset", victim);
	for (i = 0; i < num; i++)
		if (i != victim)
			tap_eq(counter(i, "resets"), 0, "GPU %u was not", i);
	tap_ok(kfdc_signal_value(gpu[victim].s) == 2, "what ran on the GPU that was reset is lost");
}

/* Queues of one GPU whose MQD has these priorities; the firmware may still be at it */
static unsigned int mapped(unsigned int i, const char *prio, unsigned int want)
{
	unsigned int n = ~0U, tries;
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kfdsim/%u/state", i);
	for (tries = 0; tries < 200 && n != want; tries++) {
		f = fopen(path, "r");
		if (!f)
			tap_bail("cannot read %s", path);
		for (n = 0; fgets(line, sizeof(line), f);)
			n += !!strstr(line, prio);
		fclose(f);
		usleep(1000);
	}
	return n;
}

static void priority(void)
{
	struct kfd_prio_set_args a;
	struct kfdc_queue *q[MAX];
	unsigned int i;

	tap_eq(kfd_set(getpid(), 12, &a), 0, "priority 12 is set");
	tap_eq(a.nr_queues, num, "for a queue on each of %u GPUs", num);
	for (i = 0; i < num; i++)
		tap_eq(mapped(i, " pipe_prio 2 queue_prio 12 ", 1), 1, "GPU %u has it", i);
	for (i = 0; i < num; i++)
		must(kfdc_queue_create(gpu[i].c, NULL, &q[i]));
	for (i = 0; i < num; i++)
		tap_eq(mapped(i, " pipe_prio 2 queue_prio 12 ", 2), 2, "GPU %u: a new queue too", i);
	tap_eq(kfd_set(getpid(), KFD_PRIO_UNSET, &a), 0, "it is taken away");
	for (i = 0; i < num; i++)
		tap_eq(mapped(i, " pipe_prio 1 queue_prio 7 ", 2), 2, "GPU %u has 7 again", i);
	for (i = 0; i < num; i++)
		must(kfdc_queue_destroy(q[i]));
	for (i = 0; i < num; i++)
		tap_eq(counter(i, "bad_packets"), 0, "GPU %u understood all that it was sent", i);
}

int main(int argc, char **argv)
{
	unsigned int i;

	while (num < MAX && !kfdc_open(&gpu[num].c, num)) {
		must(kfdc_queue_create(gpu[num].c, NULL, &gpu[num].q));
		must(kfdc_signal_create(gpu[num].c, true, &gpu[num].s));
		num++;
	}
	if (num < 2)
		tap_bail("%u GPU(s): %s", num, kfdc_error());
	if (argc > 1 && !strcmp(argv[1], "reset")) {
		reset(1);
	} else if (argc > 1 && !strcmp(argv[1], "priority")) {
		priority();
	} else {
		topology();
		at_once();
		chain();
		memory();
	}
	for (i = 0; i < num; i++)
		kfdc_queue_destroy(gpu[i].q);
	for (i = 0; i < num; i++) {
		kfdc_signal_destroy(gpu[i].s);
		kfdc_close(gpu[i].c);
	}
	return tap_done();
}
