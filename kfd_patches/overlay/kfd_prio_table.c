// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the priority table, which maps a thread group to the priority that is set for it.
 *
 * A thread group has an entry whether it uses KFD or not: the priority may be set before the
 * program opens /dev/kfd. The entry survives execve(2), and a child process inherits a copy of it
 * at fork. The key is the struct pid of the group. execve(2) does not change it, and it is not
 * reused while the entry holds a reference. An entry also records whether the process must never be
 * parked.
 *
 * The tracepoints sched_process_fork and sched_process_exit report fork and exit. The probes, which
 * run in atomic context, are attached only while the table has an entry, and for KFD_PRIO_LINGER
 * afterwards. The static key in front of each lookup is on for the same time.
 *
 * Locks: kfd_prio_table_mutex (outer) serialises attaching and detaching the probes.
 * kfd_prio_table_lock (inner) protects the hash table for writing; it is a raw spinlock because the
 * probes take it. Readers use RCU.
 */
#include <linux/hashtable.h>
#include <linux/mempool.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_group.h"
#include "kfd_prio_events.h"

struct kfd_prio_entry {
	struct hlist_node node;
	struct pid *pid;	/* referenced */
	struct kfd_prio_values v;
	struct rcu_head rcu;
};

#define KFD_PRIO_TABLE_BITS	8

/* Number of entries that stay reserved for fork when an atomic allocation fails */
#define KFD_PRIO_RESERVE	16

/* Time for which the probes stay attached after the last entry was removed, in jiffies */
#define KFD_PRIO_LINGER		(10 * HZ)

static DEFINE_HASHTABLE(kfd_prio_table, KFD_PRIO_TABLE_BITS);
static DEFINE_RAW_SPINLOCK(kfd_prio_table_lock);
static DEFINE_MUTEX(kfd_prio_table_mutex);
DEFINE_STATIC_KEY_FALSE(kfd_prio_in_use);
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
	kfd_prio_group_put(e->v.group);
	mempool_free(e, kfd_prio_reserve);
}

/* Adds the entry @e, which takes over the reference to @v->group */
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

/* Copies the entry of @pid to @v. Return: true if @pid has an entry; @v is unchanged otherwise */
static bool kfd_prio_table_copy(struct pid *pid, struct kfd_prio_values *v)
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
		/* Without a reference: only whether there is one may be used */
		v->group = READ_ONCE(e->v.group);
	}
	rcu_read_unlock();
	return e;
}

/**
 * kfd_prio_table_read() - read the settings of a thread group
 * @pid: the thread group; NULL if it has ended
 *
 * The members are read one by one: if the settings change concurrently, some members may have the
 * old and some the new value.
 *
 * Context: any
 * Return: the settings; .prio is KFD_PRIO_UNSET if @pid has no entry
 */
struct kfd_prio_values kfd_prio_table_read(struct pid *pid)
{
	struct kfd_prio_values v = { .prio = KFD_PRIO_UNSET };

	kfd_prio_table_copy(pid, &v);
	return v;
}

/**
 * kfd_prio_table_get() - read the priority that is set for a thread group
 * @pid: the thread group; NULL if it has ended
 *
 * Context: any
 * Return: 0..15, or KFD_PRIO_UNSET
 */
int kfd_prio_table_get(struct pid *pid)
{
	return kfd_prio_table_read(pid).prio;
}

/**
 * kfd_prio_table_group() - the group that a thread group is in
 * @pid: the thread group; NULL if it has ended
 *
 * Context: any
 * Return: the group with a reference, or NULL
 */
struct kfd_prio_group *kfd_prio_table_group(struct pid *pid)
{
	struct kfd_prio_group *g = NULL;
	struct kfd_prio_entry *e;

	if (!static_branch_unlikely(&kfd_prio_in_use) || !pid)
		return NULL;
	rcu_read_lock();
	e = kfd_prio_table_find(pid);
	if (e)
		g = READ_ONCE(e->v.group);
	/* The entry may have another group by now, and this one no reference */
	if (g && !kfd_prio_group_get(g))
		g = NULL;
	rcu_read_unlock();
	return g;
}

/*
 * Probe of sched_process_fork. It runs in the parent, before the child is woken. The child inherits
 * the entry of the parent's thread group.
 */
static void kfd_prio_probe_fork(void *data, struct task_struct *parent,
				struct task_struct *child)
{
	struct pid *pid = task_tgid(child);
	struct kfd_prio_entry *e, *has;
	struct kfd_prio_values v;

	if (pid == task_tgid(parent))
		return;		/* @child is a thread of the parent's group */
	if (!kfd_prio_table_copy(task_tgid(parent), &v))
		return;
	/* A child that does not inherit a group would have no limit */
	e = mempool_alloc(kfd_prio_reserve, (v.group ? GFP_ATOMIC : GFP_NOWAIT) | __GFP_NOWARN);
	if (!e) {
		pr_warn_ratelimited("kfdprio: process %d does not inherit priority %d%s: out of memory\n",
				    child->tgid, v.prio, v.group ? " and its group" : "");
		return;
	}
	v.group = kfd_prio_table_group(task_tgid(parent));
	raw_spin_lock(&kfd_prio_table_lock);
	/*
	 * A caller of KFD_PRIO_IOC_SET can name the child as soon as its pidfd exists. An entry
	 * that such a call has made stays, but the child does not leave the group of its parent
	 */
	has = kfd_prio_table_find(pid);
	if (!has) {
		kfd_prio_entry_add(e, pid, &v);
	} else if (!has->v.group) {
		WRITE_ONCE(has->v.group, v.group);
		v.group = NULL;
	}
	raw_spin_unlock(&kfd_prio_table_lock);
	if (has) {
		kfd_prio_group_put(v.group);
		mempool_free(e, kfd_prio_reserve);
		return;
	}
	if (v.prio == KFD_PRIO_UNSET)
		return;
	trace_kfd_set_priority(child->tgid, v.prio, KFD_PRIO_UNSET, parent->tgid,
			       KFD_PRIO_SOURCE_FORK, 0, 0);
}

/* Removes the entry of @pid, if there is one */
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
 * Probe of sched_process_exit, which runs for each thread. The last thread of a group removes the
 * entry of the group.
 *
 * do_exit() has decremented signal->live before, with atomic_dec_and_test(), which is a full
 * barrier: live is written, then the entry is read. Pairs with kfd_prio_table_set(), which writes
 * the entry and then reads live.
 */
static void kfd_prio_probe_exit(void *data, KFD_PRIO_EXIT_ARGS(task))
{
	struct kfd_prio_values v;

	if (!atomic_read(&task->signal->live) && kfd_prio_table_copy(task_tgid(task), &v))
		kfd_prio_table_forget(task_tgid(task));
}

static void kfd_prio_find_tracepoint(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "sched_process_fork"))
		kfd_prio_tp_fork = tp;
	else if (!strcmp(tp->name, "sched_process_exit"))
		kfd_prio_tp_exit = tp;
}

/* Attaches the probes and enables lookups, if they are not yet. Return: 0 or the error */
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

/* Detaches the probes after KFD_PRIO_LINGER, unless the table has an entry again */
static void kfd_prio_table_idle(struct work_struct *work)
{
	mutex_lock(&kfd_prio_table_mutex);
	if (!READ_ONCE(kfd_prio_entries))
		kfd_prio_table_detach();
	mutex_unlock(&kfd_prio_table_mutex);
}

/*
 * Sets the entry @e of @pid to @v, or removes it if @v sets nothing. If @e is NULL, *@new becomes
 * the entry and *@new becomes NULL.
 */
static void kfd_prio_table_put(struct pid *pid, struct kfd_prio_entry *e,
			       const struct kfd_prio_values *v, struct kfd_prio_entry **new)
{
	struct kfd_prio_group *was = e ? e->v.group : NULL;

	lockdep_assert_held(&kfd_prio_table_lock);
	if (e && v->prio == KFD_PRIO_UNSET && !v->never_by && !v->group) {
		kfd_prio_entry_del(e);
		return;
	}
	if (!e && !*new)
		return;
	if (v->group && v->group != was)
		kref_get(&v->group->ref);
	if (!e) {
		kfd_prio_entry_add(*new, pid, v);
		*new = NULL;
		return;
	}
	WRITE_ONCE(e->v.prio, v->prio);
	WRITE_ONCE(e->v.by, v->by);
	WRITE_ONCE(e->v.never_by, v->never_by);
	WRITE_ONCE(e->v.group, v->group);
	if (v->group != was)
		kfd_prio_group_put(was);
}

/**
 * kfd_prio_table_set() - change the settings of a thread group
 * @task: a thread of the group, referenced by the caller
 * @to: the requested change
 * @may_raise: whether the caller may raise a priority
 * @old: out: the priority that was set before
 *
 * The function does not change queues: kfd_prio_process_apply() does.
 *
 * Context: process, may sleep
 * Return: 0; -EPERM if the change raises the priority and @may_raise is false; -EEXIST if a rule
 *	requests the change and the present setting outranks the rule (KFD_PRIO_SET_RULE); -ESRCH if
 *	the process is exiting; -ENOMEM; -EOPNOTSUPP if the kernel lacks the tracepoints
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

	if ((!to->keep && to->prio != KFD_PRIO_UNSET) || to->never || to->joins) {
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
	 * The group may have run its exit probe before the entry was added. The probe runs after
	 * live reached 0, so either the probe finds the entry, or this read finds live to be 0.
	 * Releasing the lock does not order the write of the entry before the read of live. Pairs
	 * with the atomic_dec_and_test() of do_exit(), see kfd_prio_probe_exit().
	 */
	smp_mb();
	if (!ret && !atomic_read(&task->signal->live)) {
		kfd_prio_table_forget(pid);
		ret = -ESRCH;
	}
	/* No entry was added: detach the probes again after KFD_PRIO_LINGER */
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
 * kfd_prio_table_used() - whether the table has an entry
 *
 * Context: any
 * Return: true if a priority is set for a thread group, or one is set never to be parked
 */
bool kfd_prio_table_used(void)
{
	return READ_ONCE(kfd_prio_entries);
}

/**
 * kfd_prio_table_inherits() - whether the kernel has the tracepoints of fork and exit
 *
 * Context: any
 * Return: false if a tracepoint is missing, or the reserve of entries could not be allocated: no
 *	priority can be set then
 */
bool kfd_prio_table_inherits(void)
{
	return kfd_prio_tp_fork && kfd_prio_tp_exit && kfd_prio_reserve;
}

/**
 * kfd_prio_table_init() - find the tracepoints and allocate the reserve
 *
 * The probes are not attached yet.
 *
 * Context: module load
 */
void kfd_prio_table_init(void)
{
	/* The build fails on a kernel whose tracepoints have other arguments */
	check_trace_callback_type_sched_process_fork(kfd_prio_probe_fork);
	check_trace_callback_type_sched_process_exit(kfd_prio_probe_exit);

	kfd_prio_reserve = mempool_create_kmalloc_pool(KFD_PRIO_RESERVE,
						       sizeof(struct kfd_prio_entry));
	for_each_kernel_tracepoint(kfd_prio_find_tracepoint, NULL);
}

/**
 * kfd_prio_table_exit() - detach the probes and free all entries
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
