// SPDX-License-Identifier: GPL-2.0
/* The model against short stories whose sums are known. */
#include <errno.h>
#include <string.h>

#include "fixture.h"
#include "model.h"

enum { GPU = 7, HIGH = 100, LOW = 200 };
enum { DYNAMIC = 2, MES = 0x80, WORK = 1, IDLE = 2 };

static struct model model;
static uint64_t now;

static void tell(enum kfd_event_type type, const int64_t (*fields)[2])
{
	struct kfd_event event = { .ts = now, .type = type };

	event.v[F_GPU_ID] = GPU;
	for (; (*fields)[0] >= 0; fields++)
		event.v[(*fields)[0]] = (*fields)[1];
	assert_int_equal(model_event(&model, &event), 0);
}

#define TELL(type, ...) tell(type, (const int64_t[][2]){ __VA_ARGS__, { -1, 0 } })

static void create(int pid, unsigned int queue, int prio)
{
	TELL(EV_CREATE_QUEUE, { F_PID, pid }, { F_QUEUE_ID, queue }, { F_PRIO, prio },
	     { F_RING_BASE, 0x1000 });
}

static void map(int pid, unsigned int queue, int prio)
{
	TELL(EV_MAP_QUEUE, { F_PID, pid }, { F_QUEUE_ID, queue }, { F_PRIO, prio });
}

static void destroy(int pid, unsigned int queue, int reason, int ret)
{
	TELL(EV_DESTROY_QUEUE, { F_PID, pid }, { F_QUEUE_ID, queue }, { F_PRIO, 7 }, { F_REASON, reason },
	     { F_RET, ret });
}

static void unmap_all(uint64_t took)
{
	TELL(EV_UNMAP_QUEUES, { F_PID, -1 }, { F_QUEUE_ID, 0xffffffff }, { F_FILTER, DYNAMIC });
	now += took;
	TELL(EV_UNMAP_QUEUES_DONE, { F_DUR_NS, took });
}

static void unmap_one(int pid, unsigned int queue, uint64_t took)
{
	TELL(EV_UNMAP_QUEUES, { F_PID, pid }, { F_QUEUE_ID, queue }, { F_FILTER, MES });
	now += took;
	TELL(EV_UNMAP_QUEUES_DONE, { F_DUR_NS, took });
}

static void begin(int seq, int queues)
{
	TELL(EV_PREEMPT_BEGIN, { F_PID, HIGH }, { F_PRIO, 12 }, { F_SEQ, seq }, { F_REASON, WORK },
	     { F_QUEUES, queues });
}

static void end(int seq, int64_t dur)
{
	TELL(EV_PREEMPT_END, { F_PID, HIGH }, { F_PRIO, 12 }, { F_SEQ, seq }, { F_REASON, IDLE },
	     { F_DUR_NS, dur });
}

static struct client *client_of(int pid)
{
	struct client *client;

	for (client = model.gpus->clients; client; client = client->next)
		if (client->process->pid == pid)
			return client;
	fail_msg("no process %d", pid);
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	now = 1000;
	return model_init(&model, 100);
}

static int teardown(void **state)
{
	(void)state;
	model_free(&model);
	return 0;
}

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
	assert_int_equal(model.nr_anomalies[ANOMALY_NOT_DESTROYED], 2);
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
	assert_int_equal(model.nr_anomalies[ANOMALY_PREEMPT_OPEN], 0);
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
	assert_int_equal(model.nr_anomalies[ANOMALY_PREEMPT_OPEN], 1);
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
	assert_int_equal(model.nr_anomalies[ANOMALY_UNMAP_OPEN], 1);
	assert_int_equal(model.nr_anomalies[ANOMALY_EVICT_OPEN], 1);
	/* the one whose destruction was interrupted */
	assert_int_equal(model.nr_anomalies[ANOMALY_NOT_DESTROYED], 1);
	assert_int_equal(client_of(LOW)->evicted_ns, 50);
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
	assert_int_equal(model.process_table.nr, 1);
	assert_int_equal(model.pair_table.nr, 0);
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

int run_model(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(preempted_by_runlist, setup, teardown),
		cmocka_unit_test_setup_teardown(preempted_one_by_one, setup, teardown),
		cmocka_unit_test_setup_teardown(taken_over, setup, teardown),
		cmocka_unit_test_setup_teardown(who_is_a_victim, setup, teardown),
		cmocka_unit_test_setup_teardown(two_victims, setup, teardown),
		cmocka_unit_test_setup_teardown(two_gpus, setup, teardown),
		cmocka_unit_test_setup_teardown(anomalies, setup, teardown),
		cmocka_unit_test_setup_teardown(slices, setup, teardown),
		cmocka_unit_test_setup_teardown(many_queues, setup, teardown),
		cmocka_unit_test_setup_teardown(followed, setup, teardown),
		cmocka_unit_test_setup_teardown(many_processes, setup, teardown),
		cmocka_unit_test_setup_teardown(asked, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_gpus, setup, teardown),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
