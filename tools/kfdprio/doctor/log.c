// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor --soak: is there a new report in the kernel's log? */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "kfdlib.h"

#define LEVEL_WARNING	4	/* KERN_WARNING; more severe ones are less */

/**
 * kernel_log_open() - look at the kernel's log from now on
 *
 * Return: for kernel_log_report(); -1 and errno: it may not be read.
 */
int kernel_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* Is a message one of trouble?  A reset of a GPU is of no high level in all kernels. */
static bool is_report(unsigned int level, const char *text)
{
	if (strstr(text, "BUG: ") || strstr(text, "WARNING: ") || strstr(text, "Oops") ||
	    strstr(text, "general protection fault") || strstr(text, "Hardware Error"))
		return true;
	/* Of many queues: a warning of KFD's, and no trouble. */
	if (strstr(text, "oversubscribed"))
		return false;
	return message_is_ours(text) && (level <= LEVEL_WARNING || strstr(text, "reset"));
}

/**
 * kernel_log_report() - the next report of the log
 * @fd: of kernel_log_open(), -1: none
 * @text: out
 * @size: of @text
 *
 * Return: whether there is one; messages that were lost are one.
 */
bool kernel_log_report(int fd, char *text, size_t size)
{
	char record[8192], *line, *shown;
	ssize_t len;

	while (fd >= 0) {
		len = read(fd, record, sizeof(record) - 1);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == EPIPE) {
			snprintf(text, size, "messages were overwritten before they could be read");
			return true;
		}
		if (len <= 0)
			break;
		record[len] = '\0';
		line = strchr(record, ';');
		if (!line)
			continue;
		line++;
		line[strcspn(line, "\n")] = '\0';
		if (!is_report(strtoul(record, NULL, 10) & 7, line))
			continue;
		message_anonymize(line);
		shown = text_printable(line);
		snprintf(text, size, "%s", shown ? shown : "");
		free(shown);
		return true;
	}
	return false;
}
