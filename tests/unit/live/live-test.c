// SPDX-License-Identifier: GPL-2.0
/* The rows of kfdtrace live: why a process was preempted, and what is not known. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "fixture.h"
#include "live/live.h"
#include "story.h"

static struct live live;
static struct live_options options;
static struct kfd_prio_list_entry list[2];

/* What container_of() finds for LOW; it is not that of container-find.c */
static struct container container;

bool container_of(struct containers *known, pid_t pid, struct container *found)
{
	assert_ptr_equal(known, &live.containers);
	*found = pid == LOW ? container : (struct container){ .place.length = 0 };
	return found->place.length;
}

static int setup(void **state)
{
	if (story_setup(state))
		return -1;
	memset(&live, 0, sizeof(live));
	memset(&options, 0, sizeof(options));
	container = (struct container){ .place.length = 0 };
	live.options = &options;
	live.events.open = true;
	list[0] = (struct kfd_prio_list_entry){ .pid = HIGH, .gpu_id = GPU, .priority = 12, .effective = 12,
						.nr_queues = 1, .nr_active = 1 };
	list[1] = (struct kfd_prio_list_entry){ .pid = LOW, .gpu_id = GPU, .priority = KFD_PRIO_UNSET, .effective = 7,
						.nr_queues = 2, .nr_active = 2 };
	live.list = list;
	live.nr_list = 2;
	return 0;
}

static int teardown(void **state)
{
	live.model = (struct model){};
	free(live.rows);
	free(live.last);
	return story_teardown(state);
}

/* The rows of now, and their line of JSON. */
static const struct live_row *row_of(int pid)
{
	char why[RECORD_WHY];
	size_t i;

	live.model = model;
	live.ts = now;
	live.span_ns = 1000000;
	assert_int_equal(live_rows(&live, why), 0);
	live_rows_sort(&live, LIVE_PID, false);
	for (i = 0; i < live.nr_rows; i++)
		if (live.rows[i].pid == pid)
			return &live.rows[i];
	fail_msg("no row of process %d", pid);
	return NULL;
}

/* What live_print_json() prints. */
static struct json_object *frame(void)
{
	char path[] = "live-test.XXXXXX", text[8192];
	int fd = mkstemp(path), out = dup(1);
	struct json_object *object;
	ssize_t len;

	assert_true(fd >= 0 && out >= 0);
	fflush(stdout);
	dup2(fd, 1);
	live_print_json(&live);
	fflush(stdout);
	dup2(out, 1);
	len = pread(fd, text, sizeof(text) - 1, 0);
	assert_true(len > 0);
	text[len] = '\0';
	close(fd);
	close(out);
	unlink(path);
	/* a line, and no other */
	assert_ptr_equal(strchr(text, '\n'), text + len - 1);
	object = json_tokener_parse(text);
	assert_non_null(object);
	return object;
}

static struct json_object *key(struct json_object *object, const char *name)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(object, name, &value));
	return value;
}

/* reason and reason_pid of a process in JSON; NULL and 0: null */
static void json_reason(int pid, const char *reason, int by)
{
	struct json_object *object = frame(), *rows = key(object, "processes"), *row, *value;
	size_t i;

	for (i = 0; i < json_object_array_length(rows); i++) {
		row = json_object_array_get_idx(rows, i);
		if (json_object_get_int(key(row, "pid")) != pid)
			continue;
		value = key(row, "reason");
		if (reason)
			assert_string_equal(json_object_get_string(value), reason);
		else
			assert_null(value);
		value = key(row, "reason_pid");
		if (by)
			assert_int_equal(json_object_get_int(value), by);
		else
			assert_null(value);
		json_object_put(object);
		return;
	}
	fail_msg("no process %d in JSON", pid);
}

static void text_reason(int pid, const char *reason, const char *by)
{
	char text[LIVE_CELL];

	live_cell(row_of(pid), LIVE_REASON, text);
	assert_string_equal(text, reason);
	live_cell(row_of(pid), LIVE_REASON_PID, text);
	assert_string_equal(text, by);
}

static void two_processes(void)
{
	create(LOW, 0, 7);
	create(LOW, 1, 7);
	create(HIGH, 0, 12);
	map(LOW, 0, 7);
	map(LOW, 1, 7);
	map(HIGH, 0, 12);
}

static void preempt(int seq)
{
	begin(seq, 2);
	now += 10;
	unmap_all(20);
	map(HIGH, 0, 12);
	list[0].flags |= KFD_PRIO_LIST_PREEMPTING;
	list[1].flags |= KFD_PRIO_LIST_PREEMPTED;
}

static void preempt_end(int seq)
{
	now += 100;
	unmap_all(20);
	map(LOW, 0, 7);
	map(LOW, 1, 7);
	map(HIGH, 0, 12);
	end(seq, 150);
	list[0].flags = list[1].flags = 0;
}

static void reason_of_both(void **state)
{
	(void)state;
	two_processes();
	text_reason(HIGH, "-", "-");
	json_reason(HIGH, NULL, 0);
	preempt(1);
	text_reason(HIGH, "WORK", "100");
	text_reason(LOW, "WORK", "100");
	json_reason(HIGH, "WORK", HIGH);
	json_reason(LOW, "WORK", HIGH);
	preempt_end(1);
	/* the last that is known of each: of the one that it ended, of the other why it was preempted */
	text_reason(HIGH, "IDLE", "100");
	text_reason(LOW, "WORK", "100");
	json_reason(HIGH, "IDLE", HIGH);
	json_reason(LOW, "WORK", HIGH);
}

/* The driver's list is newer than the events: the reason of the end before is not that of a preemption that goes on. */
static void preempting_before_its_event(void **state)
{
	(void)state;
	two_processes();
	preempt(1);
	preempt_end(1);
	list[0].flags = KFD_PRIO_LIST_PREEMPTING;
	assert_int_equal(row_of(HIGH)->state, KFD_STATE_PREEMPTING);
	text_reason(HIGH, "-", "-");
	json_reason(HIGH, NULL, 0);
	preempt(2);
	text_reason(HIGH, "WORK", "100");
	json_reason(HIGH, "WORK", HIGH);
}

/* One that has ended is shown once more, with the reason of its last preemption. */
static void reason_of_an_ended(void **state)
{
	(void)state;
	two_processes();
	preempt(1);
	destroy(LOW, 0, 1, 0);
	destroy(LOW, 1, 1, 0);
	live.nr_list = 1;
	assert_int_equal(row_of(LOW)->state, KFD_STATE_ENDED);
	text_reason(LOW, "WORK", "100");
	json_reason(LOW, "WORK", HIGH);
}

/* Impossible events: those that were not read, and those that the model has left out */
static void damaged(void **state)
{
	struct json_object *object;

	(void)state;
	two_processes();
	live.events.damaged = 2;
	live.model.impossible = 1;
	object = frame();
	assert_int_equal(json_object_get_int(key(object, "damaged_count")), 3);
	json_object_put(object);
	live.events.damaged = live.model.impossible = 0;
}

/* Which frames have no reason, is not known: what the driver counts has none. */
static void statistics_only(void **state)
{
	struct json_object *object;

	(void)state;
	live.events.open = false;
	list[0].flags = KFD_PRIO_LIST_PREEMPTING;
	list[1].flags = KFD_PRIO_LIST_PREEMPTED;
	list[1].preempted_count = 3;
	text_reason(LOW, "-", "-");
	json_reason(LOW, NULL, 0);
	assert_true(row_of(LOW)->mapped < 0);
	object = frame();
	assert_string_equal(json_object_get_string(key(object, "source")), "stats");
	assert_null(key(object, "events_per_s"));
	assert_null(key(object, "event_count"));
	assert_null(key(object, "lost_count"));
	assert_null(key(object, "damaged_count"));
	json_object_put(object);
}

/* The stock driver: neither a priority, nor a preemption, nor a reason is 0. */
static void stock(void **state)
{
	static const char *const unknown[] = { "priority", "preempted_percent", "preempted_per_s", "preempting_per_s",
					       "reason", "reason_pid" };
	struct json_object *object, *row;
	char text[LIVE_CELL];
	unsigned int i;

	(void)state;
	live.stock = true;
	list[0].priority = list[0].effective = KFD_PRIO_UNSET;
	list[1].effective = KFD_PRIO_UNSET;
	two_processes();
	now += 50;
	unmap_all(20);
	map(LOW, 0, 7);
	text_reason(LOW, "-", "-");
	assert_int_equal(row_of(LOW)->active, 1);
	live_cell(row_of(LOW), LIVE_PREEMPTED_RATE, text);
	assert_string_equal(text, "-");
	assert_int_equal(row_of(LOW)->effective, 7);
	object = frame();
	assert_string_equal(json_object_get_string(key(object, "driver")), "stock");
	row = json_object_array_get_idx(key(object, "processes"), 1);
	assert_int_equal(json_object_get_int(key(row, "pid")), LOW);
	for (i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_null(key(row, unknown[i]));
	assert_non_null(key(row, "mapped_percent"));
	assert_int_equal(json_object_get_int(key(row, "queue_count")), 2);
	json_object_put(object);
	/* evicted by KFD: no preemption either */
	TELL(EV_EVICT_PROCESS, { F_PID, LOW });
	assert_int_equal(row_of(LOW)->state, KFD_STATE_EVICTED);
	text_reason(LOW, "-", "-");
	json_reason(LOW, NULL, 0);
}

/* A queue that is older than the view: its priority is not known, nor is the process's. */
static void stock_older(void **state)
{
	(void)state;
	live.stock = true;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	map(LOW, 1, 7);
	assert_int_equal(row_of(LOW)->effective, KFD_PRIO_UNSET);
}

static void throttle(int seq, int64_t reason)
{
	TELL(EV_THROTTLE_BEGIN, { F_PID, LOW }, { F_QUEUES, 2 }, { F_REASON, reason }, { F_SHARE, 4 }, { F_CGROUP_SHARE, 0 }, { F_SEQ, seq });
}

static void throttled_cells(const char *percent, const char *rate, const char *reason)
{
	const struct live_row *row = row_of(LOW);
	char text[LIVE_CELL];

	live_cell(row, LIVE_THROTTLED, text);
	assert_string_equal(text, percent);
	live_cell(row, LIVE_THROTTLED_RATE, text);
	assert_string_equal(text, rate);
	live_cell(row, LIVE_THROTTLE_REASON, text);
	assert_string_equal(text, reason);
}

static struct json_object *row_json(struct json_object *of, int pid)
{
	struct json_object *rows = key(of, "processes"), *row = NULL;
	size_t i;

	for (i = 0; i < json_object_array_length(rows); i++)
		if (json_object_get_int(key(json_object_array_get_idx(rows, i), "pid")) == pid)
			row = json_object_array_get_idx(rows, i);
	assert_non_null(row);
	return row;
}

/* What the driver counts, since the frame before, and the reason of the events; a number without a name is printed. */
static void throttled(void **state)
{
	struct json_object *object;

	(void)state;
	live.dev.version.features = KFD_PRIO_FEATURE_SHARES | KFD_PRIO_FEATURE_PREEMPT;
	list[1].share = 4;
	options.list.json = true;
	two_processes();
	row_of(LOW);
	throttled_cells("0.0", "0.0", "-");
	throttle(1, KFD_PRIO_THROTTLE_MAX);
	unmap_all(20);
	list[1].flags = KFD_PRIO_LIST_THROTTLED;
	list[1].throttled_count = 3;
	list[1].throttled_ns = 250000;
	assert_int_equal(row_of(LOW)->state, KFD_STATE_THROTTLED);
	list[1].throttled_count = 5;
	list[1].throttled_ns = 500000;
	throttled_cells("25.0", "2000", "MAX");
	list[1].throttled_count = 6;
	list[1].throttled_ns = 600000;
	row_of(LOW);
	object = frame();
	assert_string_equal(json_object_get_string(key(row_json(object, LOW), "state")), "throttled");
	assert_string_equal(json_object_get_string(key(row_json(object, LOW), "throttle_reason")), "MAX");
	assert_true(json_object_get_double(key(row_json(object, LOW), "throttled_percent")) == 10);
	assert_true(json_object_get_double(key(row_json(object, LOW), "throttled_per_s")) == 1000);
	assert_null(key(row_json(object, HIGH), "throttle_reason"));
	json_object_put(object);
	/* it is neither preempted nor the reason of a preemption */
	text_reason(LOW, "-", "-");
	throttle(2, 7);
	throttled_cells("0.0", "0.0", "0x7");
}

/* Of a process that has ended, the events have it: also what has not ended yet. */
static void throttled_and_ended(void **state)
{
	(void)state;
	two_processes();
	row_of(LOW);
	throttle(1, KFD_PRIO_THROTTLE_WEIGHT);
	now += 500000;
	live.nr_list = 1;
	throttled_cells("50.0", "1000", "WEIGHT");
	now += 200000;
	throttled_cells("20.0", "0.0", "WEIGHT");
}

/* A driver without groups, and one without our events: not known, and not 0 */
static void throttled_unknown(void **state)
{
	struct json_object *object;

	(void)state;
	options.list.json = true;
	two_processes();
	throttled_cells("-", "-", "-");
	object = frame();
	assert_null(key(row_json(object, LOW), "throttled_percent"));
	assert_null(key(row_json(object, LOW), "throttled_per_s"));
	json_object_put(object);
	live.stock = true;
	throttled_cells("-", "-", "-");
}

/* The state is the first of those that apply: off by KFD, throttled, preempted, parked */
static void throttled_among_states(void **state)
{
	(void)state;
	list[1].flags = KFD_PRIO_LIST_PREEMPTED | KFD_PRIO_LIST_PARKED;
	assert_int_equal(row_of(LOW)->state, KFD_STATE_PREEMPTED);
	list[1].flags |= KFD_PRIO_LIST_THROTTLED;
	assert_int_equal(row_of(LOW)->state, KFD_STATE_THROTTLED);
	list[1].flags |= KFD_PRIO_LIST_EVICTED;
	assert_int_equal(row_of(LOW)->state, KFD_STATE_EVICTED);
}

static void container_cells(const char *pod, const char *name, const char *id)
{
	const struct live_row *row = row_of(LOW);
	char text[LIVE_CELL];

	live_cell(row, LIVE_POD, text);
	assert_string_equal(text, pod);
	live_cell(row, LIVE_NAMESPACE, text);
	assert_string_equal(text, pod);
	live_cell(row, LIVE_CONTAINER, text);
	assert_string_equal(text, name);
	live_cell(row, LIVE_CONTAINER_ID, text);
	assert_string_equal(text, id);
}

/* Names that are not known are null; a table has digits of the ID for that of the container. */
static void containers(void **state)
{
	struct json_object *object;

	(void)state;
	options.list.json = true;
	two_processes();
	container_cells("-", "-", "-");
	container = (struct container){ .place = { .id = "0123456789abcdef", .pod_uid = "1-2", .length = 1 } };
	container_cells("-", "0123456789ab", "0123456789abcdef");
	object = frame();
	assert_null(key(row_json(object, LOW), "pod"));
	assert_null(key(row_json(object, LOW), "namespace"));
	assert_null(key(row_json(object, LOW), "container"));
	assert_string_equal(json_object_get_string(key(row_json(object, LOW), "container_id")), "0123456789abcdef");
	assert_string_equal(json_object_get_string(key(row_json(object, LOW), "pod_uid")), "1-2");
	assert_null(key(row_json(object, HIGH), "container_id"));
	json_object_put(object);
	strcpy(container.pod, "a\033 b");
	strcpy(container.namespace, "a\033 b");
	strcpy(container.container, "c");
	container_cells("a\\x1b_b", "c", "0123456789abcdef");
	object = frame();
	assert_string_equal(json_object_get_string(key(row_json(object, LOW), "pod")), "a\033 b");
	json_object_put(object);
	/* of a process that has ended, that of the frame before: /proc has another process, or none */
	live.nr_list = 1;
	container = (struct container){ .place.length = 0 };
	destroy(LOW, 0, 1, 0);
	destroy(LOW, 1, 1, 0);
	assert_int_equal(row_of(LOW)->state, KFD_STATE_ENDED);
	container_cells("a\\x1b_b", "c", "0123456789abcdef");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reason_of_both, setup, teardown),
		cmocka_unit_test_setup_teardown(preempting_before_its_event, setup, teardown),
		cmocka_unit_test_setup_teardown(reason_of_an_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(statistics_only, setup, teardown),
		cmocka_unit_test_setup_teardown(stock, setup, teardown),
		cmocka_unit_test_setup_teardown(stock_older, setup, teardown),
		cmocka_unit_test_setup_teardown(throttled, setup, teardown),
		cmocka_unit_test_setup_teardown(throttled_and_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(throttled_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(throttled_among_states, setup, teardown),
		cmocka_unit_test_setup_teardown(containers, setup, teardown),
	};

	return cmocka_run_group_tests_name("kfdtrace live", tests, NULL, NULL) != 0;
}
