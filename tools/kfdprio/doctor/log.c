// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor --soak: is there a new report in the kernel's log? */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "kfdlib.h"

#define COMM_MAX	15	/* bytes of a process's name */
#define LEVEL_WARNING	4	/* KERN_WARNING; more severe ones are less */

static char *last_strstr(char *text, const char *what)
{
	char *found = NULL, *at = text;

	while ((at = strstr(at, what)))
		found = at++;
	return found;
}

/*
 * Blanks out what is between the first @before and the last @after. The name of a process may contain both, and more
 * than the name is blanked out where a line names two.
 */
static void hide_between(char *line, const char *before, const char *after)
{
	char *at = strstr(line, before), *end;

	if (!at)
		return;
	at += strlen(before);
	end = last_strstr(at, after);
	if (end)
		memset(at, '*', end - at);
}

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

static bool begins_any(const char *line, const char *const *heads)
{
	for (; *heads; heads++)
		if (begins(line, *heads))
			return true;
	return false;
}

/*
 * Whether the name of a process stands first in a message, as in "NAME[PID]: segfault". The name may have any 15 bytes,
 * such as those with which messages of drivers begin.
 */
static bool is_of_process(const char *line)
{
	size_t i, end;

	if (begins(line, "traps: "))
		line += strlen("traps: ");
	for (i = 0; i < COMM_MAX + 1 && line[i]; i++) {
		if (line[i] != '[')
			continue;
		end = i + 1 + strspn(line + i + 1, "0123456789");
		if (end > i + 1 && line[end] == ']' && (line[end + 1] == ':' || line[end + 1] == ' '))
			return true;
	}
	return false;
}

/* As a whole word only: a host may be called "a". */
static void hide_word(char *line, const char *word)
{
	size_t len = strlen(word);
	char *at = line;

	while (len && (at = strstr(at, word))) {
		if ((at == line || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[len]))
			memset(at, '*', len);
		at += len;
	}
}

/**
 * message_anonymize() - blank out names in a message of the kernel
 * @line: the message
 *
 * The kernel names processes in messages about faults ("process python3 pid 7 thread x pid 8"),
 * and may name the host.
 */
void message_anonymize(char *line)
{
	char host[256] = "";

	hide_between(line, "rocess ", " pid");
	hide_between(line, "thread ", " pid");
	hide_between(line, "Comm: ", strstr(line, " Not tainted") ? " Not tainted" : " Tainted:");
	if (!gethostname(host, sizeof(host) - 1)) {
		host[strcspn(host, ".")] = '\0';
		if (strcmp(host, "amdgpu") && strcmp(host, "kfd"))
			hide_word(line, host);
	}
}

/* Messages of trouble, of whatever part of the kernel */
static const char *const trouble[] = { "BUG: ", "watchdog: BUG: ", "WARNING: ", "Oops", "general protection fault",
				       "kernel BUG at ", "mce: [Hardware Error]", "[Hardware Error]", "{1}[Hardware Error]",
				       NULL };

/**
 * message_is_ours() - is a message of the kernel about amdgpu, KFD or the IOMMU?
 * @line: the message
 *
 * The beginning decides, or the name of the module or the device's message behind the bus: the words may stand in the
 * names of processes, which the OOM killer and the audit subsystem print, among others.
 */
bool message_is_ours(const char *line)
{
	static const char *const heads[] = { "amdgpu", "AMDGPU", "kfd:", "kfd kfd", "kfdprio:", "[drm", "AMD-Vi", "amd_iommu",
					     NULL };

	if (is_of_process(line))
		return false;
	if (begins_any(line, heads) || strstr(line, "[amdgpu]") || strstr(line, ": amdgpu: "))
		return true;
	return begins_any(line, trouble) && (strstr(line, "amdgpu") || strstr(line, "kfd"));
}

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
	if (!is_of_process(text) && begins_any(text, trouble))
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
