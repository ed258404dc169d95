// SPDX-License-Identifier: GPL-2.0
/* The JSON of kfdprio -l and -p; its form is described, and promised, in kfdprio(1). */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <json-c/json.h>

#include "kfdprio.h"

/* Raised when the meaning of a member changes; new members do not count. */
#define JSON_FORMAT 1
/* Of the interface, from which on KFD_PRIO_LIST_PREEMPT_OFF is told */
#define BREAKER_MINOR 2

/* Takes over @value; NULL is what json-c calls JSON's null. */
static void add(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value))
		errx(EXIT_FAILURE, "out of memory");
}

static struct json_object *checked(struct json_object *object)
{
	if (!object)
		errx(EXIT_FAILURE, "out of memory");
	return object;
}

static void add_int(struct json_object *object, const char *key, int64_t value)
{
	add(object, key, checked(json_object_new_int64(value)));
}

static void add_prio(struct json_object *object, const char *key, int prio)
{
	add(object, key, prio == KFD_PRIO_UNSET ? NULL : checked(json_object_new_int(prio)));
}

static void add_text(struct json_object *object, const char *key, const char *raw)
{
	char *text;

	if (!raw) {
		add(object, key, NULL);
		return;
	}
	text = text_utf8(raw);
	if (!text)
		errx(EXIT_FAILURE, "out of memory");
	add(object, key, checked(json_object_new_string(text)));
	free(text);
}

static void add_flag(struct json_object *object, const char *key, bool value)
{
	add(object, key, checked(json_object_new_boolean(value)));
}

/* Null if it is not known. */
static void add_index(struct json_object *object, const char *key, int index)
{
	add(object, key, index < 0 ? NULL : checked(json_object_new_int(index)));
}

/* Null if the driver does not count. */
static void add_count(struct json_object *object, const char *key, bool counted, uint64_t value)
{
	add(object, key, counted ? checked(json_object_new_uint64(value)) : NULL);
}

static struct json_object *gpu_object(const struct kfd_prio_list_entry *entry,
				      const struct kfd_dev *dev, const struct kfd_topology *topo)
{
	bool counted = dev->version.features & KFD_PRIO_FEATURE_PREEMPT;
	const struct kfd_gpu *gpu = kfd_topology_find(topo, entry->gpu_id);
	struct json_object *object = checked(json_object_new_object());

	add_int(object, "gpu_id", entry->gpu_id);
	add(object, "node", gpu ? checked(json_object_new_int(gpu->node)) : NULL);
	add_text(object, "name", gpu ? gpu->name : NULL);
	add_text(object, "gfx", gpu && *gpu->gfx ? gpu->gfx : NULL);
	add_text(object, "product", gpu && *gpu->product ? gpu->product : NULL);
	add_text(object, "pci", gpu ? gpu->pci : NULL);
	add_index(object, "hip_index", gpu ? gpu->hip_index : -1);
	add_index(object, "smi_index", gpu ? gpu->smi_index : -1);
	add_prio(object, "effective", entry->effective);
	add_int(object, "queues", entry->nr_queues);
	add_int(object, "active", entry->nr_active);
	add_flag(object, "evicted", entry->flags & KFD_PRIO_LIST_EVICTED);
	add_flag(object, "preempted", entry->flags & KFD_PRIO_LIST_PREEMPTED);
	add_flag(object, "preempting", entry->flags & KFD_PRIO_LIST_PREEMPTING);
	if (dev->version.minor >= BREAKER_MINOR)
		add_flag(object, "preemption_off", entry->flags & KFD_PRIO_LIST_PREEMPT_OFF);
	else
		add(object, "preemption_off", NULL);
	add_count(object, "preempted_count", counted, entry->preempted_count);
	add_count(object, "preempted_ns", counted, entry->preempted_ns);
	add_count(object, "preempting_count", counted, entry->preempting_count);
	return object;
}

/**
 * json_begin() - a document without processes
 *
 * Return: the document; does not return without memory.
 */
struct json_object *json_begin(void)
{
	struct json_object *document = checked(json_object_new_object());

	add_int(document, "version", JSON_FORMAT);
	add(document, "processes", checked(json_object_new_array()));
	return document;
}

/**
 * json_add_process() - add one process
 * @document: from json_begin()
 * @pid: the process
 * @priority: what is set for it, or KFD_PRIO_UNSET
 * @entries: what KFD_PRIO_IOC_LIST says about it, one entry per GPU
 * @nr: how many entries
 * @dev: the device: older drivers know less
 * @topo: to name the GPUs
 *
 * A process that has ended meanwhile is left out.
 */
void json_add_process(struct json_object *document, pid_t pid, int priority,
		      const struct kfd_prio_list_entry *entries, size_t nr,
		      const struct kfd_dev *dev, const struct kfd_topology *topo)
{
	struct json_object *processes = json_object_object_get(document, "processes");
	struct json_object *object, *gpus;
	char name[KFDLIB_NAME];
	struct proc_info info;
	int ret;
	size_t i;

	ret = proc_read(pid, &info);
	if (ret == -ESRCH)
		return;
	object = checked(json_object_new_object());
	add_int(object, "pid", pid);
	add(object, "uid", ret ? NULL : checked(json_object_new_int64(info.euid)));
	add_text(object, "user", !ret && user_name(info.euid, name, sizeof(name)) ? name : NULL);
	add_text(object, "command", ret ? NULL : info.comm);
	add_prio(object, "priority", priority);
	gpus = checked(json_object_new_array());
	for (i = 0; i < nr; i++)
		if (entries[i].gpu_id &&
		    json_object_array_add(gpus, gpu_object(&entries[i], dev, topo)))
			errx(EXIT_FAILURE, "out of memory");
	add(object, "gpus", gpus);
	if (json_object_array_add(processes, object))
		errx(EXIT_FAILURE, "out of memory");
}

/**
 * json_end() - print the document and free it
 * @document: from json_begin()
 */
void json_end(struct json_object *document)
{
	char *text = json_printable(document, true);

	if (!text)
		errx(EXIT_FAILURE, "out of memory");
	puts(text);
	free(text);
	json_object_put(document);
}
