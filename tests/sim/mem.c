// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdsim: GART, doorbell pages, global wave sync */
#include "sim.h"
#include "amdgpu_object.h"
#include <linux/rbtree.h>
#include <linux/seq_file.h>
#include <drm/drm_drv.h>
#include <drm/drm_managed.h>

struct sim_gart {
	struct rb_node node;
	u64 addr;
	size_t size;
	void *kptr;
};

/* ---- GART: addresses of what the kernel shares with the firmware ---- */

static bool gart_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sim_gart, node)->addr < rb_entry(b, struct sim_gart, node)->addr;
}

static int gart_cmp(const void *addr, const struct rb_node *node)
{
	const struct sim_gart *e = rb_entry(node, struct sim_gart, node);
	u64 a = *(const u64 *)addr;

	return a < e->addr ? -1 : a >= e->addr + e->size;
}

/* The entry that has all of a range: every queue has one, and each runlist asks for every queue */
static struct sim_gart *gart_find(struct sim_gpu *g, u64 addr, size_t len)
{
	struct rb_node *node = rb_find(&addr, &g->gart, gart_cmp);
	struct sim_gart *e = rb_entry_safe(node, struct sim_gart, node);

	lockdep_assert_held(&g->gart_lock);
	return e && len <= e->addr + e->size - addr ? e : NULL;
}

/**
 * sim_gart_bind - give memory of the kernel an address that the firmware can use
 * @g: the GPU
 * @kptr: the memory
 * @size: bytes
 *
 * Return: the address, 0: no memory
 */
u64 sim_gart_bind(struct sim_gpu *g, void *kptr, size_t size)
{
	struct sim_gart *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (!e)
		return 0;
	e->size = PAGE_ALIGN(size);
	e->kptr = kptr;
	spin_lock(&g->gart_lock);
	e->addr = g->gart_next;
	g->gart_next += e->size + PAGE_SIZE;	/* guard page */
	rb_add(&e->node, &g->gart, gart_less);
	spin_unlock(&g->gart_lock);
	return e->addr;
}

/**
 * sim_gart_unbind - take the address away again
 * @g: the GPU
 * @addr: the address
 */
void sim_gart_unbind(struct sim_gpu *g, u64 addr)
{
	struct sim_gart *e;

	spin_lock(&g->gart_lock);
	e = gart_find(g, addr, 0);
	if (e && e->addr != addr)
		e = NULL;
	if (e)
		rb_erase(&e->node, &g->gart);
	spin_unlock(&g->gart_lock);
	WARN_ONCE(!e, "kfdsim: GART address %#llx was not bound\n", addr);
	kfree(e);
}

/**
 * sim_gart_ptr - kernel address of a GART range
 * @g: the GPU
 * @addr: GART address
 * @len: bytes that must be there
 *
 * Return: NULL when the range is not bound. Valid as long as the owner keeps it.
 */
void *sim_gart_ptr(struct sim_gpu *g, u64 addr, size_t len)
{
	struct sim_gart *e;
	void *p;

	spin_lock(&g->gart_lock);
	e = gart_find(g, addr, len);
	p = e ? e->kptr + (addr - e->addr) : NULL;
	spin_unlock(&g->gart_lock);
	return p;
}

/**
 * sim_gart_write - write to a GART range if it is still bound
 * @g: the GPU
 * @addr: GART address
 * @data: what to write
 * @len: bytes
 *
 * For late answers of the firmware: the owner may have given up and freed the memory.
 */
bool sim_gart_write(struct sim_gpu *g, u64 addr, const void *data, size_t len)
{
	struct sim_gart *e;

	spin_lock(&g->gart_lock);
	e = gart_find(g, addr, len);
	if (e)
		memcpy(e->kptr + (addr - e->addr), data, len);
	spin_unlock(&g->gart_lock);
	return e;
}

/**
 * sim_gart_change - change a GART range in place if it is still bound
 * @g: the GPU
 * @addr: GART address
 * @len: bytes
 * @change: called with the kernel address of the range, under a spinlock
 * @arg: its other argument
 *
 * As sim_gart_write(), for what is written to many places of it.
 */
bool sim_gart_change(struct sim_gpu *g, u64 addr, size_t len, void (*change)(void *p, void *arg), void *arg)
{
	struct sim_gart *e;

	spin_lock(&g->gart_lock);
	e = gart_find(g, addr, len);
	if (e)
		change(e->kptr + (addr - e->addr), arg);
	spin_unlock(&g->gart_lock);
	return e;
}

/* ---- doorbells ---- */

/**
 * sim_doorbell_bo - pages of the doorbell BAR
 * @g: the GPU
 * @size: bytes
 * @cpu_ptr: set to where they are mapped, may be NULL
 *
 * They read ~0, which means "not rung"; the firmware takes a ring out with xchg().
 * Return: NULL: none left
 */
struct sim_bo *sim_doorbell_bo(struct sim_gpu *g, size_t size, void **cpu_ptr)
{
	struct sim_bo *s;
	unsigned long p;

	if (sim_fault(g, SIM_FAULT_ALLOC_DOORBELL))
		return NULL;
	s = sim_bo_new(g, SIM_BO_NONE, size);
	if (!s)
		return NULL;
	mutex_lock(&g->db_lock);
	/* aligned: a queue error is reported with the doorbell's index modulo the size of a slice */
	p = bitmap_find_next_zero_area(g->db_pages, g->db_npages, 0, s->size >> PAGE_SHIFT,
				       roundup_pow_of_two(s->size >> PAGE_SHIFT) - 1);
	if (p < g->db_npages) {
		bitmap_set(g->db_pages, p, s->size >> PAGE_SHIFT);
		s->kind = SIM_BO_DOORBELL;
		s->db_first = p;
	}
	mutex_unlock(&g->db_lock);
	if (s->kind != SIM_BO_DOORBELL) {
		dev_err(g->adev.dev, "kfdsim: no doorbell pages left of %u\n", g->db_npages);
		sim_bo_put(s);
		return NULL;
	}
	memset_io((void __iomem *)g->db + p * PAGE_SIZE, 0xff, s->size);
	if (cpu_ptr)
		*cpu_ptr = (__force void *)g->db + p * PAGE_SIZE;
	return s;
}

uint32_t amdgpu_doorbell_index_on_bar(struct amdgpu_device *adev, struct amdgpu_bo *db_bo,
				      uint32_t idx, uint32_t db_size)
{
	return to_sbo(db_bo)->db_first * (PAGE_SIZE / 4) + idx * DIV_ROUND_UP(db_size, 4);
}

/* ---- global wave sync: what is shared is the hardware's; a token stands for it ---- */

int amdgpu_amdkfd_alloc_gws(struct amdgpu_device *adev, size_t size, void **mem_obj)
{
	struct sim_bo *s = sim_bo_new(to_sim(adev), SIM_BO_NONE, PAGE_SIZE);

	if (!s)
		return -ENOMEM;
	*mem_obj = &s->bo;
	return 0;
}

void amdgpu_amdkfd_free_gws(struct amdgpu_device *adev, void *mem_obj)
{
	struct amdgpu_bo *bo = mem_obj;

	amdgpu_bo_unref(&bo);
}

int amdgpu_amdkfd_add_gws_to_process(void *info, void *gws, struct kgd_mem **mem)
{
	struct kgd_mem *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	mutex_init(&m->lock);
	m->bo = amdgpu_bo_ref(gws);
	*mem = m;
	return 0;
}

int amdgpu_amdkfd_remove_gws_from_process(void *info, void *mem)
{
	struct kgd_mem *m = mem;

	amdgpu_bo_unref(&m->bo);
	mutex_destroy(&m->lock);
	kfree(m);
	return 0;
}

/**
 * sim_mem_init - before anything of amdkfd runs on this GPU
 * @g: the GPU
 */
int sim_mem_init(struct sim_gpu *g)
{
	spin_lock_init(&g->gart_lock);
	g->gart = RB_ROOT;
	g->gart_next = 0x7fff00000000ULL;
	mutex_init(&g->db_lock);
	spin_lock_init(&g->adev.mman.bdev.lru_lock);
	sim_place_init(g);
	g->db = devm_ioremap(&g->pdev->dev, g->adev.doorbell.base, g->adev.doorbell.size);
	if (g->db)
		memset_io(g->db, 0xff, g->adev.doorbell.size);	/* nothing is rung */
	g->db_npages = g->adev.doorbell.size >> PAGE_SHIFT;
	g->db_pages = drmm_kcalloc(&g->adev.ddev, BITS_TO_LONGS(g->db_npages),
				   sizeof(long), GFP_KERNEL);
	if (!g->db || !g->db_pages)
		return -ENOMEM;
	return sim_vm_add_gpu(g);
}

/**
 * sim_mem_fini - after amdkfd is gone
 * @g: the GPU
 */
void sim_mem_fini(struct sim_gpu *g)
{
	long pages = atomic_long_read(&g->ram_pages);

	WARN(!list_empty(&g->vms), "kfdsim: VMs left\n");
	WARN(atomic_long_read(&g->user_pages), "kfdsim: %ld pages of userptrs left\n",
	     atomic_long_read(&g->user_pages));
	if (pages && pages == g->left_by_stock) {
		dev_info(g->adev.dev, "kfdsim: %ld pages left by a fault of stock amdkfd\n", pages);
		return;
	}
	WARN(!RB_EMPTY_ROOT(&g->gart), "kfdsim: GART entries left\n");
	WARN(pages, "kfdsim: %ld pages left\n", pages);
	WARN(g->limit_used || sim_placed(g, SIM_VRAM) || sim_placed(g, SIM_GTT) ||
	     sim_placed(g, SIM_SYSTEM), "kfdsim: VRAM %lld, %lld promised; GTT %lld, system %lld bytes left\n",
	     sim_placed(g, SIM_VRAM), g->limit_used, sim_placed(g, SIM_GTT),
	     sim_placed(g, SIM_SYSTEM));
}

/**
 * sim_mem_counters - lines of debugfs counters
 * @g: the GPU
 * @m: where to
 */
void sim_mem_counters(struct sim_gpu *g, struct seq_file *m)
{
	struct sim_place_stats st;
	u64 placed[SIM_PLACES], pressure;

	spin_lock(&g->place_lock);
	memcpy(placed, g->placed, sizeof(placed));
	pressure = g->pressure;
	st = g->stats;
	spin_unlock(&g->place_lock);
	seq_printf(m, "ram_pages %ld\nvram_bytes %llu\ngtt_bytes %llu\nsystem_bytes %llu\n",
		   atomic_long_read(&g->ram_pages), placed[SIM_VRAM], placed[SIM_GTT],
		   placed[SIM_SYSTEM]);
	seq_printf(m, "vram_pressure %llu\nevictions %llu\nrestores %llu\n", pressure,
		   st.evictions, st.restores);
	seq_printf(m, "restored_processes %llu\nrestored_to_gtt %llu\nrestore_failures %llu\n",
		   st.restored, st.restored_gtt, st.failed);
	seq_printf(m, "userptr_pages %ld\nuserptr_invalidations %lld\nuserptr_restores %lld\n",
		   atomic_long_read(&g->user_pages), atomic64_read(&g->notified),
		   atomic64_read(&g->user_restores));
	seq_printf(m, "mapped_freed %lld\nmapped_moved %lld\n", atomic64_read(&g->mapped_freed),
		   atomic64_read(&g->mapped_moved));
}
