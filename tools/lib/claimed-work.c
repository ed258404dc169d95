// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of whether queues had work, summed for each queue.
 *
 * The caller never waits for the reader (claimed-read.c), which a process can block.  If the reader spends more
 * than CLAIMED_BOUND_NS on one process, that process is not read again: the reader is killed, and another reader
 * continues with the next process.  The number of readers that do not die of SIGKILL is limited.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "claimed-work.h"
#include "kfdlib.h"

#define MAX_BLOCKED 1024 /* processes that block the reader; after them nothing is sampled */
#define MAX_DYING   16	 /* readers that were killed and have not ended */
#define WAIT_MS	    2	 /* between two looks for answers */
#define END_MS	    100	 /* for a reader to end at the end */

/**
 * struct claimed - the samples of a recording
 * @device: device number of /dev/kfd, 0 if no process can be read
 * @shared: slots of the last dump, or NULL
 * @reader: PID of the reader, or 0
 * @wake: socket to it, or -1
 * @at_pid, @since: the process that the reader is at, and when that was first observed, ns
 * @dying: PIDs of readers that were killed, 0: none
 * @cpu_ns: CPU time of readers that was not reported yet; @used_ns: of this one, reported
 * @blocked: processes that block, array of @nr_blocked; @blocked_start: start times of them
 * @queues: array of @nr; @last: index of the one that was found last
 * @left_out: samples for which there was no room
 */
struct claimed {
	dev_t device;
	struct claimed_shared *shared;
	pid_t reader;
	int wake;
	unsigned int at_pid;
	uint64_t since;
	pid_t dying[MAX_DYING];
	uint64_t cpu_ns, used_ns;
	unsigned int blocked[MAX_BLOCKED];
	uint64_t blocked_start[MAX_BLOCKED];
	size_t nr_blocked;
	struct claimed_queue *queues;
	size_t nr, last;
	uint64_t left_out;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/**
 * claimed_ticks() - now, in the unit of start times in /proc/PID/stat
 *
 * Return: clock ticks since boot.
 */
uint64_t claimed_ticks(void)
{
	return now_ns(CLOCK_BOOTTIME) / (1000000000ULL / sysconf(_SC_CLK_TCK));
}

/* --- the sums */

static bool same_queue(const struct claimed_queue *queue, const struct claimed_slot *slot)
{
	return queue->pid == slot->pid && queue->gpu_id == slot->gpu_id && queue->rptr == slot->rptr &&
	       queue->wptr == slot->wptr && (!queue->start || !slot->start || queue->start == slot->start);
}

/* Dumps are in the same order: the next queue is most often the next one here. */
static struct claimed_queue *queue_find(struct claimed *claimed, const struct claimed_slot *slot)
{
	struct claimed_queue *grown;
	size_t i, at;

	for (i = 1; i <= claimed->nr; i++) {
		at = (claimed->last + i) % claimed->nr;
		if (same_queue(&claimed->queues[at], slot)) {
			claimed->last = at;
			return &claimed->queues[at];
		}
	}
	if (claimed->nr == CLAIMED_QUEUES)
		return NULL;
	if (!(claimed->nr & (claimed->nr - 1))) {
		grown = reallocarray(claimed->queues, claimed->nr ? 2 * claimed->nr : 1, sizeof(*grown));
		if (!grown)
			return NULL;
		claimed->queues = grown;
	}
	claimed->last = claimed->nr;
	claimed->queues[claimed->nr] = (struct claimed_queue){
		.pid = slot->pid, .gpu_id = slot->gpu_id, .queue = slot->queue, .start = slot->start,
		.rptr = slot->rptr, .wptr = slot->wptr, .first = slot->ts,
	};
	return &claimed->queues[claimed->nr++];
}

static void slot_count(struct claimed *claimed, const struct claimed_slot *slot)
{
	struct claimed_queue *queue = queue_find(claimed, slot);

	if (!queue) {
		claimed->left_out++;
		return;
	}
	if (!queue->start)
		queue->start = slot->start;
	queue->samples++;
	queue->last = slot->ts;
	queue->unknown += slot->answer == CLAIMED_UNKNOWN;
	if (slot->answer != CLAIMED_UNKNOWN) {
		queue->moved += queue->samples - queue->unknown > 1 && slot->rptr_value != queue->rptr_value;
		queue->rptr_value = slot->rptr_value;
	}
	if (slot->answer != CLAIMED_WORK)
		return;
	if (!queue->work++)
		queue->first_work = slot->ts;
	queue->last_work = slot->ts;
}

/* --- the reader */

static struct claimed_shared *shared_map(void)
{
	void *shared = mmap(NULL, sizeof(struct claimed_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

static bool reader_start(struct claimed *claimed)
{
	int ends[2], wake;

	/* a socket, as a write to a pipe without a reader would be a signal */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	wake = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
	claimed->reader = wake < 0 ? -1 : fork();
	if (!claimed->reader)
		claimed_read(claimed->shared, wake);
	close(ends[0]);
	if (wake >= 0)
		close(wake);
	if (claimed->reader < 0) {
		claimed->reader = 0;
		close(ends[1]);
		return false;
	}
	claimed->wake = ends[1];
	claimed->used_ns = 0;
	return true;
}

static void dying_reap(struct claimed *claimed)
{
	size_t i;

	for (i = 0; i < MAX_DYING; i++)
		if (claimed->dying[i] && waitpid(claimed->dying[i], NULL, WNOHANG))
			claimed->dying[i] = 0;
}

/* A place for a reader that is killed; MAX_DYING: there is none */
static size_t dying_room(struct claimed *claimed)
{
	size_t i;

	dying_reap(claimed);
	for (i = 0; i < MAX_DYING && claimed->dying[i]; i++)
		;
	return i;
}

static void reader_kill(struct claimed *claimed)
{
	size_t room;

	if (!claimed->reader)
		return;
	room = dying_room(claimed);
	kill(claimed->reader, SIGKILL);
	close(claimed->wake);
	claimed->wake = -1;
	if (room < MAX_DYING)
		claimed->dying[room] = claimed->reader;
	claimed->reader = 0;
}

/* The reader may write to the old memory until it dies: each reader has memory of its own. */
static bool reader_ready(struct claimed *claimed)
{
	if (claimed->reader)
		return claimed->shared;
	if (!claimed->device || claimed->nr_blocked == MAX_BLOCKED || dying_room(claimed) == MAX_DYING)
		return false;
	if (!claimed->shared)
		claimed->shared = shared_map();
	return claimed->shared && reader_start(claimed);
}

static void reader_wake(struct claimed *claimed)
{
	claimed->at_pid = 0;
	if (send(claimed->wake, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		reader_kill(claimed);
}

/* @pid blocks: the start time @start is 0 if the reader did not come to know it */
static void blocked_add(struct claimed *claimed, unsigned int pid, uint64_t start)
{
	if (claimed->nr_blocked == MAX_BLOCKED)
		return;
	claimed->blocked[claimed->nr_blocked] = pid;
	claimed->blocked_start[claimed->nr_blocked++] = start ? start : CLAIMED_ANY_START;
}

/* The last process with this PID that blocked: those before it have ended */
static uint64_t blocked_start(const struct claimed *claimed, unsigned int pid)
{
	size_t i;

	for (i = claimed->nr_blocked; i-- > 0;)
		if (claimed->blocked[i] == pid)
			return claimed->blocked_start[i];
	return 0;
}

/* Slots from @from to @to have no answer. */
static void slots_unknown(struct claimed *claimed, struct claimed_shared *shared, size_t from, size_t to)
{
	uint64_t ts = now_ns(CLOCK_MONOTONIC);
	size_t i;

	for (i = from; i < to; i++) {
		shared->slots[i].answer = CLAIMED_UNKNOWN;
		shared->slots[i].ts = ts;
		slot_count(claimed, &shared->slots[i]);
	}
}

static void slots_count(struct claimed *claimed, const struct claimed_shared *shared, size_t to)
{
	size_t i;

	for (i = 0; i < to; i++)
		slot_count(claimed, &shared->slots[i]);
}

/* The reader is killed or has ended, at slot @done of @old.  Another one goes on behind the process of that slot. */
static void reader_replace(struct claimed *claimed, struct claimed_shared *old, size_t done)
{
	unsigned int pid = old->slots[done].pid;
	size_t next = done, nr = old->nr;

	for (; next < nr && old->slots[next].pid == pid; next++)
		old->slots[next].start = old->slots[done].start;
	blocked_add(claimed, pid, old->slots[done].start);
	slots_count(claimed, old, done);
	reader_kill(claimed);
	slots_unknown(claimed, old, done, next);
	claimed->shared = NULL;
	if (next == nr || !reader_ready(claimed)) {
		slots_unknown(claimed, old, next, nr);
	} else {
		claimed->shared->device = old->device;
		claimed->shared->before = old->before;
		memcpy(claimed->shared->slots, &old->slots[next], (nr - next) * sizeof(*old->slots));
		claimed->shared->nr = nr - next;
		reader_wake(claimed);
	}
	munmap(old, sizeof(*old));
}

static uint64_t reader_cpu(const struct claimed *claimed)
{
	clockid_t clock;

	if (!claimed->reader || clock_getcpuclockid(claimed->reader, &clock))
		return claimed->used_ns;
	return now_ns(clock);
}

/**
 * claimed_collect() - count the answers that there are; never waits
 * @claimed: the samples
 *
 * Return: ns of CPU time that reading has taken since the last call.
 */
uint64_t claimed_collect(struct claimed *claimed)
{
	struct claimed_shared *shared = claimed->shared;
	uint64_t now = now_ns(CLOCK_MONOTONIC), cpu = reader_cpu(claimed), took;
	size_t done;

	took = cpu > claimed->used_ns ? cpu - claimed->used_ns : 0;
	claimed->used_ns += took;
	if (!shared || !shared->nr)
		return took;
	if (claimed->reader && waitpid(claimed->reader, NULL, WNOHANG) == claimed->reader) {
		close(claimed->wake);
		claimed->wake = -1;
		claimed->reader = 0;
	}
	done = atomic_load(&shared->done);
	if (done >= shared->nr) {
		slots_count(claimed, shared, shared->nr);
		shared->nr = 0;
	} else if (!claimed->reader) {
		/* it was killed, for want of memory for example */
		slots_count(claimed, shared, done);
		slots_unknown(claimed, shared, done, shared->nr);
		munmap(shared, sizeof(*shared));
		claimed->shared = NULL;
	} else if (claimed->at_pid != shared->slots[done].pid) {
		claimed->at_pid = shared->slots[done].pid;
		claimed->since = now;
	} else if (now - claimed->since >= CLAIMED_BOUND_NS) {
		reader_replace(claimed, shared, done);
	}
	return took;
}

/**
 * claimed_wait() - count answers until there are all
 * @claimed: the samples
 * @bound_ns: wait no longer
 *
 * Return: true if all answers are counted. A later call may find the missing ones.
 */
bool claimed_wait(struct claimed *claimed, uint64_t bound_ns)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC);

	for (;;) {
		claimed_collect(claimed);
		if (!claimed->shared || !claimed->shared->nr)
			return true;
		if (now_ns(CLOCK_MONOTONIC) - begin >= bound_ns)
			return false;
		poll(NULL, 0, WAIT_MS);
	}
}

/**
 * claimed_sample() - let the queues of a dump be read
 * @claimed: the samples
 * @mqds: the dump, a whole one
 * @before: claimed_ticks() before the dump
 * @ts: ns, when the dump was read
 *
 * A dump is left out while the reader is at the one before.
 */
void claimed_sample(struct claimed *claimed, const struct mqds *mqds, uint64_t before, uint64_t ts)
{
	struct claimed_shared *shared;
	bool ready = reader_ready(claimed);
	size_t nr = 0, i;

	shared = claimed->shared;
	if (ready && shared->nr)
		return;
	for (i = 0; i < mqds->nr; i++) {
		const struct mqd_times *t = &mqds->times[i];
		struct claimed_slot slot = { .pid = t->pid, .gpu_id = t->gpu_id, .queue = t->queue, .rptr = t->rptr,
					     .wptr = t->wptr, .refused = blocked_start(claimed, t->pid), .ts = ts };

		/* each XCC has the same addresses */
		if (t->xcc)
			continue;
		if (!ready || !t->aql || t->ambiguous || !t->rptr || !t->wptr)
			slot_count(claimed, &slot);
		else if (nr == CLAIMED_SLOTS)
			claimed->left_out++;
		else
			shared->slots[nr++] = slot;
	}
	if (!nr)
		return;
	shared->device = claimed->device;
	shared->before = before;
	shared->nr = nr;
	atomic_store(&shared->done, 0);
	reader_wake(claimed);
}

/**
 * claimed_device() - which processes can be read
 *
 * Return: for claimed_begin(): device number of /dev/kfd, or 0: PIDs here are not those of a dump.
 */
dev_t claimed_device(void)
{
	struct stat status;

	/* the PIDs of a dump are those of the initial PID namespace */
	if (!proc_outer_namespace() || stat(KFDLIB_DEVICE, &status) || !S_ISCHR(status.st_mode))
		return 0;
	return status.st_rdev;
}

/**
 * claimed_begin() - before the first sample
 * @device: device number of /dev/kfd, which each process that is read has open; 0: no process can be read, since
 *	there is no device, or PIDs here are not those of the dump
 *
 * Return: to be freed with claimed_end(), or NULL: no memory.
 */
struct claimed *claimed_begin(dev_t device)
{
	struct claimed *claimed = calloc(1, sizeof(*claimed));

	if (claimed) {
		claimed->device = device;
		claimed->wake = -1;
	}
	return claimed;
}

/**
 * claimed_queues() - the sums
 * @claimed: the samples
 * @nr: out: how many queues
 *
 * Return: array of @nr, valid until the next call with @claimed.
 */
const struct claimed_queue *claimed_queues(const struct claimed *claimed, size_t *nr)
{
	*nr = claimed->nr;
	return claimed->queues;
}

/**
 * claimed_lost() - what is in no sum, and why
 * @claimed: the samples
 * @left_out: out: samples for which there was no room
 * @blocked: out: processes that blocked the reader
 */
void claimed_lost(const struct claimed *claimed, uint64_t *left_out, size_t *blocked)
{
	*left_out = claimed->left_out;
	*blocked = claimed->nr_blocked;
}

/**
 * claimed_end() - end the reader, free the samples
 * @claimed: the samples, or NULL
 *
 * A reader that is blocked where SIGKILL has no effect ends later, without this process.
 */
void claimed_end(struct claimed *claimed)
{
	size_t i;
	int ms;

	if (!claimed)
		return;
	reader_kill(claimed);
	for (ms = 0; ms < END_MS; ms++) {
		dying_reap(claimed);
		for (i = 0; i < MAX_DYING && !claimed->dying[i]; i++)
			;
		if (i == MAX_DYING)
			break;
		poll(NULL, 0, 1);
	}
	if (claimed->shared)
		munmap(claimed->shared, sizeof(*claimed->shared));
	free(claimed->queues);
	free(claimed);
}
