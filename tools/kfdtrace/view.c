// SPDX-License-Identifier: GPL-2.0
/* A recording that is looked at. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kfdtrace.h"
#include "view.h"

#define MAX_META (16L << 20)

/**
 * view_file() - the path of a file of the recording
 * @options: name the recording
 * @name: the file
 *
 * Return: the path, to be freed with free(3); NULL if the recording is a lone trace.dat.
 */
char *view_file(const struct view_options *options, const char *name)
{
	struct stat status;
	char *path;

	if (stat(options->dir, &status))
		err(EXIT_FAILURE, "%s", options->dir);
	if (!S_ISDIR(status.st_mode))
		return NULL;
	if (asprintf(&path, "%s/%s", options->dir, name) < 0)
		errx(EXIT_FAILURE, "out of memory");
	return path;
}

/**
 * view_meta() - read meta.json
 * @path: the file, or NULL
 *
 * What it lacks is not shown, and a damaged one is told of: the events are what counts.
 *
 * Return: an object, to be freed with json_object_put(), or NULL.
 */
struct json_object *view_meta(const char *path)
{
	struct json_object *meta;
	struct stat status;

	if (!path || stat(path, &status))
		return NULL;
	if (status.st_size > MAX_META) {
		warnx("%s: too large, ignored", path);
		return NULL;
	}
	meta = json_object_from_file(path);
	if (meta && json_object_is_type(meta, json_type_object))
		return meta;
	warnx("%s: damaged, ignored: names of processes are missing", path);
	json_object_put(meta);
	return NULL;
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
	view->meta = view_meta(meta);
	free(meta);
	if (model_init(&view->model, options->slow_ns))
		errx(EXIT_FAILURE, "out of memory");
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
		     view->model.too_many_gpus ? "damaged: it has more GPUs than any host" :
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
	int ret;

	while ((ret = trace_next(view->file, &event, why)) > 0)
		view_event(view, &event);
	if (ret)
		errx(EXIT_FAILURE, "%s", why);
	model_end(&view->model);
}

/**
 * view_losses() - shout about what is missing, on stderr
 * @view: the recording, read
 */
void view_losses(const struct view *view)
{
	const struct trace_loss *loss = trace_loss(view->file);

	if (loss->overrun)
		warnx("LOST %" PRIu64
		      " EVENTS while this was recorded: numbers and times below are too small or wrong",
		      loss->overrun);
	else if (loss->gaps)
		warnx("EVENTS ARE MISSING at %" PRIu64
		      " places: numbers and times below are too small or wrong",
		      loss->gaps);
	if (loss->damaged)
		warnx("%s: DAMAGED at %" PRIu64 " places, which were skipped", view->trace_path,
		      loss->damaged);
}

/**
 * view_close() - close what view_open() opened
 * @view: the recording
 */
void view_close(struct view *view)
{
	model_free(&view->model);
	trace_close(view->file);
	json_object_put(view->meta);
	free(view->trace_path);
}

/* The entry of an array of @meta whose member @key is @number. */
static struct json_object *meta_find(const struct view *view, const char *array, const char *key,
				     int64_t number)
{
	struct json_object *list, *entry, *value;
	size_t i;

	if (!view->meta || !json_object_object_get_ex(view->meta, array, &list) ||
	    !json_object_is_type(list, json_type_array))
		return NULL;
	for (i = 0; i < json_object_array_length(list); i++) {
		entry = json_object_array_get_idx(list, i);
		if (json_object_is_type(entry, json_type_object) &&
		    json_object_object_get_ex(entry, key, &value) &&
		    json_object_get_int64(value) == number)
			return entry;
	}
	return NULL;
}

/**
 * view_command() - the name of a process
 * @view: the recording
 * @pid: the process
 *
 * Return: its name, raw bytes, owned by @view; "?" if it is not known.
 */
const char *view_command(const struct view *view, int pid)
{
	struct json_object *entry = meta_find(view, "processes", "pid", pid), *value;
	const char *name = NULL;

	if (entry && json_object_object_get_ex(entry, "command", &value))
		name = json_object_get_string(value);
	if (!name)
		name = trace_comm(view->file, pid);
	return name ? name : "?";
}

/**
 * view_inner_pid() - the PID that a process in a container has for itself
 * @view: the recording
 * @pid: the process
 * @inner: out: its PID in the innermost PID namespace
 *
 * Return: whether there is one, that is, the process was in a container.
 */
bool view_inner_pid(const struct view *view, int pid, int *inner)
{
	struct json_object *entry = meta_find(view, "processes", "pid", pid), *list;
	size_t nr;

	if (!entry || !json_object_object_get_ex(entry, "nspid", &list) ||
	    !json_object_is_type(list, json_type_array))
		return false;
	nr = json_object_array_length(list);
	if (nr < 2)
		return false;
	*inner = json_object_get_int(json_object_array_get_idx(list, nr - 1));
	return true;
}

/**
 * view_gpu_name() - what the driver calls a GPU
 * @view: the recording
 * @gpu_id: its number
 *
 * Return: its name, raw bytes, owned by @view, or NULL.
 */
const char *view_gpu_name(const struct view *view, uint32_t gpu_id)
{
	struct json_object *entry = meta_find(view, "gpus", "gpu_id", gpu_id), *value;

	return entry && json_object_object_get_ex(entry, "name", &value) ?
		       json_object_get_string(value) :
		       NULL;
}

/**
 * view_gpu_pci() - where a GPU is
 * @view: the recording
 * @gpu_id: its number
 *
 * Return: its PCI address, raw bytes, owned by @view, or NULL.
 */
const char *view_gpu_pci(const struct view *view, uint32_t gpu_id)
{
	struct json_object *entry = meta_find(view, "gpus", "gpu_id", gpu_id), *value;

	return entry && json_object_object_get_ex(entry, "pci", &value) ?
		       json_object_get_string(value) :
		       NULL;
}

/**
 * view_gpu_hqds() - how many compute queues are on a GPU at once
 * @view: the recording
 * @gpu_id: its number
 *
 * Return: that number, or 0 if the recording does not tell.
 */
int view_gpu_hqds(const struct view *view, uint32_t gpu_id)
{
	struct json_object *entry = meta_find(view, "gpus", "gpu_id", gpu_id), *value;
	int hqds = 0;

	if (entry && json_object_object_get_ex(entry, "compute_hqds", &value))
		hqds = json_object_get_int(value);
	return hqds > 0 ? hqds : 0;
}

/**
 * view_meta_value() - something that meta.json says
 * @view: the recording
 * @key: of what
 * @type: that it must have
 *
 * Return: the value, owned by @view, or NULL.
 */
struct json_object *view_meta_value(const struct view *view, const char *key, enum json_type type)
{
	struct json_object *value;

	return view->meta && json_object_object_get_ex(view->meta, key, &value) &&
			       json_object_is_type(value, type) ?
		       value :
		       NULL;
}

/**
 * view_simulated() - whether the simulated GPU made the recording
 * @view: the recording
 *
 * Return: whether; false also if the recording does not tell.
 */
bool view_simulated(const struct view *view)
{
	struct json_object *value = view_meta_value(view, "simulated", json_type_boolean);

	return value && json_object_get_boolean(value);
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
	return !view->options->pid || client->process->pid == view->options->pid;
}
