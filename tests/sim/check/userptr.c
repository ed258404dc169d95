// SPDX-License-Identifier: GPL-2.0
/*
 * sim-userptr: memory of a process that changes under the GPU, and memory that is shared.
 * GPU 0 and, if there is one, GPU 1. The children do it; what they find out is one bit each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include <linux/udmabuf.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define MS	1000000ULL
#define SEC	1000000000ULL
#define MB	(1ULL << 20)
#define SIZE	65536
#define VRAM	(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC)
#define GTT	KFD_IOC_ALLOC_MEM_FLAGS_GTT

static long long pages;		/* ram_pages of the idle GPU */

static void nap(unsigned int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS }, NULL);
}

/* A process that uses a GPU by SDMA */
struct gpu {
	struct kfdc *c;
	struct kfdc_ring *sdma;
	struct kfdc_bo gtt;	/* SIZE bytes */
};

static void must(int r)
{
	if (r) {
		fprintf(stderr, "# %s\n", kfdc_error());
		_exit(99);
	}
}

/* All GPUs are opened, see open_all() of memory.c */
static struct gpu open_gpu(unsigned int index)
{
	static struct kfdc *c[16];
	struct gpu g;
	unsigned int i;

	for (i = 0; i < 16 && !c[i] && sim_read(i, "counters"); i++)
		must(kfdc_open(&c[i], i));
	g.c = c[index];
	must(kfdc_ring_create(g.c, NULL, &g.sdma));
	must(kfdc_bo_alloc(g.c, SIZE, GTT, &g.gtt));
	return g;
}

static void *anon(void *at, size_t size)
{
	void *p = mmap(at, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (p == MAP_FAILED) {
		perror("# mmap");
		_exit(99);
	}
	return p;
}

static void set(void *p, uint32_t value, size_t size)
{
	uint32_t *w = p;
	size_t i;

	for (i = 0; i < size / 4; i++)
		w[i] = value + i;
}

static bool has(const void *p, uint32_t value, size_t size)
{
	const uint32_t *w = p;
	size_t i;

	for (i = 0; i < size / 4; i++)
		if (w[i] != value + i)
			return false;
	return true;
}

static int run(struct gpu *g)
{
	kfdc_ring_submit(g->sdma);
	return kfdc_ring_wait(g->sdma, 60 * SEC);
}

/* Does the GPU see these SIZE bytes at @p? */
static bool gpu_sees(struct gpu *g, const void *p, uint32_t value)
{
	memset(g->gtt.va, 0, SIZE);
	must(kfdc_sdma_copy(g->sdma, g->gtt.va, p, SIZE));
	must(run(g));
	return has(g->gtt.va, value, SIZE);
}

static void gpu_writes(struct gpu *g, void *p, uint32_t value)
{
	set(g->gtt.va, value, SIZE);
	must(kfdc_sdma_copy(g->sdma, p, g->gtt.va, SIZE));
	must(run(g));
}

/* ---- userptrs ---- */

enum { READ = 1, WRITTEN = 2, REMAPPED = 4, MOVED = 8, PROTECTED = 16, GONE = 32 };

static int changes(int fd, void *unused)
{
	struct gpu g = open_gpu(0);
	struct kfdc_bo user;
	char *p = anon(NULL, SIZE), *q;
	int found = 0, i;

	(void)fd, (void)unused;
	set(p, 1, SIZE);
	must(kfdc_userptr(g.c, p, SIZE, &user));
	found |= gpu_sees(&g, p, 1) * READ;
	gpu_writes(&g, p, 100);
	found |= has(p, 100, SIZE) * WRITTEN;

	/* other pages at the same place */
	anon(p, SIZE);
	set(p, 200, SIZE);
	if (gpu_sees(&g, p, 200)) {
		gpu_writes(&g, p, 300);
		found |= has(p, 300, SIZE) * REMAPPED;
	}

	/* the old pages are somebody else's now */
	q = anon(NULL, SIZE);
	if (mremap(q, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, p) != p)
		return 99;
	set(p, 400, SIZE);
	found |= gpu_sees(&g, p, 400) * MOVED;

	for (i = 0; i < 5; i++)
		if (mprotect(p, SIZE, PROT_READ) || mprotect(p, SIZE, PROT_READ | PROT_WRITE))
			return 99;
	set(p, 500, SIZE);
	found |= gpu_sees(&g, p, 500) * PROTECTED;
	must(kfdc_bo_release(g.c, &user));
	found |= has(p, 500, SIZE) * GONE;
	must(kfdc_ring_destroy(g.sdma));
	kfdc_close(g.c);
	return found;
}

enum { PARENT_NEW = 1, PARENT_WRITTEN = 2, CHILD_OLD = 4 };

/* After fork() the first to write gets a copy: the GPU must go on with the parent's */
static int copy_on_write(int fd, void *unused)
{
	struct gpu g = open_gpu(0);
	struct kfdc_bo user;
	char *p = anon(NULL, SIZE), ch;
	int found = 0, pipefd[2], status;
	pid_t pid;

	(void)fd, (void)unused;
	set(p, 1, SIZE);
	must(kfdc_userptr(g.c, p, SIZE, &user));
	if (!gpu_sees(&g, p, 1) || pipe(pipefd))
		return 99;
	pid = fork();
	if (!pid) {
		close(pipefd[1]);
		if (read(pipefd[0], &ch, 1) != 0)
			_exit(99);
		_exit(has(p, 1, SIZE));
	}
	set(p, 200, SIZE);
	found |= gpu_sees(&g, p, 200) * PARENT_NEW;
	gpu_writes(&g, p, 300);
	found |= has(p, 300, SIZE) * PARENT_WRITTEN;
	close(pipefd[1]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 99;
	found |= (WIFEXITED(status) && WEXITSTATUS(status) == 1) * CHILD_OLD;
	return found;
}

/* A queue runs while memory that it is not using comes and goes */
static int while_running(int fd, void *unused)
{
	const int n = 20;
	struct gpu g = open_gpu(0);
	struct kfdc_signal *s;
	struct kfdc_bo user;
	struct kfdc_queue *q;
	char *p;
	int i;

	(void)fd, (void)unused;
	must(kfdc_queue_create(g.c, NULL, &q));
	must(kfdc_signal_create(g.c, true, &s));
	kfdc_signal_set(s, n);
	for (i = 0; i < n; i++)
		must(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 10 * MS, .signal = s }));
	for (i = 0; i < 20; i++) {
		p = anon(NULL, SIZE);
		must(kfdc_userptr(g.c, p, SIZE, &user));
		nap(2);
		munmap(p, SIZE);		/* registered still */
		nap(i % 3);
		must(kfdc_bo_release(g.c, &user));
	}
	if (kfdc_signal_wait(s, 60 * SEC))
		return 99;
	nap(30);
	return kfdc_signal_value(s) == 0 && *q->rptr == *q->wptr;
}

/* Touched after it was unmapped: a VM fault, not somebody else's memory */
static int touch_unmapped(int fd, void *unused)
{
	struct gpu g = open_gpu(0);
	struct kfdc_bo user;
	char *p = anon(NULL, SIZE);

	(void)fd, (void)unused;
	set(p, 1, SIZE);
	must(kfdc_userptr(g.c, p, SIZE, &user));
	if (!gpu_sees(&g, p, 1))
		return 99;
	munmap(p, SIZE);
	must(kfdc_sdma_copy(g.sdma, g.gtt.va, p, SIZE));
	kfdc_ring_submit(g.sdma);
	return kfdc_ring_wait(g.sdma, SEC) == -ETIME;
}

enum { LAZY = 1, WHOLE = 2, AGAIN = 4, COMPACTED = 8 };

static int large(int fd, void *unused)
{
	const size_t size = 16 * MB;
	struct gpu g = open_gpu(0);
	long long before = sim_counter(0, "userptr_pages"), found;
	struct kfdc_bo user, gtt;
	char *p = anon(NULL, size);
	int r = 0, i;

	(void)fd, (void)unused;
	must(kfdc_bo_alloc(g.c, size, GTT, &gtt));
	must(kfdc_userptr(g.c, p, size, &user));
	set(p + 8 * MB, 7, SIZE);
	if (!gpu_sees(&g, p + 8 * MB, 7))
		return 99;
	found = sim_counter(0, "userptr_pages") - before;
	r |= (found > 0 && found < (long long)size / 4096) * LAZY;
	set(p, 1, size);
	for (i = 0; i < 2; i++) {
		must(kfdc_sdma_copy(g.sdma, gtt.va, p, size));
		must(run(&g));
		if (i)
			r |= has(gtt.va, 50, size) * AGAIN;
		else
			r |= has(gtt.va, 1, size) * WHOLE;
		anon(p, size);
		set(p, 50, size);
	}
	for (i = 0; i < 3; i++) {	/* what is not pinned may be moved */
		must(kfdc_sdma_copy(g.sdma, gtt.va, p, size));
		kfdc_ring_submit(g.sdma);
		sim_poke("/proc/sys/vm/compact_memory", "1");
		must(kfdc_ring_wait(g.sdma, 60 * SEC));
	}
	r |= has(gtt.va, 50, size) * COMPACTED;
	return r;
}

static int refused(int fd, void *unused)
{
	struct kfdc *c = open_gpu(0).c;
	struct kfdc_bo bo;
	char *p = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r = 0;

	(void)fd, (void)unused;
	r |= (kfdc_userptr(c, p, SIZE, &bo) < 0) * 1;		/* read-only */
	munmap(p, SIZE);
	r |= (kfdc_userptr(c, p, SIZE, &bo) == -EFAULT) * 2;	/* nothing there */
	p = anon(NULL, 8 * MB);
	munmap(p + 4 * MB, 4096);
	r |= (kfdc_userptr(c, p, 8 * MB, &bo) == -EFAULT) * 4;	/* a hole in a large one */
	return r;
}

/* Runs a child; what it found must be @want */
static void check(int (*fn)(int fd, void *arg), void *arg, int want, const char *what)
{
	struct sim_child ch = sim_child(fn, arg);
	int status = sim_child_end(&ch, 120000);

	tap_eq(WIFEXITED(status) ? WEXITSTATUS(status) : -1, want, "%s", what);
}

static void test_userptr(void)
{
	long long notified = sim_counter(0, "userptr_invalidations");
	long long faults;

	check(changes, NULL, READ | WRITTEN | REMAPPED | MOVED | PROTECTED | GONE,
	      "userptr: read, written, remapped, moved, protected, released");
	tap_ok(sim_counter(0, "userptr_invalidations") >= notified + 8 &&
	       sim_counter(0, "userptr_restores") >= 3, "each change was noticed");
	check(copy_on_write, NULL, PARENT_NEW | PARENT_WRITTEN | CHILD_OLD,
	      "fork: the GPU sees the parent's pages, the child keeps the old contents");
	check(while_running, NULL, 1, "a queue goes on while userptrs come, are unmapped and go");
	faults = sim_counter(0, "vm_faults");
	check(touch_unmapped, NULL, 1, "SDMA from an unmapped userptr does not end");
	tap_eq(sim_counter(0, "vm_faults") - faults, 1, "it is a VM fault");
	check(large, NULL, LAZY | WHOLE | AGAIN | COMPACTED,
	      "16 MB: found when touched, all of it, once more when remapped, and when pages move");
	check(refused, NULL, 7, "what is not there, or read-only, is refused");
	tap_ok(sim_clean(0, pages), "nothing is left");
	tap_eq(sim_counter(0, "userptr_pages"), 0, "not even pages of userptrs");
}

/* ---- dma-bufs ---- */

static int send_fd(int sock, int fd)
{
	char ch = 'f', control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec iov = { &ch, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	return sendmsg(sock, &m, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int sock)
{
	char ch, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &ch, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(sock, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

/* Exports 4 MB of VRAM; ends when the other has changed it */
static int exporter(int fd, void *arg)
{
	struct gpu g = open_gpu(0);
	struct kfdc_bo bo, user;
	int *socks = arg, sock = socks[0], dmabuf, r;
	char ch;

	(void)fd;
	close(socks[1]);
	must(kfdc_bo_alloc(g.c, 4 * MB, VRAM, &bo));
	set(bo.va, 1, 4 * MB);
	r = kfdc_bo_export(g.c, &bo, &dmabuf);
	if (r)
		return r == -ENOTTY ? 77 : 99;
	must(kfdc_userptr(g.c, anon(NULL, SIZE), SIZE, &user));
	if (send_fd(sock, dmabuf) || kfdc_bo_export(g.c, &user, &r) != -EPERM)
		return 99;
	if (read(sock, &ch, 1) != 1)
		return 99;
	return has(bo.va, 200, SIZE) && gpu_sees(&g, bo.va, 200);
}

enum { INFO = 1, SAME = 2, NOT_MINE = 4, EXITED = 8, PEER = 16, NOT_OURS = 32 };

static bool refuses(struct kfdc *c, int fd)
{
	uint32_t flags, gpu;
	struct kfdc_bo bo;
	uint64_t size;

	return kfdc_dmabuf_info(c, fd, &size, &flags, &gpu) == -EINVAL &&
	       kfdc_bo_import(c, fd, &bo) == -EINVAL;
}

/* A dma-buf of another driver, -1: the kernel has none */
static int other_dmabuf(void)
{
	struct udmabuf_create create = { .memfd = memfd_create("u", MFD_ALLOW_SEALING), .size = SIZE };
	int u = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);

	if (u < 0 || ftruncate(create.memfd, SIZE) ||
	    fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	return ioctl(u, UDMABUF_CREATE, &create);
}

static int importer(int fd, void *arg)
{
	struct gpu g = open_gpu(0), peer;
	int *socks = arg, sock = socks[1], found = 0, dmabuf, other;
	struct kfdc_bo bo, bo2;
	uint32_t flags, gpu;
	uint64_t size;
	char ch;

	close(socks[0]);	/* the end of it is the exporter's */
	dmabuf = receive_fd(sock);
	if (dmabuf < 0)
		return 99;
	must(kfdc_dmabuf_info(g.c, dmabuf, &size, &flags, &gpu));
	found |= (size == 4 * MB && flags == VRAM && gpu == kfdc_gpu_id(g.c)) * INFO;
	must(kfdc_bo_import(g.c, dmabuf, &bo));
	found |= (has(bo.va, 1, 4 * MB) && gpu_sees(&g, bo.va, 1)) * SAME;
	must(kfdc_vram_usage(g.c, &size));
	found |= (size == 0) * NOT_MINE;
	gpu_writes(&g, bo.va, 200);
	/* the exporter looks, and is gone */
	if (write(fd, "w", 1) != 1 || read(sock, &ch, 1) != 0)
		return 99;
	nap(300);
	found |= (has(bo.va, 200, SIZE) && gpu_sees(&g, bo.va, 200)) * EXITED;
	if (!sim_read(1, "counters")) {
		found |= PEER;		/* there is only one GPU */
	} else {
		peer = open_gpu(1);
		must(kfdc_bo_import(peer.c, dmabuf, &bo2));
		found |= (gpu_sees(&peer, bo2.va, 200) && !sim_counter(0, "vram_bytes")) * PEER;
	}
	other = other_dmabuf();
	found |= (refuses(g.c, memfd_create("m", 0)) && (other < 0 || refuses(g.c, other))) * NOT_OURS;
	return found;
}

static void test_dmabuf(void)
{
	struct sim_child from, to;
	int sock[2], status;
	char ch;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sock))
		tap_bail("socketpair: %s", strerror(errno));
	from = sim_child(exporter, sock);
	to = sim_child(importer, sock);
	close(sock[0]);
	if (sim_child_hear(&to, &ch, 1, 60000))
		write(sock[1], "x", 1);
	status = sim_child_end(&from, 30000);
	close(sock[1]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		tap_skip("dma-buf", "this kernel's KFD cannot export (6.3)");
		sim_child_kill(&to);
		return;
	}
	tap_eq(WEXITSTATUS(status), 1, "dma-buf: the exporter sees what the importer's GPU wrote");
	status = sim_child_end(&to, 60000);
	tap_eq(WEXITSTATUS(status), INFO | SAME | NOT_MINE | EXITED | PEER | NOT_OURS,
	       "the importer: its facts, contents, accounting, exit of the exporter, other GPU, foreign ones");
	tap_ok(sim_clean(0, pages), "nothing is left");
}

int main(void)
{
	pages = sim_counter(0, "ram_pages");
	test_userptr();
	test_dmabuf();
	return tap_done();
}
