/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The world of the test: a GPU, amdkfd's operations on it, one process that may preempt and two that may be
 * preempted.  The files under test are the driver's own; this is what is around them.
 */
#ifndef UNIT_STATE_WORLD_H
#define UNIT_STATE_WORLD_H

#include "kernel.h"
#include "kfd_prio_engine.h"

#define NR_PROCESSES	3	/* 0 has the priority 12, the others none */
#define CLAIM		0

/* An answer of the hardware, chosen by the search */
enum answer {
	ANSWER_OK,
	ANSWER_REFUSED,		/* the packet could not be sent */
	ANSWER_LATE,		/* after more than a fault waits, and less than KFD waits */
	ANSWER_NEVER,		/* the fence is never written */
	ANSWER_GIVEN_UP,	/* the fence is written, and KFD finds that the firmware has given up */
	ANSWER_AGAIN,		/* MES: a reset is in progress */
};

struct process {
	struct kfd_process p;
	struct kfd_process_device pdd;
	struct kfd_process_device *pdds[1];
	struct process_queue_manager pqm;
	struct device_process_node node;
	struct task_struct task;
	struct mm_struct mm;
	struct queue q;
	struct mqd_manager mm_of_q;
	bool registered;
	unsigned int evicted;	/* the evictions of KFD alone */
	bool exits;
};

struct world {
	struct device_queue_manager dqm;
	struct kfd_dev dev;
	struct amdgpu_device adev;
	struct device device;
	struct amdgpu_reset_domain reset_domain;
	struct process proc[NR_PROCESSES];
	u64 fence;
	u64 fence_at;		/* when HWS writes it; 0: never */
	bool given_up;		/* and what it then has done is nothing */
	bool hang;		/* KFD has asked for a reset */
	bool resetting;
	bool level_wanted;	/* the claim has work */
	bool stuck;		/* an unmap of KFD has failed, and KFD goes on as if it had not */
	bool undoes;		/* the operation undoes what it did if it fails */
	bool no_memory;		/* for runlists, in this operation */
	bool unmapping;		/* an unmap was sent, and nobody knows its end */
	u64 locks, failed_lock;	/* how often the DQM lock was taken, and the time in which an update failed */
	struct list_head account;	/* of the group of process 1 */
	bool closed;		/* the group of process 1 may not run */
	u64 failed_at;		/* when an update last failed, but for one that a fault has left */
	u64 now;
};

extern struct world w;

/* The search: chooses one of @n answers at this place of the sequence */
unsigned int choose(unsigned int n);
extern unsigned long suspends;	/* that MES was asked for, in all sequences */
extern bool healthy;		/* the hardware gives no answer but OK */

void world_init(bool mes);

/* Operations; each returns false if it cannot be done now */
bool op_ring(void);
bool op_ring_locked(void);
bool op_work_ends(void);
bool op_thread(void);
bool op_create(int i);
bool op_destroy(int i);
bool op_evict(int i);
bool op_restore(int i);
bool op_update(int i);
bool op_exit(int i);
bool op_reset(void);
bool op_suspend_resume(void);
bool op_hang(void);
bool op_unmap_alone(void);
bool op_start(void);
bool op_time(void);
bool op_share(void);

void world_check(void);
void world_check_end(void);

#endif
