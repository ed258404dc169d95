// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the module, its PCI and DRM shell.
 *
 * A QEMU ivshmem-plain device (1af4:1110, BAR 2 = RAM for doorbells) becomes a GPU of
 * the profile named by the module parameter gpu=. The module is called amdgpu because
 * user space looks for that name; MODULE_INFO "simulated" and the log tell it apart.
 */
#include "hws.h"
#include "kfd_priv.h"
#include "kfd_topology.h"
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sort.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

static char *gpu = "mi210";
module_param(gpu, charp, 0444);
MODULE_PARM_DESC(gpu, "profiles of the simulated GPUs, in order of PCI address, separated by commas; the last one holds for the rest");

static bool virtual_function;
module_param(virtual_function, bool, 0444);
MODULE_PARM_DESC(virtual_function, "the GPUs are SR-IOV virtual functions, as far as amdkfd asks");

static uint as_gfx1151;
module_param(as_gfx1151, uint, 0444);
MODULE_PARM_DESC(as_gfx1151, "KFD's topology says that the GPUs are gfx1151: 1 with the save area of Linux 6.18, 2 with the one before, which is too small");

/* As amdgpu's own */
static int num_kcq = -1;
module_param(num_kcq, int, 0444);
MODULE_PARM_DESC(num_kcq, "compute queues that the kernel keeps for itself, 0 to 8; other values: those of the profile (8; 4 on Navi48)");

u32 sim_kernel_queues(const struct sim_profile *p)
{
	return num_kcq < 0 || num_kcq > 8 ? p->kernel_queues : num_kcq;
}

#define MAX_GPUS	16

static unsigned int num_gpus;

/* The last file on it was closed; it may have been removed long ago */
static void sim_release(struct drm_device *dev)
{
	struct sim_gpu *g = to_sim(drm_to_adev(dev));

	if (g->db_pages)	/* sim_mem_init() was there */
		sim_mem_fini(g);
}

static struct drm_driver sim_drm = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER,
	.open = sim_drm_open,
	.postclose = sim_drm_postclose,
	.release = sim_release,
	.fops = &sim_drm_fops,
	.ioctls = sim_ioctls,
	.name = "amdgpu",
	.desc = "simulated AMD GPU (kfdsim)",
	SIM_DRM_DATE
	.major = 3,
	.minor = 59,
};

/* The profile of the GPU number @index in the list of names; NULL if it is unknown */
static const struct sim_profile *nth_profile(unsigned int index)
{
	const char *s = gpu, *e;

	for (;;) {
		e = strchrnul(s, ',');
		if (!index-- || !*e)
			return sim_profile_find(s, e - s);
		s = e + 1;
	}
}

static int check_profiles(void)
{
	const struct sim_profile *p;
	const char *s = gpu, *e, *why;

	for (;; s = e + 1) {
		e = strchrnul(s, ',');
		p = sim_profile_find(s, e - s);
		if (!p) {
			pr_err("kfdsim: unknown GPU profile \"%.*s\" in gpu=%s; known: %s\n",
			       (int)(e - s), s, gpu, sim_profile_names());
			return -EINVAL;
		}
		why = sim_compat_refuses(p);
		if (why) {
			pr_err("kfdsim: GPU profile \"%s\": %s\n", p->name, why);
			return -EOPNOTSUPP;
		}
		if (!*e)
			return 0;
	}
}

/*
 * Active CUs: those of an XCC spread over its shader arrays, the first ones get what is left
 * over. The layout of the bitmap for more than four shader engines is gfx_v9_0.c's and
 * gfx_v11_0.c's: SE 4 follows the arrays of SE 0 in the same row.
 */
static void fill_cu_bitmap(struct amdgpu_cu_info *cu, const struct sim_profile *p)
{
	u32 arrays = p->num_se * p->sa_per_se, xcc, n, se, sa, cus;

	for (xcc = 0; xcc < p->num_xcc; xcc++)
		for (n = 0; n < arrays; n++) {
			se = n % p->num_se;
			sa = n / p->num_se;
			cus = p->cu_per_xcc / arrays + (n < p->cu_per_xcc % arrays);
			SIM_CU_BITMAP(cu, xcc)[se % 4][sa + se / 4 * p->sa_per_se] = (1u << cus) - 1;
		}
}

static void fill_gfx(struct amdgpu_device *adev, const struct sim_profile *p)
{
	struct amdgpu_gfx_config *c = &adev->gfx.config;
	struct amdgpu_cu_info *cu = &adev->gfx.cu_info;
	u32 i;

	SIM_NEWER(&adev->gfx, xcc_mask) = (1u << p->num_xcc) - 1;
	SIM_NEWER(&adev->gfx, num_xcc_per_xcp) = p->num_xcc;	/* SPX: all of them one partition */
	adev->gfx.mec.num_mec = 1;
	adev->gfx.mec.num_pipe_per_mec = p->pipes;
	adev->gfx.mec.num_queue_per_pipe = p->queues_per_pipe;
	/* the kernel's, spread over the pipes as by amdgpu_gfx_compute_queue_acquire() */
	for (i = 0; i < sim_kernel_queues(p); i++)
		set_bit(i % p->pipes * p->queues_per_pipe + i / p->pipes,
			SIM_MEC_BITMAP(&adev->gfx, 0));
	c->max_shader_engines = p->num_se;
	c->max_sh_per_se = p->sa_per_se;
	c->max_cu_per_sh = p->cu_per_sa_max;
	c->max_tile_pipes = 16;
	SIM_NEWER(c, gc_tcp_size_per_cu) = p->l1_kb;
	c->gc_tcp_l1_size = p->l1_kb;
	c->gc_num_tcp_per_wpg = 2;
	c->gc_l1_instruction_cache_size_per_sqc = p->l1i_kb;
	c->gc_l1_data_cache_size_per_sqc = p->l1s_kb;
	SIM_NEWER(c, gc_num_cu_per_sqc) = p->cu_per_sqc;	/* 0: kfd_fill_cache_non_crat_info() never ends */
	c->gc_num_sqc_per_wgp = 1;
	c->gc_gl1c_per_sa = 1;
	c->gc_gl1c_size_per_instance = p->gl1_kb;
	SIM_NEWER(c, gc_tcc_size) = p->l2_kb;
	c->gc_gl2c_per_gpu = p->l2_kb;
	adev->gmc.mall_size = (u64)p->mall_mb << 20;
	cu->number = sim_num_cu(p);
	cu->simd_per_cu = p->simd_per_cu;
	cu->max_waves_per_simd = p->waves_per_simd;
	cu->wave_front_size = p->wave_size;
	cu->max_scratch_slots_per_cu = p->scratch_slots;
	cu->lds_size = p->lds_kb;
	fill_cu_bitmap(cu, p);
}

static int fill_adev(struct sim_gpu *g)
{
	struct amdgpu_device *adev = &g->adev;
	const struct sim_profile *p = g->prof;
	int i, r;

	adev->dev = &g->pdev->dev;
	adev->pdev = g->pdev;
	adev->asic_type = p->asic_type;
	adev->rev_id = p->rev_id;
	adev->ip_versions[GC_HWIP][0] = p->gc;
	adev->ip_versions[SDMA0_HWIP][0] = p->sdma;
	adev->sdma.num_instances = p->num_sdma;
	r = sim_compat_set_funcs(adev);
	if (r)
		return r;
	fill_gfx(adev, p);
	adev->gds.gws_size = 64;
	adev->gmc.real_vram_size = sim_vram_size(g);
	adev->gmc.visible_vram_size = adev->gmc.real_vram_size;
	adev->gmc.noretry = 1;
	adev->gmc.xgmi.supported = p->xgmi;
	adev->enable_mes = p->mes;
	if (virtual_function)
		adev->virt.caps |= AMDGPU_SRIOV_CAPS_IS_VF;
	adev->vm_manager.max_pfn = 1ULL << 36;
	adev->vm_manager.first_kfd_vmid = p->first_kfd_vmid;
	adev->unique_id = 0x5349e00000000000ULL | pci_dev_id(g->pdev);
	for (i = 0; i < p->num_sdma; i++)
		adev->doorbell_index.sdma_engine[i] = p->sdma_doorbell + i * p->sdma_doorbells;
	adev->doorbell_index.first_non_cp = p->sdma_doorbell;
	adev->doorbell_index.last_non_cp = p->last_non_cp;
	adev->doorbell.base = pci_resource_start(g->pdev, 2);
	adev->doorbell.size = pci_resource_len(g->pdev, 2);
	g->reset_why = SIM_RESET_HANG;
	INIT_WORK(&adev->kfd.reset_work, sim_reset_work);
	adev->reset_domain = devm_kzalloc(adev->dev, sizeof(*adev->reset_domain), GFP_KERNEL);
	if (!adev->reset_domain)
		return -ENOMEM;
	kref_init(&adev->reset_domain->refcount);
	init_rwsem(&adev->reset_domain->sem);
	adev->reset_domain->wq = alloc_ordered_workqueue("kfdsim-reset/%u", 0, g->index);
	return adev->reset_domain->wq ? 0 : -ENOMEM;
}

/* For those who ask the topology; KFD goes on to drive the GPU of the profile */
static void sim_topology_gfx1151(struct amdgpu_device *adev)
{
#ifdef SIM_KFD_SAVE_AREA
	struct kfd_topology_device *t = kfd_topology_device_by_id(SIM_KFD_GPU_ID(adev->kfd.dev));
	u32 cus;

	if (!t)
		return;
	cus = t->node_props.simd_count / t->node_props.simd_per_cu;
	t->node_props.gfx_target_version = 110501;
	/* 384 KiB of VGPRs in a compute unit, or 256; and what is beside them */
	t->node_props.cwsr_size = cus * ((as_gfx1151 == 2 ? 0x40000 : 0x60000) + 0x15000);
#endif
}

/* What amdgpu_amdkfd_device_init() passes */
static bool start_kfd(struct sim_gpu *g)
{
	struct amdgpu_device *adev = &g->adev;
	struct kgd2kfd_shared_resources res = {
		.compute_vmid_bitmap = 0x10000 - (1u << g->prof->first_kfd_vmid),
		.num_pipe_per_mec = adev->gfx.mec.num_pipe_per_mec,
		.num_queue_per_pipe = adev->gfx.mec.num_queue_per_pipe,
		.gpuvm_size = min(adev->vm_manager.max_pfn << AMDGPU_GPU_PAGE_SHIFT,
				  AMDGPU_GMC_HOLE_START),
		.drm_render_minor = adev->ddev.render->index,
		.sdma_doorbell_idx = adev->doorbell_index.sdma_engine,
		.non_cp_doorbells_start = adev->doorbell_index.first_non_cp,
		.non_cp_doorbells_end = adev->doorbell_index.last_non_cp,
		.doorbell_physical_address = adev->doorbell.base,
		.doorbell_aperture_size = adev->doorbell.size,
		.doorbell_start_offset = PAGE_SIZE,
		.enable_mes = adev->enable_mes,
	};

	bitmap_set(res.cp_queue_bitmap, 0, g->prof->pipes * g->prof->queues_per_pipe);
	bitmap_andnot(res.cp_queue_bitmap, res.cp_queue_bitmap,
		      SIM_MEC_BITMAP(&adev->gfx, 0), AMDGPU_MAX_QUEUES);
	adev->kfd.dev = kgd2kfd_probe(adev, false);
	if (!adev->kfd.dev)
		return false;
	sim_svm_init(g);
	sim_hws_irq_enable(g, true);
	adev->kfd.init_complete = !sim_fault(g, SIM_FAULT_DEVICE_INIT) &&
				  kgd2kfd_device_init(adev->kfd.dev, &res);
	if (adev->kfd.init_complete && as_gfx1151)
		sim_topology_gfx1151(adev);
	return adev->kfd.init_complete;
}

static const struct pci_device_id sim_ids[] = {
	{ PCI_DEVICE(0x1af4, 0x1110) },		/* QEMU ivshmem-plain */
	{}
};

/*
 * Numbers by PCI address as found at load: a GPU that is removed and found again is the
 * same, wherever it then is in the kernel's list. Probing and removal are serial.
 */
static u32 seats[MAX_GPUS];

static int cmp_seat(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 : 1;
}

static unsigned int seat(struct pci_dev *pdev)
{
	unsigned int i;

	for (i = 0; i < MAX_GPUS && seats[i] && seats[i] != pci_dev_id(pdev); i++)
		;
	if (i < MAX_GPUS)
		seats[i] = pci_dev_id(pdev);
	return i;
}

static void find_seats(void)
{
	struct pci_dev *pdev = NULL;
	unsigned int n = 0;

	while ((pdev = pci_get_device(sim_ids[0].vendor, sim_ids[0].device, pdev)))
		if (n < MAX_GPUS)
			seats[n++] = pci_dev_id(pdev);
	sort(seats, n, sizeof(seats[0]), cmp_seat, NULL);
}

static int sim_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct sim_gpu *g;
	int r;

	r = pcim_enable_device(pdev);
	if (r)
		return r;
	if (pci_resource_len(pdev, 2) < SZ_1M) {
		dev_err(&pdev->dev, "kfdsim: BAR 2 (doorbells) is smaller than 1 MiB\n");
		return -ENODEV;
	}
	g = devm_drm_dev_alloc(&pdev->dev, &sim_drm, struct sim_gpu, adev.ddev);
	if (IS_ERR(g))
		return PTR_ERR(g);
	g->pdev = pdev;
	g->index = seat(pdev);
	if (g->index == MAX_GPUS)
		return -ENOSPC;
	g->prof = nth_profile(g->index);
	sim_fault_init(g);
	pci_set_drvdata(pdev, g);
	r = fill_adev(g);
	if (r)
		goto err_wq;
	r = sim_mem_init(g);
	if (r)
		goto err_wq;
	r = sim_hws_init(g);
	if (r)
		goto err_wq;
	/* amdkfd and libhsakmt look at the IDs in struct pci_dev only */
	g->real_vendor = pdev->vendor;
	g->real_device = pdev->device;
	pdev->vendor = PCI_VENDOR_ID_ATI;
	pdev->device = g->prof->device_id;
	r = drm_dev_register(&g->adev.ddev, 0);
	if (r)
		goto err_ids;
	dev_info(&pdev->dev, "simulated GPU (kfdsim): not hardware. %s, %u CUs in %u XCC%s, renderD%d\n",
		 g->prof->marketing, sim_num_cu(g->prof),
		 g->prof->num_xcc, g->prof->num_xcc > 1 ? "s" : "", g->adev.ddev.render->index);
	if (!start_kfd(g))	/* amdgpu goes on, too */
		dev_err(&pdev->dev, "kfdsim: amdkfd refuses the device: a GPU without compute\n");
	sim_debugfs_init(g);
	num_gpus++;
	return 0;

err_ids:
	pdev->vendor = g->real_vendor;
	pdev->device = g->real_device;
	sim_hws_fini(g);
err_wq:
	if (g->adev.reset_domain && g->adev.reset_domain->wq)
		destroy_workqueue(g->adev.reset_domain->wq);
	return r;
}

/* rmmod, or the user's wish: echo 1 >/sys/bus/pci/devices/<address>/remove */
static void sim_remove(struct pci_dev *pdev)
{
	struct sim_gpu *g = pci_get_drvdata(pdev);

	sim_debugfs_fini(g);
	drm_dev_unplug(&g->adev.ddev);
	sim_kfd_stop(g);
	sim_hws_fini(g);
	destroy_workqueue(g->adev.reset_domain->wq);
	pdev->vendor = g->real_vendor;
	pdev->device = g->real_device;
}

static struct pci_driver sim_pci = {
	.name = "kfdsim",
	.id_table = sim_ids,
	.probe = sim_probe,
	.remove = sim_remove,
	.driver.suppress_bind_attrs = true,	/* unbinding: by removal of the device only */
};

static int __init sim_init(void)
{
	int r = check_profiles();

	if (!r)
		r = sim_fault_check_param();
	if (r)
		return r;
	sim_drm.num_ioctls = sim_num_ioctls;
	find_seats();
	r = kgd2kfd_init();
	if (r)
		return r;
	r = pci_register_driver(&sim_pci);
	if (r)
		goto err_kfd;
	if (!num_gpus)
		pr_warn("kfdsim: no ivshmem-plain device: no simulated GPU\n");
	return 0;

err_kfd:
	kgd2kfd_exit();
	return r;
}

static void __exit sim_exit(void)
{
	pci_unregister_driver(&sim_pci);
	kgd2kfd_exit();
}

module_init(sim_init);
module_exit(sim_exit);

MODULE_LICENSE("GPL and additional rights");
MODULE_DESCRIPTION("the real amdkfd on a simulated GPU (kfdsim): a test double, not a driver");
MODULE_INFO(simulated, "Y");
SIM_IMPORT_NS(DMA_BUF);
