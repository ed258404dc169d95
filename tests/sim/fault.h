/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: faults on request.
 *
 * A fault is a place in the model at which something can go wrong, and a setting for each
 * GPU that says at which of its next occurrences it does. Set through debugfs (fault/<name>,
 * see debugfs.c) and, for what happens while the module loads, through the module
 * parameter fault=. sim_fault() is called once per occurrence, with any lock held.
 */
#ifndef KFDSIM_FAULT_H
#define KFDSIM_FAULT_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct seq_file;
struct sim_gpu;

enum sim_fault {
	SIM_FAULT_NO_PREEMPT,	/* an unmap never ends: a queue does not preempt */
	SIM_FAULT_HANG_QUEUE,	/* a queue does not preempt: the unmap gives it up, and says which it is */
	SIM_FAULT_NO_FENCE,	/* the unmap works, the fence of QUERY_STATUS never comes */
	SIM_FAULT_MES_ADD,	/* MES refuses ADD_QUEUE */
	SIM_FAULT_MES_REMOVE,	/* MES refuses REMOVE_QUEUE */
	SIM_FAULT_MES_SUSPEND,	/* MES refuses SUSPEND */
	SIM_FAULT_MES_RESUME,	/* MES refuses RESUME */
	SIM_FAULT_HANG,		/* the scheduler stops at a packet, until a reset */
	SIM_FAULT_ALLOC_GTT,	/* no system memory: kernel buffers and GTT, userptr buffers */
	SIM_FAULT_ALLOC_RUNLIST, /* no room for a runlist in the memory that amdkfd keeps for that */
	SIM_FAULT_ALLOC_VRAM,	/* no VRAM */
	SIM_FAULT_ALLOC_DOORBELL, /* no doorbell pages */
	SIM_FAULT_MAP_MEMORY,	/* a buffer cannot be mapped into a GPU address space */
	SIM_FAULT_VM_FAULT,	/* an access of a queue to its process's memory faults */
	SIM_FAULT_DEVICE_INIT,	/* amdkfd refuses the device; amdgpu goes on without it */
	SIM_FAULT_LOST_IRQ,	/* an interrupt is lost */
	SIM_FAULT_DOORBELLS,	/* a reset takes the mapped doorbells away */
	SIM_FAULT_NOTIFIER,	/* an open of /dev/kfd by a user other than root gets no MMU notifier */
	SIM_FAULTS
};

/**
 * struct sim_fault_point - the setting of one fault on one GPU; sim_gpu.fault_lock guards it
 * @g: the GPU
 * @at: the @at-th occurrence from now fails, 0: none
 * @on: and all those behind it
 * @pid: no_preempt and hang_queue only: every unmap of a queue of this process fails, 0: no process
 * @seen: occurrences since it was set
 * @struck: how many failed, ever
 */
struct sim_fault_point {
	struct sim_gpu *g;
	u64 at;
	bool on;
	pid_t pid;
	u64 seen;
	u64 struck;
};

extern const char * const sim_fault_names[SIM_FAULTS];

int sim_fault_check_param(void);
void sim_fault_init(struct sim_gpu *g);
int sim_fault_set(struct sim_gpu *g, enum sim_fault f, const char *text);
void sim_fault_show(struct sim_gpu *g, enum sim_fault f, struct seq_file *m);
bool sim_fault(struct sim_gpu *g, enum sim_fault f);
bool sim_fault_pid(struct sim_gpu *g, enum sim_fault f, pid_t pid);
void sim_fault_clear(struct sim_gpu *g, enum sim_fault f);

#endif
