/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the engine needs of the kernel and of amdkfd, in user space.  The structures have the members that the files under
 * test use; world.c has the functions of amdkfd.
 */
#ifndef UNIT_STATE_KERNEL_H
#define UNIT_STATE_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* in place of the real ones */
#define KFD_PRIO_COMPAT_H_INCLUDED
#define KFD_PRIO_ENUMS_H_INCLUDED

typedef int8_t s8;
typedef uint8_t u8;
typedef int32_t s32;
typedef uint32_t u32;
typedef long long s64;
typedef unsigned long long u64;
typedef s64 ktime_t;
typedef u64 phys_addr_t;
typedef unsigned long pgoff_t;
typedef struct { int v; } atomic_t;

#define __user
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define likely(x)		(x)
#define unlikely(x)		(x)
#define smp_mb()		((void)0)
#define min(a, b)		({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); (__typeof__(_a))(_a < _b ? _a : _b); })
#define max(a, b)		({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); (__typeof__(_a))(_a > _b ? _a : _b); })
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define DIV_ROUND_UP(a, b)	(((a) + (b) - 1) / (b))
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_USEC		1000L
/* word for word as in kfd_prio_policy.c */
#define div_u64(dividend, divisor) ((u64)(dividend) / (divisor))
#define noinline
#define __noclone
#define pr_warn(...)		((void)0)
#define dev_warn_ratelimited(dev, ...)	((void)(dev))
#define dev_err(...)	((void)0)
#define IS_ENABLED(x)		0
#define BUILD_BUG_ON(x)		((void)sizeof(char[1 - 2 * !!(x)]))
#define u64_to_user_ptr(x)	((void *)(uintptr_t)(x))
#define copy_to_user(to, from, n)	(memcpy(to, from, n), 0)
#define DECLARE_STATIC_KEY_FALSE(k)	extern int k
struct static_key_false_deferred {
	int key;
};
#define static_branch_unlikely(k)	(*(k))

/* A condition that must hold: a function of the test reports the sequence of operations */
void broken(const char *what);
#define WARN_ON_ONCE(x)		({ bool _x = (x); if (_x) broken("WARN: " #x); _x; })
#define lockdep_assert_held(l)	do { if (!*(l)) broken("the DQM lock is not held"); } while (0)

static inline int atomic_read(const atomic_t *a) { return a->v; }
static inline int atomic_read_acquire(const atomic_t *a) { return a->v; }
static inline void atomic_set(atomic_t *a, int v) { a->v = v; }
static inline int atomic_xchg(atomic_t *a, int v) { int o = a->v; a->v = v; return o; }
static inline int atomic_cmpxchg(atomic_t *a, int o, int n) { int was = a->v; if (was == o) a->v = n; return was; }

struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
#define list_entry(p, type, member)	container_of(p, type, member)
#define list_for_each_entry(p, head, member)								\
	for ((p) = container_of((head)->next, __typeof__(*(p)), member); &(p)->member != (head);	\
	     (p) = container_of((p)->member.next, __typeof__(*(p)), member))
static inline void INIT_LIST_HEAD(struct list_head *l) { l->next = l->prev = l; }
static inline bool list_empty(const struct list_head *l) { return l->next == l; }
static inline void list_add_tail(struct list_head *n, struct list_head *l)
{
	n->prev = l->prev;
	n->next = l;
	l->prev->next = n;
	l->prev = n;
}
static inline void list_del(struct list_head *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
}
static inline void hlist_del_init(struct hlist_node *n) { (void)n; }

typedef struct { s64 v; } atomic64_t;
static inline void atomic64_add(s64 n, atomic64_t *a) { a->v += n; }

struct hrtimer { u64 at; };	/* 0: not started */
enum hrtimer_mode { HRTIMER_MODE_ABS };
static inline ktime_t ns_to_ktime(u64 ns) { return ns; }
static inline void hrtimer_start(struct hrtimer *t, ktime_t at, enum hrtimer_mode mode)
{
	(void)mode;
	t->at = at ? at : 1;
}

u64 ktime_get_ns(void);
static inline ktime_t ktime_get(void) { return ktime_get_ns(); }
static inline u64 get_jiffies_64(void) { return 0; }
void schedule(void);
#define need_resched()	true
#define cpu_relax()	do { } while (0)
static inline void usleep_range(unsigned long a, unsigned long b) { (void)a; (void)b; }

#define PF_KTHREAD	1
struct task_struct { unsigned int flags; s32 tgid; };
extern struct task_struct *current;
static inline bool rt_task(const struct task_struct *t) { (void)t; return false; }
struct pid { int nr; };
struct mm_struct { int count; };
struct file;
struct attribute { int mode; };
struct kobject { bool state_in_sysfs; };
static inline void mmgrab(struct mm_struct *mm) { mm->count++; }
static inline void mmdrop(struct mm_struct *mm) { mm->count--; }

/* amdkfd */
enum kfd_queue_type { KFD_QUEUE_TYPE_COMPUTE, KFD_QUEUE_TYPE_SDMA };
enum KFD_MQD_TYPE { KFD_MQD_TYPE_CP, KFD_MQD_TYPE_SDMA, KFD_MQD_TYPE_MAX };
enum { KFD_UNMAP_QUEUES_FILTER_ALL_QUEUES = 1, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES };
enum { KFD_SCHED_POLICY_HWS, KFD_SCHED_POLICY_HWS_NO_OVERSUBSCRIPTION, KFD_SCHED_POLICY_NO_HWS };
#define KFD_FENCE_INIT		10
#define KFD_FENCE_COMPLETED	100
#define KFD_PRIO_OCCUPANCY_SIZE	8
extern int queue_preemption_timeout_ms;

struct queue_properties {
	u32 priority;
	enum kfd_queue_type type;
	u64 queue_size;
	bool is_active, is_evicted, is_gws;
	u32 queue_id;
};
#define QUEUE_IS_ACTIVE(p)	((p).queue_size > 0 && !(p).is_evicted)

struct mqd_update_info { int flag; };
struct device { int nr; };
struct mes_suspend_gang_input { bool suspend_all_gangs; u64 gang_context_addr; };
struct mes_resume_gang_input { bool resume_all_gangs; u64 gang_context_addr; };
struct amdgpu_mes;
struct amdgpu_mes_funcs {
	int (*suspend_gang)(struct amdgpu_mes *mes, struct mes_suspend_gang_input *in);
	int (*resume_gang)(struct amdgpu_mes *mes, struct mes_resume_gang_input *in);
};
struct amdgpu_mes { const struct amdgpu_mes_funcs *funcs; };
struct amdgpu_reset_domain { int sem; };
struct amdgpu_device {
	struct device *dev;
	struct amdgpu_mes mes;
	struct amdgpu_reset_domain *reset_domain;
};
#define KFD_PRIO_HAVE_MES_SUSPEND	1
#define KFD_PRIO_MES_SUSPEND_MIN	1
#define IP_VERSION(a, b, c)	((a) << 16 | (b) << 8 | (c))
#define KFD_GC_VERSION(dev)	((void)(dev), IP_VERSION(11, 0, 0))
#define amdgpu_mes_suspend_resume_all_supported(adev)	((void)(adev), true)
#define amdgpu_mes_lock(mes)	((void)(mes))
#define amdgpu_mes_unlock(mes)	((void)(mes))
#define down_read_trylock(sem)	((void)(sem), true)
#define up_read(sem)		((void)(sem))
static inline int kfd_prio_user_queues(void) { return 0; }
struct kfd_dev {
	u32 id;
	struct amdgpu_device *adev;
	struct device_queue_manager *dqm;
};

#include "kfd_prio_hooks.h"

struct queue {
	struct list_head list;
	struct queue_properties properties;
	struct kfd_prio_queue prio;
	struct kfd_process *process;
	struct kfd_dev *device;
	void *mqd, *gws;
	u64 gang_ctx_gpu_addr;
	bool hw;		/* of the test: the hardware has the queue */
	bool suspended;		/* of the test: MES has suspended its gang */
	bool lives;		/* of the test */
};

struct kfd_process {
	struct task_struct *lead_thread;
	struct mm_struct *mm;
	struct kfd_prio_process prio;
	struct kfd_process_device **pdds;
	u32 n_pdds;
};

struct process_queue_manager { struct kfd_process *process; };
struct qcm_process_device {
	struct device_queue_manager *dqm;
	struct process_queue_manager *pqm;
	struct list_head queues_list, priv_queue_list;
	unsigned int evicted;
	bool is_debug;
	u64 page_table_base;
	struct kfd_prio_qpd prio;
};
struct kfd_process_device {
	struct kfd_dev *dev;
	struct kfd_process *process;
	struct qcm_process_device qpd;
	void *drm_priv;
	u64 last_evict_timestamp;
	atomic64_t evict_duration_counter;
};
struct device_process_node {
	struct qcm_process_device *qpd;
	struct list_head list;
};
struct mqd_manager {
	void (*update_mqd)(struct mqd_manager *m, void *mqd, struct queue_properties *p, struct mqd_update_info *minfo);
};
struct device_queue_manager {
	int lock_hidden;
	unsigned int saved_flags;
	struct kfd_dev *dev;
	struct list_head queues;
	unsigned int processes_count, active_queue_count, active_cp_queue_count;
	int sched_policy;
	bool sched_running, active_runlist;
	u64 *fence_addr;
	struct mqd_manager *mqd_mgrs[KFD_MQD_TYPE_MAX];
	struct kfd_prio_dqm prio;
};

static inline struct kfd_process_device *qpd_to_pdd(struct qcm_process_device *qpd)
{
	return container_of(qpd, struct kfd_process_device, qpd);
}

static inline bool mutex_trylock(int *lock) { return *lock ? false : (*lock = 1); }
static inline unsigned int memalloc_noreclaim_save(void) { return 0; }
void dqm_lock(struct device_queue_manager *dqm);
void dqm_unlock(struct device_queue_manager *dqm);
struct kfd_process_device *kfd_get_process_device_data(struct kfd_dev *dev, struct kfd_process *p);
u64 amdgpu_amdkfd_gpuvm_get_process_page_dir(void *drm_priv);

/* in place of kfd_prio_compat.h */
extern bool uses_mes;
#define kfd_prio_uses_mes(dqm)	((void)(dqm), uses_mes)
static inline bool kfd_prio_has_cwsr(struct device_queue_manager *dqm) { (void)dqm; return true; }
static inline bool kfd_prio_has_reset_queue(struct kfd_process_device *pdd) { (void)pdd; return false; }
static inline bool kfd_prio_queue_is_reset(struct queue *q) { (void)q; return false; }
static inline bool kfd_prio_queue_is_suspended(struct queue *q) { (void)q; return false; }
static inline bool kfd_prio_doorbells_are_kfds(void) { return false; }
static inline bool kfd_prio_over_subscription_get(struct device_queue_manager *dqm) { (void)dqm; return false; }
static inline void kfd_prio_over_subscription_set(struct device_queue_manager *dqm) { (void)dqm; }
static inline bool kfd_prio_over_subscribes(struct device_queue_manager *dqm, unsigned int p, unsigned int q)
{
	(void)dqm;
	(void)p;
	(void)q;
	return false;
}
static inline bool kfd_prio_sched_runs(struct device_queue_manager *dqm) { return dqm->sched_running; }
bool kfd_prio_resetting(struct device_queue_manager *dqm);
static inline bool kfd_prio_is_fed(struct device_queue_manager *dqm) { (void)dqm; return false; }
#define kfd_prio_flush_tlb(pdd)	((void)(pdd))
static inline int kfd_prio_mqd_repin(struct device_queue_manager *dqm, struct queue *q) { (void)dqm; (void)q; return 0; }
static inline void kfd_prio_mqd_unpin(struct device_queue_manager *dqm, struct queue *q) { (void)dqm; (void)q; }

/* in place of the trace events */
#define trace_kfd_unmap_queues_enabled()	false
#define trace_kfd_unmap_queues_done_enabled()	false
#define trace_kfd_unmap_queues_done(...)	((void)0)
#define trace_kfd_preempt_begin(...)		((void)0)
#define trace_kfd_preempt_end(...)		((void)0)
#define trace_kfd_update_queue(...)		((void)0)

#endif
