// SPDX-License-Identifier: GPL-2.0
/*
 * trace_test - every event of events/kfd/ fires, and its fields are what the client
 * asked for.  Runs in the VM, on the simulated GPU, alone on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "events.h"
#include "kfd.h"
#include "kfdclient.h"
#include "tap.h"

#define SIM "/sys/kernel/debug/kfdsim/0/"

/* Values of the kernel's enums, part of the contract of the events */
#define TYPE_COMPUTE	0
#define FORMAT_AQL	1
#define FILTER_DYNAMIC	2
#define FILTER_MES	0x80
#define REASON_IOCTL	0
#define REASON_EXIT	1
#define REASON_FAILED	2
#define SOURCE_IOCTL	0
#define SOURCE_FORK	1

static struct kfdc *gpu;
static bool mes;

#define TRY(call)	do { if (call) tap_bail("%s: %s", #call, kfdc_error()); } while (0)

static long long field(const struct event *ev, const char *name)
{
	return event_field(ev, name);
}

static struct kfdc_queue *queue(uint32_t prio, uint32_t packets)
{
	struct kfdc_queue_attr attr = { .priority = prio, .percentage = 100, .packets = packets };
	struct kfdc_queue *q;

	TRY(kfdc_queue_create(gpu, &attr, &q));
	return q;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		tap_bail("cannot write %s", path);
	close(fd);
}

static void check_common(const struct event *ev, const struct kfdc_queue *q, int prio)
{
	tap_eq(field(ev, "gpu_id"), kfdc_gpu_id(gpu), "%s: gpu_id", ev->name);
	tap_eq(field(ev, "pid"), getpid(), "%s: pid", ev->name);
	tap_eq(field(ev, "queue_id"), q->id, "%s: queue_id", ev->name);
	tap_eq(field(ev, "prio"), prio, "%s: prio", ev->name);
}

static const struct event *need(const struct events *e, const struct event *after,
				const char *name, const char *f, long long value)
{
	const struct event *ev = events_find(e, after, name, f, value);

	if (!ev) {
		events_print(e);
		tap_bail("no %s with %s=%lld", name, f ? f : "anything", value);
	}
	return ev;
}

/* HWS unmaps all queues of the device, MES one, and says which. */
static bool unmap_is_right(const struct events *e, const struct event *ev)
{
	const struct event *c;

	if (!mes)
		return field(ev, "filter") == FILTER_DYNAMIC && field(ev, "pid") == -1 &&
			field(ev, "queue_id") == 0xffffffff;
	c = events_find(e, NULL, "kfd_create_queue", "queue_id", field(ev, "queue_id"));
	return c && field(ev, "filter") == FILTER_MES && field(ev, "pid") == getpid() &&
		field(ev, "filter_param") == field(c, "doorbell");
}

/*
 * Every unmap has its end: same sequence number, and a duration that fits the time stamps. The driver's clock starts before
 * the event is written, after what came before; the CPU may be gone in between.
 */
static void check_unmaps(const struct events *e, const char *when)
{
	const struct event *begin = NULL, *end;
	unsigned long long since;
	bool good = true;
	int n = 0;

	while ((begin = events_find(e, begin, "kfd_unmap_queues", NULL, 0))) {
		end = events_find(e, begin, "kfd_unmap_queues_done", "seq", field(begin, "seq"));
		since = begin > e->event ? begin[-1].ns : 0;
		n++;
		good &= end && field(end, "gpu_id") == field(begin, "gpu_id") &&
			!field(end, "ret") && field(end, "dur_ns") > 0 &&
			field(end, "dur_ns") <= (long long)(end->ns - since) + 1000000 &&
			unmap_is_right(e, begin);
	}
	if (!tap_ok(good && n, "%s: %d unmaps, each with its end", when, n))
		events_print(e);
}

/* Runlists of a process that creates a queue, and a second one at @second */
static void check_runlists(const struct events *e, const struct event *runlist,
			   const struct event *second)
{
	tap_eq(field(runlist, "gpu_id"), kfdc_gpu_id(gpu), "kfd_map_queues: gpu_id");
	tap_eq(field(runlist, "processes"), 1, "kfd_map_queues: processes");
	tap_eq(field(runlist, "queues"), 1, "kfd_map_queues: queues");
	tap_eq(field(runlist, "cp_queues"), 1, "kfd_map_queues: cp_queues");
	tap_eq(field(runlist, "over_subscribed"), 0, "kfd_map_queues: not over-subscribed");
	tap_ok(field(runlist, "runlist_addr"), "kfd_map_queues: runlist_addr");
	tap_ok(field(runlist, "runlist_size") > 0 && !(field(runlist, "runlist_size") % 4),
	       "kfd_map_queues: runlist_size");
	tap_eq(field(runlist, "ret"), 0, "kfd_map_queues: ret");
	runlist = need(e, second, "kfd_map_queues", NULL, 0);
	tap_eq(field(runlist, "queues"), 2, "kfd_map_queues: queues after the second");
}

/* MES gets no runlists, but each queue when it is created, and again when it is updated. */
static void check_mes_maps(const struct events *e, const struct kfdc_queue *updated,
			   const struct kfdc_queue *other)
{
	tap_eq(events_count(e, "kfd_map_queues", NULL, 0), 0, "kfd_map_queues: none with MES");
	tap_eq(events_count(e, "kfd_map_queue", "queue_id", updated->id), 2,
	       "kfd_map_queue: created, and updated to a percentage of 100");
	tap_eq(events_count(e, "kfd_unmap_queues", "queue_id", updated->id), 2,
	       "kfd_unmap_queues: for each update");
	tap_eq(events_count(e, "kfd_map_queue", "queue_id", other->id), 1,
	       "kfd_map_queue: the other queue is left alone");
	tap_eq(events_count(e, "kfd_unmap_queues", "queue_id", other->id), 0,
	       "kfd_unmap_queues: the other queue is left alone");
}

static void test_life(void)
{
	const struct event *asked, *c1, *c2, *mqd, *runlist, *map;
	struct events *e = events_start("kfd");
	struct kfdc_queue *q1, *q2;

	q1 = queue(3, 64);
	q2 = queue(11, 256);
	TRY(kfdc_queue_update(q1, 100, 9));
	TRY(kfdc_queue_update(q1, 0, 9));
	events_stop(e);

	c1 = need(e, NULL, "kfd_create_queue", "queue_id", q1->id);
	c2 = need(e, NULL, "kfd_create_queue", "queue_id", q2->id);
	check_common(c1, q1, 3);
	check_common(c2, q2, 11);
	tap_eq(field(c1, "req_prio"), 3, "kfd_create_queue: req_prio");
	tap_eq(field(c1, "type"), TYPE_COMPUTE, "kfd_create_queue: type");
	tap_eq(field(c1, "format"), FORMAT_AQL, "kfd_create_queue: format");
	tap_eq(field(c1, "ring_base"), (uintptr_t)q1->ring, "kfd_create_queue: ring_base");
	tap_eq(field(c1, "ring_size"), 64 * 64, "kfd_create_queue: ring_size of the first");
	tap_eq(field(c2, "ring_size"), 256 * 64, "kfd_create_queue: ring_size of the second");
	tap_eq(field(c1, "rptr"), (uintptr_t)q1->rptr, "kfd_create_queue: rptr");
	tap_eq(field(c1, "wptr"), (uintptr_t)q1->wptr, "kfd_create_queue: wptr");
	tap_eq(field(c1, "cwsr_base"), (uintptr_t)q1->cwsr_bo.va, "kfd_create_queue: cwsr_base");
	/* where the topology tells one (since 6.12), no other is accepted */
	tap_eq(field(c1, "cwsr_size"), q1->cwsr_size, "kfd_create_queue: cwsr_size is the client's");
	tap_eq(4 * (field(c2, "doorbell") - field(c1, "doorbell")),
	       (long long)(q2->doorbell_offset - q1->doorbell_offset),
	       "kfd_create_queue: doorbells are as far apart as the client's");

	asked = need(e, NULL, "kfd_ioctl_create_queue", "pid", getpid());
	tap_ok(asked < c1 && events_find(e, asked, "kfd_ioctl_create_queue", NULL, 0) > c1,
	       "kfd_ioctl_create_queue: once before each kfd_create_queue");
	mqd = need(e, c1, "kfd_init_mqd", "queue_id", q1->id);
	runlist = mes ? mqd : need(e, mqd, "kfd_map_queues", NULL, 0);
	map = need(e, runlist, "kfd_map_queue", "queue_id", q1->id);
	tap_ok(c1 < mqd && mqd <= runlist && runlist < map, "order: create, init_mqd,%s map_queue",
	       mes ? "" : " map_queues,");
	check_common(mqd, q1, 3);
	tap_eq(field(mqd, "pipe_prio"), 0, "kfd_init_mqd: pipe priority of 3 is LOW");
	tap_eq(field(mqd, "queue_prio"), 3, "kfd_init_mqd: queue priority");
	tap_eq(field(mqd, "cwsr_base"), (uintptr_t)q1->cwsr_bo.va, "kfd_init_mqd: cwsr_base");
	tap_ok(field(mqd, "mqd_addr"), "kfd_init_mqd: mqd_addr");
	mqd = need(e, c2, "kfd_init_mqd", "queue_id", q2->id);
	tap_eq(field(mqd, "pipe_prio"), 2, "kfd_init_mqd: pipe priority of 11 is HIGH");

	if (mes)
		check_mes_maps(e, q1, q2);
	else
		check_runlists(e, runlist, c2);
	check_common(map, q1, 3);
	tap_eq(field(map, "type"), TYPE_COMPUTE, "kfd_map_queue: type");
	tap_eq(field(map, "doorbell"), field(c1, "doorbell"), "kfd_map_queue: doorbell");
	tap_eq(field(map, "mqd_addr"),
	       field(need(e, NULL, "kfd_init_mqd", "queue_id", q1->id), "mqd_addr"),
	       "kfd_map_queue: mqd_addr is that of kfd_init_mqd");
	tap_eq(field(map, "gang_level"), mes ? MES_NORMAL : -1, "kfd_map_queue: gang_level is %s",
	       mes ? "NORMAL without a priority" : "-1 with HWS");
	tap_eq(field(map, "ret"), 0, "kfd_map_queue: ret");

	c1 = need(e, NULL, "kfd_update_queue", "queue_id", q1->id);
	check_common(c1, q1, 9);
	tap_eq(field(c1, "req_prio"), 9, "kfd_update_queue: req_prio");
	tap_eq(field(c1, "percent"), 100, "kfd_update_queue: percent");
	tap_eq(field(c1, "active"), 1, "kfd_update_queue: active");
	tap_eq(field(c1, "ring_base"), (uintptr_t)q1->ring, "kfd_update_queue: ring_base");
	tap_eq(field(c1, "ring_size"), 64 * 64, "kfd_update_queue: ring_size");
	tap_eq(field(c1, "ret"), 0, "kfd_update_queue: ret");
	c2 = need(e, c1, "kfd_update_queue", "queue_id", q1->id);
	tap_eq(field(c2, "percent"), 0, "kfd_update_queue: percent 0");
	tap_eq(field(c2, "active"), 0, "kfd_update_queue: and no longer active");
	check_unmaps(e, "create and update");
	events_free(e);

	e = events_start("kfd");
	TRY(kfdc_queue_destroy(q1));
	TRY(kfdc_queue_destroy(q2));
	events_stop(e);
	tap_eq(events_count(e, "kfd_destroy_queue", NULL, 0), 2, "kfd_destroy_queue: one each");
	c1 = need(e, NULL, "kfd_destroy_queue", NULL, 0);
	tap_eq(field(c1, "pid"), getpid(), "kfd_destroy_queue: pid");
	tap_eq(field(c1, "prio"), 9, "kfd_destroy_queue: prio");
	tap_eq(field(c1, "reason"), REASON_IOCTL, "kfd_destroy_queue: reason");
	tap_eq(field(c1, "ret"), 0, "kfd_destroy_queue: ret");
	events_free(e);
}

static void test_exit(void)
{
	struct events *e = events_start("kfd");
	const struct event *d;
	pid_t pid;

	pid = kfd_child(5, true);
	kfd_child_end(pid);
	kfd_wait_released(pid);
	events_stop(e);
	d = need(e, NULL, "kfd_destroy_queue", "pid", pid);
	tap_eq(field(d, "reason"), REASON_EXIT, "kfd_destroy_queue: reason after kill -9");
	tap_eq(field(d, "prio"), 5, "kfd_destroy_queue: prio after kill -9");
	tap_eq(events_count(e, "kfd_create_queue", "pid", pid),
	       events_count(e, "kfd_destroy_queue", "pid", pid), "kill -9: as many destroyed as created");
	events_free(e);
}

static void test_evict(void)
{
	struct kfdc_queue *q1 = queue(7, 64), *q2 = queue(7, 64);
	struct events *e = events_start("kfd");
	const struct event *ev;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	write_file(SIM "evict", pid);
	usleep(1000000);	/* KFD restores after 100 ms (PROCESS_RESTORE_TIME_MS), or more */
	events_stop(e);
	ev = need(e, NULL, "kfd_evict_process", "pid", getpid());
	tap_eq(field(ev, "gpu_id"), kfdc_gpu_id(gpu), "kfd_evict_process: gpu_id");
	tap_eq(field(ev, "evicted"), 1, "kfd_evict_process: evicted");
	tap_eq(field(ev, "queues"), 2, "kfd_evict_process: queues");
	tap_eq(field(ev, "prio"), -1, "kfd_evict_process: prio, none is set");
	tap_eq(field(ev, "ret"), 0, "kfd_evict_process: ret");
	ev = need(e, ev, "kfd_restore_process", "pid", getpid());
	tap_eq(field(ev, "evicted"), 0, "kfd_restore_process: evicted");
	tap_eq(field(ev, "queues"), 2, "kfd_restore_process: queues");
	tap_eq(field(ev, "ret"), 0, "kfd_restore_process: ret");
	events_free(e);
	TRY(kfdc_queue_destroy(q1));
	TRY(kfdc_queue_destroy(q2));
}

static void test_set(void)
{
	struct kfd_prio_set_args a;
	struct kfdc_queue *q = queue(7, 64);
	struct events *e = events_start("kfd");
	const struct event *ev;
	pid_t pid;

	tap_ok(!kfd_set(getpid(), 12, &a) && a.old_priority == KFD_PRIO_UNSET,
	       "a priority is set, there was none");
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	tap_ok(!kfd_set(getpid(), KFD_PRIO_UNSET, &a) && a.old_priority == 12, "and taken away");
	events_stop(e);
	ev = need(e, NULL, "kfd_set_priority", "pid", getpid());
	tap_eq(field(ev, "prio"), 12, "kfd_set_priority: prio");
	tap_eq(field(ev, "old_prio"), -1, "kfd_set_priority: old_prio");
	tap_eq(field(ev, "by_pid"), getpid(), "kfd_set_priority: by_pid");
	tap_eq(field(ev, "source"), SOURCE_IOCTL, "kfd_set_priority: source");
	tap_eq(field(ev, "queues"), 1, "kfd_set_priority: queues");
	tap_eq(field(ev, "ret"), 0, "kfd_set_priority: ret");
	ev = need(e, ev, "kfd_set_priority", "pid", pid);
	tap_eq(field(ev, "prio"), 12, "kfd_set_priority: a child inherits");
	tap_eq(field(ev, "by_pid"), getpid(), "kfd_set_priority: from its parent");
	tap_eq(field(ev, "source"), SOURCE_FORK, "kfd_set_priority: at fork");
	if (mes) {
		const struct event *map = need(e, NULL, "kfd_map_queue", NULL, 0);

		tap_eq(field(map, "gang_level"), MES_HIGH, "kfd_map_queue: gang_level is HIGH with 12");
		map = need(e, map, "kfd_map_queue", NULL, 0);
		tap_eq(field(map, "gang_level"), MES_NORMAL, "kfd_map_queue: and NORMAL again without");
	}
	ev = need(e, ev, "kfd_set_priority", "pid", getpid());
	tap_eq(field(ev, "prio"), -1, "kfd_set_priority: prio -1 takes it away");
	tap_eq(field(ev, "old_prio"), 12, "kfd_set_priority: old_prio");
	events_free(e);
	TRY(kfdc_queue_destroy(q));
}

static void test_oversubscribed(void)
{
	struct events *e = events_start("kfd");
	const struct event *ev = NULL;
	int crowd = kfdc_vmids(gpu) + 1;	/* processes: one more than there are VMIDs */
	int above = 0, below = 0, wrong = 0;
	pid_t pids[crowd];
	int i;

	for (i = 0; i < crowd; i++)
		pids[i] = kfd_child(7, false);
	for (i = 0; i < crowd; i++)
		kfd_child_end(pids[i]);
	for (i = 0; i < crowd; i++)
		kfd_wait_released(pids[i]);
	events_stop(e);
	if (mes) {
		/* each process is given to MES once; who has a VMID is MES's affair */
		for (i = 0; i < crowd; i++)
			above += events_count(e, "kfd_map_queue", "pid", pids[i]) == 1 &&
				 events_count(e, "kfd_unmap_queues", "pid", pids[i]) == 1;
		tap_eq(above, crowd, "kfd_map_queue: the queues of %d processes, each added and removed once",
		       crowd);
		tap_eq(events_count(e, "kfd_map_queues", NULL, 0), 0, "kfd_map_queues: none with MES");
		events_free(e);
		return;
	}
	while ((ev = events_find(e, ev, "kfd_map_queues", NULL, 0))) {
		bool crowded = field(ev, "processes") == crowd;

		wrong += field(ev, "over_subscribed") != crowded;
		above += crowded;
		below += field(ev, "processes") == crowd - 1;
	}
	tap_ok(above, "kfd_map_queues: a runlist of %d processes was seen", crowd);
	tap_ok(below, "kfd_map_queues: and one of %d", crowd - 1);
	tap_eq(wrong, 0, "kfd_map_queues: %d over-subscribe %d VMIDs, fewer do not", crowd, crowd - 1);
	events_free(e);
}

/* No field of any event may hold a kernel address. */
static void test_pointers(void)
{
	static const char * const wide[] = { "ring_base", "rptr", "wptr", "cwsr_base", "mqd_addr",
					     "runlist_addr" };
	struct events *e = events_start("kfd");
	struct kfdc_queue *q = queue(7, 64);
	size_t i, k, bad = 0, seen = 0;

	TRY(kfdc_queue_update(q, 100, 8));
	TRY(kfdc_queue_destroy(q));
	events_stop(e);
	for (i = 0; i < e->nr; i++)
		for (k = 0; k < sizeof(wide) / sizeof(*wide); k++)
			if (event_has(&e->event[i], wide[k])) {
				seen++;
				bad += (unsigned long long)field(&e->event[i], wide[k]) >=
				       0xffff800000000000;
			}
	tap_ok(seen && !bad, "none of %zu addresses in the events is the kernel's", seen);
	events_free(e);
}

/* Last: the scheduler hangs, the driver resets the GPU. */
static void test_hang(void)
{
	struct events *e = events_start("kfd");
	struct kfdc_queue_attr attr = KFDC_QUEUE_DEFAULT;
	struct kfdc_queue *q1 = queue(7, 64), *q2;
	const struct event *ev;
	int ret;

	write_file(SIM "hang", "1");
	ret = kfdc_queue_create(gpu, &attr, &q2);
	tap_ok(ret, "the scheduler hangs: a queue cannot be created");
	write_file(SIM "hang", "0");
	sleep(2);
	events_stop(e);
	ev = need(e, NULL, "kfd_hws_hang", NULL, 0);
	tap_eq(field(ev, "gpu_id"), kfdc_gpu_id(gpu), "kfd_hws_hang: gpu_id");
	tap_eq(field(ev, "processes"), 1, "kfd_hws_hang: processes");
	if (mes) {
		ev = need(e, NULL, "kfd_map_queue", "ret", -ETIMEDOUT);
		tap_ok(field(ev, "queue_id") != q1->id, "kfd_map_queue: ret=-ETIMEDOUT of the queue that failed");
	} else {
		ev = need(e, NULL, "kfd_unmap_queues_done", "ret", -ETIME);
		tap_ok(field(ev, "dur_ns") > 0, "kfd_unmap_queues_done: ret=-ETIME after %lld ms",
		       field(ev, "dur_ns") / 1000000);
	}
	ev = need(e, NULL, "kfd_destroy_queue", "reason", REASON_FAILED);
	tap_ok(field(ev, "ret") < 0 && field(ev, "queue_id") != q1->id,
	       "kfd_destroy_queue: the queue that failed, ret=%lld", field(ev, "ret"));
	events_free(e);
}

int main(void)
{
	if (kfdc_open(&gpu, 0))
		tap_bail("%s", kfdc_error());
	mes = kfd_mes(gpu);
	test_life();
	test_exit();
	test_set();
	test_evict();
	test_oversubscribed();
	test_pointers();
	test_hang();
	return tap_done();
}
