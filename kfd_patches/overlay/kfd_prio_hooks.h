/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: every hook that hooks.cocci puts into amdkfd, and the lock it runs
 * under.  Included by kfd_priv.h before KFD's own structures exist, so it must
 * not look into them.
 *
 * No hook can fail its caller, and none takes a lock that KFD takes around it.
 */
#ifndef KFD_PRIO_HOOKS_H_INCLUDED
#define KFD_PRIO_HOOKS_H_INCLUDED

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/sysfs.h>
#include <linux/types.h>
#include "kfd_prio_backoff.h"
#include "kfd_prio_policy.h"

struct device_queue_manager;
struct kfd_process;
struct kfd_process_device;
struct kfd_prio_groups;
struct kfd_prio_snapshot;
struct mm_struct;
struct mutex;
struct mqd_update_info;
struct pid;
struct qcm_process_device;
struct queue;
struct task_struct;
struct vm_area_struct;

/**
 * struct kfd_prio_cost - saves that were measured
 * @count: how many
 * @sum_ns: time that they took in all
 * @max_ns: the longest
 */
struct kfd_prio_cost {
	u64 count;
	u64 sum_ns;
	u64 max_ns;
};

/**
 * struct kfd_prio_queue - what we keep in each struct queue
 * @asked: priority that the owner asks for, 0..15; written under the process lock, and
 *	without any lock seen by the update that follows at once
 * @requested: the same, as it was when that update took the DQM lock, which protects it;
 *	the one in force is queue_properties.priority, protected by the same
 * @announced: kfd_create_queue was traced, kfd_destroy_queue is due
 * @held: preemption has set queue_properties.is_evicted, and clears it; protected by the DQM
 *	lock, like the next ones
 * @off: preemption has taken it off, or keeps it from coming on: to be put back
 * @dead: it was reset alone, and stays off for good
 * @marked: preemption has changed if it is active, MES does not know yet; protected by
 *	the DQM lock and false when it is released, unless MES is to be asked again
 * @late: MES was to add it and was not, or could not be, asked: it is marked as off until it is
 *	added
 * @save_seen: begin of the last save on its first XCC that was read, a stamp of CP firmware;
 *	protected by the DQM lock, like the next one
 * @rest_seen: &struct kfd_prio_qpd.taken_count when its MQD was read and showed no work
 */
struct kfd_prio_queue {
	u32 asked;
	u32 requested;
	u64 save_seen;
	u64 rest_seen;
	bool announced;
	bool held;
	bool off;
	bool dead;
	bool marked;
	bool late;
};

/**
 * struct kfd_prio_values - what is set for a thread group, or for an orphan (kfd_prio_identity.c)
 * @prio: KFD_PRIO_UNSET: it is only never to be parked, or nothing is set
 * @by: KFD_PRIO_BY_*, how @prio was set
 * @never_by: KFD_PRIO_BY_*, how it was set that it is never to be parked;
 *	KFD_PRIO_BY_NOBODY: it may be parked
 */
struct kfd_prio_values {
	int prio;
	u32 by;
	u32 never_by;
};

/**
 * struct kfd_prio_process - what we keep in each struct kfd_process
 * @inode: its pages of /dev/kfd are mapped through this inode's address space, so
 *	that its doorbells can be taken away without a walk over its mm; NULL if there
 *	was no memory for one: its doorbells are polled
 * @mm: of a further context of its process, mmgrab()ed: such a context may outlive the
 *	process's memory by a little; NULL otherwise
 * @notified: bit 0: notify descriptors have reported that the process opened KFD
 * @gone: its memory has gone; a descriptor may keep the process; written without a lock
 * @serial: number of the process, never used again; written before it is published
 * @users: holders, one of them the list of published processes; under that list's lock, like @link
 * @live: its release has not begun; under the same lock
 * @link: in that list, see kfd_prio_processes.c
 * @lead: thread group that opened KFD, referenced until the release; a constant
 * @lead_mm: the mm for which the process was made, mmgrab()ed until the release; a constant
 * @family: @serial of the first context of the process; the user space interface has this one
 * @gone_at: jiffies when @lead_mm was first seen to have no user, never 0 then; written without a
 * lock
 * @orphan: no thread of @lead has @lead_mm: it is true for good then; written without a lock
 * @own: of an orphan: what is set for it; written under kfd_prio_orphan_mutex, read without
 * @groups: of an orphan: the thread groups that have @lead_mm, as of the last walk; under
 *	kfd_prio_orphan_mutex
 */
struct kfd_prio_process {
	struct inode *inode;
	struct mm_struct *mm;
	unsigned long notified;
	bool gone;
	u64 serial;
	unsigned int users;
	bool live;
	struct list_head link;
	struct pid *lead;
	struct mm_struct *lead_mm;
	u64 family;
	unsigned long gone_at;
	bool orphan;
	struct kfd_prio_values own;
	struct kfd_prio_groups *groups;
};

/**
 * enum kfd_prio_trap - does a ring of a process on a GPU fault?
 * @KFD_PRIO_TRAP_OFF: its doorbells are not trapped: preemption does not depend on its work
 * @KFD_PRIO_TRAP_ARMED: it has no work; its doorbells are not mapped, a ring faults
 * @KFD_PRIO_TRAP_RUNG: it may have work; its doorbells may be mapped
 */
enum kfd_prio_trap {
	KFD_PRIO_TRAP_OFF,
	KFD_PRIO_TRAP_ARMED,
	KFD_PRIO_TRAP_RUNG,
};

/**
 * enum kfd_prio_role - what a process with queues on a GPU is to preemption
 * @KFD_PRIO_ROLE_NONE: nothing is known of its work: it counts as having some
 * @KFD_PRIO_ROLE_CLAIM: it may preempt
 * @KFD_PRIO_ROLE_NEIGHBOUR: it may only be preempted, and is while it has work
 */
enum kfd_prio_role {
	KFD_PRIO_ROLE_NONE,
	KFD_PRIO_ROLE_CLAIM,
	KFD_PRIO_ROLE_NEIGHBOUR,
};

/**
 * struct kfd_prio_qpd - what we keep of a process on a GPU (qcm_process_device)
 * @preempted: we hold one count of qpd->evicted: it is preempted, or it is parked
 * @parked: it is parked; only while @preempted
 * @skip: it is left out of the runlist
 * @kfd_first: KFD had evicted it when we preempted it: if KFD lets go first, its queues
 *	are ours to put back
 * @left_preempted: it was preempted when it was unregistered, its queues were off
 * @exiting: its mm goes: it claims nothing any more; written without a lock, see
 *	kfd_prio_hook_process_exit()
 * @stale: @prio must be made anew, a queue has gone; written without a lock
 * @prio: what it counts as here: kfd_prio_policy_rank()
 * @taken_epoch: kfd_prio_dqm.epoch when it was marked as off; the same as now: the hardware has not
 *	confirmed it (HWS)
 * @taken_at: when it was marked as off, ktime_get_ns()
 * @taken_count: how often it was
 * @proved: it is off, and was seen to have no work since, in the driver's own memory; void as soon
 *	as it may be mapped
 * @counted: it counts as preempted: it is off, and has work as far as is known
 * @preempted_at: since when it counts as preempted, ktime_get_ns()
 * @preempted_ns: how long it has been, without the time since @preempted_at
 * @preempted_count: how often
 * @preempting_count: how often it has preempted others
 * @save: saves of its queues, the longest of each preemption
 * @cost: link in kfd_prio_dqm.costs: that of the present one was not read yet
 * @cost_seen: what @taken_count was when it was added there
 * @still: its trap is armed because its indices have not moved for long; it may have waves, and
 *	@work says so; a neighbour's
 * @unpark_due: kfd_unpark is to be traced when the runlist was sent
 * @unparked: why, an enum kfd_prio_unpark_reason
 * @woke_by: what the next wake would be; written before @trap is, without a lock
 * @exempt: it is never to be parked
 * @quiet_at: when its trap was armed, or before that, since when nothing has moved, ktime_get_ns()
 * @ring_at: when a trapped doorbell was last rung; written by the fault
 * @parked_at: since when it is parked, ktime_get_ns()
 * @parked_ns: how long it has been, without the time since @parked_at
 * @park_last_ns: how long the last time
 * @parked_count: how often
 * @park_seq: number of the last time on this GPU, joins kfd_park to kfd_unpark
 * @park_wakes: how often it was woken
 * @role: enum kfd_prio_role; written under the DQM lock
 * @look: it was taken off, or is a neighbour whose queues have changed: look at it again; written
 *	without a lock
 * @rests: a neighbour in kfd_prio_dqm.resting: it counts as one without work
 * @claim: link in kfd_prio_dqm.claims, or .neighbours or .resting, as @role and @rests tell
 * @set_prio: priority set, when the claim was made
 * @mm: its address space, mmgrab()ed; NULL without a role
 * @wakes: how often @rung was set
 * @waves: waves may be in flight: it moved since they were counted, or there were some
 * @ended: the packets of the last look said that its work may have ended
 * @moved_at: when its indices were last seen to move, or it rang, ktime_get_ns()
 * @counted_at: when its waves were last counted
 * @rung: @trap was KFD_PRIO_TRAP_RUNG when the engine last looked, since @rung_at
 * @work, @work_at, @progress_at: see struct kfd_prio_claim; of a neighbour @work_at is unused, and
 *	@progress_at is when its indices were last seen to move
 * @rptr_sum, @wptr_sum: of its queues when last looked at
 * @trap: enum kfd_prio_trap
 * @faults: of its doorbells, in progress
 * @fault_end: when the last one ended, ktime_get_ns()
 * @doorbell_pfn: first page frame of its doorbells, 0 if it never mapped them
 * @doorbell_pgoff: their offset in /dev/kfd, in pages
 * @doorbell_pages: their number
 * @doorbell_lost: a GPU reset has taken them away for good
 * @doorbell_untrapped: it has mapped them in a way that no zap reaches; stays so
 *
 * Protected by the DQM lock, but for @look, @woke_by, @ring_at, @trap, @faults (atomic) and
 * @fault_end (written by the fault), and the last five (written by mmap before they are used,
 * @doorbell_lost by the reset).
 */
struct kfd_prio_qpd {
	bool preempted;
	bool parked;
	bool skip;
	bool kfd_first;
	bool left_preempted;
	bool exiting;
	bool stale;
	int prio;
	u32 taken_epoch;
	u64 taken_at;
	u64 taken_count;
	bool proved;
	bool counted;
	u64 preempted_at;
	u64 preempted_ns;
	u64 preempted_count;
	u64 preempting_count;
	struct kfd_prio_cost save;
	struct hlist_node cost;
	u64 cost_seen;
	bool still;
	bool exempt;
	bool unpark_due;
	enum kfd_prio_unpark_reason unparked;
	enum kfd_prio_unpark_reason woke_by;
	u64 quiet_at;
	u64 ring_at;
	u64 parked_at;
	u64 parked_ns;
	u64 park_last_ns;
	u64 parked_count;
	u32 park_seq;
	struct kfd_prio_wakes park_wakes;
	enum kfd_prio_role role;
	bool look;
	bool rests;
	struct list_head claim;
	int set_prio;
	struct mm_struct *mm;
	u32 wakes;
	bool waves;
	bool ended;
	bool rung;
	u64 rung_at;
	u64 moved_at;
	u64 counted_at;
	bool work;
	u64 work_at;
	u64 progress_at;
	u64 rptr_sum;
	u64 wptr_sum;
	atomic_t trap;
	atomic_t faults;
	u64 fault_end;
	unsigned long doorbell_pfn;
	unsigned long doorbell_pgoff;
	unsigned int doorbell_pages;
	bool doorbell_lost;
	bool doorbell_untrapped;
};

/**
 * struct kfd_prio_suspect - a process whose queue was in the way of the scheduler
 * @pid: its PID in the initial namespace; 0: none is known
 * @comm: its name then, as it has chosen it
 */
struct kfd_prio_suspect {
	s32 pid;
	char comm[16];
};

/**
 * struct kfd_prio_totals - what happened on a GPU since its driver was loaded
 * @preempted_count: how often a process was preempted
 * @preempted_ns: how long processes were preempted in all, ns, without what goes on
 * @parked_count: how often a process was parked
 * @parked_ns: how long processes were parked in all, ns, without what goes on
 * @update_ns: how long our updates of the hardware took, ns, see kfd_prio_dqm_execute()
 *
 * Those of a process end with it; these do not.
 */
struct kfd_prio_totals {
	u64 preempted_count;
	u64 preempted_ns;
	u64 parked_count;
	u64 parked_ns;
	u64 update_ns;
};

/**
 * struct kfd_prio_dqm - what we keep in each struct device_queue_manager
 * @unmap_start: when the unmap in progress began
 * @unmap_seq: its number, joins kfd_unmap_queues to kfd_unmap_queues_done
 * @epoch: number of the unmaps that HWS has confirmed: processes that are marked as off by an
 *	earlier one have left the hardware
 * @unmap_running: an unmap was announced and is not done
 * @in_fault: an unmap is sent in the fault of a doorbell
 * @unmap_pending: the fault has left it, and it is not known to be done
 * @unmap_sent: when it was sent, ktime_get_ns()
 * @unmap_lost: HWS has not answered to it: KFD need not wait for the next one
 * @has_grace: the grace period of an unmap can be set
 * @grace_set: the least is set, and was not set back yet
 * @unmapped_at: when all queues were unmapped, ktime_get_ns(); 0: a runlist was sent since
 * @restored_at: when the waves that the last unmap saved are back, ktime_get_ns(): as long after
 *	the runlist as the unmap took, but not longer than KFD_PRIO_RESTORE_MAX_NS: a guess
 * @dqm: the one this is in
 * @link: in the list of all GPUs, under kfd_prio_gpu_mutex
 * @users: those who hold it, see kfd_prio_gpu_hold(); under a lock of its own
 * @claims: processes that may preempt here
 * @neighbours: processes that may not, and may have work
 * @resting: processes that may not, and have no work: their doorbells are trapped
 * @claims_at: when the claims were last looked at, ktime_get_ns()
 * @rang: one of these may have rung
 * @quiet_taken: a process of @resting was taken off: its MQDs are to be looked at
 * @look_now: a neighbour shall be looked at before @look_at
 * @roles_due: the doorbells of a process can be trapped no more: roles must be given anew
 * @look_at: when neighbours are looked at next, ktime_get_ns(); the thread's
 * @look_rest: so many of @neighbours are left of a look that a kick has interrupted, which goes on
 *	with the next step; the thread's, like the next two
 * @look_more: processes of @resting are left that have changed
 * @poll_rest: so many of the others of @resting are left of the last poll
 * @count_at: waves in flight are not counted before, ktime_get_ns(); the thread's
 * @debug_at: the next operation of a debugger may come then, ktime_get_ns(); under
 *	kfd_prio_gpu_lock()
 * @policy: state of the policy
 * @last: its last decision, made at @last_at (ktime_get_ns())
 * @throttle: the floor is being given: claims of at least this priority are off, so that
 *	what they preempted runs; KFD_PRIO_LEVEL_NONE: it is not
 * @lowest: rank of the lowest process with work that may have to give way, KFD_PRIO_RANK_NONE if
 *	there is none; as of the last walk over the processes, or of a ring or queue since
 * @pid: of the process that preempts now, in the initial namespace; 0 if none
 * @begun_pid: of the one that began the preemption in force
 * @seq: number of the preemption, joins kfd_preempt_begin to kfd_preempt_end
 * @begun_at: when it began, ktime_get_ns(); 0 if no preemption was announced
 * @begun: how many preemptions there were
 * @totals: of all processes, those that have ended too
 * @victims: processes that are off now, preempted or parked
 * @counted: those of them that count as preempted
 * @parked: those of them that are parked
 * @park_seq: how many processes were parked so far
 * @unpark_due: kfd_unpark is due for a process
 * @parking: what decides whether a process is parked, as of the last decision
 * @park_update: the runlist that is about to be sent would be sent in any case
 * @charged: those of them that have, or may have, work that they could run
 * @crowded: the runlist is over-subscribed: there are more processes than VMIDs, or more queues
 *	than HQDs
 * @skipped: those of them that are left out of the runlist
 * @victim_queues: queues taken off when it began
 * @save: saves of preempted processes, the longest of each process and preemption
 * @save_ns: the longest save since the preemption in force began; 0: not known
 * @save_recent_ns: how long a save takes: an exponential mean of the longest of each preemption, of
 *	eight, each of them four times the mean before at most; 0: not known
 * @save_part_ns: the longest of the processes that were read since the last such preemption
 * @costs: processes that were taken off and whose saves were not read, see kfd_prio_cost_look()
 * @taken: there may be such processes that are not in @costs yet
 * @was_over: what KFD knew of over-subscription before the runlist that is being made
 * @recheck: a process may have become a victim, or ceased to be one
 * @unmap_first: an unmap of ours is about to be sent, marking follows
 * @missed: the last change of the runlist failed: to be tried again
 * @retry_at: not before this time, ktime_get_ns()
 * @orphans: a process that may have queues here has become an orphan, or what is set for one has
 *	changed: its rank, role and priority are to be made anew; written without a lock
 * @breaker: preemption is off here, and why, since @breaker_at (ktime_get_ns())
 * @breaker_until: when it is on again, ktime_get_ns(); KFD_PRIO_NEVER: not by itself
 * @breaker_known: CWSR is known to fail here
 * @backoff: for how long the next failure switches it off
 * @culprit: the process for which it is off
 * @suspect: the process whose queue was in the way of the last unmap or MES command
 * @mes_queue: the queue that MES is removing
 * @thread: waits for @timer, or for a ring; NULL before a priority was set
 * @scratch: the thread's memory for what it looks at
 * @timer: wakes the thread
 * @kicked: there is something to look at
 *
 * Protected by the DQM lock, but for @link, @users, @thread (set before the first claim),
 * @rang, @look_now, @roles_due, @look_at, @look_rest, @look_more, @poll_rest, @count_at, @timer and
 * @kicked.
 */
struct kfd_prio_dqm {
	ktime_t unmap_start;
	u32 unmap_seq;
	u32 epoch;
	bool unmap_running;
	bool in_fault;
	bool unmap_pending;
	u64 unmap_sent;
	bool unmap_lost;
	bool has_grace;
	bool grace_set;
	u64 unmapped_at;
	u64 restored_at;

	struct device_queue_manager *dqm;
	struct list_head link;
	unsigned int users;
	struct list_head claims;
	struct list_head neighbours;
	struct list_head resting;
	u64 claims_at;
	atomic_t rang;
	bool quiet_taken;
	bool look_now;
	bool roles_due;
	u64 look_at;
	unsigned int look_rest;
	bool look_more;
	unsigned int poll_rest;
	u64 count_at;
	u64 debug_at;
	struct kfd_prio_policy policy;
	struct kfd_prio_decision last;
	u64 last_at;
	int throttle;
	int lowest;
	s32 pid;
	s32 begun_pid;
	u32 seq;
	u64 begun_at;
	u64 begun;
	struct kfd_prio_totals totals;
	u32 victims;
	u32 counted;
	u32 parked;
	u32 park_seq;
	bool unpark_due;
	struct kfd_prio_parking parking;
	bool park_update;
	u32 charged;
	bool crowded;
	u32 skipped;
	u32 victim_queues;
	struct kfd_prio_cost save;
	u64 save_ns;
	u64 save_recent_ns;
	u64 save_part_ns;
	struct hlist_head costs;
	bool taken;
	bool was_over;
	bool recheck;
	bool unmap_first;
	bool missed;
	u64 retry_at;
	bool orphans;
	enum kfd_prio_breaker breaker;
	u64 breaker_at;
	u64 breaker_until;
	bool breaker_known;
	struct kfd_prio_backoff backoff;
	struct kfd_prio_suspect culprit;
	struct kfd_prio_suspect suspect;
	struct queue *mes_queue;
	struct task_struct *thread;
	struct kfd_prio_snapshot *scratch;
	struct hrtimer timer;
	atomic_t kicked;
};

/* Module load and unload; no lock.  At unload no process and no open file is left. */
void kfd_prio_hook_module_init(void);
void kfd_prio_hook_module_exit(void);

/* /dev/kfd; no lock.  open: true if the file is for ioctls alone and is done with. */
bool kfd_prio_hook_open(struct file *filep);
bool kfd_prio_owns_ioctl(struct file *filep, unsigned int cmd);
long kfd_prio_hook_ioctl(struct file *filep, unsigned int cmd, unsigned long arg);

/* /sys/class/kfd/kfd/proc/<pid>, stats_<gpuid> in it; creation: kfd_processes_mutex, show: none */
bool kfd_prio_owns_attr(const struct attribute *attr);
ssize_t kfd_prio_hook_procfs_show(struct kobject *kobj, char *buffer);
void kfd_prio_hook_process_sysfs(struct kobject *kobj);
ssize_t kfd_prio_hook_stats_show(struct kobject *kobj, struct attribute *attr, char *buffer);
void kfd_prio_hook_stats_sysfs(struct kobject *kobj);

/*
 * Life of a process.  created, nameless, context_created: kfd_processes_mutex; failed: the same,
 * which is dropped and taken again; found: kfd_processes_srcu; opened: none; exit: the process's
 * mm goes, no lock; release, free: begin and end of its last release, no lock.  doorbell_mmap:
 * mmap_lock of the process, for writing.  unmap_range: a GPU is being reset, no lock of KFD's.
 */
void kfd_prio_hook_process_created(struct kfd_process *p);
void kfd_prio_hook_process_failed(struct kfd_process *p, struct mutex *processes_mutex,
				  unsigned int refs);
void kfd_prio_hook_process_found(struct kfd_process **p);
void kfd_prio_hook_process_nameless(struct kfd_process *p);
void kfd_prio_hook_process_opened(struct kfd_process *p, struct file *filep);
void kfd_prio_hook_context_created(struct kfd_process *p, struct file *filep);
void kfd_prio_hook_process_exit(struct kfd_process *p);
void kfd_prio_hook_process_release(struct kfd_process *p);
void kfd_prio_hook_process_free(struct kfd_process *p);
bool kfd_prio_hook_doorbell_mmap(struct kfd_process_device *pdd, struct vm_area_struct *vma,
				 phys_addr_t address);
void kfd_prio_hook_unmap_range(loff_t start, loff_t len);

/* A debugger's operation begins; no lock: they may wait */
void kfd_prio_hook_debug_trap(u32 op);
void kfd_prio_hook_runtime_enable(void);

/* Process lock, or the process's mm goes, no lock */
bool kfd_prio_hook_drain_interrupts(struct kfd_process *p);
void kfd_prio_hook_process_unhashed(struct kfd_process *p);
bool kfd_prio_hook_queue_nameless(struct queue *q);

/* A GPU comes and goes; no lock */
void kfd_prio_hook_dqm_init(struct device_queue_manager *dqm);
void kfd_prio_hook_dqm_uninit(struct device_queue_manager *dqm);

/* Process lock; destroy_queue also from the last release of a process, no lock */
bool kfd_prio_hook_request_priority(struct queue *q, u32 priority);
void kfd_prio_hook_destroy_queue(struct queue *q, enum kfd_prio_destroy_reason reason, int ret);

/* DQM lock */
void kfd_prio_hook_create_queue(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				struct queue *q);
void kfd_prio_hook_init_mqd(struct device_queue_manager *dqm, struct queue *q, bool restored);
void kfd_prio_hook_resolve_priority(struct device_queue_manager *dqm, struct queue *q);
void kfd_prio_hook_update_queue(struct device_queue_manager *dqm, struct queue *q, int ret);
void kfd_prio_hook_map_queues(struct device_queue_manager *dqm, int ret);
void kfd_prio_hook_unmap_queues(struct device_queue_manager *dqm, u32 filter, u32 param);
void kfd_prio_hook_unmap_sent(struct device_queue_manager *dqm, int ret);
bool kfd_prio_hook_unmap_wait(struct device_queue_manager *dqm, int *ret);
void kfd_prio_hook_unmap_done(struct device_queue_manager *dqm, int ret);
void kfd_prio_hook_evict_process(struct device_queue_manager *dqm,
				 struct qcm_process_device *qpd, int ret);
void kfd_prio_hook_restore_process(struct device_queue_manager *dqm,
				   struct qcm_process_device *qpd, int ret);
void kfd_prio_hook_hws_hang(struct device_queue_manager *dqm);
void kfd_prio_hook_queue_reset(struct queue *q);
void kfd_prio_hook_map_prepare(struct device_queue_manager *dqm);
void kfd_prio_hook_runlist_size(struct device_queue_manager *dqm, unsigned int *processes);
bool kfd_prio_hook_runlist_skip(struct qcm_process_device *qpd);
bool kfd_prio_hook_terminate_preempted(struct device_queue_manager *dqm,
				       struct qcm_process_device *qpd, u32 filter);
void kfd_prio_hook_fence_wait(void);

/*
 * DQM lock; in the object that calls them.  Each call must stay a call: kfd_prio_hooked.sh
 * looks for it there.
 */
noinline __noclone
bool kfd_prio_hook_update_preempted(struct kfd_process_device *pdd, struct queue *q,
				    struct mqd_update_info *minfo, int *ret);
noinline __noclone
void kfd_prio_hook_unregister_process(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd);

/* DQM lock, MES lock for all but the first */
void kfd_prio_hook_mes_priority(struct queue *q, u32 *level);
void kfd_prio_hook_mes_added(struct device_queue_manager *dqm, struct queue *q, u32 level,
			     int ret);
void kfd_prio_hook_mes_remove(struct device_queue_manager *dqm, struct queue *q);

#endif /* KFD_PRIO_HOOKS_H_INCLUDED */
