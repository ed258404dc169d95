// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbells that cannot be trapped, because of the way in which a process has mapped them: the process counts as
 * having work.  No mapping reaches anything but the doorbells of its process.  And work for which no CPU has rung.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "preempt.h"

#define SLICE	8192	/* bytes of doorbells of a process on a GPU */
#define FAR	(64 * SLICE)

/* So many mappings of its doorbells a process may have, see KFD_PRIO_MAX_MAPPINGS */
#define MAPPINGS 8

static int foreign = -1;	/* a descriptor of /dev/kfd that another process has opened */
static char *maps[2];		/* further mappings of an actor */

static uint64_t offset_of(void)
{
	return me.q[0]->doorbell_offset & ~(SLICE - 1ull);
}

static long in_slice(void)
{
	return me.q[0]->doorbell_offset & (SLICE - 1);
}

/* Map the doorbells once more, at an offset of /dev/kfd that is @far bytes more than KFD has said */
static long map_at(unsigned int i, int fd, long far)
{
	maps[i] = mmap(NULL, SLICE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset_of() + far);
	return maps[i] == MAP_FAILED ? -errno : 0;
}

/* Ring through that mapping from now on */
static void ring_through(char *p)
{
	me.q[0]->doorbell = (void *)(p + in_slice());
}

/* Through a descriptor that was inherited; a tree that refuses says EBADF */
static long act_map_foreign(long unused, long unused2)
{
	long r = map_at(0, foreign, 0);

	(void)unused, (void)unused2;
	if (!r)
		ring_through(maps[0]);
	return r;
}

/* KFD takes the type and the GPU from the offset, and ignores the other bits */
static long act_map_far(long far, long unused)
{
	long r = map_at(0, kfdc_fd(me.c), far);

	(void)unused;
	if (!r)
		ring_through(maps[0]);
	return r;
}

static long act_faults_of_ring(long unused, long unused2)
{
	struct rusage before, after;

	(void)unused, (void)unused2;
	getrusage(RUSAGE_SELF, &before);
	kfdc_ring(me.q[0]);
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt;
}

/*
 * Two mappings at different offsets: is what is stored through one seen through the other, before the pages were taken
 * away and after it?  In a doorbell that belongs to no queue.  Nothing is stored through the first: it might be
 * mapped to anything
 */
static long act_same_memory(long far, long unused)
{
	long at = (in_slice() + SLICE / 2) % SLICE, r, i;
	volatile uint64_t *own, *second;

	(void)unused;
	own = (void *)((char *)me.q[0]->doorbell - in_slice() + at);
	r = map_at(0, kfdc_fd(me.c), far);
	if (r)
		return r;
	second = (void *)(maps[0] + at);
	for (i = 0; i < 2; i++) {
		*second = 0x1234 + i;
		if (*own != *second)
			return 1;
		/* an idle neighbour's pages are taken away after a while, in all its mappings */
		usleep(200000);
	}
	*second = 0;
	return 0;
}

/* A store to a private mapping goes to a copy: does it launch the packet? */
static long act_ring_private(long unused, long unused2)
{
	volatile uint64_t *doorbell;
	long r;
	char *p;

	(void)unused, (void)unused2;
	p = mmap(NULL, SLICE, PROT_READ | PROT_WRITE, MAP_PRIVATE, kfdc_fd(me.c), offset_of());
	if (p == MAP_FAILED)
		return 0;
	r = act_submit_silently(MS, 0);
	doorbell = (void *)(p + in_slice());
	*doorbell = *me.q[0]->wptr - 1;
	if (!r)
		r = kfdc_signal_wait(me.s, 100 * MS) == 0;
	munmap(p, SLICE);
	kfdc_ring(me.q[0]);
	return r;
}

/* Map the doorbells @n times more at their offset; with @keep they stay mapped */
static long act_map_again(long n, long keep)
{
	long r = 0;

	while (n-- && !r) {
		r = map_at(0, kfdc_fd(me.c), 0);
		if (!r && !keep)
			munmap(maps[0], SLICE);
	}
	return r;
}

/*
 * @off has no work, and rings in a way that no trap notices.  While @on has work it must be off all the same, and it
 * comes back
 */
static void counts_as_work(const struct actor *on, struct actor *off, const char *name)
{
	int others = mapped(0);
	long faults;

	/* it has been seen without work for long enough to be trapped */
	nap_ns(param("safety_poll_us") * US * 5);
	faults = actor_do(off, act_faults_of_ring, 0, 0);
	tap_eq(faults, 0, "%s: no ring of it faults", name);
	nap_ns(param("safety_poll_us") * US * 5);
	if (actor_do(on, act_submit, longer(20 * MS), 4))
		tap_bail("the online work was refused");
	nap_ns(5 * MS);
	tap_eq(mapped(0), others - 1, "%s: without work it is off while another process preempts", name);
	if (actor_do(on, act_wait, 20000, 0))
		tap_bail("the online work is not complete");
	tap_ok(wait_mapped(0, others), "%s: it comes back", name);
	tap_ok(actor_do(off, act_request, MS, 0) > 0, "%s: its work is done", name);
}

/*
 * A descriptor of /dev/kfd that another process has opened, and that process.  Not this one: KFD keeps a process until its
 * memory goes, and the module could not be unloaded
 */
static pid_t foreign_open(void)
{
	char data = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &data, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int pair[2], fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		tap_bail("socketpair: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
		c = CMSG_FIRSTHDR(&msg);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		if (fd >= 0)
			sendmsg(pair[1], &msg, 0);
		close(pair[1]);
		for (;;)
			pause();
	}
	close(pair[1]);
	foreign = -1;
	if (pid > 0 && recvmsg(pair[0], &msg, MSG_CMSG_CLOEXEC) > 0 && (c = CMSG_FIRSTHDR(&msg)))
		memcpy(&foreign, CMSG_DATA(c), sizeof(foreign));
	close(pair[0]);
	if (foreign < 0)
		tap_bail("no descriptor of /dev/kfd from another process");
	return pid;
}

static void untrapped(void)
{
	struct actor on, off, trapped;
	pid_t opener = foreign_open();
	long r;

	on = online_start(0, 12);
	off = actor_start(0, 1, 7);
	r = actor_do(&off, act_map_foreign, 0, 0);
	if (r == -EBADF)
		tap_skip("untrapped: through another's descriptor", "this KFD refuses it");
	else if (tap_eq(r, 0, "untrapped: mapped through a descriptor that another process has opened"))
		counts_as_work(&on, &off, "untrapped: another's descriptor");
	actor_kill(&off);
	close(foreign);
	kill(opener, SIGKILL);
	waitpid(opener, NULL, 0);

	off = actor_start(0, 1, 7);
	if (tap_eq(actor_do(&off, act_map_far, FAR, 0), 0, "untrapped: mapped at an offset with other bits set"))
		counts_as_work(&on, &off, "untrapped: another offset");
	/* nothing that it does with the first mapping changes that */
	trapped = actor_start(0, 1, 7);
	nap_ns(param("safety_poll_us") * US * 5);
	tap_ok(actor_do(&trapped, act_faults_of_ring, 0, 0) > 0, "untrapped: the rings of a third process fault");
	actor_kill(&trapped);
	actor_kill(&off);
	actor_kill(&on);
}

/* A zap walks over all mappings: with more than MAPPINGS there is none */
static void mappings(void)
{
	struct actor on = online_start(0, 12), off = actor_start(0, 1, 7);

	tap_eq(actor_do(&off, act_map_again, 100, 0), 0, "mappings: 100 one after the other");
	tap_eq(actor_do(&off, act_map_again, MAPPINGS - 1, 1), 0, "mappings: %d at a time", MAPPINGS);
	nap_ns(param("safety_poll_us") * US * 5);
	tap_ok(actor_do(&off, act_faults_of_ring, 0, 0) > 0, "mappings: a ring faults still");
	tap_eq(actor_do(&off, act_map_again, 1, 1), 0, "mappings: one more");
	/* nothing takes the pages away any more, once they are there */
	nap_ns(param("safety_poll_us") * US * 5);
	actor_do(&off, act_faults_of_ring, 0, 0);
	counts_as_work(&on, &off, "mappings: one more");
	actor_kill(&off);
	actor_kill(&on);
}

/* Whatever its offset, a mapping is of the doorbells of its process */
static void frames(void)
{
	static const long far[] = { SLICE, FAR, 1L << 33 };
	struct actor on = online_start(0, 12), a;
	unsigned int i;

	for (i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		a = actor_start(0, 1, 7);
		tap_eq(actor_do(&a, act_same_memory, far[i], 0), 0,
		       "frames: two mappings %ld bytes apart are of the same doorbells", far[i]);
		actor_kill(&a);
	}
	a = actor_start(0, 1, 7);
	tap_eq(actor_do(&a, act_ring_private, 0, 0), 0, "frames: a private mapping rings nothing");
	tap_ok(completes(&a), "frames: the packet is done after a ring through the shared one");
	actor_kill(&a);
	actor_kill(&on);
}

#define QUIET		30	/* processes without work */
#define POLLED		8	/* so many of them are examined every safety_poll_us */
#define TRIES		6
#define KICKS_US	"5"

/*
 * Work that a device has rung for is found by the poll. Rings, evictions and queues of others kick the engine's thread, and
 * interrupt it, as often as users like: the poll must come to its end as soon as without them. The simulated GPU makes the
 * kicks, as the guest has one CPU
 */
static void silent_kicked(void)
{
	struct actor on, quiet[QUIET];
	long long ns, worst = 0, most = (QUIET / POLLED + 3) * 10 * MS;
	uint64_t begin;
	unsigned int i;
	bool all = true;

	if (!has_mes(0)) {
		tap_skip("silent_kicked", "HWS: the engine's thread has a real-time priority, and nobody else would run on the only CPU");
		return;
	}
	/* as the engine's thread has, and so have actors from here on */
	setpriority(PRIO_PROCESS, 0, -20);
	on = online_start(0, 12);
	for (i = 0; i < QUIET; i++) {
		quiet[i] = actor_start(0, 1, 7);
		if (actor_do(&quiet[i], act_request, 10 * US, 0) < 0)
			tap_bail("a process's first request failed");
	}
	/* takes all of them off; they are proved to have no work, and stay off */
	if (actor_do(&on, act_request, 5 * MS, 0) < 0)
		tap_bail("the online process's request failed");
	nap_ns(200 * MS);
	tap_eq(mapped(0), 1, "silent_kicked: processes without work are off the GPU");
	if (sim_write(0, "kicks", KICKS_US))
		tap_bail("kicks");
	for (i = 0; i < TRIES; i++) {
		const struct actor *a = &quiet[i * QUIET / TRIES];

		begin = kfdc_now();
		if (actor_do(a, act_submit_silently, 10 * US, 0))
			tap_bail("the work was refused");
		all &= completes(a);
		ns = actor_do(a, act_done_at, 0, 0) - begin;
		worst = ns > worst ? ns : worst;
	}
	sim_write(0, "kicks", "0");
	tap_ok(all, "silent_kicked: work without a ring is found");
	tap_ok(in_time(worst, most), "silent_kicked: beside a kick every " KICKS_US " us it is found in %lld us, less than %lld",
	       worst / 1000, most / 1000);
	for (i = 0; i < QUIET; i++)
		actor_kill(&quiet[i]);
	actor_kill(&on);
	setpriority(PRIO_PROCESS, 0, 0);
}

/* A shorter interval counts from the last poll, and does not wait for what was due with the longer one */
static void shorter_poll(void)
{
	struct actor quiet = actor_start(0, 1, 7);
	long poll_us = param("safety_poll_us");
	uint64_t begin;
	long long ns;

	param_set("idle_park_ms", 20);
	if (actor_do(&quiet, act_request, 10 * US, 0) < 0)
		tap_bail("a request failed");
	nap_ns(100 * MS);
	tap_eq(mapped(0), 0, "shorter_poll: a process without work is parked");
	param_set("safety_poll_us", 10000000);
	/* after the poll that was due */
	nap_ns(100 * MS);
	param_set("safety_poll_us", poll_us);
	begin = kfdc_now();
	if (actor_do(&quiet, act_submit_silently, 10 * US, 0))
		tap_bail("the work was refused");
	tap_ok(completes(&quiet), "shorter_poll: work without a ring is found");
	ns = actor_do(&quiet, act_done_at, 0, 0) - begin;
	tap_ok(in_time(ns, 3 * poll_us * US), "shorter_poll: it is found in %lld us, less than %ld", ns / 1000, 3 * poll_us);
	actor_kill(&quiet);
}

const struct test tests_doorbell[] = {
	{ "untrapped", untrapped }, { "mappings", mappings }, { "frames", frames }, { "silent_kicked", silent_kicked },
	{ "shorter_poll", shorter_poll }, {}
};
