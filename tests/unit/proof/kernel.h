/* SPDX-License-Identifier: GPL-2.0 */
/* What kfd_prio_proof.c needs of the kernel, of amdkfd and of kfd_prio_priv.h, and counts of what it reads */
#ifndef UNIT_PROOF_KERNEL_H
#define UNIT_PROOF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* in place of the real one */
#define KFD_PRIO_PRIV_H_INCLUDED

typedef uint32_t u32;
typedef uint64_t u64;

#define BIT(n)				(1u << (n))
#define READ_ONCE(x)			(x)
#define lockdep_assert_held(l)		((void)(l))
#define KFD_QUEUE_TYPE_COMPUTE		0
#define KFD_PRIO_TRAP_ARMED		1

typedef struct { int v; } atomic_t;

static inline int atomic_read(const atomic_t *a)
{
	return a->v;
}

struct v9_mqd {
	u32 cp_hqd_ib_control;
	bool saved;
};

struct kfd_prio_sdma_left {
	u64 rptr, wptr;
	bool ib;
};

struct kfd_prio_dqm {
	atomic_t kicked;
	enum { KFD_PRIO_STATE_COMMITTED, KFD_PRIO_STATE_LEFT } state;
	bool recheck;
};

struct device_queue_manager {
	int lock_hidden;
	struct kfd_prio_dqm prio;
};

struct kfd_dev {
	struct device_queue_manager *dqm;
};

struct queue {
	struct queue *next;
	struct {
		int type;
	} properties;
	struct {
		bool off;
		u64 proof_seen;
	} prio;
	struct kfd_dev *device;
	void *mqd;
};

struct kfd_prio_qpd {
	bool preempted, proved;
	u64 marked_count;
	struct {
		atomic_t trap;
	} doorbell;
};

static inline bool kfd_prio_trap_armed(const struct kfd_prio_qpd *qp)
{
	return atomic_read(&qp->doorbell.trap) == KFD_PRIO_TRAP_ARMED;
}

struct qcm_process_device {
	struct device_queue_manager *dqm;
	struct queue *queues_list;
	struct kfd_prio_qpd prio;
};

#define list_for_each_entry(q, head, member)	for ((q) = *(head); (q); (q) = (q)->next)

enum kfd_prio_shown { KFD_PRIO_SHOWN_NONE, KFD_PRIO_SHOWN_WORK, KFD_PRIO_SHOWN_PART };

/* of the test */
extern unsigned int xccs;
unsigned int kfd_prio_xccs(struct device_queue_manager *dqm);
const struct v9_mqd *kfd_prio_mqd(struct queue *q, unsigned int xcc);
bool kfd_prio_compat_saved(struct queue *q);
struct kfd_prio_sdma_left kfd_prio_sdma_left(struct queue *q);
void dqm_lock(struct device_queue_manager *dqm);
void dqm_unlock(struct device_queue_manager *dqm);

/* of the file under test */
enum kfd_prio_shown kfd_prio_shows_work(struct qcm_process_device *qpd);
void kfd_prio_prove(struct qcm_process_device *qpd, u64 marked_count);

#endif
