// SPDX-License-Identifier: GPL-2.0
/*
 * rfc_events kfd|amdkfd - what a client does, as events of kfdprio or of the series in contrib/rfc. Runs in the VM, on the
 * simulated GPU, alone on it. Prints TAP, and for each event a line "event: ..." in words that do not depend on the driver:
 * tests/trace/rfc compares those of both.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <event-parse.h>
#include "events.h"
#include "kfd.h"
#include "kfdclient.h"
#include "tap.h"

#define SIM "/sys/kernel/debug/kfdsim/0/"
#define MES_FILTER 0x80
#define MAX_QUEUES 64

static struct kfdc *gpu;
static bool mes, rfc;
static pid_t child;

#define TRY(call) do { if (call) tap_bail("%s: %s", #call, kfdc_error()); } while (0)

/**
 * struct known - what the client knows of a queue of its own
 * @ring, @rptr, @wptr: addresses
 */
static struct known {
	uintptr_t ring, rptr, wptr;
} known[MAX_QUEUES];

static long long field(const struct event *ev, const char *name)
{
	return event_field(ev, name);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		tap_bail("cannot write %s", path);
	close(fd);
}

static const char *whose(long long pid)
{
	return pid == getpid() ? "mine" : pid == child ? "the child's" : "another's";
}

/* Queue and process, without their numbers where these depend on the boot */
static void subject(const char *what, const struct event *ev)
{
	printf("event: %s: queue %lld, %s", what, field(ev, "queue_id"), whose(field(ev, "pid")));
}

static const char *address(const struct event *ev, const char *name, size_t at)
{
	long long id = field(ev, "queue_id");

	/* a queue whose creation failed has addresses that the program never learned */
	if (field(ev, "pid") != getpid() || id < 0 || id >= MAX_QUEUES || !known[id].ring)
		return field(ev, name) ? "set" : "0";
	return (uintptr_t)field(ev, name) == *(uintptr_t *)((char *)&known[id] + at) ? "right" : "WRONG";
}

static void addresses(const struct event *ev, const char *ring, const char *cwsr)
{
	printf(" ring %s, %lld bytes, rptr %s, wptr %s, save area %s, %lld bytes\n",
	       address(ev, ring, offsetof(struct known, ring)), field(ev, "ring_size"),
	       address(ev, "rptr", offsetof(struct known, rptr)), address(ev, "wptr", offsetof(struct known, wptr)),
	       field(ev, cwsr) ? "set" : "0", field(ev, "cwsr_size"));
}

/* Type and format of kfdprio as the number of the ioctl */
static int ioctl_type(const struct event *ev)
{
	static const int types[] = { [0] = 0, [1] = 1, [4] = 3 };	/* COMPUTE, SDMA, SDMA_XGMI */
	long long type = field(ev, "type");

	if (type != 0 && type != 1 && type != 4)
		return -1;
	return type == 0 && field(ev, "format") == 1 ? 2 : types[type];
}

static void print_ours(const struct events *e)
{
	long long doorbell = 0;
	bool hws = false;
	size_t i;

	for (i = 0; i < e->nr; i++) {
		const struct event *ev = &e->event[i];
		const char *name = ev->name + strlen("kfd_");

		if (!strcmp(name, "create_queue")) {
			doorbell = field(ev, "doorbell");
			subject("create", ev);
			printf(" type %d priority %lld", ioctl_type(ev), field(ev, "req_prio"));
			addresses(ev, "ring_base", "cwsr_base");
		} else if (!strcmp(name, "init_mqd")) {
			subject("MQD", ev);
			printf(" priority %lld doorbell 0x%llx, MQD %s\n", field(ev, "prio"), doorbell,
			       field(ev, "mqd_addr") ? "set" : "0");
		} else if (!strcmp(name, "update_queue")) {
			subject("update", ev);
			printf(" priority %lld percent %lld, %lld bytes, active %lld, ret %lld\n", field(ev, "req_prio"),
			       field(ev, "percent"), field(ev, "ring_size"), field(ev, "active"), field(ev, "ret"));
		} else if (!strcmp(name, "destroy_queue")) {
			subject("destroy", ev);
			printf(" reason %lld ret %lld\n", field(ev, "reason"), field(ev, "ret"));
		} else if (!strcmp(name, "unmap_queues")) {
			hws = field(ev, "filter") != MES_FILTER;
			if (hws)
				printf("event: unmap filter %lld param %lld\n", field(ev, "filter"), field(ev, "filter_param"));
			else
				subject("MES remove", ev), putchar('\n');
		} else if (!strcmp(name, "unmap_queues_done")) {
			printf("event: %s ret %lld\n", hws ? "unmapped" : "MES removed", field(ev, "ret"));
		} else if (!strcmp(name, "map_queues")) {
			printf("event: map processes %lld queues %lld over %lld size %lld addr %s ret %lld\n",
			       field(ev, "processes"), field(ev, "queues"),
			       field(ev, "over_subscribed"), field(ev, "runlist_size"),
			       field(ev, "runlist_addr") ? "set" : "0", field(ev, "ret"));
		} else if (!strcmp(name, "map_queue")) {
			subject(field(ev, "gang_level") < 0 ? "in runlist" : "MES add", ev);
			printf(" ret %lld\n", field(ev, "ret"));
		} else if (!strcmp(name, "evict_process") || !strcmp(name, "restore_process")) {
			printf("event: %s %s evicted %lld queues %lld ret %lld\n", name, whose(field(ev, "pid")),
			       field(ev, "evicted"), field(ev, "queues"), field(ev, "ret"));
		} else if (!strcmp(name, "hws_hang")) {
			printf("event: hang processes %lld queues %lld\n", field(ev, "processes"), field(ev, "queues"));
		} else if (strcmp(name, "ioctl_create_queue")) {
			printf("event: %s\n", name);
		}
	}
}

/* The events between @from and its end that are of the runlist's queues, in the order in which kfdprio has them: behind it */
static void print_map(const struct events *e, size_t from, const struct event *end)
{
	const struct event *start = &e->event[from], *ev;

	printf("event: map processes %lld queues %lld over %lld size %lld addr %s ret %lld\n",
	       field(end, "processes"), field(end, "queues"),
	       field(end, "oversubscribed"), field(end, "ib_size"), field(end, "ib") ? "set" : "0", field(end, "ret"));
	for (ev = start + 1; ev < end; ev++)
		if (!strcmp(ev->name, "amdkfd_runlist_queue") && !field(end, "ret")) {
			subject("in runlist", ev);
			printf(" ret 0\n");
		}
}

static void print_rfc(const struct events *e)
{
	size_t i, map = 0;

	for (i = 0; i < e->nr; i++) {
		const struct event *ev = &e->event[i];
		const char *name = ev->name + strlen("amdkfd_");

		if (!strcmp(name, "queue_create_start")) {
			subject("create", ev);
			printf(" type %lld priority %lld", field(ev, "type"), field(ev, "priority"));
			addresses(ev, "ring", "cwsr");
		} else if (!strcmp(name, "queue_mqd_init")) {
			subject("MQD", ev);
			printf(" priority %lld doorbell 0x%llx, MQD %s\n", field(ev, "priority"), field(ev, "doorbell"),
			       field(ev, "mqd") ? "set" : "0");
		} else if (!strcmp(name, "queue_update_end")) {
			subject("update", ev);
			printf(" priority %lld percent %lld, %lld bytes, active %lld, ret %lld\n", field(ev, "priority"),
			       field(ev, "percent"), field(ev, "ring_size"), field(ev, "active"), field(ev, "ret"));
		} else if (!strcmp(name, "queue_destroy_end") ||
			   (!strcmp(name, "queue_create_end") && field(ev, "ret"))) {
			subject("destroy", ev);
			printf(" reason %d ret %lld\n", name[6] == 'd' ? 0 : 2, field(ev, "ret"));
		} else if (!strcmp(name, "queue_release")) {
			subject("destroy", ev);
			printf(" reason 1 ret 0\n");
		} else if (!strcmp(name, "runlist_unmap_start")) {
			printf("event: unmap filter %lld param %lld\n", field(ev, "filter"), field(ev, "filter_param"));
		} else if (!strcmp(name, "mes_queue_remove_start")) {
			subject("MES remove", ev);
			putchar('\n');
		} else if (!strcmp(name, "runlist_unmap_end") || !strcmp(name, "mes_queue_remove_end")) {
			printf("event: %s ret %lld\n", name[0] == 'r' ? "unmapped" : "MES removed", field(ev, "ret"));
		} else if (!strcmp(name, "runlist_map_start")) {
			map = i;
		} else if (!strcmp(name, "runlist_map_end")) {
			print_map(e, map, ev);
		} else if (!strcmp(name, "mes_queue_add_end")) {
			subject("MES add", ev);
			printf(" ret %lld\n", field(ev, "ret"));
		} else if (!strcmp(name, "process_evict_end") || !strcmp(name, "process_restore_end")) {
			printf("event: %s %s evicted %lld queues %lld ret %lld\n",
			       name[8] == 'e' ? "evict_process" : "restore_process", whose(field(ev, "pid")),
			       field(ev, "evicted"), field(ev, "queues"), field(ev, "ret"));
		} else if (!strcmp(name, "scheduler_hang")) {
			printf("event: hang processes %lld queues %lld\n", field(ev, "processes"), field(ev, "queues"));
		}
	}
}

/* The text of "dev" */
static const char *device(const struct event *ev)
{
	struct tep_format_field *f = tep_find_field(ev->type, "dev");
	unsigned int loc;

	if (!f)
		return "";
	memcpy(&loc, (char *)ev->data + f->offset, sizeof(loc));
	return (loc & 0xffff) + (loc >> 16) <= (unsigned int)ev->size ? (char *)ev->data + (loc & 0xffff) : "";
}

/* Checks the fields that every event of the series must have, and that each start has its end */
static void check_context(const struct events *e, const char *when)
{
	static const char *const buses[] = { "pci", "platform" };
	size_t i, b, wrong = 0, open = 0, unnested = 0;
	const char *stack[16];
	char path[128];
	bool there = false;

	for (i = 0; i < e->nr; i++) {
		const struct event *ev = &e->event[i];
		size_t length = strlen(ev->name);
		bool good = field(ev, "gpu_id") == kfdc_gpu_id(gpu) && field(ev, "xcc_mask") &&
			    !strcmp(device(ev), device(e->event)) &&
			    (!event_has(ev, "pid") || (field(ev, "pid") > 0 && field(ev, "pasid") > 0));

		if (!good && !wrong++)
			tap_diag("%s: gpu_id, xcc_mask, dev, pid or pasid", ev->name);
		/* one thread acts at a time here, so that starts and ends nest */
		if (length > 6 && !strcmp(ev->name + length - 6, "_start")) {
			if (open < 16)
				stack[open] = ev->name;
			open++;
		} else if (length > 4 && !strcmp(ev->name + length - 4, "_end")) {
			if (!open || strncmp(stack[open - 1], ev->name, length - 4))
				unnested++;
			open -= !!open;
		}
	}
	for (b = 0; e->nr && b < 2; b++) {
		snprintf(path, sizeof(path), "/sys/bus/%s/devices/%s", buses[b], device(e->event));
		there |= !access(path, F_OK);
	}
	tap_ok(!wrong && e->nr, "%s: each of %zu events has device, gpu_id, xcc_mask and its process", when, e->nr);
	tap_ok(there, "%s: dev is the name of a device, '%s'", when, e->nr ? device(e->event) : "");
	if (!tap_ok(!unnested && !open, "%s: each start has its end", when))
		events_print(e);
}

static void show(struct events *e, const char *when)
{
	events_stop(e);
	printf("event: -- %s\n", when);
	if (rfc) {
		print_rfc(e);
		check_context(e, when);
	} else {
		print_ours(e);
		tap_ok(e->nr, "%s: %zu events", when, e->nr);
	}
	fflush(stdout);
	events_free(e);
}

static struct kfdc_queue *queue(uint32_t prio, uint32_t packets)
{
	struct kfdc_queue_attr attr = { .priority = prio, .percentage = 100, .packets = packets };
	struct kfdc_queue *q;

	TRY(kfdc_queue_create(gpu, &attr, &q));
	if (q->id < MAX_QUEUES)
		known[q->id] = (struct known){ (uintptr_t)q->ring, (uintptr_t)q->rptr, (uintptr_t)q->wptr };
	return q;
}

static void ring(bool sdma)
{
	struct kfdc_ring_attr attr = { .sdma = sdma, .priority = 7, .percentage = 100, .bytes = 4096 };
	struct kfdc_ring *r;

	TRY(kfdc_ring_create(gpu, &attr, &r));
	if (r->id < MAX_QUEUES)
		known[r->id] = (struct known){ (uintptr_t)r->ring, (uintptr_t)r->rptr, (uintptr_t)r->wptr };
	TRY(kfdc_ring_destroy(r));
}

int main(int argc, char **argv)
{
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;
	struct kfdc_queue *q1, *q2, *q3;
	struct events *e;
	char pid[16];

	if (argc != 2 || (strcmp(argv[1], "kfd") && strcmp(argv[1], "amdkfd")))
		tap_bail("usage: rfc_events kfd|amdkfd");
	rfc = !strcmp(argv[1], "amdkfd");
	TRY(kfdc_open(&gpu, 0));
	mes = kfd_mes(gpu);

	e = events_start(argv[1]);
	q1 = queue(3, 64);
	q2 = queue(11, 256);
	TRY(kfdc_queue_update(q1, 100, 9));
	TRY(kfdc_queue_update(q1, 0, 9));
	ring(false);
	ring(true);
	show(e, "create and update");

	e = events_start(argv[1]);
	snprintf(pid, sizeof(pid), "%d", getpid());
	write_file(SIM "evict", pid);
	usleep(1000000);
	show(e, "evict and restore");

	e = events_start(argv[1]);
	child = kfd_child(5, true);
	kfd_child_end(child);
	kfd_wait_released(child);
	show(e, "kill -9");

	e = events_start(argv[1]);
	TRY(kfdc_queue_destroy(q1));
	TRY(kfdc_queue_destroy(q2));
	show(e, "destroy");

	memset(known, 0, sizeof(known));
	q1 = queue(7, 64);
	e = events_start(argv[1]);
	write_file(SIM "hang", "1");
	tap_ok(kfdc_queue_create(gpu, &attr, &q3), "the scheduler hangs: a queue cannot be created");
	write_file(SIM "hang", "0");
	sleep(2);
	if (rfc) {
		events_stop(e);
		tap_eq(events_count(e, "amdkfd_gpu_reset_start", NULL, 0), 1, "hang: one reset begins");
		tap_eq(events_count(e, "amdkfd_gpu_reset_end", "ret", 0), 1, "hang: and ends well");
		tap_ok(events_find(e, events_find(e, NULL, "amdkfd_scheduler_hang", NULL, 0), "amdkfd_gpu_reset_start", NULL, 0),
		       "hang: the reset comes after the hang");
		printf("event: -- hang\n");
		print_rfc(e);
		events_free(e);
	} else {
		show(e, "hang");
	}
	return tap_done();
}
