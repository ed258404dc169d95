// SPDX-License-Identifier: GPL-2.0
/*
 * svm - shared virtual memory, which only a debug kernel has with 6.12, beside priorities
 *
 *   tests/vm/run --debug --param svm=1 -- build/tests/bin/svm
 *
 * Ranges, attributes and notifiers are amdkfd's own.  A GPU's access to a range is not simulated and
 * must be refused with an error, not with a wrong answer.
 */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kfd.h"
#include "kfdclient.h"
#include "simgpu.h"
#include "tap.h"

#define SIZE	(1u << 20)
#define RANGES	64

static struct kfdc *gpu;

/* One attribute of a range; returns 0 or an errno */
static int attr(unsigned int op, void *va, size_t size, unsigned int type, unsigned int *value)
{
	struct {
		struct kfd_ioctl_svm_args args;
		struct kfd_ioctl_svm_attribute attr;
	} a = {
		.args = { .start_addr = (uintptr_t)va, .size = size, .op = op, .nattr = 1 },
		.attr = { .type = type, .value = *value },
	};
	int ret = ioctl(kfdc_fd(gpu), AMDKFD_IOC_SVM + (sizeof(a.attr) << _IOC_SIZESHIFT), &a);

	*value = a.attr.value;
	return ret ? errno : 0;
}

static int set(void *va, size_t size, unsigned int type, unsigned int value)
{
	return attr(KFD_IOCTL_SVM_OP_SET_ATTR, va, size, type, &value);
}

static long get(void *va, size_t size, unsigned int type)
{
	unsigned int value = ~0u;
	int err = attr(KFD_IOCTL_SVM_OP_GET_ATTR, va, size, type, &value);

	return err ? -(long)err : (long)value;
}

static char *memory(void)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	memset(p, 1, SIZE);
	return p;
}

/* In a child, so that its end is part of the test */
static int ranges(int fd, void *unused)
{
	struct kfdc_queue_attr qa = KFDC_QUEUE_DEFAULT;
	struct kfdc_queue *q;
	char *p, *many[RANGES];
	int i, bad, err = 0;
	pid_t pid;

	(void)unused;
	qa.packets = 64;
	if (kfdc_open(&gpu, 0) || kfdc_queue_create(gpu, &qa, &q))
		tap_bail("%s", kfdc_error());
	p = memory();
	tap_eq(set(p, SIZE, KFD_IOCTL_SVM_ATTR_GRANULARITY, 5), 0, "a range is registered");
	tap_eq(get(p, SIZE, KFD_IOCTL_SVM_ATTR_GRANULARITY), 5, "its granularity is what was set");
	tap_eq(set(p, SIZE / 2, KFD_IOCTL_SVM_ATTR_GRANULARITY, 3), 0, "half of it gets another one");
	tap_eq(get(p, SIZE / 2, KFD_IOCTL_SVM_ATTR_GRANULARITY), 3, "that half has it");
	tap_eq(get(p + SIZE / 2, SIZE / 2, KFD_IOCTL_SVM_ATTR_GRANULARITY), 5, "the other keeps its own");
	tap_eq(get(p, SIZE, KFD_IOCTL_SVM_ATTR_GRANULARITY), 3, "the whole has the smaller");
	tap_ok(set(p, SIZE, KFD_IOCTL_SVM_ATTR_ACCESS, kfdc_gpu_id(gpu)), "a GPU's access is refused");
	tap_eq(set(p, SIZE, KFD_IOCTL_SVM_ATTR_ACCESS, 1), EINVAL, "that of no GPU is invalid");
	tap_eq(set(p + 1, SIZE, KFD_IOCTL_SVM_ATTR_GRANULARITY, 5), EINVAL, "so is an odd address");

	for (i = 0; i < RANGES; i++) {
		many[i] = memory();
		err = err ? err : set(many[i], SIZE, KFD_IOCTL_SVM_ATTR_GRANULARITY, i % 10);
	}
	tap_eq(err, 0, "%u more ranges", RANGES);
	tap_eq(kfd_set(getpid(), 12, NULL), 0, "a priority is set meanwhile");
	/* the notifiers: parts go, parts are copied on write */
	for (i = 0; i < RANGES; i++)
		munmap(many[i] + (i % 4) * (SIZE / 4), SIZE / 4);
	pid = fork();
	if (!pid) {
		for (i = 0; i < RANGES; i += 2)
			munmap(many[i], SIZE);
		memset(p, 2, SIZE);
		_exit(0);
	}
	memset(p, 3, SIZE);
	tap_ok(pid > 0 && waitpid(pid, NULL, 0) == pid, "a child is forked, both write");
	for (i = 0; i < RANGES; i += 2)
		munmap(many[i], SIZE);
	tap_eq(get(p, SIZE, KFD_IOCTL_SVM_ATTR_GRANULARITY), 3, "the range is what it was");
	tap_eq(kfd_get(getpid()).priority, 12, "so is the priority");
	bad = tap_done();
	fflush(stdout);
	return bad || write(fd, "x", 1) != 1;
}

int main(void)
{
	struct sim_child ch = sim_child(ranges, NULL);
	char c;

	if (!sim_child_hear(&ch, &c, 1, 300000)) {
		printf("Bail out! the child failed\n");
		return 1;
	}
	return sim_child_end(&ch, 60000) ? 1 : 0;
}
