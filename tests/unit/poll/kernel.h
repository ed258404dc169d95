/* SPDX-License-Identifier: GPL-2.0 */
/* What kfd_prio_poll.c needs of the kernel, of amdkfd and of kfd_prio_priv.h */
#ifndef UNIT_POLL_KERNEL_H
#define UNIT_POLL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* in place of the real one */
#define KFD_PRIO_PRIV_H_INCLUDED

typedef uint32_t u32;
typedef uint64_t u64;

#define READ_ONCE(x)			(x)
#define lockdep_assert_held(l)		((void)(l))
#define min(a, b)			((a) < (b) ? (a) : (b))
#define max(a, b)			((a) > (b) ? (a) : (b))
#define clamp_t(type, v, lo, hi)	min((type)max((type)(v), (type)(lo)), (type)(hi))
#define DIV_ROUND_UP(n, d)		(((n) + (d) - 1) / (d))
#define KFD_PRIO_NEVER			UINT64_MAX

static inline u64 div_u64(u64 n, u32 d)
{
	return n / d;
}

struct list_head {
	struct list_head *next, *prev;
};

#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define list_first_entry(l, type, m)	container_of((l)->next, type, m)
#define list_first_entry_or_null(l, type, m) (list_empty(l) ? NULL : list_first_entry(l, type, m))
#define list_for_each_entry(e, l, m) \
	for ((e) = container_of((l)->next, __typeof__(*(e)), m); &(e)->m != (l); \
	     (e) = container_of((e)->m.next, __typeof__(*(e)), m))
#define list_for_each_entry_safe(e, t, l, m) \
	for ((e) = container_of((l)->next, __typeof__(*(e)), m), (t) = container_of((e)->m.next, __typeof__(*(e)), m); \
	     &(e)->m != (l); (e) = (t), (t) = container_of((e)->m.next, __typeof__(*(e)), m))

static inline bool list_empty(const struct list_head *l)
{
	return l->next == l;
}

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l;
	l->prev = l;
}

static inline void list_add_tail(struct list_head *e, struct list_head *l)
{
	e->next = l;
	e->prev = l->prev;
	l->prev->next = e;
	l->prev = e;
}

static inline void list_del(struct list_head *e)
{
	e->next->prev = e->prev;
	e->prev->next = e->next;
}

static inline void list_move_tail(struct list_head *e, struct list_head *l)
{
	list_del(e);
	list_add_tail(e, l);
}

struct kfd_prio_params {
	u64 linger_ns, budget_ns;
};

struct kfd_prio_claim {
	int prio;
	bool rung, work;
	u64 work_at, progress_at;
};

struct kfd_prio_qpd {
	bool preempted, observe, work;
	u64 marked_at, progress_at;
	struct {
		int prio;
		struct list_head link;
		u64 observed_at, rung_since, work_at, signalled_at;
		bool rung, signals, ended;
	} claim;
	struct {
		u64 quiet_at;
	} park;
};

struct kfd_prio_dqm {
	struct list_head rung_claims, fresh_claims, trapped_claims;
	bool claim_marked;
	enum { KFD_PRIO_STATE_COMMITTED, KFD_PRIO_STATE_LEFT } state;
	u64 claims_at, fresh_at, trapped_at, rest_at;
	u32 claims_reads, fresh_reads, trapped_reads, trapped_early;
	u32 random;	/* 0: there is no group */
};

struct device_queue_manager {
	int lock_hidden;
	struct kfd_prio_dqm prio;
};

struct kfd_prio_snapshot;
struct qcm_process_device;
enum kfd_prio_wake { KFD_PRIO_WAKE_NONE };

static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return (u64)((unsigned __int128)a * b >> shift);
}

#define U32_MAX	UINT32_MAX

static inline u64 kfd_prio_early(const struct kfd_prio_dqm *d, u64 ns)
{
	return mul_u64_u32_shr(ns, d->random, 32);
}

/* of the test */
u64 ktime_get_ns(void);
u64 kfd_prio_safety_poll_ns(void);
u64 kfd_prio_policy_until(const struct kfd_prio_params *k, const struct kfd_prio_claim *c);

/* of the file under test */
u64 kfd_prio_claim_poll_at(struct device_queue_manager *dqm, const struct kfd_prio_params *k);

#endif
