// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the thread that is the scheduler firmware; what others ask of it.
 *
 * When it wakes: at the engine's next event; every poll_us while queues are mapped and
 * something happened lately, every poll_idle_us while they are idle (doorbells are RAM
 * and cannot wake anybody); when amdkfd is about to ring the HIQ. With no queue in the
 * runlist it sleeps.
 *
 * Whom it takes the CPU from: everybody, when the HIQ is rung and until an unmap is answered:
 * amdkfd waits in a loop. Else only what has no real-time priority: the model's time of what
 * happens is exact whenever this thread comes to it, and a restore that ends costs a GPU's host
 * nothing, while with 20 queues this thread looks around for 20 to 40 us. What is measured at a
 * real-time priority must not wait for that.
 */
#include "hws.h"
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

static uint poll_us = 50;
module_param(poll_us, uint, 0644);
MODULE_PARM_DESC(poll_us, "interval at which doorbells of mapped queues are looked at, us");

static uint poll_idle_us = 100;
module_param(poll_idle_us, uint, 0644);
MODULE_PARM_DESC(poll_idle_us, "the same once nothing has run for 20 ms, us");

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
MODULE_PARM_DESC(interleave, "dispatches of several queues share the GPU, one of each pipe; otherwise as slots says");

#define IDLE_AFTER_NS	(20 * NSEC_PER_MSEC)
/* Where nobody tells that the HIQ is rung: how often it is looked at without any queue */
#define HIQ_POLL_IDLE_US	1000
/*
 * The kick comes before the ring, and the firmware may have taken the CPU of whoever is
 * about to ring: look again after 10 us, then twice as long each time, for a second.
 */
#define HIQ_EXPECT_NS	NSEC_PER_SEC
#define HIQ_RETRY_NS	(10 * NSEC_PER_USEC)
#define HIQ_RETRY_MAX	NSEC_PER_MSEC

/*
 * What the model may do at once. Between two chunks of events the thread looks whether the HIQ was rung; what
 * it has not done after all of them, it cannot do as fast as time passes: the GPU stands still
 * until now, and the model's time is late. An unmap waits for less: the driver spins.
 */
#define CHUNK_EVENTS		256
#define STEP_EVENTS		4096

/* The rate at which an XCC saves and restores: its share, as all do so at once (xcc.c) */
static u64 save_bytes_per_us(const struct sim_profile *p)
{
	u32 gbs = READ_ONCE(save_gbs);

	if (!gbs && !READ_ONCE(save_peak))
		return p->cu_per_xcc * p->ctx_bytes_per_cu / (SIM_SAVE_FULL_US - SIM_SAVE_US);
	return (gbs ? : p->mem_bw_gbs) * 1000ULL / p->num_xcc;
}

static void read_config(struct sim_hws *h)
{
	struct eng_config *c = &h->eng.cfg;

	c->interleave = interleave;
	c->pipes = interleave ? h->g->prof->pipes : 0;
	c->slots = interleave ? c->pipes : max(READ_ONCE(slots), 1u);
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

/* ---- the thread ---- */

/* The model cannot follow: nothing happens until @now, and ends as much later */
static void stall(struct sim_hws *h, u64 now)
{
	u64 d = now > h->eng.now ? now - h->eng.now : 0;

	eng_stall(&h->eng, now);
	if (h->drain_until)
		h->drain_until += d;
	if (h->hiq_stalled && h->unmap_until != ENG_NEVER)
		h->unmap_until += d;
}

/* Up to @now, in @events events at most. Return: when the next one is, not after @now if some are left */
static u64 follow(struct sim_hws *h, u64 now, u32 events)
{
	u64 next;

	h->events_left = events;
	next = eng_advance(&h->eng, now);
	h->events_left = U32_MAX;
	return next;
}

/* Was the HIQ rung, or somebody about to? */
static bool hiq_waits(struct sim_hws *h)
{
	return h->hiq && !h->hiq_stalled && READ_ONCE(h->hiq_rung);
}

/* Was it rung? */
static bool hiq_is_rung(struct sim_hws *h)
{
	return h->hiq && !h->hiq_stalled &&
	       READ_ONCE(*((u64 __force *)((u32 __force *)h->g->db + h->hiq_db))) != ~0ULL;
}

/* As follow(), in chunks. Interrupts and the HIQ go first: then it returns early */
static u64 catch_up(struct sim_hws *h, u64 now)
{
	u64 next;
	u32 n;

	for (n = 0; n < STEP_EVENTS; n += CHUNK_EVENTS) {
		next = follow(h, now, CHUNK_EVENTS);
		if (next > now || sim_hws_irqs_pending(h) || hiq_is_rung(h))
			return next;
		if (h->mes_cmd || h->hiq_expect)
			break;
	}
	stall(h, now);
	return follow(h, now, CHUNK_EVENTS);
}

/*
 * When the HIQ was rung: after the kick, and after it was last seen that it was not. What the model has not
 * done by then after a chunk of events must not keep the driver waiting.
 */
static u64 hiq_time(struct sim_hws *h, u64 now)
{
	u64 t = SIM_HIQ_KICK ? max(READ_ONCE(h->hiq_rung_ns), h->hiq_looked_ns) : now;

	t = clamp(t, h->eng.now, now);
	if (follow(h, t, CHUNK_EVENTS) <= t)
		stall(h, t);
	return t;
}

static u64 poll_ns(const struct sim_hws *h, u64 now)
{
	u64 us;

	if (now < h->last_work + IDLE_AFTER_NS)
		us = READ_ONCE(poll_us);
	else if (h->nqueues)
		us = READ_ONCE(poll_idle_us);
	else
		us = HIQ_POLL_IDLE_US;
	return max_t(u64, us, 1) * NSEC_PER_USEC;
}

/* Doorbells are looked at every poll_us, not at each event */
static void poll_queues(struct sim_hws *h, u64 now)
{
	struct eng_queue *q;
	struct eng_proc *p;

	if (now < h->polled + poll_ns(h, now))
		return;
	h->polled = now;
	for (p = h->eng.procs; p; p = p->next)
		for (q = p->queues; q; q = q->next)
			sim_queue_poll(h, to_sq(q), now);
}

/* One step at time now. Return: when to wake next, ENG_NEVER: only when kicked */
static u64 step(struct sim_hws *h, u64 now)
{
	u64 next, again;

	h->n_step++;
	if (h->hiq_dead)
		return ENG_NEVER;
	read_config(h);
	/*
	 * The model's time of what the HIQ says is that of the ring, however late this thread is;
	 * its own CPU time must not outlast the time to save.
	 */
	if (hiq_waits(h)) {
		sim_hiq_run(h, hiq_time(h, now));
		if (h->hiq_stalled && !h->drain_until && !h->unmap_only &&
		    h->unmap_until != ENG_NEVER)
			return max(h->unmap_until, now + 1);
		if (h->hiq_dead)
			return ENG_NEVER;
	}
	/* to the ns, however late this thread is */
	if (h->drain_until && now >= h->drain_until)
		sim_hiq_drained(h, h->drain_until);
	poll_queues(h, now);
	next = catch_up(h, now);
	if (next <= now)
		return now;
	if (h->drain_until && !eng_used_slots(&h->eng)) {
		sim_hiq_drained(h, now);
		next = eng_advance(&h->eng, now);
	}
	if (h->hiq_stalled && !h->drain_until && now >= h->unmap_until && eng_saved(&h->eng, h->unmap_only))
		sim_hiq_unmap_done(h, now);
	if (h->hiq && !h->hiq_stalled) {
		again = hiq_waits(h) || hiq_is_rung(h) ? hiq_time(h, ktime_get_ns()) : now;
		sim_hiq_run(h, again);
		next = eng_advance(&h->eng, now);
	}
	if (h->mes_cmd) {
		again = sim_mes_run(h, now);
		next = min(eng_advance(&h->eng, now), again);
	}
	if (h->hiq_dead)
		return ENG_NEVER;
	if (h->hiq_stalled)
		next = min(next, max(h->unmap_until, now + 1));
	if (h->hiq_expect && !h->hiq_stalled) {
		if (now < h->hiq_expect)
			next = min(next, now + h->hiq_retry);
		else
			h->hiq_expect = 0;
		h->hiq_retry = min(2 * h->hiq_retry, (u64)HIQ_RETRY_MAX);
	}
	if (h->nqueues || (h->hiq && !SIM_HIQ_KICK))
		next = min(next, max(h->polled + poll_ns(h, now), now + 1));
	return next;
}

/* Nobody waits for what comes next; MES and kernels without the kick: not known */
static void relax(struct sim_hws *h)
{
	if (!SIM_HIQ_KICK || h->g->prof->mes || !READ_ONCE(h->urgent) || h->hiq_stalled ||
	    h->hiq_expect || READ_ONCE(h->kick))
		return;
	/* in this order: who kicks again, as the wait for a fence does, undoes it */
	sched_set_fifo_low(current);
	WRITE_ONCE(h->urgent, 0);
}

/*
 * Others need the CPU, too: after a step that has taken longer than the model's time until the next event it
 * sleeps a quarter as long, and whoever is about to ring the HIQ gets his chance. Nothing waits
 * while an unmap is under way.
 */
static u64 breathe(struct sim_hws *h, u64 begun, u64 next)
{
	u64 end = ktime_get_ns(), least = end + (end - begun) / 4;

	if (next > end || h->hiq_stalled || h->mes_cmd || hiq_is_rung(h))
		return next;
	return h->hiq_expect ? max(least, end + HIQ_RETRY_NS) : least;
}

static int hws_thread(void *data)
{
	struct sim_hws *h = data;
	u64 next, begun;
	ktime_t at;
	u32 n;

	/* MMU notifiers, which reclaim runs, wait for this thread */
	memalloc_noreclaim_save();
	sched_set_fifo(current);	/* hardware is not delayed by the load on the host */
	WRITE_ONCE(h->urgent, 1);
	while (!kthread_should_stop()) {
		mutex_lock(&h->lock);
		if (xchg(&h->kick, 0) && !h->g->prof->mes) {
			h->hiq_expect = ktime_get_ns() + HIQ_EXPECT_NS;
			h->hiq_retry = HIQ_RETRY_NS;
		}
		mutex_lock(&h->g->vm_lock);
		begun = ktime_get_ns();
		next = step(h, begun);
		mutex_unlock(&h->g->vm_lock);
		n = h->nirq;
		mutex_unlock(&h->lock);
		if (n) {
			sim_hws_irqs_send(h, n);
			h->nirq = 0;	/* only this thread fills the ring */
			WRITE_ONCE(h->n_irq_sent, h->n_irq_sent + n);
		}
		if (!h->hiq_dead)
			next = breathe(h, begun, next);
		relax(h);
		set_current_state(TASK_INTERRUPTIBLE);
		if (READ_ONCE(h->kick) || kthread_should_stop()) {
			__set_current_state(TASK_RUNNING);
			continue;
		}
		if (next == ENG_NEVER) {
			schedule();
			continue;
		}
		at = ns_to_ktime(next);
		schedule_hrtimeout_range(&at, 0, HRTIMER_MODE_ABS);
	}
	return 0;
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
 * Process context. While an unmap is under way the firmware wakes by itself.
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
	if (!h || READ_ONCE(h->hiq_dead) || READ_ONCE(h->hiq_stalled) || READ_ONCE(h->kick))
		return;
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
			occ[n].wave_cnt = sim_xcc_occupancy(g->prof, to_sq(q), xcc);
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
	eng_init(&h->eng, &cfg, &sim_queue_ops, h, ktime_get_ns());
	h->wait_time2 = sim_wait_time2();
	h->events_left = U32_MAX;
	read_config(h);
	h->thread = kthread_create(hws_thread, h, "kfdsim-hws/%u", g->index);
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
	mutex_destroy(&h->lock);
	mutex_destroy(&h->irq_lock);
	kvfree(h);
}
