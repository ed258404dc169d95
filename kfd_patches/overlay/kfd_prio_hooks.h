/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the hooks that hooks.cocci adds to amdkfd, the lock that each runs under, and the
 * members that kfdprio adds to KFD's structures. kfd_priv.h includes this file before KFD's own
 * structures are defined, so nothing here may use their members.
 *
 * A hook cannot make its caller fail, and takes no lock that KFD holds around it.
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
#include "kfd_prio_state.h"

struct device_queue_manager;
struct kfd_process;
struct kfd_process_device;
struct kfd_prio_groups;
struct kfd_prio_snapshot;
struct kfd_prio_step;
struct mm_struct;
struct mutex;
struct mqd_update_info;
struct pid;
struct qcm_process_device;
struct queue;
struct task_struct;
struct vm_area_struct;

/**
 * struct kfd_prio_cost - measured saves
 * @count: number of saves
 * @sum_ns: sum of their times, ns
 * @max_ns: the longest one, ns
 */
struct kfd_prio_cost {
	u64 count;
	u64 sum_ns;
	u64 max_ns;
};

/**
 * struct kfd_prio_queue - members that kfdprio adds to struct queue
 * @asked: priority that the owner asks for, 0..15; written under the process lock, and read without
 *	a lock by the update that follows
 * @requested: value of @asked at the time of the last update; protected by the DQM lock, as is
 *	queue_properties.priority, the priority in force
 * @save_seen: begin of the last save on the first XCC that was read, a stamp of CP firmware;
 *	protected by the DQM lock, like all members below but @announced
 * @rest_seen: value of &struct kfd_prio_qpd.taken_count when the MQD was read and showed no work
 * @announced: kfd_create_queue was traced, and kfd_destroy_queue was not yet
 * @held: preemption has set queue_properties.is_evicted, and will clear it
 * @off: preemption has made the queue inactive, or keeps it inactive, and will make it active again
 * @dead: the queue was reset alone, and stays off the hardware
 * @marked: preemption has changed queue_properties.is_active, and MES does not know yet; false when
 *	the DQM lock is released, unless MES is to be asked again
 * @late: MES was not asked, or could not be asked, to add the queue: it is marked as off until it
 *	is added
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
 * struct kfd_prio_values - settings of a thread group, or of an orphan (kfd_prio_identity.c)
 * @prio: the priority, 0..15; KFD_PRIO_UNSET if none is set
 * @by: KFD_PRIO_BY_*, how @prio was set
 * @never_by: KFD_PRIO_BY_*, how the process was set never to be parked; KFD_PRIO_BY_NOBODY: it may
 *	be parked
 */
struct kfd_prio_values {
	int prio;
	u32 by;
	u32 never_by;
};

/**
 * struct kfd_prio_process - members that kfdprio adds to struct kfd_process
 * @inode: inode through whose address space the process maps /dev/kfd, so that its doorbells can be
 *	unmapped without a walk over its mm; NULL if none could be allocated: its doorbells are
 *	polled
 * @mm: for a further context of a process: its mm, mmgrab()ed, because the context may outlive the
 *	mm; else NULL
 * @notified: bit 0: notify descriptors have reported that the process opened KFD
 * @gone: the mm of the process is gone, a descriptor may keep the process; written without a lock
 * @serial: number of the process, never used again; written before the process is published
 * @users: number of holders, one of them the list of published processes; protected by the lock of
 *	that list
 * @live: the release of the process has not begun; protected by the same lock
 * @link: link in the list of published processes, see kfd_prio_processes.c; protected by the same
 *	lock
 * @lead: thread group that opened KFD, referenced until the release; a constant
 * @lead_mm: mm for which the process was created, mmgrab()ed until the release; a constant
 * @family: @serial of the first context of the process, which the user space interface reports
 * @gone_at: jiffies when @lead_mm was first observed without a user, with bit 0 set; 0: not yet;
 *	written without a lock
 * @orphan: no thread of @lead has @lead_mm; never cleared; written without a lock
 * @own: settings of an orphan; written under kfd_prio_orphan_mutex, read without a lock
 * @groups: of an orphan: the thread groups that had @lead_mm in the last search; protected by
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
 * enum kfd_prio_trap - state of the doorbell trap of a process on a GPU
 * @KFD_PRIO_TRAP_OFF: the doorbells are not trapped, because preemption does not depend on the work
 *	of the process
 * @KFD_PRIO_TRAP_ARMED: the process has no work; its doorbells are not mapped, and a ring faults
 * @KFD_PRIO_TRAP_RUNG: the process may have work; its doorbells may be mapped
 */
enum kfd_prio_trap {
	KFD_PRIO_TRAP_OFF,
	KFD_PRIO_TRAP_ARMED,
	KFD_PRIO_TRAP_RUNG,
};

/**
 * enum kfd_prio_role - part of a process with queues on a GPU in preemption
 * @KFD_PRIO_ROLE_NONE: the work of the process is not observed: it counts as having some
 * @KFD_PRIO_ROLE_CLAIM: the process may preempt
 * @KFD_PRIO_ROLE_NEIGHBOUR: the process may be preempted, and may not preempt
 */
enum kfd_prio_role {
	KFD_PRIO_ROLE_NONE,
	KFD_PRIO_ROLE_CLAIM,
	KFD_PRIO_ROLE_NEIGHBOUR,
};

/**
 * struct kfd_prio_qpd - members that kfdprio adds for a process on a GPU (qcm_process_device)
 * @preempted: kfdprio holds one count of qpd->evicted: the process is off or parked
 * @parked: the process is parked; only while @preempted
 * @skip: the process is left out of the runlist
 * @kfd_first: KFD had evicted the process before kfdprio took it off: if KFD restores it first,
 *	kfdprio puts its queues back
 * @left_preempted: the process was @preempted and no queue of it was active when it was
 *	unregistered
 * @exiting: the mm of the process goes, so the process has no claim any more; written without a
 *	lock, see kfd_prio_hook_process_exit()
 * @stale: a queue has changed or is gone, so @prio must be computed again; written without a lock
 * @prio: rank of the process, kfd_prio_policy_rank()
 * @taken_epoch: kfd_prio_dqm.epoch when the process was marked as off; HWS has not confirmed the
 *	unmap while both are equal
 * @taken_at: when the process was last marked as off, ktime_get_ns()
 * @taken_count: how often the process was marked as off
 * @proved: the process is off, and its MQDs and indices have shown no work since; cleared when the
 *	process may be mapped
 * @counted: the process counts as preempted: it is off, and has work as far as is known
 * @preempted_at: when the process began to count as preempted, ktime_get_ns()
 * @preempted_ns: total time for which it did, ns, without the time since @preempted_at
 * @preempted_count: how often the process was preempted
 * @preempting_count: how often the process has preempted others
 * @save: saves of its queues, the longest one of each preemption
 * @cost: link in kfd_prio_dqm.costs while the present save was not read yet
 * @cost_seen: value of @taken_count when the process was added to that list
 * @still: of a neighbour: its trap is armed because its indices have not moved for long. The
 *	process may have waves, and @work is set then
 * @exempt: the process is set never to be parked
 * @unpark_due: kfd_unpark is to be traced when the runlist was sent
 * @unparked: reason for that event, enum kfd_prio_unpark_reason
 * @woke_by: reason for the next wake, enum kfd_prio_unpark_reason; written before @trap changes,
 *	without a lock
 * @quiet_at: when the trap was armed, or when the indices last moved if that counts, ktime_get_ns()
 * @ring_at: when a trapped doorbell was last rung, ktime_get_ns(); written by the fault
 * @parked_at: when the process was parked, ktime_get_ns()
 * @parked_ns: total time for which the process was parked, ns, without the time since @parked_at
 * @park_last_ns: how long the process was parked the last time, ns
 * @parked_count: how often the process was parked
 * @park_seq: number of its last parking on this GPU, joins kfd_park to kfd_unpark
 * @park_wakes: how often the process was woken while parked
 * @role: enum kfd_prio_role; written under the DQM lock
 * @look: observe the process again: it was taken off, or is a neighbour whose queues have changed;
 *	written without a lock
 * @rests: of a neighbour: it is in kfd_prio_dqm.resting and counts as having no work
 * @claim: link in kfd_prio_dqm.claims, .neighbours or .resting, by @role and @rests
 * @poll: of a claim: link in kfd_prio_dqm.rung_claims, .fresh_claims or .trapped_claims
 * @observed_at: of a claim: end of its last observation, ktime_get_ns(); 0: none yet
 * @set_prio: priority that was set when the claim was created
 * @mm: address space of the process, mmgrab()ed; NULL without a role
 * @wakes: how often @rung was set
 * @waves: waves may be in flight: the indices have moved since waves were counted, or there were
 *	some
 * @ended: the packets showed in the last observation that the work may have ended
 * @rung: @trap was KFD_PRIO_TRAP_RUNG when the engine last read it
 * @rung_at: since when @rung is set, ktime_get_ns()
 * @moved_at: when the indices were last observed to move, or the process rang, ktime_get_ns()
 * @counted_at: when the waves of the process were last counted, ktime_get_ns()
 * @work, @work_at, @progress_at: see struct kfd_prio_claim. Of a neighbour @work_at is unused, and
 *	@progress_at is when its indices were last observed to move
 * @rptr_sum, @wptr_sum: sums of the indices of its queues in the last observation
 * @trap: enum kfd_prio_trap
 * @faults: number of faults of its doorbells that are in progress
 * @fault_end: when the last of these ended, ktime_get_ns(); written by the fault
 * @doorbell_pfn: first page frame of its doorbells, 0 if the process never mapped them
 * @doorbell_pgoff: their offset in /dev/kfd, in pages
 * @doorbell_pages: their number of pages
 * @doorbell_lost: a GPU reset has unmapped the doorbells until the process maps them again
 * @doorbell_mappings: mappings of the doorbells that a zap reaches
 * @doorbell_untrapped: the process has mapped its doorbells in a way that no zap reaches, or too
 *	often; never cleared
 *
 * Protected by the DQM lock, except for @exiting, @stale, @look, @woke_by, @ring_at, @trap, @faults
 * and @fault_end, which are read and written without a lock, and for the last six, which mmap(2)
 * and munmap(2) write, and a reset (@doorbell_lost).
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
	struct list_head poll;
	u64 observed_at;
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
	atomic_t doorbell_mappings;
};

/**
 * struct kfd_prio_suspect - a process whose queue was in the way of the scheduler
 * @pid: its PID in the initial namespace; 0: none is known
 * @comm: name of the process at that time, which the process chooses itself
 */
struct kfd_prio_suspect {
	s32 pid;
	char comm[16];
};

/**
 * struct kfd_prio_totals - totals of a GPU since its driver was loaded
 * @preempted_count: how often a process was preempted
 * @preempted_ns: total time for which processes were preempted, ns, without those that are
 *	preempted now
 * @parked_count: how often a process was parked
 * @parked_ns: total time for which processes were parked, ns, without those that are parked now
 * @update_ns: total time of the updates of the hardware for preemption and parking, ns, see
 *	kfd_prio_engine_step()
 *
 * Unlike the counts in struct kfd_prio_qpd, the totals include processes that have ended.
 */
struct kfd_prio_totals {
	u64 preempted_count;
	u64 preempted_ns;
	u64 parked_count;
	u64 parked_ns;
	u64 update_ns;
};

/**
 * struct kfd_prio_dqm - members that kfdprio adds to struct device_queue_manager
 * @unmap_start: begin of the unmap in progress, if it is traced
 * @unmap_seq: number of the last unmap, joins kfd_unmap_queues to kfd_unmap_queues_done
 * @epoch: number of unmaps that HWS has confirmed; a process whose taken_epoch is lower has left
 *	the hardware
 * @unmap_running: an unmap is in progress, and is traced
 * @unmap_sent: when the last unmap was sent, ktime_get_ns()
 * @has_grace: the grace period of an unmap can be set
 * @grace_set: the shortest grace period is set, and was not set back yet
 * @unmapped_at: when all queues were unmapped, ktime_get_ns(); 0: a runlist was sent since
 * @mapped_at: when the last runlist after such an unmap was sent, ktime_get_ns()
 * @restored_at: estimated time, ktime_get_ns(), at which the waves that the last unmap saved are
 *	restored: as long after the runlist as the unmap took, KFD_PRIO_RESTORE_MAX_NS at most
 * @dqm: the device queue manager that contains this
 * @link: link in the list of GPUs, protected by kfd_prio_gpu_mutex
 * @users: number of holders of the GPU, see kfd_prio_gpu_hold(); protected by a lock of its own
 * @claims: processes that may preempt on this GPU
 * @neighbours: processes that may not preempt, and may have work
 * @resting: processes that may not preempt and have no work; their doorbells are trapped
 * @rung_claims: those of @claims whose trap was KFD_PRIO_TRAP_RUNG when the engine last read it;
 *	kfd_prio_poll.c describes the three lists
 * @fresh_claims: those whose trap was armed then, which are to be observed at once
 * @trapped_claims: the others whose trap was armed, in the order in which they were observed
 * @claim_rang: a process of @fresh_claims or @trapped_claims may have rung
 * @claim_taken: a process of @trapped_claims was taken off
 * @claims_at: end of the last pass that has observed processes of @rung_claims, ktime_get_ns(), or
 *	when the observation of neighbours last paused
 * @claims_reads: number of reads in that pass
 * @fresh_at: begin of the last observation of a process of @fresh_claims, ktime_get_ns()
 * @fresh_reads: number of reads in it
 * @trapped_at: when the last observation of a process of @trapped_claims was due, ktime_get_ns()
 * @trapped_reads: number of reads in it
 * @rang: a neighbour may have rung, or queues of a process have changed
 * @quiet_taken: a process of @resting was taken off: its MQDs are to be read
 * @look_now: neighbours are to be observed before the next poll is due
 * @roles_due: the doorbells of a process can be trapped no more: roles must be assigned again
 * @looked_at: when the last poll of the neighbours began, ktime_get_ns(); written by the thread
 *	only, as are the next five
 * @rest_at: no neighbour is observed before this time, ktime_get_ns()
 * @look_reads: number of reads since the last pause, or the last complete observation
 * @look_rest: number of processes of @neighbours that are left of an observation that a kick has
 *	interrupted, or that pauses until @rest_at; the next step resumes it
 * @look_more: some processes of @resting whose queues have changed are left of it
 * @poll_rest: number of other processes of @resting that are left of the last poll
 * @count_at: waves in flight are not counted before this time, ktime_get_ns(); used by the thread
 *	only
 * @debugged_at: when the last operation of a debugger was permitted, ktime_get_ns(); protected by
 *	kfd_prio_gpu_lock()
 * @policy: state of the policy
 * @last: the last decision of the policy
 * @last_at: when @last was made, ktime_get_ns()
 * @throttle: claims of at least this priority are off while the processes that they preempted get
 *	their floor; KFD_PRIO_LEVEL_NONE: no floor is being given
 * @lowest: rank of the lowest process that has work and may be kept off, KFD_PRIO_RANK_NONE if
 *	there is none; as of the last walk over the processes, or of a later ring or new queue
 * @pid: PID of the process that preempts now, in the initial namespace; 0 if none does
 * @begun_pid: PID of the process that began the preemption in force
 * @seq: number of that preemption, joins kfd_preempt_begin to kfd_preempt_end
 * @begun_at: when it began, ktime_get_ns(); 0 if no preemption was announced
 * @begun: number of preemptions so far
 * @totals: totals of all processes, including those that have ended
 * @victims: number of processes that are off or parked now
 * @counted: number of processes that count as preempted now
 * @parked: number of processes that are parked now
 * @park_seq: number of times that a process was parked so far
 * @unpark_due: kfd_unpark is to be traced for a process
 * @parking: facts that decide whether a process is parked, as of the last decision
 * @saving: number of processes with work that the last marking has taken off
 * @charged: number of processes that are off and have work that they could run, or may have some
 * @crowded: the runlist is over-subscribed: it has more processes than VMIDs, or more queues than
 *	HQDs
 * @skipped: number of processes that are left out of the runlist
 * @victim_queues: number of queues that were taken off when the preemption in force began
 * @save: saves of preempted processes, the longest one of each process and preemption
 * @save_ns: the longest save since the preemption in force began, ns; 0: not known
 * @save_recent_ns: time of a save, ns: exponential mean over eight preemptions of the longest save
 *	of each, which counts as four times the previous mean at most; 0: not known
 * @save_short_ns: as @save_recent_ns, but a shorter save counts in full: how long a save takes at
 *	least
 * @save_part_ns: the longest save of the processes that were read since the last preemption in that
 *	mean, ns
 * @costs: processes that were taken off and whose saves were not read yet, see kfd_prio_cost_look()
 * @taken: a process was taken off that is not in @costs yet
 * @was_over: KFD had taken the runlist before the one that is being built to be over-subscribed
 * @recheck: the set of processes to be kept off may have changed
 * @state: how far the hardware agrees with the marks, see kfd_prio_state.h
 * @step: the step of the engine that is in progress; NULL: none is
 * @unexpected: number of events that @state did not expect
 * @retry_at: a failed update is not tried again before this time, ktime_get_ns()
 * @orphans: a process that may have queues here has become an orphan, or the settings of one have
 *	changed: its rank, role and priority must be computed again; written without a lock
 * @breaker: state of the circuit breaker, and the cause if it is open
 * @breaker_at: when the breaker was opened, ktime_get_ns()
 * @breaker_until: when the breaker closes, ktime_get_ns(); KFD_PRIO_NEVER: not by itself
 * @breaker_known: CWSR is known to fail on this GPU
 * @backoff: for how long the next failure opens the breaker
 * @culprit: the process that caused the breaker to open
 * @suspect: the process whose queue was in the way of the last unmap or MES command
 * @mes_queue: the queue that MES is removing
 * @thread: the GPU's thread, which waits for @timer and for kicks; NULL until a priority is set
 * @scratch: buffer of the thread for the process that it observes
 * @timer: wakes the thread
 * @kicked: enum kfd_prio_kick, why the thread is woken
 * @awake: the thread was woken and will start the timer; written by the thread, and cleared under
 *	the DQM lock
 *
 * Protected by the DQM lock, except for @link, @users and @debugged_at, whose locks are above;
 * @thread, which is set before the first claim; @claim_rang, @rang, @look_now, @roles_due, @orphans
 * and @kicked, which are read and written without a lock; and @timer and the members that only the
 * thread uses.
 */
struct kfd_prio_dqm {
	ktime_t unmap_start;
	u32 unmap_seq;
	u32 epoch;
	bool unmap_running;
	u64 unmap_sent;
	bool has_grace;
	bool grace_set;
	u64 unmapped_at;
	u64 mapped_at;
	u64 restored_at;

	struct device_queue_manager *dqm;
	struct list_head link;
	unsigned int users;
	struct list_head claims;
	struct list_head neighbours;
	struct list_head resting;
	struct list_head rung_claims;
	struct list_head fresh_claims;
	struct list_head trapped_claims;
	atomic_t claim_rang;
	bool claim_taken;
	u64 claims_at;
	u32 claims_reads;
	u64 fresh_at;
	u32 fresh_reads;
	u64 trapped_at;
	u32 trapped_reads;
	atomic_t rang;
	bool quiet_taken;
	bool look_now;
	bool roles_due;
	u64 looked_at;
	u64 rest_at;
	unsigned int look_reads;
	unsigned int look_rest;
	bool look_more;
	unsigned int poll_rest;
	u64 count_at;
	u64 debugged_at;
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
	u32 saving;
	u32 charged;
	bool crowded;
	u32 skipped;
	u32 victim_queues;
	struct kfd_prio_cost save;
	u64 save_ns;
	u64 save_recent_ns;
	u64 save_short_ns;
	u64 save_part_ns;
	struct hlist_head costs;
	bool taken;
	bool was_over;
	bool recheck;
	enum kfd_prio_state state;
	struct kfd_prio_step *step;
	u64 unexpected;
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
	bool awake;
};

/* Module load and unload; no lock. At unload no process and no open file is left. */
void kfd_prio_hook_module_init(void);
void kfd_prio_hook_module_exit(void);

/*
 * /dev/kfd; no lock. kfd_prio_hook_open() returns true if the file is for ioctls only: KFD is done
 * with it.
 */
bool kfd_prio_hook_open(struct file *filep);
bool kfd_prio_owns_ioctl(struct file *filep, unsigned int cmd);
long kfd_prio_hook_ioctl(struct file *filep, unsigned int cmd, unsigned long arg);

/*
 * /sys/class/kfd/kfd/proc/<pid> and its stats_<gpuid>. Creation: kfd_processes_mutex; show: no
 * lock.
 */
bool kfd_prio_owns_attr(const struct attribute *attr);
ssize_t kfd_prio_hook_procfs_show(struct kobject *kobj, char *buffer);
void kfd_prio_hook_process_sysfs(struct kobject *kobj);
ssize_t kfd_prio_hook_stats_show(struct kobject *kobj, struct attribute *attr, char *buffer);
void kfd_prio_hook_stats_sysfs(struct kobject *kobj);

/*
 * Life of a process and its doorbells. Locks:
 * - process_created, process_nameless, context_created: kfd_processes_mutex;
 * - process_failed: the same, which the hook drops and takes again;
 * - process_found: kfd_processes_srcu;
 * - process_opened: none;
 * - process_exit: none; the mm of the process goes;
 * - process_release, process_free: none; begin and end of the last release of the process;
 * - doorbell_mmap: mmap_lock of the process, for writing;
 * - unmap_range: none of KFD's; a GPU is being reset.
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

/* An operation of a debugger begins; no lock, because these hooks may wait */
void kfd_prio_hook_debug_trap(u32 op);
void kfd_prio_hook_runtime_enable(void);

/*
 * drain_interrupts, queue_nameless: process lock, or none while the mm of the process goes or the
 * process is released; process_unhashed: kfd_processes_mutex
 */
bool kfd_prio_hook_drain_interrupts(struct kfd_process_device *pdd);
void kfd_prio_hook_process_unhashed(struct kfd_process *p);
bool kfd_prio_hook_queue_nameless(struct queue *q);

/* A GPU is added or removed; no lock */
void kfd_prio_hook_dqm_init(struct device_queue_manager *dqm);
void kfd_prio_hook_dqm_uninit(struct device_queue_manager *dqm);

/* Process lock; destroy_queue also from the last release of a process, without a lock */
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
void kfd_prio_hook_unregister_process(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd);

/*
 * DQM lock; compiled into the object that calls it. The call must stay a call, because
 * kfd_prio_hooked.sh looks for it in that object.
 */
noinline __noclone
bool kfd_prio_hook_update_preempted(struct kfd_process_device *pdd, struct queue *q,
				    struct mqd_update_info *minfo, int *ret);

/* DQM lock; the MES lock as well for all but the first */
void kfd_prio_hook_mes_priority(struct queue *q, u32 *level);
void kfd_prio_hook_mes_added(struct device_queue_manager *dqm, struct queue *q, u32 level,
			     int ret);
void kfd_prio_hook_mes_remove(struct device_queue_manager *dqm, struct queue *q);

#endif /* KFD_PRIO_HOOKS_H_INCLUDED */
