// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdsim: interrupts of the firmware: queued by its thread, sent when that has dropped its locks.
 */
#include "hws.h"
#include "soc15_int.h"
#include <linux/delay.h>
#include <linux/module.h>

/* kfd_int_process_v9.c takes bit 3 of the ring ID of a fault for "no valid page", bit 5 for "not writable" */
#define IRQ_NOT_PRESENT	0x08
#define IRQ_READ_ONLY	0x20

/* A new entry of the interrupt ring, NULL when it is full or loses one */
static u32 *irq_entry(struct sim_hws *h)
{
	lockdep_assert_held(&h->lock);
	/* sim_hws_irqs_pending() leaves room: a full ring would lose them */
	if (h->nirq == SIM_IRQ_RING || sim_fault(h->g, SIM_FAULT_LOST_IRQ)) {
		h->n_irq_lost++;
		return NULL;
	}
	h->n_irq++;
	return memset(h->irqs[h->nirq++], 0, sizeof(h->irqs[0]));
}

/**
 * sim_hws_irqs_pending - are there so many interrupts that they must be sent first?
 * @h: the firmware, its lock held
 */
bool sim_hws_irqs_pending(struct sim_hws *h)
{
	lockdep_assert_held(&h->lock);
	return h->nirq >= SIM_IRQ_RING / 2;
}

/**
 * sim_hws_irq - queue an interrupt; sent when the firmware has dropped its locks
 * @h: the firmware, its lock held
 * @client: SOC15_IH_CLIENTID_*
 * @source: SOC15_INTSRC_*
 * @vmid: VMID index of the process
 * @pasid: its PASID
 * @ctxid: context ID
 */
void sim_hws_irq(struct sim_hws *h, u32 client, u32 source, u32 vmid, u32 pasid, u32 ctxid)
{
	u32 *e = irq_entry(h);

	if (!e)
		return;
	e[0] = client | source << 8 | (h->g->adev.vm_manager.first_kfd_vmid + vmid) << 24;
	e[3] = pasid;
	e[4] = ctxid;
}

/*
 * The interrupt of the shader: its data is in other bits of each generation, and so is what says that an instruction caused it;
 * kfd_int_process_v9.c, _v10.c, _v11.c
 */
#define SQ_INST_V9	(1u << 26)	/* in the first dword, */
#define SQ_INST_V10	(1u << 6)	/* in the second */

/**
 * sim_queue_message - a wave interrupts the host: s_sendmsg
 * @h: the firmware
 * @q: its queue
 * @data: M0; KFD: the event that is signalled, or the lower bits of its number
 */
void sim_queue_message(struct sim_hws *h, struct sim_queue *q, u32 data)
{
	struct sim_proc *p = to_sp(q->eq.proc);
	u32 gc = h->g->prof->gc, *e;

	e = irq_entry(h);
	if (!e)
		return;
	e[0] = (gc >= IP_VERSION(11, 0, 0) ? SOC21_IH_CLIENTID_GFX : SOC15_IH_CLIENTID_SE0SH) | SOC15_INTSRC_SQ_INTERRUPT_MSG << 8 |
	       (h->g->adev.vm_manager.first_kfd_vmid + q->eq.proc->vmid) << 24;
	e[3] = p->pasid;
	if (gc < IP_VERSION(10, 0, 0)) {
		e[4] = (data & 0xfff) | (data & 0xf000) << 16 | SQ_INST_V9;
		e[5] = data >> 16 & 0xff;
	} else {
		e[4] = data & (gc < IP_VERSION(11, 0, 0) ? 0x7fffff : 0xffffff);
		e[5] = SQ_INST_V10;
	}
}

/**
 * sim_vm_fault - a queue touches an address that its process has not mapped, or not for that
 * @h: the firmware, its lock held
 * @q: the queue
 * @va: the address
 * @readonly: it is mapped, but not to be written to
 *
 * The queue stops and amdkfd gets the L2 translation cache's interrupt, once per queue: with
 * retries off (as amdkfd asks for) hardware sends more of them, and amdgpu filters them.
 */
void sim_vm_fault(struct sim_hws *h, struct sim_queue *q, u64 va, bool readonly)
{
	struct sim_proc *p = to_sp(q->eq.proc);
	bool soc21 = h->g->prof->gc >= IP_VERSION(11, 0, 0);
	u64 page = va >> PAGE_SHIFT;
	u32 client, *e;

	/* without a VMID nothing is touched: asked again once it has one */
	if (q->error || q->eq.proc->vmid < 0)
		return;
	q->error = true;
	h->n_vmfault++;
	dev_warn_ratelimited(h->g->adev.dev, "kfdsim: VM fault of pasid %#x at %#llx\n", p->pasid,
			     va);
	e = irq_entry(h);
	if (!e)
		return;
	if (soc21)
		client = SOC21_IH_CLIENTID_GFX;
	else if (q->kind == SIM_QUEUE_SDMA && h->g->prof->gc < IP_VERSION(10, 0, 0))
		client = SOC15_IH_CLIENTID_VMC;
	else
		client = SOC15_IH_CLIENTID_UTCL2;
	e[0] = client | SOC15_INTSRC_VMC_FAULT << 8 |
	       (readonly ? IRQ_READ_ONLY : IRQ_NOT_PRESENT) << 16 |
	       (h->g->adev.vm_manager.first_kfd_vmid + q->eq.proc->vmid) << 24;
	e[3] = p->pasid;
	e[4] = lower_32_bits(page);
	e[5] = upper_32_bits(page) & 0xf;
}

/**
 * sim_hws_irqs_send - send the interrupts that were queued
 * @h: the firmware, its lock not held
 * @n: how many
 */
void sim_hws_irqs_send(struct sim_hws *h, u32 n)
{
	u32 i;

	mutex_lock(&h->irq_lock);
	for (i = 0; i < n && h->irq_on; i++)
		kgd2kfd_interrupt(h->g->adev.kfd.dev, h->irqs[i]);
	mutex_unlock(&h->irq_lock);
}

/**
 * sim_hws_irq_enable - may interrupts be sent to amdkfd?
 * @g: the GPU
 * @on: after this returns with false, none is being sent
 */
void sim_hws_irq_enable(struct sim_gpu *g, bool on)
{
	mutex_lock(&g->hws->irq_lock);
	g->hws->irq_on = on;
	mutex_unlock(&g->hws->irq_lock);
}

static bool ih_stuck;
module_param(ih_stuck, bool, 0644);
MODULE_PARM_DESC(ih_stuck, "amdgpu's ring of interrupts counts as one that has made no progress for a second");
static uint drain_us;
module_param(drain_us, uint, 0644);
MODULE_PARM_DESC(drain_us, "time before the interrupt is sent for which amdkfd waits when a debugger detaches");
static bool drain_lost;
module_param(drain_lost, bool, 0644);
MODULE_PARM_DESC(drain_lost, "that interrupt is lost, as one for which the driver's queue of interrupts has no room");

#define DRAIN_MS	1000

/**
 * sim_hws_irq_drain - what amdgpu_amdkfd_send_close_event_drain_irq() does
 * @g: the GPU
 * @fence: the interrupt, 8 dwords
 *
 * Waits until all interrupts that there are now were sent, for a second at most. amdgpu's function takes the time that is left of
 * it, which wait_event_interruptible_timeout() returns, for an error: it sends the fence only if the second has passed without
 * progress (6.5 to 7.3), see ih_stuck.
 *
 * Process context. Return: the time that is left, jiffies: no fence is sent; 0: it was sent; -ENODEV: none is sent to amdkfd
 */
int sim_hws_irq_drain(struct sim_gpu *g, const u32 *fence)
{
	struct sim_hws *h = g->hws;
	unsigned long end = jiffies + msecs_to_jiffies(DRAIN_MS);
	u32 us = READ_ONCE(drain_us);
	int r = 0;
	u64 n;

	mutex_lock(&h->lock);
	n = h->n_irq;
	mutex_unlock(&h->lock);
	while (!READ_ONCE(ih_stuck) && time_before(jiffies, end)) {
		if (READ_ONCE(h->n_irq_sent) >= n)
			return max(end - jiffies, 1UL);
		usleep_range(20, 50);
	}
	if (us)
		usleep_range(us, us + 50);
	mutex_lock(&h->irq_lock);
	if (!h->irq_on)
		r = -ENODEV;
	else if (!READ_ONCE(drain_lost))
		kgd2kfd_interrupt(g->adev.kfd.dev, fence);
	mutex_unlock(&h->irq_lock);
	return r;
}
