/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: what engine.c and engine-map.c share */
#ifndef KFDSIM_ENGINE_INT_H
#define KFDSIM_ENGINE_INT_H

#include "engine.h"
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#define for_each_proc(e, p) for (p = (e)->procs; p; p = p->next)
#define for_each_queue(p, q) for (q = (p)->queues; q; q = q->next)
/* @next: the body may take @q off the list */
#define for_each_active(e, q, next) \
	for (q = (e)->active; q && ((e)->visits++, next = q->next_active, true); q = next)
#define for_each_busy(e, q, next) \
	for (q = (e)->busy; q && ((e)->visits++, next = q->next_busy, true); q = next)

static inline u64 max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u32 min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u64 eng_proc_quantum(const struct engine *e, const struct eng_proc *p)
{
	return p->quantum_ns ? p->quantum_ns : e->cfg.process_quantum_ns;
}

static inline u64 eng_queue_quantum(const struct engine *e, const struct eng_queue *q)
{
	return q->quantum_ns ? q->quantum_ns : e->cfg.gang_quantum_ns;
}

/* The furthest that a queue of this one's priorities was served */
static inline u64 *eng_front(struct engine *e, const struct eng_queue *q)
{
	return &e->front[q->pipe_prio % ENG_PIPE_PRIOS][q->queue_prio % ENG_QUEUE_PRIOS];
}

/* engine-list.c */
void eng_renumber(struct engine *e);
void eng_turn_over(struct engine *e, const struct eng_queue *q);
void eng_activate(struct engine *e, struct eng_queue *q);
void eng_deactivate(struct engine *e, struct eng_queue *q);
void eng_busy_update(struct engine *e, struct eng_queue *q);
void eng_state(struct engine *e, struct eng_queue *q, enum eng_qstate state);
void eng_vmid(struct engine *e, struct eng_proc *p, int vmid);
void eng_wait_update(struct engine *e, struct eng_queue *q);

/* engine-map.c */
bool eng_proc_waits(const struct eng_proc *p);
void eng_settle_map(struct engine *e);
bool eng_proc_off(const struct eng_proc *p);

/* engine-copy.c */
void eng_save_begin(struct engine *e, struct eng_queue *q);
void eng_save_end(struct engine *e, struct eng_queue *q);
void eng_restore_begin(struct engine *e, struct eng_queue *q);
void eng_restore_end(struct engine *e, struct eng_queue *q);
void eng_copy_cancel(struct engine *e, struct eng_queue *q);

/* engine-share.c */
void eng_share(struct engine *e);
u64 eng_share_of(const struct engine *e, struct eng_work *w, u64 d);
u64 eng_share_end(const struct engine *e, const struct eng_work *w);

/* engine-launch.c */
void eng_settle_launches(struct engine *e);

#endif
