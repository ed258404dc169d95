/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the members that kfdprio adds to struct device_queue_manager, which stands for a GPU.
 * KFD's own structures are not defined yet where this file is included.
 */
#ifndef KFD_PRIO_DQM_H_INCLUDED
#define KFD_PRIO_DQM_H_INCLUDED

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include "kfd_prio_backoff.h"
#include "kfd_prio_members.h"
#include "kfd_prio_state.h"

struct device_queue_manager;
struct kfd_prio_snapshot;
struct kfd_prio_step;
struct kfd_prio_turn;
struct queue;
struct task_struct;

/**
 * struct kfd_prio_suspect - a process whose queue HWS or MES could not unmap, remove or add
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
 * @throttled_count: how often a process was throttled
 * @throttled_ns: total time for which processes were throttled, ns, without those that are now
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
	u64 throttled_count;
	u64 throttled_ns;
	u64 update_ns;
};

/**
 * struct kfd_prio_dqm - members that kfdprio adds to struct device_queue_manager
 * @unmap_start: begin of the unmap in progress, ktime_get(); valid if @unmap_running
 * @unmap_seq: number of the last unmap, joins kfd_unmap_queues to kfd_unmap_queues_done
 * @epoch: number of unmaps that HWS or MES has confirmed. With HWS, a process that is marked as off
 *	and whose marked_epoch is lower has left the hardware
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
 * @quiet_neighbours: processes that may not preempt and have no work; their doorbells are trapped
 * @rung_claims: those of @claims whose trap was KFD_PRIO_TRAP_RUNG when the engine last read it;
 *	kfd_prio_poll.c describes the three lists
 * @fresh_claims: those whose trap was armed then, which are to be observed at once
 * @trapped_claims: the others whose trap was armed, in the order in which they were observed
 * @claim_rung: a claim of @fresh_claims or @trapped_claims may have rung
 * @claim_marked: a claim of @trapped_claims was taken off
 * @claims_at: end of the last pass that has observed processes of @rung_claims, ktime_get_ns(), or
 *	when the observation of neighbours last paused
 * @claims_reads: number of reads in that pass
 * @rest_at: before this time no process of the three lists is due by its interval, ktime_get_ns()
 * @fresh_at: begin of the last observation of a process of @fresh_claims, ktime_get_ns()
 * @fresh_reads: number of reads in it
 * @trapped_at: when the last observation of a process of @trapped_claims was due, ktime_get_ns()
 * @trapped_early: the next one is due by this part of its interval earlier, of 2^32; random while
 *	there are groups, otherwise 0
 * @trapped_reads: number of reads in it
 * @neighbour_rung: a neighbour may have rung, queues of a process have changed, or a process was
 *	parked: the next decision walks over @quiet_neighbours
 * @quiet_marked: a process of @quiet_neighbours was taken off: its MQDs are to be read
 * @observe_now: neighbours are to be observed before the next poll is due
 * @roles_due: the doorbells of a process cannot be trapped any more, or @crowd has changed: the
 *	thread must assign the roles again
 * @polled_at: the next poll of the neighbours is due safety_poll_us after this time,
 *	ktime_get_ns(); written by the thread only, as are the next five
 * @paused_until: no neighbour is observed before this time, ktime_get_ns()
 * @neighbour_reads: number of reads since the last pause, or the last complete observation
 * @busy_left: number of processes of @neighbours that are left of an observation that a kick has
 *	interrupted, or that pauses until @paused_until; the next step resumes it
 * @changed_left: some processes of @quiet_neighbours whose queues have changed are left of it
 * @quiet_left: number of other processes of @quiet_neighbours that are left of the last poll
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
 * @nr_off: number of processes that are off: preempted, parked, or making room for a level
 * @counted: number of processes that count as preempted now
 * @parked: number of processes that are parked now
 * @park_seq: number of times that a process was parked so far
 * @unpark_due: kfd_unpark is to be traced for a process
 * @parking: facts that decide whether a process is parked, as of the last decision
 * @crowd: whether idle_park_ms=auto parks processes here; @crowd.parks is read without a lock
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
 * @costs: processes that were taken off and whose saves were not read yet, see kfd_prio_cost_read()
 * @marked: a process was taken off that is not in @costs yet
 * @was_over: the previous runlist was over-subscribed by KFD's record, as of the begin of the one
 *	that is being built
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
 * @suspect: the process whose queue the last unmap did not unmap, or the last command of MES did
 *	not remove or add; see kfd_prio_breaker_suspect()
 * @mes_queue: the queue that MES is removing
 * @mes_failed: MES has not confirmed its last command, a removal, and no reset was on its way
 * @suspended: MES may have suspended gangs, and has not confirmed that all are resumed
 * @slot: number of the GPU, 0..KFD_PRIO_SLOTS - 1; -1: there are too many, or it was removed
 * @accounts: groups that have processes with queues on the GPU
 * @turn: the group whose turn it is on the GPU; NULL: that of the processes without one of their
 *	own; valid if @takes_turns
 * @takes_turns: groups take turns on the GPU
 * @turns_level: level for which the groups that take turns were found last
 * @turns_throttle: throttle for which they were found
 * @share_due: processes were marked, evicted or restored, or have joined or left a group, since
 *	the last walk of kfd_prio_share_settle()
 * @share_works: number of processes that have work, or may have some, as of that walk
 * @share_runs: number of these that are mapped
 * @shared_at: when that walk was, ktime_get_ns()
 * @throttle_seq: number of times that a process was throttled so far
 * @thread: the GPU's thread, which waits for @timer and for kicks; NULL until a priority is
 *	set or parking begins
 * @scratch: buffer of the thread for the process that it observes
 * @timer: wakes the thread
 * @signal_timer: wakes the thread after the interrupt of an event, see kfd_prio_signal.c
 * @kicked: enum kfd_prio_kick, why the thread is woken
 * @awake: the thread runs, and will start the timer at its end; written by the thread, and cleared
 *	under the DQM lock
 *
 * Protected by the DQM lock, except for @link, @users and @debugged_at, whose locks are above;
 * @thread, which is set before the first claim; @claim_rung, @neighbour_rung, @observe_now,
 * @roles_due, @orphans and @kicked, which are read and written without a lock; and the timers and
 * the members that only the thread uses.
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
	struct list_head quiet_neighbours;
	struct list_head rung_claims;
	struct list_head fresh_claims;
	struct list_head trapped_claims;
	atomic_t claim_rung;
	bool claim_marked;
	u64 claims_at;
	u32 claims_reads;
	u64 rest_at;
	u64 fresh_at;
	u32 fresh_reads;
	u64 trapped_at;
	u32 trapped_early;
	u32 trapped_reads;
	atomic_t neighbour_rung;
	bool quiet_marked;
	bool observe_now;
	bool roles_due;
	u64 polled_at;
	u64 paused_until;
	unsigned int neighbour_reads;
	unsigned int busy_left;
	bool changed_left;
	unsigned int quiet_left;
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
	u32 nr_off;
	u32 counted;
	u32 parked;
	u32 park_seq;
	bool unpark_due;
	struct kfd_prio_parking parking;
	struct kfd_prio_crowd crowd;
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
	bool marked;
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
	bool mes_failed;
	bool suspended;
	int slot;
	struct list_head accounts;
	const struct kfd_prio_turn *turn;
	bool takes_turns;
	int turns_level;
	int turns_throttle;
	bool share_due;
	u32 share_works;
	u32 share_runs;
	u64 shared_at;
	u32 throttle_seq;
	struct task_struct *thread;
	struct kfd_prio_snapshot *scratch;
	struct hrtimer timer;
	struct hrtimer signal_timer;
	atomic_t kicked;
	bool awake;
};

#endif /* KFD_PRIO_DQM_H_INCLUDED */
