// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: what amdgpu does between amdkfd and MES: amdgpu_mes.c, mes_v11_0.c, mes_v12_0.c. The
 * firmware is in fw_mes.c, which says under which locks all this is called.
 */
#include "mes.h"
#include <linux/module.h>

static uint mes_timeout_ms = 2100;
module_param(mes_timeout_ms, uint, 0644);
MODULE_PARM_DESC(mes_timeout_ms, "how long the driver waits for an answer of MES (mes_v11_0.c: 2100 ms)");

/* API 14 can set the debugger's trap flag, firmware 0x63 suspend all gangs; otherwise a guess */
#define MES_SCHED_VERSION	(14 << AMDGPU_MES_API_VERSION_SHIFT | 0x6f)

static int submit(struct amdgpu_mes *mes, struct sim_mes_cmd *c)
{
	struct sim_hws *h = to_sim(mes->adev)->hws;
	bool answered;

	lockdep_assert_held(&mes->mutex_hidden);
	init_completion(&c->done);
	mutex_lock(&h->lock);
	h->mes_cmd = c;
	mutex_unlock(&h->lock);
	sim_hws_wake(h);
	wait_for_completion_timeout(&c->done, msecs_to_jiffies(READ_ONCE(mes_timeout_ms)));
	mutex_lock(&h->lock);
	answered = h->mes_cmd != c;
	if (!answered)
		h->mes_cmd = NULL;
	mutex_unlock(&h->lock);
	if (answered && !c->ret)
		return 0;
	dev_err(mes->adev->dev, "MES failed to respond to msg=%s\n", sim_mes_op_names[c->op]);
	return -ETIMEDOUT;
}

static int mes_add(struct amdgpu_mes *mes, struct mes_add_queue_input *in)
{
	struct sim_mes_cmd c = { .op = MES_ADD, .add = in };

	sim_submit_log(to_sim(mes->adev)->hws, 'A', rdtsc_ordered());
	return submit(mes, &c);
}

static int mes_remove(struct amdgpu_mes *mes, struct mes_remove_queue_input *in)
{
	struct sim_mes_cmd c = { .op = MES_REMOVE, .remove = in };

	sim_submit_log(to_sim(mes->adev)->hws, 'U', rdtsc_ordered());
	return submit(mes, &c);
}

static int mes_suspend(struct amdgpu_mes *mes, struct mes_suspend_gang_input *in)
{
	struct sim_mes_cmd c = { .op = MES_SUSPEND, .suspend = in };

	sim_submit_log(to_sim(mes->adev)->hws, 'U', rdtsc_ordered());
	return submit(mes, &c);
}

static int mes_resume(struct amdgpu_mes *mes, struct mes_resume_gang_input *in)
{
	struct sim_mes_cmd c = { .op = MES_RESUME, .resume = in };

	return submit(mes, &c);
}

static int mes_misc(struct amdgpu_mes *mes, struct mes_misc_op_input *in)
{
	struct sim_mes_cmd c = { .op = MES_MISC, .misc = in };

	return submit(mes, &c);
}

static const struct amdgpu_mes_funcs mes_funcs = {
	.add_hw_queue = mes_add,
	.remove_hw_queue = mes_remove,
	.suspend_gang = mes_suspend,
	.resume_gang = mes_resume,
	.misc_op = mes_misc,
};

/**
 * sim_mes_init - what amdgpu_mes_init() leaves for amdkfd
 * @g: the GPU, without amdkfd yet
 */
void sim_mes_init(struct sim_gpu *g)
{
	struct amdgpu_mes *mes = &g->adev.mes;

	mes->adev = &g->adev;
	mutex_init(&mes->mutex_hidden);
	mes->sched_version = MES_SCHED_VERSION;
	mes->funcs = &mes_funcs;
}

/**
 * sim_mes_fini - amdkfd is gone
 * @g: the GPU
 */
void sim_mes_fini(struct sim_gpu *g)
{
	mutex_destroy(&g->adev.mes.mutex_hidden);
}

/**
 * sim_mes_gangs - suspend or resume gangs, as amdgpu_mes_suspend() and _resume() do, on any MES
 * @g: the GPU
 * @which: "all", or the doorbell of a queue in dwords, as in debugfs state
 * @resume: resume them
 *
 * Return: -ENOENT if there is no such queue, or the driver's error
 */
int sim_mes_gangs(struct sim_gpu *g, const char *which, bool resume)
{
	struct mes_suspend_gang_input s = { .suspend_all_gangs = !strcmp(which, "all") };
	struct mes_resume_gang_input r = { .resume_all_gangs = s.suspend_all_gangs };
	struct amdgpu_mes *mes = &g->adev.mes;
	struct eng_queue *q;
	struct eng_proc *p;
	u32 doorbell;
	int ret = 0;

	if (!g->prof->mes)
		return -EOPNOTSUPP;
	if (!s.suspend_all_gangs) {
		ret = kstrtou32(which, 0, &doorbell);
		if (ret)
			return ret;
		mutex_lock(&g->hws->lock);
		for (p = g->hws->eng.procs; p; p = p->next)
			for (q = p->queues; q; q = q->next)
				if (to_sq(q)->doorbell == doorbell)
					s.gang_context_addr = to_sq(q)->gang;
		mutex_unlock(&g->hws->lock);
		if (!s.gang_context_addr)
			return -ENOENT;
		r.gang_context_addr = s.gang_context_addr;
	}
	if (!down_read_trylock(&g->adev.reset_domain->sem))
		return -EBUSY;
	amdgpu_mes_lock(mes);
	ret = resume ? mes_resume(mes, &r) : mes_suspend(mes, &s);
	amdgpu_mes_unlock(mes);
	up_read(&g->adev.reset_domain->sem);
	return ret;
}

/* ---- what amdkfd calls of amdgpu_mes.c ---- */

int amdgpu_mes_doorbell_process_slice(struct amdgpu_device *adev)
{
	return roundup(1024 * 8, PAGE_SIZE);	/* as amdgpu: 1024 doorbells of 8 bytes */
}

/* GFX 11 with firmware 0x63, since 7.x GFX 12; otherwise amdgpu does nothing and says it has */
bool amdgpu_mes_suspend_resume_all_supported(struct amdgpu_device *adev)
{
	u32 gc = to_sim(adev)->prof->gc;

	if (gc >= IP_VERSION(12, 0, 0))
		return SIM_MES_SUSPEND_12;
	return gc >= IP_VERSION(11, 0, 0) &&
	       (adev->mes.sched_version & AMDGPU_MES_VERSION_MASK) >= 0x63;
}

int amdgpu_mes_suspend(struct amdgpu_device *adev)
{
	struct mes_suspend_gang_input in = { .suspend_all_gangs = 1 };
	int r;

	if (!amdgpu_mes_suspend_resume_all_supported(adev))
		return 0;
	amdgpu_mes_lock(&adev->mes);
	r = adev->mes.funcs->suspend_gang(&adev->mes, &in);
	amdgpu_mes_unlock(&adev->mes);
	return r;
}

int amdgpu_mes_resume(struct amdgpu_device *adev)
{
	struct mes_resume_gang_input in = { .resume_all_gangs = 1 };
	int r;

	if (!amdgpu_mes_suspend_resume_all_supported(adev))
		return 0;
	amdgpu_mes_lock(&adev->mes);
	r = adev->mes.funcs->resume_gang(&adev->mes, &in);
	amdgpu_mes_unlock(&adev->mes);
	return r;
}

#if SIM_DEBUGGER
static int set_shader_debugger(struct amdgpu_device *adev, struct mes_misc_op_input *in)
{
	int r;

	in->op = MES_MISC_OP_SET_SHADER_DEBUGGER;
	amdgpu_mes_lock(&adev->mes);
	r = adev->mes.funcs->misc_op(&adev->mes, in);
	amdgpu_mes_unlock(&adev->mes);
	return r;
}

int amdgpu_mes_flush_shader_debugger(struct amdgpu_device *adev, uint64_t process_context_addr)
{
	struct mes_misc_op_input in = {
		.set_shader_debugger.process_context_addr = process_context_addr,
		.set_shader_debugger.flags.process_ctx_flush = 1,
	};

	return set_shader_debugger(adev, &in);
}

int amdgpu_mes_set_shader_debugger(struct amdgpu_device *adev, uint64_t process_context_addr,
				   uint32_t spi_gdbg_per_vmid_cntl, const uint32_t *tcp_watch_cntl,
				   uint32_t flags, bool trap_en)
{
	struct mes_misc_op_input in = {
		.set_shader_debugger.process_context_addr = process_context_addr,
		.set_shader_debugger.flags.u32all = flags,
		.set_shader_debugger.spi_gdbg_per_vmid_cntl = spi_gdbg_per_vmid_cntl,
		.set_shader_debugger.trap_en = trap_en,
	};

	if (in.set_shader_debugger.flags.process_ctx_flush)
		return -EINVAL;
	memcpy(in.set_shader_debugger.tcp_watch_cntl, tcp_watch_cntl,
	       sizeof(in.set_shader_debugger.tcp_watch_cntl));
	return set_shader_debugger(adev, &in);
}
#endif
