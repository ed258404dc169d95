// SPDX-License-Identifier: GPL-2.0
/* kfdprio -n PRIO -p PID..., kfdprio -r -p PID... */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "kfdprio.h"
#include "message.h"

static bool pid_chosen(void *context, pid_t pid, uid_t euid)
{
	const struct kfdprio_request *request = context;
	size_t i;

	(void)euid;
	for (i = 0; i < request->nr_pids; i++)
		if (request->pids[i] == pid)
			return true;
	return false;
}

/**
 * kfdprio_set() - set or take away the priority of processes
 * @dev: the device
 * @request: the priority and the processes
 *
 * Goes on after a process that fails.  An orphan whose memory one of the processes shares is set with it.
 *
 * Return: EXIT_FAILURE if any failed.
 */
int kfdprio_set(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	const struct orphan_choice choice = { .chosen = pid_chosen, .context = (void *)request };
	struct kfd_prio_set_args args;
	int status = EXIT_SUCCESS;
	char text[KFDLIB_WHY];
	bool found = false;
	size_t i;

	for (i = 0; i < request->nr_pids; i++) {
		if (process_set(dev, request->pids[i], request->priority, request->flags, &args, text)) {
			warnx("%s", text);
			status = EXIT_FAILURE;
		} else if (request->verbose) {
			set_format(text, sizeof(text), request->pids[i], &args);
			text_line(stdout, "%s", text);
		}
	}
	return orphans_set(dev, request, &choice, &found) ? EXIT_FAILURE : status;
}
