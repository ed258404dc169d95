// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define SEC	1000000000ULL

static void file_name(char *buf, size_t n, unsigned int gpu, const char *file)
{
	snprintf(buf, n, "/sys/kernel/debug/kfdsim/%u/%s", gpu, file);
}

const char *sim_read(unsigned int gpu, const char *file)
{
	static char buf[65536];
	char path[256];
	ssize_t n, len = 0;
	int fd;

	file_name(path, sizeof(path), gpu, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while ((n = read(fd, buf + len, sizeof(buf) - 1 - len)) > 0)
		len += n;
	close(fd);
	buf[len] = 0;
	return buf;
}

int sim_poke(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

int sim_write(unsigned int gpu, const char *file, const char *text)
{
	char path[256];

	file_name(path, sizeof(path), gpu, file);
	return sim_poke(path, text);
}

/* The number behind a word */
static long long number(const char *text, const char *word, const char *file)
{
	size_t len = strlen(word);
	const char *s;

	for (s = text; s; s = strstr(s + 1, word))
		if (!strncmp(s, word, len) && s[len] == ' ' && (s == text || s[-1] <= ' '))
			return strtoll(s + len, NULL, 10);
	tap_bail("no \"%s\" in the GPU's debugfs file %s", word, file);
}

long long sim_counter(unsigned int gpu, const char *name)
{
	return number(sim_read(gpu, "counters"), name, "counters");
}

void sim_fault_set(unsigned int gpu, const char *name, const char *setting)
{
	char file[64];
	int err;

	snprintf(file, sizeof(file), "fault/%s", name);
	err = sim_write(gpu, file, setting);
	if (err)
		tap_bail("fault %s %s: %s", name, setting, strerror(err));
}

long long sim_fault_struck(unsigned int gpu, const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "fault/%s", name);
	return number(sim_read(gpu, file), "struck", file);
}

uint64_t sim_seed(void)
{
	const char *s = getenv("KFDPRIO_SEED");

	return s ? strtoull(s, NULL, 10) : 1;
}

bool sim_old_kernel(void)
{
	struct utsname u;

	return !uname(&u) && !strncmp(u.release, "6.1.", 4) && !sim_rocm();
}

bool sim_rocm(void)
{
	return !access("/sys/module/amdkcl", F_OK);
}

bool sim_new_kernel(void)
{
	struct utsname u;

	return !uname(&u) && strtol(u.release, NULL, 10) >= 7;
}

bool sim_debug_kernel(void)
{
	struct utsname u;

	return !uname(&u) && (strstr(u.release, "-kasan") || strstr(u.release, "-kcsan"));
}

/* splitmix64 */
uint64_t sim_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void nap(unsigned int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

bool sim_clean(unsigned int gpu, long long pages)
{
	uint64_t end = kfdc_now() + 20 * SEC;
	const char *state;

	do {
		state = sim_read(gpu, "state");
		if (state && strstr(state, "\nprocesses 0 queues 0 ") &&
		    !sim_counter(gpu, "vram_bytes") && sim_counter(gpu, "ram_pages") == pages)
			return true;
		nap(20);
	} while (kfdc_now() < end);
	tap_diag("still there: %s", sim_read(gpu, "state"));
	tap_diag("vram_bytes %lld, ram_pages %lld instead of %lld", sim_counter(gpu, "vram_bytes"),
		 sim_counter(gpu, "ram_pages"), pages);
	return false;
}

int sim_load(const char *params)
{
	const char *ko = getenv("KFDPRIO_SIM_KO"), *gpu = getenv("KFDPRIO_SIM_GPU");
	const char *saves = getenv("KFDPRIO_SIM_SAVES");
	char args[1024];
	int fd, err = 0;

	if (!ko || !gpu)
		tap_bail("KFDPRIO_SIM_KO and KFDPRIO_SIM_GPU are not set: to be run by tests/vm/run");
	snprintf(args, sizeof(args), "gpu=%s %s %s", gpu, saves ? saves : "", params);
	fd = open(ko, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, args, 0))
		err = errno;
	close(fd);
	return err;
}

int sim_unload(void)
{
	int i;

	/* the last process's end may still be under way */
	for (i = 0; i < 1000; i++) {
		if (!syscall(SYS_delete_module, "amdgpu", O_NONBLOCK))
			return 0;
		nap(5);
	}
	return errno;
}

struct sim_child sim_child(int (*fn)(int fd, void *arg), void *arg)
{
	struct sim_child ch;
	int fds[2];

	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC))
		tap_bail("pipe: %s", strerror(errno));
	ch.pid = fork();
	if (!ch.pid) {
		close(fds[0]);
		_exit(fn(fds[1], arg));
	}
	close(fds[1]);
	if (ch.pid < 0)
		tap_bail("fork: %s", strerror(errno));
	ch.fd = fds[0];
	return ch;
}

bool sim_child_hear(const struct sim_child *ch, void *buf, unsigned int n, int ms)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && read(ch->fd, buf, n) == n;
}

void sim_child_kill(struct sim_child *ch)
{
	kill(ch->pid, SIGKILL);
	waitpid(ch->pid, NULL, 0);
	close(ch->fd);
}

int sim_child_end(struct sim_child *ch, int ms)
{
	uint64_t end = kfdc_now() + ms * 1000000ULL;
	int status;

	while (waitpid(ch->pid, &status, WNOHANG) != ch->pid) {
		if (kfdc_now() > end) {
			sim_child_kill(ch);
			return -1;
		}
		nap(2);
	}
	close(ch->fd);
	return status;
}

struct use {
	unsigned int gpu;
	bool sdma;
};

static int use(int fd, void *arg)
{
	struct use *u = arg;
	struct kfdc_signal *s = NULL;
	struct kfdc_ring *ring = NULL;
	struct kfdc_queue *q = NULL;
	struct kfdc_bo bo = {};
	struct kfdc *c;
	int r;

	(void)fd;
	r = kfdc_open(&c, u->gpu);
	if (r)
		return -r;
	r = kfdc_bo_alloc(c, 65536, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC,
			  &bo);
	if (!r)
		r = kfdc_queue_create(c, NULL, &q);
	if (!r && u->sdma)
		r = kfdc_ring_create(c, NULL, &ring);
	if (!r)
		r = kfdc_signal_create(c, true, &s);
	if (!r) {
		kfdc_signal_set(s, 1);
		r = kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 100000, .signal = s });
	}
	if (!r)
		r = kfdc_signal_wait(s, 10 * SEC);
	if (!r && ring) {
		r = kfdc_sdma_fill(ring, bo.va, 0x600dda7a, 65536);
		if (!r) {
			kfdc_ring_submit(ring);
			r = kfdc_ring_wait(ring, 10 * SEC);
		}
		if (!r && ((volatile unsigned int *)bo.va)[16383] != 0x600dda7a)
			r = -EILSEQ;
	}
	if (s)
		kfdc_signal_destroy(s);
	if (ring && kfdc_ring_destroy(ring) && !r)
		r = -EIO;
	if (q && kfdc_queue_destroy(q) && !r)
		r = -EIO;
	kfdc_bo_free(c, &bo);
	kfdc_close(c);
	return -r;
}

int sim_use(unsigned int gpu, bool sdma)
{
	struct use u = { gpu, sdma };
	struct sim_child ch = sim_child(use, &u);
	int status = sim_child_end(&ch, 30000);

	if (status == -1 || !WIFEXITED(status))
		return ECANCELED;
	return WEXITSTATUS(status);
}
