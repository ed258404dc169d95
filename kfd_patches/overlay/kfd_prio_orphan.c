// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: orphans, which are KFD processes whose lead thread group has lost their mm
 * (kfd_prio_identity.c): how they are found, and which thread groups share their mm.
 *
 * Three paths find an orphan:
 * - the threads of the GPUs, every safety_poll_us, without a DQM lock;
 * - KFD_PRIO_IOC_LIST and KFD_PRIO_IOC_SET;
 * - a work, in the jiffy after a thread group with a priority has ended or executed a program. The
 *   probes that queue it run in atomic context, and a program can delay the one of exec by stalling
 *   execve(2). The polls do not depend on it.
 *
 * Each path sets kfd_prio_process.orphan. The thread of each GPU then drops the claim of the
 * orphan, and gives it the rank and its queues the priority of an orphan
 * (kfd_prio_process_orphans()).
 *
 * kfd_prio_orphan_mutex protects the settings of orphans and the thread groups that share their mm.
 * It is outer to the lock of the list of processes and is not taken under a DQM lock.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "kfd_prio_priv.h"

/* Least time between two searches for thread groups, in jiffies: any user may ask for the list */
#define KFD_PRIO_FIND_INTERVAL	(HZ / 10)

/* After a walk over all processes, the next one waits for at least so many times its duration */
#define KFD_PRIO_POLL_SHARE	100

/**
 * struct kfd_prio_groups - thread groups that share the mm of an orphan
 * @total: number of these groups
 * @nr: number of entries in @pid
 * @pid: PIDs of the groups, referenced
 */
struct kfd_prio_groups {
	u32 total;
	u32 nr;
	struct pid *pid[KFD_PRIO_MAX_GROUPS];
};

static DEFINE_MUTEX(kfd_prio_orphan_mutex);
static unsigned long kfd_prio_orphan_found_at;	/* jiffies; kfd_prio_orphan_mutex */
static bool kfd_prio_orphan_watched;		/* the probes are attached; kfd_prio_orphan_mutex */
static bool kfd_prio_orphan_fresh;		/* an orphan was found since the last search */
static bool kfd_prio_orphan_alone;		/* an orphan is on a GPU that has no thread */
static atomic64_t kfd_prio_orphan_polled_at;	/* when the last poll began, ktime_get_ns() */
static atomic64_t kfd_prio_orphan_rest_until;	/* the next poll begins at this time or later */
static struct tracepoint *kfd_prio_orphan_tp_exit, *kfd_prio_orphan_tp_exec;

static void kfd_prio_orphan_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(kfd_prio_orphan_due, kfd_prio_orphan_work);

/**
 * kfd_prio_orphan_kick() - have the threads of the GPUs act on a changed orphan
 * @p: the process, held; it has become an orphan, or its settings have changed
 *
 * If a GPU has no thread, kfd_prio_process_orphans_now() must follow.
 *
 * Context: process
 */
void kfd_prio_orphan_kick(struct kfd_process *p)
{
	u32 i;

	/*
	 * kfd_prio_process.orphan and .own, then kfd_prio_dqm.orphans: pairs with
	 * kfd_prio_process_orphans()
	 */
	smp_wmb();
	for (i = 0; i < p->n_pdds; i++) {
		struct device_queue_manager *dqm = p->pdds[i]->qpd.dqm;

		if (!kfd_prio_gpu_hold(dqm))
			continue;
		WRITE_ONCE(dqm->prio.orphans, true);
		kfd_prio_gpu_kick(dqm);
		if (!READ_ONCE(dqm->prio.thread))
			/*
			 * kfd_prio_dqm.orphans, then this: pairs with kfd_prio_orphan_unattended()
			 */
			smp_store_release(&kfd_prio_orphan_alone, true);
		kfd_prio_gpu_drop(dqm);
	}
}

/**
 * kfd_prio_orphan_unattended() - whether an orphan was found, or changed, on a GPU without a thread
 *
 * The caller must act on such orphans (kfd_prio_process_orphans()), because the function clears the
 * flag. If a thread starts concurrently, it acts on them as well.
 *
 * Context: any
 */
bool kfd_prio_orphan_unattended(void)
{
	return READ_ONCE(kfd_prio_orphan_alone) && xchg(&kfd_prio_orphan_alone, false);
}

/**
 * kfd_prio_orphan_check() - whether a process is an orphan
 * @p: the process, held
 *
 * If the process has become an orphan, the function marks it and kicks the threads of its GPUs.
 *
 * Context: process; no DQM lock
 */
bool kfd_prio_orphan_check(struct kfd_process *p)
{
	if (kfd_prio_is_orphan(p))
		return true;
	if (!kfd_prio_identity_lost(p))
		return false;
	WRITE_ONCE(p->prio.orphan, true);
	WRITE_ONCE(kfd_prio_orphan_fresh, true);
	kfd_prio_orphan_kick(p);
	return true;
}

static void kfd_prio_orphan_check_all(void)
{
	struct kfd_process *p = NULL;

	while ((p = kfd_prio_processes_next(p)))
		kfd_prio_orphan_check(p);
}

/**
 * kfd_prio_orphan_poll() - find new orphans among all processes, if a poll is due
 *
 * The next poll is due after safety_poll_us, or after KFD_PRIO_POLL_SHARE times the duration of
 * this one if that is longer.
 *
 * Context: the thread of a GPU; no DQM lock
 */
void kfd_prio_orphan_poll(void)
{
	s64 now = ktime_get_ns(), at = atomic64_read(&kfd_prio_orphan_polled_at), end;

	/* Only one of the threads polls */
	if (now < at + (s64)kfd_prio_safety_poll_ns() ||
	    now < atomic64_read(&kfd_prio_orphan_rest_until) ||
	    atomic64_cmpxchg(&kfd_prio_orphan_polled_at, at, now) != at)
		return;
	kfd_prio_orphan_check_all();
	end = ktime_get_ns();
	atomic64_set(&kfd_prio_orphan_rest_until, end + KFD_PRIO_POLL_SHARE * (end - now));
}

static void kfd_prio_orphan_work(struct work_struct *work)
{
	kfd_prio_orphan_check_all();
}

/*
 * A thread group with a priority may have lost its mm. Later kernels run the probe of exit before
 * the mm is dropped, and many processes may end at once, so the work waits until the next jiffy.
 */
static void kfd_prio_orphan_left(struct task_struct *task)
{
	if (kfd_prio_table_get(task_tgid(task)) != KFD_PRIO_UNSET)
		schedule_delayed_work(&kfd_prio_orphan_due, 1);
}

/*
 * Probe of sched_process_exit. The probe of the priority table may have removed the entry already;
 * then the poll finds the orphan.
 */
static void kfd_prio_orphan_probe_exit(void *data, KFD_PRIO_EXIT_ARGS(task))
{
	if (!atomic_read(&task->signal->live))
		kfd_prio_orphan_left(task);
}

/* Probe of sched_process_exec: the task has the mm of the new program */
static void kfd_prio_orphan_probe_exec(void *data, struct task_struct *task, pid_t old_pid,
				       struct linux_binprm *bprm)
{
	kfd_prio_orphan_left(task);
}

/**
 * kfd_prio_orphan_watch() - attach the probes of exit and exec, when preemption comes into use
 *
 * If the tracepoints are missing, only the polls find orphans.
 *
 * Context: process, may sleep
 */
void kfd_prio_orphan_watch(void)
{
	mutex_lock(&kfd_prio_orphan_mutex);
	if (kfd_prio_orphan_watched || !kfd_prio_orphan_tp_exit || !kfd_prio_orphan_tp_exec)
		goto out;
	/* Called before the probe of the priority table, which removes the entry */
	if (tracepoint_probe_register_prio(kfd_prio_orphan_tp_exit, kfd_prio_orphan_probe_exit,
					   NULL, TRACEPOINT_DEFAULT_PRIO + 1))
		goto out;
	if (tracepoint_probe_register(kfd_prio_orphan_tp_exec, kfd_prio_orphan_probe_exec, NULL)) {
		tracepoint_probe_unregister(kfd_prio_orphan_tp_exit, kfd_prio_orphan_probe_exit,
					    NULL);
		goto out;
	}
	kfd_prio_orphan_watched = true;
out:
	mutex_unlock(&kfd_prio_orphan_mutex);
}

static void kfd_prio_orphan_find_tracepoint(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "sched_process_exit"))
		kfd_prio_orphan_tp_exit = tp;
	else if (!strcmp(tp->name, "sched_process_exec"))
		kfd_prio_orphan_tp_exec = tp;
}

/**
 * kfd_prio_orphan_init() - find the tracepoints
 *
 * The probes are not attached yet.
 *
 * Context: module load
 */
void kfd_prio_orphan_init(void)
{
	/* The build fails on a kernel whose tracepoints have other arguments */
	check_trace_callback_type_sched_process_exit(kfd_prio_orphan_probe_exit);
	check_trace_callback_type_sched_process_exec(kfd_prio_orphan_probe_exec);
	for_each_kernel_tracepoint(kfd_prio_orphan_find_tracepoint, NULL);
}

/**
 * kfd_prio_orphan_exit() - detach the probes, if attached, and cancel the work that they queue
 *
 * Waits until no probe and no work runs. Work that has not begun yet is dropped.
 *
 * Context: module unload, when no process is left; may sleep
 */
void kfd_prio_orphan_exit(void)
{
	if (kfd_prio_orphan_watched) {
		tracepoint_probe_unregister(kfd_prio_orphan_tp_exec, kfd_prio_orphan_probe_exec,
					    NULL);
		tracepoint_probe_unregister(kfd_prio_orphan_tp_exit, kfd_prio_orphan_probe_exit,
					    NULL);
		tracepoint_synchronize_unregister();
	}
	cancel_delayed_work_sync(&kfd_prio_orphan_due);
}

static void kfd_prio_groups_clear(struct kfd_prio_groups *g)
{
	u32 i;

	for (i = 0; i < g->nr; i++)
		put_pid(g->pid[i]);
	g->nr = 0;
	g->total = 0;
}

/**
 * kfd_prio_orphan_free() - free the list of thread groups of a process
 * @p: the process, which is not published any more
 *
 * Context: process
 */
void kfd_prio_orphan_free(struct kfd_process *p)
{
	if (!p->prio.groups)
		return;
	kfd_prio_groups_clear(p->prio.groups);
	kfree(p->prio.groups);
}

static int kfd_prio_orphan_cmp(const void *l, const void *r)
{
	const struct kfd_process *const *a = l, *const *b = r;

	if ((*a)->prio.lead_mm != (*b)->prio.lead_mm)
		return (*a)->prio.lead_mm < (*b)->prio.lead_mm ? -1 : 1;
	return 0;
}

/*
 * Returns the index of the first orphan with @mm, or where it would be. @orphans is sorted by mm.
 */
static u32 kfd_prio_orphan_at(struct kfd_process **orphans, u32 nr, const struct mm_struct *mm)
{
	u32 low = 0, high = nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (orphans[mid]->prio.lead_mm < mm)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Finds the thread groups of all orphans in one walk over all processes. Kernel threads are
 * skipped: one that borrows an mm does not share it.
 */
static void kfd_prio_orphan_walk(struct kfd_process **orphans, u32 nr)
{
	struct task_struct *g, *t;
	struct mm_struct *mm;
	u32 at;

	lockdep_assert_held(&kfd_prio_orphan_mutex);
	rcu_read_lock();
	for_each_process(g) {
		if (READ_ONCE(g->flags) & PF_KTHREAD)
			continue;
		mm = NULL;
		for_each_thread(g, t) {
			mm = READ_ONCE(t->mm);
			if (mm)
				break;
		}
		if (!mm)
			continue;
		for (at = kfd_prio_orphan_at(orphans, nr, mm);
		     at < nr && orphans[at]->prio.lead_mm == mm; at++) {
			struct kfd_prio_groups *groups = orphans[at]->prio.groups;

			groups->total++;
			if (groups->nr < KFD_PRIO_MAX_GROUPS && task_tgid(g))
				groups->pid[groups->nr++] = get_pid(task_tgid(g));
		}
	}
	rcu_read_unlock();
}

/*
 * Stores up to @room orphans in @orphans, each of them held. An orphan that is about to be released
 * cannot be held and is left out. Returns the number of orphans, which may be higher than @room:
 * those beyond @room are counted and not held.
 */
static u32 kfd_prio_orphan_collect(struct kfd_process **orphans, u32 room)
{
	struct kfd_process *p = NULL;
	u32 n = 0;

	while ((p = kfd_prio_processes_next(p))) {
		if (!kfd_prio_orphan_check(p))
			continue;
		if (n < room && kfd_prio_process_hold(p))
			orphans[n] = p;
		else if (n < room)
			continue;
		n++;
	}
	return n;
}

/* kfd_prio_orphan_find(), with kfd_prio_orphan_mutex held */
static int kfd_prio_orphan_find_locked(void)
{
	struct kfd_process **orphans;
	u32 i, n, room;
	int ret = 0;

	lockdep_assert_held(&kfd_prio_orphan_mutex);
	room = kfd_prio_orphan_collect(NULL, 0);
	if (!room || (!READ_ONCE(kfd_prio_orphan_fresh) &&
		      time_before(jiffies, kfd_prio_orphan_found_at + KFD_PRIO_FIND_INTERVAL)))
		return 0;
	orphans = kvmalloc_array(room, sizeof(*orphans), GFP_KERNEL_ACCOUNT);
	if (!orphans)
		return -ENOMEM;
	WRITE_ONCE(kfd_prio_orphan_fresh, false);
	n = min(room, kfd_prio_orphan_collect(orphans, room));
	sort(orphans, n, sizeof(*orphans), kfd_prio_orphan_cmp, NULL);
	for (i = 0; i < n && !ret; i++) {
		struct kfd_prio_process *p = &orphans[i]->prio;

		if (!p->groups)
			p->groups = kzalloc(sizeof(*p->groups), GFP_KERNEL_ACCOUNT);
		if (p->groups)
			kfd_prio_groups_clear(p->groups);
		else
			ret = -ENOMEM;
	}
	if (!ret) {
		kfd_prio_orphan_walk(orphans, n);
		kfd_prio_orphan_found_at = jiffies;
	} else {
		WRITE_ONCE(kfd_prio_orphan_fresh, true);
	}
	for (i = 0; i < n; i++)
		kfd_prio_process_drop(orphans[i]);
	kvfree(orphans);
	return ret;
}

/**
 * kfd_prio_orphan_find() - find all orphans, and the thread groups that share their mm
 *
 * The function checks all KFD processes. It walks over all tasks only if there is an orphan, and at
 * most ten times a second unless a new orphan was found, because a caller needs no permission.
 *
 * Context: process, may sleep
 * Return: 0 or -ENOMEM
 */
int kfd_prio_orphan_find(void)
{
	int ret;

	mutex_lock(&kfd_prio_orphan_mutex);
	ret = kfd_prio_orphan_find_locked();
	mutex_unlock(&kfd_prio_orphan_mutex);
	return ret;
}

/**
 * kfd_prio_orphan_groups() - list the thread groups that share the mm of an orphan
 * @p: the orphan, held
 * @pids: out: room for KFD_PRIO_MAX_GROUPS PIDs, referenced for the caller
 * @nr: out: number of entries in @pids
 *
 * The groups are those of the last kfd_prio_orphan_find(). If memory is short, none is listed.
 *
 * Context: process, may sleep
 * Return: total number of groups; 0 if no thread group has the mm
 */
u32 kfd_prio_orphan_groups(struct kfd_process *p, struct pid **pids, u32 *nr)
{
	struct kfd_prio_groups *g;
	u32 i, total = 0;

	*nr = 0;
	mutex_lock(&kfd_prio_orphan_mutex);
	/* @p has become an orphan since the last search */
	if (!p->prio.groups)
		kfd_prio_orphan_find_locked();
	g = p->prio.groups;
	if (g) {
		total = g->total;
		for (i = 0; i < g->nr; i++)
			pids[i] = get_pid(g->pid[i]);
		*nr = g->nr;
	}
	mutex_unlock(&kfd_prio_orphan_mutex);
	return total;
}

/**
 * kfd_prio_orphan_set() - change the settings of an orphan
 * @p: the orphan, held
 * @to: the requested change
 * @may_raise: whether the caller may raise a priority
 * @old: out: the priority that was set before
 *
 * The settings apply to all contexts of the process. An orphan without a set priority ranks lowest.
 * The function does not change queues: kfd_prio_process_apply_orphan() does.
 *
 * Context: process, may sleep
 * Return: 0; -EPERM or -EEXIST as kfd_prio_table_set()
 */
int kfd_prio_orphan_set(struct kfd_process *p, const struct kfd_prio_setting *to, bool may_raise,
			int *old)
{
	struct kfd_process *q = NULL;
	struct kfd_prio_values v;
	int ret;

	mutex_lock(&kfd_prio_orphan_mutex);
	v = p->prio.own;
	*old = v.prio;
	ret = kfd_prio_values_change(&v, to, may_raise, KFD_PRIO_MIN);
	while (!ret && (q = kfd_prio_processes_next(q))) {
		if (q->prio.family != p->prio.family)
			continue;
		WRITE_ONCE(q->prio.own.prio, v.prio);
		WRITE_ONCE(q->prio.own.by, v.by);
		WRITE_ONCE(q->prio.own.never_by, v.never_by);
	}
	mutex_unlock(&kfd_prio_orphan_mutex);
	return ret;
}
