/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: PM4 packets of compute queues: pm4.c, pm4-dispatch.c, pm4-mem.c */
#ifndef KFDSIM_PM4_H
#define KFDSIM_PM4_H

#include "execute.h"
#include "kfd_pm4_opcodes.h"

#define PM4_TYPE(h)	((h) >> 30)
#define PM4_OP(h)	((h) >> 8 & 0xff)
#define PM4_COUNT(h)	((h) >> 16 & 0x3fff)

#define IT_ATOMIC_MEM	0x1e		/* PACKET3_ATOMIC_MEM of soc15d.h and nvd.h */

/* pm4.c */
bool sim_pm4_get(struct sim_hws *h, struct sim_queue *q, u32 i, u32 *v);
bool sim_pm4_get_n(struct sim_hws *h, struct sim_queue *q, u32 *p, u32 n);
bool sim_pm4_refuse(struct sim_hws *h, struct sim_queue *q, const char *why, u32 what);

/* pm4-dispatch.c */
bool sim_pm4_dispatch_peek(struct sim_hws *h, struct sim_queue *q, const u32 *p, struct eng_work *w);
bool sim_pm4_set_sh(struct sim_hws *h, struct sim_queue *q, u32 n);

/* pm4-mem.c */
bool sim_pm4_mem_peek(struct sim_hws *h, struct sim_queue *q, const u32 *p);
bool sim_pm4_mem(struct sim_hws *h, struct sim_queue *q, u32 op, u32 n);

#endif
