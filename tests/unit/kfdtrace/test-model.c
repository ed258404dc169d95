// SPDX-License-Identifier: GPL-2.0
/* The model against short stories whose sums are known. */
#include <errno.h>

#include "fixture.h"
#include "story.h"

/* HWS: all go off, those that are no victims come back at once. */
static void preempted_by_runlist(void **state)
{
	struct client *low, *high;

	(void)state;
	create(HIGH, 0, 12);
	create(LOW, 0, 7);
	TELL(EV_SET_PRIORITY, { F_PID, HIGH }, { F_PRIO, 12 });
	now = 2000;
	map(HIGH, 0, 12);
	map(LOW, 0, 7);
	now = 3000;
	TELL(EV_DOORBELL_WAKE, { F_PID, HIGH }, { F_PRIO, 12 });
	now = 3005;
	begin(1, 1);
	unmap_all(45);			/* 3050 */
	map(HIGH, 0, 12);
	now = 4000;
	unmap_all(50);			/* 4050 */
	map(HIGH, 0, 12);
	map(LOW, 0, 7);
	now = 4060;
	end(1, 1055);
	now = 5000;
	destroy(LOW, 0, 0, 0);
	destroy(HIGH, 0, 0, 0);
	model_end(&model);

	low = client_of(LOW);
	high = client_of(HIGH);
	assert_int_equal(low->preemptions, 1);
	assert_int_equal(low->preempted_ns, 1000);
	assert_int_equal(low->mapped_ns, 1050 + 950);
	assert_int_equal(low->by->pid, HIGH);
	assert_int_equal(low->by->count, 1);
	assert_int_equal(low->by->ns, 1000);
	assert_int_equal(high->preemptions, 0);
	assert_int_equal(high->preempting, 1);
	assert_int_equal(high->preempting_ns, 1055);
	assert_int_equal(high->mapped_ns, 3000);
	assert_int_equal(model.queues[1]->preempted_ns, 1000);
	assert_int_equal(model.queues[1]->unmapped_ns, 1000 + 1000);
	assert_int_equal(model.gpus->take.max, 45);
	assert_int_equal(model.gpus->wake.max, 50);
	assert_int_equal(model.gpus->preempt.max, 1055);
	assert_int_equal(model.gpus->unmap.count, 2);
	assert_int_equal(model.kept_anomalies, 0);
}

static void before_end(int queues)
{
	TELL(EV_PREEMPT_END, { F_PID, HIGH }, { F_PRIO, 12 }, { F_SEQ, 9 }, { F_REASON, IDLE }, { F_DUR_NS, 80000 },
	     { F_QUEUES, queues }, { F_SAVE_NS, -1 });
}

/* A flight recording begins in the middle of a preemption, of 80000 ns. */
static void before_the_recording(int queues)
{
	now = 10000;
	unmap_all(50);
	map(HIGH, 0, 12);
	now = 30000;
	unmap_all(50);			/* 30050 */
	map(HIGH, 0, 12);
	map(LOW, 0, 7);
	now = 30060;
	map(LOW, 1, 7);
	now = 30070;
	before_end(queues);
	now = 40000;
	unmap_all(50);
	model_end(&model);
}

static void preempted_before_the_recording(void **state)
{
	struct client *low, *high;

	(void)state;
	before_the_recording(2);
	low = client_of(LOW);
	high = client_of(HIGH);
	/* sums fit the recording, which begins at 10000 */
	assert_int_equal(high->preempting, 1);
	assert_int_equal(high->preempting_ns, 20070);
	assert_int_equal(low->preemptions, 1);
	assert_int_equal(low->preempted_ns, 20050);
	assert_int_equal(low->by->pid, HIGH);
	assert_int_equal(low->by->count, 1);
	assert_int_equal(low->by->ns, 20050);
	assert_int_equal(model.queues[2]->preempted_ns, 20060);
	assert_int_equal(model.queues[0]->preempted_ns, 0);
	/* what the driver measured is not cut */
	assert_int_equal(model.gpus->preempt.max, 80000);
	assert_int_equal(model.gpus->begins[WORK], 0);
	assert_int_equal(model.gpus->ends[IDLE], 1);
}

/* Its begin is the first event of the recording, a moment after the driver took the time. */
static void preempted_from_the_first_event(void **state)
{
	(void)state;
	now = 10000;
	begin(9, 1);
	unmap_all(50);
	map(HIGH, 0, 12);
	now = 30000;
	end(9, 20010);
	begin(10, 1);
	now = 40000;
	end(10, 9990);
	model_end(&model);
	assert_int_equal(client_of(HIGH)->preempting, 2);
	assert_int_equal(client_of(HIGH)->preempting_ns, 20000 + 9990);
	assert_int_equal(model.gpus->begins[WORK], 2);
	assert_int_equal(model.gpus->ends[IDLE], 2);
}

/* An unmap and a preemption that lasted longer than since their begin: they are left out. */
static void too_long(void **state)
{
	(void)state;
	now = 1000000000;
	TELL(EV_UNMAP_QUEUES, { F_PID, -1 }, { F_QUEUE_ID, 0xffffffff }, { F_FILTER, DYNAMIC });
	now += 1000000000;
	TELL(EV_UNMAP_QUEUES_DONE, { F_DUR_NS, 1LL << 40 });
	assert_int_equal(model.impossible, 1);
	assert_int_equal(model.gpus->unmap.count, 0);
	/* the driver takes the time a moment before the event */
	TELL(EV_UNMAP_QUEUES_DONE, { F_DUR_NS, 1000050000 });
	assert_int_equal(model.gpus->unmap.max, 1000050000);
	begin(3, 1);
	now += 1000;
	end(3, 1LL << 40);
	assert_int_equal(model.impossible, 2);
	assert_int_equal(model.gpus->preempt.count, 0);
	end(3, 1000);
	assert_int_equal(model.gpus->preempt.count, 1);
	assert_int_equal(model.impossible, 2);
}

/* The victims are not those that are mapped again: nothing is said of them. */
static void preempted_before_by_others(void **state)
{
	(void)state;
	before_the_recording(3);
	assert_int_equal(client_of(HIGH)->preempting_ns, 20070);
	assert_int_equal(client_of(LOW)->preemptions, 0);
	assert_int_equal(client_of(LOW)->preempted_ns, 0);
	assert_null(client_of(LOW)->by);
}

/* MES: the victims' queues go one by one. */
static void preempted_one_by_one(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	create(LOW, 1, 7);
	map(LOW, 0, 7);
	map(LOW, 1, 7);
	now = 2000;
	begin(1, 2);
	unmap_one(LOW, 0, 10);		/* 2010 */
	unmap_one(LOW, 1, 10);		/* 2020 */
	now = 3000;
	map(LOW, 0, 7);
	map(LOW, 1, 7);
	end(1, 1000);
	model_end(&model);
	assert_int_equal(client_of(LOW)->preemptions, 1);
	assert_int_equal(client_of(LOW)->preempted_ns, 990);
	assert_int_equal(model.queues[0]->preempted_ns, 990);
	assert_int_equal(model.queues[1]->preempted_ns, 980);
	assert_int_equal(model.gpus->take.count, 1);
	assert_int_equal(model.gpus->take.max, 20);
	assert_int_equal(model.kept_anomalies, 0);
	assert_int_equal(model.under_way.queues, 2);
}

/* A begin comes before the end of the one that it takes over from. */
static void taken_over(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	now = 2000;
	begin(1, 1);
	unmap_all(0);
	now = 3000;
	TELL(EV_PREEMPT_BEGIN, { F_PID, 101 }, { F_PRIO, 13 }, { F_SEQ, 2 }, { F_REASON, WORK });
	end(1, 1000);
	now = 4000;
	map(LOW, 0, 7);
	TELL(EV_PREEMPT_END, { F_PID, 101 }, { F_SEQ, 2 }, { F_REASON, IDLE }, { F_DUR_NS, 1000 });
	model_end(&model);
	assert_int_equal(client_of(LOW)->preemptions, 1);
	assert_int_equal(client_of(LOW)->preempted_ns, 2000);
	assert_int_equal(client_of(LOW)->by->pid, 101);
	assert_int_equal(client_of(LOW)->by->ns, 1000);
	assert_int_equal(client_of(LOW)->by->next->pid, HIGH);
	assert_int_equal(client_of(LOW)->by->next->ns, 1000);
	assert_int_equal(model.under_way.preemptions, 0);
}

/* An unset priority counts as that of the highest queue; equal is no victim. */
static void who_is_a_victim(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	create(LOW, 1, 12);
	map(LOW, 0, 7);
	map(LOW, 1, 12);
	begin(1, 1);
	unmap_all(5);
	model_end(&model);
	assert_int_equal(client_of(LOW)->preemptions, 0);
	assert_int_equal(model.nr_anomalies[ANOMALY_PREEMPT_OPEN], 0);
	assert_int_equal(model.under_way.preemptions, 1);
}

/* Each victim has its own account of the one that preempts all. */
static void two_victims(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	create(LOW + 1, 0, 7);
	map(LOW, 0, 7);
	map(LOW + 1, 0, 7);
	begin(1, 2);
	unmap_all(5);
	now += 100;
	map(LOW, 0, 7);
	now += 100;
	map(LOW + 1, 0, 7);
	end(1, 205);
	model_end(&model);
	assert_int_equal(client_of(LOW)->by->count, 1);
	assert_int_equal(client_of(LOW)->by->ns, 100);
	assert_null(client_of(LOW)->by->next);
	assert_int_equal(client_of(LOW + 1)->by->count, 1);
	assert_int_equal(client_of(LOW + 1)->by->ns, 200);
}

/* A process is preempted on one GPU and not on the other. */
static void two_gpus(void **state)
{
	struct kfd_event event = { .ts = now, .type = EV_MAP_QUEUE };
	const struct gpu *other;

	(void)state;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	event.v[F_GPU_ID] = GPU + 1;
	event.v[F_PID] = LOW;
	event.v[F_QUEUE_ID] = 1;
	event.v[F_PRIO] = 7;
	assert_int_equal(model_event(&model, &event), 0);
	begin(1, 1);
	unmap_all(5);
	now += 100;
	model_end(&model);
	other = model.gpus->next;
	assert_int_equal(client_of(LOW)->mapped_ns, 5);
	assert_int_equal(client_of(LOW)->preemptions, 1);
	assert_int_equal(other->gpu_id, GPU + 1);
	assert_ptr_equal(other->clients->process, client_of(LOW)->process);
	assert_int_equal(other->clients->preemptions, 0);
	assert_int_equal(other->clients->live, 1);
	assert_int_equal(other->clients->mapped_ns, 5);
}

static void anomalies(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	unmap_all(101);
	TELL(EV_UNMAP_QUEUES_DONE, { F_DUR_NS, 5 }, { F_RET, -ETIME });
	TELL(EV_MAP_QUEUES, { F_RET, -ENOMEM });
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	create(LOW, 1, 7);
	destroy(LOW, 1, 2, -ENOMEM);
	destroy(LOW, 0, 0, -EINTR);
	TELL(EV_UNMAP_QUEUES, { F_FILTER, DYNAMIC });
	TELL(EV_EVICT_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 1 });
	now += 50;
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	model_end(&model);
	assert_int_equal(model.nr_anomalies[ANOMALY_SLOW_UNMAP], 1);
	assert_int_equal(model.nr_anomalies[ANOMALY_UNMAP_FAILED], 1);
	assert_int_equal(model.nr_anomalies[ANOMALY_MAP_FAILED], 1);
	assert_int_equal(model.nr_anomalies[ANOMALY_HANG], 2);
	assert_int_equal(model.nr_anomalies[ANOMALY_CREATE_FAILED], 1);
	assert_int_equal(model.nr_anomalies[ANOMALY_DESTROY_FAILED], 2);
	/* what has not ended with the recording is none */
	assert_int_equal(model.nr_anomalies[ANOMALY_UNMAP_OPEN], 0);
	assert_int_equal(model.nr_anomalies[ANOMALY_EVICT_OPEN], 0);
	assert_int_equal(model.nr_anomalies[ANOMALY_NOT_DESTROYED], 0);
	assert_int_equal(model.under_way.unmaps, 1);
	assert_int_equal(model.under_way.evictions, 1);
	/* the one whose destruction was interrupted */
	assert_int_equal(model.under_way.queues, 1);
	assert_int_equal(client_of(LOW)->evicted_ns, 50);
}

/* A program of ROCm is evicted as it exits, and nothing restores it: that ends with its last queue. */
static void evicted_at_exit(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	create(LOW, 1, 7);
	now = 2000;
	TELL(EV_EVICT_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 1 }, { F_QUEUES, 2 });
	now = 2030;
	destroy(LOW, 1, 1, 0);
	now = 2050;
	destroy(LOW, 0, 1, 0);
	/* one without queues: its GPU has nothing of it that could be off */
	TELL(EV_EVICT_PROCESS, { F_PID, HIGH }, { F_PRIO, -1 }, { F_EVICTED, 1 }, { F_QUEUES, 0 });
	now = 20000;
	TELL(EV_SET_PRIORITY, { F_PID, HIGH }, { F_PRIO, 12 });
	model_end(&model);
	assert_int_equal(client_of(LOW)->evictions, 1);
	assert_int_equal(client_of(LOW)->evicted_ns, 50);
	assert_int_equal(client_of(HIGH)->evictions, 1);
	assert_int_equal(client_of(HIGH)->evicted_ns, 0);
	assert_int_equal(model.kept_anomalies, 0);
}

/* Still there when the recording ends: queues that were made in it, and those that only the event counts. */
static void evicted_at_the_end(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	now = 2000;
	TELL(EV_EVICT_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 1 }, { F_QUEUES, 1 });
	TELL(EV_EVICT_PROCESS, { F_PID, HIGH }, { F_PRIO, -1 }, { F_EVICTED, 1 }, { F_QUEUES, 3 });
	/* the PID of a process that ended evicted is used again */
	create(300, 0, 7);
	TELL(EV_EVICT_PROCESS, { F_PID, 300 }, { F_PRIO, -1 }, { F_EVICTED, 1 }, { F_QUEUES, 1 });
	destroy(300, 0, 1, 0);
	create(300, 0, 7);
	now = 2100;
	destroy(300, 0, 1, 0);
	model_end(&model);
	assert_int_equal(client_of(LOW)->evicted_ns, 100);
	assert_int_equal(client_of(HIGH)->evicted_ns, 100);
	assert_int_equal(client_of(300)->evicted_ns, 0);
	assert_int_equal(model.under_way.evictions, 2);
}

struct told {
	int kind;
	unsigned int queue;
	uint64_t from, to;
};

static struct told told[16];
static unsigned int nr_told;

static void note(void *context, const struct queue *queue, enum slice_kind kind, uint64_t from,
		 uint64_t to)
{
	assert_ptr_equal(context, told);
	assert_true(nr_told < 16);
	told[nr_told++] = (struct told){ kind, queue->queue_id, from, to };
}

/* What is told of a queue that was there before, and of one that is born while its process is evicted. */
static void slices(void **state)
{
	static const struct told want[] = {
		{ SLICE_MAPPED, 0, 1000, 1015 },   { SLICE_EVICTED, 1, 1020, 1030 },
		{ SLICE_EVICTED, 0, 1010, 1030 },  { SLICE_MAPPED, 1, 1030, 1050 },
		{ SLICE_ALIVE, 1, 1020, 1050 },	   { SLICE_EVICTED, 0, 1060, 1070 },
		{ SLICE_ALIVE, 0, 1000, 1070 },
	};
	unsigned int i;

	(void)state;
	nr_told = 0;
	model.slice = note;
	model.slice_context = told;
	map(LOW, 0, 7);
	now = 1010;
	TELL(EV_EVICT_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 1 });
	unmap_all(5);
	now = 1020;
	create(LOW, 1, 7);
	now = 1030;
	TELL(EV_RESTORE_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 0 });
	map(LOW, 1, 7);
	now = 1050;
	destroy(LOW, 1, 0, 0);
	now = 1060;
	TELL(EV_EVICT_PROCESS, { F_PID, LOW }, { F_PRIO, -1 }, { F_EVICTED, 1 });
	now = 1070;
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	model_end(&model);
	assert_int_equal(nr_told, sizeof(want) / sizeof(*want));
	for (i = 0; i < nr_told; i++) {
		assert_int_equal(told[i].kind, want[i].kind);
		assert_int_equal(told[i].queue, want[i].queue);
		assert_int_equal(told[i].from, want[i].from);
		assert_int_equal(told[i].to, want[i].to);
	}
}

/* The number of a queue is used again; and only so many that have ended are kept. */
static void many_queues(void **state)
{
	unsigned int i;

	(void)state;
	create(LOW, 1, 7);
	for (i = 0; i < MODEL_MAX_QUEUES + 500; i++) {
		create(LOW, 0, 7);
		map(LOW, 0, 7);
		now += 10;
		destroy(LOW, 0, 0, 0);
	}
	model_end(&model);
	assert_int_equal(model.nr_queues, MODEL_MAX_QUEUES);
	assert_int_equal(model.queues_left_out, 501);
	assert_int_equal(client_of(LOW)->created, MODEL_MAX_QUEUES + 501);
	assert_int_equal(client_of(LOW)->mapped_ns, 10ULL * (MODEL_MAX_QUEUES + 500));
	assert_int_equal(client_of(LOW)->live, 1);
	assert_int_equal(client_of(LOW)->max_live, 2);
	assert_true(model.queues[0]->alive);
}

int run_model(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(too_long, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(preempted_by_runlist, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(preempted_before_the_recording, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(preempted_from_the_first_event, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(preempted_before_by_others, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(preempted_one_by_one, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(taken_over, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(who_is_a_victim, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(two_victims, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(two_gpus, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(anomalies, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(evicted_at_exit, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(evicted_at_the_end, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(slices, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(many_queues, story_setup, story_teardown),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
