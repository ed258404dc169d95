// SPDX-License-Identifier: GPL-2.0
/* A recording of a host that already runs: the state at both ends, and what contradicts it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "record/rls.h"
#include "story.h"

static const struct model_state none = { .prio = NO_PRIO };

static void process(int pid, struct model_state state)
{
	assert_int_equal(model_state_process(&model, GPU, pid, &state, true), 0);
}

static void queue(int pid, unsigned int queue_id, enum queue_place place, bool preempted)
{
	assert_int_equal(model_state_queue(&model, GPU, pid, queue_id, 0, place, preempted), 0);
}

/* No event at all: what was mapped at the begin was so to the end, and what is not known stays so. */
static void nothing_happens(void **state)
{
	(void)state;
	model_state_begin(&model, 1000);
	process(LOW, none);
	queue(LOW, 0, QUEUE_MAPPED, false);
	queue(LOW, 1, QUEUE_OFF, false);
	queue(LOW, 2, QUEUE_UNKNOWN, false);
	model.last = 5000;
	model_end(&model);
	assert_int_equal(model.nr_queues, 3);
	assert_int_equal(model.queues[0]->mapped_ns, 4000);
	assert_int_equal(model.queues[0]->maps, 0);
	assert_int_equal(model.queues[1]->unmapped_ns, 4000);
	assert_true(model.queues[2]->unknown);
	assert_int_equal(model.queues[2]->mapped_ns + model.queues[2]->unmapped_ns, 0);
	assert_int_equal(client_of(LOW)->mapped_ns, 4000);
	assert_int_equal(model.kept_anomalies, 0);
}

/* The begin of the preemption was before that of the recording. */
static void preempted_at_the_begin(void **state)
{
	(void)state;
	model_state_begin(&model, 1000);
	process(LOW, none);
	process(HIGH, (struct model_state){ .prio = 12, .preempting = true });
	queue(LOW, 0, QUEUE_OFF, true);
	queue(HIGH, 0, QUEUE_MAPPED, false);
	now = 1500;
	unmap_all(10);
	map(HIGH, 0, 12);
	map(LOW, 0, 7);
	end(9, 900);
	now = 2000;
	model_end(&model);
	assert_int_equal(client_of(LOW)->preempted_ns, 510);
	assert_int_equal(client_of(LOW)->by->pid, HIGH);
	assert_int_equal(model.queues[0]->preempted_ns, 510);
	/* its end tells of 900 */
	assert_int_equal(client_of(HIGH)->preempting, 1);
	assert_int_equal(client_of(HIGH)->preempting_ns, 510);
	assert_int_equal(model.under_way.preemptions, 0);
	assert_int_equal(model.kept_anomalies, 0);
}

/* An unmap of all tells of those of which nothing was known, too. */
static void unknown_until_told(void **state)
{
	(void)state;
	model_state_begin(&model, 1000);
	process(LOW, none);
	queue(LOW, 0, QUEUE_UNKNOWN, false);
	queue(LOW, 1, QUEUE_UNKNOWN, false);
	now = 3000;
	unmap_all(100);			/* 3100 */
	now = 3200;
	map(LOW, 1, 7);
	now = 4000;
	destroy(LOW, 1, 0, 0);
	model_end(&model);
	assert_int_equal(model.queues[0]->unmapped_ns, 900);
	assert_int_equal(model.queues[0]->mapped_ns, 0);
	assert_int_equal(model.queues[1]->mapped_ns, 800);
	assert_int_equal(model.queues[1]->unmapped_ns, 100);
	assert_int_equal(model.under_way.queues, 1);
}

/* No state, and no creation: where such a queue was is not known until an event shows it. */
static void older_than_the_recording(void **state)
{
	(void)state;
	/* its end alone */
	destroy(LOW, 0, 0, 0);
	/* an update does not show whether it is mapped */
	TELL(EV_UPDATE_QUEUE, { F_PID, LOW }, { F_QUEUE_ID, 1 }, { F_PRIO, 7 });
	TELL(EV_UPDATE_QUEUE, { F_PID, HIGH }, { F_QUEUE_ID, 2 }, { F_PRIO, 7 });
	TELL(EV_MAP_QUEUE, { F_PID, HIGH }, { F_QUEUE_ID, 3 }, { F_PRIO, 7 }, { F_RET, -5 });
	now = 2000;
	map(HIGH, 2, 7);
	now = 2100;
	unmap_all(100);			/* 2200 */
	now = 2500;
	/* a new one is off the GPU, and its MQD comes first */
	TELL(EV_INIT_MQD, { F_PID, LOW }, { F_QUEUE_ID, 4 }, { F_PRIO, 7 });
	now = 2600;
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	model_end(&model);
	assert_true(model.queues[0]->unknown);
	assert_int_equal(model.queues[0]->mapped_ns + model.queues[0]->unmapped_ns, 0);
	assert_false(model.queues[1]->unknown);
	assert_int_equal(model.queues[1]->unmapped_ns, 400);
	assert_int_equal(model.queues[2]->mapped_ns, 200);
	assert_int_equal(model.queues[2]->unmapped_ns, 400);
	assert_int_equal(model.queues[3]->unmapped_ns, 400);
	assert_int_equal(model.queues[4]->unmapped_ns, 100);
	assert_true(client_of(LOW)->unknown);
	assert_false(client_of(HIGH)->unknown);
}

static uint64_t evicted_from, evicted_to;

static void evicted_note(void *context, const struct queue *of, enum slice_kind kind, uint64_t from, uint64_t to)
{
	(void)context;
	(void)of;
	if (kind != SLICE_EVICTED)
		return;
	evicted_from = from;
	evicted_to = to;
}

/* The restore alone, or one of two evictions: the process was evicted from the begin of the recording on. */
static void evicted_before_the_recording(void **state)
{
	(void)state;
	model.slice = evicted_note;
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	now = 1400;
	TELL(EV_RESTORE_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 0 });
	TELL(EV_EVICT_PROCESS, { F_PID, HIGH }, { F_PRIO, -1 }, { F_EVICTED, 2 });
	now = 1500;
	map(LOW, 0, 7);
	assert_int_equal(evicted_from, 1000);
	assert_int_equal(evicted_to, 1400);
	now = 1600;
	/* no eviction: this one is known to have ended */
	TELL(EV_RESTORE_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 0 });
	TELL(EV_RESTORE_PROCESS, { F_PID, HIGH }, { F_PRIO, -1 }, { F_EVICTED, 1 });
	now = 1700;
	TELL(EV_RESTORE_PROCESS, { F_PID, HIGH }, { F_PRIO, -1 }, { F_EVICTED, 0 });
	model_end(&model);
	assert_int_equal(client_of(LOW)->evictions, 1);
	assert_int_equal(client_of(LOW)->evicted_ns, 400);
	assert_int_equal(client_of(HIGH)->evictions, 2);
	assert_int_equal(client_of(HIGH)->evicted_ns, 700);
}

/* A state that has the process as not evicted leaves no eviction before it. */
static void not_evicted_at_the_begin(void **state)
{
	(void)state;
	model_state_begin(&model, 1000);
	process(LOW, none);
	now = 1400;
	TELL(EV_RESTORE_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 0 });
	model_end(&model);
	assert_int_equal(client_of(LOW)->evictions, 0);
}

/* It is in the state, which was read a moment after its creation. */
static void created_as_the_state_was_read(void **state)
{
	(void)state;
	model_state_begin(&model, 1000);
	process(LOW, none);
	queue(LOW, 0, QUEUE_MAPPED, false);
	now = 1100;
	create(LOW, 0, 7);
	now = 1200;
	map(LOW, 0, 7);
	now = 2000;
	destroy(LOW, 0, 0, 0);
	model_end(&model);
	assert_int_equal(model.nr_queues, 1);
	assert_int_equal(client_of(LOW)->created, 1);
	assert_int_equal(model.queues[0]->mapped_ns, 800);
	assert_int_equal(model.queues[0]->unmapped_ns, 100);
}

/* What is there at the end is under way; what is not there, and has not ended, contradicts the events. */
static void state_at_the_end(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	create(LOW, 1, 7);
	create(HIGH, 0, 12);
	begin(1, 1);
	TELL(EV_EVICT_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 1 }, { F_QUEUES, 2 });
	now = 2000;
	/* after the state was read */
	create(300, 0, 7);
	model_end_begin(&model, 1900);
	model_end_process(&model, GPU, LOW, &(struct model_state){ .prio = NO_PRIO }, true);
	model_end_queue(&model, GPU, LOW, 1);
	model_end_queue(&model, GPU, 400, 1);
	model_end(&model);
	assert_int_equal(model.nr_anomalies[ANOMALY_NOT_DESTROYED], 2);
	assert_int_equal(model.nr_anomalies[ANOMALY_PREEMPT_OPEN], 1);
	assert_int_equal(model.nr_anomalies[ANOMALY_EVICT_OPEN], 1);
	assert_int_equal(model.under_way.queues, 2);
}

static void under_way_at_the_end(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	create(HIGH, 0, 12);
	begin(1, 1);
	now = 1500;
	TELL(EV_EVICT_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 1 }, { F_QUEUES, 1 });
	model_end_begin(&model, 1900);
	model_end_process(&model, GPU, LOW, &(struct model_state){ .prio = NO_PRIO, .evicted = true }, true);
	model_end_process(&model, GPU, HIGH, &(struct model_state){ .prio = 12, .preempting = true }, true);
	model_end_queue(&model, GPU, LOW, 0);
	model_end_queue(&model, GPU, HIGH, 0);
	model_end(&model);
	assert_int_equal(model.kept_anomalies, 0);
	assert_int_equal(client_of(HIGH)->preempting_ns, 500);
	assert_int_equal(model.under_way.queues, 2);
	assert_int_equal(model.under_way.preemptions, 1);
	assert_int_equal(model.under_way.evictions, 1);
}

/* The driver waits for an unmap before it begins another. */
static void unmap_without_an_end(void **state)
{
	(void)state;
	TELL(EV_UNMAP_QUEUES, { F_PID, -1 }, { F_QUEUE_ID, 0xffffffff }, { F_FILTER, DYNAMIC });
	now = 1500;
	unmap_all(10);
	model_end(&model);
	assert_int_equal(model.nr_anomalies[ANOMALY_UNMAP_OPEN], 1);
	assert_int_equal(model.under_way.unmaps, 0);
}

static bool parsed(const char *text, struct rls *rls)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	bool good = rls_parse(file, rls);

	fclose(file);
	return good;
}

/* The driver's dump: two processes on one GPU, none on the other; a cut one, and one of something else. */
static void runlists(void **state)
{
	static const char dump[] =
		"Node 1, gpu_id a01:\n"
		"  00000000: c002a100 00008001 00000000 00000000 c001a200 20000000 00000010 c001a200\n"
		"  00000020: 20000000 00000018 c002a100 00008002 00000000 00000000 c001a200 20000000\n"
		"  00000040: 00000020 c000a500 00000000\n"
		"Node 2, gpu_id b02:\n"
		"  No active runlist\n";
	char cut[sizeof(dump)];
	struct rls rls;

	(void)state;
	assert_true(parsed(dump, &rls));
	assert_int_equal(rls_queues(&rls, 0xa01, 0), 3);
	assert_int_equal(rls_queues(&rls, 0xa01, 0x8001), 2);
	assert_int_equal(rls_queues(&rls, 0xa01, 0x8002), 1);
	assert_int_equal(rls_queues(&rls, 0xa01, 0x8003), 0);
	assert_int_equal(rls_queues(&rls, 0xb02, 0), 0);
	rls_free(&rls);
	/* in the middle of a packet */
	snprintf(cut, sizeof(cut), "%.*s", 120, dump);
	assert_false(parsed(cut, &rls));
	rls_free(&rls);
	assert_false(parsed("Node 1, gpu_id a01:\n  00000000: 12345678 zz\n", &rls));
	rls_free(&rls);
	assert_true(parsed("", &rls));
	rls_free(&rls);
}

int run_state(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_happens, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(preempted_at_the_begin, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(unknown_until_told, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(older_than_the_recording, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(evicted_before_the_recording, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(not_evicted_at_the_begin, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(created_as_the_state_was_read, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(state_at_the_end, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(under_way_at_the_end, story_setup, story_teardown),
		cmocka_unit_test(runlists),
		cmocka_unit_test_setup_teardown(unmap_without_an_end, story_setup, story_teardown),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
