// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: a stream of kicks for the engine's thread of a GPU, as rings, evictions and queues of many processes on other
 * CPUs make it. A VM with --icount has one CPU, on which the thread keeps others from running.
 */
#include "hws.h"
#ifdef KFDSIM_PRIO	/* not in stock amdkfd */
#include "kfd_prio_priv.h"

static struct device_queue_manager *kicked;
static struct hrtimer kicker;
static ktime_t period;

static enum hrtimer_restart kick(struct hrtimer *timer)
{
	kfd_prio_gpu_kick(kicked);
	hrtimer_forward_now(timer, period);
	return HRTIMER_RESTART;
}

/**
 * sim_kick_set - kick the engine's thread again and again
 * @g: the GPU; one at a time
 * @us: so often, in microseconds; 0: not any more
 *
 * Context: process; the GPU does not go before @us is 0 again, see sim_debugfs_fini()
 * Return: 0, or -ENODEV if amdkfd does not use the GPU
 */
int sim_kick_set(struct sim_gpu *g, u32 us)
{
	struct kfd_prio_dqm *d;

	if (kicked) {
		hrtimer_cancel(&kicker);
		kicked = NULL;
	}
	if (!us)
		return 0;
	kfd_prio_gpu_lock();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d))
		if (d->dqm->dev->adev == &g->adev)
			kicked = d->dqm;
	kfd_prio_gpu_unlock();
	if (!kicked)
		return -ENODEV;
	period = ns_to_ktime((u64)us * NSEC_PER_USEC);
	kfd_prio_timer_init(&kicker, kick);
	hrtimer_start(&kicker, ktime_add(ktime_get(), period), HRTIMER_MODE_ABS);
	return 0;
}
#else
int sim_kick_set(struct sim_gpu *g, u32 us)
{
	return us ? -ENODEV : 0;
}
#endif
