// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor --test: the children that use the GPU */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "actor.h"
#include "queue.h"
#include "work.h"

#define PRIORITY	7	/* what its queues ask for: ROCr's normal */
#define POLL_NS		20000	/* how often memory is looked at */
#define GIVE_UP_MS	5000	/* how long an actor may take to end */
#define MS		1000000ull

/* Slots of the shared page */
enum { SIGNAL_GATE, SIGNAL_BLOCKED, SIGNAL_DONE };
enum { WORD_WRITE, WORD_RELEASE, WORD_BEAT, WORD_FENCE };

/**
 * struct stage - what an actor has
 * @c: the process on the GPU
 * @aql: for what waits
 * @pm4: for what shows that it runs
 * @beat: number of the last WRITE_DATA
 * @blocked: a barrier waits
 * @work: whose results are compared
 */
struct stage {
	struct gpu_client c;
	struct gpu_queue aql, pm4;
	struct work work;
	uint32_t beat;
	bool blocked;
};

/**
 * struct message - an order on its way
 * @order: which
 * @value: of the order
 * @timeout_ms: for what it waits for
 */
struct message {
	enum order order;
	uint32_t value;
	unsigned int timeout_ms;
};

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
}

static int late(struct stage *s, const char *what, unsigned int timeout_ms)
{
	snprintf(s->c.why, sizeof(s->c.why), "%s was not done within %u ms", what, timeout_ms);
	return -ETIME;
}

static int signal_wait(struct stage *s, unsigned int slot, const char *what,
		       unsigned int timeout_ms, uint64_t *at)
{
	volatile int64_t *value = gpu_signal(&s->c, slot);
	uint64_t end = gpu_now() + timeout_ms * MS;

	while (*value > 0) {
		if (gpu_now() >= end)
			return late(s, what, timeout_ms);
		nap();
	}
	*at = gpu_now();
	return 0;
}

static int word_wait(struct stage *s, unsigned int slot, uint32_t value, const char *what,
		     unsigned int timeout_ms, uint64_t *at)
{
	uint64_t end = gpu_now() + timeout_ms * MS;

	while (*gpu_word(&s->c, slot) != value) {
		if (gpu_now() >= end)
			return late(s, what, timeout_ms);
		nap();
	}
	*at = gpu_now();
	return 0;
}

static int create(struct stage *s, enum gpu_queue_kind kind, struct gpu_queue *q, uint64_t *at)
{
	int ret;

	at[0] = gpu_now();
	ret = gpu_queue_create(&s->c, kind, PRIORITY, q);
	at[1] = gpu_now();
	return ret;
}

static int packets(struct stage *s, unsigned int timeout_ms, uint64_t *at)
{
	uint64_t seen;
	int ret;

	*gpu_signal(&s->c, SIGNAL_DONE) = 1;
	gpu_aql_barrier(&s->c, &s->aql, -1, SIGNAL_DONE);
	gpu_queue_ring(&s->aql, &at[0], NULL);
	ret = signal_wait(s, SIGNAL_DONE, "an AQL barrier", timeout_ms, &at[1]);
	if (ret)
		return ret;
	gpu_pm4_write(&s->c, &s->pm4, WORD_WRITE, 0x6b666470);
	gpu_pm4_release(&s->c, &s->pm4, WORD_RELEASE, 0x7072696f);
	gpu_queue_ring(&s->pm4, NULL, NULL);
	ret = word_wait(s, WORD_RELEASE, 0x7072696f, "RELEASE_MEM", timeout_ms, &seen);
	return ret ? ret : word_wait(s, WORD_WRITE, 0x6b666470, "WRITE_DATA", timeout_ms, &seen);
}

static void pattern(uint32_t *words, uint32_t seed)
{
	size_t i;

	for (i = 0; i < COPY_BYTES / 4; i++)
		words[i] = seed += 0x9e3779b9;
}

static int sdma_copy(struct stage *s, struct gpu_queue *q, unsigned int timeout_ms, uint64_t *at)
{
	bool copy = s->c.gfx < 120000;
	struct gpu_memory m = { 0 };
	char *from, *to;
	int ret;

	ret = gpu_queue_create(&s->c, GPU_QUEUE_SDMA, PRIORITY, q);
	if (!ret)
		ret = gpu_memory_alloc(&s->c, 2 * COPY_BYTES, false, &m);
	if (ret)
		return ret;
	from = m.va;
	to = from + COPY_BYTES;
	pattern((uint32_t *)from, 1);
	memset(to, 0, COPY_BYTES);
	*gpu_word(&s->c, WORD_FENCE) = 0;
	if (copy)
		gpu_sdma_copy(&s->c, q, to, from);
	gpu_sdma_fence(&s->c, q, WORD_FENCE, 1);
	gpu_queue_ring(q, &at[0], NULL);
	ret = word_wait(s, WORD_FENCE, 1, "an SDMA fence", timeout_ms, &at[1]);
	if (!ret && copy && memcmp(from, to, COPY_BYTES)) {
		snprintf(s->c.why, sizeof(s->c.why), "SDMA's copy differs from the original");
		ret = -EIO;
	}
	/* The queue first: after a time-out it may still write. */
	if (!gpu_queue_destroy(&s->c, q))
		gpu_memory_free(&s->c, &m);
	return ret;
}

static int sdma(struct stage *s, unsigned int timeout_ms, uint64_t *at)
{
	struct gpu_queue q = { 0 };
	int ret = sdma_copy(s, &q, timeout_ms, at);

	gpu_queue_destroy(&s->c, &q);
	return ret;
}

static int release(struct stage *s, unsigned int timeout_ms, uint64_t *at)
{
	int ret;

	at[0] = gpu_now();
	__atomic_store_n(gpu_signal(&s->c, SIGNAL_GATE), 0, __ATOMIC_SEQ_CST);
	ret = signal_wait(s, SIGNAL_BLOCKED, "the released barrier", timeout_ms, &at[1]);
	s->blocked = ret;
	return ret;
}

static int stop(struct stage *s, uint64_t *at)
{
	int ret, ret2;

	/* What is still in flight holds no memory once its queue is gone. */
	if (s->blocked)
		*gpu_signal(&s->c, SIGNAL_GATE) = 0;
	at[0] = gpu_now();
	work_close(&s->work);
	ret = gpu_queue_destroy(&s->c, &s->aql);
	ret2 = gpu_queue_destroy(&s->c, &s->pm4);
	at[1] = gpu_now();
	return ret ? ret : ret2;
}

static int work_start(struct stage *s, unsigned int timeout_ms, uint64_t *at)
{
	char note[KFDLIB_WHY] = "";
	int ret = work_open(&s->work, &s->c, &s->aql, &s->pm4, timeout_ms, note, sizeof(note));

	if (ret)
		return ret;
	at[0] = s->work.kind;
	snprintf(s->c.why, sizeof(s->c.why), "%s", note);
	return 0;
}

static int obey(struct stage *s, const struct message *m, uint64_t *at)
{
	switch (m->order) {
	case ORDER_START:
		return create(s, GPU_QUEUE_AQL, &s->aql, at);
	case ORDER_PM4:
		return create(s, GPU_QUEUE_PM4, &s->pm4, at);
	case ORDER_PACKETS:
		return packets(s, m->timeout_ms, at);
	case ORDER_SDMA:
		return sdma(s, m->timeout_ms, at);
	case ORDER_BLOCK:
		*gpu_signal(&s->c, SIGNAL_GATE) = 1;
		*gpu_signal(&s->c, SIGNAL_BLOCKED) = 1;
		s->blocked = true;
		gpu_aql_barrier(&s->c, &s->aql, SIGNAL_GATE, SIGNAL_BLOCKED);
		gpu_queue_ring(&s->aql, &at[0], &at[1]);
		return 0;
	case ORDER_RELEASE:
		return release(s, m->timeout_ms, at);
	case ORDER_BEAT:
		gpu_pm4_write(&s->c, &s->pm4, WORD_BEAT, ++s->beat);
		gpu_queue_ring(&s->pm4, &at[0], &at[1]);
		return 0;
	case ORDER_BEAT_SEEN:
		return word_wait(s, WORD_BEAT, s->beat, "a WRITE_DATA", m->timeout_ms, &at[0]);
	case ORDER_WORK_OPEN:
		return work_start(s, m->timeout_ms, at);
	case ORDER_WORK_FIRST:
	case ORDER_WORK_SECOND:
		work_submit(&s->work, m->value, m->order == ORDER_WORK_SECOND);
		return 0;
	case ORDER_WORK_CHECK:
		return work_check(&s->work, m->timeout_ms);
	case ORDER_STOP:
		return stop(s, at);
	}
	return -EINVAL;
}

static __attribute__((noreturn)) void serve(int socket, const struct kfd_topology *topo,
					    const struct kfd_gpu *gpu, unsigned int seconds)
{
	static struct stage s;
	struct message m;
	struct answer a;
	int opened = 1;

	while (read(socket, &m, sizeof(m)) == sizeof(m)) {
		alarm(seconds);
		memset(&a, 0, sizeof(a));
		if (m.order == ORDER_START)
			opened = gpu_client_open(&s.c, topo, gpu);
		if (!opened)
			a.ret = obey(&s, &m, a.at);
		else if (m.order != ORDER_STOP)
			a.ret = opened;
		if (a.ret || m.order == ORDER_WORK_OPEN)
			snprintf(a.why, sizeof(a.why), "%s", s.c.why);
		if (write(socket, &a, sizeof(a)) != sizeof(a))
			break;
	}
	if (!opened)
		stop(&s, a.at);
	/* KFD takes back what is left when the process is gone. */
	_exit(0);
}

/**
 * actor_start() - start a child
 * @a: out
 * @topo: all GPUs
 * @gpu: the one that it is to use
 * @seconds: after which without an order it is ended by a signal, whatever happens
 *
 * Return: 0 or -errno.
 */
int actor_start(struct actor *a, const struct kfd_topology *topo, const struct kfd_gpu *gpu,
		unsigned int seconds)
{
	pid_t doctor = getpid();
	int sockets[2];
	int ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	fflush(NULL);
	a->pid = fork();
	if (a->pid < 0) {
		ret = -errno;
		a->pid = 0;
		close(sockets[0]);
		close(sockets[1]);
		return ret;
	}
	if (!a->pid) {
		/* Ctrl-C is for the doctor, which then ends its children in order. */
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_TIMERSLACK, 1);
		if (getppid() != doctor)
			_exit(1);
		alarm(seconds);
		/* Also another child's socket, which would keep that one from seeing its end. */
		close_range(3, sockets[1] - 1, 0);
		close_range(sockets[1] + 1, ~0u, 0);
		serve(sockets[1], topo, gpu, seconds);
	}
	close(sockets[1]);
	a->socket = sockets[0];
	return 0;
}

/**
 * actor_do_with() - have something done, and wait for it
 * @a: the child
 * @order: what
 * @value: of the order
 * @timeout_ms: for what it waits for
 * @answer: out
 *
 * Return: what it answered; -EINTR if a signal came, -ETIMEDOUT if it does not answer, -EPIPE if
 * it has ended; @answer has a text for each.
 */
int actor_do_with(struct actor *a, enum order order, uint32_t value, unsigned int timeout_ms,
		  struct answer *answer)
{
	const struct message m = { .order = order, .value = value, .timeout_ms = timeout_ms };
	struct pollfd poll_fd = { .fd = a->socket, .events = POLLIN };
	int ret;

	memset(answer, 0, sizeof(*answer));
	if (send(a->socket, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m)) {
		snprintf(answer->why, sizeof(answer->why), "the process of the test has ended");
		return answer->ret = -EPIPE;
	}
	/* Creating a queue on a GPU that does not answer takes KFD's own time-out. */
	ret = poll(&poll_fd, 1, timeout_ms + GIVE_UP_MS);
	if (ret < 0)
		answer->ret = -errno;
	else if (!ret)
		answer->ret = -ETIMEDOUT;
	else if (recv(a->socket, answer, sizeof(*answer), 0) != sizeof(*answer))
		answer->ret = -EPIPE;
	if (answer->ret == -EINTR)
		snprintf(answer->why, sizeof(answer->why), "interrupted");
	else if (answer->ret == -ETIMEDOUT)
		snprintf(answer->why, sizeof(answer->why),
			 "the process of the test does not answer: KFD or the GPU hangs; see 'dmesg'");
	else if (answer->ret == -EPIPE)
		snprintf(answer->why, sizeof(answer->why), "the process of the test has ended");
	return answer->ret;
}

/**
 * actor_do() - have something done that has no value, and wait for it; as actor_do_with()
 * @a: the child
 * @order: what
 * @timeout_ms: for what it waits for
 * @answer: out
 */
int actor_do(struct actor *a, enum order order, unsigned int timeout_ms, struct answer *answer)
{
	return actor_do_with(a, order, 0, timeout_ms, answer);
}

/**
 * actor_end() - end a child, which gives everything back
 * @a: the child; may be none
 *
 * One that does not end in time is killed; one that even then does not is left to the kernel.
 */
void actor_end(struct actor *a)
{
	uint64_t end = gpu_now() + GIVE_UP_MS * MS;
	bool killed = false;

	if (!a->pid)
		return;
	close(a->socket);
	while (!waitpid(a->pid, NULL, WNOHANG)) {
		if (gpu_now() >= end) {
			if (killed)
				break;
			kill(a->pid, SIGKILL);
			killed = true;
			end += GIVE_UP_MS * MS;
		}
		nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	}
	a->pid = 0;
}
