// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: userptr buffers: memory of a process that the GPU uses where it is.
 *
 * As in amdgpu, nothing is pinned. An MMU notifier says that pages go away (munmap, mprotect,
 * fork, migration, ...): it stops the queues of the process on all GPUs (kgd2kfd_quiesce_mm()),
 * makes the firmware forget the pages, and a worker looks them up again with
 * hmm_range_fault() and lets the queues continue (kgd2kfd_resume_mm()). What cannot be found
 * any more (-EFAULT) is left unmapped: whoever touches it gets a VM fault.
 *
 * Small buffers are looked up as a whole, as by amdgpu. Of large ones (a CWSR area, 64 MB that
 * nobody touches) a chunk is when the GPU wants it first, by a worker: the firmware asks again
 * meanwhile. Chunks once found are found again, in that worker's stead, before the queues
 * continue, so that what runs does not lack what it had.
 */
#include "sim.h"
#include <linux/hmm.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <uapi/linux/kfd_ioctl.h>

#define EAGER_SIZE	(4u << 20)	/* whole up to this size */
#define CHUNK		512u		/* pages looked up at once in larger ones */
#define RESTORE_MS	1		/* as amdgpu: lets consecutive changes accumulate */

/**
 * struct sim_user - the memory of a userptr
 * @mn: its notifier; also says whose address space
 * @s: the buffer
 * @m: its user
 * @addr: where it begins
 * @npages: its size
 * @lazy: looked up by chunks, when wanted
 * @registered: @mn is
 * @valid: @pages may be used. Set under notifier_lock
 * @pages: what was found: NULL: nobody looked, or an error pointer: it is not there
 * @want: page that the firmware wants
 * @fill: looks for it
 */
struct sim_user {
	struct mmu_interval_notifier mn;
	struct sim_bo *s;
	struct sim_mem *m;
	unsigned long addr, npages;
	bool lazy, registered, valid;
	struct page **pages;
	unsigned long want;
	struct work_struct fill;
};

/**
 * sim_user_page - a page of a userptr
 * @s: the buffer
 * @idx: page index
 *
 * For the firmware, under vm_lock; does not sleep. Return: the page, valid until vm_lock is
 * dropped; -EAGAIN: being looked for; -EFAULT: not there.
 */
struct page *sim_user_page(struct sim_bo *s, pgoff_t idx)
{
	struct sim_user *u = s->user;
	struct page *page;

	if (!u || idx >= u->npages)
		return ERR_PTR(-EFAULT);
	if (!smp_load_acquire(&u->valid))	/* pairs with the restore: pages first */
		return ERR_PTR(-EAGAIN);
	page = READ_ONCE(u->pages[idx]);
	if (page)
		return page;
	WRITE_ONCE(u->want, idx);
	queue_work(system_unbound_wq, &u->fill);
	return ERR_PTR(-EAGAIN);
}

static void set_page(struct sim_user *u, unsigned long i, struct page *page)
{
	struct page *old = u->pages[i];

	atomic_long_add(!IS_ERR_OR_NULL(page) - !IS_ERR_OR_NULL(old),
			&sim_bo_gpu(u->s)->user_pages);
	WRITE_ONCE(u->pages[i], page);
}

/* May the GPU write to it? Otherwise its pages need not be the process's own */
static bool writable(const struct sim_user *u)
{
	return u->m->m.alloc_flags & KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
}

/*
 * Looks up @n pages from @first on. Return: 0 with @pfns and @seq set, -EAGAIN: the
 * address space is changing, -EFAULT and others of hmm_range_fault(): not there.
 */
static int look_up(struct sim_user *u, unsigned long first, unsigned long n, unsigned long *pfns,
		   unsigned long *seq)
{
	struct hmm_range range = {
		.notifier = &u->mn,
		.start = u->addr + (first << PAGE_SHIFT),
		.end = u->addr + ((first + n) << PAGE_SHIFT),
		.hmm_pfns = pfns,
		.default_flags = HMM_PFN_REQ_FAULT | (writable(u) ? HMM_PFN_REQ_WRITE : 0),
	};
	struct mm_struct *mm = u->mn.mm;
	int r;

	if (!mmget_not_zero(mm))
		return -EFAULT;
	memset(pfns, 0, n * sizeof(*pfns));
	range.notifier_seq = mmu_interval_read_begin(&u->mn);
	mmap_read_lock(mm);
	r = hmm_range_fault(&range);
	mmap_read_unlock(mm);
	mmput(mm);
	*seq = range.notifier_seq;
	return r == -EBUSY ? -EAGAIN : r;
}

/*
 * Looks up a range and keeps what was found. While @u is not valid the caller makes sure that
 * it was not invalidated meanwhile; otherwise that is seen here (-EAGAIN).
 */
static int find(struct sim_user *u, unsigned long first, unsigned long n)
{
	struct sim_info *info = u->m->info;
	unsigned long *pfns, seq, i;
	int r;

	pfns = kvmalloc_array(n, sizeof(*pfns), GFP_KERNEL);
	if (!pfns)
		return -ENOMEM;
	r = look_up(u, first, n, pfns, &seq);
	if (r == -EAGAIN || r == -ENOMEM)
		goto out;
	mutex_lock(&info->notifier_lock);
	if (mmu_interval_read_retry(&u->mn, seq))
		r = -EAGAIN;
	for (i = 0; i < n && r != -EAGAIN; i++)
		set_page(u, first + i, r ? ERR_PTR(-EFAULT) : hmm_pfn_to_page(pfns[i]));
	mutex_unlock(&info->notifier_lock);
out:
	kvfree(pfns);
	return r;
}

/* The firmware wants a page of a large buffer */
static void fill_work(struct work_struct *work)
{
	struct sim_user *u = container_of(work, struct sim_user, fill);
	unsigned long first = rounddown(READ_ONCE(u->want), CHUNK);

	if (READ_ONCE(u->valid))	/* else the restore comes first, and the firmware asks again */
		find(u, first, min_t(unsigned long, CHUNK, u->npages - first));
}

/* Finds again what the GPU had. info.lock held, u is not valid */
static int find_again(struct sim_user *u)
{
	unsigned long first, n, i;
	bool had;
	int r;

	if (!u->lazy) {
		r = find(u, 0, u->npages);
		return r == -EAGAIN || r == -ENOMEM ? r : 0;
	}
	for (first = 0; first < u->npages; first += n) {
		n = min_t(unsigned long, CHUNK, u->npages - first);
		for (i = first, had = false; i < first + n; i++) {
			had |= !IS_ERR_OR_NULL(u->pages[i]);
			if (IS_ERR(u->pages[i]))
				set_page(u, i, NULL);
		}
		if (!had)
			continue;
		r = find(u, first, n);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
	}
	return 0;
}

/* ---- the address space changes ---- */

static bool invalidate(struct mmu_interval_notifier *mn, const struct mmu_notifier_range *range,
		       unsigned long seq)
{
	struct sim_user *u = container_of(mn, struct sim_user, mn);
	struct sim_info *info = u->m->info;
	int r;

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&info->notifier_lock);
	mmu_interval_set_seq(mn, seq);
	WRITE_ONCE(u->valid, false);
	atomic64_inc(&sim_bo_gpu(u->s)->notified);
	if (++info->invalidated == 1) {
		r = kgd2kfd_quiesce_mm(mn->mm, KFD_QUEUE_EVICTION_TRIGGER_USERPTR);
		if (r && r != -ESRCH)	/* the process is being torn down: its queues go anyway */
			pr_err("Failed to quiesce KFD\n");
		else if (!r)
			sim_mapped_move(sim_bo_gpu(u->s), &info->info);
		queue_delayed_work(system_freezable_wq, &info->info.restore_userptr_work,
				   msecs_to_jiffies(RESTORE_MS));
	}
	sim_vm_sync();
	mutex_unlock(&info->notifier_lock);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

/* All userptrs of the process were found, if nothing was invalidated since: let it continue */
static int resume(struct sim_info *info, struct mm_struct *mm, u32 invalidated)
{
	struct sim_mem *m;
	int r = 0;

	mutex_lock(&info->notifier_lock);
	if (info->invalidated != invalidated) {
		r = -EAGAIN;
		goto out;
	}
	list_for_each_entry(m, &info->users, link) {
		struct sim_bo *s = to_sbo(m->m.bo);

		if (!s->user->valid)
			atomic64_inc(&sim_bo_gpu(s)->user_restores);
		smp_store_release(&s->user->valid, true);
	}
	info->invalidated = 0;
	if (kgd2kfd_resume_mm(mm))
		pr_err("%s: Failed to resume KFD\n", __func__);
out:
	mutex_unlock(&info->notifier_lock);
	return r;
}

/**
 * sim_user_restore_work - look up again what was invalidated, let the queues continue
 * @work: amdkfd_process_info.restore_userptr_work
 */
void sim_user_restore_work(struct work_struct *work)
{
	struct sim_info *info = container_of(to_delayed_work(work), struct sim_info,
					     info.restore_userptr_work);
	struct task_struct *task;
	struct mm_struct *mm;
	struct sim_user *u;
	struct sim_mem *m;
	u32 invalidated;
	int r = 0;

	mutex_lock(&info->notifier_lock);
	invalidated = info->invalidated;
	mutex_unlock(&info->notifier_lock);
	if (!invalidated)
		return;
	task = get_pid_task(info->info.pid, PIDTYPE_PID);
	if (!task)
		return;
	mm = get_task_mm(task);
	if (!mm)
		goto out_task;
	mutex_lock(&info->info.lock);
	list_for_each_entry(m, &info->users, link) {
		u = to_sbo(m->m.bo)->user;
		if (u->valid && !IS_ERR(u->pages[0]))
			continue;
		r = find_again(u);
		if (r)
			break;
	}
	if (!r)
		r = resume(info, mm, invalidated);
	mutex_unlock(&info->info.lock);
	if (r)
		queue_delayed_work(system_freezable_wq, &info->info.restore_userptr_work,
				   msecs_to_jiffies(RESTORE_MS));
	mmput(mm);
out_task:
	put_task_struct(task);
}

/* ---- coming and going ---- */

/* Is all of it mapped, for what the GPU may do to it? What hmm_range_fault() would find out */
static int check_range(unsigned long addr, unsigned long end, vm_flags_t need)
{
	struct vm_area_struct *vma;
	int r = 0;

	mmap_read_lock(current->mm);
	while (!r && addr < end) {
		vma = vma_lookup(current->mm, addr);
		if (!vma)
			r = -EFAULT;
		else if (!(vma->vm_flags & need))
			r = -EPERM;
		else
			addr = vma->vm_end;
	}
	mmap_read_unlock(current->mm);
	return r;
}

/**
 * sim_user_init - a buffer becomes a userptr of the current process
 * @m: the buffer, attached to its process; info.lock held
 * @addr: where
 *
 * Return: 0, or an error after which sim_user_fini() is due
 */
int sim_user_init(struct sim_mem *m, u64 addr)
{
	struct sim_bo *s = to_sbo(m->m.bo);
	struct sim_user *u = kzalloc(sizeof(*u), GFP_KERNEL);
	int r;

	lockdep_assert_held(&m->info->info.lock);
	if (!u)
		return -ENOMEM;
	u->s = s;
	u->m = m;
	u->addr = addr;
	u->npages = s->size >> PAGE_SHIFT;
	u->lazy = s->size > EAGER_SIZE;
	INIT_WORK(&u->fill, fill_work);
	s->user = u;
	u->pages = kvcalloc(u->npages, sizeof(*u->pages), GFP_KERNEL);
	if (!u->pages)
		return -ENOMEM;
	r = mmu_interval_notifier_insert(&u->mn, current->mm, addr, s->size, &notifier_ops);
	if (r)
		return r;
	u->registered = true;
	r = u->lazy ? check_range(addr, addr + s->size, writable(u) ? VM_WRITE : VM_READ) :
		      find(u, 0, u->npages);
	if (r) {
		pr_debug("Failed %d to get user pages\n", r);
		return r;
	}
	mutex_lock(&m->info->notifier_lock);
	/* invalidated since: the restore worker sees to it, it waits for info.lock */
	if (!m->info->invalidated)
		smp_store_release(&u->valid, true);
	mutex_unlock(&m->info->notifier_lock);
	return 0;
}

/**
 * sim_user_fini - end of the notifications; the buffer is not mapped to any GPU
 * @s: the buffer, off the list of its process; info.lock not held
 */
void sim_user_fini(struct sim_bo *s)
{
	struct sim_user *u = s->user;

	if (!u)
		return;
	WRITE_ONCE(u->valid, false);
	sim_vm_sync();		/* nobody asks for pages any more */
	cancel_work_sync(&u->fill);
	if (u->registered)
		mmu_interval_notifier_remove(&u->mn);
	u->registered = false;
}

/**
 * sim_user_free - the buffer is freed
 * @s: the buffer
 */
void sim_user_free(struct sim_bo *s)
{
	struct sim_user *u = s->user;
	unsigned long i;

	WARN_ON(u->registered);
	for (i = 0; u->pages && i < u->npages; i++)
		set_page(u, i, NULL);
	kvfree(u->pages);
	kfree(u);
	s->user = NULL;
}
