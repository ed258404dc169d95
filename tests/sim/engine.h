/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: the model of a GPU's queue hardware.
 *
 * Pure C: no amdkfd types, no clock, no allocation, no locks. The same file is
 * linked into the module and into the unit tests of tests/unit/engine. Times are
 * absolute nanoseconds of whatever clock the caller has; they never go back.
 *
 * Vocabulary
 *	process	what one MAP_PROCESS packet names, or what the queues given to MES with
 *		one process context share; runs while it holds a VMID
 *	queue	what one MAP_QUEUES packet or ADD_QUEUE names (MES: a gang of one queue);
 *		runs while it holds an HQD
 *	level	MES: priority band of a queue, 0 to 4. HWS has none: all are 0
 *	work	what a packet of the queue costs: a dispatch occupies one slot for
 *		its time, a barrier occupies none
 *	slot	room for one dispatch. With one slot (the default) a dispatch owns the
 *		whole GPU, the worst case for whoever waits behind it
 *
 * Rules
 *	- Priority is arbitration at launch only: when a slot is free, the mapped
 *	  queue of highest pipe priority, then queue priority, launches next. Work
 *	  that runs is never taken off because of a priority.
 *	- Among equals (pipe and queue priority) GPU time is shared evenly: the queue whose turn
 *	  it is goes on launching until it has launched gang_quantum_ns of work; then it is the
 *	  turn of the one that has used the least GPU time, what runs counting in full, among
 *	  those the least recently served. Time that a queue did not want is not made up: one
 *	  that had nothing to launch starts where the turns of its equals are. Time that it
 *	  had no HQD is, but for no more than ENG_LAG_QUANTA process quanta. With plain_turns it
 *	  is the turn of the next one in the order of the runlist instead, whatever each has used.
 *	- With pipes, the HQDs are one a pipe, then the next of each, in the order in which
 *	  queues get them. One dispatch of a pipe runs at a time, or pipe_slots: the rules of priority and turns are
 *	  between the queues of a pipe, and each pipe has its own turn.
 *	- With interleave, the work-groups of dispatches that run at once share the GPU: each
 *	  progresses at its share of full speed, see ENG_LONG_WEIGHT. Priorities do not change shares.
 *	  What a dispatch has on the GPU follows its share: no more than that part of a full GPU, and no
 *	  more than it has alone. It keeps its share until its state is written. So all
 *	  dispatches together never have more than a full GPU.
 *	- A dispatch may be given its slot before its avail, which then waits for it: this
 *	  is what a caller gets who is late to say that work has come. Those whose avail has
 *	  come go first among equals, not before a higher priority.
 *	- More processes than VMIDs (queues than HQDs): those mapped for
 *	  process_quantum_ns (gang_quantum_ns) are saved and give way to those waiting
 *	  longest, whether or not they have work; those mapped longest go first, and as many
 *	  go as wait. Who is not needed for that at the end of a quantum has another.
 *	- A save takes its fixed time plus live bytes / bandwidth, and a restore its own plus the bytes
 *	  that were saved / bandwidth; saves and restores share one DMA path. A quantum
 *	  counts from the end of the restore (of a process: the first of those that begin as it
 *	  gets its VMID) and does not cut it short; an unmap does. A process that must give
 *	  up its VMID finishes the restores under way and begins no others.
 *	- What costs a save is dispatches with a slot, and a restore dispatches in flight, with
 *	  or without: a queue without them is saved and restored at once.
 *	- Levels: VMIDs and HQDs go to the highest level that waits, and are never given up to
 *	  a lower one. The level of a process is that of its best queue. A queue without
 *	  anything to launch counts as level 0, so that it does not starve those who have.
 *	  With level_preempt a higher level takes a VMID or HQD at once; without it the
 *	  quantum of whoever has it ends first.
 *	- A queue that was unmapped by itself waits for nothing until it is resumed.
 *	- Work is credited only the time in which it ran: never time before it was
 *	  seen, nor time while it was being saved, off, being restored or without a slot.
 */
#ifndef KFDSIM_ENGINE_H
#define KFDSIM_ENGINE_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/math64.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

#define ENG_NEVER	(~0ULL)
#define ENG_INFLIGHT	4	/* works of one queue launched and not complete */
#define ENG_LAG_QUANTA	4	/* process quanta of GPU time that a queue may make up. A guess */
#define ENG_LEVELS	5	/* MES: low, normal, medium, high, realtime */
#define ENG_PIPE_PRIOS	4	/* values of CP_HQD_PIPE_PRIORITY */
#define ENG_QUEUE_PRIOS	16	/* values of CP_HQD_QUEUE_PRIORITY */
#define ENG_PIPES	8	/* most compute pipes */
#define ENG_VMIDS	64	/* most VMIDs */

/*
 * Interleaving: a dispatch that is at least ENG_LONG_RATIO times as long as the shortest that runs
 * has ENG_LONG_WEIGHT times its share of the GPU. No source says how the hardware's dispatcher
 * divides its CUs. That the work-groups of a long dispatch hold them longer is a guess, and so is
 * the ratio. The weight is fitted: beside a longer dispatch a GEMM is 3.9 times as slow on an
 * MI308X, ResNet-18 2.9 times, and of two equals each has half (tests/unit/engine/test-calibrate.c
 * has the measurements and where they were published).
 */
#define ENG_LONG_RATIO	2
#define ENG_LONG_WEIGHT	3

/**
 * struct eng_config - constants of the modelled GPU
 * @slots: dispatches that run at once, >= 1
 * @hqds: hardware queue slots, >= 1
 * @vmids: processes mapped at once, >= 1
 * @process_quantum_ns: time a process keeps its VMID when others wait for one
 * @gang_quantum_ns: the same for a queue and its HQD; also the length of a turn
 * @save_ns: fixed time to save a queue that has work in flight
 * @restore_ns: fixed time to restore it
 * @bytes_per_us: rate at which live state is written and read, 0: no cost per byte
 * @level_preempt: a higher level does not wait for the end of a lower one's quantum
 * @plain_turns: turns go round in the order of the runlist
 * @pipes: compute pipes, ENG_PIPES at most; 0: HQDs are all alike
 * @pipe_slots: dispatches of a pipe that run at once, 0: one
 * @interleave: dispatches that run at once share the GPU; otherwise each has full speed
 * @full_bytes: with it, live state of a full GPU, which those that run at once share
 */
struct eng_config {
	u32 slots;
	u32 hqds;
	u32 vmids;
	u64 process_quantum_ns;
	u64 gang_quantum_ns;
	u64 save_ns;
	u64 restore_ns;
	u64 bytes_per_us;
	bool level_preempt;
	bool plain_turns;
	u32 pipes;
	u32 pipe_slots;
	bool interleave;
	u64 full_bytes;
};

/**
 * struct eng_work - one launched packet, or the one that would be launched next
 * @left_ns: time it still has to run
 * @avail: earliest time at which it may start
 * @live_bytes: its state on the GPU when it is alone there
 * @saved_bytes: what of it was written when it was last taken off
 * @ran_ns: time it has run so far
 * @weight: its part of the GPU among those that run now; engine.share_sum is the whole
 * @carry: less than a ns of its share, in parts of engine.share_sum
 * @user: the owner's own data, kept over save and restore
 * @slot: needs a slot
 * @blocks: nothing of the same queue launches until it is complete
 * @running: it has what it needs and its time passes
 */
struct eng_work {
	u64 left_ns;
	u64 avail;
	u64 live_bytes;
	u64 saved_bytes;
	u64 ran_ns;
	u64 weight;
	u64 carry;
	u64 user[6];
	bool slot;
	bool blocks;
	bool running;
};

enum eng_qstate {
	ENG_Q_OFF,		/* in the runlist, without an HQD */
	ENG_Q_RESTORING,	/* has an HQD, its state is being read */
	ENG_Q_ON,		/* runs */
	ENG_Q_SAVING,		/* stopped, its state is being written */
};

struct eng_proc;

/**
 * struct eng_queue - a queue of the runlist; embedded in the owner's structure
 * @next: next queue of the same process
 * @proc: its process
 * @own_engine: needs no HQD: an SDMA queue, runs whenever its process does
 * @next_active: next queue of the engine's list of those that do or may do something
 * @prev_active: the one before
 * @active: it is in that list
 * @next_busy: next queue of the list of those that are saved, restored, or have work in flight
 * @prev_busy: the one before
 * @busy: it is in that list
 * @next_mapped: next queue of the list of those that have an HQD or an engine of their own
 * @prev_mapped: the one before
 * @next_wait: next queue of the process that waits for an HQD, in the order of @order
 * @prev_wait: the one before
 * @waits: it is in that list, or waits with an engine of its own
 * @wants: what it launches next needs a slot, and the owner need not be asked again before one is free
 * @quiet: set by the owner: it has nothing to launch for the queue until eng_wake(), and is
 *	not asked
 * @place: its place in the runlist
 * @pipe_prio: CP_HQD_PIPE_PRIORITY, higher launches first; below ENG_PIPE_PRIOS
 * @queue_prio: CP_HQD_QUEUE_PRIORITY, decides among equal pipe priorities; below ENG_QUEUE_PRIOS
 * @level: see the rules; below ENG_LEVELS
 * @quantum_ns: its own gang quantum, 0: the GPU's
 * @held: unmapped by eng_unmap_queue(): gets no HQD until eng_resume_queue()
 * @pipe: the pipe of its HQD, or of the last one that it had; 0 without pipes
 * @has_pipe: it counts there
 * @state: see enum eng_qstate
 * @until: end of the save or restore
 * @copy_ns: time on the copy path that it takes
 * @since: when it got its HQD, or when it began to wait for one
 * @order: sequence number of that
 * @nwork: valid entries of @work, in order of launch
 * @work: launched and not complete
 * @turn_ns: work launched in its present turn
 * @served: sequence number of its last launch
 * @service: GPU time used, as far as it counts among equals
 * @front: the same at the beginning of its last turn, with what ran then in full
 * @idle: had nothing to launch and nothing in flight when last seen with an HQD
 * @first: the present restore began when the process got its VMID
 * @back: has got an HQD and not wanted a slot since
 * @ran_ns: GPU time used, for statistics
 * @saves: how often it was saved with work in flight
 * @save_at: when it was last stopped to be saved
 * @saved_at: when its state was written then
 * @restore_at: when it last got its HQD
 * @restored_at: when its state was read then
 */
struct eng_queue {
	struct eng_queue *next;
	struct eng_proc *proc;
	struct eng_queue *next_active, *prev_active;
	struct eng_queue *next_busy, *prev_busy;
	struct eng_queue *next_mapped, *prev_mapped;
	struct eng_queue *next_wait, *prev_wait;
	bool active;
	bool busy;
	bool waits;
	bool wants;
	bool quiet;
	u32 place;
	bool own_engine;
	u32 pipe_prio;
	u32 queue_prio;
	u32 level;
	u64 quantum_ns;
	bool held;
	u32 pipe;
	bool has_pipe;
	enum eng_qstate state;
	u64 until;
	u64 copy_ns;
	u64 since;
	u64 order;
	u32 nwork;
	struct eng_work work[ENG_INFLIGHT];
	u64 turn_ns;
	u64 served;
	u64 service;
	u64 front;
	bool idle;
	bool back;
	bool first;
	u64 ran_ns;
	u64 saves;
	u64 save_at;
	u64 saved_at;
	u64 restore_at;
	u64 restored_at;
};

/**
 * struct eng_proc - a process of the runlist; embedded in the owner's structure
 * @next: next process of the runlist
 * @queues: its queues
 * @waiting: those of its queues that wait for an HQD, without SDMA queues
 * @last_waiting: the last of them
 * @nwaiting: how many they are
 * @own_waiting: SDMA queues that do not run
 * @nmapped: queues that are not ENG_Q_OFF
 * @nrestoring: queues that are ENG_Q_RESTORING
 * @at: its place in engine.mapped_procs, while it has a VMID
 * @quantum_ns: its own process quantum, 0: the GPU's
 * @vmid: index of its VMID, -1 while it has none
 * @leaving: its quantum is over or it was unmapped, its queues are being saved
 * @held: unmapped by eng_unmap(): gets no VMID again
 * @fresh: none of the restores that began as it got its VMID has ended
 * @overdue: must give up its VMID after the restores that are under way
 * @since: when it got its VMID, or when it began to wait for one
 * @order: sequence number of that
 */
struct eng_proc {
	struct eng_proc *next;
	struct eng_queue *queues;
	struct eng_queue *waiting, *last_waiting;
	u32 nwaiting;
	u32 own_waiting;
	u32 nmapped;
	u32 nrestoring;
	u32 at;
	u64 quantum_ns;
	int vmid;
	bool leaving;
	bool held;
	bool fresh;
	bool overdue;
	u64 since;
	u64 order;
};

/**
 * struct eng_ops - what the engine asks of its owner
 * @peek: what would @q launch next? Fill @w (@left_ns, @avail, @live_bytes, @slot,
 *	@blocks, @user) and return true, or return false when there is nothing.
 *	Must have no effect but on eng_queue.quiet. @t is the time of the question.
 * @launch: @w was launched at @t (time passes from max(@t, @w->avail))
 * @complete: @w has run for all of its time, at @t
 * @ready: is there anything to launch, now or later, as far as the firmware can see without
 *	an HQD? Asked when levels matter. It becomes true with eng_wake() only, and false when
 *	something was launched or complete only. NULL: peek() is asked, at every event
 * @saved: it is off the GPU, with what it had in flight. May be NULL
 * @restored: it has its HQD, and the state of what it had in flight was read. May be NULL
 * @full: the owner takes no more completions for now: the model's time stops until the owner calls
 *	eng_advance() again. May be NULL
 */
struct eng_ops {
	bool (*peek)(void *ctx, struct eng_queue *q, u64 t, struct eng_work *w);
	void (*launch)(void *ctx, struct eng_queue *q, struct eng_work *w, u64 t);
	void (*complete)(void *ctx, struct eng_queue *q, struct eng_work *w, u64 t);
	bool (*ready)(void *ctx, struct eng_queue *q);
	void (*saved)(void *ctx, struct eng_queue *q);
	void (*restored)(void *ctx, struct eng_queue *q);
	bool (*full)(void *ctx);
};

/**
 * struct engine - one GPU
 * @cfg: constants; may be changed between calls
 * @ops: the owner's callbacks
 * @ctx: first argument of the callbacks
 * @procs: the runlist
 * @now: time of the last call
 * @dma_free: when the save and restore path is free again
 * @active: the queues that have state to save or restore, work in flight, or may have something to
 *	launch, in the order of the runlist: the cost of an event does not depend on the others
 * @busy: of them, those that are saved, restored, or have work in flight
 * @mapped: the queues that are not ENG_Q_OFF, in no order
 * @mapped_procs: the processes that have a VMID, in no order
 * @nmapped_procs: how many they are
 * @nhqds: HQDs in use
 * @nsaving: queues that are saved and will leave their HQD
 * @own_waiting: SDMA queues that do not run
 * @changed: the runlist was changed since the last call
 * @remap: HQDs must be looked at
 * @remap_procs: VMIDs, too
 * @leveled: a queue has a level
 * @map_at: when the next quantum ends that somebody waits for
 * @procs_at: when the next quantum of a process ends that a process waits for
 * @front: of all queues of a pipe priority and queue priority, the highest eng_queue.front
 * @was: @cfg at the last call
 * @drain: nothing is launched: what runs may end before an unmap
 * @turn: of each pipe, whose turn it is among equals
 * @pipe_queues: queues on the HQDs of each pipe
 * @share_sum: weights of the dispatches that run now
 * @seq: last sequence number given
 * @saves: saves of queues with work in flight
 * @save_time_ns: time spent on saves and restores
 * @busy_ns: time in which slots were running work, summed over slots
 * @stalled_ns: time in which the GPU stood still: see eng_stall()
 * @events: times at which something happened
 * @visits: queues and processes that were looked at for them
 * @map_visits: those of them that were looked at for VMIDs and HQDs
 */
struct engine {
	struct eng_config cfg;
	const struct eng_ops *ops;
	void *ctx;
	struct eng_proc *procs;
	u64 now;
	u64 dma_free;
	struct eng_queue *active;
	struct eng_queue *busy;
	struct eng_queue *mapped;
	struct eng_proc *mapped_procs[ENG_VMIDS];
	u32 nmapped_procs;
	u32 nhqds;
	u32 nsaving;
	u32 own_waiting;
	bool changed;
	bool remap;
	bool remap_procs;
	bool leveled;
	u64 map_at;
	u64 procs_at;
	u64 front[ENG_PIPE_PRIOS][ENG_QUEUE_PRIOS];
	struct eng_config was;
	bool drain;
	struct eng_queue *turn[ENG_PIPES];
	u32 pipe_queues[ENG_PIPES];
	u64 share_sum;
	u64 seq;
	u64 saves;
	u64 save_time_ns;
	u64 busy_ns;
	u64 stalled_ns;
	u64 events;
	u64 visits;
	u64 map_visits;
};

void eng_init(struct engine *e, const struct eng_config *cfg, const struct eng_ops *ops,
	      void *ctx, u64 now);
void eng_add_proc(struct engine *e, struct eng_proc *p);
void eng_add_queue(struct engine *e, struct eng_proc *p, struct eng_queue *q);
void eng_remove_proc(struct engine *e, struct eng_proc *p);
void eng_remove_queue(struct engine *e, struct eng_queue *q);
void eng_wake(struct engine *e, struct eng_queue *q);
u64 eng_advance(struct engine *e, u64 now);
void eng_stall(struct engine *e, u64 now);
u64 eng_unmap(struct engine *e, const struct eng_proc *only, u64 now);
bool eng_saved(const struct engine *e, const struct eng_proc *only);
u64 eng_unmap_queue(struct engine *e, struct eng_queue *q, u64 now);
bool eng_queue_saved(const struct engine *e, const struct eng_queue *q);
void eng_resume_queue(struct engine *e, struct eng_queue *q, u64 now);
u64 eng_share_part(const struct engine *e, const struct eng_work *w, u64 own, u64 full);
u32 eng_used_slots(const struct engine *e);
u32 eng_used_hqds(const struct engine *e);

#endif
