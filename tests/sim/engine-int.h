/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: what engine.c and engine-map.c share */
#ifndef KFDSIM_ENGINE_INT_H
#define KFDSIM_ENGINE_INT_H

#include "engine.h"

#define for_each_proc(e, p) for (p = (e)->procs; p; p = p->next)
#define for_each_queue(p, q) for (q = (p)->queues; q; q = q->next)

static inline u64 max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 eng_proc_quantum(const struct engine *e, const struct eng_proc *p)
{
	return p->quantum_ns ? p->quantum_ns : e->cfg.process_quantum_ns;
}

static inline u64 eng_queue_quantum(const struct engine *e, const struct eng_queue *q)
{
	return q->quantum_ns ? q->quantum_ns : e->cfg.gang_quantum_ns;
}

/* engine-map.c */
bool eng_proc_waits(const struct eng_proc *p);
void eng_settle_map(struct engine *e);
bool eng_proc_off(const struct eng_proc *p);
void eng_save_begin(struct engine *e, struct eng_queue *q);
void eng_save_end(struct engine *e, struct eng_queue *q);
void eng_restore_end(struct engine *e, struct eng_queue *q);
void eng_copy_cancel(struct engine *e, struct eng_queue *q);

/* engine-launch.c */
void eng_settle_launches(struct engine *e);

#endif
