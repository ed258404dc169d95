/* SPDX-License-Identifier: GPL-2.0 */
/* What the check of MES sees and does: the simulator's files, queues, dispatches; included by it once */
#ifndef CHECK_MES_H
#define CHECK_MES_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "kfdclient.h"
#include "tap.h"

#define SIM	"/sys/kernel/debug/kfdsim/0/"
#define PARAM	"/sys/module/amdgpu/parameters/"
#define US	1000LL
#define MS	1000000LL

#define TRY(call)	do { if (call) tap_bail("%s: %s", #call, kfdc_error()); } while (0)

static struct kfdc *gpu;

static inline int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), err = 0;

	if (fd < 0)
		tap_bail("cannot open %s: %s", path, strerror(errno));
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = errno;
	close(fd);
	return err;
}

static inline void param(const char *name, unsigned int value)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), PARAM "%s", name);
	snprintf(text, sizeof(text), "%u", value);
	if (write_file(path, text))
		tap_bail("cannot set %s", name);
}

static inline long long counter(const char *name)
{
	char key[64];
	long long v;
	FILE *f = fopen(SIM "counters", "r");

	if (!f)
		tap_bail("cannot read " SIM "counters");
	while (fscanf(f, "%63s %lld", key, &v) == 2)
		if (!strcmp(key, name)) {
			fclose(f);
			return v;
		}
	tap_bail("no counter %s", name);
}

/* A queue as the firmware sees it: the last one whose line in debugfs has @needle, or whose queue priority in the MQD is @prio */
struct seen {
	bool there, held, waiting;
	unsigned int doorbell, level;
	long long left_ns, ran_ns;
};

static inline long long number(const char *line, const char *name)
{
	const char *p = strstr(line, name);

	return p ? strtoll(p + strlen(name), NULL, 0) : -1;
}

static inline struct seen look_for(const char *needle)
{
	char line[512];
	struct seen s = { .left_ns = -1 };
	bool mine = false;
	FILE *f = fopen(SIM "state", "r");

	if (!f)
		tap_bail("cannot read " SIM "state");
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, " queue doorbell ")) {
			mine = strstr(line, needle);
			if (!mine)
				continue;
			s.there = true;
			s.held = strstr(line, " held ");
			s.doorbell = number(line, " doorbell ");
			s.level = number(line, " level ");
			s.ran_ns = number(line, " ran_ns ");
		} else if (mine && strstr(line, "  packet ")) {
			s.waiting = strstr(line, " waiting ");
			s.left_ns = number(line, " left_ns ");
		}
	}
	fclose(f);
	return s;
}

static inline struct seen look(unsigned int prio)
{
	char needle[32];

	snprintf(needle, sizeof(needle), " queue_prio %u ", prio);
	return look_for(needle);
}

static inline void ms_sleep(unsigned int ms)
{
	usleep(ms * 1000);
}

static inline struct kfdc_queue *queue(uint32_t prio)
{
	struct kfdc_queue_attr attr = { .priority = prio, .percentage = 100, .packets = 1024 };
	struct kfdc_queue *q;

	TRY(kfdc_queue_create(gpu, &attr, &q));
	return q;
}

static inline struct kfdc_signal *dispatch(struct kfdc_queue *q, uint64_t ns, uint32_t waves)
{
	struct kfdc_signal *s;

	TRY(kfdc_signal_create(gpu, true, &s));
	kfdc_signal_set(s, 1);
	TRY(kfdc_dispatch(q, &(struct kfdc_dispatch){ .ns = ns, .waves = waves, .signal = s }));
	return s;
}

#endif
