// SPDX-License-Identifier: GPL-2.0
/* The model when it follows a system, and when there is much of everything. */
#include <stdbool.h>

#include "fixture.h"
#include "story.h"

static bool gone(void *context, int32_t pid)
{
	(void)context;
	return pid == HIGH;
}

/* As kfdtrace live does: queues that were there before, events that are missing, processes that end. */
static void followed(void **state)
{
	struct client *low;
	unsigned int i;

	(void)state;
	model.max_queues = 0;
	assert_int_equal(model_sync_queue(&model, GPU, LOW, 0, true, now), 0);
	assert_int_equal(model_sync_queue(&model, GPU, LOW, 1, true, now), 0);
	assert_int_equal(model_sync_queue(&model, GPU, HIGH, 0, true, now), 0);
	low = client_of(LOW);
	now += 1000;
	begin(1, 2);
	unmap_all(50);
	map(HIGH, 0, 12);
	now += 500;
	end(1, 550);
	/* both are mapped: the time counts once */
	assert_int_equal(low->any_ns, 1050);
	assert_int_equal(low->mapped_ns, 2100);
	assert_int_equal(low->preempted_ns, 500);
	assert_int_equal(low->last_by, HIGH);
	assert_int_equal(low->last_reason, WORK);
	assert_int_equal(client_of(HIGH)->last_reason, IDLE);
	map(LOW, 0, 7);
	begin(2, 1);
	unmap_all(50);
	assert_true(low->preempted);
	now += 100;
	model_sync_off(&model, now);
	assert_false(low->preempted);
	assert_int_equal(low->live, 0);
	assert_int_equal(low->any_ns, 1100);
	assert_int_equal(low->preempted_ns, 600);
	for (i = 0; i < 1000; i++) {
		create(LOW, 0, 7);
		map(LOW, 0, 7);
		destroy(LOW, 0, 0, 0);
	}
	assert_int_equal(model.nr_queues, 0);
	model_prune(&model, gone, NULL);
	assert_ptr_equal(model.gpus->clients, low);
	assert_null(low->next);
	assert_null(low->by);
	assert_null(model.processes->next);
	create(HIGH, 0, 7);
	model_prune(&model, gone, NULL);
	assert_int_equal(client_of(HIGH)->live, 1);
}

static bool short_lived(void *context, int32_t pid)
{
	(void)context;
	return pid != LOW;
}

/* One that stays is preempted by each of many that come and go; quadratic work would take minutes. */
static void many_processes(void **state)
{
	enum { MANY = 50000 };
	const struct pair *pair;
	struct client *low;
	int i, nr = 0;

	(void)state;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	for (i = 0; i < MANY; i++) {
		int pid = 1000 + i;

		create(pid, 0, 12);
		TELL(EV_PREEMPT_BEGIN, { F_PID, pid }, { F_PRIO, 12 }, { F_SEQ, i }, { F_REASON, WORK },
		     { F_QUEUES, 1 });
		unmap_all(1);
		now += 10;
		TELL(EV_PREEMPT_END, { F_PID, pid }, { F_SEQ, i }, { F_REASON, IDLE }, { F_DUR_NS, 11 });
		map(LOW, 0, 7);
		destroy(pid, 0, 0, 0);
	}
	low = client_of(LOW);
	assert_null(model.gpus->preempted);
	assert_int_equal(low->preemptions, MANY);
	assert_int_equal(low->preempted_ns, 10 * MANY);
	for (pair = low->by; pair; pair = pair->next, nr++) {
		assert_int_equal(pair->count, 1);
		assert_int_equal(pair->ns, 10);
	}
	assert_int_equal(nr, MANY);
	assert_int_equal(client_of(1000)->preempting, 1);
	model_prune(&model, short_lived, NULL);
	assert_ptr_equal(model.gpus->clients, low);
	assert_null(low->next);
	assert_null(low->by);
	assert_null(model.processes->next);
	assert_int_equal(HASH_COUNT(model.process_table), 1);
	assert_int_equal(HASH_COUNT(model.pair_table), 0);
	/* and are others if they come again */
	create(1000, 0, 12);
	assert_int_equal(client_of(1000)->preempting, 0);
	model_end(&model);
}

static void ask(int task)
{
	struct kfd_event event = { .ts = now, .type = EV_IOCTL_CREATE_QUEUE, .task = task };

	event.v[F_PID] = HIGH;
	assert_int_equal(model_event(&model, &event), 0);
}

static void get(int task, unsigned int queue)
{
	struct kfd_event event = { .ts = now, .type = EV_CREATE_QUEUE, .task = task };

	event.v[F_GPU_ID] = GPU;
	event.v[F_PID] = HIGH;
	event.v[F_QUEUE_ID] = queue;
	assert_int_equal(model_event(&model, &event), 0);
}

/* Two threads ask, the first of them twice; a third one's ioctl was not recorded. */
static void asked(void **state)
{
	int task;

	(void)state;
	ask(101);
	now = 1100;
	ask(101);
	now = 1200;
	ask(102);
	now = 1300;
	get(102, 0);
	get(101, 1);
	get(103, 2);
	get(101, 3);
	assert_int_equal(model.queues[0]->asked, 1200);
	assert_int_equal(model.queues[1]->asked, 1100);
	assert_int_equal(model.queues[2]->asked, 0);
	assert_int_equal(model.queues[3]->asked, 0);
	assert_int_equal(model.gpus->hangs, 0);
	/* more than are remembered: the oldest is forgotten */
	for (task = 0; task <= MODEL_MAX_ASKED; task++)
		ask(1000 + task);
	get(1000, 4);
	get(1001, 5);
	assert_int_equal(model.queues[4]->asked, 0);
	assert_int_equal(model.queues[5]->asked, 1300);
	model_end(&model);
}

static void too_many_gpus(void **state)
{
	struct kfd_event event = { .ts = 1, .type = EV_HWS_HANG };

	(void)state;
	for (; event.v[F_GPU_ID] < MODEL_MAX_GPUS; event.v[F_GPU_ID]++)
		assert_int_equal(model_event(&model, &event), 0);
	assert_false(model.too_many_gpus);
	assert_int_not_equal(model_event(&model, &event), 0);
	assert_true(model.too_many_gpus);
	event.v[F_GPU_ID] = 0;
	assert_int_equal(model_event(&model, &event), 0);
}

int run_model_many(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(followed, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(many_processes, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(asked, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(too_many_gpus, story_setup, story_teardown),
	};

	return cmocka_run_group_tests_name("model of many", tests, NULL, NULL);
}
