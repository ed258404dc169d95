// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the priority table: which process has which priority.
 *
 * A priority belongs to a thread group, whether it uses KFD or not: it is set
 * before a program opens /dev/kfd, survives execve(2), and passes to children.
 * The key is the group's struct pid, which stays the same over execve(2) and is not
 * reused as long as an entry holds a reference.  Whether a process is never to be parked is kept,
 * inherited and forgotten with it.
 *
 * fork and exit are followed through the scheduler's tracepoints, which are
 * attached only while at least one priority is set; so is the static key that
 * guards every look-up.  The probes run in atomic context.
 *
 * Locks: kfd_prio_table_mutex serialises attaching and detaching the probes
 * (outer); kfd_prio_table_lock protects the hash for writing (inner, raw: taken in
 * probes).  Readers use RCU.
 */
#include <linux/hashtable.h>
#include <linux/mempool.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

struct kfd_prio_entry {
	struct hlist_node node;
	struct pid *pid;	/* counted */
	struct kfd_prio_values v;
	struct rcu_head rcu;
};

#define KFD_PRIO_TABLE_BITS	8

/* Entries that a fork may still get when memory is short */
#define KFD_PRIO_RESERVE	16

/* Probes stay attached that long after the last entry went, in jiffies */
#define KFD_PRIO_LINGER		(10 * HZ)

static DEFINE_HASHTABLE(kfd_prio_table, KFD_PRIO_TABLE_BITS);
static DEFINE_RAW_SPINLOCK(kfd_prio_table_lock);
static DEFINE_MUTEX(kfd_prio_table_mutex);
static DEFINE_STATIC_KEY_FALSE(kfd_prio_in_use);
static unsigned int kfd_prio_entries;	/* kfd_prio_table_lock */
static bool kfd_prio_attached;		/* kfd_prio_table_mutex */
static mempool_t *kfd_prio_reserve;
static struct tracepoint *kfd_prio_tp_fork, *kfd_prio_tp_exit;

static void kfd_prio_table_idle(struct work_struct *work);
static DECLARE_DELAYED_WORK(kfd_prio_idle_work, kfd_prio_table_idle);

static struct kfd_prio_entry *kfd_prio_table_find(struct pid *pid)
{
	struct kfd_prio_entry *e;

	hash_for_each_possible_rcu(kfd_prio_table, e, node, (unsigned long)pid,
				   lockdep_is_held(&kfd_prio_table_lock))
		if (e->pid == pid)
			return e;
	return NULL;
}

static void kfd_prio_entry_free_rcu(struct rcu_head *rcu)
{
	struct kfd_prio_entry *e = container_of(rcu, struct kfd_prio_entry, rcu);

	put_pid(e->pid);
	mempool_free(e, kfd_prio_reserve);
}

static void kfd_prio_entry_add(struct kfd_prio_entry *e, struct pid *pid,
			       const struct kfd_prio_values *v)
{
	lockdep_assert_held(&kfd_prio_table_lock);
	e->pid = get_pid(pid);
	e->v = *v;
	hash_add_rcu(kfd_prio_table, &e->node, (unsigned long)pid);
	kfd_prio_entries++;
}

static void kfd_prio_entry_del(struct kfd_prio_entry *e)
{
	lockdep_assert_held(&kfd_prio_table_lock);
	hash_del_rcu(&e->node);
	call_rcu(&e->rcu, kfd_prio_entry_free_rcu);
	if (!--kfd_prio_entries)
		schedule_delayed_work(&kfd_prio_idle_work, KFD_PRIO_LINGER);
}

/* Return: is there an entry? */
static bool kfd_prio_table_look(struct pid *pid, struct kfd_prio_values *v)
{
	struct kfd_prio_entry *e;

	if (!static_branch_unlikely(&kfd_prio_in_use) || !pid)
		return false;
	rcu_read_lock();
	e = kfd_prio_table_find(pid);
	if (e) {
		v->prio = READ_ONCE(e->v.prio);
		v->by = READ_ONCE(e->v.by);
		v->never_by = READ_ONCE(e->v.never_by);
	}
	rcu_read_unlock();
	return e;
}

/**
 * kfd_prio_table_read() - what is set for a thread group, and how it was set
 * @pid: of the group; NULL for one that has ended
 *
 * A setting that is made at the same time may be seen in part.
 *
 * Context: any
 */
struct kfd_prio_values kfd_prio_table_read(struct pid *pid)
{
	struct kfd_prio_values v = { .prio = KFD_PRIO_UNSET };

	kfd_prio_table_look(pid, &v);
	return v;
}

/**
 * kfd_prio_table_get() - priority of a thread group
 * @pid: of the group; NULL for one that has ended
 *
 * Context: any
 * Return: 0..15, or KFD_PRIO_UNSET
 */
int kfd_prio_table_get(struct pid *pid)
{
	return kfd_prio_table_read(pid).prio;
}

/**
 * kfd_prio_process_values() - what is set for the process behind a kfd_process
 * @p: its KFD side; its task may have ended
 *
 * While the thread group that opened KFD has its mm: what the table has for the group.  An orphan
 * (kfd_prio_identity.c) has values of its own, whatever becomes of that group.
 *
 * Context: any
 */
struct kfd_prio_values kfd_prio_process_values(struct kfd_process *p)
{
	struct kfd_prio_values v;

	if (kfd_prio_is_orphan(p))
		return (struct kfd_prio_values) {
			.prio = READ_ONCE(p->prio.own.prio),
			.by = READ_ONCE(p->prio.own.by),
			.never_by = READ_ONCE(p->prio.own.never_by),
		};
	rcu_read_lock();
	v = kfd_prio_table_read(task_tgid(p->lead_thread));
	rcu_read_unlock();
	return v;
}

/**
 * kfd_prio_never_parks() - is a process never to be parked?
 * @p: its KFD side; its task may have ended
 *
 * Context: any
 */
bool kfd_prio_never_parks(struct kfd_process *p)
{
	return kfd_prio_process_values(p).never_by;
}

/**
 * kfd_prio_of_process() - priority in force for the process behind a kfd_process
 * @p: its KFD side; its task may have ended
 *
 * Context: any
 * Return: 0..15, or KFD_PRIO_UNSET: its queues keep their own.  An orphan without a priority has
 * the lowest
 */
int kfd_prio_of_process(struct kfd_process *p)
{
	int prio = kfd_prio_process_values(p).prio;

	return prio == KFD_PRIO_UNSET && kfd_prio_is_orphan(p) ? KFD_PRIO_MIN : prio;
}

/* Tracepoint sched_process_fork: in the parent, before the child has run. */
static void kfd_prio_probe_fork(void *data, struct task_struct *parent,
				struct task_struct *child)
{
	struct pid *pid = task_tgid(child);
	struct kfd_prio_values v;
	struct kfd_prio_entry *e;
	bool inherits;

	if (pid == task_tgid(parent))
		return;		/* a thread */
	if (!kfd_prio_table_look(task_tgid(parent), &v))
		return;
	e = mempool_alloc(kfd_prio_reserve, GFP_NOWAIT | __GFP_NOWARN);
	if (!e) {
		pr_warn_ratelimited("kfdprio: process %d does not inherit priority %d: out of memory\n",
				    child->tgid, v.prio);
		return;
	}
	raw_spin_lock(&kfd_prio_table_lock);
	/* the child can be named since its pidfd exists: what was set for it then stays */
	inherits = !kfd_prio_table_find(pid);
	if (inherits)
		kfd_prio_entry_add(e, pid, &v);
	raw_spin_unlock(&kfd_prio_table_lock);
	if (!inherits) {
		mempool_free(e, kfd_prio_reserve);
		return;
	}
	if (v.prio == KFD_PRIO_UNSET)
		return;
	trace_kfd_set_priority(child->tgid, v.prio, KFD_PRIO_UNSET, parent->tgid,
			       KFD_PRIO_SOURCE_FORK, 0, 0);
}

static void kfd_prio_table_forget(struct pid *pid)
{
	struct kfd_prio_entry *e;

	raw_spin_lock(&kfd_prio_table_lock);
	e = kfd_prio_table_find(pid);
	if (e)
		kfd_prio_entry_del(e);
	raw_spin_unlock(&kfd_prio_table_lock);
}

/*
 * Tracepoint sched_process_exit: for each thread; the last one takes the entry.
 *
 * do_exit() has counted live down by then, with atomic_dec_and_test(), which is a full barrier:
 * live, then the entry.  Pairs with kfd_prio_table_set(): the entry, then live.
 */
static void kfd_prio_probe_exit(void *data, KFD_PRIO_EXIT_ARGS(task))
{
	struct kfd_prio_values v;

	if (!atomic_read(&task->signal->live) && kfd_prio_table_look(task_tgid(task), &v))
		kfd_prio_table_forget(task_tgid(task));
}

static void kfd_prio_find_tracepoint(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "sched_process_fork"))
		kfd_prio_tp_fork = tp;
	else if (!strcmp(tp->name, "sched_process_exit"))
		kfd_prio_tp_exit = tp;
}

static int kfd_prio_table_attach(void)
{
	int ret;

	lockdep_assert_held(&kfd_prio_table_mutex);
	if (kfd_prio_attached)
		return 0;
	ret = tracepoint_probe_register(kfd_prio_tp_exit, kfd_prio_probe_exit, NULL);
	if (ret)
		return ret;
	ret = tracepoint_probe_register(kfd_prio_tp_fork, kfd_prio_probe_fork, NULL);
	if (ret) {
		tracepoint_probe_unregister(kfd_prio_tp_exit, kfd_prio_probe_exit, NULL);
		return ret;
	}
	static_branch_enable(&kfd_prio_in_use);
	kfd_prio_attached = true;
	return 0;
}

static void kfd_prio_table_detach(void)
{
	lockdep_assert_held(&kfd_prio_table_mutex);
	if (!kfd_prio_attached)
		return;
	tracepoint_probe_unregister(kfd_prio_tp_fork, kfd_prio_probe_fork, NULL);
	tracepoint_probe_unregister(kfd_prio_tp_exit, kfd_prio_probe_exit, NULL);
	static_branch_disable(&kfd_prio_in_use);
	kfd_prio_attached = false;
}

static void kfd_prio_table_idle(struct work_struct *work)
{
	mutex_lock(&kfd_prio_table_mutex);
	if (!READ_ONCE(kfd_prio_entries))
		kfd_prio_table_detach();
	mutex_unlock(&kfd_prio_table_mutex);
}

/* Bring an entry to @v, or make it of @new, which is NULL then; it may go */
static void kfd_prio_table_put(struct pid *pid, struct kfd_prio_entry *e,
			       const struct kfd_prio_values *v, struct kfd_prio_entry **new)
{
	lockdep_assert_held(&kfd_prio_table_lock);
	if (e && v->prio == KFD_PRIO_UNSET && !v->never_by) {
		kfd_prio_entry_del(e);
	} else if (e) {
		WRITE_ONCE(e->v.prio, v->prio);
		WRITE_ONCE(e->v.by, v->by);
		WRITE_ONCE(e->v.never_by, v->never_by);
	} else if (*new) {
		kfd_prio_entry_add(*new, pid, v);
		*new = NULL;
	}
}

/**
 * kfd_prio_table_set() - set a thread group's priority, and whether it may be parked
 * @task: a thread of it, referenced by the caller
 * @to: what is asked for
 * @may_raise: the caller may raise a priority
 * @old: what was set before
 *
 * Does not touch queues: see kfd_prio_process_apply().
 *
 * Context: process, may sleep
 * Return: 0; -EPERM if this raises and @may_raise is false; -EEXIST if a rule asks
 * and what is set stays, see KFD_PRIO_SET_RULE; -ESRCH if the process is exiting; -ENOMEM;
 * -EOPNOTSUPP if fork cannot be followed
 */
int kfd_prio_table_set(struct task_struct *task, const struct kfd_prio_setting *to, bool may_raise,
		       int *old)
{
	struct kfd_prio_values v = { .prio = KFD_PRIO_UNSET };
	struct kfd_prio_entry *e, *new = NULL;
	struct pid *pid;
	int ret = 0;

	if (!kfd_prio_table_inherits())
		return -EOPNOTSUPP;
	rcu_read_lock();
	pid = get_pid(task_tgid(task));
	rcu_read_unlock();
	if (!pid)
		return -ESRCH;

	if ((!to->keep && to->prio != KFD_PRIO_UNSET) || to->never) {
		new = mempool_alloc(kfd_prio_reserve, GFP_KERNEL);
		if (!new) {
			ret = -ENOMEM;
			goto out_pid;
		}
	}

	mutex_lock(&kfd_prio_table_mutex);
	if (new) {
		ret = kfd_prio_table_attach();
		if (ret)
			goto out_mutex;
	}
	raw_spin_lock(&kfd_prio_table_lock);
	e = kfd_prio_table_find(pid);
	if (e)
		v = e->v;
	*old = v.prio;
	ret = kfd_prio_values_change(&v, to, may_raise, KFD_PRIO_MAX);
	if (!ret)
		kfd_prio_table_put(pid, e, &v, &new);
	raw_spin_unlock(&kfd_prio_table_lock);

	/*
	 * The group may have passed its exit probe before the entry was there.
	 * live reached 0 before that probe: if the probe misses the entry, we see the 0 here.
	 * Releasing the lock is no barrier between the entry and live; pairs with the
	 * atomic_dec_and_test() of do_exit(), see kfd_prio_probe_exit().
	 */
	smp_mb();
	if (!ret && !atomic_read(&task->signal->live)) {
		kfd_prio_table_forget(pid);
		ret = -ESRCH;
	}
	/* nothing was added: let the probes go again */
	if (!READ_ONCE(kfd_prio_entries))
		schedule_delayed_work(&kfd_prio_idle_work, KFD_PRIO_LINGER);
out_mutex:
	mutex_unlock(&kfd_prio_table_mutex);
	if (new)
		mempool_free(new, kfd_prio_reserve);
out_pid:
	put_pid(pid);
	return ret;
}

/**
 * kfd_prio_table_used() - is a priority set for any process?
 */
bool kfd_prio_table_used(void)
{
	return READ_ONCE(kfd_prio_entries);
}

/**
 * kfd_prio_table_inherits() - can fork and exit be followed on this kernel?
 */
bool kfd_prio_table_inherits(void)
{
	return kfd_prio_tp_fork && kfd_prio_tp_exit && kfd_prio_reserve;
}

/**
 * kfd_prio_table_init() - find the tracepoints; nothing is attached yet
 */
void kfd_prio_table_init(void)
{
	/* a kernel whose tracepoints pass something else must not compile */
	check_trace_callback_type_sched_process_fork(kfd_prio_probe_fork);
	check_trace_callback_type_sched_process_exit(kfd_prio_probe_exit);

	kfd_prio_reserve = mempool_create_kmalloc_pool(KFD_PRIO_RESERVE,
						       sizeof(struct kfd_prio_entry));
	for_each_kernel_tracepoint(kfd_prio_find_tracepoint, NULL);
}

/**
 * kfd_prio_table_exit() - forget everything
 *
 * Context: module unload, when no priority can be set any more
 */
void kfd_prio_table_exit(void)
{
	struct kfd_prio_entry *e;
	struct hlist_node *tmp;
	unsigned int bkt;

	mutex_lock(&kfd_prio_table_mutex);
	kfd_prio_table_detach();
	mutex_unlock(&kfd_prio_table_mutex);
	tracepoint_synchronize_unregister();

	raw_spin_lock(&kfd_prio_table_lock);
	hash_for_each_safe(kfd_prio_table, bkt, tmp, e, node)
		kfd_prio_entry_del(e);
	raw_spin_unlock(&kfd_prio_table_lock);
	cancel_delayed_work_sync(&kfd_prio_idle_work);
	rcu_barrier();
	mempool_destroy(kfd_prio_reserve);
}
