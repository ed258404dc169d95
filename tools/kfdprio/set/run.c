// SPDX-License-Identifier: GPL-2.0
/* kfdprio -n PRIO [--] COMMAND..., kfdprio -r [--] COMMAND..., kfdprio --max PERCENT [--] COMMAND... */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caller.h"
#include "kfdprio.h"
#include "message.h"

/* The group of this process, and so of the command.  To stderr: what goes to stdout is the command's. */
static int self_share(const struct kfd_dev *dev, const struct kfdprio_request *request, char *text)
{
	struct kfd_prio_share_args args;
	int ret;

	ret = share_set_process(dev, &request->share, getpid(), true, &args, text);
	if (ret || !request->verbose)
		return ret;
	share_set_text(dev, &args, text, KFDLIB_WHY);
	text_line(stderr, "PID %d: %s", getpid(), text);
	return 0;
}

/* The same, of the priority and the parking */
static int self_set(const struct kfd_dev *dev, const struct kfdprio_request *request, char *text)
{
	struct kfd_prio_set_args args;
	int ret;

	ret = process_set(dev, getpid(), request->priority, request->flags, &args, text);
	if (ret || !request->verbose)
		return ret;
	set_format(text, KFDLIB_WHY, getpid(), &args);
	text_line(stderr, "%s", text);
	return 0;
}

/**
 * kfdprio_run() - become a command that has a priority, or is in a group, from its first instruction
 * @dev: the device, closed here
 * @request: the priority, the group and the command
 *
 * The priority and the group belong to the process and hold over exec, so this process sets its
 * own.  The command inherits nothing else: both descriptors are gone before it runs.
 *
 * Under sudo the command is the calling user's, with the PATH of that user, unless --root was given.
 *
 * Return: only on failure: EXIT_OWN without the command having run, EXIT_EXEC_ENOENT if there is
 * no such command, EXIT_EXEC_FAILED if there is one that cannot be executed.
 */
int kfdprio_run(struct kfd_dev *dev, const struct kfdprio_request *request)
{
	char text[KFDLIB_WHY];
	struct caller caller;
	char *name;
	int err;

	name = text_printable(request->command[0]);
	if ((request->shares && self_share(dev, request, text)) || (request->sets && self_set(dev, request, text))) {
		warnx("%s", text);
		warnx("'%s' was not started", name ? name : "");
		free(name);
		return EXIT_OWN;
	}
	kfd_dev_close(dev);
	caller_find(&caller);
	err = request->root ? 0 : -caller_become(&caller);
	if (err) {
		warnx("cannot become user %u: %s", caller.uid, strerror(err));
		warnx("'%s' was not started", name ? name : "");
		free(name);
		return EXIT_OWN;
	}
	execvp(request->command[0], request->command);
	err = errno;
	warn("failed to execute '%s'", name ? name : "");
	free(name);
	return err == ENOENT ? EXIT_EXEC_ENOENT : EXIT_EXEC_FAILED;
}
