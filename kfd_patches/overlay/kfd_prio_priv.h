/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: declarations that the files of the overlay share.
 *
 * In all files of the overlay, "Context: DQM lock" means that the caller holds the lock of the
 * device queue manager (dqm_lock()). A "process on a GPU" is its struct qcm_process_device, or the
 * struct kfd_prio_qpd in it. "The GPU's thread" is the kernel thread that kfdprio runs for each
 * GPU, see kfd_prio_thread.c. Times are ktime_get_ns() unless a comment names another clock.
 *
 * Documentation/glossary.rst defines the terms. The comments use these as follows:
 * - "Taken off": kfdprio has marked the process as off, for preemption or for parking. It holds one
 *   count of qpd->evicted (kfd_prio_qpd.preempted), and the queues of the process are inactive for
 *   KFD. The hardware follows with the next update: one unmap and one runlist (HWS), or a command
 *   for each queue (MES). "Put back" is the reverse.
 * - "Off": taken off for preemption. The process "counts as preempted" (kfd_prio_qpd.counted) while
 *   it is off and has work, as far as is known.
 * - "Parked": taken off because it has no work, whether a level is in force or not.
 * - "Evicted": KFD, and not kfdprio, has taken the process off.
 * - "Throttled": a process with work that its groups keep off (kfd_prio_share.c). The "throttle" of
 *   a decision is about claims: those that are off because processes below them get their floor.
 * - "Observe": read the indices and packets of a process, and count its waves. The memory of the
 *   process can be forged, so an observation proves nothing. "Read MQDs": memory of the driver.
 * - A process "rings" when it stores to a doorbell. If its doorbell trap is armed, this faults.
 */
#ifndef KFD_PRIO_PRIV_H_INCLUDED
#define KFD_PRIO_PRIV_H_INCLUDED

#include <linux/jump_label.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include "kfd_prio_compat.h"
#include "kfd_prio.h"
#include "kfd_prio_enums.h"
#include "kfd_prio_observe.h"
#include "kfd_prio_policy.h"
#include "kfd_prio_qpd.h"

/**
 * struct kfd_prio_marked - changes that kfd_prio_dqm_mark() has made to the processes of a GPU
 * @epoch: kfd_prio_mark_epoch()
 * @level: the level by which they were marked
 * @preempted: processes that count as preempted from now on
 * @busy: processes that were taken off with work, or that were off already, seemed to have no work,
 *	and have shown work since
 * @shown: queues of the latter processes
 * @restored: processes that were preempted and are put back
 * @woken: processes that were parked, or had made room for the level in force, and are put back
 * @off: queues that must leave the hardware
 * @on: queues that may go back
 */
struct kfd_prio_marked {
	u32 epoch;
	int level;
	u32 preempted;
	u32 busy;
	u32 shown;
	u32 restored;
	u32 woken;
	u32 off;
	u32 on;
};

/* Most thread groups that are listed for the mm of an orphan; further ones are only counted */
#define KFD_PRIO_MAX_GROUPS	16

/* The policy gets one claim for each priority, see kfd_prio_claim_fold() */
#define KFD_PRIO_MAX_CLAIMS	(KFD_PRIO_MAX + 1)

/* Longest wait of the fault of a doorbell for an unmap, ns; measured saves took 37 to 754 us */
#define KFD_PRIO_FAULT_WAIT_NS	5000000ULL

/* Upper limit of the estimated time that the following restore takes, ns */
#define KFD_PRIO_RESTORE_MAX_NS	5000000ULL

/*
 * Returns the time of a save and a restore if a save takes @save_ns. The driver cannot measure a
 * restore; the simulated one, which was calibrated with MI308X GPUs, takes 440 us where a save
 * takes 327 (simulator.rst)
 */
static inline u64 kfd_prio_switch_ns(u64 save_ns)
{
	return save_ns * 5 / 2;
}

/* Delay before a runlist that could not be sent, or an unmap that failed, is tried again, ns */
#define KFD_PRIO_RETRY_NS	10000000ULL

/* Buffer for kfd_prio_breaker_culprit(): a name of 15 bytes, each as \xNN, and text */
#define KFD_PRIO_CULPRIT_SIZE	100

/**
 * enum kfd_prio_kick - value of kfd_prio_dqm.kicked, why the thread of a GPU is woken
 * @KFD_PRIO_QUIET: it is not woken
 * @KFD_PRIO_TIMER: its timer has fired
 * @KFD_PRIO_KICKED: something has changed on the GPU: see kfd_prio_gpu_kick()
 */
enum kfd_prio_kick { KFD_PRIO_QUIET, KFD_PRIO_TIMER, KFD_PRIO_KICKED };

/**
 * struct kfd_prio_setting - a requested change of the settings of a process
 * @prio: the priority, 0..15, or KFD_PRIO_UNSET
 * @keep: leave the priority as it is
 * @never: never park the process from now on
 * @parks: permit parking from now on; with neither @never nor @parks that setting stays
 * @by: KFD_PRIO_BY_*, the origin of the request
 * @joins: put the process in @group
 * @group: the group, to which the caller has a reference
 */
struct kfd_prio_setting {
	int prio;
	bool keep;
	bool never;
	bool parks;
	u32 by;
	bool joins;
	struct kfd_prio_group *group;
};

/**
 * enum kfd_prio_switch_policy - values of max_switch_policy, which applies when requests are too
 *	many for max_switch_pct
 * @KFD_PRIO_SWITCH_SHARE: no level begins or rises
 * @KFD_PRIO_SWITCH_HOLD: the level is held in the shorter gaps between requests
 */
enum kfd_prio_switch_policy {
	KFD_PRIO_SWITCH_SHARE,
	KFD_PRIO_SWITCH_HOLD,
};

/**
 * struct kfd_prio_param - a module parameter
 * @value: the value in the unit of the parameter's name; written under the module's parameter lock,
 *	read without a lock
 * @min: lowest permitted value
 * @max: highest permitted value
 */
struct kfd_prio_param {
	u32 value;
	u32 min;
	u32 max;
};

/**
 * kfd_prio_entries_to_user() - copy an array of entries to the caller of an ioctl
 * @to: user address of the first entry
 * @entry_size: in: bytes of an entry as the caller knows it; out: bytes that were copied for each
 * @from: the entries
 * @size: bytes of an entry
 * @n: number of entries
 *
 * Context: process, may sleep
 * Return: 0 or -EFAULT
 */
static inline int kfd_prio_entries_to_user(u64 to, u32 *entry_size, const void *from, u32 size,
					   u32 n)
{
	u32 i, step = min(*entry_size, size);

	for (i = 0; i < n; i++)
		if (copy_to_user(u64_to_user_ptr(to + (u64)i * *entry_size),
				 from + (size_t)i * size, step))
			return -EFAULT;
	*entry_size = step;
	return 0;
}

/*
 * The layers, lowest first. Documentation/design.rst has the order of all files, each of which uses
 * only those below it; tests/lint/check-layers verifies this.
 */

/* ---- ground ---- */

/* kfd_prio_table.c */
DECLARE_STATIC_KEY_FALSE(kfd_prio_in_use);
bool kfd_prio_table_used(void);
void kfd_prio_table_init(void);
void kfd_prio_table_exit(void);
bool kfd_prio_table_inherits(void);
int kfd_prio_table_get(struct pid *pid);
struct kfd_prio_group *kfd_prio_table_group(struct pid *pid);
struct kfd_prio_values kfd_prio_table_read(struct pid *pid);
int kfd_prio_table_set(struct task_struct *task, const struct kfd_prio_setting *to, bool may_raise,
		       int *old);

/* kfd_prio_settings.c */
bool kfd_prio_never_parks(struct kfd_process *p);
int kfd_prio_of_process(struct kfd_process *p);
struct kfd_prio_values kfd_prio_process_values(struct kfd_process *p);

/* kfd_prio_group.c; kfd_prio_group.h has the rest */
extern struct static_key_false_deferred kfd_prio_shares_in_use;

/* kfd_prio_params.c */
extern struct kfd_prio_param kfd_prio_param_kfd_preempt;
extern struct kfd_prio_param kfd_prio_param_preempt_min_prio;
extern struct kfd_prio_param kfd_prio_param_linger_us;
extern struct kfd_prio_param kfd_prio_param_floor_pct;
extern struct kfd_prio_param kfd_prio_param_floor_period_ms;
extern struct kfd_prio_param kfd_prio_param_max_preempt_per_s;
extern struct kfd_prio_param kfd_prio_param_safety_poll_us;
extern struct kfd_prio_param kfd_prio_param_busy_budget_ms;
extern struct kfd_prio_param kfd_prio_param_max_switch_pct;
extern struct kfd_prio_param kfd_prio_param_max_switch_policy;
extern struct kfd_prio_param kfd_prio_param_short_grace;
extern struct kfd_prio_param kfd_prio_param_mes_suspend;
extern struct kfd_prio_param kfd_prio_param_idle_park_ms;
/* idle_park_ms=auto: one more than the highest number */
#define KFD_PRIO_PARK_AUTO	60001
int kfd_prio_param_set(struct kfd_prio_param *p, u32 value);
void kfd_prio_params_read(struct kfd_prio_params *k);
u64 kfd_prio_safety_poll_ns(void);

/* kfd_prio_processes.c */
bool kfd_prio_process_hold(struct kfd_process *p);
void kfd_prio_process_drop(struct kfd_process *p);
void kfd_prio_process_drains(struct kfd_process *p);
struct kfd_process *kfd_prio_processes_next(struct kfd_process *prev);

/* kfd_prio_identity.c */
void kfd_prio_identity_begin(struct kfd_process *p);
void kfd_prio_identity_end(struct kfd_process *p);
bool kfd_prio_identity_has_mm(struct task_struct *task, const struct mm_struct *mm);
bool kfd_prio_identity_going(struct kfd_process *p);
bool kfd_prio_identity_lost(struct kfd_process *p);
int kfd_prio_values_change(struct kfd_prio_values *v, const struct kfd_prio_setting *to,
			   bool may_raise, int unset);

/* kfd_prio_notify.c */
DECLARE_STATIC_KEY_FALSE(kfd_prio_notify_in_use);
struct task_struct *kfd_prio_task_get(int nr, int pidfd, u64 start_ns);
bool kfd_prio_may_touch(struct task_struct *task);
long kfd_prio_share_ioctl(void __user *arg, size_t size);
long kfd_prio_shares_ioctl(void __user *arg, size_t size);
long kfd_prio_notify_ioctl(void __user *arg, size_t size);
void kfd_prio_notify_opened(struct kfd_process *p);
void kfd_prio_notify_gone(struct kfd_process *p);
u64 kfd_prio_notify_start(const struct task_struct *task);

/* ---- one GPU ---- */

/* kfd_prio_gpu.c */
void kfd_prio_gpu_kick(struct device_queue_manager *dqm);
void kfd_prio_gpu_kick_all(void);
void kfd_prio_gpu_slot_free(struct kfd_prio_dqm *d);
void kfd_prio_gpu_wake_at(struct kfd_prio_dqm *d, u64 at);
void kfd_prio_gpu_init(struct device_queue_manager *dqm);
enum kfd_prio_kick kfd_prio_gpu_wait(struct kfd_prio_dqm *d);
bool kfd_prio_gpu_has_grace(struct device_queue_manager *dqm);
void kfd_prio_gpu_lock(void);
void kfd_prio_gpu_unlock(void);
void kfd_prio_gpu_add(struct kfd_prio_dqm *d);
void kfd_prio_gpu_del(struct kfd_prio_dqm *d);
bool kfd_prio_gpu_hold(struct device_queue_manager *dqm);
void kfd_prio_gpu_drop(struct device_queue_manager *dqm);
struct kfd_prio_dqm *kfd_prio_gpu_first(void);
struct kfd_prio_dqm *kfd_prio_gpu_next(struct kfd_prio_dqm *d);

/* kfd_prio_crowd.c */
u64 kfd_prio_park_ns(struct device_queue_manager *dqm);
bool kfd_prio_over_subscribed(struct device_queue_manager *dqm);
void kfd_prio_crowd_see(struct device_queue_manager *dqm);
void kfd_prio_crowd_update(struct device_queue_manager *dqm, u64 now);
void kfd_prio_crowd_reset(struct device_queue_manager *dqm);
void kfd_prio_crowd_init(void (*start)(void));
void kfd_prio_crowd_exit(void);

/* kfd_prio_breaker.c */
const char *kfd_prio_breaker_cause(enum kfd_prio_breaker cause);
void kfd_prio_gpu_params(struct device_queue_manager *dqm, struct kfd_prio_params *k);
void kfd_prio_breaker_trip(struct device_queue_manager *dqm, enum kfd_prio_breaker cause);
bool kfd_prio_breaker_known(struct device_queue_manager *dqm);
void kfd_prio_breaker_rearm(struct device_queue_manager *dqm);
void kfd_prio_breaker_suspect(struct device_queue_manager *dqm, struct queue *q);
void kfd_prio_breaker_suspect_hws(struct device_queue_manager *dqm);
void kfd_prio_breaker_culprit(struct device_queue_manager *dqm, char *text);
u64 kfd_prio_breaker_due(struct device_queue_manager *dqm);
bool kfd_prio_breaker_closes(struct device_queue_manager *dqm, u64 now);

/* kfd_prio_orphan.c */
bool kfd_prio_orphan_check(struct kfd_process *p);
void kfd_prio_orphan_kick(struct kfd_process *p);
bool kfd_prio_orphan_unattended(void);
void kfd_prio_orphan_poll(void);
void kfd_prio_orphan_watch(void);
void kfd_prio_orphan_init(void);
void kfd_prio_orphan_exit(void);
void kfd_prio_orphan_free(struct kfd_process *p);
int kfd_prio_orphan_find(void);
u32 kfd_prio_orphan_groups(struct kfd_process *p, struct pid **pids, u32 *nr);
int kfd_prio_orphan_set(struct kfd_process *p, const struct kfd_prio_setting *to, bool may_raise,
			int *old);

/* ---- sensors ---- */

/* kfd_prio_doorbell.c */
void kfd_prio_doorbell_init(void);
void kfd_prio_doorbell_exit(void);
struct inode *kfd_prio_doorbell_inode(struct kfd_process *p);
void kfd_prio_doorbell_zap(struct kfd_process_device *pdd);
bool kfd_prio_doorbell_traps(const struct qcm_process_device *qpd);

/* kfd_prio_limit.c */
void kfd_prio_limit_init(void);

/* kfd_prio_aql.c */
void kfd_prio_aql_read(const struct kfd_prio_index *x, u64 r, u64 w, struct kfd_prio_seen *seen);

/* kfd_prio_observe.c */
void kfd_prio_snapshot(struct qcm_process_device *qpd, struct kfd_prio_snapshot *s);
bool kfd_prio_observe(const struct kfd_prio_snapshot *s, struct mm_struct *mm,
		      struct kfd_prio_seen *seen);
bool kfd_prio_counts_waves(struct kfd_process_device *pdd);
bool kfd_prio_count_waves(struct kfd_process_device *pdd, struct kfd_prio_snapshot *s);
bool kfd_prio_waves(struct kfd_process_device *pdd, struct kfd_prio_snapshot *s);
bool kfd_prio_sees_waves(struct qcm_process_device *qpd);
u64 kfd_prio_early(const struct kfd_prio_dqm *d, u64 ns);

/* kfd_prio_proof.c */
enum kfd_prio_shown kfd_prio_shows_work(struct qcm_process_device *qpd);
void kfd_prio_prove(struct qcm_process_device *qpd, u64 marked_count);

/* kfd_prio_cost.c */
bool kfd_prio_cost_read(struct device_queue_manager *dqm);

/* kfd_prio_park.c */
bool kfd_prio_parks(struct qcm_process_device *qpd, const struct kfd_prio_parking *g);
bool kfd_prio_park_idle(struct device_queue_manager *dqm);
bool kfd_prio_park_due(struct device_queue_manager *dqm);
void kfd_prio_park_begin(struct qcm_process_device *qpd, bool preempted, u64 now);
void kfd_prio_park_end(struct qcm_process_device *qpd, enum kfd_prio_unpark_reason reason,
		       u64 now);
enum kfd_prio_unpark_reason kfd_prio_park_ends(struct qcm_process_device *qpd);
void kfd_prio_park_gone(struct qcm_process_device *qpd);
void kfd_prio_park_report(struct device_queue_manager *dqm);

/* kfd_prio_role.c, and kfd_prio_role.h */
void kfd_prio_refresh(struct qcm_process_device *qpd);
bool kfd_prio_armed_is_quiet(struct qcm_process_device *qpd);
bool kfd_prio_spares(struct qcm_process_device *qpd, const struct kfd_prio_force *f);
struct kfd_prio_force kfd_prio_force_of(struct device_queue_manager *dqm, int level);
bool kfd_prio_is_victim(struct qcm_process_device *qpd, int level);
bool kfd_prio_works(struct qcm_process_device *qpd);
void kfd_prio_woke(struct qcm_process_device *qpd);
void kfd_prio_role_update(struct device_queue_manager *dqm, struct qcm_process_device *qpd);
void kfd_prio_role_drop(struct device_queue_manager *dqm, struct qcm_process_device *qpd);

/* kfd_prio_poll.c; kfd_prio_claim.h has more of this and the next file */
u64 kfd_prio_claim_poll_at(struct device_queue_manager *dqm, const struct kfd_prio_params *k);

/* kfd_prio_claim.c */
int kfd_prio_claim_fold(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			bool in_fault, u64 now, struct kfd_prio_claim *claims,
			struct qcm_process_device **owners);
void kfd_prio_claim_skip(struct device_queue_manager *dqm, u64 since);
bool kfd_prio_claim_has(struct device_queue_manager *dqm, s32 pid);
bool kfd_prio_claim_rings(struct device_queue_manager *dqm);

/* kfd_prio_rings.c */
void kfd_prio_neighbour_rise(struct kfd_prio_dqm *d, struct kfd_prio_qpd *qp);
void kfd_prio_neighbour_rings(struct device_queue_manager *dqm);
void kfd_prio_neighbour_changed(struct qcm_process_device *qpd);
bool kfd_prio_neighbour_matters(struct qcm_process_device *qpd);

/* kfd_prio_neighbour.c */
u64 kfd_prio_neighbour_poll_at(const struct kfd_prio_dqm *d);
void kfd_prio_neighbours_observe(struct device_queue_manager *dqm, struct kfd_prio_snapshot *s);

/* ---- actuator ---- */

/* kfd_prio_runlist.c */
void kfd_prio_unmap_begin(struct device_queue_manager *dqm);
void kfd_prio_unmap_done(struct device_queue_manager *dqm, int ret);
void kfd_prio_unmap_sleep(struct device_queue_manager *dqm);
bool kfd_prio_unmap_wait(struct device_queue_manager *dqm);
void kfd_prio_unmap_pause(void);
int kfd_prio_unmap_settle(struct device_queue_manager *dqm);
u32 kfd_prio_mark_epoch(const struct device_queue_manager *dqm);
void kfd_prio_runlist_unmap(struct device_queue_manager *dqm);
bool kfd_prio_runlist_marks(struct device_queue_manager *dqm, int level);
void kfd_prio_runlist_sent(struct device_queue_manager *dqm, int ret);

/* kfd_prio_dqm.inc.c */
void kfd_prio_dqm_mark(struct device_queue_manager *dqm, int level, bool by_kfd, u64 now,
		       struct kfd_prio_marked *m);
void kfd_prio_dqm_mark_new(struct device_queue_manager *dqm, struct qcm_process_device *qpd);
void kfd_prio_dqm_unmark(struct device_queue_manager *dqm, u64 now);
void kfd_prio_dqm_hang(struct device_queue_manager *dqm);
int kfd_prio_dqm_remove(struct device_queue_manager *dqm);
int kfd_prio_dqm_add(struct device_queue_manager *dqm, int ret);
int kfd_prio_dqm_runlist(struct device_queue_manager *dqm, bool takes);
void kfd_prio_dqm_gone(struct device_queue_manager *dqm, struct qcm_process_device *qpd);

/* kfd_prio_mqd.inc.c */
int kfd_prio_dqm_apply(struct kfd_process_device *pdd, u32 *nr_queues);
void kfd_prio_dqm_unpin(struct device_queue_manager *dqm, struct qcm_process_device *qpd);
void kfd_prio_dqm_repin(struct device_queue_manager *dqm, struct qcm_process_device *qpd);

/* kfd_prio_evict.c */
void kfd_prio_evicted(struct device_queue_manager *dqm, struct qcm_process_device *qpd);
void kfd_prio_restored(struct device_queue_manager *dqm, struct qcm_process_device *qpd);

/* ---- engine: kfd_prio_engine.h ---- */

/* ---- surface ---- */

/* kfd_prio_list.c */
bool kfd_prio_list_count(struct kfd_process_device *pdd, struct kfd_prio_list_entry *e);
long kfd_prio_list_ioctl(void __user *arg, size_t size);

/* kfd_prio_totals.c */
long kfd_prio_totals_ioctl(void __user *arg, size_t size);

/* kfd_prio_debugfs.c */
void kfd_prio_debugfs_init(void);

#endif /* KFD_PRIO_PRIV_H_INCLUDED */
