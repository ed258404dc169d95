// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: the thread that is the scheduler firmware.
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
#include "execute.h"
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

static uint poll_us = 50;
module_param(poll_us, uint, 0644);
MODULE_PARM_DESC(poll_us, "interval at which doorbells of mapped queues are looked at, us");

static uint poll_idle_us = 100;
module_param(poll_idle_us, uint, 0644);
MODULE_PARM_DESC(poll_idle_us, "the same once nothing has run for 20 ms, us");

#define IDLE_AFTER_NS	(20 * NSEC_PER_MSEC)
/* Where nobody tells that the HIQ is rung: how often it is looked at without any queue */
#define HIQ_POLL_IDLE_US	1000
/*
 * The kick comes before the ring, and the firmware may have taken the CPU of whoever is
 * about to ring: look again after 10 us, then twice as long each time up to 10 ms, for a second.
 * A thread that waits for a fence kicks again. Each look takes the CPU for 6 us. The only CPU of a
 * benchmark may be in a store to a doorbell then: with a look every ms more than 1 % of them were.
 */
#define HIQ_EXPECT_NS	NSEC_PER_SEC
#define HIQ_RETRY_NS	(10 * NSEC_PER_USEC)
#define HIQ_RETRY_MAX	(10 * NSEC_PER_MSEC)

/*
 * What the model may do at once. Between two chunks of events the thread looks whether the HIQ was rung; what
 * it has not done after all of them, it cannot do as fast as time passes: the GPU stands still
 * until now, and the model's time is late. An unmap waits for less: the driver spins.
 */
#define CHUNK_EVENTS		256
#define STEP_EVENTS		4096

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

/*
 * Up to @now, in @events events at most, and no further than what is executed has got. Return: when the next
 * event is, not after @now if some are left
 */
static u64 follow(struct sim_hws *h, u64 now, u32 events)
{
	u64 next, limit;

	h->events_left = events;
	do {
		limit = h->exec.used ? max(sim_exec_limit(h), h->eng.now) : ENG_NEVER;
		next = eng_advance(&h->eng, min(now, limit));
	} while (h->exec.changed && limit > h->eng.now);
	h->events_left = U32_MAX;
	return limit < now ? min(next, limit) : next;
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
		if (h->exec.used)
			sim_exec_run(h, now);
		next = follow(h, now, CHUNK_EVENTS);
		if (next > now || sim_hws_irqs_pending(h) || hiq_is_rung(h))
			return next;
		if (h->mes_cmd || h->hiq_expect)
			break;
	}
	stall(h, now);
	next = follow(h, now, CHUNK_EVENTS);
	/* what is executed, and behind, must not keep anything else from being done */
	return h->exec.used ? max(next, now + 1) : next;
}

/*
 * When the HIQ was rung: after the kick, and after it was last seen that it was not. The model follows up to that time,
 * unless it has done everything up to @done, which is later. What the model has not done by then after a chunk of events
 * must not keep the driver waiting.
 */
static u64 hiq_time(struct sim_hws *h, u64 now, u64 done)
{
	u64 t = SIM_HIQ_KICK ? max(READ_ONCE(h->hiq_rung_ns), h->hiq_looked_ns) : now;

	t = clamp(t, h->eng.now, now);
	/* a driver that waits for a fence waits for our CPU time, which is not the model's */
	if (t > done && follow(h, t, CHUNK_EVENTS) <= t)
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
	sim_hws_config(h);
	/*
	 * The model's time of what the HIQ says is that of the ring, however late this thread is;
	 * its own CPU time must not outlast the time to save.
	 */
	if (hiq_waits(h)) {
		sim_hiq_run(h, hiq_time(h, now, 0));
		if (h->hiq_stalled && !h->drain_until && !h->unmap_only &&
		    h->unmap_until != ENG_NEVER)
			return max(min(eng_advance(&h->eng, h->eng.now), h->unmap_until), now + 1);
		if (h->hiq_dead)
			return ENG_NEVER;
	}
	/* to the ns, however late this thread is */
	if (h->drain_until && now >= h->drain_until)
		sim_hiq_drained(h, h->drain_until);
	poll_queues(h, now);
	next = catch_up(h, now);
	/* without the kick nothing but this look tells of the HIQ, which must not wait until the model is up to date */
	if (next <= now && (SIM_HIQ_KICK || !hiq_is_rung(h)))
		return now;
	if (h->drain_until && !eng_used_slots(&h->eng)) {
		sim_hiq_drained(h, now);
		next = eng_advance(&h->eng, now);
	}
	if (h->hiq_stalled && !h->drain_until)
		sim_hiq_unmap_done(h, now);
	if (h->hiq && !h->hiq_stalled) {
		again = hiq_waits(h) || hiq_is_rung(h) ? hiq_time(h, ktime_get_ns(), now) : now;
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

/*
 * How long before the fence of an unmap the thread wakes up, ns: hardware needs no thread. Without it the fence was 2.8 us
 * later (tests/bench/check, P50 of a request beside 4 processes).
 */
#define WAKE_NS		4000

/* Sleeps until @next, or a kick */
static void sleep_until(struct sim_hws *h, u64 next)
{
	bool fence = h->hiq_stalled && next == h->unmap_until;
	ktime_t at = ns_to_ktime(fence ? next - WAKE_NS : next);

	schedule_hrtimeout_range(&at, 0, HRTIMER_MODE_ABS);
	while (fence && ktime_get_ns() < next && !READ_ONCE(h->kick) && !kthread_should_stop())
		cpu_relax();
}

/**
 * sim_hws_thread - the firmware's thread
 * @data: the firmware
 */
int sim_hws_thread(void *data)
{
	struct sim_hws *h = data;
	u64 next, begun;
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
		sleep_until(h, next);
	}
	return 0;
}
