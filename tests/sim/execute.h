/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: dispatches that are executed: execute.c, execute-save.c */
#ifndef KFDSIM_EXECUTE_H
#define KFDSIM_EXECUTE_H

#include "hws.h"
#include "isa/isa.h"

/*
 * eng_work.user[WORK_EXEC]: the address of a struct sim_exec, or, while its state is in the CWSR area, which
 * part of that has it.
 */
#define EXEC_SAVED(part)	((u64)(part) << 1 | 1)
#define EXEC_IS_SAVED(user)	((user) & 1)
#define EXEC_PART(user)		((u32)((user) >> 1))

/**
 * struct sim_exec_packet - what is kept of a dispatch packet
 * @va: GPU virtual address of the packet
 * @id: its index in the queue
 * @kernel: of the kernel descriptor; PM4: of the code
 * @kernarg: of the arguments
 * @grid: work-items in each dimension
 * @wg: of a work-group
 * @dims: dimensions
 * @private_bytes: scratch memory of a work-item
 * @group_bytes: LDS of a work-group
 * @pm4: there is no descriptor, but the following
 * @wave32: its waves have 32 lanes
 * @rsrc: COMPUTE_PGM_RSRC1, 2, 3
 * @user: COMPUTE_USER_DATA_0 to 15
 * @tmpring: COMPUTE_TMPRING_SIZE: the slots of scratch memory, AQL: of the queue
 * @scratch: GPU virtual address of the first
 * @resource: AQL: the queue's buffer resource of scratch memory
 */
struct sim_exec_packet {
	u64 va;
	u64 id;
	u64 kernel;
	u64 kernarg;
	u32 grid[3];
	u16 wg[3];
	u16 dims;
	u32 private_bytes;
	u32 group_bytes;
	u32 pm4;
	u32 wave32;
	u32 rsrc[3];
	u32 user[16];
	u64 scratch;
	u32 tmpring;
	u32 resource[4];
};

/**
 * struct sim_program - code that was decoded
 * @link: in sim_exec_gpu.programs
 * @users: dispatches that have it
 * @pd: whose address space it is in
 * @hash: of its bytes, which the process may change
 * @prog: decoded
 */
struct sim_program {
	struct list_head link;
	u32 users;
	u64 pd;
	u32 hash;
	struct isa_program prog;
};

/**
 * struct sim_exec - a dispatch that is executed
 * @h: the firmware
 * @q: its queue
 * @packet: what it was launched by
 * @program: its code
 * @mem: the memory of its process
 * @error: of the last access to that which failed: -EAGAIN: not now
 * @d: how its work-groups begin
 * @g: the one that runs; they run one after the other
 * @space: for its registers and LDS
 * @count: work-groups in each dimension
 * @groups: all of them
 * @done: of them, those that have ended
 * @begun: the next one is under way
 * @insns: instructions that it has executed
 * @estimate: instructions of a work-group: those of the last one
 * @part: of the CWSR area, to be saved to
 * @stopped: it met what it cannot go on after; the queue is stopped, too
 */
struct sim_exec {
	struct sim_hws *h;
	struct sim_queue *q;
	struct sim_exec_packet packet;
	struct sim_program *program;
	struct isa_memory mem;
	int error;
	struct isa_dispatch d;
	struct isa_group g;
	void *space;
	u32 count[3];
	u64 groups;
	u64 done;
	bool begun;
	u64 insns;
	u64 estimate;
	u32 part;
	bool stopped;
};

/* execute.c; while nothing was executed, sim_exec_gpu.used says that most of it need not be called */
extern bool sim_exec_wanted;
struct sim_exec *sim_exec_new(struct sim_hws *h, struct sim_queue *q, const struct sim_exec_packet *p,
			      u32 part, int *why);
void sim_exec_free(struct sim_exec *x);
void sim_exec_begin_group(struct sim_exec *x);
bool sim_exec_prepare(struct sim_hws *h, struct sim_queue *q, const struct sim_exec_packet *p);
void sim_exec_unready(struct sim_queue *q);
void sim_exec_launch(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
bool sim_exec_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
u64 sim_exec_limit(struct sim_hws *h);
void sim_exec_run(struct sim_hws *h, u64 until);
void sim_exec_drop(struct sim_hws *h, struct sim_queue *q);
void sim_exec_fini(struct sim_hws *h);
void sim_exec_counters(struct sim_hws *h, struct seq_file *m);

/* execute-program.c */
struct sim_program *sim_program_get(struct sim_exec *x, u64 entry, struct isa_why *why);
void sim_program_put(struct sim_program *p);
void sim_program_trim(struct sim_hws *h, u32 keep);

/* execute-save.c */
int sim_exec_area(struct sim_exec *x);
void sim_exec_saved(struct sim_hws *h, struct sim_queue *q);
struct sim_exec *sim_exec_restore(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
void sim_exec_load(struct sim_hws *h, struct eng_work *w, u32 flags);
u32 sim_exec_flags(const struct eng_work *w);

#endif
