// SPDX-License-Identifier: GPL-2.0
/* Groups: a limit of GPU time, and weights */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "busy.h"

/* Always busy and alone: mapped with work for 30 %, and no less */
static void share_max(void)
{
	static const long lengths[] = { MS, 25 * MS, 100 * MS };
	struct kfd_prio_share_entry before, after;
	unsigned int i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct busy b = busy(lengths[i]);
		uint64_t group = limit(&b.a, 30 * PCT), begin;
		long long ran, work;

		nap_ns(SEC);
		kfd_share_get(group, &before);
		begin = kfdc_now();
		measure(&b, 1, 3 * SEC, &work);
		work = per_mille(work, kfdc_now() - begin);
		kfd_share_get(group, &after);
		ran = per_mille(after.ran_ns - before.ran_ns, kfdc_now() - begin);
		tap_ok(ran >= 290 && ran <= 310, "share_max: kernels of %ld ms: mapped with work for 29 to 31 %% (%lld per mille)",
		       lengths[i] / (long)MS, ran);
		/* a save and a restore for each place, and one kernel more or less */
		tap_ok(work >= 280 - per_mille(lengths[i], 3 * SEC) && work <= 305 + per_mille(lengths[i], 3 * SEC),
		       "share_max: and work is done (%lld per mille)", work);
		tap_ok(after.throttled_count > before.throttled_count && after.throttled_ns > before.throttled_ns,
		       "share_max: throttled meanwhile");
		actor_kill(&b.a);
	}
	tap_ok(none_left(), "share_max: a group ends with its last process");
}

/* Two of 50 % do not meet */
static void share_halves(void)
{
	struct busy b[2] = { busy(MS), busy(25 * MS) };
	long long work[2];
	uint64_t ns;

	limit(&b[0].a, 50 * PCT);
	limit(&b[1].a, 50 * PCT);
	nap_ns(SEC);
	ns = measure(b, 2, 3 * SEC, work);
	tap_ok(per_mille(work[0], ns) >= 475 && per_mille(work[1], ns) >= 465,
	       "share_halves: each has its half (%lld and %lld per mille)", per_mille(work[0], ns), per_mille(work[1], ns));
	actor_kill(&b[0].a);
	actor_kill(&b[1].a);
}

/* Weights 30:70, with kernels of equal and very different length */
static void share_weight(void)
{
	static const long lengths[][2] = { { MS, MS }, { 25 * MS, MS }, { MS, 25 * MS } };
	unsigned int i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct busy b[2] = { busy(lengths[i][0]), busy(lengths[i][1]) };
		long long work[2], share, all;
		uint64_t ns;

		weigh(&b[0].a, 30);
		weigh(&b[1].a, 70);
		nap_ns(SEC);
		ns = measure(b, 2, 3 * SEC, work);
		share = per_mille(work[0], work[0] + work[1]);
		all = per_mille(work[0] + work[1], ns);
		tap_ok(share >= 285 && share <= 315, "share_weight: kernels of %ld beside %ld ms: 30 of 100 (%lld per mille)",
		       lengths[i][0] / (long)MS, lengths[i][1] / (long)MS, share);
		tap_ok(all >= 970, "share_weight: and the GPU does work (%lld per mille)", all);
		actor_kill(&b[0].a);
		actor_kill(&b[1].a);
	}
}

/* A soft limit: none while no other process has work */
static void share_soft(void)
{
	struct busy b[2] = { busy(MS) };
	uint64_t group = 0, ns;
	long long work[2];

	if (kfd_share(b[0].a.pid, KFD_PRIO_SHARE_NEW | KFD_PRIO_SHARE_MAX | KFD_PRIO_SHARE_SOFT, 30 * PCT, 0, &group))
		tap_bail("no group");
	nap_ns(500 * MS);
	ns = measure(b, 1, SEC, work);
	tap_ok(per_mille(work[0], ns) >= 980, "share_soft: alone it has the GPU (%lld per mille)", per_mille(work[0], ns));
	b[1] = busy(25 * MS);
	nap_ns(500 * MS);
	ns = measure(b, 2, 2 * SEC, work);
	tap_ok(per_mille(work[0], ns) <= 310, "share_soft: beside another process it has its limit (%lld per mille)",
	       per_mille(work[0], ns));
	actor_kill(&b[1].a);
	nap_ns(500 * MS);
	ns = measure(b, 1, SEC, work);
	tap_ok(per_mille(work[0], ns) >= 980, "share_soft: alone again (%lld per mille)", per_mille(work[0], ns));
	actor_kill(&b[0].a);
}

/* Without work nothing is sent; a ring outside the place waits for it, and one inside does not */
static void share_idle(void)
{
	struct actor a = actor_start(0, 1, 7);
	uint64_t group = limit(&a, 10 * PCT);
	struct kfd_prio_share_entry e;
	struct commands before;
	long ns, longest = 0, shortest = SEC;
	unsigned int i;

	request(&a, MS);
	nap_ns(500 * MS);
	before = commands(0);
	nap_ns(SEC);
	tap_eq(commands(0).unmaps - before.unmaps, 0, "share_idle: nothing is unmapped without work");
	tap_ok(kfd_share_get(group, &e) && !e.nr_running, "share_idle: and it does not run");
	for (i = 0; i < 30; i++) {
		nap_ns(3 * MS);
		ns = request(&a, MS);
		longest = ns > longest ? ns : longest;
		shortest = ns < shortest ? ns : shortest;
	}
	tap_ok(shortest < 3 * (long)MS, "share_idle: a request in its place does not wait (%ld us)", shortest / (long)US);
	tap_ok(longest > 20 * (long)MS && longest < 220 * (long)MS, "share_idle: one outside waits for it (%ld us)",
	       longest / (long)US);
	actor_kill(&a);
}

/* A claim that its limit keeps off holds no level */
static void share_level(void)
{
	struct busy b[2] = { busy(MS), busy(25 * MS) };
	long long work[2];
	uint64_t ns;

	prioritise(&b[0].a, 12);
	limit(&b[0].a, 30 * PCT);
	nap_ns(SEC);
	ns = measure(b, 2, 3 * SEC, work);
	tap_ok(per_mille(work[0], ns) >= 280 && per_mille(work[0], ns) <= 310,
	       "share_level: a claim with a limit has 30 %% (%lld per mille)", per_mille(work[0], ns));
	tap_ok(per_mille(work[1], ns) >= 650, "share_level: the others have the rest (%lld per mille)", per_mille(work[1], ns));
	actor_kill(&b[0].a);
	actor_kill(&b[1].a);
}

/* A floor does not lift a limit: of two processes below a claim that never stops, one has the floor */
static void share_floor(void)
{
	struct busy b[3] = { busy(MS), busy(MS), busy(MS) };
	struct kfd_prio_share_entry before, after;
	long long work[3];
	uint64_t group, ns;

	prioritise(&b[0].a, 12);
	param_set("floor_pct", 40);
	group = limit(&b[1].a, 10 * PCT);
	nap_ns(SEC);
	kfd_share_get(group, &before);
	ns = measure(b, 3, 3 * SEC, work);
	kfd_share_get(group, &after);
	tap_ok(per_mille(work[1] + work[2], ns) >= 380 && per_mille(work[0], ns) >= 500, "share_floor: a floor of 40 %% is kept (%lld per mille)",
	       per_mille(work[1] + work[2], ns));
	tap_ok(per_mille(after.ran_ns - before.ran_ns, ns) <= 110, "share_floor: and lifts no limit of 10 %% (%lld per mille)",
	       per_mille(after.ran_ns - before.ran_ns, ns));
	params_reset();
	actor_kill(&b[0].a);
	actor_kill(&b[1].a);
	actor_kill(&b[2].a);
}

#define CHILDREN	8

static pid_t children[CHILDREN];

static long act_kfd_children(long unused, long unused2)
{
	unsigned int i;

	(void)unused;
	(void)unused2;
	for (i = 0; i < CHILDREN; i++)
		children[i] = kfd_child_set(7, KFD_PRIO_UNSET, 2);
	return 0;
}

static long act_kfd_children_end(long unused, long unused2)
{
	unsigned int i;

	(void)unused;
	(void)unused2;
	for (i = 0; i < CHILDREN; i++)
		kfd_child_end(children[i]);
	return 0;
}

/* A group has one limit however many processes it has, and children do not leave it */
static void share_fork(void)
{
	struct busy b = busy(MS);
	struct kfd_prio_share_entry before, after;
	struct kfd_prio_list_entry row;
	struct actor a = actor_bare(0);
	uint64_t group, begin;
	long long ran;

	group = limit(&a, 20 * PCT);
	if (actor_do(&a, act_kfd_children, 0, 0))
		tap_bail("no children");
	nap_ns(SEC);
	kfd_share_get(group, &before);
	begin = kfdc_now();
	nap_ns(2 * SEC);
	kfd_share_get(group, &after);
	ran = per_mille(after.ran_ns - before.ran_ns, kfdc_now() - begin);
	tap_eq(after.nr_processes, CHILDREN, "share_fork: eight children are in the group");
	tap_ok(ran >= 190 && ran <= 210, "share_fork: and run for 20 %% together (%lld per mille)", ran);
	tap_ok(kfd_list(b.a.pid, &row, 1) == 1 && !row.share, "share_fork: another process is in no group");
	actor_do(&a, act_kfd_children_end, 0, 0);
	actor_kill(&b.a);
	actor_kill(&a);
	tap_ok(none_left(), "share_fork: the group ends with the last of them");
}

/* Preemption is off: nothing is enforced, the time is counted, and all is back at once when it is on again */
static void share_off(void)
{
	struct busy b = busy(MS);
	struct kfd_prio_share_entry e, before;
	uint64_t group = limit(&b.a, 30 * PCT), ns;
	long long work;

	nap_ns(500 * MS);
	param_set("kfd_preempt", 0);
	kfd_share_get(group, &before);
	ns = measure(&b, 1, SEC, &work);
	kfd_share_get(group, &e);
	tap_ok(per_mille(work, ns) >= 980, "share_off: kfd_preempt=0: no limit (%lld per mille)", per_mille(work, ns));
	tap_ok(e.flags & KFD_PRIO_SHARE_IS_UNENFORCED, "share_off: and that is reported");
	tap_ok(per_mille(e.ran_ns - before.ran_ns, ns) >= 950, "share_off: time is counted (%lld per mille)",
	       per_mille(e.ran_ns - before.ran_ns, ns));
	param_set("kfd_preempt", 1);
	nap_ns(500 * MS);
	ns = measure(&b, 1, 2 * SEC, &work);
	kfd_share_get(group, &e);
	tap_ok(per_mille(work, ns) <= 310 && !(e.flags & KFD_PRIO_SHARE_IS_UNENFORCED), "share_off: kfd_preempt=1: the limit holds (%lld per mille)",
	       per_mille(work, ns));
	actor_kill(&b.a);
}

/* Without CWSR an unmap would wait for the end of a kernel: nothing is enforced */
static void share_no_cwsr(void)
{
	struct kfd_prio_share_entry e;
	long long work;
	struct busy b;
	uint64_t group, ns;
	int err = sim_unload();

	err = err ? err : sim_load("cwsr_enable=0");
	if (err)
		tap_bail("cannot load the driver without CWSR: %s", strerror(err));
	params_reset();
	b = busy(25 * MS);
	group = limit(&b.a, 30 * PCT);
	nap_ns(500 * MS);
	ns = measure(&b, 1, SEC, &work);
	tap_ok(per_mille(work, ns) >= 950, "share_no_cwsr: no limit without CWSR (%lld per mille)", per_mille(work, ns));
	tap_ok(kfd_share_get(group, &e) && e.flags & KFD_PRIO_SHARE_IS_UNENFORCED && !e.throttled_count,
	       "share_no_cwsr: and that is reported");
	actor_kill(&b.a);
	tap_ok(none_left(), "share_no_cwsr: the group ends");
	err = sim_unload();
	err = err ? err : sim_load("");
	if (err)
		tap_bail("cannot load the driver again: %s", strerror(err));
	params_reset();
}

/* The group of a cgroup: processes that are in it, that come, and that go with their next queue; a group of their own holds as well */
static void share_cgroup(void)
{
	static const char dir[] = "/sys/fs/cgroup/share-test", below[] = "/sys/fs/cgroup/share-test/below";
	struct busy b = busy(MS);
	struct actor other;
	struct kfd_prio_list_entry row;
	struct kfd_prio_share_entry e, before;
	uint64_t group = 0, own, ns;
	char text[16];
	long long work;

	mkdir(dir, 0755);
	mkdir(below, 0755);
	tap_eq(kfd_share_cgroup("/proc", KFD_PRIO_SHARE_MAX, 30 * PCT, 0, &group), EINVAL, "share_cgroup: no directory of a cgroup");
	tap_eq(kfd_share_cgroup(dir, KFD_PRIO_SHARE_MAX, 30 * PCT, 0, &group), 0, "share_cgroup: a limit for a cgroup");
	tap_ok(kfd_list(b.a.pid, &row, 1) == 1 && !row.cgroup_share, "share_cgroup: a process elsewhere is not in it");
	snprintf(text, sizeof(text), "%d", b.a.pid);
	if (sim_poke("/sys/fs/cgroup/share-test/below/cgroup.procs", text) || actor_do(&b.a, act_create, 1, 7))
		tap_bail("cannot move a process");
	tap_ok(kfd_list(b.a.pid, &row, 1) == 1 && row.cgroup_share == group, "share_cgroup: moved below it, it is in it with its next queue");
	nap_ns(500 * MS);
	kfd_share_get(group, &before);
	ns = measure(&b, 1, 2 * SEC, &work);
	kfd_share_get(group, &e);
	tap_ok(per_mille(e.ran_ns - before.ran_ns, ns) <= 310 && per_mille(work, ns) >= 280, "share_cgroup: the limit holds (%lld per mille)",
	       per_mille(work, ns));
	own = limit(&b.a, 10 * PCT);
	nap_ns(500 * MS);
	ns = measure(&b, 1, 2 * SEC, &work);
	tap_ok(per_mille(work, ns) <= 110, "share_cgroup: a limit of its own as well (%lld per mille)", per_mille(work, ns));
	tap_ok(kfd_list(b.a.pid, &row, 1) == 1 && row.cgroup_share == group && row.share == own, "share_cgroup: it is in both groups");
	/* a process that opens the GPU there */
	other = actor_bare(0);
	snprintf(text, sizeof(text), "%d", other.pid);
	if (sim_poke("/sys/fs/cgroup/share-test/cgroup.procs", text) || actor_do(&other, act_open, 1, 7))
		tap_bail("cannot open the GPU in a cgroup");
	tap_ok(kfd_list(other.pid, &row, 1) == 1 && row.cgroup_share == group, "share_cgroup: a process that opens the GPU there is in it");
	if (sim_poke("/sys/fs/cgroup/cgroup.procs", text) || actor_do(&other, act_create, 1, 7))
		tap_bail("cannot move a process back");
	tap_ok(kfd_list(other.pid, &row, 1) == 1 && !row.cgroup_share, "share_cgroup: moved away, it is not, with its next queue");
	tap_eq(kfd_share(0, KFD_PRIO_SHARE_MAX, KFD_PRIO_MAX_NONE, 0, &group), 0, "share_cgroup: no limit any more, by its number");
	tap_ok(kfd_list(b.a.pid, &row, 1) == 1 && !row.cgroup_share, "share_cgroup: nor a group");
	actor_kill(&other);
	actor_kill(&b.a);
	/* the cgroup is removed while it has a group */
	group = 0;
	tap_eq(kfd_share_cgroup(below, KFD_PRIO_SHARE_WEIGHT, 0, 50, &group), 0, "share_cgroup: a weight for a cgroup");
	nap_ns(200 * MS);
	tap_ok(!rmdir(below) && !rmdir(dir), "share_cgroup: a cgroup with a group can be removed");
	other = actor_start(0, 1, 7);
	limit(&other, 50 * PCT);
	actor_kill(&other);
	tap_ok(none_left(), "share_cgroup: nothing is left");
}

static struct kfdc *both[2];
static struct kfdc_queue *queues[2];
static struct kfdc_signal *signals[2];

static long act_open_both(long unused, long unused2)
{
	unsigned int i;
	int r = 0;

	(void)unused;
	(void)unused2;
	for (i = 0; i < 2 && !r; i++) {
		r = kfdc_open(&both[i], i);
		r = r ? r : kfdc_queue_create(both[i], NULL, &queues[i]);
		r = r ? r : kfdc_signal_create(both[i], true, &signals[i]);
	}
	return r;
}

/* For so many ms: a kernel of 1 ms on each GPU, and the next ones when both have ended; returns how many steps */
static long act_steps(long ms, long unused)
{
	uint64_t end = kfdc_now() + ms * MS;
	unsigned int i;
	long n = 0;
	int r = 0;

	(void)unused;
	for (; kfdc_now() < end && !r; n++) {
		for (i = 0; i < 2 && !r; i++) {
			kfdc_signal_set(signals[i], 1);
			r = kfdc_dispatch(queues[i], &(struct kfdc_dispatch){ .ns = MS, .signal = signals[i] });
		}
		for (i = 0; i < 2 && !r; i++)
			while (kfdc_signal_value(signals[i]) > 0)
				kfdc_signal_wait(signals[i], SEC);
	}
	return r ? r : n;
}

/* A job with a barrier between two GPUs has its limit of both at the same time, beside another one, too */
static void share_two(void)
{
	struct actor a = actor_bare(0);
	struct busy b;
	long alone, limited;

	if (actor_do(&a, act_open_both, 0, 0))
		tap_bail("cannot use both GPUs");
	alone = actor_do(&a, act_steps, 1000, 0);
	limit(&a, 30 * PCT);
	actor_do(&a, act_steps, 500, 0);
	limited = actor_do(&a, act_steps, 3000, 0);
	tap_ok(limited >= alone * 3 * 28 / 100 && limited <= alone * 3 * 31 / 100,
	       "share_two: 30 %% of its progress alone (%ld steps of %ld)", limited, 3 * alone);
	b = busy(25 * MS);
	limit(&b.a, 50 * PCT);
	actor_do(&a, act_steps, 500, 0);
	limited = actor_do(&a, act_steps, 3000, 0);
	tap_ok(limited >= alone * 3 * 27 / 100, "share_two: beside another group on one GPU as well (%ld steps)", limited);
	actor_kill(&b.a);
	actor_kill(&a);
}

const struct test tests_share[] = {
	{ "share_max", share_max }, { "share_halves", share_halves }, { "share_weight", share_weight },
	{ "share_soft", share_soft }, { "share_idle", share_idle }, { "share_level", share_level },
	{ "share_floor", share_floor }, { "share_fork", share_fork }, { "share_off", share_off },
	{ "share_no_cwsr", share_no_cwsr }, { "share_cgroup", share_cgroup }, { "share_two", share_two, .gpus = 2 }, {}
};
