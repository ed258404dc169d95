/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the members that kfdprio adds to KFD's structures, but for those of a GPU
 * (kfd_prio_dqm.h). KFD's own structures are not defined yet where this file is included.
 */
#ifndef KFD_PRIO_MEMBERS_H_INCLUDED
#define KFD_PRIO_MEMBERS_H_INCLUDED

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/types.h>
#include "kfd_prio_policy.h"

struct kfd_prio_account;
struct kfd_prio_group;
struct kfd_prio_groups;
struct mm_struct;
struct pid;

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
 * @proof_seen: value of &struct kfd_prio_qpd.marked_count when the MQD was read and showed no work
 * @announced: kfd_create_queue was traced, and kfd_destroy_queue was not yet
 * @held: kfdprio has set queue_properties.is_evicted, and clears it when it puts the process back
 * @off: kfdprio has made the queue inactive, or keeps it inactive, and makes it active again when
 *	it puts the process back
 * @dead: KFD has reset the queue alone, and it stays off the hardware
 * @marked: kfdprio has changed queue_properties.is_active, and MES has not confirmed the change;
 *	false when the DQM lock is dropped, unless MES is to be asked again
 * @late: MES was not asked, or could not be asked, to add the queue: the queue is inactive until
 *	MES has added it
 */
struct kfd_prio_queue {
	u32 asked;
	u32 requested;
	u64 save_seen;
	u64 proof_seen;
	bool announced;
	bool held;
	bool off;
	bool dead;
	bool marked;
	bool late;
};

/**
 * enum kfd_prio_group_kind - the groups of a process that share a limit or take turns
 * @KFD_PRIO_GROUP_OWN: the group that the process was put in, or has inherited
 * @KFD_PRIO_GROUP_CGROUP: the group of its cgroup
 * @KFD_PRIO_GROUP_KINDS: number of these
 */
enum kfd_prio_group_kind {
	KFD_PRIO_GROUP_OWN,
	KFD_PRIO_GROUP_CGROUP,
	KFD_PRIO_GROUP_KINDS,
};

/**
 * struct kfd_prio_values - settings of a thread group, or of an orphan (kfd_prio_identity.c)
 * @prio: the priority, 0..15; KFD_PRIO_UNSET if none is set
 * @by: KFD_PRIO_BY_*, how @prio was set
 * @never_by: KFD_PRIO_BY_*, how the process was set never to be parked; KFD_PRIO_BY_NOBODY: it may
 *	be parked
 * @group: the group that it is in, with a reference in an entry of the table; NULL: none; always
 *	NULL for an orphan
 */
struct kfd_prio_values {
	int prio;
	u32 by;
	u32 never_by;
	struct kfd_prio_group *group;
};

/**
 * struct kfd_prio_process - members that kfdprio adds to struct kfd_process
 * @inode: inode through whose address space the process maps /dev/kfd, so that its doorbells can be
 *	unmapped without a walk over its mm; NULL if none could be allocated: its doorbells are
 *	polled
 * @mm: for a further context of a process: its mm, mmgrab()ed, because the context may outlive the
 *	mm; else NULL
 * @notified: bit 0: notify descriptors have reported that the process opened KFD
 * @unhashed: the process has left KFD's table; written under kfd_processes_mutex
 * @drain_timer: ends the wait of kfd_process_drain_interrupts(); initialised before the process is
 *	published, and cancelled before the process is freed
 * @gone: the mm of the process has no user any more, and a descriptor may keep the process;
 *	written without a lock
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
 * @orphan: the process was found to be an orphan: no thread of @lead has @lead_mm, or a descriptor
 *	keeps the process; never cleared; written without a lock
 * @own: settings of an orphan; written under kfd_prio_orphan_mutex, read without a lock
 * @groups: of an orphan: the thread groups that had @lead_mm in the last search; protected by
 *	kfd_prio_orphan_mutex
 * @group: groups that share a limit or take turns, each with a reference; written under
 *	kfd_prio_group_lock(), read without a lock
 */
struct kfd_prio_process {
	struct inode *inode;
	struct mm_struct *mm;
	unsigned long notified;
	bool unhashed;
	struct hrtimer drain_timer;
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
	struct kfd_prio_group *group[KFD_PRIO_GROUP_KINDS];
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
 * struct kfd_prio_qpd_claim - a process with the role of a claim, on one GPU
 * @prio: priority that was set when the claim was created
 * @link: link in kfd_prio_dqm.rung_claims, .fresh_claims or .trapped_claims
 * @observed_at: end of the last observation, ktime_get_ns(); 0: none yet
 * @rung: the trap was KFD_PRIO_TRAP_RUNG when the engine last read it
 * @rung_since: since when @rung is set, ktime_get_ns()
 * @wakes: how often @rung was set
 * @waves: waves may be in flight: the indices have moved since waves were counted, or there were
 *	some
 * @counted_at: when the waves of the process were last counted, ktime_get_ns()
 * @ended: the packets showed in the last observation that the work may have ended
 * @moved_at: when the indices were last observed to move, or the process rang, ktime_get_ns()
 * @work_at: when work was last observed, ktime_get_ns(), see struct kfd_prio_claim
 * @signalled_at: when the GPU first signalled an event of the process since the last observation,
 *	ktime_get_ns(); 0: it has signalled none
 * @signal_at: when it last signalled one, ktime_get_ns(); valid if @signalled_at
 * @signals: an event was signalled at the end of the last work: the process waits with events;
 *	written under the DQM lock
 *
 * Protected by the DQM lock, except for @signalled_at and @signal_at, which are read and written
 * without a lock, and for @signals, which is read without one.
 */
struct kfd_prio_qpd_claim {
	int prio;
	struct list_head link;
	u64 observed_at;
	bool rung;
	u64 rung_since;
	u32 wakes;
	bool waves;
	u64 counted_at;
	bool ended;
	u64 moved_at;
	u64 work_at;
	u64 signalled_at;
	u64 signal_at;
	bool signals;
};

/**
 * struct kfd_prio_qpd_neighbour - a process with the role of a neighbour, on one GPU
 * @quiet: the process counts as having no work, and is in kfd_prio_dqm.quiet_neighbours
 * @stalled: its trap is armed because its indices have not moved for long. The process may have
 *	waves, and kfd_prio_qpd.work is set then
 *
 * Protected by the DQM lock.
 */
struct kfd_prio_qpd_neighbour {
	bool quiet;
	bool stalled;
};

/**
 * struct kfd_prio_qpd_park - the parking of a process on one GPU
 * @parked: the process is parked; only while kfd_prio_qpd.preempted
 * @exempt: the process is set never to be parked
 * @quiet_at: when the trap was armed, or when the indices last moved if that counts, ktime_get_ns()
 * @at: when the process was parked, ktime_get_ns()
 * @total_ns: total time for which the process was parked, ns, without the time since @at
 * @last_ns: how long the process was parked the last time, ns
 * @ended_at: when that ended, ktime_get_ns()
 * @count: how often the process was parked
 * @seq: number of its last parking on this GPU, joins kfd_park to kfd_unpark
 * @wakes: how often the process was woken while parked
 * @trace_due: kfd_unpark is to be traced when the runlist was sent
 * @ended_by: reason for that event, enum kfd_prio_unpark_reason
 * @woke_by: reason for the next wake, enum kfd_prio_unpark_reason; written before the trap changes
 *
 * Protected by the DQM lock, except for @woke_by, which is read and written without a lock.
 */
struct kfd_prio_qpd_park {
	bool parked;
	bool exempt;
	u64 quiet_at;
	u64 at;
	u64 total_ns;
	u64 last_ns;
	u64 ended_at;
	u64 count;
	u32 seq;
	struct kfd_prio_wakes wakes;
	bool trace_due;
	enum kfd_prio_unpark_reason ended_by;
	enum kfd_prio_unpark_reason woke_by;
};

/**
 * struct kfd_prio_qpd_doorbell - the doorbells of a process on one GPU, and their trap
 * @trap: enum kfd_prio_trap
 * @rung_at: when a trapped doorbell was last rung, ktime_get_ns()
 * @faults: number of faults of the doorbells that are in progress
 * @fault_end: when the last of these ended, ktime_get_ns()
 * @pfn: first page frame of the doorbells, 0 if the process never mapped them
 * @pgoff: their offset in /dev/kfd, in pages
 * @pages: their number of pages
 * @mappings: mappings of the doorbells that a zap reaches
 * @untrapped: the process has mapped its doorbells in a way that no zap reaches, or too often;
 *	never cleared
 * @lost: a GPU reset has unmapped the doorbells until the process maps them again
 *
 * Read and written without a lock. The engine changes @trap from any context. The fault of a
 * doorbell writes @rung_at, @faults and @fault_end. mmap(2) and munmap(2) write @pfn, @pgoff,
 * @pages, @mappings and @untrapped under the mmap_lock of the process; a reset writes @lost.
 * @pfn is stored last and loaded first, see kfd_prio_hook_doorbell_mmap().
 */
struct kfd_prio_qpd_doorbell {
	atomic_t trap;
	u64 rung_at;
	atomic_t faults;
	u64 fault_end;
	unsigned long pfn;
	unsigned long pgoff;
	unsigned int pages;
	atomic_t mappings;
	bool untrapped;
	bool lost;
};

/**
 * struct kfd_prio_qpd_share - the throttling of a process on one GPU
 * @throttle: why the process, which has work, is kept off by its groups
 * @at: since when it is, ktime_get_ns()
 * @ns: total time for which it was, ns, without the time since @at
 * @count: how often that began
 * @seq: number of the last time on this GPU, joins kfd_throttle_begin to kfd_throttle_end
 * @quiet: its doorbells were trapped before the last observation, which found no work
 *
 * Protected by the DQM lock.
 */
struct kfd_prio_qpd_share {
	enum kfd_prio_throttle throttle;
	u64 at;
	u64 ns;
	u64 count;
	u32 seq;
	bool quiet;
};

/**
 * struct kfd_prio_qpd - members that kfdprio adds for a process on a GPU (qcm_process_device)
 * @preempted: kfdprio has taken the process off, and holds one count of qpd->evicted: the process
 *	is off or parked
 * @skip: the process is left out of the runlist
 * @kfd_first: KFD had evicted the process before kfdprio took it off, so KFD has made its queues
 *	inactive. If KFD restores the process first, kfdprio takes the queues over and makes them
 *	active again later (kfd_prio_inherit())
 * @left_preempted: the process was @preempted and no queue of it was active when it was
 *	unregistered
 * @exiting: the mm of the process has no user any more, so the process loses its role; written
 *	without a lock, see kfd_prio_hook_process_exit()
 * @stale: a queue has changed or is gone, so @prio must be computed again; written without a lock
 * @prio: rank of the process, kfd_prio_policy_rank()
 * @marked_epoch: kfd_prio_mark_epoch() when the process was marked as off; HWS has not confirmed
 *	the unmap while it is equal to kfd_prio_dqm.epoch
 * @marked_at: when the process was last marked as off, ktime_get_ns()
 * @marked_count: how often the process was marked as off
 * @proved: the process is taken off, and its MQDs and indices have shown no work since; cleared
 *	when the process is put back
 * @restored_at: estimated time, ktime_get_ns(), at which its waves are restored after it was put
 *	back, unless it was proved to have none; read without a lock
 * @spared: the process has made room for a level (kfd_prio_policy_spares()); cleared when it is put
 *	back
 * @counted: the process counts as preempted: it is off, and has work as far as is known
 * @preempted_at: when the process began to count as preempted, ktime_get_ns()
 * @preempted_ns: total time for which it did, ns, without the time since @preempted_at
 * @preempted_count: how often the process was preempted
 * @preempting_count: how often the process has preempted others
 * @save: saves of the waves of its queues by CWSR, the longest one of each preemption
 * @cost: link in kfd_prio_dqm.costs while the present save was not read yet
 * @cost_count: value of @marked_count when the process was added to that list
 * @role: enum kfd_prio_role; written under the DQM lock
 * @mm: address space of the process, mmgrab()ed; NULL without a role
 * @link: link in kfd_prio_dqm.claims, .neighbours or .quiet_neighbours, by @role and
 *	@neighbour.quiet
 * @observe: observe the process again: it was marked as off, or is a neighbour whose queues have
 *	changed; written without a lock
 * @work: the process had work in the last observation, or has rung since
 * @progress_at: see struct kfd_prio_claim; of a neighbour, when its indices were last observed to
 *	move
 * @rptr_sum, @wptr_sum: sums of the indices of its queues in the last observation
 * @claim, @neighbour: the parts of the two roles
 * @park: its parking
 * @account: its groups on the GPU; NULL: it is in none of this kind, or has no queue there
 * @share: its throttling
 * @doorbell: its doorbells; no lock
 *
 * Protected by the DQM lock, except for @exiting, @stale and @observe, which are read and written
 * without a lock, for @restored_at, which is read without a lock, and for members whose lock the
 * kernel-doc of a part states.
 */
struct kfd_prio_qpd {
	bool preempted;
	bool skip;
	bool kfd_first;
	bool left_preempted;
	bool exiting;
	bool stale;
	int prio;
	u32 marked_epoch;
	u64 marked_at;
	u64 marked_count;
	bool proved;
	u64 restored_at;
	bool spared;
	bool counted;
	u64 preempted_at;
	u64 preempted_ns;
	u64 preempted_count;
	u64 preempting_count;
	struct kfd_prio_cost save;
	struct hlist_node cost;
	u64 cost_count;
	enum kfd_prio_role role;
	struct mm_struct *mm;
	struct list_head link;
	bool observe;
	bool work;
	u64 progress_at;
	u64 rptr_sum;
	u64 wptr_sum;
	struct kfd_prio_qpd_claim claim;
	struct kfd_prio_qpd_neighbour neighbour;
	struct kfd_prio_qpd_park park;
	struct kfd_prio_account *account[KFD_PRIO_GROUP_KINDS];
	struct kfd_prio_qpd_share share;
	struct kfd_prio_qpd_doorbell doorbell;
};

#endif /* KFD_PRIO_MEMBERS_H_INCLUDED */
