// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the scheduler firmware: its constants, what others ask of it. Its thread is in thread.c.
 */
#include "hws.h"
#include "execute.h"
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>

static uint slots = 1;
module_param(slots, uint, 0644);
MODULE_PARM_DESC(slots, "dispatches that run at once; 1: each owns the whole GPU");

static uint hqds;
module_param(hqds, uint, 0644);
MODULE_PARM_DESC(hqds, "hardware queue slots, 0: the profile's (24: 4 pipes x 8 queues less the kernel's 8)");

static uint process_quantum_us = 10000;
module_param(process_quantum_us, uint, 0644);
MODULE_PARM_DESC(process_quantum_us, "time slice of a process when there are more of them than VMIDs (MAP_PROCESS: 10 ms)");

static uint gang_quantum_us = 1000;
module_param(gang_quantum_us, uint, 0644);
MODULE_PARM_DESC(gang_quantum_us, "time slice of a queue when there are more of them than HQDs, and length of a turn among equals (MES: 1 ms)");

static uint save_us = SIM_SAVE_US;
module_param(save_us, uint, 0644);
MODULE_PARM_DESC(save_us, "fixed time to save a queue with a dispatch in flight (CWSR)");

static uint restore_us = SIM_RESTORE_US;
module_param(restore_us, uint, 0644);
MODULE_PARM_DESC(restore_us, "fixed time to restore it");

static uint save_gbs;
module_param(save_gbs, uint, 0644);
MODULE_PARM_DESC(save_gbs, "rate at which wave state is saved and restored, GB/s, 0: a full GPU in the measured median");

static bool save_peak;
module_param(save_peak, bool, 0644);
MODULE_PARM_DESC(save_peak, "with save_gbs 0: at the profile's peak memory bandwidth, faster than any GPU that was measured");

static uint unmap_us = 5;
module_param(unmap_us, uint, 0644);
MODULE_PARM_DESC(unmap_us, "fixed time of an UNMAP_QUEUES, or of MES's REMOVE_QUEUE and SUSPEND, even with nothing in flight");

static uint sch_wave = SIM_IQ_WAIT_TIME2_RESET >> SIM_SCH_WAVE_SHIFT & 0xff;
module_param(sch_wave, uint, 0444);
MODULE_PARM_DESC(sch_wave, "HWS: grace period before CWSR until it is set, units of 1000 cycles, 0 to 255; 0: there is none");

static uint occupancy_us = 20;
module_param(occupancy_us, uint, 0644);
MODULE_PARM_DESC(occupancy_us, "time that counting waves in flight takes, us: some hundred register reads (a guess)");

static bool mes_level_preempt;
module_param(mes_level_preempt, bool, 0644);
MODULE_PARM_DESC(mes_level_preempt, "MES: a higher priority level takes a queue slot or VMID from a lower one at once, not when its quantum ends");

static bool plain_turns;
module_param(plain_turns, bool, 0644);
MODULE_PARM_DESC(plain_turns, "among queues of equal priority, turns go round; otherwise to whoever has used the least GPU time");

static bool interleave;
module_param(interleave, bool, 0444);
MODULE_PARM_DESC(interleave, "dispatches of several queues share the GPU, pipe_slots of each pipe; otherwise as slots says");

static uint pipe_slots = 1;
module_param(pipe_slots, uint, 0644);
MODULE_PARM_DESC(pipe_slots, "with interleave, dispatches of a pipe that run at once (a guess)");

#define SIM_PIPE_SLOTS_MAX	1024u

/* State of an XCC that is full of waves; as eng_work.live_bytes */
static u64 full_bytes(const struct sim_profile *p)
{
	return p->cu_per_xcc * p->ctx_bytes_per_cu;
}

/* The rate at which an XCC saves and restores: its share, as all do so at once (xcc.c) */
static u64 save_bytes_per_us(const struct sim_profile *p)
{
	u32 gbs = READ_ONCE(save_gbs);

	if (!gbs && !READ_ONCE(save_peak))
		return full_bytes(p) / (SIM_SAVE_FULL_US - SIM_SAVE_US);
	return (gbs ? : p->mem_bw_gbs) * 1000ULL / p->num_xcc;
}

/**
 * sim_hws_config - the module's parameters, which may have changed
 * @h: the firmware, its lock held or not visible yet
 */
void sim_hws_config(struct sim_hws *h)
{
	struct eng_config *c = &h->eng.cfg;

	c->interleave = interleave;
	c->pipes = interleave ? h->g->prof->pipes : 0;
	c->pipe_slots = clamp(READ_ONCE(pipe_slots), 1u, SIM_PIPE_SLOTS_MAX);
	c->slots = interleave ? c->pipes * c->pipe_slots : max(READ_ONCE(slots), 1u);
	c->full_bytes = full_bytes(h->g->prof);
	c->hqds = READ_ONCE(hqds) ? : sim_hqds(h->g->prof);
	c->process_quantum_ns = max(READ_ONCE(process_quantum_us), 100u) * 1000ULL;
	c->gang_quantum_ns = max(READ_ONCE(gang_quantum_us), 100u) * 1000ULL;
	c->save_ns = READ_ONCE(save_us) * 1000ULL;
	c->restore_ns = READ_ONCE(restore_us) * 1000ULL;
	c->level_preempt = READ_ONCE(mes_level_preempt);
	c->plain_turns = READ_ONCE(plain_turns);
	c->bytes_per_us = save_bytes_per_us(h->g->prof);
}

/**
 * sim_unmap_ns - fixed time of taking queues off
 */
u64 sim_unmap_ns(void)
{
	return READ_ONCE(unmap_us) * 1000ULL;
}

/**
 * sim_wait_time2 - CP_IQ_WAIT_TIME2 after a reset
 */
u32 sim_wait_time2(void)
{
	return (SIM_IQ_WAIT_TIME2_RESET & ~SIM_SCH_WAVE_MASK) |
	       (sch_wave << SIM_SCH_WAVE_SHIFT & SIM_SCH_WAVE_MASK);
}

/**
 * sim_proc_pid - whose is it?
 * @h: the firmware, sim_gpu.vm_lock held
 * @p: a process of the runlist
 *
 * Return: PID in the initial namespace, 0 if it is gone
 */
pid_t sim_proc_pid(struct sim_hws *h, const struct sim_proc *p)
{
	struct sim_vm *vm = sim_vm_by_pd(h->g, p->pd);

	return vm && vm->fpriv.vm.process_info ? pid_nr(vm->fpriv.vm.process_info->pid) : 0;
}

/**
 * sim_hws_wake - make the firmware look around now
 * @h: the firmware
 */
void sim_hws_wake(struct sim_hws *h)
{
	WRITE_ONCE(h->kick, 1);
	wake_up_process(h->thread);
}

/**
 * sim_hws_quiet - amdkfd makes a packet that sets a register: nobody waits for it
 * @adev: the device
 *
 * The firmware takes it with the next packet. To wake for it would take the VM's CPU from the driver, which
 * goes on to that packet; a GPU does not.
 */
void sim_hws_quiet(struct amdgpu_device *adev)
{
	struct sim_hws *h = to_sim(adev)->hws;

	if (h)
		WRITE_ONCE(h->quiet, 1);
}

/**
 * sim_hws_kick - amdkfd is about to ring the HIQ, or waits for a fence
 * @g: the GPU
 *
 * Process context. While an unmap is under way the firmware wakes by itself, but must know that there
 * will be a ring: the unmap may be over before, and no queue is left that would keep the thread awake.
 */
void sim_hws_kick(struct sim_gpu *g)
{
	struct sim_hws *h = g->hws;

	if (h && xchg(&h->quiet, 0))
		return;
	if (h && READ_ONCE(h->hiq) && READ_ONCE(*((u32 __force *)g->db + h->hiq_db)) != ~0U)
		WRITE_ONCE(h->hiq_behind, 1);
	if (h && !READ_ONCE(h->hiq_rung)) {
		WRITE_ONCE(h->hiq_rung, rdtsc_ordered());
		WRITE_ONCE(h->hiq_rung_ns, ktime_get_ns());
	}
	if (h && !READ_ONCE(h->hiq_dead) && !xchg(&h->urgent, 1))
		sched_set_fifo(h->thread);
	if (!h || READ_ONCE(h->hiq_dead) || READ_ONCE(h->kick))
		return;
	if (READ_ONCE(h->hiq_stalled)) {
		WRITE_ONCE(h->kick, 1);
		/* in this order: the unmap is over either before it is looked at, or after the firmware sees the kick */
		smp_mb();
		if (READ_ONCE(h->hiq_stalled))
			return;
	}
	h->n_kick++;
	sim_hws_wake(h);
}

/**
 * sim_hws_load_hiq - amdkfd has put the HIQ of an XCC on its HQD
 * @g: the GPU
 * @mqd: its MQD
 * @doorbell_off: index of its doorbell, dwords; the same for all XCCs
 * @xcc: the XCC
 *
 * The firmware of all XCCs together is one here: it reads the first XCC's ring, and begins when
 * every XCC has its HIQ.
 */
void sim_hws_load_hiq(struct sim_gpu *g, void *mqd, u32 doorbell_off, u32 xcc)
{
	struct sim_hws *h = g->hws;

	mutex_lock(&h->lock);
	if (!xcc) {
		h->hiq_mqd = mqd;
		h->hiq_db = doorbell_off;
		h->hiq_rptr = 0;
		h->hiq_wptr = 0;
		writeq(~0ULL, (u64 __iomem *)((u32 __iomem *)g->db + doorbell_off));
	}
	h->hiq_xccs |= 1u << xcc;
	h->hiq = h->hiq_xccs == (1u << g->prof->num_xcc) - 1 ? h->hiq_mqd : NULL;
	mutex_unlock(&h->lock);
	if (!SIM_HIQ_KICK)
		sim_hws_wake(h);
}

/**
 * sim_hws_unload_hiq - amdkfd takes the HIQ of an XCC off
 * @g: the GPU
 * @xcc: the XCC
 */
void sim_hws_unload_hiq(struct sim_gpu *g, u32 xcc)
{
	mutex_lock(&g->hws->lock);
	g->hws->hiq = NULL;
	g->hws->hiq_xccs &= ~(1u << xcc);
	mutex_unlock(&g->hws->lock);
}

/**
 * sim_hws_reset - the GPU is reset: everything in flight is lost, faults are over
 * @g: the GPU
 */
void sim_hws_reset(struct sim_gpu *g)
{
	struct sim_hws *h = g->hws;

	mutex_lock(&h->lock);
	h->hiq = NULL;
	h->hiq_xccs = 0;
	sim_mes_abort(h);
	sim_hws_drop(h, NULL, false);
	h->unmap_only = NULL;
	h->drain_until = 0;
	h->eng.drain = false;
	h->wait_time2 = sim_wait_time2();
	WRITE_ONCE(h->hiq_stalled, false);
	WRITE_ONCE(h->hiq_dead, false);
	sim_fault_clear(g, SIM_FAULT_HANG);
	mutex_unlock(&h->lock);
	/* it may have slept until an unmap ends that never does, and whoever kicked it meanwhile did not wake it */
	sim_hws_wake(h);
}

/**
 * sim_hws_occupancy_cost - waves in flight are counted: charge and count the call
 * @h: the firmware
 *
 * The real driver holds mutexes and reads registers meanwhile: the CPU is busy.
 */
void sim_hws_occupancy_cost(struct sim_hws *h)
{
	u64 us = min(READ_ONCE(occupancy_us), 100000u);

	atomic64_inc(&h->n_occupancy);
	for (; us > 1000; us -= 1000)
		mdelay(1);
	udelay(us);
}

/**
 * sim_share_waves - waves that a dispatch has on a GPU, or an XCC, that others may share
 * @h: the firmware, its lock held
 * @w: the dispatch; it runs
 * @waves: that it has there when it is alone
 * @room: that there is for waves
 */
u32 sim_share_waves(const struct sim_hws *h, const struct eng_work *w, u64 waves, u64 room)
{
	/* what has begun is seen: KFD takes 0 for nothing in flight */
	return waves ? max_t(u64, eng_share_part(&h->eng, w, waves, room), 1) : 0;
}

/**
 * sim_hws_occupancy - waves in flight, for kfd2kgd_calls.get_cu_occupancy
 * @g: the GPU
 * @xcc: on which XCC
 * @occ: array of AMDGPU_MAX_QUEUES, zeroed
 * @max_waves_per_cu: set
 */
void sim_hws_occupancy(struct sim_gpu *g, u32 xcc, struct kfd_cu_occupancy *occ,
		       int *max_waves_per_cu)
{
	struct sim_hws *h = g->hws;
	struct eng_queue *q;
	struct eng_proc *p;
	int n = 0;

	sim_hws_occupancy_cost(h);
	mutex_lock(&h->lock);
	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q && n < AMDGPU_MAX_QUEUES; q = q->next, n++) {
			occ[n].doorbell_off = to_sq(q)->doorbell;
			occ[n].wave_cnt = sim_xcc_occupancy(h, to_sq(q), xcc);
		}
	mutex_unlock(&h->lock);
	*max_waves_per_cu = sim_waves_per_cu(g->prof);
}

/**
 * sim_hws_init - start the firmware
 * @g: the GPU
 */
int sim_hws_init(struct sim_gpu *g)
{
	struct eng_config cfg = { .slots = 1, .hqds = 1, .vmids = sim_vmids(g->prof) };
	struct sim_hws *h = kvzalloc(sizeof(*h), GFP_KERNEL);
	int r;

	if (!h)
		return -ENOMEM;
	h->g = g;
	mutex_init(&h->lock);
	mutex_init(&h->irq_lock);
	INIT_LIST_HEAD(&h->exec.programs);
	eng_init(&h->eng, &cfg, &sim_queue_ops, h, ktime_get_ns());
	h->wait_time2 = sim_wait_time2();
	h->events_left = U32_MAX;
	sim_hws_config(h);
	h->thread = kthread_create(sim_hws_thread, h, "kfdsim-hws/%u", g->index);
	if (IS_ERR(h->thread)) {
		r = PTR_ERR(h->thread);
		kvfree(h);
		return r;
	}
	g->hws = h;
	if (g->prof->mes)
		sim_mes_init(g);
	wake_up_process(h->thread);
	return 0;
}

/**
 * sim_hws_fini - stop the firmware; amdkfd is gone
 * @g: the GPU
 */
void sim_hws_fini(struct sim_gpu *g)
{
	struct sim_hws *h = g->hws;

	kthread_stop(h->thread);
	if (g->prof->mes)
		sim_mes_fini(g);
	g->hws = NULL;
	sim_hws_drop(h, NULL, false);
	sim_exec_fini(h);
	mutex_destroy(&h->lock);
	mutex_destroy(&h->irq_lock);
	kvfree(h);
}
