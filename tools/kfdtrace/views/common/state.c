// SPDX-License-Identifier: GPL-2.0
/* The state of the queues at both ends of a recording, out of meta.json.  A damaged file may contain anything. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <linux/kfd_prio.h>

#include "message.h"
#include "view.h"

static struct json_object *state_of(const struct view *view, const char *which)
{
	struct json_object *all = view_meta_value(view, "state", json_type_object), *state;

	if (!all || !json_object_object_get_ex(all, which, &state) || !json_object_is_type(state, json_type_object))
		return NULL;
	return state;
}

static bool number(struct json_object *object, const char *key, int64_t *value)
{
	struct json_object *member;

	if (!json_object_is_type(object, json_type_object) || !json_object_object_get_ex(object, key, &member) ||
	    !json_object_is_type(member, json_type_int))
		return false;
	*value = json_object_get_int64(member);
	return true;
}

/* Of a process on a GPU; others are left out, as no event can name them */
static bool process_numbers(struct json_object *process, int64_t *pid, int64_t *gpu_id)
{
	return number(process, "pid", pid) && number(process, "gpu_id", gpu_id) && *pid >= 1 && *pid <= KFD_MAX_PID &&
	       *gpu_id >= 0 && *gpu_id <= UINT32_MAX;
}

/* @known: out, if it is wanted: whether it is not null */
static bool flag(struct json_object *object, const char *key, bool *known)
{
	struct json_object *member;
	bool there = json_object_object_get_ex(object, key, &member) && json_object_is_type(member, json_type_boolean);

	if (known)
		*known = there;
	return there && json_object_get_boolean(member);
}

static struct json_object *array(struct json_object *object, const char *key)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, key, &member) || !json_object_is_type(member, json_type_array))
		return NULL;
	return member;
}

/* As KFD numbers them, to as events do; an XGMI queue and one of a given engine are SDMA queues as well */
static int32_t type_of(int64_t kfd)
{
	enum { COMPUTE, SDMA, HIQ, DIQ, SDMA_XGMI };

	return kfd == COMPUTE || kfd == SDMA ? kfd : kfd > HIQ ? SDMA_XGMI : -1;
}

static struct model_state state_read(struct json_object *process, bool *known)
{
	struct model_state state = { .prio = NO_PRIO };
	int64_t prio;

	if (number(process, "priority", &prio) && prio >= KFD_PRIO_MIN && prio <= KFD_PRIO_MAX)
		state.prio = prio;
	state.preempting = flag(process, "preempting", NULL);
	state.parked = flag(process, "parked", NULL);
	state.throttled = flag(process, "throttled", NULL);
	state.evicted = flag(process, "evicted", known);
	return state;
}

static int queues_begin(struct model *model, struct json_object *process, uint32_t gpu_id, int32_t pid)
{
	struct json_object *queues = array(process, "queues");
	bool preempted = flag(process, "preempted", NULL), known, mapped;
	size_t nr = queues ? json_object_array_length(queues) : 0, i;
	int64_t queue_id, type;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		struct json_object *queue = json_object_array_get_idx(queues, i);

		if (!number(queue, "queue_id", &queue_id) || queue_id < 0 || queue_id > UINT32_MAX)
			continue;
		if (!number(queue, "kfd_type", &type))
			type = -1;
		mapped = flag(queue, "mapped", &known);
		ret = model_state_queue(model, gpu_id, pid, queue_id, type_of(type),
					!known ? QUEUE_UNKNOWN : mapped ? QUEUE_MAPPED : QUEUE_OFF, preempted);
	}
	return ret;
}

/**
 * view_state_begin() - put in what was there when the recording began; does not return if that fails
 * @view: the recording, of which no event was read
 */
void view_state_begin(struct view *view)
{
	struct json_object *state = state_of(view, "start"), *list = state ? array(state, "processes") : NULL;
	size_t nr = list ? json_object_array_length(list) : 0, i;
	int64_t ts, pid, gpu_id;
	int ret = 0, pass;

	if (!list || !number(state, "ts_ns", &ts) || ts <= 0)
		return;
	model_state_begin(&view->model, ts);
	/* who is preempted by whom is known when all processes are */
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < nr && !ret; i++) {
			struct json_object *process = json_object_array_get_idx(list, i);
			struct model_state of;
			bool known;

			if (!process_numbers(process, &pid, &gpu_id))
				continue;
			of = state_read(process, &known);
			ret = pass ? queues_begin(&view->model, process, gpu_id, pid) :
				     model_state_process(&view->model, gpu_id, pid, &of, known);
		}
	if (ret)
		errx(EXIT_FAILURE, "%s: %s", view->trace_path,
		     view->model.too_many_gpus ? "damaged: more GPUs than any host has" : "out of memory");
}

/**
 * view_state_end() - compare with what was there when the recording ended
 * @view: the recording, of which all events were read
 */
void view_state_end(struct view *view)
{
	struct json_object *state = state_of(view, "end"), *list = state ? array(state, "processes") : NULL;
	size_t nr = list ? json_object_array_length(list) : 0, i, j;
	int64_t ts, pid, gpu_id, queue_id;

	if (view->model.state_known && number(view->meta, "end_ts_ns", &ts) && ts > 0 &&
	    (uint64_t)ts > view->model.last)
		view->model.last = ts;
	/* where events are missing, an end may be among them */
	if (!list || !number(state, "ts_ns", &ts) || ts <= 0 || view_lacks(view))
		return;
	model_end_begin(&view->model, ts);
	for (i = 0; i < nr; i++) {
		struct json_object *process = json_object_array_get_idx(list, i), *queues;
		struct model_state of;
		bool known;

		if (!process_numbers(process, &pid, &gpu_id))
			continue;
		of = state_read(process, &known);
		model_end_process(&view->model, gpu_id, pid, &of, known);
		queues = array(process, "queues");
		for (j = 0; queues && j < json_object_array_length(queues); j++)
			if (number(json_object_array_get_idx(queues, j), "queue_id", &queue_id))
				model_end_queue(&view->model, gpu_id, pid, queue_id);
	}
}
