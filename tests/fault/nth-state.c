// SPDX-License-Identifier: GPL-2.0
/* nth: what there is before and after an operation */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kfd.h"
#include "nth.h"
#include "tap.h"

static char *put(char *p, char *end, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static char *put(char *p, char *end, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p, end - p, fmt, ap);
	va_end(ap);
	return n < end - p ? p + n : end;
}

/* Names below a directory of sysfs, sorted, and what some of the files say */
static char *put_tree(char *p, char *end, const char *dir, unsigned int depth)
{
	struct dirent **e;
	char path[512], text[64];
	int n = scandir(dir, &e, NULL, alphasort), i, fd;
	ssize_t len;

	for (i = 0; i < n; i++) {
		if (e[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", dir, e[i]->d_name);
			p = put(p, end, "%s", e[i]->d_name);
			if (e[i]->d_type == DT_DIR && depth) {
				p = put(p, end, " { ");
				p = put_tree(p, end, path, depth - 1);
				p = put(p, end, "}");
			} else if (!strcmp(e[i]->d_name, "priority") || !strcmp(e[i]->d_name, "size")) {
				fd = open(path, O_RDONLY | O_CLOEXEC);
				len = read(fd, text, sizeof(text) - 1);
				close(fd);
				text[len > 0 ? len : 0] = '\0';
				p = put(p, end, "=%.*s", (int)strcspn(text, "\n"), text);
			}
			p = put(p, end, " ");
		}
		free(e[i]);
	}
	if (n >= 0)
		free(e);
	return p;
}

void state(char *buf)
{
	struct kfd_prio_list_entry e[16];
	struct kfd_prio_get_args g = kfd_get(getpid());
	/* cppcheck-suppress ctuPointerArith; one past the end is no overflow */
	char *end = buf + STATE_MAX, *p = buf, dir[64];
	unsigned int i, rows = kfd_list(getpid(), e, 16);

	memset(buf, 0, STATE_MAX);
	p = put(p, end, "priority %d effective %d queues %u\n", g.priority, g.effective, g.nr_queues);
	for (i = 0; i < rows && i < 16; i++)
		p = put(p, end, "gpu %u priority %d effective %d queues %u flags %#x in a group: %d\n", e[i].gpu_id,
			e[i].priority, e[i].effective, e[i].nr_queues, e[i].flags, e[i].share != 0);
	snprintf(dir, sizeof(dir), "/sys/class/kfd/kfd/proc/%d", getpid());
	put_tree(p, end, dir, 2);
}
