// SPDX-License-Identifier: GPL-2.0
/* A recording that is looked at. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kfdtrace.h"
#include "message.h"
#include "view.h"

/**
 * view_file() - the path of a file of the recording
 * @options: name the recording
 * @name: the file
 *
 * The files of a recording are beside its trace.dat, also if that is what was named.
 *
 * Return: the path, to be freed with free(3); NULL if the recording is a lone file of another name.
 */
char *view_file(const struct view_options *options, const char *name)
{
	struct stat status;
	char *path;
	int len;

	if (stat(options->dir, &status))
		err(EXIT_FAILURE, "%s", options->dir);
	if (!S_ISDIR(status.st_mode)) {
		const char *slash = strrchr(options->dir, '/');
		const char *base = slash ? slash + 1 : options->dir;

		if (strcmp(base, "trace.dat"))
			return NULL;
		len = base - options->dir;
	} else {
		len = strlen(options->dir);
	}
	if (asprintf(&path, "%.*s%s%s", len, options->dir, S_ISDIR(status.st_mode) ? "/" : "", name) < 0)
		errx(EXIT_FAILURE, "out of memory");
	return path;
}

/**
 * view_open() - open a recording; does not return if that fails
 * @view: filled in, to be closed with view_close()
 * @options: which; must outlive @view
 */
void view_open(struct view *view, const struct view_options *options)
{
	char *meta = view_file(options, "meta.json");
	char why[TRACE_WHY];

	*view = (struct view){ .options = options };
	view->trace_path = view_file(options, "trace.dat");
	if (!view->trace_path)
		view->trace_path = strdup(options->dir);
	if (!view->trace_path)
		errx(EXIT_FAILURE, "out of memory");
	view->file = trace_open(view->trace_path, why);
	if (!view->file)
		errx(EXIT_FAILURE, "%s", why);
	view_meta_open(view, meta);
	free(meta);
	view_knows_read(view);
	view_model_init(view);
}

/**
 * view_early() - whether an event is left out
 * @view: the recording
 * @event: the event
 *
 * Return: whether it is older than the known state: in a loop, other events of that time were overwritten.
 */
bool view_early(const struct view *view, const struct kfd_event *event)
{
	return view->model.state_known && event->ts < view->model.first;
}

/**
 * view_event() - take an event into the model; does not return if that fails
 * @view: the recording
 * @event: the event
 */
void view_event(struct view *view, const struct kfd_event *event)
{
	if (model_event(&view->model, event))
		errx(EXIT_FAILURE, "%s: %s", view->trace_path,
		     view->model.too_many_gpus ? "damaged: more GPUs than any host has" :
						 "out of memory");
}

/**
 * view_read() - read all events into the model; does not return if that fails
 * @view: the recording
 */
void view_read(struct view *view)
{
	struct kfd_event event;
	char why[TRACE_WHY];
	bool any = false;
	int ret;

	view_state_begin(view);
	while ((ret = trace_next(view->file, &event, why)) > 0) {
		any = true;
		if (!view_early(view, &event))
			view_event(view, &event);
	}
	if (ret)
		errx(EXIT_FAILURE, "%s", why);
	view_state_end(view);
	if (!any)
		view_others_warn(view);
	model_end(&view->model);
	list_zero_ns = view->options->zero ? view->model.first : 0;
}

/**
 * view_slices() - read a recording once more, for its slices; does not return if that fails
 * @view: the recording, read; it does not change
 * @slice: called for each slice
 * @context: for @slice
 */
void view_slices(const struct view *view, slice_fn slice, void *context)
{
	struct view again = *view;
	char why[TRACE_WHY];

	again.file = trace_open(view->trace_path, why);
	if (!again.file)
		errx(EXIT_FAILURE, "%s", why);
	view_model_init(&again);
	again.model.slice = slice;
	again.model.slice_context = context;
	view_read(&again);
	model_free(&again.model);
	trace_close(again.file);
}

/**
 * view_pids_check() - whether the processes that were asked for are in the recording; does not return if not
 * @view: the recording, read
 */
void view_pids_check(const struct view *view)
{
	const struct pids *pids = &view->options->pids;
	const struct process *process;
	size_t i;

	for (i = 0; i < pids->nr; i++) {
		for (process = view->model.processes; process; process = process->next)
			if (process->pid == pids->pid[i])
				break;
		if (!process)
			errx(EXIT_FAILURE, "%s: process %d is not in the recording; 'kfdtrace report %s' lists its processes",
			     view->options->dir, pids->pid[i], view->options->dir);
	}
}

/**
 * view_pids_find() - view_pids_check() before the events are read; does not return if one is missing
 * @view: the recording, opened; its events are read once, and again by the caller
 *
 * For a verb that prints while it reads.
 */
void view_pids_find(struct view *view)
{
	char why[TRACE_WHY];

	if (!view->options->pids.nr)
		return;
	view_read(view);
	view_pids_check(view);
	model_free(&view->model);
	trace_close(view->file);
	view->file = trace_open(view->trace_path, why);
	if (!view->file)
		errx(EXIT_FAILURE, "%s", why);
	view_model_init(view);
}

/**
 * view_close() - close what view_open() opened
 * @view: the recording
 */
void view_close(struct view *view)
{
	model_free(&view->model);
	trace_close(view->file);
	view_meta_close(view);
	free(view->trace_path);
}

/**
 * view_shows() - whether a process was asked for
 * @view: the recording
 * @client: the process
 *
 * Return: whether.
 */
bool view_shows(const struct view *view, const struct client *client)
{
	return pids_have(&view->options->pids, client->process->pid);
}
