/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of preemption: actors, what the GPU shows of them, and the list of the tests.
 *
 * An actor is a child with one GPU, queues and a signal that counts what it has submitted and not
 * seen complete.  Its parent, which never opens /dev/kfd, tells it what to do: a function of this
 * program and two numbers go down a socket, the result comes back.
 */
#ifndef TESTS_PREEMPT_H
#define TESTS_PREEMPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "events.h"
#include "kfd.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define KFD_PROC	"/sys/class/kfd/kfd/proc"

#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL

#define MAX_QUEUES	64

/* enum kfd_prio_reason of the driver, as kfd_preempt_begin and _end have it */
enum { REASON_NONE, REASON_WORK, REASON_IDLE, REASON_BUDGET, REASON_FLOOR, REASON_RATE, REASON_OFF,
       REASON_GONE };

/**
 * struct actor - a child with a GPU, as its parent sees it
 * @pid: its PID
 * @fd: the socket
 * @gpu: index of its GPU
 */
struct actor {
	pid_t pid;
	int fd;
	unsigned int gpu;
};

/**
 * struct me - what an actor has; its own copy
 * @c: the GPU
 * @q: its AQL queues
 * @nq: how many
 * @s: value: submitted and not complete
 * @sdma: an SDMA queue, once act_sdma() was called
 */
struct me {
	struct kfdc *c;
	struct kfdc_queue *q[MAX_QUEUES];
	unsigned int nq;
	struct kfdc_signal *s;
	struct kfdc_ring *sdma;
};

extern struct me me;

typedef long act_fn(long a, long b);

/* Start one with @queues queues of priority @prio; ends the program if that cannot be */
struct actor actor_start(unsigned int gpu, unsigned int queues, unsigned int prio);

/* The same, without opening the GPU: act_open() does that */
struct actor actor_bare(unsigned int gpu);

/* Do something and wait for the result, up to a minute; ends the program if none comes */
long actor_do(const struct actor *a, act_fn *fn, long x, long y);

/* Begin to do something; the result must be heard before the next */
void actor_tell(const struct actor *a, act_fn *fn, long x, long y);
bool actor_hear(const struct actor *a, long *result, int ms);

/* SIGKILL and wait; or let it end by itself */
void actor_kill(struct actor *a);
void actor_end(struct actor *a);

/*
 * Wait, a second at most, until KFD has removed those that were killed last. A killed process keeps its queues for a moment if
 * the driver has a reference to its mm just then
 */
void actors_gone(void);

/* Does SIGBUS end it, within 20 s?  If not it is killed */
bool actor_ends_by_sigbus(struct actor *a);

/* What actors do.  Results are 0 or more, or -errno */
long act_open(long queues, long prio);
long act_submit(long ns, long n);		/* n dispatches on the first queue */
long act_submit_on(long queue, long ns);	/* one on that queue */
long act_submit_silently(long ns, long unused);	/* one, without ringing */
long act_wait(long ms, long unused);		/* for all that was submitted */
long act_left(long unused, long unused2);	/* not complete; may be negative: too many */
long act_request(long ns, long unused);		/* submit and wait; the time to the GPU's end of it, ns */
long act_create(long n, long prio);
long act_destroy_last(long unused, long unused2);
long act_update(long queue, long percentage);
long act_bad_packet(long queue, long unused);	/* of a type that does not exist: the queue stops */
long act_faults(long rings, long unused);	/* page faults of so many rings */
long act_sdma_copy(long bytes, long unused);	/* by SDMA; the time it took, ns */
long act_pm4(long ms, long unused);		/* so many dispatches of 1 ms, in a queue of PM4 packets */
long act_done_at(long unused, long unused2);	/* when the last dispatch was complete, kfdc_now() */

/* Queues that the scheduler's firmware has */
int mapped(unsigned int gpu);

/* Wait, up to 20 s, until it has @n; a remark if not */
bool wait_mapped(unsigned int gpu, int n);

/* Nanoseconds of sleep */
void nap_ns(uint64_t ns);

/**
 * struct commands - what the scheduler of a GPU was told so far
 * @unmaps: UNMAP_QUEUES packets, or REMOVE_QUEUE commands of MES
 * @maps: RUN_LIST packets, or ADD_QUEUE commands of MES
 */
struct commands {
	long long unmaps, maps;
};

struct commands commands(unsigned int gpu);

/* One GPU's figures of a process: preempted_count, preempted_us, preempting_count; -1: no such file */
long long stat_of(const struct actor *a, const char *name);

/* Memory pressure: KFD evicts the queues of @a, and restores them after 100 ms or so. Ends the program if it is refused */
void pressure_on(const struct actor *a);

/* Suspend to RAM, or resume; reset GPU 0. Both end the program if it is refused */
void machine_sleeps(bool down);
void reset_gpu(void);

/* KFD's ID of a GPU */
unsigned int gpu_id(unsigned int gpu);

/* Does it have MES; does it tell how many waves of a process are in flight? */
bool has_mes(unsigned int gpu);
bool has_occupancy(unsigned int gpu);

/* Does it tell of all of them?  MI300X counts those of one XCC of several */
bool sees_waves(unsigned int gpu);

/* A module parameter; set one: ends the program if it is refused */
long param(const char *name);
void param_set(const char *name, long value);
int param_try(const char *name, const char *text);
bool param_is(const char *name, const char *text);

/* Is @text in a line about the GPU in debugfs' kfd/preempt?  Ends the program without debugfs */
bool debugfs_shows(unsigned int gpu, const char *text);

/*
 * Is it 0 or more, and less than @limit?  On a debug kernel, whose CPU is several times slower while the simulated
 * GPU is not, it may be more, which is told
 */
bool in_time(long long ns, long long limit);

/* @ns, but on a debug kernel eight times as long: so that the CPU sees the GPU at work */
uint64_t longer(uint64_t ns);

/* All of preemption's parameters as they were when the program began, but idle_park_ms 0 */
void params_reset(void);

/* Set a priority, -1 to take it away; ends the program if it is refused */
void prioritise(const struct actor *a, int prio);

/*
 * An online process of priority @prio that has just been given it, has had one request and is
 * idle: its doorbells are trapped
 */
struct actor online_start(unsigned int gpu, int prio);

/* An offline process with work for a long time: @n dispatches of @ns */
struct actor offline_start(unsigned int gpu, long ns, long n);

/* Every preemption that began has ended, and in this order */
bool paired(const struct events *e);

/* Is there a kernel thread of the engine?  Of @gpu, by its name: all of them have the name of a GPU? */
bool engine_thread(void);
bool engine_thread_named(unsigned int gpu);

/* enum kfd_prio_park_reason and kfd_prio_unpark_reason of the driver */
enum { PARK_CROWDED, PARK_UPDATE, PARK_IDLE, PARK_PREEMPTED };
enum { UNPARK_RING, UNPARK_POLL, UNPARK_WAVES, UNPARK_PREEMPT, UNPARK_OFF, UNPARK_GONE };

/* Wait until a process was parked @count times, up to 20 s */
bool wait_parked(const struct actor *a, long long count);

/* Each kfd_unpark has its kfd_park before it, and no process is parked twice; processes that are parked at the end do not matter */
bool park_paired(const struct events *e);

/* One dispatch, and wait; the time to the GPU's end of it, ns; ends the program if there is no answer */
long request(const struct actor *a, long ns);

/* CPU time of the engine's threads, ns, and how often they ran */
struct ran { long long ns, runs; };
struct ran engine_ran(void);

/* Work of a high process beside that of a lower one, both new: is the lower one off meanwhile? */
bool preempts(unsigned int gpu);

/* Is the breaker of a GPU open, as debugfs tells it? */
bool open_there(unsigned int gpu);

/* Lines of the kernel's log with @what in them */
int log_lines(const char *what);

/* Does all that an actor has submitted complete, once? */
bool completes(const struct actor *a);

/* Was a GPU reset @n times, within 30 s? */
bool wait_resets(unsigned int gpu, long long n);

/* Does everything work for processes that begin now, once the administrator has had a look? */
bool works(const char *name);

/**
 * struct test - one of them
 * @name: on the command line; test points begin with it
 * @run: does it
 * @gpus: how many it needs, if more than one
 * @waves: it needs a GPU that counts waves in flight: else a last kernel holds its claim for busy_budget_ms
 * @deep: it takes longer than twenty seconds of a CPU: not in "make check", but in "make check-all"
 */
struct test {
	const char *name;
	void (*run)(void);
	unsigned int gpus;
	bool waves;
	bool deep;
};

/* Packets that a test has refused on purpose, so far */
extern long long refused_packets;

/* Is this the only test that is run?  Has stock amdkfd left something behind, as it is known to, and what? */
extern bool alone;
extern const char *left_by_stock;

/* How many rings the test "rings" makes: -r */
extern unsigned long many_rings;

/* How many cycles the test "park_cycles" makes: -r; 0: some */
extern unsigned long park_wakes;

extern const struct test tests_basic[], tests_policy[], tests_held[], tests_wake[], tests_ring[], tests_doorbell[], tests_claim[], tests_signal[],
	tests_idle[], tests_victim[], tests_debug[], tests_debug_exit[], tests_park[], tests_auto[], tests_room[], tests_share[], tests_share_cases[], tests_group[], tests_unread[], tests_mes[],
	tests_compose[], tests_reset[], tests_refused[], tests_breaker[], tests_fault[], tests_end[],
	tests_host[], tests_two[];

#endif
