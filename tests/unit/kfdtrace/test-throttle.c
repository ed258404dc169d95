// SPDX-License-Identifier: GPL-2.0
/* The model against short stories of processes that groups keep off a GPU. */
#include "fixture.h"
#include "story.h"

enum { MAX = KFD_PRIO_THROTTLE_MAX, WEIGHT = KFD_PRIO_THROTTLE_WEIGHT, MS = 1000000 };

static struct {
	const struct queue *queue;
	uint64_t from, to;
	int64_t reason;
} told[16];

static unsigned int nr_told;

static void note(void *context, const struct queue *queue, enum slice_kind kind, uint64_t from, uint64_t to)
{
	(void)context;
	if (kind != SLICE_THROTTLED)
		return;
	assert_true(nr_told < sizeof(told) / sizeof(*told));
	told[nr_told].queue = queue;
	told[nr_told].from = from;
	told[nr_told].to = to;
	told[nr_told++].reason = queue->client->throttling.reason;
}

static void is_told(unsigned int nr, uint64_t from, uint64_t to, int64_t reason)
{
	assert_true(nr < nr_told);
	assert_int_equal(told[nr].from, from);
	assert_int_equal(told[nr].to, to);
	assert_int_equal(told[nr].reason, reason);
}

static int setup(void **state)
{
	nr_told = 0;
	if (story_setup(state))
		return -1;
	model.slice = note;
	return 0;
}

static void throttle(int pid, int64_t seq, int64_t reason, int64_t share, int64_t cgroup_share)
{
	TELL(EV_THROTTLE_BEGIN, { F_PID, pid }, { F_QUEUES, 1 }, { F_REASON, reason }, { F_SHARE, share },
	     { F_CGROUP_SHARE, cgroup_share }, { F_SEQ, seq });
}

static void throttle_end(int pid, int64_t seq, int64_t reason, int64_t lasted)
{
	TELL(EV_THROTTLE_END, { F_PID, pid }, { F_QUEUES, 1 }, { F_REASON, reason }, { F_THROTTLED_NS, lasted }, { F_SEQ, seq });
}

static void park(int pid, int64_t reason)
{
	TELL(EV_PARK, { F_PID, pid }, { F_QUEUES, 1 }, { F_REASON, reason });
}

static void unpark(int pid, int64_t reason)
{
	TELL(EV_UNPARK, { F_PID, pid }, { F_QUEUES, 1 }, { F_REASON, reason }, { F_WAKE_NS, 0 }, { F_PARKED_NS, 0 });
}

static void sums(int pid, uint64_t count, uint64_t by_max, uint64_t by_weight, uint64_t by_others)
{
	const struct client *client = client_of(pid);

	assert_int_equal(client->throttle_count, count);
	assert_int_equal(client->throttled_by_ns[MAX], by_max);
	assert_int_equal(client->throttled_by_ns[WEIGHT], by_weight);
	assert_int_equal(client->throttled_by_ns[NR_KFD_THROTTLES], by_others);
	assert_int_equal(client->throttled_ns, by_max + by_weight + by_others + client->throttled_by_ns[0]);
}

static void account(const struct throttle *throttle, int64_t reason, int64_t share, int64_t cgroup_share, uint64_t count, uint64_t ns)
{
	assert_non_null(throttle);
	assert_int_equal(throttle->reason, reason);
	assert_int_equal(throttle->share, share);
	assert_int_equal(throttle->cgroup_share, cgroup_share);
	assert_int_equal(throttle->count, count);
	assert_int_equal(throttle->ns, ns);
}

/* Off and back: by the limit, and for the turn of another group; two queues, one of which came meanwhile. */
static void by_both_reasons(void **state)
{
	const struct client *low;

	(void)state;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	now = 2000;
	throttle(LOW, 1, MAX, 4, 0);
	unmap_all(50);			/* 2050 */
	now = 2500;
	create(LOW, 1, 7);
	now = 3000;
	throttle_end(LOW, 1, MAX, 1000);
	/* the reason changes at once */
	throttle(LOW, 2, WEIGHT, 4, 0);
	now = 3400;
	throttle_end(LOW, 2, WEIGHT, 400);
	unmap_all(50);			/* 3450 */
	map(LOW, 0, 7);
	map(LOW, 1, 7);
	now = 4000;
	throttle(LOW, 3, MAX, 4, 0);
	unmap_all(50);			/* 4050 */
	now = 4100;
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	model_end(&model);

	low = client_of(LOW);
	sums(LOW, 3, 1100, 400, 0);
	account(low->throttles, MAX, 4, 0, 2, 1100);
	account(low->throttles->next, WEIGHT, 4, 0, 1, 400);
	assert_null(low->throttles->next->next);
	assert_int_equal(model.gpus->throttles[MAX], 2);
	assert_int_equal(model.gpus->throttles[WEIGHT], 1);
	assert_int_equal(model.queues[0]->throttles, 3);
	assert_int_equal(model.queues[0]->throttled_ns, 950 + 400 + 50);
	assert_int_equal(model.queues[1]->throttles, 3);
	assert_int_equal(model.queues[1]->throttled_ns, 500 + 400 + 50);
	assert_int_equal(model.queues[0]->unmapped_ns, 950 + 450 + 50);
	assert_int_equal(nr_told, 6);
	is_told(0, 2500, 3000, MAX);
	is_told(1, 2050, 3000, MAX);
	is_told(3, 3000, 3400, WEIGHT);
	is_told(5, 4050, 4100, MAX);
	assert_int_equal(low->preemptions, 0);
	assert_int_equal(model.impossible, 0);
}

/* Accounts by reason and groups; a reason without a name has one as well. More than there is room for are in the sums. */
static void reasons_and_groups(void **state)
{
	const struct throttle *at;
	int i, nr = 0;

	(void)state;
	for (i = 0; i < MODEL_MAX_THROTTLES + 10; i++) {
		throttle(LOW, i + 1, 7, 1, i);
		now += 10;
		throttle_end(LOW, i + 1, 7, 10);
	}
	throttle(LOW, 1000, 0xffffffff, 1, 0);
	now += 5;
	throttle_end(LOW, 1000, 0xffffffff, 5);
	throttle(LOW, 1001, 0, 1, 0);
	now += 3;
	throttle_end(LOW, 1001, 0, 3);
	throttle(LOW, 1002, 7, 1, 2);
	now += 1;
	throttle_end(LOW, 1002, 7, 1);
	model_end(&model);
	for (at = client_of(LOW)->throttles; at; at = at->next, nr++)
		account(at, 7, 1, nr, nr == 2 ? 2 : 1, nr == 2 ? 11 : 10);
	assert_int_equal(nr, MODEL_MAX_THROTTLES);
	sums(LOW, MODEL_MAX_THROTTLES + 13, 0, 0, 10 * (MODEL_MAX_THROTTLES + 10) + 5 + 1);
	assert_int_equal(client_of(LOW)->throttled_by_ns[0], 3);
	assert_int_equal(model.gpus->throttles[NR_KFD_THROTTLES], MODEL_MAX_THROTTLES + 12);
}

/* The end was lost: the next begin, a map, a parking or the end of the last queue ends it, and its late end changes nothing. */
static void lost_ends(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	throttle(LOW, 1, MAX, 4, 0);
	now += 100;
	throttle(LOW, 2, MAX, 4, 0);
	now += 100;
	map(LOW, 0, 7);
	sums(LOW, 2, 200, 0, 0);
	now += 10;
	throttle_end(LOW, 2, MAX, 110);
	sums(LOW, 2, 200, 0, 0);
	assert_int_equal(model.impossible, 0);
	throttle(LOW, 3, MAX, 4, 0);
	unmap_all(0);
	now += 100;
	park(LOW, KFD_PRIO_PARK_PREEMPTED);
	throttle_end(LOW, 3, MAX, 100);
	sums(LOW, 3, 300, 0, 0);
	/* it has work again; the event was lost */
	now += 100;
	throttle(LOW, 4, MAX, 4, 0);
	assert_false(client_of(LOW)->parked);
	assert_int_equal(client_of(LOW)->parked_ns, 100);
	now += 100;
	destroy(LOW, 0, 0, 0);
	now += 10;
	throttle_end(LOW, 4, MAX, 110);
	sums(LOW, 4, 400, 0, 0);
	assert_int_equal(model.impossible, 0);
}

/* The begin was lost, or was before the recording: no time is counted twice, and none before the recording. */
static void lost_begins(void **state)
{
	(void)state;
	now = 10000;
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	now = 10500;
	throttle_end(LOW, 1, WEIGHT, 8000);
	sums(LOW, 1, 0, 500, 0);
	account(client_of(LOW)->throttles, WEIGHT, -1, -1, 1, 500);
	/* a queue that is older than that was off, like all queues of the process */
	now = 11000;
	map(LOW, 0, 7);
	assert_int_equal(nr_told, 1);
	is_told(0, 10000, 10500, WEIGHT);
	assert_int_equal(model.queues[0]->throttled_ns, 500);
	unmap_all(0);
	now = 12000;
	throttle_end(LOW, 2, MAX, 400);
	sums(LOW, 2, 400, 500, 0);
	is_told(1, 11600, 12000, MAX);
	now = 12100;
	throttle_end(LOW, 3, MAX, 1000);
	sums(LOW, 3, 500, 500, 0);
	/* both events between the begin of one and the end of another */
	throttle(LOW, 4, MAX, 4, 0);
	now = 13000;
	throttle_end(LOW, 6, WEIGHT, 300);
	sums(LOW, 5, 500 + 600, 500 + 300, 0);
	/* it cannot have begun before the one that the event ends */
	now = 13050;
	throttle(LOW, 7, MAX, 4, 0);
	now = 13100;
	throttle_end(LOW, 8, WEIGHT, 1 << 30);
	sums(LOW, 7, 1100, 800 + 50, 0);
	assert_int_equal(model.impossible, 0);
}

/* What contradicts an earlier event is left out. */
static void impossible(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	throttle(LOW, 5, MAX, 4, 0);
	now += 100;
	throttle(LOW, 5, MAX, 4, 0);
	assert_int_equal(model.impossible, 1);
	throttle_end(LOW, 4, MAX, 50);
	assert_int_equal(model.impossible, 2);
	throttle_end(LOW, 5, MAX, 1LL << 40);
	assert_int_equal(model.impossible, 3);
	assert_true(client_of(LOW)->throttled);
	throttle_end(LOW, 5, MAX, 100);
	sums(LOW, 1, 100, 0, 0);
	now += 100;
	throttle_end(LOW, 5, MAX, 200);
	assert_int_equal(model.impossible, 4);
	sums(LOW, 1, 100, 0, 0);
	/* numbers wrap around */
	throttle(LOW, 0xffffffff, MAX, 4, 0);
	now += 50;
	throttle_end(LOW, 0, MAX, 20);
	sums(LOW, 3, 150, 0, 0);
	assert_int_equal(model.impossible, 4);
	assert_int_equal(model.gpus->throttles[MAX], 2);
}

/* The first number is 1, but a driver that has counted to its end goes on with 0. */
static void number_0(void **state)
{
	(void)state;
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	now += 100;
	throttle_end(LOW, 0, MAX, 30);
	sums(LOW, 1, 30, 0, 0);
	assert_int_equal(model.impossible, 0);
}

/* One process on two GPUs, and two on one: each has numbers of its own. */
static void two_gpus(void **state)
{
	struct kfd_event event = { .type = EV_THROTTLE_BEGIN };

	(void)state;
	throttle(LOW, 1, MAX, 4, 0);
	event.ts = now;
	event.v[F_GPU_ID] = GPU + 1;
	event.v[F_PID] = LOW;
	event.v[F_SEQ] = 1;
	event.v[F_REASON] = WEIGHT;
	assert_int_equal(model_event(&model, &event), 0);
	throttle(HIGH, 2, WEIGHT, 5, 0);
	now += 100;
	throttle_end(LOW, 1, MAX, 100);
	now += 100;
	throttle_end(HIGH, 2, WEIGHT, 200);
	model_end(&model);
	sums(LOW, 1, 100, 0, 0);
	sums(HIGH, 1, 0, 200, 0);
	assert_int_equal(model.gpus->next->clients->throttled_by_ns[WEIGHT], 200);
	assert_int_equal(model.gpus->next->throttles[WEIGHT], 1);
	assert_int_equal(model.gpus->throttles[MAX], 1);
	assert_int_equal(model.impossible, 0);
}

/* A process that a group keeps off is no victim of a preemption that goes on; without the group it is. */
static void below_a_level(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	create(LOW + 1, 0, 7);
	map(LOW + 1, 0, 7);
	now += 10 * MS;
	throttle(LOW, 1, MAX, 4, 0);
	begin(1, 2);
	unmap_all(0);
	now += 10 * MS;
	assert_int_equal(client_of(LOW)->preemptions, 0);
	assert_int_equal(client_of(LOW + 1)->preemptions, 1);
	throttle_end(LOW, 1, MAX, 10 * MS);
	assert_true(client_of(LOW)->preempted);
	now += 5 * MS;
	throttle(LOW, 2, MAX, 4, 0);
	assert_false(client_of(LOW)->preempted);
	now += 5 * MS;
	end(1, 20 * MS);
	model_end(&model);
	sums(LOW, 2, 15 * MS, 0, 0);
	assert_int_equal(client_of(LOW)->preempted_ns, 5 * MS);
	assert_int_equal(client_of(LOW)->by->ns, 5 * MS);
	assert_int_equal(client_of(LOW + 1)->preempted_ns, 20 * MS);
}

/* A level that comes while a process waits for a turn: its events are in this order, and it is a victim from then on. */
static void level_after_a_turn(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	now += 10 * MS;
	throttle(LOW, 1, WEIGHT, 4, 0);
	unmap_all(0);
	now += 10 * MS;
	throttle_end(LOW, 1, WEIGHT, 10 * MS);
	now += 10;
	begin(1, 1);
	unmap_all(0);
	now += 5 * MS;
	assert_true(client_of(LOW)->preempted);
	end(1, 5 * MS);
	/* it is back; and when it was throttled no more before the step, a later preemption is another one */
	map(LOW, 0, 7);
	throttle(LOW, 2, WEIGHT, 4, 0);
	unmap_all(0);
	throttle_end(LOW, 2, WEIGHT, 0);
	unmap_all(0);
	begin(2, 0);
	now += 5 * MS;
	end(2, 5 * MS);
	model_end(&model);
	assert_int_equal(client_of(LOW)->preemptions, 1);
	assert_int_equal(client_of(LOW)->preempted_ns, 5 * MS);
	assert_int_equal(client_of(LOW)->by->count, 1);
}

/* A parked process rings below a level while its group keeps it off: it is throttled, and not preempted for a moment. */
static void rings_while_closed(void **state)
{
	(void)state;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	now += 10 * MS;
	park(LOW, KFD_PRIO_PARK_CROWDED);
	unmap_all(0);
	begin(1, 0);
	now += 10 * MS;
	unpark(LOW, KFD_PRIO_UNPARK_PREEMPT);
	now += 10;
	throttle(LOW, 1, MAX, 4, 0);
	now += 10 * MS;
	/* no work any more */
	park(LOW, KFD_PRIO_PARK_PREEMPTED);
	throttle_end(LOW, 1, MAX, 10 * MS);
	now += 10 * MS;
	TELL(EV_HWS_HANG, { F_QUEUES, 1 });
	model_end(&model);
	sums(LOW, 1, 10 * MS, 0, 0);
	assert_int_equal(client_of(LOW)->preemptions, 0);
	assert_int_equal(client_of(LOW)->preempted_ns, 0);
	assert_int_equal(model.queues[0]->preemptions, 0);
	assert_int_equal(client_of(LOW)->parks, 2);
	assert_int_equal(client_of(LOW)->parked_ns, 20 * MS);
}

/* The state at the begin has no reason: it is that of the end, or not known. */
static void throttled_at_the_begin(void **state)
{
	const struct model_state throttled = { .prio = NO_PRIO, .throttled = true };
	const struct throttle *at;

	(void)state;
	model_state_begin(&model, 1000);
	assert_int_equal(model_state_process(&model, GPU, LOW, &throttled, true), 0);
	assert_int_equal(model_state_process(&model, GPU, HIGH, &throttled, true), 0);
	assert_int_equal(model_state_process(&model, GPU, LOW + 1, &throttled, true), 0);
	assert_int_equal(model_state_queue(&model, GPU, LOW, 0, 0, QUEUE_OFF, false), 0);
	now = 1500;
	throttle_end(LOW, 77, MAX, 100000);
	now = 1600;
	/* the list was read a moment after this event */
	throttle(LOW + 1, 78, WEIGHT, 4, 0);
	now = 2000;
	model.last = now;
	model_end(&model);
	sums(LOW, 1, 500, 0, 0);
	sums(HIGH, 1, 0, 0, 1000);
	sums(LOW + 1, 1, 0, 400, 0);
	for (at = client_of(LOW)->throttles; at && !at->count;)
		at = at->next;
	account(at, MAX, -1, -1, 1, 500);
	account(client_of(HIGH)->throttles, -1, -1, -1, 1, 1000);
	is_told(0, 1000, 1500, MAX);
	assert_int_equal(model.impossible, 0);
}

static bool gone(void *context, int32_t pid)
{
	(void)context;
	return pid == LOW;
}

/* As kfdtrace live does: what the list shows, and events that are missing. */
static void followed(void **state)
{
	const struct model_state throttled = { .prio = 7, .throttled = true };

	(void)state;
	create(LOW, 0, 7);
	map(LOW, 0, 7);
	begin(1, 1);
	now += 10 * MS;
	throttle(LOW, 1, MAX, 4, 0);
	unmap_all(0);
	now += 100;
	model_sync_off(&model, now);
	sums(LOW, 1, 100, 0, 0);
	begin(2, 1);
	assert_int_equal(model_sync_process(&model, GPU, LOW, &throttled, now), 0);
	assert_int_equal(model_sync_queue(&model, GPU, LOW, 0, true, now), 0);
	assert_int_equal(model_sync_queue(&model, GPU, LOW, 0, false, now), 0);
	assert_true(client_of(LOW)->throttled);
	assert_false(client_of(LOW)->preempted);
	now += 50;
	throttle_end(LOW, 1, MAX, 150);
	sums(LOW, 2, 150, 0, 0);
	assert_int_equal(model.impossible, 0);
	/* the process is in the list of those that may be preempted, and is taken out with it */
	end(2, 50);
	throttle(LOW, 2, MAX, 4, 0);
	throttle_end(LOW, 2, MAX, 0);
	destroy(LOW, 0, 0, 0);
	model_prune(&model, gone, NULL);
	begin(3, 1);
	assert_int_equal(model.gpus->clients->process->pid, HIGH);
	assert_null(model.gpus->clients->next);
	/* after missing events any number may come */
	throttle(HIGH, 9, MAX, 4, 0);
	model_sync_off(&model, now);
	now += 10;
	throttle_end(HIGH, 9, MAX, 10);
	sums(HIGH, 2, 10, 0, 0);
	assert_int_equal(model.impossible, 0);
}

int run_throttle(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_both_reasons, setup, story_teardown),
		cmocka_unit_test_setup_teardown(reasons_and_groups, setup, story_teardown),
		cmocka_unit_test_setup_teardown(lost_ends, setup, story_teardown),
		cmocka_unit_test_setup_teardown(lost_begins, setup, story_teardown),
		cmocka_unit_test_setup_teardown(impossible, setup, story_teardown),
		cmocka_unit_test_setup_teardown(number_0, setup, story_teardown),
		cmocka_unit_test_setup_teardown(two_gpus, setup, story_teardown),
		cmocka_unit_test_setup_teardown(below_a_level, setup, story_teardown),
		cmocka_unit_test_setup_teardown(level_after_a_turn, setup, story_teardown),
		cmocka_unit_test_setup_teardown(rings_while_closed, setup, story_teardown),
		cmocka_unit_test_setup_teardown(throttled_at_the_begin, setup, story_teardown),
		cmocka_unit_test_setup_teardown(followed, setup, story_teardown),
	};

	return cmocka_run_group_tests_name("throttle", tests, NULL, NULL);
}
