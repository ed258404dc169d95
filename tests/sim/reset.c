// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: GPU reset, after a hang or on request (debugfs).
 */
#include "hws.h"
#include "kfd_priv.h"
#include <linux/delay.h>
#include <linux/module.h>

static uint reset_delay_ms;
module_param(reset_delay_ms, uint, 0644);
MODULE_PARM_DESC(reset_delay_ms, "how long after it was asked for a reset begins; meanwhile queues run (a guess)");

/*
 * The amdgpu of 7.x takes the mapped doorbells of all processes away before it resets a GPU, that of 6.x leaves them. Here
 * it is done on request, on any kernel. Stock amdkfd of 6.x has nothing to take them away with.
 */
static void take_doorbells(struct sim_gpu *g)
{
	struct kfd_dev *kfd = g->adev.kfd.dev;

	if (!kfd || !sim_fault(g, SIM_FAULT_DOORBELLS))
		return;
#ifdef KFD_PRIO_HOOKS_H_INCLUDED	/* not in stock amdkfd */
	kfd_prio_hook_unmap_range(KFD_MMAP_TYPE_DOORBELL | KFD_MMAP_GPU_ID(SIM_KFD_GPU_ID(kfd)),
				  kfd_doorbell_process_slice(kfd));
#endif
}

/**
 * sim_reset_work - what amdgpu_device_gpu_recover() does around amdkfd, same lock order
 * @work: amdgpu_kfd_dev.reset_work
 */
void sim_reset_work(struct work_struct *work)
{
	struct amdgpu_device *adev = container_of(work, struct amdgpu_device, kfd.reset_work);
	struct amdgpu_reset_context rc = {
		.method = AMD_RESET_METHOD_MODE2,
		.reset_req_dev = adev,
		SIM_RESET_SRC(HWS)
	};
	struct sim_gpu *g = to_sim(adev);
	int r = 0;

	if (READ_ONCE(reset_delay_ms))
		msleep(READ_ONCE(reset_delay_ms));
	dev_info(adev->dev, "kfdsim: GPU reset begin: %s\n", g->reset_why);
	atomic_set(&adev->reset_domain->in_gpu_reset, 1);
	down_write(&adev->reset_domain->sem);
	take_doorbells(g);
	if (adev->kfd.dev)
		kgd2kfd_pre_reset(adev->kfd.dev, &rc);
	sim_hws_reset(g);
	if (adev->kfd.dev)
		r = kgd2kfd_post_reset(adev->kfd.dev);
	atomic_set(&adev->reset_domain->in_gpu_reset, 0);
	up_write(&adev->reset_domain->sem);
	atomic64_inc(&g->n_reset);
	if (r)
		dev_err(adev->dev, "kfdsim: GPU reset failed: %d\n", r);
	else
		dev_info(adev->dev, "kfdsim: GPU reset end\n");
	g->reset_why = SIM_RESET_HANG;
}

void amdgpu_amdkfd_gpu_reset(struct amdgpu_device *adev)
{
	if (!READ_ONCE(to_sim(adev)->leaving))
		amdgpu_reset_domain_schedule(adev->reset_domain, &adev->kfd.reset_work);
}

/**
 * sim_reset_request - reset the GPU because the user wants it, and wait for the end
 * @g: the GPU
 */
void sim_reset_request(struct sim_gpu *g)
{
	WRITE_ONCE(g->reset_why, "user trigger");
	amdgpu_amdkfd_gpu_reset(&g->adev);
	flush_work(&g->adev.kfd.reset_work);
}

/**
 * sim_sleep - suspend to RAM and resume, what amdgpu does of them around amdkfd
 * @g: the GPU
 * @down: suspend; else resume
 *
 * User space is not frozen meanwhile: it may ring and call.
 *
 * Return: 0, -EALREADY, or what kgd2kfd_resume() returned
 */
int sim_sleep(struct sim_gpu *g, bool down)
{
	if (xchg(&g->asleep, down) == down)
		return -EALREADY;
	if (!down)
		return kgd2kfd_resume(g->adev.kfd.dev, SIM_KFD_SUSPEND_ALL);
	kgd2kfd_suspend(g->adev.kfd.dev, SIM_KFD_SUSPEND_ALL);
	return 0;
}

/* for KFD's SMI event */
void amdgpu_reset_get_desc(struct amdgpu_reset_context *rst_ctxt, char *buf, size_t len)
{
	strscpy(buf, to_sim(rst_ctxt->reset_req_dev)->reset_why, len);
}
