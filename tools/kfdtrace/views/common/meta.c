// SPDX-License-Identifier: GPL-2.0
/* The contents of meta.json.  A damaged file may contain anything. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "kfdtrace.h"
#include "message.h"
#include "view.h"

#define MAX_META     ((size_t)16 << 20)
#define META_VERSION 2

/* NULL if it is no JSON */
static struct json_object *parse(const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *meta;

	if (!tokener)
		errx(EXIT_FAILURE, "out of memory");
	meta = json_tokener_parse_ex(tokener, text, size);
	json_tokener_free(tokener);
	return meta;
}

static struct json_object *meta_read(const char *path)
{
	struct json_object *meta = NULL;
	char *text = NULL;
	size_t size = 0;
	int fd, ret;

	if (!path)
		return NULL;
	fd = input_open(path);
	ret = fd < 0 ? fd : input_read(fd, MAX_META, &text, &size);
	if (fd >= 0)
		close(fd);
	if (!ret)
		meta = parse(text, size);
	free(text);
	if (meta && json_object_is_type(meta, json_type_object))
		return meta;
	if (ret == -EINVAL && fd < 0)
		warnx("%s: ignored, since it is not a regular file", path);
	else if (ret == -EFBIG)
		warnx("%s: ignored, since it is too large", path);
	else if (!ret)
		warnx("%s: ignored, since it is damaged: names of processes, and whether the GPU was simulated, are unknown", path);
	else if (ret != -ENOENT)
		warnx("%s: ignored: %s", path, strerror(-ret));
	json_object_put(meta);
	return NULL;
}

/* The objects of an array of @meta that have a member @key. */
static struct json_object *entry_next(const struct json_object *list, const char *key, size_t *at,
				      int64_t *number)
{
	struct json_object *entry, *value;

	while (*at < json_object_array_length(list)) {
		entry = json_object_array_get_idx(list, (*at)++);
		if (!json_object_is_type(entry, json_type_object) ||
		    !json_object_object_get_ex(entry, key, &value))
			continue;
		*number = json_object_get_int64(value);
		return entry;
	}
	return NULL;
}

static int process_compare(const void *left, const void *right)
{
	const struct view_process *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* A newer kfdtrace may have given members another meaning. */
static void version_check(const struct json_object *meta, const char *path)
{
	struct json_object *version;
	int64_t number;

	if (!json_object_object_get_ex(meta, "version", &version))
		return;
	number = json_object_is_type(version, json_type_int) ? json_object_get_int64(version) : 0;
	if (number < 1)
		warnx("%s: damaged: \"version\" is no number of a version", path);
	else if (number > META_VERSION)
		warnx("%s: version %" PRId64 " is of a newer kfdtrace, this one knows %d: what is read from the file may be wrong",
		      path, number, META_VERSION);
}

/**
 * view_meta_warn() - print on stderr that elements of meta.json are damaged
 * @view: the recording
 * @key: of the array
 * @nr: how many are left out; 0: nothing is printed
 */
void view_meta_warn(const struct view *view, const char *key, size_t nr)
{
	if (nr)
		warnx("%s: meta.json is damaged: %zu element%s of \"%s\" %s left out", view->options->dir, nr,
		      nr == 1 ? "" : "s", key, nr == 1 ? "is" : "are");
}

/**
 * view_meta_open() - read meta.json
 * @view: @meta and @processes are filled in, to be freed with view_meta_close()
 * @path: the file, or NULL
 *
 * Missing values are not shown, and a damaged file is reported: the events are enough.
 */
void view_meta_open(struct view *view, const char *path)
{
	struct json_object *list, *entry;
	size_t at = 0;
	int64_t pid;

	view->meta = meta_read(path);
	if (view->meta)
		version_check(view->meta, path);
	if (view->meta && json_object_object_get_ex(view->meta, "simulated", &entry) &&
	    !json_object_is_type(entry, json_type_boolean) && !json_object_is_type(entry, json_type_null))
		warnx("%s: damaged: \"simulated\" is neither true nor false", path);
	view->processes = NULL;
	view->nr_processes = 0;
	list = view_meta_value(view, "processes", json_type_array);
	if (!list)
		return;
	/* thousands of them are looked up, thousands of times */
	view->processes = calloc(json_object_array_length(list) + 1, sizeof(*view->processes));
	if (!view->processes)
		errx(EXIT_FAILURE, "out of memory");
	while ((entry = entry_next(list, "pid", &at, &pid)))
		view->processes[view->nr_processes++] = (struct view_process){ pid, entry };
	qsort(view->processes, view->nr_processes, sizeof(*view->processes), process_compare);
}

/**
 * view_meta_close() - free what view_meta_open() read
 * @view: the recording
 */
void view_meta_close(struct view *view)
{
	json_object_put(view->meta);
	free(view->processes);
}

static struct json_object *process_find(const struct view *view, int pid)
{
	struct view_process key = { .pid = pid }, *found = NULL;

	if (view->nr_processes)
		found = bsearch(&key, view->processes, view->nr_processes, sizeof(key), process_compare);
	return found ? found->entry : NULL;
}

static struct json_object *gpu_find(const struct view *view, uint32_t gpu_id)
{
	struct json_object *list = view_meta_value(view, "gpus", json_type_array), *entry;
	int64_t number;
	size_t at = 0;

	while (list && (entry = entry_next(list, "gpu_id", &at, &number)))
		if (number == gpu_id)
			return entry;
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
	struct json_object *entry = process_find(view, pid), *value;
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
	struct json_object *entry = process_find(view, pid), *list;
	size_t nr;

	if (!entry || !json_object_object_get_ex(entry, "nspid", &list) ||
	    !json_object_is_type(list, json_type_array))
		return false;
	nr = json_object_array_length(list);
	if (nr < 2)
		return false;
	*inner = json_object_get_int(json_object_array_get_idx(list, nr - 1));
	return *inner >= 1 && *inner <= KFD_MAX_PID;
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
	struct json_object *entry = gpu_find(view, gpu_id), *value;

	return entry && json_object_object_get_ex(entry, "name", &value) ?
		       json_object_get_string(value) :
		       NULL;
}

/**
 * view_gpu_gfx() - the target of a GPU, as compilers call it
 * @view: the recording
 * @gpu_id: its number
 *
 * Return: its target, raw bytes, owned by @view, or NULL.
 */
const char *view_gpu_gfx(const struct view *view, uint32_t gpu_id)
{
	struct json_object *entry = gpu_find(view, gpu_id), *value;

	return entry && json_object_object_get_ex(entry, "gfx", &value) ?
		       json_object_get_string(value) :
		       NULL;
}

/**
 * view_gpu_label() - what to call a GPU: its target, or the driver's name if that is not recorded
 * @view: the recording
 * @gpu_id: its number
 *
 * Return: raw bytes, owned by @view, or NULL.
 */
const char *view_gpu_label(const struct view *view, uint32_t gpu_id)
{
	const char *gfx = view_gpu_gfx(view, gpu_id);

	return gfx ? gfx : view_gpu_name(view, gpu_id);
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
	struct json_object *entry = gpu_find(view, gpu_id), *value;

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
	struct json_object *entry = gpu_find(view, gpu_id), *value;
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
 * Return: whether, as far as the recording tells.
 */
enum simulated view_simulated(const struct view *view)
{
	struct json_object *value = view_meta_value(view, "simulated", json_type_boolean);

	if (!value)
		return SIMULATED_UNKNOWN;
	return json_object_get_boolean(value) ? SIMULATED_YES : SIMULATED_NO;
}

/**
 * view_simulated_print() - a line above what is printed, if the GPU was not, or may not have been, hardware
 * @view: the recording
 */
void view_simulated_print(const struct view *view)
{
	enum simulated simulated = view_simulated(view);

	if (simulated == SIMULATED_YES)
		puts("SIMULATED GPU: no time below was measured on hardware");
	else if (simulated == SIMULATED_UNKNOWN)
		puts("The recording does not contain whether the GPU was simulated");
}

/**
 * view_simulated_value() - the same for a list
 * @view: the recording
 * @value: filled in
 */
void view_simulated_value(const struct view *view, struct list_value *value)
{
	enum simulated simulated = view_simulated(view);

	value->known = simulated != SIMULATED_UNKNOWN;
	value->flag = simulated == SIMULATED_YES;
}
