/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdsim: the scheduler firmware (hws.c, fw_hws.c), its packet processors, debugfs */
#ifndef KFDSIM_HWS_H
#define KFDSIM_HWS_H

#include "sim.h"
#include "engine.h"
#include "v9_structs.h"

#define SIM_IRQ_RING	8192	/* interrupts kept until they can be sent: amdgpu_ih.c, 256 KiB of 32 bytes */
#define SIM_SUBMITS	32768	/* packets whose time is kept */

struct sim_exec;

enum sim_queue_kind { SIM_QUEUE_AQL, SIM_QUEUE_SDMA, SIM_QUEUE_PM4 };

/* eng_work.user[] of a work of ours; survives an unmap in the MQD */
enum sim_work_user {
	WORK_SIGNAL,		/* completion signal, 0: none. PM4 RELEASE_MEM: address */
	WORK_WAVES,		/* waves in flight while it runs */
	WORK_TYPE,		/* AQL packet type, SDMA opcode, PM4 opcode | SIM_WORK_PM4 */
	WORK_START,		/* GPU clock at launch. PM4 RELEASE_MEM: data */
	WORK_ARG,		/* SDMA, PM4: length of the packet in dwords, or as
				 * pm4.c says; dispatch: WORK_GRID() */
	WORK_EXEC,		/* a dispatch that is executed, see execute.h; 0: it is modelled */
};

#define SIM_WORK_PM4	0x100	/* the work is a PM4 packet, maybe in an IB of an AQL queue */
#define SIM_WORK_IB_END	0x200	/* AQL: the end of such an IB */

/**
 * struct sim_stream - where the packet processor is in a stream of dwords
 * @ib: address of the indirect buffer that is executed, 0: none
 * @ib_dw: its length
 * @ib_pos: what of it was read
 * @done: SDMA: units of the present packet that are done
 * @signal: AQL: completion signal of the packet that brought the indirect buffer
 */
struct sim_stream {
	u64 ib;
	u32 ib_dw;
	u32 ib_pos;
	union {
		u64 done;
		u64 signal;
	};
};

/*
 * Registers of a compute queue, which SET_SH_REG writes: those from COMPUTE_DISPATCH_INITIATOR on. They have the same
 * numbers among the SH registers, and lie in the same order from the second dword of the MQD on, on GFX9 to GFX12
 * (gc_*_offset.h, v9_structs.h to v12_structs.h).
 */
#define SIM_SH_BASE	0x200
#define SIM_SH_REGS	0x50
#define SIM_SH_MQD_DW	1

/* work-groups of a dispatch and waves of each, for the share of an XCC */
#define WORK_GRID(wgs, wg_waves)	((u64)(wgs) << 20 | (wg_waves))
#define WORK_GRID_WGS_MAX	((1ULL << 44) - 1)
#define WORK_GRID_WAVES_MAX	0xfffffULL
#define WORK_GRID_WGS(grid)		((grid) >> 20)
#define WORK_GRID_WAVES(grid)		((u32)(grid) & 0xfffff)

/**
 * struct sim_mqd_save - what of a queue survives an unmap
 *
 * Lives in dwords 400 and up of the MQD (SDMA: 48), which amdkfd never uses (the same
 * offset is spare in v9, v11 and v12 MQDs), so that, as with hardware, the MQD is all that is
 * left of a queue that is not mapped.
 * @next: index of the next packet to launch
 * @rptr: read index as reported to the user
 * @wptr: write index as last seen
 * @error: bit 0: the queue met a packet that it does not know and is stopped; bits 1 and up:
 *	what is still to be reported to ROCr, see sim_queue_error()
 * @nwork: valid entries of @work
 * @stream: see there
 * @work: dispatches in flight; flags: bit 0: it needs a slot; bit 1: nothing launches before it is complete;
 *	bit 2: it is executed; bits 3 and 4: in which part of the CWSR area its state is
 */
struct sim_mqd_save {
	u64 next;
	u64 rptr;
	u64 wptr;
	u32 error;
	u32 nwork;
	struct sim_stream stream;
	struct {
		u64 left_ns;
		u64 live_bytes;
		u64 saved_bytes;
		u64 ran_ns;
		u64 signal;
		u64 start;
		u64 arg;
		u32 waves;
		u16 type;
		u16 flags;
	} work[ENG_INFLIGHT];
};

#define SIM_MQD_SAVE_DW	400

/**
 * struct sim_proc - a process of the runlist
 * @ep: its part in the engine; must stay first
 * @pd: page directory number
 * @pasid: as in MAP_PROCESS
 * @ctx: MES: process context, by which MES knows it
 * @gdbg: GFX 9.4.2 and 9.4.3: SPI_GDBG_PER_VMID_CNTL, as in MAP_PROCESS, see debugger.c
 * @watch: likewise TCP_WATCH?_CNTL
 */
struct sim_proc {
	struct eng_proc ep;
	u64 pd;
	u32 pasid;
	u64 ctx;
	u32 gdbg;
	u32 watch[SIM_WATCHES];
};

#define SIM_AQL_HALF	32	/* bytes of half an AQL packet */

/**
 * struct sim_queue - a queue of the runlist
 * @eq: its part in the engine; must stay first
 * @kind: who reads its ring
 * @mqd_addr: its MQD in GART
 * @doorbell: index of its doorbell on the BAR, in dwords
 * @xcc_logic: logical number of the first XCC, see xcc.c; PM4: the only XCC that runs it
 * @save_dw: dword of the MQD at which struct sim_mqd_save lies
 * @ring: GPU virtual address of the ring
 * @mask: ring size - 1, in the units of @next: packets, PM4: dwords, SDMA: bytes
 * @rptr_va: where the read index is reported
 * @wptr_va: where the write index is kept
 * @next: index of the next packet to launch
 * @rptr: read index as reported
 * @wptr: write index as last seen
 * @seen: a time at which it was there already, and before which it may not have been
 * @old_wptr: the write index before that, while some of what it made visible is not launched
 * @old_seen: the same for it
 * @ready_for: @ready is the dispatch of this index + 1, in an indirect buffer of this address. 0: none
 * @ready_barrier: that has the barrier bit
 * @ready: what it would launch
 * @torn_for: @torn is of the packet of this index + 1, see torn_fetch. 0: of none
 * @torn: the second half of a packet as it was before its header was written
 * @rptr_step: step of the firmware in which the page of the read index was there
 * @rung: a doorbell was taken whose write index could not be read yet
 * @stream: what else is known of the place in the ring
 * @sh: registers that the queue has set, see sim_pm4_kept()
 * @sh_set: some were since it was mapped
 * @error: stopped, see struct sim_mqd_save
 * @stalled: memory cannot be had now: nothing is launched before the next poll
 * @error_code: what is still to be reported to ROCr, 0: nothing
 * @ready_exec: how @ready will be executed; NULL: it is modelled
 * @ready_why: the reason, an index of sim_exec_gpu.modelled
 * @save_va: CWSR area of the first XCC
 * @save_bytes: its size
 * @save_stack: of that, the control stack, which comes first
 * @packets: launched since it was mapped
 * @gang: MES: gang context, by which MES knows it
 * @inprocess_prio: MES: priority of the gang in its process; kept, decides nothing
 */
struct sim_queue {
	struct eng_queue eq;
	enum sim_queue_kind kind;
	u64 mqd_addr;
	u32 doorbell;
	u32 xcc_logic;
	u32 save_dw;
	u64 ring;
	u64 mask;
	u64 rptr_va;
	u64 wptr_va;
	u64 next;
	u64 rptr;
	u64 wptr;
	u64 seen;
	u64 old_wptr;
	u64 old_seen;
	u64 ready_for;
	bool ready_barrier;
	struct eng_work ready;
	u64 torn_for;
	u8 torn[SIM_AQL_HALF];
	u64 rptr_step;
	struct sim_stream stream;
	u32 sh[SIM_SH_REGS];
	bool sh_set;
	bool rung;
	bool error;
	bool stalled;
	u32 error_code;
	struct sim_exec *ready_exec;
	u32 ready_why;
	u64 save_va;
	u32 save_bytes;
	u32 save_stack;
	u64 packets;
	u64 gang;
	u32 inprocess_prio;
};

#define SIM_EXEC_REASONS	16

/**
 * struct sim_exec_gpu - execution of dispatches on one GPU
 * @programs: struct sim_program, those used last first
 * @nprograms: how many they are
 * @used: a dispatch was executed; false: nothing of this costs anything
 * @changed: a dispatch that is executed was launched or has no time left: the model's time must not
 *	go on before sim_exec_limit() is asked
 * @executed: dispatches whose execution began
 * @instructions: executed, of waves
 * @saved: states written to a CWSR area; those of a dispatch in mid-group count as @saved_running, too
 * @saved_running: see there
 * @restored: states read from one
 * @lost: states that could not be written, or were none when they were read
 * @modelled: dispatches that were not executed, by reason; with @executed, all that were launched
 */
struct sim_exec_gpu {
	struct list_head programs;
	u32 nprograms;
	bool used;
	bool changed;
	u64 executed, instructions, saved, saved_running, restored, lost;
	u64 modelled[SIM_EXEC_REASONS];
};

/**
 * struct sim_hws - the firmware of one GPU; sim_hws.lock guards all of it but for
 *	@irq_lock, @irq_on and what is marked (any)
 */
/*
 * CP_IQ_WAIT_TIME2: the number of the register, which is ours, as amdkfd takes it from the tables in
 * kfd2kgd.c; its fields and the reset value of each are the hardware's (gc_9_0_sh_mask.h,
 * gc_9_0_default.h). SCH_WAVE: the grace period, in units of 1000 cycles
 */
#define SIM_IQ_WAIT_TIME2	1
#define SIM_IQ_WAIT_TIME2_RESET	0x40404040
#define SIM_SCH_WAVE_SHIFT	8
#define SIM_SCH_WAVE_MASK	0xff00

struct sim_hws {
	struct sim_gpu *g;
	struct mutex lock;
	struct task_struct *thread;
	int kick;			/* (any) somebody is about to ring the HIQ */
	int quiet;			/* (any) the next ring of the HIQ is for a packet that sets a register */
	int urgent;			/* (any) the thread goes before everybody on the CPU */
	struct engine eng;
	/* HIQ */
	struct v9_mqd *hiq;		/* NULL until every XCC has one */
	struct v9_mqd *hiq_mqd;		/* the first XCC's */
	u32 hiq_xccs;			/* XCCs that have theirs */
	u32 hiq_db;
	u64 hiq_rptr, hiq_wptr;
	u64 hiq_expect;			/* until when a ring may follow the kick */
	u32 hiq_behind;			/* at the kick an older ring was not taken yet */
	u64 hiq_retry;			/* when to look for it again, ns from now */
	u64 hiq_rung;			/* (any) TSC when it was rung for what is not read, 0: never */
	u64 hiq_rung_ns;		/* (any) the same, ns */
	u64 hiq_looked_ns;		/* when it was last looked for a ring and there was none */
	struct { u64 tsc; char what; } submits[SIM_SUBMITS];	/* debugfs submits; a ring */
	u64 nsubmit;
	u64 suspend_max_ns;		/* the longest SUSPEND of MES, without what it takes the host to write the MQDs */
	bool hiq_stalled;		/* an unmap is under way (read by any) */
	bool hiq_dead;			/* hung: processes nothing until a reset (read by any) */
	struct { u64 ring; u32 doorbell; } hanging; /* a queue that the unmap under way will give up */
	u64 hung_ring;			/* (any) it is on an HQD still, until that is reset; 0: none is */
	u32 hung_hqd;			/* (any) which, as amdkfd counts them; ~0: not asked yet */
	struct eng_proc *unmap_only;
	u64 unmap_until, unmap_began;
	u32 wait_time2;			/* CP_IQ_WAIT_TIME2, as the HIQ's packets set it */
	u64 drain_until;		/* waves may end until then, and none begins; 0: no unmap, or past that */
	/* runlist */
	u32 nprocs, nqueues;
	bool oversubscribed;
	u64 last_work;			/* when a queue last had something to do */
	u64 polled;			/* when doorbells were looked at */
	u32 events_left;		/* that the engine may handle before it is to return */
	/* MES */
	struct sim_mes_cmd *mes_cmd;	/* amdkfd waits for its answer */
	struct sim_exec_gpu exec;	/* execute.c */
	/* interrupts */
	struct mutex irq_lock;
	bool irq_on;
	u32 irqs[SIM_IRQ_RING][8];
	u32 nirq;
	u64 n_irq_sent;			/* (any) entries of the ring that amdkfd got */
	/* counters */
	u64 n_runlist, n_unmap, n_query, n_write, n_packet, n_dispatch, n_barrier, n_sdma, n_pm4, n_irq, n_bad;
	u64 n_vmfault, n_error, n_kick, n_step, n_irq_lost, n_db;
	atomic64_t n_occupancy;		/* (any) */
	u64 n_mes_add, n_mes_remove, n_mes_suspend, n_mes_resume, n_mes_misc;
	u64 n_hqd_reset;		/* (any) */
	u64 unmap_last_ns, unmap_max_ns, unmap_sum_ns;
};

static inline struct sim_queue *to_sq(struct eng_queue *q)
{
	return container_of(q, struct sim_queue, eq);
}

static inline struct sim_proc *to_sp(struct eng_proc *p)
{
	return container_of(p, struct sim_proc, ep);
}

static inline u64 sim_q64(u32 hi, u32 lo)
{
	return (u64)hi << 32 | lo;
}

struct sim_mes_cmd;

/* A packet or command was submitted at @tsc. HWS: under the firmware's lock; MES: under MES's */
static inline void sim_submit_log(struct sim_hws *h, char what, u64 tsc)
{
	h->submits[h->nsubmit % SIM_SUBMITS].tsc = tsc;
	h->submits[h->nsubmit++ % SIM_SUBMITS].what = what;
}

/* fw_hws.c: HIQ and runlists */
void sim_hiq_run(struct sim_hws *h, u64 now);
void sim_hiq_unmap_done(struct sim_hws *h, u64 now);

/* fw_mes.c: commands of MES */
u64 sim_mes_run(struct sim_hws *h, u64 now);
void sim_mes_abort(struct sim_hws *h);

/* mes.c: the driver's part of it */
void sim_mes_init(struct sim_gpu *g);
void sim_mes_fini(struct sim_gpu *g);
int sim_mes_gangs(struct sim_gpu *g, const char *which, bool resume);

/* runlist.c */
struct sim_proc *sim_proc_new(struct sim_hws *h, u64 pd, u32 pasid);
struct sim_queue *sim_queue_new(struct sim_hws *h, struct sim_proc *p, bool sdma, u64 mqd_addr,
				u32 doorbell, u64 wptr_va, u64 now);
void sim_queue_drop(struct sim_hws *h, struct sim_queue *q, bool save);
void sim_proc_drop(struct sim_hws *h, struct sim_proc *p, bool save);
void sim_hws_drop(struct sim_hws *h, struct eng_proc *only, bool save);

/* thread.c */
int sim_hws_thread(void *data);

/* hws.c */
void sim_hws_config(struct sim_hws *h);
int sim_hws_init(struct sim_gpu *g);
void sim_hws_fini(struct sim_gpu *g);
void sim_hws_load_hiq(struct sim_gpu *g, void *mqd, u32 doorbell_off, u32 xcc);
void sim_hws_unload_hiq(struct sim_gpu *g, u32 xcc);
void sim_hws_reset(struct sim_gpu *g);
void sim_hws_kick(struct sim_gpu *g);
void sim_hws_quiet(struct amdgpu_device *adev);
void sim_hws_wake(struct sim_hws *h);
u64 sim_unmap_ns(void);
u32 sim_wait_time2(void);
void sim_hiq_drained(struct sim_hws *h, u64 now);
void sim_hws_occupancy_cost(struct sim_hws *h);
u32 sim_share_waves(const struct sim_hws *h, const struct eng_work *w, u64 waves, u64 room);
void sim_hws_occupancy(struct sim_gpu *g, u32 xcc, struct kfd_cu_occupancy *occ,
		       int *max_waves_per_cu);
pid_t sim_proc_pid(struct sim_hws *h, const struct sim_proc *p);

/* irq.c */
bool sim_hws_irqs_pending(struct sim_hws *h);
void sim_hws_irqs_send(struct sim_hws *h, u32 n);
void sim_hws_irq_enable(struct sim_gpu *g, bool on);
int sim_hws_irq_drain(struct sim_gpu *g, const u32 *fence);
void sim_hws_irq(struct sim_hws *h, u32 client, u32 source, u32 vmid, u32 pasid, u32 ctxid);
void sim_queue_message(struct sim_hws *h, struct sim_queue *q, u32 data);
void sim_vm_fault(struct sim_hws *h, struct sim_queue *q, u64 va, bool readonly);

/* debugger.c: the settings of a process */
struct mes_misc_op_input;
void sim_debugger_map(struct sim_proc *p, u32 gdbg, const u32 *watch);
void sim_debugger_debugfs(struct sim_gpu *g);
#if SIM_DEBUGGER
int sim_debugger_misc(struct sim_hws *h, const struct mes_misc_op_input *in);
#else
static inline int sim_debugger_misc(struct sim_hws *h, const struct mes_misc_op_input *in)
{
	return -EINVAL;
}
#endif

/* queue.c: what the packet processors share */
extern const struct eng_ops sim_queue_ops;
void *sim_user_access(struct sim_hws *h, struct sim_queue *q, u64 va, size_t len, bool write);

/* To be read and written, and only to be read */
static inline void *sim_user_ptr(struct sim_hws *h, struct sim_queue *q, u64 va, size_t len)
{
	return sim_user_access(h, q, va, len, true);
}

static inline const void *sim_user_read(struct sim_hws *h, struct sim_queue *q, u64 va, size_t len)
{
	return sim_user_access(h, q, va, len, false);
}

bool sim_signal_add(struct sim_hws *h, struct sim_queue *q, u64 va, s64 n, u64 start);
void sim_queue_error(struct sim_hws *h, struct sim_queue *q, u32 code, const char *why, u64 what);
void sim_queue_retry(struct sim_queue *q, const struct eng_work *w);
void sim_queue_report(struct sim_hws *h, struct sim_queue *q);
void sim_queue_eop(struct sim_hws *h, struct sim_queue *q, u32 ctxid);
u64 sim_packet_ns(void);
u64 sim_event_clock(const struct sim_hws *h);
void sim_dispatch_work(struct sim_gpu *g, struct sim_queue *q, u64 wgs, u64 wg_waves, u64 ns,
		       struct eng_work *w);
bool sim_rptr_at_launch(void);

/* ring.c: queues coming and going */
void sim_queue_load(struct sim_hws *h, struct sim_queue *q, const void *mqd, u64 now);
void sim_queue_save(struct sim_hws *h, struct sim_queue *q);
bool sim_queue_poll(struct sim_hws *h, struct sim_queue *q, u64 now);

/* xcc.c */
u64 sim_xcc_waves(const struct sim_profile *p, u64 wgs, u32 wg_waves, u32 logic);
u64 sim_xcc_work(const struct sim_profile *p, u64 wgs, u32 wg_waves, struct eng_work *w);
u64 sim_xcc_saved_waves(const struct sim_profile *p, const struct sim_queue *q, const struct eng_work *w);
u32 sim_xcc_occupancy(const struct sim_hws *h, const struct sim_queue *q, u32 xcc);
void sim_xcc_load(struct sim_hws *h, struct sim_queue *q, const void *mqd);

/* aql.c, pm4.c, sdma.c: eng_ops of the kinds of packets */
void sim_aql_mapped(struct sim_hws *h, struct sim_queue *q);
bool sim_aql_peek(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
void sim_aql_launch(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
void sim_aql_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
bool sim_pm4_peek(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
void sim_pm4_launch(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
void sim_pm4_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
bool sim_pm4_ib(const u32 *packet, struct sim_stream *s);
bool sim_pm4_kept(const struct sim_gpu *g, u32 i);
bool sim_sdma_peek(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
void sim_sdma_launch(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);
void sim_sdma_complete(struct sim_hws *h, struct sim_queue *q, struct eng_work *w);

/* mqd.c */
size_t sim_mqd_bytes(const struct sim_gpu *g, bool sdma);
bool sim_mqd_is_aql(const struct sim_gpu *g, const void *mqd);
bool sim_mqd_saved(struct sim_gpu *g, const struct sim_queue *q, u64 waves, u64 bytes);
bool sim_mqd_sdma_saved(struct sim_gpu *g, const struct sim_queue *q);
bool sim_mqd_sh_saved(struct sim_gpu *g, const struct sim_queue *q);
void sim_mqd_restored(struct sim_gpu *g, const struct sim_queue *q);
void sim_mqd_read(const struct sim_gpu *g, struct sim_queue *q, const void *mqd);

/* debugfs.c */
void sim_debugfs_init(struct sim_gpu *g);
void sim_debugfs_fini(struct sim_gpu *g);

/* kick.c */
int sim_kick_set(struct sim_gpu *g, u32 us);

#endif
