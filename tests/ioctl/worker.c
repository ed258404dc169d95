// SPDX-License-Identifier: GPL-2.0
/* A worker: threads that call, at random, with structs of which a field or two are wrong now and then */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kfd_prio.h>
#include "ioctl.h"
#include "kfdclient-int.h"
#include "simgpu.h"

#define CANARY	0xa5

struct counts *counts;
bool stock_bugs;
uint64_t zero_index;

static struct worker me;
static uint64_t limit;
static __thread bool busy;

uint64_t below(uint64_t *seed, uint64_t n)
{
	return sim_random(seed) % n;
}

uint64_t pick(struct pool *p, uint64_t *seed)
{
	return p->v[below(seed, POOL)];
}

void keep(struct pool *p, uint64_t v)
{
	/* an ID that is used soon, and is forgotten while it is still in use */
	p->v[(v ^ v >> 12) % POOL] = v;
}

static uint64_t interesting(uint64_t *seed)
{
	static const uint64_t v[] = {
		0, 1, 2, 7, 16, 31, 4095, 4096, 4097, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32, 1ULL << 47,
		0x00007ffffffff000ULL, 0x0000800000000000ULL, 0xffff800000000000ULL, 0xffffffff81000000ULL,
		0x7fffffffffffffffULL, 0x8000000000000000ULL, ~0ULL - 7, ~0ULL - 4095, ~0ULL,
	};

	if (!below(seed, 3))
		return sim_random(seed) >> below(seed, 64);
	return v[below(seed, sizeof(v) / sizeof(v[0]))] + (below(seed, 8) ? 0 : below(seed, 3) - 1);
}

static void mutate(unsigned char *args, unsigned int size, uint64_t *seed)
{
	unsigned int n = 1 + !below(seed, 4), width, at;
	uint64_t v;

	while (n-- && size >= 4) {
		width = size >= 8 && below(seed, 2) ? 8 : 4;
		at = below(seed, size / width) * width;
		if (below(seed, 3)) {
			v = interesting(seed);
			memcpy(args + at, &v, width);
		} else {
			args[at + below(seed, width)] ^= 1 << below(seed, 8);
		}
	}
}

static const struct call *choose(uint64_t *seed)
{
	unsigned int i, sum = 0, n;

	for (i = 0; i < n_calls; i++)
		sum += busy ? calls[i].busy : calls[i].quiet;
	n = below(seed, sum);
	for (i = 0; n >= (busy ? calls[i].busy : calls[i].quiet); i++)
		n -= busy ? calls[i].busy : calls[i].quiet;
	return &calls[i];
}

static void count(const struct call *c, int err, uint64_t ns)
{
	__atomic_add_fetch(&counts->total, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&counts->call_ns[c - calls], ns, __ATOMIC_RELAXED);
	if (err >= ERRNOS) {
		/* the kernel's own: no business of user space */
		counts->odd = err;
		err = ERRNOS - 1;
	}
	__atomic_add_fetch(&counts->call[c - calls][err], 1, __ATOMIC_RELAXED);
}

static void one_ioctl(uint64_t *seed)
{
	const struct call *c = choose(seed);
	unsigned int size = _IOC_SIZE(c->cmd), said = size, i;
	unsigned char args[ARGS_MAX] __attribute__((aligned(8)));
	unsigned long cmd = c->cmd;
	bool wrong = !below(seed, 3);
	void *arg = args;
	uint64_t ns;
	int fd = me.fd[below(seed, 2) ? 0 : below(seed, 8)], err;

	memset(args, CANARY, sizeof(args));
	memset(args, 0, size);
	c->fill(&me, args, seed);
	if (wrong)
		mutate(args, size, seed);
	/* the size is a part of our numbers; KFD's are recognised by the number alone, and it copies its own size */
	if (_IOC_NR(cmd) >= KFD_PRIO_IOC_FIRST && !below(seed, 8)) {
		said = below(seed, 64);
		cmd = _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd) + !below(seed, 16), said);
		if (said > size && below(seed, 2))
			memset(args + size, 0, said - size);
	}
	if (c->guard)
		c->guard(args);
	if (!below(seed, 64))
		arg = (void *)interesting(seed);
	if (fd < 0)
		fd = me.gpu->kfd;
	ns = kfdc_now();
	err = ioctl(fd, cmd, arg) ? errno : 0;
	count(c, err, kfdc_now() - ns);
	if (arg != args)
		return;
	if (!err && c->took)
		c->took(&me, args);
	for (i = size > said ? size : said; i < sizeof(args); i++)
		if (args[i] != CANARY) {
			snprintf(counts->why, sizeof(counts->why), "%s of size %u wrote byte %u", c->name, said, i);
			__atomic_add_fetch(&counts->overrun, 1, __ATOMIC_RELAXED);
			break;
		}
}

/* ---- work ---- */

/*
 * Up to 7 dispatches for whatever AQL queues have this write index, and a doorbell, not always theirs.  Packets that
 * one queue has taken are INVALID for the others of the ring, which stop there until all packets are written again.
 */
static bool work(uint64_t *seed)
{
	volatile uint64_t *wptr = (void *)(me.pointers + 512 * below(seed, INDICES));
	struct {
		uint16_t header, setup, wg[3], reserved0;
		uint32_t grid[3], private_size, group_size;
		uint64_t kernel_object, kernarg, ns, signal;
	} *p = (void *)me.ring, d = { 2, 1, { 64, 1, 1 }, 0, { 64, 1, 1 } };
	unsigned int i, odd = below(seed, 16) ? RING : below(seed, RING / sizeof(d));

	d.ns = 10000 << below(seed, 5);
	for (i = 0; i < RING / sizeof(d); i++) {
		/* one of another type, or of none */
		d.header = i == odd ? below(seed, 6) : 2;
		p[i] = d;
	}
	*wptr += zero_index ? 0 : below(seed, 8);
	*(volatile uint64_t *)(me.doorbells + pick(&me.bells, seed)) = *wptr;
	return true;
}

/* ---- descriptors, processes, mappings ---- */

static bool pass(uint64_t *seed)
{
	char room[CMSG_SPACE(sizeof(int))] = "", ch = 0;
	struct iovec io = { &ch, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int fd = me.fd[below(seed, 8)];

	if (fd < 0)
		return false;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(me.sock[0], &m, MSG_DONTWAIT) == 1;
}

/* The first two are this process's own for good; the rest comes and goes */
static void put_fd(int fd, uint64_t *seed)
{
	int old = __atomic_exchange_n(&me.fd[2 + below(seed, 6)], fd, __ATOMIC_SEQ_CST);

	if (old >= 0)
		close(old);
}

static bool receive(uint64_t *seed)
{
	char room[CMSG_SPACE(sizeof(int))] = "", ch;
	struct iovec io = { &ch, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	int fd;

	if (recvmsg(me.sock[1], &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&m))
		return false;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	put_fd(fd, seed);
	return true;
}

/* A child that calls on what it has inherited or opened, execs, or is killed */
static bool spawn(uint64_t *seed)
{
	unsigned int what = below(seed, 4), n = 8;
	uint64_t mine = sim_random(seed);
	pid_t pid = fork();

	if (pid < 0)
		return false;
	if (!pid) {
		cover_start(THREADS);
		if (what == 1)
			me.fd[1] = open("/dev/kfd", below(&mine, 2) ? O_RDWR : O_ACCMODE);
		while (what < 3 && n--) {
			one_ioctl(&mine);
			cover_take();
		}
		if (what == 2)
			execl("/bin/true", "true", NULL);
		if (what == 3)
			raise(SIGKILL);
		_exit(0);
	}
	/* as a target of the other thread, until it is dead and after */
	me.pid[WORKERS + 1] = pid;
	waitpid(pid, NULL, 0);
	return true;
}

/* The doorbells a second time, in use while they are moved and cut; or anything else that /dev/kfd may map */
static bool map(uint64_t *seed)
{
	uint64_t at = below(seed, 4) ? me.doorbells_at : pick(&me.mmap_offsets, seed);
	size_t size = below(seed, 4) ? 8192 : 4096 << below(seed, 3);
	char *m, *moved;

	if (!below(seed, 4))
		at = interesting(seed) & ~4095ULL;
	m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, me.fd[!below(seed, 4)], at);
	if (m == MAP_FAILED)
		return false;
	if (at == me.doorbells_at) {
		*(volatile uint64_t *)(m + pick(&me.bells, seed) % size) = below(seed, 64);
		if (below(seed, 2)) {
			moved = mremap(m, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, me.user + 65536 + 4096 * below(seed, 8));
			if (moved != MAP_FAILED)
				m = moved;
			*(volatile uint64_t *)(m + pick(&me.bells, seed) % size) = below(seed, 64);
		}
		if (!below(seed, 4))
			munmap(m + 4096 * below(seed, 2), 4096);
	}
	munmap(m, size);
	return true;
}

static bool other(enum extra x, uint64_t *seed)
{
	switch (x) {
	case X_RING:
		return work(seed);
	case X_MMAP:
		return map(seed);
	case X_FORK:
		return spawn(seed);
	case X_PASS:
		return pass(seed);
	case X_RECEIVE:
		return receive(seed);
	case X_CLOSE:
		put_fd(below(seed, 2) ? open("/dev/kfd", (below(seed, 2) ? O_ACCMODE : O_RDWR) | O_CLOEXEC) : -1, seed);
		return true;
	default:
		return mmap(me.user + 65536, 65536, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
	}
}

/* Rare things, one call in 16 while busy, else in 64; a fork is dear */
static void step(uint64_t *seed)
{
	static const unsigned int share[EXTRAS] = { [X_RING] = 40, [X_MMAP] = 8, [X_FORK] = 1, [X_PASS] = 5,
		[X_RECEIVE] = 8, [X_CLOSE] = 4, [X_REMAP] = 2 };
	unsigned int n, i;
	uint64_t ns;
	bool worked;

	if (below(seed, busy ? 16 : 64)) {
		one_ioctl(seed);
		return;
	}
	n = below(seed, 68);
	for (i = 0; n >= share[i]; i++)
		n -= share[i];
	ns = kfdc_now();
	worked = other(i, seed);
	__atomic_add_fetch(&counts->extra[i][worked], 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&counts->extra_ns[i], kfdc_now() - ns, __ATOMIC_RELAXED);
}

static void *one_thread(void *arg)
{
	uint64_t seed = (uintptr_t)arg;
	unsigned int n = 0;

	while (!counts->stop && counts->total < limit) {
		if (!n--) {
			busy = !below(&seed, 16);
			n = 50 + below(&seed, 500);
		}
		step(&seed);
		cover_take();
		/* now and then a worker dies in the middle of what the other thread does */
		if (!below(&seed, 30000))
			kill(getpid(), SIGKILL);
	}
	return NULL;
}

static void *second_thread(void *arg)
{
	cover_start(1);
	return one_thread(arg);
}

/* ---- the beginning ---- */

static void die(const char *what)
{
	snprintf(counts->why, sizeof(counts->why), "worker %u: %s: %s", me.nr, what, kfdc_error());
	_exit(2);
}

static void *area(size_t size, uint32_t flags)
{
	struct kfdc_bo bo;

	if (kfdc_bo_alloc(me.gpu, size, flags, &bo))
		die("memory");
	return bo.va;
}

/* Half of the workers are ordinary users */
static void ordinary(void)
{
	uid_t uid = 1000 + me.nr;

	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void worker(unsigned int nr, uint64_t seed, uint64_t max, int sock[2])
{
	struct kfdc_queue *q;
	uint64_t total, gfx;
	unsigned int i;
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	me.nr = nr;
	limit = max;
	memcpy(me.sock, sock, sizeof(me.sock));
	cover_prepare();
	cover_start(0);
	if (nr % 2)
		ordinary();
	if (kfdc_open(&me.gpu, 0) || kfdc_cwsr_sizes(me.gpu, &me.ctl, &me.cwsr_size, &total))
		die("open");
	if (kfdc_prop(me.gpu, "gfx_target_version", &gfx))
		die("gfx_target_version");
	me.gpu_id = me.gpu->gpu_id;
	me.ring = area(RING, KFD_IOC_ALLOC_MEM_FLAGS_GTT);
	me.sdma = area(RING, KFD_IOC_ALLOC_MEM_FLAGS_GTT);	/* NOPs */
	me.pm4 = area(RING, KFD_IOC_ALLOC_MEM_FLAGS_GTT);
	for (i = 0; i < RING / 4; i++)
		((uint32_t *)me.pm4)[i] = 0x80000000;	/* filler */
	me.pointers = area(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT);
	if (gfx >= 110000 && !stock_bugs) {
		zero_index = (uintptr_t)me.pointers;
		counts->no_work = true;
	}
	me.eop = area(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC);
	me.cwsr = area(total, KFD_IOC_ALLOC_MEM_FLAGS_GTT);
	me.user = mmap(NULL, 131072, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (me.user == MAP_FAILED)
		die("mmap");
	/* one queue stays, if the number of it is not hit upon: its doorbell is in the pages that have all of them */
	if (kfdc_queue_create(me.gpu, NULL, &q))
		die("a queue");
	me.doorbells = me.gpu->doorbells;
	me.doorbells_at = q->doorbell_offset & ~8191UL;
	for (i = 2; i < 8; i++)
		me.fd[i] = -1;
	me.fd[0] = me.gpu->kfd;
	me.fd[1] = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	for (i = 0; i < WORKERS + 2; i++) {
		me.pid[i] = i < WORKERS ? counts->pid[i] : i == WORKERS ? getpid() : 1;
		me.pidfd[i] = syscall(SYS_pidfd_open, me.pid[i] > 0 ? me.pid[i] : getpid(), 0);
	}
	if (pthread_create(&t, NULL, second_thread, (void *)(uintptr_t)sim_random(&seed)))
		die("a thread");
	one_thread((void *)(uintptr_t)sim_random(&seed));
	pthread_join(t, NULL);
	_exit(0);
}
