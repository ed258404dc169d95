// SPDX-License-Identifier: GPL-2.0
/*
 * amdkfd and its hardware, as far as the path of an unmap and a runlist goes.  The operations are those of
 * kfd_device_queue_manager.c with the hooks where kfd_patches/hooks.cocci has them; what they do not need is left out.
 */
#include "world.h"
#include "kfd_prio_role.h"

struct world w;
bool healthy, uses_mes;
unsigned long suspends;
int queue_preemption_timeout_ms = 20;	/* longer than ANSWER_LATE */
static struct task_struct thread = { .flags = PF_KTHREAD, .tgid = 2 };
struct task_struct *current = &thread;
int kfd_prio_notify_in_use;
struct static_key_false_deferred kfd_prio_shares_in_use = { 1 };

/* ---- time and locks ---- */

u64 ktime_get_ns(void)
{
	return w.now;
}

static void ring(void)
{
	w.level_wanted = true;
	atomic_set(&w.proc[CLAIM].pdd.qpd.prio.doorbell.trap, KFD_PRIO_TRAP_RUNG);
}

static bool may_ring(void)
{
	const struct kfd_prio_qpd *qp = &w.proc[CLAIM].pdd.qpd.prio;

	return qp->mm && atomic_read(&qp->doorbell.trap) == KFD_PRIO_TRAP_ARMED;
}

/* The claim may ring at any time: its fault finds the lock taken */
static void meanwhile(void)
{
	if (!may_ring() || healthy || !choose(2))
		return;
	ring();
	kfd_prio_engine_rung(&w.proc[CLAIM].pdd);
}

/* Time passes while somebody waits */
void schedule(void)
{
	w.now += 1000000;
	if (w.fence_at && w.now >= w.fence_at) {
		w.fence_at = 0;
		w.unmapping = false;
		w.fence = KFD_FENCE_COMPLETED;
		for (int i = 0; i < NR_PROCESSES; i++)
			if (!w.given_up)
				w.proc[i].q.hw = false;
	}
}

void dqm_lock(struct device_queue_manager *dqm)
{
	if (dqm->lock_hidden)
		broken("the DQM lock is taken twice");
	dqm->lock_hidden = 1;
	w.locks++;
}

void dqm_unlock(struct device_queue_manager *dqm)
{
	if (dqm->prio.step)
		broken("a step has left its pointer");
	dqm->lock_hidden = 0;
}

bool kfd_prio_resetting(struct device_queue_manager *dqm)
{
	(void)dqm;
	return w.resetting;
}

/* ---- amdkfd ---- */

struct kfd_process_device *kfd_get_process_device_data(struct kfd_dev *dev, struct kfd_process *p)
{
	(void)dev;
	return p->pdds[0];
}

u64 amdgpu_amdkfd_gpuvm_get_process_page_dir(void *drm_priv)
{
	(void)drm_priv;
	return 0;
}

static enum KFD_MQD_TYPE get_mqd_type_from_queue_type(enum kfd_queue_type type)
{
	(void)type;
	return KFD_MQD_TYPE_CP;
}

static void update_mqd(struct mqd_manager *m, void *mqd, struct queue_properties *p, struct mqd_update_info *minfo)
{
	struct queue *q = container_of(p, struct queue, properties);

	(void)m;
	(void)mqd;
	(void)minfo;
	if (q->hw && !w.stuck)
		broken("the MQD of a queue is written while the hardware has it");
	p->is_active = QUEUE_IS_ACTIVE(*p);
}

static void increment_queue_count(struct device_queue_manager *dqm, struct qcm_process_device *qpd, struct queue *q)
{
	(void)qpd;
	(void)q;
	dqm->active_queue_count++;
	dqm->active_cp_queue_count++;
}

static void decrement_queue_count(struct device_queue_manager *dqm, struct qcm_process_device *qpd, struct queue *q)
{
	(void)qpd;
	(void)q;
	dqm->active_queue_count--;
	dqm->active_cp_queue_count--;
}

static void kfd_hws_hang(struct device_queue_manager *dqm)
{
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_HANG);
	w.hang = true;
	w.unmapping = false;
}

static void failed(void)
{
	if (w.dqm.prio.state != KFD_PRIO_STATE_OFF)
		w.failed_at = w.now;
	w.failed_lock = w.locks;
}

static enum answer answer(const enum answer *of, unsigned int n)
{
	return healthy ? of[0] : of[choose(n)];
}

static int send_unmap(void)
{
	static const enum answer of[] = { ANSWER_OK, ANSWER_REFUSED, ANSWER_LATE, ANSWER_NEVER, ANSWER_GIVEN_UP };
	enum answer a = answer(of, 5);

	if (w.dqm.prio.step && w.failed_at && w.now < w.failed_at + KFD_PRIO_RETRY_NS)
		broken("a step sends an unmap soon after one has failed");
	if (w.hang && !w.resetting && a != ANSWER_REFUSED)
		a = ANSWER_NEVER;	/* HWS does not answer before the reset */
	if (a == ANSWER_REFUSED)
		return -ENOMEM;
	if (w.unmapping)
		broken("two unmaps are in progress, which share the fence");
	w.unmapping = true;
	w.fence = KFD_FENCE_INIT;
	w.given_up = a == ANSWER_GIVEN_UP;
	w.fence_at = a == ANSWER_NEVER ? 0 : w.now + (a == ANSWER_LATE ? 8000000 : 1);
	return 0;
}

static int unmapped(struct device_queue_manager *dqm, bool *lost)
{
	u64 end;
	int r;

	kfd_prio_engine_unmap(dqm);
	*lost = dqm->prio.state == KFD_PRIO_STATE_LOST;
	if (*lost)
		w.unmapping = false;
	r = send_unmap();
	kfd_prio_engine_unmap_sent(dqm, r);
	if (r)
		return r;
	meanwhile();
	if (kfd_prio_engine_unmap_wait(dqm, &r))
		return r;
	end = w.now + queue_preemption_timeout_ms * NSEC_PER_MSEC;
	while (w.fence != KFD_FENCE_COMPLETED && w.now < end && w.fence_at)
		schedule();
	r = w.fence == KFD_FENCE_COMPLETED ? 0 : -ETIME;
	kfd_prio_engine_unmap_done(dqm, r);
	if (r) {
		kfd_hws_hang(dqm);
		return r;
	}
	if (w.given_up) {
		kfd_hws_hang(dqm);
		return -ETIME;
	}
	dqm->active_runlist = false;
	return 0;
}

static int unmap_queues_cpsch(struct device_queue_manager *dqm)
{
	bool lost = false;
	int r;

	if (!dqm->sched_running)
		return 0;
	if (!dqm->active_runlist)
		return 0;
	r = w.resetting ? -EIO : unmapped(dqm, &lost);
	if (r && !dqm->prio.step && !(r == -ENOMEM && w.undoes))
		w.stuck = true;
	/* Somebody has waited for as long as KFD waits */
	if (r == -ETIME || (w.dqm.prio.state == KFD_PRIO_STATE_ROLLED_BACK && r))
		w.unmapping = false;
	if (r && r != -EINPROGRESS && (dqm->prio.step || lost || r != -ENOMEM))
		failed();
	return r;
}

static int send_runlist(struct device_queue_manager *dqm, bool may_decide)
{
	static const enum answer of[] = { ANSWER_OK, ANSWER_REFUSED };
	struct device_process_node *cur;
	struct queue *q;

	if (w.no_memory || answer(of, 2) == ANSWER_REFUSED) {
		w.no_memory = true;
		failed();
		/* Without a thread nobody tries again, as in stock KFD */
		w.stuck |= dqm->prio.state == KFD_PRIO_STATE_OFF;
		return -ENOMEM;
	}
	w.failed_at = 0;
	if (w.level_wanted && may_decide && dqm->prio.policy.level != 12)
		broken("a process has rung, and the runlist does not preempt");
	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list) {
			if (kfd_prio_hook_runlist_skip(cur->qpd) && q->properties.is_active)
				broken("an active queue is left out of the runlist");
			q->hw = q->properties.is_active;
		}
	return 0;
}

static int map_queues_cpsch(struct device_queue_manager *dqm)
{
	bool may_decide;
	int r;

	meanwhile();
	may_decide = dqm->prio.state != KFD_PRIO_STATE_OFF &&
		     (dqm->prio.state != KFD_PRIO_STATE_ROLLED_BACK || w.now >= dqm->prio.retry_at);
	kfd_prio_engine_mapping(dqm);
	if (!dqm->sched_running)
		return 0;
	if (dqm->active_queue_count <= 0 || dqm->processes_count <= 0)
		return 0;
	if (dqm->active_runlist)
		return 0;
	r = send_runlist(dqm, may_decide);
	kfd_prio_runlist_sent(dqm, r);
	kfd_prio_engine_mapped(dqm, r);
	if (r)
		return r;
	dqm->active_runlist = true;
	return 0;
}

static int execute_queues_cpsch(struct device_queue_manager *dqm)
{
	int r = unmap_queues_cpsch(dqm);

	return r ? r : map_queues_cpsch(dqm);
}

/* MES: one queue at a time.  A queue that it has not removed may run until the reset. */
static int mes_answers(struct device_queue_manager *dqm, struct queue *q, bool on)
{
	static const enum answer of[] = { ANSWER_OK, ANSWER_REFUSED, ANSWER_AGAIN };
	enum answer a;

	if (!dqm->sched_running)
		return 0;
	if (w.resetting || w.hang)
		return -EIO;
	a = answer(of, 3);
	if (a == ANSWER_AGAIN)
		return -EIO;
	if (q->hw == on && !w.stuck)
		broken(on ? "MES is asked to add a queue that it has" : "MES is asked to remove a queue that it does not have");
	if (a == ANSWER_REFUSED) {
		kfd_hws_hang(dqm);
		return -ETIME;
	}
	q->hw = on;
	q->suspended = false;
	return 0;
}

/* SUSPEND and RESUME: of all gangs, or the one of @q. A queue that MES does not have has none. */
static int gangs(struct queue *q, bool resume)
{
	static const enum answer of[] = { ANSWER_OK, ANSWER_REFUSED, ANSWER_AGAIN };
	enum answer a;
	int i;

	if (w.resetting || w.hang)
		return -EIO;
	if (q && !q->hw && !w.stuck)
		broken("MES is asked to resume a gang that it does not have");
	a = answer(of, 3);
	if (a != ANSWER_OK) {
		/* a SUSPEND, or the RESUME of one gang, may fail */
		if (w.dqm.prio.step && !q && resume)
			failed();
		return a == ANSWER_AGAIN ? -EIO : -ETIME;
	}
	for (i = 0; i < NR_PROCESSES; i++)
		if (w.proc[i].q.hw && (!q || q == &w.proc[i].q))
			w.proc[i].q.suspended = !resume;
	return 0;
}

static int suspend_gang(struct amdgpu_mes *mes_, struct mes_suspend_gang_input *in)
{
	(void)mes_;
	suspends++;
	if (!in->suspend_all_gangs)
		broken("MES is asked to suspend one gang");
	return gangs(NULL, false);
}

static int resume_gang(struct amdgpu_mes *mes_, struct mes_resume_gang_input *in)
{
	int i;

	(void)mes_;
	if (in->resume_all_gangs)
		return gangs(NULL, true);
	for (i = 0; i < NR_PROCESSES; i++)
		if (w.proc[i].q.gang_ctx_gpu_addr == in->gang_context_addr)
			return gangs(&w.proc[i].q, true);
	broken("MES is asked to resume a gang that nobody has");
	return -EINVAL;
}

static const struct amdgpu_mes_funcs mes_funcs = { .suspend_gang = suspend_gang, .resume_gang = resume_gang };

static int mes(struct device_queue_manager *dqm, struct queue *q, bool on)
{
	int r;

	if (dqm->prio.step && w.failed_at && w.now < w.failed_at + KFD_PRIO_RETRY_NS && w.failed_lock != w.locks)
		broken("a step asks MES soon after it has failed");
	r = mes_answers(dqm, q, on);
	meanwhile();
	if (r && !dqm->prio.step)
		w.stuck = true;
	if (r && dqm->prio.step)
		failed();
	return r;
}

static int add_queue_mes(struct device_queue_manager *dqm, struct queue *q, struct qcm_process_device *qpd)
{
	(void)qpd;
	return mes(dqm, q, true);
}

static int remove_queue_mes(struct device_queue_manager *dqm, struct queue *q, struct qcm_process_device *qpd)
{
	int r;

	(void)qpd;
	kfd_prio_unmap_begin(dqm);
	r = mes(dqm, q, false);
	kfd_prio_engine_unmap_done(dqm, r);
	return r;
}

#define kfd_prio_unmap_dynamic(dqm)		unmap_queues_cpsch(dqm)
#define kfd_prio_execute_dynamic(dqm, at_once)	((void)(at_once), execute_queues_cpsch(dqm))

/* the files under test that are compiled into kfd_device_queue_manager.o */
#include "kfd_prio_dqm.inc.c"

/* ---- other files of the driver, which the test does not need ---- */

struct kfd_prio_param kfd_prio_param_short_grace;
struct kfd_prio_param kfd_prio_param_mes_suspend;

void kfd_prio_params_read(struct kfd_prio_params *k)
{
	*k = (struct kfd_prio_params) { .enabled = true, .min_prio = 10, .max_per_s = 10000, .budget_ns = 1ULL << 60,
					.period_ns = 1000000000 };
}

void kfd_prio_gpu_params(struct device_queue_manager *dqm, struct kfd_prio_params *k)
{
	(void)dqm;
	kfd_prio_params_read(k);
}

/* Process 1 is in a group, which runs or does not */
enum kfd_prio_throttle kfd_prio_share_keeps_off(const struct qcm_process_device *qpd, int level, int throttle)
{
	(void)level;
	(void)throttle;
	return w.closed && qpd == &w.proc[1].pdd.qpd ? KFD_PRIO_THROTTLE_MAX : KFD_PRIO_THROTTLE_NONE;
}

u64 kfd_prio_share_decide(struct device_queue_manager *dqm, const struct kfd_prio_params *k, u64 now)
{
	(void)dqm;
	(void)k;
	(void)now;
	return KFD_PRIO_NEVER;
}

/* No group of this model has a weight */
u64 kfd_prio_share_turn(struct device_queue_manager *dqm, const struct kfd_prio_params *k, int level, int throttle, u64 now)
{
	(void)dqm, (void)k, (void)level, (void)throttle, (void)now;
	return KFD_PRIO_NEVER;
}

void kfd_prio_share_throttled(struct qcm_process_device *qpd, enum kfd_prio_throttle why, u64 now)
{
	(void)now;
	if (why && !qpd->prio.preempted)
		broken("a process is throttled that is not taken off");
	qpd->prio.share.throttle = why;
}

void kfd_prio_share_settle(struct device_queue_manager *dqm)
{
	dqm->prio.share_due = false;
}

void kfd_prio_share_attach(struct qcm_process_device *qpd) { (void)qpd; }
void kfd_prio_share_detach(struct qcm_process_device *qpd) { qpd->prio.share.throttle = KFD_PRIO_THROTTLE_NONE; }
bool kfd_prio_share_unrung(const struct qcm_process_device *qpd) { (void)qpd; return false; }

void kfd_prio_gpu_kick(struct device_queue_manager *dqm)
{
	atomic_set(&dqm->prio.kicked, KFD_PRIO_KICKED);
}

int kfd_prio_of_process(struct kfd_process *p)
{
	return p == &w.proc[CLAIM].p ? 12 : KFD_PRIO_UNSET;
}

struct kfd_prio_values kfd_prio_process_values(struct kfd_process *p)
{
	return (struct kfd_prio_values) { .prio = kfd_prio_of_process(p) };
}

bool kfd_prio_never_parks(struct kfd_process *p) { (void)p; return false; }
bool kfd_prio_doorbell_traps(const struct qcm_process_device *qpd) { (void)qpd; return true; }
bool kfd_prio_sees_waves(struct qcm_process_device *qpd) { (void)qpd; return true; }
u64 kfd_prio_park_ns(struct device_queue_manager *dqm) { (void)dqm; return 0; }
void kfd_prio_crowd_see(struct device_queue_manager *dqm) { (void)dqm; }
void kfd_prio_crowd_update(struct device_queue_manager *dqm, u64 now) { (void)dqm, (void)now; }

bool kfd_prio_over_subscribed(struct device_queue_manager *dqm)
{
	return kfd_prio_over_subscribes(dqm, dqm->processes_count, dqm->active_cp_queue_count);
}
bool kfd_prio_parks(struct qcm_process_device *qpd, const struct kfd_prio_parking *g) { (void)qpd; (void)g; return false; }
bool kfd_prio_park_idle(struct device_queue_manager *dqm) { (void)dqm; return false; }
bool kfd_prio_park_due(struct device_queue_manager *dqm) { (void)dqm; return false; }
void kfd_prio_park_begin(struct qcm_process_device *qpd, bool p, u64 now) { (void)qpd; (void)p; (void)now; }
void kfd_prio_park_end(struct qcm_process_device *qpd, enum kfd_prio_unpark_reason r, u64 now) { (void)qpd; (void)r; (void)now; }
enum kfd_prio_unpark_reason kfd_prio_park_ends(struct qcm_process_device *qpd) { (void)qpd; return KFD_PRIO_UNPARK_RING; }
void kfd_prio_park_gone(struct qcm_process_device *qpd) { (void)qpd; }
void kfd_prio_park_report(struct device_queue_manager *dqm) { (void)dqm; }
u64 kfd_prio_breaker_due(struct device_queue_manager *dqm) { (void)dqm; return KFD_PRIO_NEVER; }
void kfd_prio_breaker_trip(struct device_queue_manager *dqm, enum kfd_prio_breaker c) { (void)dqm; (void)c; }
void kfd_prio_breaker_suspect(struct device_queue_manager *dqm, struct queue *q) { (void)dqm; (void)q; }
void kfd_prio_breaker_suspect_hws(struct device_queue_manager *dqm) { (void)dqm; }
u64 kfd_prio_claim_poll_at(struct device_queue_manager *dqm, const struct kfd_prio_params *k) { (void)dqm; (void)k; return KFD_PRIO_NEVER; }
u64 kfd_prio_neighbour_poll_at(const struct kfd_prio_dqm *d) { (void)d; return KFD_PRIO_NEVER; }
void kfd_prio_claim_skip(struct device_queue_manager *dqm, u64 since) { (void)dqm; (void)since; }
void kfd_prio_neighbour_changed(struct qcm_process_device *qpd) { (void)qpd; }
bool kfd_prio_neighbour_matters(struct qcm_process_device *qpd) { (void)qpd; return true; }
void kfd_prio_neighbour_rings(struct device_queue_manager *dqm) { atomic_set(&dqm->prio.neighbour_rung, 0); }
bool kfd_prio_gpu_hold(struct device_queue_manager *dqm) { (void)dqm; return true; }
void kfd_prio_gpu_drop(struct device_queue_manager *dqm) { (void)dqm; }
void kfd_prio_gpu_lock(void) { }
void kfd_prio_gpu_unlock(void) { }
struct kfd_prio_dqm *kfd_prio_gpu_first(void) { return NULL; }
struct kfd_prio_dqm *kfd_prio_gpu_next(struct kfd_prio_dqm *d) { (void)d; return NULL; }
struct kfd_process *kfd_prio_processes_next(struct kfd_process *prev) { (void)prev; return NULL; }
bool kfd_prio_orphan_check(struct kfd_process *p) { (void)p; return false; }
bool kfd_prio_orphan_unattended(void) { return false; }
bool kfd_prio_identity_going(struct kfd_process *p) { (void)p; return false; }
void kfd_prio_notify_gone(struct kfd_process *p) { (void)p; }

bool kfd_prio_claim_has(struct device_queue_manager *dqm, s32 pid)
{
	(void)dqm;
	return pid == w.proc[CLAIM].task.tgid && w.proc[CLAIM].pdd.qpd.prio.mm;
}

/* The part of kfd_prio_claim.c by which a ring becomes work */
int kfd_prio_claim_fold(struct device_queue_manager *dqm, const struct kfd_prio_params *k, bool in_fault, u64 now,
			struct kfd_prio_claim *claims, struct qcm_process_device **owners)
{
	struct qcm_process_device *qpd = &w.proc[CLAIM].pdd.qpd;
	struct kfd_prio_qpd *qp = &qpd->prio;
	bool rung = atomic_read(&qp->doorbell.trap) == KFD_PRIO_TRAP_RUNG;

	(void)dqm;
	(void)k;
	(void)in_fault;
	if (!qp->mm)
		return 0;
	if (rung && !qp->claim.rung) {
		qp->work = true;
		qp->claim.work_at = now;
		qp->progress_at = now;
		kfd_prio_woke(qpd);
	}
	qp->claim.rung = rung;
	claims[0] = (struct kfd_prio_claim) { .prio = qp->claim.prio, .rung = qp->claim.rung, .work = qp->work,
					      .work_at = qp->claim.work_at, .progress_at = qp->progress_at };
	owners[0] = qpd;
	return 1;
}

bool kfd_prio_claim_rings(struct device_queue_manager *dqm)
{
	struct kfd_prio_qpd *qp = &w.proc[CLAIM].pdd.qpd.prio;

	(void)dqm;
	return qp->mm && !qp->claim.rung && atomic_read(&qp->doorbell.trap) == KFD_PRIO_TRAP_RUNG;
}

/* ---- the beginning ---- */

void world_init(bool mes_)
{
	struct kfd_prio_params k;
	int i;

	uses_mes = mes_;
	memset(&w, 0, sizeof(w));
	w.now = 1000000000;
	w.adev.dev = &w.device;
	w.adev.mes.funcs = &mes_funcs;
	w.adev.reset_domain = &w.reset_domain;
	w.dev = (struct kfd_dev) { .id = 1, .adev = &w.adev, .dqm = &w.dqm };
	w.dqm.dev = &w.dev;
	w.dqm.sched_running = true;
	w.dqm.fence_addr = &w.fence;
	INIT_LIST_HEAD(&w.dqm.queues);
	w.dqm.prio.dqm = &w.dqm;
	INIT_LIST_HEAD(&w.dqm.prio.claims);
	INIT_LIST_HEAD(&w.dqm.prio.rung_claims);
	INIT_LIST_HEAD(&w.dqm.prio.trapped_claims);
	INIT_LIST_HEAD(&w.dqm.prio.fresh_claims);
	INIT_LIST_HEAD(&w.dqm.prio.neighbours);
	INIT_LIST_HEAD(&w.dqm.prio.quiet_neighbours);
	INIT_LIST_HEAD(&w.dqm.prio.accounts);
	list_add_tail(&w.account, &w.dqm.prio.accounts);
	w.dqm.prio.throttle = KFD_PRIO_LEVEL_NONE;
	w.dqm.prio.lowest = KFD_PRIO_RANK_NONE;
	kfd_prio_params_read(&k);
	kfd_prio_policy_init(&w.dqm.prio.policy, &k, w.now);
	for (i = 0; i < NR_PROCESSES; i++) {
		struct process *p = &w.proc[i];

		p->task.tgid = 100 + i;
		p->pqm.process = &p->p;
		p->pdds[0] = &p->pdd;
		p->p = (struct kfd_process) { .lead_thread = &p->task, .mm = &p->mm, .pdds = p->pdds, .n_pdds = 1 };
		p->pdd = (struct kfd_process_device) { .dev = &w.dev, .process = &p->p, .drm_priv = p };
		p->pdd.qpd.dqm = &w.dqm;
		p->pdd.qpd.pqm = &p->pqm;
		INIT_LIST_HEAD(&p->pdd.qpd.queues_list);
		INIT_LIST_HEAD(&p->pdd.qpd.priv_queue_list);
		p->node.qpd = &p->pdd.qpd;
		p->mm_of_q.update_mqd = update_mqd;
		w.dqm.mqd_mgrs[KFD_MQD_TYPE_CP] = &p->mm_of_q;
	}
}

/* ---- operations ---- */

static bool rings(bool locked)
{
	struct process *p = &w.proc[CLAIM];
	struct task_struct client = { .tgid = p->task.tgid };

	if (!may_ring())
		return false;
	current = &client;
	ring();
	w.dqm.lock_hidden = locked;
	kfd_prio_engine_rung(&p->pdd);
	w.dqm.lock_hidden = 0;
	current = &thread;
	return true;
}

bool op_ring(void)
{
	return rings(false);
}

bool op_ring_locked(void)
{
	return rings(true);
}

/* The thread finds that the work has ended, and arms the trap */
bool op_work_ends(void)
{
	struct kfd_prio_qpd *qp = &w.proc[CLAIM].pdd.qpd.prio;

	if (!qp->mm || !qp->claim.rung)
		return false;
	w.level_wanted = false;
	dqm_lock(&w.dqm);
	qp->work = false;
	qp->claim.work_at = 0;
	qp->claim.rung = false;
	atomic_set(&qp->doorbell.trap, KFD_PRIO_TRAP_ARMED);
	w.dqm.prio.recheck = true;
	kfd_prio_engine_step(&w.dqm, KFD_PRIO_STEP_OBSERVED);
	dqm_unlock(&w.dqm);
	return true;
}

/* Whether the timer fires soon.  That the claim will have used up busy_budget_ms, which is 36 years here, does not count. */
static bool timer_is_due(void)
{
	return w.dqm.prio.timer.at && w.dqm.prio.timer.at < w.now + 1000000000;
}

/* The thread is woken, as kfd_prio_thread() does */
bool op_thread(void)
{
	struct kfd_prio_dqm *d = &w.dqm.prio;
	bool kicked = atomic_xchg(&d->kicked, KFD_PRIO_QUIET) == KFD_PRIO_KICKED;

	if (!d->thread)
		return false;
	if (!kicked && !timer_is_due())
		return false;
	if (!kicked && w.now < d->timer.at)
		w.now = d->timer.at;
	if (!kicked)
		d->timer.at = 0;
	d->awake = true;
	dqm_lock(&w.dqm);
	d->recheck |= kicked;
	if (kfd_prio_claim_rings(&w.dqm) || d->state == KFD_PRIO_STATE_LEFT || (d->nr_off && atomic_read(&d->neighbour_rung)))
		kfd_prio_engine_step(&w.dqm, KFD_PRIO_STEP_RING);
	d->awake = false;
	kfd_prio_engine_step(&w.dqm, KFD_PRIO_STEP_OBSERVED);
	dqm_unlock(&w.dqm);
	return true;
}

/* KFD frees the MQD, and with it the save area */
static void freed(struct queue *q)
{
	if (q->hw && !w.stuck)
		broken("a queue is freed while the hardware has it");
	q->lives = false;
	q->hw = false;
}

static void unregister(struct process *p)
{
	list_del(&p->node.list);
	w.dqm.processes_count--;
	p->registered = false;
	if (p == &w.proc[CLAIM])
		w.level_wanted = false;
	kfd_prio_hook_unregister_process(&w.dqm, &p->pdd.qpd);
}

bool op_create(int i)
{
	struct process *p = &w.proc[i];
	struct qcm_process_device *qpd = &p->pdd.qpd;
	struct queue *q = &p->q;
	int r = 0;

	if (q->lives || p->exits || w.hang)
		return false;
	dqm_lock(&w.dqm);
	if (!p->registered) {
		list_add_tail(&p->node.list, &w.dqm.queues);
		w.dqm.processes_count++;
		p->registered = true;
	}
	*q = (struct queue) { .process = &p->p, .device = &w.dev, .mqd = q, .lives = true,
			      .gang_ctx_gpu_addr = i + 1, .properties = { .priority = 7, .queue_size = 1 } };
	q->properties.is_evicted = qpd->evicted > 0;
	q->prio.asked = q->prio.requested = 7;
	kfd_prio_process_queue_created(&w.dqm, qpd, q);
	q->properties.is_active = QUEUE_IS_ACTIVE(q->properties);
	list_add_tail(&q->list, &qpd->queues_list);
	if (q->properties.is_active) {
		increment_queue_count(&w.dqm, qpd, q);
		w.undoes = true;
		r = uses_mes ? add_queue_mes(&w.dqm, q, qpd) : execute_queues_cpsch(&w.dqm);
		w.undoes = false;
	}
	if (r == -ENOMEM) {
		list_del(&q->list);
		if (q->properties.is_active)
			decrement_queue_count(&w.dqm, qpd, q);
		freed(q);
	}
	dqm_unlock(&w.dqm);
	if (r == -ENOMEM) {
		dqm_lock(&w.dqm);
		unregister(p);
		dqm_unlock(&w.dqm);
	}
	return true;
}

bool op_destroy(int i)
{
	struct process *p = &w.proc[i];
	struct qcm_process_device *qpd = &p->pdd.qpd;
	struct queue *q = &p->q;

	if (!q->lives)
		return false;
	dqm_lock(&w.dqm);
	if (uses_mes && q->properties.is_active)
		remove_queue_mes(&w.dqm, q, qpd);
	list_del(&q->list);
	if (q->properties.is_active) {
		decrement_queue_count(&w.dqm, qpd, q);
		q->properties.is_active = false;
		if (!uses_mes)
			execute_queues_cpsch(&w.dqm);
	}
	freed(q);
	kfd_prio_process_queue_changed(q);
	dqm_unlock(&w.dqm);
	dqm_lock(&w.dqm);
	unregister(p);
	dqm_unlock(&w.dqm);
	return true;
}

/* The memory of the process may move from the moment at which this returns */
static void evict(struct process *p)
{
	struct qcm_process_device *qpd = &p->pdd.qpd;
	struct queue *q = &p->q;

	dqm_lock(&w.dqm);
	p->evicted++;
	if (qpd->evicted++ == 0) {
		q->properties.is_evicted = true;
		if (q->properties.is_active) {
			q->properties.is_active = false;
			decrement_queue_count(&w.dqm, qpd, q);
			if (uses_mes)
				remove_queue_mes(&w.dqm, q, qpd);
		}
		if (!uses_mes)
			execute_queues_cpsch(&w.dqm);
	}
	kfd_prio_evicted(&w.dqm, qpd);
	if (q->hw && !w.stuck)
		broken("memory moves while the hardware has a queue that uses it");
	dqm_unlock(&w.dqm);
}

bool op_evict(int i)
{
	if (!w.proc[i].q.lives || w.proc[i].evicted)
		return false;
	evict(&w.proc[i]);
	return true;
}

static void restore(struct process *p)
{
	struct qcm_process_device *qpd = &p->pdd.qpd;
	struct queue *q = &p->q;

	dqm_lock(&w.dqm);
	p->evicted--;
	if (!qpd->evicted) {
		;
	} else if (qpd->evicted > 1) {
		qpd->evicted--;
	} else {
		q->properties.is_evicted = false;
		if (QUEUE_IS_ACTIVE(q->properties)) {
			q->properties.is_active = true;
			increment_queue_count(&w.dqm, qpd, q);
			if (uses_mes)
				add_queue_mes(&w.dqm, q, qpd);
		}
		if (!uses_mes)
			execute_queues_cpsch(&w.dqm);
		qpd->evicted = 0;
	}
	kfd_prio_restored(&w.dqm, qpd);
	dqm_unlock(&w.dqm);
}

bool op_restore(int i)
{
	if (!w.proc[i].q.lives || !w.proc[i].evicted)
		return false;
	restore(&w.proc[i]);
	return true;
}

/* The owner disables its queue, or enables it */
bool op_update(int i)
{
	struct process *p = &w.proc[i];
	struct qcm_process_device *qpd = &p->pdd.qpd;
	struct queue *q = &p->q;
	bool was = q->properties.is_active;
	int r = 0;

	if (!q->lives)
		return false;
	dqm_lock(&w.dqm);
	q->properties.queue_size = !q->properties.queue_size;
	if (!kfd_prio_hook_update_preempted(&p->pdd, q, NULL, &r)) {
		w.undoes = true;
		if (uses_mes)
			r = was ? remove_queue_mes(&w.dqm, q, qpd) : 0;
		else
			r = unmap_queues_cpsch(&w.dqm);
		w.undoes = false;
		if (!r) {
			update_mqd(NULL, NULL, &q->properties, NULL);
			if (q->properties.is_active && !was)
				increment_queue_count(&w.dqm, qpd, q);
			else if (!q->properties.is_active && was)
				decrement_queue_count(&w.dqm, qpd, q);
			if (!uses_mes)
				r = map_queues_cpsch(&w.dqm);
			else if (q->properties.is_active)
				r = add_queue_mes(&w.dqm, q, qpd);
		} else {
			/* KFD has not changed the MQD */
			q->properties.queue_size = !q->properties.queue_size;
		}
	}
	kfd_prio_process_queue_changed(q);
	dqm_unlock(&w.dqm);
	return true;
}

/* The mm goes, and KFD destroys what is left */
bool op_exit(int i)
{
	struct process *p = &w.proc[i];
	struct qcm_process_device *qpd = &p->pdd.qpd;
	struct queue *q = &p->q;

	if (!q->lives || p->exits)
		return false;
	if (i == CLAIM)
		w.level_wanted = false;
	kfd_prio_hook_process_exit(&p->p);
	p->exits = true;
	dqm_lock(&w.dqm);
	list_del(&q->list);
	list_add_tail(&q->list, &qpd->queues_list);
	if (uses_mes && q->properties.is_active)
		remove_queue_mes(&w.dqm, q, qpd);
	if (q->properties.is_active)
		decrement_queue_count(&w.dqm, qpd, q);
	/* process_termination_cpsch() unregisters before it unmaps */
	unregister(p);
	if (!uses_mes && !kfd_prio_hook_terminate_preempted(&w.dqm, qpd, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES))
		execute_queues_cpsch(&w.dqm);
	list_del(&q->list);
	freed(q);
	dqm_unlock(&w.dqm);
	return true;
}

/* KFD evicts all processes, stops its scheduler, starts it again, and restores them */
static void stop_and_start(void)
{
	int i;

	for (i = 0; i < NR_PROCESSES; i++)
		if (w.proc[i].q.lives)
			evict(&w.proc[i]);
	dqm_lock(&w.dqm);
	if (!uses_mes)
		unmap_queues_cpsch(&w.dqm);
	w.dqm.sched_running = false;
	dqm_unlock(&w.dqm);
	/* the thread may run meanwhile */
	atomic_set(&w.dqm.prio.kicked, KFD_PRIO_KICKED);
	op_thread();
	for (i = 0; i < NR_PROCESSES; i++)
		w.proc[i].q.hw = false;
	w.hang = false;
	w.resetting = false;
	w.stuck = false;
	w.failed_at = 0;
	w.unmapping = false;
	w.fence_at = 0;
	dqm_lock(&w.dqm);
	w.dqm.active_runlist = false;
	w.dqm.sched_running = true;
	if (!uses_mes)
		execute_queues_cpsch(&w.dqm);
	dqm_unlock(&w.dqm);
	for (i = 0; i < NR_PROCESSES; i++)
		if (w.proc[i].q.lives)
			restore(&w.proc[i]);
}

bool op_reset(void)
{
	if (!w.hang)
		return false;
	w.resetting = true;
	stop_and_start();
	return true;
}

/* Something else on the GPU hangs */
bool op_hang(void)
{
	if (w.hang)
		return false;
	w.hang = true;
	return true;
}

/* KFD unmaps, and maps nothing: reset_queues_cpsch() */
bool op_unmap_alone(void)
{
	if (uses_mes || !w.dqm.active_runlist)
		return false;
	dqm_lock(&w.dqm);
	unmap_queues_cpsch(&w.dqm);
	dqm_unlock(&w.dqm);
	return true;
}

/* Nothing happens for a while, the thread does not get a CPU */
/* As KFD_PRIO_IOC_SHARE and the timer do */
bool op_share(void)
{
	if (!w.dqm.prio.thread)
		return false;
	w.closed = !w.closed;
	kfd_prio_gpu_kick(&w.dqm);
	return true;
}

bool op_time(void)
{
	if (!w.failed_at || w.now >= w.failed_at + KFD_PRIO_RETRY_NS)
		return false;
	w.now += KFD_PRIO_RETRY_NS;
	return true;
}

/* A priority is set for the first time */
bool op_start(void)
{
	struct device_process_node *cur;

	if (w.dqm.prio.thread)
		return false;
	dqm_lock(&w.dqm);
	w.dqm.prio.thread = &thread;
	/* Nobody has mapped the queues again, as in stock KFD */
	w.stuck |= !uses_mes && !w.dqm.active_runlist && w.dqm.active_queue_count;
	kfd_prio_engine_event(&w.dqm, KFD_PRIO_EVENT_START);
	list_for_each_entry(cur, &w.dqm.queues, list)
		kfd_prio_role_update(&w.dqm, cur->qpd);
	dqm_unlock(&w.dqm);
	return true;
}

bool op_suspend_resume(void)
{
	if (w.hang)
		return false;
	stop_and_start();
	return true;
}

/* ---- what must hold ---- */

/* After each operation: the DQM lock is free */
void world_check(void)
{
	const struct kfd_prio_dqm *d = &w.dqm.prio;
	unsigned int victims = 0, active = 0, not_off = 0;
	int i;

	if (d->unexpected)
		broken("an event that the state does not expect");
	if ((d->state == KFD_PRIO_STATE_OFF) == !!d->thread)
		broken("off, or not, against the thread");
	if (d->state != KFD_PRIO_STATE_OFF && d->state != KFD_PRIO_STATE_COMMITTED &&
	    d->state != KFD_PRIO_STATE_UNMAPPED && d->state != KFD_PRIO_STATE_LEFT && d->state != KFD_PRIO_STATE_ROLLED_BACK)
		broken("the DQM lock is free in the middle of an update");
	for (i = 0; i < NR_PROCESSES; i++) {
		const struct process *p = &w.proc[i];
		const struct kfd_prio_qpd *qp = &p->pdd.qpd.prio;

		victims += qp->preempted;
		active += p->q.lives && p->q.properties.is_active;
		not_off += i != CLAIM && w.level_wanted && p->q.lives && p->q.properties.is_active;
		if (p->pdd.qpd.evicted != p->evicted + qp->preempted && p->registered)
			broken("a count of evicted is lost, or given back twice");
		if (qp->preempted && p->q.prio.off && p->q.hw && !w.stuck)
			broken("a queue is marked as off, and the hardware has it");
		if (qp->preempted && p->q.lives && p->q.properties.is_active)
			broken("a process is off and has an active queue");
		if (p->q.hw && p->q.suspended && !w.hang && !w.resetting && d->state != KFD_PRIO_STATE_ROLLED_BACK)
			broken("a gang stays suspended, and neither a reset nor another update follows");
		if (p->q.lives && !w.stuck && !uses_mes && d->state == KFD_PRIO_STATE_COMMITTED &&
		    w.dqm.active_runlist && p->q.hw != p->q.properties.is_active)
			broken("committed, and the hardware does not have what is marked");
	}
	if (victims != d->nr_off)
		broken("the number of victims");
	if (active != w.dqm.active_queue_count)
		broken("the number of active queues");
	/* no ring is lost: somebody will act on it */
	if ((w.level_wanted && (d->policy.level != 12 || not_off)) || d->state == KFD_PRIO_STATE_ROLLED_BACK ||
	    d->state == KFD_PRIO_STATE_LEFT)
		if (!atomic_read(&d->kicked) && !timer_is_due() && !w.hang)
			broken("an update is due, and nobody will make it");
}

/* The hardware answers from now on: each sequence ends with what was decided on the hardware */
void world_check_end(void)
{
	const struct kfd_prio_dqm *d = &w.dqm.prio;
	int i, n;

	healthy = true;
	w.no_memory = false;
	/* An unmap alone wakes nobody.  Whoever wakes the thread next has it send a runlist. */
	if (d->state == KFD_PRIO_STATE_UNMAPPED)
		kfd_prio_gpu_kick(&w.dqm);
	for (n = 0; n < 8; n++) {
		op_reset();
		op_thread();
	}
	world_check();
	if (d->state == KFD_PRIO_STATE_OFF)
		return;
	if (d->state != KFD_PRIO_STATE_COMMITTED)
		broken("the hardware answers, and the update is not committed");
	if ((d->policy.level == 12) != w.level_wanted)
		broken("a ring is lost, or a level stays");
	for (i = 0; i < NR_PROCESSES; i++) {
		const struct process *p = &w.proc[i];
		bool off = i != CLAIM && (w.level_wanted || (w.closed && i == 1)) && p->registered;

		if (!p->q.lives || w.stuck)
			continue;
		if (p->pdd.qpd.prio.preempted != off)
			broken("a process is off, or on, against the decision");
		if (p->q.hw && p->q.suspended)
			broken("the hardware answers, and a gang stays suspended");
		if (p->q.hw != (!off && !p->evicted && p->q.properties.queue_size))
			broken("the hardware has a queue, or has it not, against the decision");
	}
	healthy = false;
}
