// SPDX-License-Identifier: GPL-2.0
/*
 * sim-removal: one of two GPUs is removed while processes use it, and found again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <drm/drm.h>
#include <linux/kfd_ioctl.h>
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define SEC	1000000000ULL
/* tests/vm/run puts the first GPU there */
#define GPU0	"/sys/bus/pci/devices/0000:00:10.0"
#define GPU1	"/sys/bus/pci/devices/0000:00:11.0"

enum how { RUNS, OPENS_ONLY, IGNORES_SIGBUS, WATCHES, USES_OTHER };

static void nap(unsigned int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

static int user(int fd, void *arg)
{
	enum how how = *(enum how *)arg;
	struct kfd_ioctl_smi_events_args smi = {};
	struct kfdc_signal *s;
	struct kfdc_queue *q;
	struct kfdc *c;

	if (how == IGNORES_SIGBUS)
		signal(SIGBUS, SIG_IGN);
	if (how == OPENS_ONLY) {
		if (open("/dev/kfd", O_RDWR) < 0)
			return 1;
	} else {
		if (kfdc_open(&c, how == USES_OTHER) || kfdc_queue_create(c, NULL, &q) ||
		    kfdc_signal_create(c, true, &s))
			return 1;
		smi.gpuid = kfdc_gpu_id(c);
		if (how == WATCHES && ioctl(kfdc_fd(c), AMDKFD_IOC_SMI_EVENTS, &smi))
			return 1;
		kfdc_signal_set(s, 1);
		if (kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = 100 * SEC, .signal = s }))
			return 1;
	}
	if (write(fd, "r", 1) != 1)
		return 1;
	if (how == WATCHES)
		kfdc_signal_wait(s, 100 * SEC);	/* sleeps in amdkfd */
	for (;;)
		pause();
	return 0;
}

static struct sim_child start(enum how how)
{
	struct sim_child ch = sim_child(user, &how);
	char ready;

	if (!sim_child_hear(&ch, &ready, 1, 20000))
		tap_bail("a process could not begin to use a GPU");
	return ch;
}

/* The minor of the render node of a PCI device */
static int render_node(const char *dev)
{
	char path[256];
	int i;

	for (i = 128; i < 192; i++) {
		snprintf(path, sizeof(path), "%s/drm/renderD%d", dev, i);
		if (!access(path, F_OK)) {
			snprintf(path, sizeof(path), "/dev/dri/renderD%d", i);
			return open(path, O_RDWR | O_CLOEXEC);
		}
	}
	return -1;
}

static void rescan(void)
{
	int err = sim_poke("/sys/bus/pci/rescan", "1"), i;

	if (err)
		tap_bail("/sys/bus/pci/rescan: %s", strerror(err));
	for (i = 0; i < 200 && !sim_read(0, "state"); i++)
		nap(20);
}

static void test_in_use(unsigned int rounds, const long long *pages)
{
	static const enum how how[] = { RUNS, OPENS_ONLY, IGNORES_SIGBUS, WATCHES, USES_OTHER, RUNS };
	enum { N = sizeof(how) / sizeof(*how) };
	struct drm_version version = {};
	unsigned int i, k, bus = 0, killed = 0, other = 0, again = 0, gone = 0, clean = 0, enodev = 0;
	struct sim_child ch[N];
	char pid[16];
	int status, fd;

	for (i = 0; i < rounds; i++) {
		fd = render_node(GPU0);
		if (fd < 0)
			tap_bail("no render node of the first GPU");
		for (k = 0; k < N; k++)
			ch[k] = start(how[k]);
		snprintf(pid, sizeof(pid), "%d", ch[5].pid);
		sim_write(0, "evict", pid);
		status = sim_poke(GPU0 "/remove", "1");
		if (status)
			tap_bail("%s/remove: %s", GPU0, strerror(status));
		for (k = 0; k < N; k++) {
			status = sim_child_end(&ch[k], 10000);
			if (WIFSIGNALED(status)) {
				bus += WTERMSIG(status) == SIGBUS;
				killed += WTERMSIG(status) == SIGKILL && how[k] == IGNORES_SIGBUS;
			}
		}
		gone += !sim_read(0, "state") && access(GPU0, F_OK);
		/* the first in KFD's order is now the other one */
		other += !sim_use(0, true);
		enodev += ioctl(fd, DRM_IOCTL_VERSION, &version) && errno == ENODEV;
		clean += sim_clean(1, pages[1]);
		rescan();
		again += !sim_use(0, true) && !sim_use(1, true);
		clean += sim_clean(0, pages[0]);
		/* an old file may outlive a new device */
		close(fd);
	}
	tap_eq(bus, (N - 1) * rounds, "%u removals: processes that use /dev/kfd get SIGBUS", rounds);
	tap_eq(killed, rounds, "... who ignores it is killed");
	tap_eq(gone, rounds, "... the GPU is gone then");
	tap_eq(enodev, rounds, "... a render node that is still open gives ENODEV");
	tap_eq(other, rounds, "... the other GPU can be used");
	tap_eq(again, rounds, "... found again, both can");
	tap_eq(clean, 2 * rounds, "... nothing stays of anyone");
}

static int hung_user(int fd, void *arg)
{
	struct kfdc_queue *q;
	struct kfdc *c;

	(void)arg;
	/* found again, the GPU is the last in KFD's order */
	if (kfdc_open(&c, 1) || kfdc_queue_create(c, NULL, &q) || write(fd, "r", 1) != 1)
		return 1;
	pause();
	return 0;
}

/* The scheduler of the GPU has hung already: nothing that its processes' end needs works */
static void test_hung(const long long *pages)
{
	struct sim_child ch = sim_child(hung_user, NULL);
	char ready;
	int status;

	sim_child_hear(&ch, &ready, 1, 20000);
	sim_fault_set(0, "hang", "1");
	status = sim_poke(GPU0 "/remove", "1");
	tap_eq(status, 0, "a GPU whose scheduler hangs can be removed, too");
	status = sim_child_end(&ch, 10000);
	tap_ok(WIFSIGNALED(status) && (WTERMSIG(status) == SIGBUS || WTERMSIG(status) == SIGKILL),
	       "... its process is ended (status %#x)", status);
	rescan();
	tap_eq(sim_use(0, true), 0, "... found again, it works");
	tap_ok(sim_clean(0, pages[0]), "... nothing stays");
}

static void test_unload(void)
{
	struct sim_child ch = start(RUNS);

	tap_ok(system("rmmod amdgpu 2>/dev/null") != 0, "rmmod is refused while a process uses a GPU");
	sim_child_kill(&ch);
	tap_eq(sim_poke(GPU1 "/remove", "1"), 0, "the second GPU removed");
	tap_eq(sim_unload(), 0, "... rmmod with one GPU less");
	rescan();
	tap_eq(sim_load(""), 0, "... insmod");
	tap_ok(!sim_use(0, false) && !sim_use(1, false), "... both GPUs work");
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? atoi(argv[1]) : 3;
	long long pages[2] = { sim_counter(0, "ram_pages"), sim_counter(1, "ram_pages") };

	test_in_use(rounds, pages);
	test_hung(pages);
	test_unload();
	return tap_done();
}
