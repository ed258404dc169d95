/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: how each supported tree spells a KFD type or call. Only this file has conditionals on
 * the kernel. KFD_PRIO_HAVE_* come from the compile probes of kfd_prio_probes.sh, never from
 * version numbers.
 */
#ifndef KFD_PRIO_COMPAT_H_INCLUDED
#define KFD_PRIO_COMPAT_H_INCLUDED

#include <linux/cgroup.h>
#include <linux/file.h>
#include "kfd_prio_probes.h"
#include "kfd_priv.h"
#include "kfd_device_queue_manager.h"
#include "kfd_kernel_queue.h"
#include "kfd_topology.h"
#ifdef KFD_PRIO_HAVE_SCHED_HALT
#include "amdgpu_reset.h"
#endif

/* 6.1 has a struct kfd_dev for each GPU, later trees a struct kfd_node for each partition */
#ifdef KFD_PRIO_HAVE_KFD_NODE
#define kfd_prio_uses_mes(dqm)	((dqm)->dev->kfd->shared_resources.enable_mes)
#else
#define kfd_prio_uses_mes(dqm)	((dqm)->dev->shared_resources.enable_mes)
#endif

/* Returns the number of XCCs of a partition */
static inline unsigned int kfd_prio_xccs(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_KFD_NODE
	return hweight32(dqm->dev->xcc_mask);
#else
	return 1;
#endif
}

/*
 * Waves of a process in flight. Newer trees count them per queue of the GPU, on one XCC; older
 * trees per process; trees between these per process on one XCC, for which KFD uses the first.
 * @occupancy: buffer of KFD_PRIO_OCCUPANCY_SIZE bytes.
 *
 * kfd_prio_compat_count() returns whether there are waves: of any process if KFD_PRIO_COUNTS_ALL,
 * else of the process of @pdd. kfd_prio_compat_waves() returns whether the process has waves in the
 * last count.
 */
#ifdef KFD_PRIO_HAVE_OCCUPANCY_BY_QUEUE
#define KFD_PRIO_COUNTS_ALL	true
#define KFD_PRIO_OCCUPANCY_SIZE	(AMDGPU_MAX_QUEUES * sizeof(struct kfd_cu_occupancy))
static inline bool kfd_prio_compat_count(struct kfd_process_device *pdd, void *occupancy)
{
	struct kfd_cu_occupancy *o = occupancy;
	int i, max_waves_per_cu = 0;

	memset(o, 0, KFD_PRIO_OCCUPANCY_SIZE);
	pdd->dev->kfd2kgd->get_cu_occupancy(pdd->dev->adev, o, &max_waves_per_cu,
					    ffs(pdd->dev->xcc_mask) - 1);
	for (i = 0; i < AMDGPU_MAX_QUEUES; i++)
		if (o[i].wave_cnt)
			return true;
	return false;
}

static inline bool kfd_prio_compat_waves(struct kfd_process_device *pdd, void *occupancy)
{
	struct kfd_cu_occupancy *o = occupancy;
	u32 format;
	int i;

	for (i = 0; i < AMDGPU_MAX_QUEUES; i++)
		if (o[i].wave_cnt && kfd_dqm_is_queue_in_process(pdd->dev->dqm, &pdd->qpd,
								 o[i].doorbell_off, &format))
			return true;
	return false;
}
#else
#define KFD_PRIO_COUNTS_ALL	false
#define KFD_PRIO_OCCUPANCY_SIZE	1
static inline bool kfd_prio_compat_count(struct kfd_process_device *pdd, void *occupancy)
{
	int waves = 0, max_waves_per_cu = 0;

#ifdef KFD_PRIO_HAVE_OCCUPANCY_OF_XCC
	pdd->dev->kfd2kgd->get_cu_occupancy(pdd->dev->adev, pdd->process->pasid, &waves,
					    &max_waves_per_cu, 0);
#else
	pdd->dev->kfd2kgd->get_cu_occupancy(pdd->dev->adev, pdd->process->pasid, &waves,
					    &max_waves_per_cu);
#endif
	return waves > 0;
}

static inline bool kfd_prio_compat_waves(struct kfd_process_device *pdd, void *occupancy)
{
	return true;
}
#endif

#include "kfd_prio_mqd.h"

/* Whether a cgroup was removed; the kernel's cgroup_is_dead() is in a header of its own */
static inline bool kfd_prio_cgroup_is_dead(const struct cgroup *cgroup)
{
	return !(cgroup->self.flags & CSS_ONLINE);
}

/* Returns the cgroup of a directory of cgroup v2, with a reference */
static inline struct cgroup *kfd_prio_cgroup_get(int fd)
{
	struct cgroup *cgroup = cgroup_get_from_fd(fd);
	struct file *f;

	/* The kernel has one error for a descriptor that is not open and for one of another file */
	if (cgroup != ERR_PTR(-EBADF))
		return cgroup;
	f = fget(fd);
	if (!f)
		return cgroup;
	fput(f);
	return ERR_PTR(-EINVAL);
}

/* Without CWSR an unmap waits until the waves end, for an unlimited time */
static inline bool kfd_prio_has_cwsr(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_KFD_NODE
	return dqm->dev->kfd->cwsr_enabled;
#else
	return dqm->dev->cwsr_enabled;
#endif
}

/* KFD refuses updates of the queues of a process after a queue of it was reset alone */
static inline bool kfd_prio_has_reset_queue(struct kfd_process_device *pdd)
{
#ifdef KFD_PRIO_HAVE_RESET_QUEUE
	return pdd->has_reset_queue;
#else
	return false;
#endif
}

/*
 * KFD remembers whether the last runlist was over-subscribed, and prints a line when that changes.
 * kfd_prio_over_subscribes() uses the conditions of pm_calc_rlib_size().
 */
#ifdef KFD_PRIO_HAVE_OVER_SUBSCRIPTION
static inline bool kfd_prio_over_subscription_get(struct device_queue_manager *dqm)
{
	return dqm->packet_mgr.is_over_subscription;
}

static inline void kfd_prio_over_subscription_set(struct device_queue_manager *dqm)
{
	dqm->packet_mgr.is_over_subscription = true;
}

/*
 * On some gfx9 GPUs processes with and without XNACK run in turns. @all: whether processes that are
 * left out of the runlist are considered.
 */
static inline bool kfd_prio_xnack_conflicts(struct device_queue_manager *dqm, bool all)
{
#ifdef KFD_PRIO_HAVE_XNACK_CHAIN
	struct device_process_node *cur;
	int first = -1;

	if (!(dqm->dev->adev->gmc.xnack_flags & AMDGPU_GMC_XNACK_FLAG_CHAIN))
		return false;
	list_for_each_entry(cur, &dqm->queues, list) {
		if (cur->qpd->prio.skip && !all)
			continue;
		if (first < 0)
			first = cur->qpd->pqm->process->xnack_enabled;
		else if (cur->qpd->pqm->process->xnack_enabled != first)
			return true;
	}
#endif
	return false;
}

/*
 * @processes: dqm->processes_count, with or without the processes that are left out of the runlist
 */
static inline bool kfd_prio_over_subscribes(struct device_queue_manager *dqm,
					    unsigned int processes, unsigned int compute_queues)
{
	return processes > max(dqm->dev->max_proc_per_quantum, 1U) ||
	       compute_queues > get_cp_queues_num(dqm) || dqm->gws_queue_count > 1 ||
	       kfd_prio_xnack_conflicts(dqm, processes == dqm->processes_count);
}
#else
static inline bool kfd_prio_over_subscription_get(struct device_queue_manager *dqm)
{
	return false;
}

static inline void kfd_prio_over_subscription_set(struct device_queue_manager *dqm)
{
}

static inline bool kfd_prio_over_subscribes(struct device_queue_manager *dqm,
					    unsigned int processes, unsigned int compute_queues)
{
	return false;
}
#endif

/* Queue of a debugger; newer trees have none */
static inline bool kfd_prio_is_diq(enum kfd_queue_type type)
{
#ifdef KFD_PRIO_HAVE_DIQ
	return type == KFD_QUEUE_TYPE_DIQ;
#else
	return false;
#endif
}

/* A queue that was reset alone stays off the hardware; older trees record it for processes only */
static inline bool kfd_prio_queue_is_reset(struct queue *q)
{
#ifdef KFD_PRIO_HAVE_QUEUE_IS_RESET
	return q->properties.is_reset;
#else
	return false;
#endif
}

/* A queue that a debugger has suspended is inactive until the debugger resumes it */
static inline bool kfd_prio_queue_is_suspended(struct queue *q)
{
#ifdef KFD_PRIO_HAVE_IS_SUSPENDED
	return q->properties.is_suspended;
#else
	return false;
#endif
}

/*
 * Hibernation does not save pinned memory. KFD unpins the MQDs in VRAM of a process that it evicts
 * for hibernation, and pins them when it restores the process. Only kfd_device_queue_manager.c can
 * use these.
 */
#ifdef KFD_PRIO_HAVE_MQD_REPIN
#define kfd_prio_mqd_unpin(dqm, q)	dqm_evict_mqd_bo(dqm, q)
#define kfd_prio_mqd_repin(dqm, q)	dqm_repin_mqd_bo(dqm, q)
#else
static inline void kfd_prio_mqd_unpin(struct device_queue_manager *dqm, struct queue *q)
{
}

static inline int kfd_prio_mqd_repin(struct device_queue_manager *dqm, struct queue *q)
{
	return 0;
}
#endif

/* KFD omits this initialisation for a process that gets no sysfs directory */
static inline void kfd_prio_drain_init(struct kfd_process *p)
{
#ifdef KFD_PRIO_HAVE_IRQ_DRAIN
	init_waitqueue_head(&p->wait_irq_drain);
#endif
}

/* Ends the wait of kfd_process_drain_interrupts(), as the interrupt handler does */
static inline void kfd_prio_drain_end(struct kfd_process *p)
{
#ifdef KFD_PRIO_HAVE_IRQ_DRAIN
	WRITE_ONCE(p->irq_drain_is_open, false);
	wake_up_all(&p->wait_irq_drain);
#endif
}

/*
 * Whether KFD handles the interrupt for which kfd_process_drain_interrupts() waits. The handler of
 * GFX10 discards it, because its list of clients does not have KFD_IRQ_FENCE_CLIENTID. All handlers
 * discard an interrupt without a PASID, and a process that has no VM on a GPU has none there.
 */
static inline bool kfd_prio_drain_ends(struct kfd_process_device *pdd)
{
#ifdef KFD_PRIO_HAVE_PDD_PASID
	if (!pdd->pasid)
		return false;
#endif
#ifdef KFD_PRIO_HAVE_IRQ_DRAIN
	return pdd->dev->kfd->device_info.event_interrupt_class != &event_interrupt_class_v10;
#else
	return true;
#endif
}

/* ROCm can unmap doorbells itself, to leave idle processes evicted; it handles their rings then */
static inline bool kfd_prio_doorbells_are_kfds(void)
{
#ifdef KFD_PRIO_HAVE_KEEP_IDLE_EVICTED
	return keep_idle_process_evicted;
#else
	return false;
#endif
}

/*
 * DRM user queues, which amdgpu creates from 6.16 on if its parameter user_queue is 1 or 2. KFD
 * does not know them. With 0, with -1 (the default) and without the parameter there are none.
 */
static inline int kfd_prio_user_queues(void)
{
#ifdef KFD_PRIO_HAVE_USER_QUEUES
	return amdgpu_user_queue;
#else
	return 0;
#endif
}

/* Arguments of the tracepoint sched_process_exit */
#ifdef KFD_PRIO_HAVE_EXIT_GROUP_DEAD
#define KFD_PRIO_EXIT_ARGS(task)	struct task_struct *(task), bool group_dead
#else
#define KFD_PRIO_EXIT_ARGS(task)	struct task_struct *(task)
#endif

/* Whether KFD sends commands to HWS or MES: the GPU is neither suspended nor being reset */
static inline bool kfd_prio_sched_runs(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_SCHED_HALT
	return dqm->sched_running && !dqm->sched_halt;
#else
	return dqm->sched_running;
#endif
}

/*
 * Whether a reset of the GPU is on its way, which is the meaning of -EIO. Older trees lack the
 * semaphore of resets: there -EIO has no other reason.
 */
static inline bool kfd_prio_in_reset(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_SCHED_HALT
	return dqm->sched_halt || atomic_read(&dqm->dev->adev->reset_domain->in_gpu_reset);
#else
	return true;
#endif
}

/* Whether the GPU is being reset, also while KFD has not refused a command yet */
static inline bool kfd_prio_resetting(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_SCHED_HALT
	return atomic_read(&dqm->dev->adev->reset_domain->in_gpu_reset);
#elif defined(KFD_PRIO_HAVE_IS_RESETTING)
	return dqm->is_resetting;
#else
	return false;
#endif
}

/*
 * Where KFD flushes the TLB of a process that it has evicted from MES, kfdprio must flush it for a
 * process whose queues preemption had removed before.
 */
#ifdef KFD_PRIO_HAVE_FLUSH_TLB_NO_TYPE
#define kfd_prio_flush_tlb(pdd)		kfd_flush_tlb(pdd)
#else
#define kfd_prio_flush_tlb(pdd)		kfd_flush_tlb(pdd, TLB_FLUSH_HEAVYWEIGHT)
#endif

/*
 * Size of the save area that KFD requires for a queue on one XCC, bytes; 0 if KFD accepts any size
 */
static inline u32 kfd_prio_save_area(struct kfd_topology_device *t)
{
#ifdef KFD_PRIO_HAVE_SAVE_AREA
	return t->node_props.cwsr_size;
#else
	return 0;
#endif
}

static inline void kfd_prio_timer_init(struct hrtimer *timer,
				       enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifdef KFD_PRIO_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = fn;
#endif
}

/*
 * Whether the tree can set the grace period, in which waves may end before CWSR saves them. KFD
 * sets it with a packet on the HIQ that writes a register, for the suspend of a debugger.
 */
static inline bool kfd_prio_tree_has_grace(struct device_queue_manager *dqm)
{
#if defined(KFD_PRIO_HAVE_GRACE_PERIOD)
	return dqm->packet_mgr.pmf->set_grace_period_size &&
	       dqm->dev->kfd2kgd->build_grace_period_packet_info;
#elif defined(KFD_PRIO_HAVE_DEQUEUE_WAIT)
	return dqm->packet_mgr.pmf->config_dequeue_wait_counts_size &&
	       dqm->dev->kfd2kgd->build_dequeue_wait_counts_packet_info;
#else
	return false;
#endif
}

/*
 * Trees that define USE_DEFAULT_GRACE_PERIOD take the grace period as an argument of the unmap. For
 * 0 KFD sets its minimum, 1000 cycles.
 */
#ifdef USE_DEFAULT_GRACE_PERIOD
#define kfd_prio_unmap_dynamic(dqm)						\
	unmap_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0,	\
			   USE_DEFAULT_GRACE_PERIOD, false)
#define kfd_prio_execute_dynamic(dqm, at_once)					\
	execute_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0,	\
			     (at_once) ? 0 : USE_DEFAULT_GRACE_PERIOD)
#else
#define kfd_prio_unmap_dynamic(dqm)						\
	unmap_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0, false)
#define kfd_prio_execute_dynamic(dqm, at_once)					\
	((void)(at_once),							\
	 execute_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0))
#endif

/* Whether the GPU has had a fatal error (RAS). Its firmware does not answer until the reset. */
static inline bool kfd_prio_is_fed(struct device_queue_manager *dqm)
{
#ifdef KFD_PRIO_HAVE_FATAL_ERROR
	return amdgpu_amdkfd_is_fed(dqm->dev->adev);
#else
	return false;
#endif
}

#endif /* KFD_PRIO_COMPAT_H_INCLUDED */
