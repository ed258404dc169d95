// SPDX-License-Identifier: GPL-2.0
/* No kernel address goes out: events with their padding, the log, debugfs, sysfs */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/wait.h>
#include <unistd.h>
#include <event-parse.h>
#include "events.h"
#include "kfd.h"
#include "kfdclient.h"
#include "security.h"
#include "simgpu.h"
#include "tap.h"

#define LOG_BYTES	(8 << 20)

/*
 * x86-64: the upper half of the address space, where the kernel is, directly mapped memory, vmalloc, modules.
 * -1 and small negative numbers are no addresses.
 */
static bool is_address(unsigned long long v)
{
	return v >= 0xffff800000000000ULL && v < 0xfffffffffff00000ULL;
}

/* One in a text, as 16 hexadecimal digits; NULL if there is none */
static const char *find_address(const char *text)
{
	const char *s;
	char *end;

	for (s = text; (s = strcasestr(s, "ffff")); s += 4) {
		if (s > text && isxdigit(s[-1]))
			continue;
		if (is_address(strtoull(s, &end, 16)) && end - s == 16)
			return s;
	}
	return NULL;
}

/* Is a process off the GPU: preempted, evicted? */
static bool off(pid_t pid)
{
	struct kfd_prio_list_entry e = { 0 };

	kfd_list(pid, &e, 1);
	return e.flags & (KFD_PRIO_LIST_EVICTED | KFD_PRIO_LIST_PREEMPTED);
}

static void wait_off(pid_t pid, bool want)
{
	uint64_t end = kfdc_now() + 30000000000ULL;

	while (off(pid) != want) {
		if (kfdc_now() > end)
			tap_bail("the process does not %s the GPU", want ? "leave" : "return to");
		usleep(5000);
	}
}

/*
 * Everything that makes events: priorities, preemption, eviction, updates, a hang, a reset, an end.
 * Children do it: after a reset this process has no work on the GPU.
 */
static void scenes(void)
{
	pid_t low = kfd_child_set(3, KFD_PRIO_UNSET, 8), high = kfd_child_set(7, 12, 2);
	uint64_t end = kfdc_now() + 30000000000ULL;
	long long resets = sim_counter(0, "resets");
	char text[16];

	wait_off(low, true);
	if (kfd_set(high, KFD_PRIO_UNSET, NULL))
		tap_bail("the priority cannot be taken away");
	wait_off(low, false);
	snprintf(text, sizeof(text), "%d", low);
	if (sim_write(0, "evict", text))
		tap_bail("no eviction");
	wait_off(low, true);
	wait_off(low, false);
	sim_fault_set(0, "hang", "1");
	kfd_set(low, 2, NULL);
	while (sim_counter(0, "resets") == resets && kfdc_now() < end)
		usleep(5000);
	kfd_child_end(high);
	kfd_child_end(low);
	if (sim_use(0, true))
		tap_bail("the GPU does not work after the reset");
}

/* A field's value, if it is of 8 bytes */
static bool wide(const struct event *ev, const struct tep_format_field *f, unsigned long long *v)
{
	if (f->size != 8 || f->offset + 8 > ev->size)
		return false;
	memcpy(v, (char *)ev->data + f->offset, 8);
	return true;
}

/* Bytes that no field covers, behind the last one too, must be 0: what was in the buffer before does not go out */
static bool padding_clean(const struct event *ev)
{
	const struct tep_format_field *lists[] = { ev->type->format.common_fields, ev->type->format.fields }, *f;
	unsigned char covered[1024] = { 0 };
	int i, k;

	for (k = 0; k < 2; k++)
		for (f = lists[k]; f; f = f->next)
			for (i = f->offset; i < f->offset + f->size && i < 1024; i++)
				covered[i] = 1;
	for (i = 0; i < ev->size && i < 1024; i++)
		if (!covered[i] && ((unsigned char *)ev->data)[i])
			return false;
	return true;
}

static void test_events(const struct events *e)
{
	unsigned long long v, fields = 0, bad = 0, dirty = 0;
	struct tep_format_field *f;
	char seen[64][40];
	unsigned int kinds = 0, k;
	size_t i;

	for (i = 0; i < e->nr; i++) {
		const struct event *ev = &e->event[i];

		if (strcmp(ev->type->system, "kfd"))
			continue;
		for (k = 0; k < kinds && strcmp(seen[k], ev->name); k++)
			;
		if (k == kinds && kinds < 64)
			snprintf(seen[kinds++], sizeof(seen[0]), "%s", ev->name);
		for (f = ev->type->format.fields; f; f = f->next) {
			fields++;
			if (wide(ev, f, &v) && is_address(v)) {
				bad++;
				tap_diag("%s: %s is %#llx", ev->name, f->name, v);
			}
		}
		if (!padding_clean(ev)) {
			dirty++;
			tap_diag("%s: bytes that are no field's are not 0", ev->name);
		}
	}
	tap_diag("%zu events of %u kinds, %llu fields", e->nr, kinds, fields);
	tap_ok(kinds >= 13 && e->nr > 30, "there are events of nearly every kind");
	tap_eq(bad, 0, "no field of an event holds a kernel address");
	tap_eq(dirty, 0, "of %zu events in a buffer of ones, nothing but their fields is", e->nr);
}

static void test_formats(void)
{
	static const char dir[] = "/sys/kernel/tracing/events/kfd";
	DIR *d = opendir(dir);
	struct dirent *de;
	char path[512], text[8192];
	int n = 0, bad = 0;
	ssize_t len;
	int fd;

	while (d && (de = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s/format", dir, de->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[len > 0 ? len : 0] = 0;
		n++;
		if (strstr(text, "%p") || strstr(text, "%lx") || strstr(text, " *")) {
			bad++;
			tap_diag("%s: a pointer in its format", de->d_name);
		}
	}
	if (d)
		closedir(d);
	tap_ok(n >= 15 && !bad, "no event has a field that is a pointer");
}

static void test_log(void)
{
	char *log = malloc(LOG_BYTES), *line, *next;
	const char *at;
	int n = log ? klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, LOG_BYTES - 1) : -1, lines = 0, bad = 0;

	if (n < 0)
		tap_bail("the kernel's log: %s", strerror(errno));
	log[n] = 0;
	for (line = log; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (!strstr(line, "kfd") && !strstr(line, "amdgpu"))
			continue;
		lines++;
		at = find_address(line);
		if (at) {
			bad++;
			tap_diag("%s", line);
		}
	}
	free(log);
	tap_ok(lines > 3 && !bad, "the driver's lines in the kernel log: no address");
}

static bool file_clean(const char *path)
{
	static char text[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, len = 0;

	if (fd < 0)
		return true;
	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	close(fd);
	text[len] = 0;
	if (!find_address(text))
		return true;
	tap_diag("%s: %.40s", path, find_address(text));
	return false;
}

/* sysfs of all KFD processes: directories of directories of files */
static bool tree_clean(const char *dir, int depth)
{
	DIR *d = opendir(dir);
	bool clean = true;
	struct dirent *de;
	char path[512];

	if (!d)
		return file_clean(dir);
	while ((de = readdir(d))) {
		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, de->d_name);
		clean &= depth ? tree_clean(path, depth - 1) : file_clean(path);
	}
	closedir(d);
	return clean;
}

void test_addresses(void)
{
	struct events *e;
	pid_t pid;

	tap_ok(is_address(0xffff888001234560ULL) && is_address(0xffffffffc0123456ULL) && !is_address(~0ULL) &&
	       !is_address(0x7fff12345678ULL) && !is_address(-110LL) &&
	       find_address("at 0xffff9c8012345678.") && find_address("(FFFFFFFFC0123456)") &&
	       !find_address("ffff"), "what counts as an address");
	e = events_start_in_ones("kfd");
	scenes();
	events_stop(e);
	test_events(e);
	events_free(e);
	test_formats();
	pid = kfd_child_set(7, 12, 2);
	tap_ok(file_clean("/sys/kernel/debug/kfd/preempt"), "debugfs kfd/preempt: no address");
	tap_ok(tree_clean("/sys/class/kfd/kfd/proc", 3), "sysfs of KFD's processes: no address");
	kfd_child_end(pid);
	test_log();
}
