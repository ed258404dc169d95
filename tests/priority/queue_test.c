// SPDX-License-Identifier: GPL-2.0
/*
 * queue_test - what a priority does to live and future queues: in the events, and in
 * what the simulated scheduler firmware read from their MQDs.  Runs in the VM, alone on
 * the simulated GPU.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "events.h"
#include "kfd.h"
#include "kfdclient.h"
#include "tap.h"

#define STATE "/sys/kernel/debug/kfdsim/0/state"

static struct kfdc *gpu;
static bool mes;

#define TRY(call)	do { if (call) tap_bail("%s: %s", #call, kfdc_error()); } while (0)

static struct kfdc_queue *queue(uint32_t prio)
{
	struct kfdc_queue_attr attr = { .priority = prio, .percentage = 100, .packets = 64 };
	struct kfdc_queue *q;

	TRY(kfdc_queue_create(gpu, &attr, &q));
	return q;
}

static int sysfs_priority(pid_t pid)
{
	char path[64];
	int prio = -99;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/priority", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &prio) != 1)
		tap_bail("cannot read %s", path);
	fclose(f);
	return prio;
}

/*
 * How many queues the simulated firmware has mapped whose MQD gives them these priorities and,
 * with MES, whose gang has this level.  The firmware thread acts after the packet: wait for it a
 * little.
 */
static int mapped_at(unsigned int level, unsigned int pipe, unsigned int prio, int want)
{
	char line[512], needle[64];
	int n = -1, tries;
	FILE *f;

	snprintf(needle, sizeof(needle), " level %u pipe_prio %u queue_prio %u ", mes ? level : 0,
		 pipe, kfdc_has_queue_priority() ? prio : 0);
	for (tries = 0; tries < 200 && n != want; tries++) {
		if (tries)
			usleep(5000);
		f = fopen(STATE, "r");
		if (!f)
			tap_bail("cannot read " STATE);
		for (n = 0; fgets(line, sizeof(line), f);)
			n += !!strstr(line, needle);
		fclose(f);
	}
	return n;
}

/* Queues of processes without a priority: KFD wants level NORMAL for every gang. */
static int unset(unsigned int pipe, unsigned int prio, int want)
{
	return mapped_at(MES_NORMAL, pipe, prio, want);
}

/* Queues of processes with one: the band decides the level, too. */
static int mapped(unsigned int pipe, unsigned int prio, int want)
{
	static const unsigned int levels[] = { MES_LOW, MES_NORMAL, MES_HIGH };

	return mapped_at(levels[pipe], pipe, prio, want);
}

/* Events that say that hardware was told to map something: a runlist, or with MES a queue. */
static size_t maps(const struct events *e)
{
	return events_count(e, mes ? "kfd_map_queue" : "kfd_map_queues", NULL, 0);
}

static void test_live(void)
{
	struct kfdc_queue *q1 = queue(3), *q2 = queue(7), *q3;
	struct events *e = events_start("kfd");
	const struct event *u1, *u2;
	struct kfd_prio_set_args a;

	tap_eq(unset(0, 3, 1) + unset(1, 7, 1), 2, "unset: MQDs have what their owner asked for");
	tap_eq(kfd_get(getpid()).effective, 7, "unset: the effective priority is the highest of them");
	tap_eq(sysfs_priority(getpid()), -1, "unset: sysfs says -1");

	tap_eq(kfd_set(getpid(), 12, &a), 0, "12 is set");
	tap_eq(a.nr_queues, 2, "12: for two queues");
	tap_eq(mapped(2, 12, 2), 2, "12: both MQDs have it, pipe priority HIGH");
	tap_eq(kfd_get(getpid()).priority, 12, "12: _GET says so");
	tap_eq(kfd_get(getpid()).effective, 12, "12: _GET says that it is in force");
	tap_eq(sysfs_priority(getpid()), 12, "12: so does sysfs");
	events_stop(e);
	u1 = events_find(e, NULL, "kfd_update_queue", "queue_id", q1->id);
	u2 = events_find(e, NULL, "kfd_update_queue", "queue_id", q2->id);
	tap_ok(u1 && u2 && event_field(u1, "prio") == 12 && event_field(u2, "prio") == 12 &&
	       event_field(u1, "req_prio") == 3 && event_field(u2, "req_prio") == 7,
	       "12: both queues were updated, and KFD still knows what their owner wants");
	if (mes) {
		tap_eq(events_count(e, "kfd_unmap_queues", NULL, 0), 2, "12: each was removed once");
		tap_eq(maps(e), 2, "12: and added once");
		tap_eq(events_count(e, "kfd_map_queue", "gang_level", MES_HIGH), 2, "12: with level HIGH");
	} else {
		tap_eq(events_count(e, "kfd_unmap_queues", NULL, 0), 1, "12: one unmap for both");
		tap_eq(maps(e), 1, "12: one runlist for both");
		tap_eq(events_count(e, "kfd_map_queue", "gang_level", -1), 2, "12: HWS knows no levels");
	}
	events_free(e);

	q3 = queue(5);
	tap_eq(mapped(2, 12, 3), 3, "12: a new queue has it, too");
	TRY(kfdc_queue_update(q1, 100, 14));
	tap_eq(mapped(2, 12, 3), 3, "12: the owner's wish for 14 changes nothing");

	e = events_start("kfd");
	tap_eq(kfd_set(getpid(), 12, NULL), 0, "12 again");
	events_stop(e);
	tap_eq(events_count(e, "kfd_unmap_queues", NULL, 0) + maps(e), 0, "12 again: the hardware is left alone");
	events_free(e);

	tap_eq(kfd_set(getpid(), 0, NULL), 0, "0 is set");
	tap_eq(mapped(0, 0, 3), 3, "0: all MQDs, pipe priority LOW");
	tap_eq(kfd_set(getpid(), 15, NULL), 0, "15 is set");
	tap_eq(mapped(2, 15, 3), 3, "15: all MQDs, pipe priority HIGH");
	tap_eq(kfd_set(getpid(), KFD_PRIO_UNSET, NULL), 0, "it is taken away");
	tap_eq(unset(2, 14, 1) + unset(1, 7, 1) + unset(0, 5, 1), 3,
	       "unset: each has what its owner asked for last");
	tap_eq(sysfs_priority(getpid()), -1, "unset: sysfs says -1 again");
	TRY(kfdc_queue_destroy(q1));
	TRY(kfdc_queue_destroy(q2));
	TRY(kfdc_queue_destroy(q3));
}

/* A queue that is off must not come back because of a priority, but have it then. */
static void test_inactive(void)
{
	struct kfdc_queue *q = queue(7);
	struct events *e;

	TRY(kfdc_queue_update(q, 0, 7));
	e = events_start("kfd");
	tap_eq(kfd_set(getpid(), 11, NULL), 0, "inactive queue: 11 is set");
	events_stop(e);
	tap_eq(maps(e) + events_count(e, "kfd_unmap_queues", NULL, 0), 0, "inactive queue: nothing is mapped");
	events_free(e);
	TRY(kfdc_queue_update(q, 100, 7));
	tap_eq(mapped(2, 11, 1), 1, "inactive queue: it comes back with 11");
	tap_eq(kfd_set(getpid(), KFD_PRIO_UNSET, NULL), 0, "inactive queue: unset");
	TRY(kfdc_queue_destroy(q));
}

/* Work in flight goes on, exactly once, when its process gets another priority. */
static void test_running(void)
{
	struct kfdc_queue *q = queue(7);
	struct kfdc_signal *s;
	uint64_t began;
	int i;

	TRY(kfdc_signal_create(gpu, true, &s));
	kfdc_signal_set(s, 40);
	began = kfdc_now();
	for (i = 0; i < 40; i++)
		TRY(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 5000000, .barrier = true, .signal = s }));
	for (i = 0; i < 10; i++) {
		kfd_set(getpid(), i & 1 ? 3 : 12, NULL);
		usleep(5000);
	}
	TRY(kfdc_signal_wait(s, 20000000000));
	usleep(20000);
	tap_eq(kfdc_signal_value(s), 0, "40 dispatches end exactly once each during ten changes");
	tap_ok(kfdc_now() - began >= 40 * 5000000ULL, "and none of them early");
	kfd_set(getpid(), KFD_PRIO_UNSET, NULL);
	kfdc_signal_destroy(s);
	TRY(kfdc_queue_destroy(q));
}

static void test_others(void)
{
	struct kfdc_queue *q = queue(7);
	pid_t pid = kfd_child(7, false), heir;
	struct events *e = events_start("kfd");
	/* where the band is all that the MQD tells, the queue of 13 counts with those of 11 */
	int alike = !kfdc_has_queue_priority();

	tap_eq(kfd_set(pid, 13, NULL), 0, "another process gets 13");
	events_stop(e);
	tap_eq(mapped(2, 13, 1), 1, "13: its queue has it");
	tap_eq(unset(1, 7, 1), 1, "13: ours has not");
	tap_eq(events_count(e, "kfd_update_queue", "pid", getpid()), 0, "13: ours was not touched");
	tap_eq(kfd_get(pid).priority, 13, "13: _GET of the other");
	tap_eq(kfd_get(getpid()).priority, KFD_PRIO_UNSET, "13: _GET of ourselves");
	events_free(e);

	kfd_set(getpid(), 11, NULL);
	heir = kfd_child(2, false);
	tap_eq(kfd_get(heir).priority, 11, "a child has inherited 11");
	tap_eq(mapped(2, 11, 2 + alike), 2 + alike, "and so has its queue");
	kfd_set(getpid(), KFD_PRIO_UNSET, NULL);
	tap_eq(kfd_get(heir).priority, 11, "it keeps 11 when its parent's is taken away");
	tap_eq(mapped(2, 11, 1 + alike), 1 + alike, "and so does its queue");
	kfd_child_end(pid);
	kfd_child_end(heir);
	TRY(kfdc_queue_destroy(q));
}

/* Creation and updates race with a priority that changes: the last one set holds. */
static atomic_bool stop;

static void *changer(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; !stop; i++)
		kfd_set(getpid(), i % 17 - 1, NULL);
	return NULL;
}

static void test_race(void)
{
	struct kfdc_queue *q[4];
	pthread_t thread;
	int i, k;

	pthread_create(&thread, NULL, changer, NULL);
	for (i = 0; i < 40; i++) {
		for (k = 0; k < 4; k++)
			q[k] = queue(k);
		for (k = 0; k < 4; k++)
			TRY(kfdc_queue_update(q[k], 100, 4 + k));
		if (i < 39)
			for (k = 0; k < 4; k++)
				TRY(kfdc_queue_destroy(q[k]));
	}
	stop = true;
	pthread_join(thread, NULL);
	kfd_set(getpid(), 9, NULL);
	tap_eq(mapped(1, 9, 4), 4, "after a race of creation, update and change: the last one holds");
	kfd_set(getpid(), KFD_PRIO_UNSET, NULL);
	if (kfdc_has_queue_priority())
		k = unset(0, 4, 1) + unset(0, 5, 1) + unset(0, 6, 1) + unset(1, 7, 1);
	else
		k = unset(0, 4, 3) + unset(1, 7, 1);
	tap_eq(k, 4, "and the owner's wishes were kept");
	for (k = 0; k < 4; k++)
		TRY(kfdc_queue_destroy(q[k]));
}

int main(void)
{
	if (kfdc_open(&gpu, 0))
		tap_bail("%s", kfdc_error());
	mes = kfd_mes(gpu);
	test_live();
	test_inactive();
	test_running();
	test_others();
	test_race();
	return tap_done();
}
