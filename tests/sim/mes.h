/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: a command on its way from the driver (mes.c) to the firmware (fw_mes.c) */
#ifndef KFDSIM_MES_H
#define KFDSIM_MES_H

#include "hws.h"
#include "amdgpu_mes.h"
#include <linux/completion.h>

enum mes_op { MES_ADD, MES_REMOVE, MES_SUSPEND, MES_RESUME, MES_MISC };

/**
 * struct sim_mes_cmd - a command, on the stack of its caller
 * @op: what
 * @add: input of MES_ADD
 * @remove: of MES_REMOVE
 * @suspend: of MES_SUSPEND
 * @resume: of MES_RESUME
 * @misc: of MES_MISC
 * @begun: the firmware works at it
 * @at: when it began
 * @until: not answered before
 * @queue: MES_REMOVE: which
 * @ret: the answer
 * @done: there is one
 */
struct sim_mes_cmd {
	enum mes_op op;
	union {
		struct mes_add_queue_input *add;
		struct mes_remove_queue_input *remove;
		struct mes_suspend_gang_input *suspend;
		struct mes_resume_gang_input *resume;
		struct mes_misc_op_input *misc;
	};
	bool begun;
	u64 at, until;
	struct sim_queue *queue;
	int ret;
	struct completion done;
};

/* fw_mes.c */
extern const char * const sim_mes_op_names[];

#endif
