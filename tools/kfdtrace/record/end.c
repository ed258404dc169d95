// SPDX-License-Identifier: GPL-2.0
/* What KFD does after a process has ended: its queues are destroyed, which is part of a recording of that process. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>

#include "message.h"
#include "record.h"

#define KFD_PROC "/sys/class/kfd/kfd/proc"

static bool has_queues(pid_t pid)
{
	const struct dirent *entry;
	bool any = false;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), KFD_PROC "/%d/queues", pid);
	dir = opendir(path);
	while (dir && !any && (entry = readdir(dir)))
		any = *entry->d_name != '.';
	if (dir)
		closedir(dir);
	return any;
}

/* Of those that were seen alive: what ended before the recording is none of its business. */
static pid_t pending(const struct recording *rec)
{
	struct proc_info info;
	size_t i;

	for (i = 0; i < rec->nr_seen; i++)
		if ((proc_read(rec->seen[i].pid, &info) || info.zombie) && has_queues(rec->seen[i].pid))
			return rec->seen[i].pid;
	return 0;
}

/**
 * teardown_done() - whether KFD has destroyed the queues of all processes that have ended
 * @rec: the recording
 *
 * Return: whether.
 */
bool teardown_done(const struct recording *rec)
{
	return !pending(rec);
}

/**
 * teardown_tell() - print whose queues KFD has not destroyed in time
 * @rec: the recording
 */
void teardown_tell(const struct recording *rec)
{
	pid_t pid = pending(rec);

	if (pid)
		warnx("process %d has ended, and KFD has not destroyed its queues: the recording ends without that", pid);
}
