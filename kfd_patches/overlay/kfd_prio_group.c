// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the groups of the node: how they are made, found, changed and freed.
 *
 * Locks, outer first: kfd_prio_group_mutex, DQM locks, kfd_prio_share_spinlock. The mutex
 * serialises the making of groups, their bindings to cgroups, and which group a process is in. The
 * spinlock protects what the decisions of all GPUs share: limits, turns and counts.
 *
 * A group is freed with its last reference, which may be dropped in atomic context. A work then
 * removes it from the node, under the mutex.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_group.h"

/*
 * Jiffies from the end of the last group to the change of the key. A change patches code, which
 * interrupts all CPUs, and an ordinary user can make groups that end at once. KVM and perf have the
 * same delay.
 */
#define KFD_PRIO_SHARES_OFF	HZ

/* Counts the groups, and one more for the time above after the last has ended */
DEFINE_STATIC_KEY_DEFERRED_FALSE(kfd_prio_shares_in_use, KFD_PRIO_SHARES_OFF);
static DEFINE_MUTEX(kfd_prio_group_mutex);
static DEFINE_SPINLOCK(kfd_prio_share_spinlock);
static u64 kfd_prio_group_last;		/* number of the last group; kfd_prio_group_mutex */
static LLIST_HEAD(kfd_prio_group_unused);

static struct kfd_prio_node kfd_prio_node = {
	.ring = { &kfd_prio_node.others },
	.turns = { .ring = kfd_prio_node.ring, .n = 1 },
	.others = { .weight = KFD_PRIO_WEIGHT_DEFAULT },
};

static void kfd_prio_group_work(struct work_struct *work);
static DECLARE_WORK(kfd_prio_group_free, kfd_prio_group_work);

/**
 * kfd_prio_group_lock() - lock the groups: none is made, bound or removed until
 * kfd_prio_group_unlock(), and no process changes its group
 *
 * Context: process, may sleep; outer to DQM locks
 */
void kfd_prio_group_lock(void)
{
	mutex_lock(&kfd_prio_group_mutex);
}

/**
 * kfd_prio_group_unlock() - unlock the groups
 *
 * Context: kfd_prio_group_lock()
 */
void kfd_prio_group_unlock(void)
{
	mutex_unlock(&kfd_prio_group_mutex);
}

/**
 * kfd_prio_share_lock() - lock what all groups have in common
 *
 * Context: process; inner to DQM locks. Nothing sleeps until kfd_prio_share_unlock()
 * Return: the node
 */
struct kfd_prio_node *kfd_prio_share_lock(void)
{
	spin_lock(&kfd_prio_share_spinlock);
	return &kfd_prio_node;
}

/**
 * kfd_prio_share_unlock() - the reverse of kfd_prio_share_lock()
 *
 * Context: kfd_prio_share_lock()
 */
void kfd_prio_share_unlock(void)
{
	spin_unlock(&kfd_prio_share_spinlock);
}

/**
 * kfd_prio_group_get() - take a reference to a group
 * @g: the group; its memory is valid, for example by RCU
 *
 * Context: any
 * Return: false if the group has no reference any more
 */
bool kfd_prio_group_get(struct kfd_prio_group *g)
{
	return kref_get_unless_zero(&g->ref);
}

static void kfd_prio_group_release(struct kref *ref)
{
	struct kfd_prio_group *g = container_of(ref, struct kfd_prio_group, ref);

	if (llist_add(&g->free, &kfd_prio_group_unused))
		schedule_work(&kfd_prio_group_free);
}

/**
 * kfd_prio_group_put() - drop a reference to a group
 * @g: the group, or NULL
 *
 * Context: any
 */
void kfd_prio_group_put(struct kfd_prio_group *g)
{
	if (g)
		kref_put(&g->ref, kfd_prio_group_release);
}

/* Removes a group without references from the node. Mutex */
static void kfd_prio_group_remove(struct kfd_prio_group *g)
{
	struct kfd_prio_node *n;
	u64 now = ktime_get_ns();
	u32 i;

	lockdep_assert_held(&kfd_prio_group_mutex);
	n = kfd_prio_share_lock();
	for (i = 0; i < n->n && n->groups[i] != g; i++)
		;
	if (!WARN_ON_ONCE(i == n->n)) {
		kfd_prio_turns_count(&n->turns, now);
		kfd_prio_turns_drop(&n->turns, i + 1);
		for (n->n--; i < n->n; i++)
			n->groups[i] = n->groups[i + 1];
		kfd_prio_group_periods(n, now);
	}
	kfd_prio_share_unlock();
}

static void kfd_prio_group_work(struct work_struct *work)
{
	struct llist_node *list;
	struct kfd_prio_group *g, *tmp;

	mutex_lock(&kfd_prio_group_mutex);
	list = llist_del_all(&kfd_prio_group_unused);
	llist_for_each_entry_safe(g, tmp, list, free) {
		kfd_prio_group_remove(g);
		kvfree_rcu(g, rcu);
		static_branch_slow_dec_deferred(&kfd_prio_shares_in_use);
	}
	mutex_unlock(&kfd_prio_group_mutex);
}

/**
 * kfd_prio_group_of_cgroup() - find the group that is bound to a cgroup
 * @cgroup: the cgroup
 *
 * Context: kfd_prio_group_lock()
 * Return: the group with a reference, or NULL
 */
struct kfd_prio_group *kfd_prio_group_of_cgroup(struct cgroup *cgroup)
{
	struct kfd_prio_node *n;
	struct kfd_prio_group *g = NULL;
	u32 i;

	lockdep_assert_held(&kfd_prio_group_mutex);
	n = kfd_prio_share_lock();
	for (i = 0; i < n->n && !g; i++)
		if (n->groups[i]->cgroup == cgroup && kfd_prio_group_get(n->groups[i]))
			g = n->groups[i];
	kfd_prio_share_unlock();
	return g;
}

/**
 * kfd_prio_group_of_task() - find the group of the nearest cgroup of a task that has one
 * @task: the task
 *
 * Context: kfd_prio_group_lock()
 * Return: the group with a reference, or NULL
 */
struct kfd_prio_group *kfd_prio_group_of_task(struct task_struct *task)
{
	struct kfd_prio_group *g, *nearest = NULL;
	struct kfd_prio_node *n;
	struct cgroup *cgroup;
	u32 i;

	lockdep_assert_held(&kfd_prio_group_mutex);
	rcu_read_lock();
	cgroup = task_dfl_cgroup(task);
	n = kfd_prio_share_lock();
	for (i = 0; i < n->n; i++) {
		g = n->groups[i];
		if (g->cgroup && cgroup_is_descendant(cgroup, g->cgroup) &&
		    (!nearest || g->cgroup->level > nearest->cgroup->level))
			nearest = g;
	}
	if (nearest && !kfd_prio_group_get(nearest))
		nearest = NULL;
	kfd_prio_share_unlock();
	rcu_read_unlock();
	return nearest;
}

/**
 * kfd_prio_group_bind() - bind a group to a cgroup
 * @g: the group, which is not bound, and gets a reference
 * @cgroup: the cgroup, whose reference the group takes over
 *
 * Context: kfd_prio_group_lock()
 */
void kfd_prio_group_bind(struct kfd_prio_group *g, struct cgroup *cgroup)
{
	lockdep_assert_held(&kfd_prio_group_mutex);
	kref_get(&g->ref);
	g->cgroup = cgroup;
}

/**
 * kfd_prio_group_unbind() - end the binding of a group to a cgroup
 * @g: the group, to which the caller has a reference
 *
 * Context: kfd_prio_group_lock()
 */
void kfd_prio_group_unbind(struct kfd_prio_group *g)
{
	struct cgroup *cgroup = g->cgroup;

	lockdep_assert_held(&kfd_prio_group_mutex);
	if (!cgroup)
		return;
	g->cgroup = NULL;
	cgroup_put(cgroup);
	kfd_prio_group_put(g);
}

/**
 * kfd_prio_group_sweep() - end the bindings to cgroups that were removed
 *
 * Context: kfd_prio_group_lock()
 */
void kfd_prio_group_sweep(void)
{
	struct kfd_prio_group *g;
	struct kfd_prio_node *n;
	u32 i;

	do {
		g = NULL;
		n = kfd_prio_share_lock();
		for (i = 0; i < n->n && !g; i++)
			if (n->groups[i]->cgroup && kfd_prio_cgroup_is_dead(n->groups[i]->cgroup) &&
			    kfd_prio_group_get(n->groups[i]))
				g = n->groups[i];
		kfd_prio_share_unlock();
		if (g)
			kfd_prio_group_unbind(g);
		kfd_prio_group_put(g);
	} while (g);
}

/* Number of groups that the caller has made without CAP_SYS_NICE. Mutex */
static u32 kfd_prio_group_count(kuid_t owner)
{
	struct kfd_prio_node *n = kfd_prio_share_lock();
	u32 i, count = 0;

	for (i = 0; i < n->n; i++)
		count += n->groups[i]->quota.users && uid_eq(n->groups[i]->owner, owner);
	kfd_prio_share_unlock();
	return count;
}

/**
 * kfd_prio_group_new() - make a group without a limit and without a weight
 * @privileged: the caller has CAP_SYS_NICE in the initial user namespace
 *
 * Context: kfd_prio_group_lock()
 * Return: the group with a reference; -EDQUOT, -ENOSPC or -ENOMEM
 */
struct kfd_prio_group *kfd_prio_group_new(bool privileged)
{
	kuid_t owner = current_euid();
	struct kfd_prio_group *g;
	struct kfd_prio_node *n;
	u64 now = ktime_get_ns();
	u32 i;

	lockdep_assert_held(&kfd_prio_group_mutex);
	kfd_prio_group_sweep();
	if (!privileged && kfd_prio_group_count(owner) >= KFD_PRIO_SHARE_USER_MAX)
		return ERR_PTR(-EDQUOT);
	/* Half of the groups are for callers with the capability */
	if (READ_ONCE(kfd_prio_node.n) >= KFD_PRIO_SHARE_ALL_MAX / (privileged ? 1 : 2))
		return ERR_PTR(-ENOSPC);
	g = kvzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return ERR_PTR(-ENOMEM);
	kref_init(&g->ref);
	g->id = ++kfd_prio_group_last;
	g->owner = owner;
	for (i = 0; i < KFD_PRIO_SLOTS; i++)
		g->on[i].group = g;
	n = kfd_prio_share_lock();
	if (!n->n)
		kfd_prio_group_periods(n, now);
	kfd_prio_quota_init(&g->quota, !privileged, n->period.ns, kfd_prio_node_switch_ns(n), now);
	kfd_prio_turns_count(&n->turns, now);
	n->groups[n->n++] = g;
	n->ring[n->turns.n++] = &g->turn;
	kfd_prio_share_unlock();
	static_branch_deferred_inc(&kfd_prio_shares_in_use);
	return g;
}

/**
 * kfd_prio_group_find() - find a group by its number
 * @id: the number
 *
 * Context: kfd_prio_group_lock()
 * Return: the group with a reference, or NULL
 */
struct kfd_prio_group *kfd_prio_group_find(u64 id)
{
	struct kfd_prio_node *n = kfd_prio_share_lock();
	struct kfd_prio_group *g = NULL;
	u32 i;

	for (i = 0; i < n->n && !g; i++)
		if (n->groups[i]->id == id && kfd_prio_group_get(n->groups[i]))
			g = n->groups[i];
	kfd_prio_share_unlock();
	return g;
}

/*
 * Whether a setting raises what a group gets. A group without a weight shares GPU time with all
 * other processes without one, so a weight of its own, however low, may be more.
 */
static bool kfd_prio_group_raises(const struct kfd_prio_group *g,
				  const struct kfd_prio_group_setting *to)
{
	bool harder = g->quota.soft || !to->soft || !kfd_prio_quota_limits(&g->quota);

	if (to->set_max && (to->max > g->quota.max || !harder))
		return true;
	return to->set_weight && (!g->turn.weight || !to->weight || to->weight > g->turn.weight) &&
	       to->weight != g->turn.weight;
}

/**
 * kfd_prio_group_owned() - whether a group belongs to a caller without CAP_SYS_NICE
 * @g: the group
 *
 * A group that was made with CAP_SYS_NICE belongs to no such caller, whatever its UID is: root of a
 * container without a user namespace has the UID of the administrator.
 *
 * Context: kfd_prio_group_lock()
 * Return: true if a caller with the same effective UID has made the group without CAP_SYS_NICE
 */
bool kfd_prio_group_owned(const struct kfd_prio_group *g)
{
	return g->quota.users && uid_eq(g->owner, current_euid());
}

/**
 * kfd_prio_group_may_set() - whether a caller without CAP_SYS_NICE may change a group
 * @g: the group
 * @to: the requested change
 *
 * Context: kfd_prio_group_lock()
 * Return: true if the group belongs to the caller and the change raises nothing
 */
bool kfd_prio_group_may_set(const struct kfd_prio_group *g,
			    const struct kfd_prio_group_setting *to)
{
	lockdep_assert_held(&kfd_prio_group_mutex);
	return kfd_prio_group_owned(g) && !kfd_prio_group_raises(g, to);
}

/**
 * kfd_prio_group_set() - change the limit and the weight of a group
 * @g: the group
 * @to: the change, which is permitted
 *
 * The GPUs apply it with their next decision, for which the caller kicks their threads.
 *
 * Context: kfd_prio_group_lock()
 */
void kfd_prio_group_set(struct kfd_prio_group *g, const struct kfd_prio_group_setting *to)
{
	struct kfd_prio_node *n;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&kfd_prio_group_mutex);
	n = kfd_prio_share_lock();
	if (to->set_max) {
		kfd_prio_quota_set(&g->quota, to->max, to->soft,
				   kfd_prio_group_place(n, g, to->max), now);
		kfd_prio_group_periods(n, now);
	}
	if (to->set_weight) {
		kfd_prio_turns_count(&n->turns, now);
		WRITE_ONCE(g->turn.weight, to->weight);
		/* The next walk on each GPU finds the group with whose turn its processes run */
		g->turn.gpus = 0;
	}
	kfd_prio_share_unlock();
}

/**
 * kfd_prio_group_exit() - free all groups
 *
 * Context: module unload, when no process and no entry of the priority table is left
 */
void kfd_prio_group_exit(void)
{
	u32 i;

	kfd_prio_group_lock();
	for (i = kfd_prio_node.n; i--;)
		kfd_prio_group_unbind(kfd_prio_node.groups[i]);
	kfd_prio_group_unlock();
	flush_work(&kfd_prio_group_free);
	static_key_deferred_flush(&kfd_prio_shares_in_use);
}
