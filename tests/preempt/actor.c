// SPDX-License-Identifier: GPL-2.0
/* Tests of preemption: actors and what they do */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "preempt.h"

#define REQUEST_NS	(60 * SEC)
#define N_KILLED	16

struct me me;
static unsigned int my_gpu;
static pid_t killed[N_KILLED];
static unsigned int kills;

struct order {
	act_fn *fn;
	long a, b;
};

static void serve(int fd)
{
	struct order o;
	long result;

	prctl(PR_SET_TIMERSLACK, 1);
	while (read(fd, &o, sizeof(o)) == sizeof(o)) {
		result = o.fn(o.a, o.b);
		if (result < 0 && result > -4096)
			fprintf(stderr, "# actor %d: %ld, %s\n", getpid(), result, kfdc_error());
		if (write(fd, &result, sizeof(result)) != sizeof(result))
			break;
	}
	_exit(0);
}

struct actor actor_bare(unsigned int gpu)
{
	struct actor a = { .gpu = gpu };
	int fds[2];

	fflush(stdout);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		tap_bail("socketpair: %s", strerror(errno));
	a.pid = fork();
	if (!a.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		my_gpu = gpu;
		serve(fds[1]);
	}
	close(fds[1]);
	if (a.pid < 0)
		tap_bail("fork: %s", strerror(errno));
	a.fd = fds[0];
	return a;
}

void actor_tell(const struct actor *a, act_fn *fn, long x, long y)
{
	struct order o = { fn, x, y };

	if (write(a->fd, &o, sizeof(o)) != sizeof(o))
		tap_bail("actor %d is gone", a->pid);
}

bool actor_hear(const struct actor *a, long *result, int ms)
{
	struct pollfd p = { .fd = a->fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && read(a->fd, result, sizeof(*result)) == sizeof(*result);
}

long actor_do(const struct actor *a, act_fn *fn, long x, long y)
{
	long result;

	actor_tell(a, fn, x, y);
	if (!actor_hear(a, &result, 60000))
		tap_bail("actor %d does not answer", a->pid);
	return result;
}

struct actor actor_start(unsigned int gpu, unsigned int queues, unsigned int prio)
{
	struct actor a = actor_bare(gpu);

	if (actor_do(&a, act_open, queues, prio))
		tap_bail("actor %d cannot use the GPU", a.pid);
	return a;
}

void actor_kill(struct actor *a)
{
	if (a->pid <= 0)
		return;
	kill(a->pid, SIGKILL);
	waitpid(a->pid, NULL, 0);
	close(a->fd);
	killed[kills++ % N_KILLED] = a->pid;
	a->pid = 0;
}

void actors_gone(void)
{
	char path[64];
	unsigned int i;
	uint64_t end = kfdc_now() + SEC;

	for (i = 0; i < N_KILLED; i++) {
		snprintf(path, sizeof(path), KFD_PROC "/%d", killed[i]);
		while (killed[i] && !access(path, F_OK) && kfdc_now() < end)
			nap_ns(200 * US);
		killed[i] = 0;
	}
}

void actor_end(struct actor *a)
{
	if (a->pid <= 0)
		return;
	/* actors born later have it open, too */
	shutdown(a->fd, SHUT_RDWR);
	close(a->fd);
	waitpid(a->pid, NULL, 0);
	a->pid = 0;
}

bool actor_ends_by_sigbus(struct actor *a)
{
	uint64_t end = kfdc_now() + 20 * SEC;
	int status = 0;
	pid_t pid;

	do {
		pid = waitpid(a->pid, &status, WNOHANG);
		if (!pid)
			nap_ns(10 * MS);
	} while (!pid && kfdc_now() < end);
	if (pid != a->pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGBUS) {
		tap_diag("process %d: %s, status %#x", a->pid, pid ? "ended" : "still there", status);
		if (!pid)
			actor_kill(a);
		return false;
	}
	close(a->fd);
	a->pid = 0;
	return true;
}

/* ---- in the child ---- */

long act_create(long n, long prio)
{
	struct kfdc_queue_attr attr = { .priority = prio, .percentage = 100, .packets = 1024 };
	int r = 0;

	while (n-- && !r && me.nq < MAX_QUEUES) {
		r = kfdc_queue_create(me.c, &attr, &me.q[me.nq]);
		me.nq += !r;
	}
	return r;
}

/*
 * All GPUs, as ROCr does: restoring an evicted process without an address space on one of them
 * crashes the amdkfd of Linux 6.1
 */
long act_open(long queues, long prio)
{
	struct kfdc *other;
	unsigned int i;
	int r = 0;

	for (i = 0; !r && sim_read(i, "counters"); i++)
		r = kfdc_open(i == my_gpu ? &me.c : &other, i);
	if (!r)
		r = kfdc_signal_create(me.c, true, &me.s);
	return r ? r : act_create(queues, prio);
}

/* amd_signal_t.value; the GPU takes one away for each completion */
static void expect(long n)
{
	__atomic_fetch_add((int64_t *)kfdc_signal_mem(me.s) + 1, n, __ATOMIC_SEQ_CST);
}

static long submit(struct kfdc_queue *q, long ns, bool silently)
{
	expect(1);
	return kfdc_dispatch(q, &(struct kfdc_dispatch){
		.ns = ns, .signal = me.s, .no_ring = silently,
	});
}

long act_submit(long ns, long n)
{
	long r = 0;

	while (n-- && !r)
		r = submit(me.q[0], ns, false);
	return r;
}

long act_submit_on(long queue, long ns)
{
	return submit(me.q[queue], ns, false);
}

long act_submit_silently(long ns, long unused)
{
	(void)unused;
	return submit(me.q[0], ns, true);
}

long act_left(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return kfdc_signal_value(me.s);
}

long act_wait(long ms, long unused)
{
	long r = kfdc_signal_wait(me.s, ms * MS);

	(void)unused;
	return r ? r : kfdc_signal_value(me.s);
}

/*
 * Until the GPU was done, by its own time stamp: when this process gets the VM's one CPU to notice is
 * up to the scheduler, whose tick is 4 ms.
 */
long act_request(long ns, long unused)
{
	uint64_t start, end, t = kfdc_now();
	long r;

	(void)unused;
	r = submit(me.q[0], ns, false);
	if (!r)
		r = kfdc_signal_wait(me.s, REQUEST_NS);
	if (r)
		return r;
	kfdc_signal_times(me.s, &start, &end);
	return (long)(end - t);
}

long act_done_at(long unused, long unused2)
{
	uint64_t start, end;

	(void)unused, (void)unused2;
	kfdc_signal_times(me.s, &start, &end);
	return end;
}

long act_destroy_last(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return kfdc_queue_destroy(me.q[--me.nq]);
}

long act_update(long queue, long percentage)
{
	return kfdc_queue_update(me.q[queue], percentage, me.q[queue]->attr.priority);
}

long act_bad_packet(long queue, long unused)
{
	uint16_t packet[32] = { 0x0007 };

	(void)unused;
	return kfdc_packet(me.q[queue], packet, true);
}

long act_faults(long rings, long unused)
{
	struct rusage before, after;

	(void)unused;
	kfdc_ring(me.q[0]);
	getrusage(RUSAGE_SELF, &before);
	while (rings--)
		kfdc_ring(me.q[0]);
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt;
}

long act_sdma_copy(long bytes, long unused)
{
	static struct kfdc_bo bo[2];
	uint64_t t;
	long r = 0;
	int i;

	(void)unused;
	if (!me.sdma) {
		r = kfdc_ring_create(me.c, NULL, &me.sdma);
		for (i = 0; i < 2 && !r; i++)
			r = kfdc_bo_alloc(me.c, bytes, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &bo[i]);
	}
	t = kfdc_now();
	if (!r && bytes)
		r = kfdc_sdma_copy(me.sdma, bo[1].va, bo[0].va, bytes);
	if (r || !bytes)
		return r;
	kfdc_ring_submit(me.sdma);
	r = kfdc_ring_wait(me.sdma, REQUEST_NS);
	return r ? r : (long)(kfdc_now() - t);
}

/* One after the other, each behind a wait for the one before: the read index follows */
long act_pm4(long ms, long unused)
{
	const struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	volatile uint64_t *done;
	struct kfdc_ring *ring;
	struct kfdc_bo bo;
	long i, r;

	(void)unused;
	r = kfdc_ring_create(me.c, &attr, &ring);
	if (!r)
		r = kfdc_bo_alloc(me.c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &bo);
	if (r)
		return r;
	done = bo.va;
	expect(1);
	for (i = 1; i <= ms && !r; i++) {
		/* a full load of waves takes 20 us */
		r = kfdc_pm4_dispatch(ring, kfdc_max_waves(me.c) * 50);
		r = r ? r : kfdc_pm4_release(ring, done, i, 0);
		r = r ? r : kfdc_pm4_wait(ring, (volatile uint32_t *)done, i);
	}
	r = r ? r : kfdc_pm4_signal(ring, me.s);
	if (r)
		return r;
	kfdc_ring_submit(ring);
	return kfdc_signal_wait(me.s, REQUEST_NS);
}
