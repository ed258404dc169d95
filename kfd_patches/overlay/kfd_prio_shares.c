// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdprio: KFD_PRIO_IOC_SHARE and KFD_PRIO_IOC_SHARES, the groups of the node. */
#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include "kfd_prio_engine.h"
#include "kfd_prio_group.h"
#include "kfd_prio_share.h"

/* Sizes of the structs in version 1.7, the first one that has them */
#define KFD_PRIO_SHARE_SIZE_1_7		40
#define KFD_PRIO_SHARES_SIZE_1_7	24
#define KFD_PRIO_SHARE_ENTRY_SIZE_1_7	80

#define KFD_PRIO_SHARE_ALL	(KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_CGROUP | \
				 KFD_PRIO_SHARE_MAX | KFD_PRIO_SHARE_WEIGHT | \
				 KFD_PRIO_SHARE_SOFT | KFD_PRIO_SHARE_NEW)

static bool kfd_prio_share_flags_valid(u32 flags)
{
	if (flags & ~KFD_PRIO_SHARE_ALL)
		return false;
	/* A process joins a group, or a cgroup is bound to one */
	if (flags & KFD_PRIO_SHARE_PROCESS && flags & KFD_PRIO_SHARE_CGROUP)
		return false;
	if (flags & KFD_PRIO_SHARE_SOFT && !(flags & KFD_PRIO_SHARE_MAX))
		return false;
	return !(flags & KFD_PRIO_SHARE_NEW) || flags & KFD_PRIO_SHARE_PROCESS;
}

static bool kfd_prio_share_valid(const struct kfd_prio_share_args *a)
{
	bool max = a->flags & KFD_PRIO_SHARE_MAX, weight = a->flags & KFD_PRIO_SHARE_WEIGHT;

	if (!kfd_prio_share_flags_valid(a->flags))
		return false;
	if (!a->group && !(a->flags & (KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_CGROUP)))
		return false;
	if (a->group && a->flags & (KFD_PRIO_SHARE_NEW | KFD_PRIO_SHARE_CGROUP))
		return false;
	if (max ? !a->max || a->max > KFD_PRIO_MAX_NONE : a->max)
		return false;
	return weight ? a->weight <= KFD_PRIO_WEIGHT_MAX : !a->weight;
}

static struct kfd_prio_group_setting kfd_prio_share_setting(const struct kfd_prio_share_args *a)
{
	return (struct kfd_prio_group_setting) {
		.set_max = a->flags & KFD_PRIO_SHARE_MAX,
		.set_weight = a->flags & KFD_PRIO_SHARE_WEIGHT,
		.soft = a->flags & KFD_PRIO_SHARE_SOFT,
		.max = a->max,
		.weight = a->weight,
	};
}

/*
 * Whether the caller may change a group as @a requests. The capability is checked, and so audited,
 * only if it is needed. Group lock
 */
static bool kfd_prio_share_may_change(const struct kfd_prio_group *g,
				      const struct kfd_prio_share_args *a)
{
	const struct kfd_prio_group_setting to = kfd_prio_share_setting(a);

	if (!to.set_max && !to.set_weight)
		return true;
	return kfd_prio_group_may_set(g, &to) || capable(CAP_SYS_NICE);
}

/*
 * Changes a group as @a requests. If the group of a cgroup has neither a limit nor a weight then,
 * its binding ends. Group lock
 */
static void kfd_prio_share_change(struct kfd_prio_group *g, const struct kfd_prio_share_args *a)
{
	const struct kfd_prio_group_setting to = kfd_prio_share_setting(a);

	kfd_prio_group_set(g, &to);
	if (!g->cgroup || kfd_prio_quota_limits(&g->quota) || g->turn.weight)
		return;
	kfd_prio_group_unbind(g);
	kfd_prio_join_cgroups();
}

/*
 * Finds the group for a process, or makes one. @has: the group that the process is in; NULL: none
 * @fresh: out: the group was made
 */
static struct kfd_prio_group *kfd_prio_share_for(const struct kfd_prio_share_args *a,
						 struct kfd_prio_group *has, bool *fresh)
{
	struct kfd_prio_group *g;

	*fresh = false;
	if (has && a->flags & KFD_PRIO_SHARE_NEW)
		return ERR_PTR(-EBUSY);
	if (a->group) {
		g = kfd_prio_group_find(a->group);
		return g ?: ERR_PTR(-ENOENT);
	}
	if (has && kfd_prio_group_get(has))
		return has;
	*fresh = true;
	return kfd_prio_group_new(ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE));
}

/* Whether the caller may put a process that is in group @has in group @g */
static bool kfd_prio_share_may_join(const struct kfd_prio_group *has,
				    const struct kfd_prio_group *g, bool fresh)
{
	if (has == g)
		return true;
	if (!has && (fresh || kfd_prio_group_owned(g)))
		return true;
	return capable(CAP_SYS_NICE);
}

/* KFD_PRIO_SHARE_PROCESS: puts a process in a group, and changes the group. Group lock */
static int kfd_prio_share_process(struct kfd_prio_share_args *a, struct task_struct *task,
				  struct kfd_prio_group **out)
{
	struct kfd_prio_setting to = { .prio = KFD_PRIO_UNSET, .keep = true, .joins = true };
	struct kfd_prio_group *g, *has;
	struct pid *pid;
	bool fresh;
	int ret, old;

	rcu_read_lock();
	pid = get_pid(task_tgid(task));
	rcu_read_unlock();
	if (!pid)
		return -ESRCH;
	has = kfd_prio_table_group(pid);
	g = kfd_prio_share_for(a, has, &fresh);
	ret = PTR_ERR_OR_ZERO(g);
	if (ret)
		goto out;
	ret = -EPERM;
	if (!kfd_prio_share_may_join(has, g, fresh) || !kfd_prio_share_may_change(g, a))
		goto out_group;
	ret = 0;
	to.group = g;
	if (has != g)
		ret = kfd_prio_table_set(task, &to, true, &old);
	if (ret)
		goto out_group;
	/* Nothing fails any more */
	kfd_prio_share_change(g, a);
	kfd_prio_join_thread_group(pid, g);
	*out = g;
	goto out;

out_group:
	kfd_prio_group_put(g);
out:
	kfd_prio_group_put(has);
	put_pid(pid);
	return ret;
}

/* KFD_PRIO_SHARE_CGROUP: changes the group of a cgroup; the caller has CAP_SYS_NICE. Group lock */
static int kfd_prio_share_cgroup(struct kfd_prio_share_args *a, struct cgroup *cgroup,
				 struct kfd_prio_group **out)
{
	struct kfd_prio_group *g = kfd_prio_group_of_cgroup(cgroup);
	bool fresh = !g;

	if (fresh) {
		g = kfd_prio_group_new(true);
		if (IS_ERR(g))
			return PTR_ERR(g);
		cgroup_get(cgroup);
		kfd_prio_group_bind(g, cgroup);
	}
	kfd_prio_share_change(g, a);
	if (g->cgroup)
		kfd_prio_join_cgroups();
	*out = g;
	return 0;
}

/* Changes the group that @a names, and returns it with a reference in @out. Group lock */
static int kfd_prio_share_apply(struct kfd_prio_share_args *a, struct task_struct *task,
				struct cgroup *cgroup, struct kfd_prio_group **out)
{
	struct kfd_prio_group *g;

	if (task)
		return kfd_prio_share_process(a, task, out);
	if (cgroup)
		return kfd_prio_share_cgroup(a, cgroup, out);
	g = kfd_prio_group_find(a->group);
	if (!g)
		return -ENOENT;
	if (!kfd_prio_share_may_change(g, a)) {
		kfd_prio_group_put(g);
		return -EPERM;
	}
	kfd_prio_share_change(g, a);
	*out = g;
	return 0;
}

/* Finds the process or the cgroup that @a names */
static int kfd_prio_share_target(const struct kfd_prio_share_args *a, struct task_struct **task,
				 struct cgroup **cgroup)
{
	if (a->flags & KFD_PRIO_SHARE_PROCESS) {
		*task = kfd_prio_task_get(a->pid, a->pidfd, a->start_ns);
		if (IS_ERR(*task))
			return PTR_ERR(*task);
		if (kfd_prio_may_touch(*task))
			return 0;
		put_task_struct(*task);
		return -EPERM;
	}
	if (a->flags & KFD_PRIO_SHARE_CGROUP) {
		if (!capable(CAP_SYS_NICE))
			return -EPERM;
		*cgroup = kfd_prio_cgroup_get(a->cgroup);
		return PTR_ERR_OR_ZERO(*cgroup);
	}
	return 0;
}

/**
 * kfd_prio_share_ioctl() - KFD_PRIO_IOC_SHARE: make or change a group
 * @arg: user address of struct kfd_prio_share_args, which is read and written
 * @size: size of the struct as the caller knows it
 *
 * Context: process, may sleep; no lock; takes DQM locks
 * Return: 0, or an error that kfd_prio.h lists
 */
long kfd_prio_share_ioctl(void __user *arg, size_t size)
{
	struct task_struct *task = NULL;
	struct kfd_prio_share_args a;
	struct cgroup *cgroup = NULL;
	struct kfd_prio_group *g;
	int ret;

	if (size < KFD_PRIO_SHARE_SIZE_1_7)
		return -EINVAL;
	ret = copy_struct_from_user(&a, sizeof(a), arg, size);
	if (ret)
		return ret;
	if (!kfd_prio_share_valid(&a))
		return -EINVAL;
	ret = kfd_prio_share_target(&a, &task, &cgroup);
	if (ret)
		return ret;
	/* A GPU without a thread enforces nothing */
	kfd_prio_thread_start_all();
	kfd_prio_group_lock();
	ret = kfd_prio_share_apply(&a, task, cgroup, &g);
	if (!ret) {
		a.group = g->id;
		a.max = g->quota.max;
		a.weight = g->turn.weight;
		kfd_prio_group_put(g);
	}
	kfd_prio_group_unlock();
	if (task)
		put_task_struct(task);
	if (cgroup)
		cgroup_put(cgroup);
	if (ret)
		return ret;
	kfd_prio_gpu_kick_all();
	return copy_to_user(arg, &a, min(size, sizeof(a))) ? -EFAULT : 0;
}

/* Fills in an entry for a group. Group lock, share lock */
static void kfd_prio_share_entry(struct kfd_prio_group *g, struct kfd_prio_share_entry *e, u64 now)
{
	u32 i;

	kfd_prio_quota_count(&g->quota, g->running, now);
	*e = (struct kfd_prio_share_entry) {
		.group = g->id,
		.cgroup = g->cgroup ? cgroup_id(g->cgroup) : 0,
		.euid = from_kuid_munged(current_user_ns(), g->owner),
		.flags = g->quota.soft ? KFD_PRIO_SHARE_IS_SOFT : 0,
		.max = g->quota.max,
		.weight = g->turn.weight,
		.nr_running = g->running,
		.period_ns = kfd_prio_quota_limits(&g->quota) ? g->quota.period_ns : 0,
		.ran_ns = g->quota.ran_ns,
	};
	for (i = 0; i < KFD_PRIO_SLOTS; i++) {
		const struct kfd_prio_account *a = &g->on[i];

		/* Written under the DQM lock as well, so one may be older than another */
		e->nr_processes += READ_ONCE(a->users);
		e->shared_ns += READ_ONCE(a->shared_ns);
		e->throttled_ns += READ_ONCE(a->throttled_ns);
		e->throttled_count += READ_ONCE(a->throttled_count);
		if (READ_ONCE(a->throttled)) {
			e->throttled_ns += now - min(now, READ_ONCE(a->throttled_at));
			e->flags |= KFD_PRIO_SHARE_IS_THROTTLED;
		}
		if (READ_ONCE(a->users) && READ_ONCE(a->unenforced))
			e->flags |= KFD_PRIO_SHARE_IS_UNENFORCED;
	}
}

/**
 * kfd_prio_shares_ioctl() - KFD_PRIO_IOC_SHARES: copy an entry for each group to the caller
 * @arg: user address of struct kfd_prio_shares_args, which is read and written
 * @size: size of the struct as the caller knows it
 *
 * No permission is needed.
 *
 * Context: process, may sleep; no lock
 * Return: 0, or an error that kfd_prio.h lists
 */
long kfd_prio_shares_ioctl(void __user *arg, size_t size)
{
	struct kfd_prio_share_entry *entries = NULL;
	struct kfd_prio_shares_args a;
	struct kfd_prio_node *n;
	u32 room, i;
	u64 now;
	int ret;

	if (size < KFD_PRIO_SHARES_SIZE_1_7)
		return -EINVAL;
	ret = copy_struct_from_user(&a, sizeof(a), arg, size);
	if (ret)
		return ret;
	if (a.flags || a.pad || a.entry_size < KFD_PRIO_SHARE_ENTRY_SIZE_1_7 || a.entry_size % 8)
		return -EINVAL;
	room = min_t(u32, a.nr_entries, KFD_PRIO_SHARE_ALL_MAX);
	if (room) {
		entries = kvcalloc(room, sizeof(*entries), GFP_KERNEL_ACCOUNT);
		if (!entries)
			return -ENOMEM;
	}
	kfd_prio_group_lock();
	kfd_prio_group_sweep();
	n = kfd_prio_share_lock();
	now = ktime_get_ns();
	a.nr_entries = n->n;
	room = min(room, n->n);
	for (i = 0; i < room; i++)
		kfd_prio_share_entry(n->groups[i], &entries[i], now);
	kfd_prio_share_unlock();
	kfd_prio_group_unlock();
	ret = kfd_prio_entries_to_user(a.entries, &a.entry_size, entries, sizeof(*entries), room);
	kvfree(entries);
	if (ret)
		return ret;
	return copy_to_user(arg, &a, min(size, sizeof(a))) ? -EFAULT : 0;
}
