// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: VRAM, and what happens when it is short.
 *
 * A buffer is in one place; only the accounting moves, its pages stay. What does not fit into
 * VRAM pushes out the buffers that were put there longest ago, but for those of the process
 * that asks (as amdgpu_ttm_bo_eviction_valuable()) and those that somebody holds. A buffer
 * leaves when all its fences have signaled, and asking an eviction fence for that makes the
 * real amdkfd take the process's queues off the GPU. Its restore worker comes here again
 * (amdgpu_amdkfd_gpuvm_restore_process_bos()): the buffers are put back, or what does not fit
 * to GTT, and get a new fence. Without room there either it is told -ENOMEM and tries later.
 *
 * Other users of VRAM: buffers of DRM clients (gem.c), which no fence holds, so that anybody may push them
 * out; and one number, debugfs vram_pressure: not evicted. Neither is counted in KFD's limits.
 */
#include "sim.h"
#include <linux/debugfs.h>
#include <linux/module.h>
#include <drm/drm_gem.h>

static uint move_gbs = 25;
module_param(move_gbs, uint, 0644);
MODULE_PARM_DESC(move_gbs, "rate at which evicted buffers move, GB/s, 0: at once (order of PCIe 4.0 x16)");

/* More than it takes amdkfd to find out that queues do not leave (9 s), and to reset */
#define EVICT_TIMEOUT	(20 * HZ)
#define BUSY_TRIES	100		/* times 10 ms, while others hold all there is */

static DEFINE_MUTEX(restore_mutex);
static DEFINE_MUTEX(pressure_mutex);	/* who writes vram_pressure; outside all others */
static DECLARE_WAIT_QUEUE_HEAD(hold_wait);

/**
 * sim_place_init - an empty VRAM
 * @g: the GPU
 */
void sim_place_init(struct sim_gpu *g)
{
	spin_lock_init(&g->place_lock);
	INIT_LIST_HEAD(&g->lru);
}

/**
 * sim_placed - bytes in a place
 * @g: the GPU
 * @where: the place
 */
u64 sim_placed(struct sim_gpu *g, enum sim_place where)
{
	u64 n;

	spin_lock(&g->place_lock);
	n = g->placed[where];
	spin_unlock(&g->place_lock);
	return n;
}

static bool fits(struct sim_gpu *g, enum sim_place where, u64 size)
{
	lockdep_assert_held(&g->place_lock);
	switch (where) {
	case SIM_VRAM:
		return g->placed[SIM_VRAM] + g->pressure + size <= g->adev.gmc.real_vram_size;
	case SIM_GTT:
		return g->placed[SIM_GTT] + size <= sim_gtt_size();
	default:
		return true;
	}
}

static void set_place(struct sim_gpu *g, struct sim_bo *s, enum sim_place where)
{
	lockdep_assert_held(&g->place_lock);
	if (s->place != SIM_NOWHERE)
		g->placed[s->place] -= s->size;
	list_del_init(&s->lru);
	s->place = where;
	if (where != SIM_NOWHERE)
		g->placed[where] += s->size;
	if (where == SIM_VRAM)
		list_add_tail(&s->lru, &g->lru);
}

/**
 * sim_place_free - the buffer is freed
 * @s: the buffer
 */
void sim_place_free(struct sim_bo *s)
{
	struct sim_gpu *g = sim_bo_gpu(s);

	spin_lock(&g->place_lock);
	WARN_ON(s->hold);
	set_place(g, s, SIM_NOWHERE);
	spin_unlock(&g->place_lock);
}

/**
 * sim_place_pin - the kernel uses the buffer through GART: it goes to GTT and stays there
 * @s: the buffer
 */
void sim_place_pin(struct sim_bo *s)
{
	struct sim_gpu *g = sim_bo_gpu(s);

	spin_lock(&g->place_lock);
	if (s->place == SIM_VRAM)
		set_place(g, s, SIM_GTT);
	s->pinned = true;
	spin_unlock(&g->place_lock);
}

/* ---- eviction ---- */

static bool used_by(struct sim_bo *s, const struct sim_info *info)
{
	struct sim_mem *m;

	list_for_each_entry(m, &s->mems, bo_link)
		if (m->info == info)
			return true;
	return false;
}

/* The buffer to go next, with a reference and held by @g. @busy: others hold some */
static struct sim_bo *pick_victim(struct sim_gpu *g, const struct sim_info *info, bool *busy)
{
	struct sim_bo *s;

	lockdep_assert_held(&g->place_lock);
	*busy = false;
	list_for_each_entry(s, &g->lru, lru) {
		if (s->pinned || (info && used_by(s, info)))
			continue;
		if (s->hold) {
			*busy = true;
			continue;
		}
		if (!kref_get_unless_zero(&s->bo.tbo.base.refcount))
			continue;	/* about to be freed */
		s->hold = g;
		return s;
	}
	return NULL;
}

static void let_go(struct sim_bo *s, const void *holder)
{
	struct sim_gpu *g = sim_bo_gpu(s);

	spin_lock(&g->place_lock);
	if (s->hold == holder)
		s->hold = NULL;
	spin_unlock(&g->place_lock);
	wake_up_all(&hold_wait);
}

static void move_time(u64 bytes)
{
	u32 gbs = READ_ONCE(move_gbs);

	if (gbs)
		fsleep(div_u64(bytes, gbs * 1000));
}

/* Waits for all fences of a buffer; that makes eviction fences evict. No wait: they must be */
static int wait_fences(struct sim_bo *s, bool wait)
{
	struct dma_resv *resv = s->bo.tbo.base.resv;
	struct dma_fence **f;
	unsigned int i, n;
	int r;

	dma_resv_lock(resv, NULL);
	r = dma_resv_get_fences(resv, DMA_RESV_USAGE_BOOKKEEP, &n, &f);
	dma_resv_unlock(resv);
	if (r)
		return r;
	for (i = 0; i < n; i++) {
		if (!r && !dma_fence_is_signaled(f[i]) &&
		    (!wait || dma_fence_wait_timeout(f[i], false, EVICT_TIMEOUT) <= 0))
			r = -EBUSY;
		dma_fence_put(f[i]);
	}
	kfree(f);
	return r;
}

/* Its processes were evicted: are their queues off? They may be gone meanwhile, and are only compared */
static void check_mapped(struct sim_gpu *g, struct sim_bo *s)
{
	const struct sim_info *infos[4];
	struct sim_mem *m;
	int i, n = 0;

	spin_lock(&g->place_lock);
	list_for_each_entry(m, &s->mems, bo_link)
		if (m->info && n < ARRAY_SIZE(infos))
			infos[n++] = m->info;
	spin_unlock(&g->place_lock);
	for (i = 0; i < n; i++)
		sim_mapped_move(g, &infos[i]->info);
}

/* Moves a buffer that pick_victim() returned out of VRAM and drops it */
static int evict(struct sim_gpu *g, struct sim_bo *s, bool wait)
{
	int r = wait_fences(s, wait);

	if (r)
		dev_dbg(g->adev.dev, "kfdsim: eviction of %zu bytes failed: %d\n", s->size, r);
	else
		check_mapped(g, s);
	if (!r)
		move_time(s->size);
	spin_lock(&g->place_lock);
	if (!r && s->place == SIM_VRAM && !s->pinned) {
		set_place(g, s, fits(g, SIM_GTT, s->size) ? SIM_GTT : SIM_SYSTEM);
		g->stats.evictions++;
	}
	spin_unlock(&g->place_lock);
	let_go(s, g);
	sim_bo_put(s);
	return r;
}

static bool in_reset(struct sim_gpu *g)
{
	return atomic_read(&g->adev.reset_domain->in_gpu_reset);
}

/* Makes room in VRAM. Return: 0 or -ENOMEM, with place_lock held in any case */
static int make_room(struct sim_gpu *g, u64 size, const struct sim_info *info, bool wait)
	__acquires(&g->place_lock)
{
	struct sim_bo *s;
	bool busy = false;
	int tries = 0, r = 0;

	spin_lock(&g->place_lock);
	while (!r && !fits(g, SIM_VRAM, size)) {
		s = NULL;
		if (wait && in_reset(g))
			busy = true;	/* amdkfd can evict nobody meanwhile */
		else if (size <= g->adev.gmc.real_vram_size)
			s = pick_victim(g, info, &busy);
		spin_unlock(&g->place_lock);
		if (s ? evict(g, s, wait) : !busy || !wait || ++tries > BUSY_TRIES)
			r = -ENOMEM;
		else if (!s)
			msleep(10);
		spin_lock(&g->place_lock);
	}
	return r;
}

/**
 * sim_place - find memory for a buffer
 * @s: the buffer
 * @where: SIM_VRAM or SIM_GTT
 * @info: the process that wants it; its own buffers are not evicted
 * @wait: may wait for other processes to be evicted; else only what needs no waiting goes
 *
 * Return: 0 or -ENOMEM
 */
int sim_place(struct sim_bo *s, enum sim_place where, const struct sim_info *info, bool wait)
{
	struct sim_gpu *g = sim_bo_gpu(s);
	int r = 0;

	if (where == SIM_VRAM) {
		r = make_room(g, s->size, info, wait);
	} else {
		spin_lock(&g->place_lock);
		if (!fits(g, where, s->size))
			r = -ENOMEM;
	}
	if (!r)
		set_place(g, s, where);
	spin_unlock(&g->place_lock);
	return r;
}

static bool hold(struct sim_bo *s, const void *holder)
{
	struct sim_gpu *g = sim_bo_gpu(s);
	bool ok;

	spin_lock(&g->place_lock);
	ok = !s->hold || s->hold == holder;
	if (ok)
		s->hold = holder;
	spin_unlock(&g->place_lock);
	return ok;
}

/**
 * sim_place_share - a device that cannot reach VRAM will use the buffer: it goes to GTT for good
 * @s: the buffer
 *
 * Its processes are evicted for the move, the caller's too; no lock may be held that their
 * eviction needs. Return: 0 or -EBUSY
 */
int sim_place_share(struct sim_bo *s)
{
	int r = 0;

	if (READ_ONCE(s->place) != SIM_VRAM)
		goto pin;
	wait_event(hold_wait, hold(s, s));
	r = wait_fences(s, true);
	if (!r)
		move_time(s->size);
	let_go(s, s);
pin:
	if (!r)
		sim_place_pin(s);
	return r;
}

/* ---- eviction fences ---- */

/**
 * sim_bo_fence - a buffer cannot move before its process is evicted
 * @s: the buffer
 * @info: the process; info.lock held
 */
int sim_bo_fence(struct sim_bo *s, struct sim_info *info)
{
	struct dma_resv *resv = s->bo.tbo.base.resv;
	int r;

	lockdep_assert_held(&info->info.lock);
	dma_resv_lock(resv, NULL);
	r = dma_resv_reserve_fences(resv, 1);
	if (!r)
		dma_resv_add_fence(resv, &info->info.eviction_fence->base, DMA_RESV_USAGE_BOOKKEEP);
	dma_resv_unlock(resv);
	return r;
}

/**
 * sim_bo_unfence - a process does not use the buffer any more
 * @s: the buffer
 * @info: the process; info.lock held
 */
void sim_bo_unfence(struct sim_bo *s, struct sim_info *info)
{
	struct dma_fence *stub = dma_fence_get_stub();

	lockdep_assert_held(&info->info.lock);
	dma_resv_lock(s->bo.tbo.base.resv, NULL);
	dma_resv_replace_fences(s->bo.tbo.base.resv, info->info.eviction_fence->base.context,
				stub, DMA_RESV_USAGE_BOOKKEEP);
	dma_resv_unlock(s->bo.tbo.base.resv);
	dma_fence_put(stub);
}

/* ---- restore ---- */

static int put_back(struct sim_bo *s, const struct sim_info *info)
{
	struct sim_gpu *g = sim_bo_gpu(s);
	bool wait = !in_reset(g);
	enum sim_place was = s->place;

	if (!(s->bo.preferred_domains & AMDGPU_GEM_DOMAIN_VRAM) || was == SIM_VRAM || s->pinned)
		return 0;
	if (!sim_place(s, SIM_VRAM, info, wait)) {
		move_time(s->size);
		spin_lock(&g->place_lock);
		g->stats.restores++;
		spin_unlock(&g->place_lock);
		return 0;
	}
	if (was != SIM_GTT && sim_place(s, SIM_GTT, info, wait))
		return -ENOMEM;
	spin_lock(&g->place_lock);
	g->stats.restored_gtt++;
	spin_unlock(&g->place_lock);
	return 0;
}

/**
 * sim_place_all - put buffers of a DRM client where they are preferred, for a submission
 * @s: the buffers
 * @n: how many
 *
 * Evicts who is in the way. Return: 0, -EINTR, or -ENOMEM: not even outside VRAM
 */
int sim_place_all(struct sim_bo **s, u32 n)
{
	u32 i;
	int r;

	r = mutex_lock_interruptible(&restore_mutex);
	if (r)
		return r;
	for (i = 0; i < n; i++)
		wait_event(hold_wait, hold(s[i], s));
	for (i = 0; i < n && !r; i++)
		r = put_back(s[i], NULL);
	for (i = 0; i < n; i++)
		let_go(s[i], s);
	mutex_unlock(&restore_mutex);
	return r;
}

/* The old fence may be unsignaled after a reset: it stays. info.lock held */
static int renew_fence(struct sim_info *info, struct dma_fence __rcu **ef)
{
	struct amdgpu_amdkfd_fence *old = info->info.eviction_fence, *new;

	if (!dma_fence_is_signaled(&old->base))
		return 0;
	new = SIM_FENCE_CREATE(old->base.context, old->mm, SIM_INFO_CONTEXT(&info->info));
	if (!new)
		return -ENOMEM;
	spin_lock(&info->ef_lock);
	info->info.eviction_fence = new;
	spin_unlock(&info->ef_lock);
	dma_fence_put(&old->base);
	dma_fence_put(rcu_replace_pointer(*ef, dma_fence_get(&new->base), true));
	return 0;
}

int amdgpu_amdkfd_gpuvm_restore_process_bos(void *process_info, struct dma_fence __rcu **ef)
{
	struct sim_info *info = to_sinfo(process_info);
	struct sim_gpu *g = NULL;
	struct sim_mem *m;
	int r = 0;

	mutex_lock(&info->info.lock);
	mutex_lock(&restore_mutex);	/* only one at a time holds more than one buffer */
	list_for_each_entry(m, &info->mems, link) {
		wait_event(hold_wait, hold(to_sbo(m->m.bo), info));
		g = sim_bo_gpu(to_sbo(m->m.bo));
	}
	list_for_each_entry(m, &info->mems, link) {
		r = put_back(to_sbo(m->m.bo), info);
		if (r)
			goto out;
	}
	r = renew_fence(info, ef);
	if (r)
		goto out;
	list_for_each_entry(m, &info->mems, link) {
		if (to_sbo(m->m.bo)->pinned)
			continue;
		r = sim_bo_fence(to_sbo(m->m.bo), info);
		if (r)
			goto out;	/* the queues stay off; the next attempt adds the rest */
	}
out:
	list_for_each_entry(m, &info->mems, link)
		let_go(to_sbo(m->m.bo), info);
	mutex_unlock(&restore_mutex);
	if (g) {
		spin_lock(&g->place_lock);
		g->stats.restored += !r;
		g->stats.failed += !!r;
		spin_unlock(&g->place_lock);
	}
	mutex_unlock(&info->info.lock);
	if (r)
		pr_debug("Memory eviction: Validate BOs failed. Try again\n");
	return r;
}

/* ---- debugfs ---- */

static int pressure_get(void *data, u64 *val)
{
	struct sim_gpu *g = data;

	spin_lock(&g->place_lock);
	*val = g->pressure;
	spin_unlock(&g->place_lock);
	return 0;
}

static int pressure_set(void *data, u64 val)
{
	struct sim_gpu *g = data;
	int r;

	r = mutex_lock_interruptible(&pressure_mutex);
	if (r)
		return r;
	spin_lock(&g->place_lock);
	if (val > g->pressure) {
		u64 more = val - g->pressure;

		spin_unlock(&g->place_lock);
		r = make_room(g, more, NULL, true);
	}
	if (!r)
		g->pressure = val;
	spin_unlock(&g->place_lock);
	mutex_unlock(&pressure_mutex);
	return r;
}
DEFINE_DEBUGFS_ATTRIBUTE(pressure_fops, pressure_get, pressure_set, "%llu\n");

/**
 * sim_mem_debugfs - the files of this file
 * @g: the GPU, with its directory
 */
void sim_mem_debugfs(struct sim_gpu *g)
{
	debugfs_create_file_unsafe("vram_pressure", 0644, g->dbg, g, &pressure_fops);
}
