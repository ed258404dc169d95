// SPDX-License-Identifier: GPL-2.0
/*
 * The MQDs of a process of many queues: how many are read before the DQM lock is dropped, and is each of them read?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define MAX_QUEUES	1024	/* KFD_MAX_NUM_OF_QUEUES_PER_PROCESS */
#define MAX_XCCS	8
#define BOUND		(32 + MAX_XCCS - 1)	/* MQDs in one go: those of the last queue are read together */

static struct device_queue_manager dqm;
static struct kfd_dev dev = { .dqm = &dqm };
static struct qcm_process_device qpd;
static struct queue queue[MAX_QUEUES];
static struct v9_mqd mqd[MAX_QUEUES][MAX_XCCS];
static unsigned int in_one_go, most, drops, read[MAX_QUEUES];

unsigned int xccs;

unsigned int kfd_prio_xccs(struct device_queue_manager *d)
{
	(void)d;
	return xccs;
}

const struct v9_mqd *kfd_prio_mqd(struct queue *q, unsigned int xcc)
{
	return &mqd[q - queue][xcc];
}

/* The same MQDs are read for the waves and for the indirect buffer: they count once */
bool kfd_prio_compat_saved(struct queue *q)
{
	unsigned int i;

	assert_true(dqm.lock_hidden);
	in_one_go += xccs;
	most = in_one_go > most ? in_one_go : most;
	read[q - queue]++;
	for (i = 0; i < xccs; i++)
		if (mqd[q - queue][i].saved)
			return true;
	return false;
}

struct kfd_prio_sdma_left kfd_prio_sdma_left(struct queue *q)
{
	assert_true(dqm.lock_hidden);
	most = ++in_one_go > most ? in_one_go : most;
	read[q - queue]++;
	return (struct kfd_prio_sdma_left){ .wptr = mqd[q - queue][0].saved };
}

/* Called once, while the lock is free */
static void (*meanwhile)(void);

void dqm_unlock(struct device_queue_manager *d)
{
	void (*f)(void) = meanwhile;

	d->lock_hidden = 0;
	in_one_go = 0;
	drops++;
	meanwhile = NULL;
	if (f)
		f();
}

void dqm_lock(struct device_queue_manager *d)
{
	d->lock_hidden = 1;
}

/* A process with @n queues that was just taken off */
static void begin(unsigned int n, unsigned int of_xccs)
{
	unsigned int i;

	xccs = of_xccs;
	memset(queue, 0, sizeof(queue));
	memset(mqd, 0, sizeof(mqd));
	memset(read, 0, sizeof(read));
	in_one_go = 0;
	most = 0;
	drops = 0;
	meanwhile = NULL;
	dqm = (struct device_queue_manager){ .lock_hidden = 1 };
	qpd = (struct qcm_process_device){ .dqm = &dqm, .queues_list = queue,
					   .prio = { .preempted = true, .marked_count = 1 } };
	for (i = 0; i < n; i++) {
		queue[i].next = i + 1 < n ? &queue[i + 1] : NULL;
		queue[i].prio.off = true;
		queue[i].device = &dev;
		queue[i].mqd = mqd[i];
	}
}

static void assert_each_read(unsigned int n, unsigned int times)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		assert_int_equal(read[i], times);
}

/* Whatever the number of queues, of XCCs and of kinds, the lock is dropped in time */
static void bounded(void **unused)
{
	static const unsigned int n[] = { 1, 31, 32, 33, 250, MAX_QUEUES };
	unsigned int i, x, k;

	(void)unused;
	for (x = 1; x <= MAX_XCCS; x++) {
		for (i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
			begin(n[i], x);
			for (k = 0; k < n[i]; k += 3)
				queue[k].properties.type = 1;
			assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_NONE);
			assert_in_range(most, 1, BOUND);
			assert_each_read(n[i], 1);
			/* no MQD is read a second time */
			drops = 0;
			assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_NONE);
			assert_each_read(n[i], 1);
			assert_int_equal(drops, 0);
		}
	}
}

/* Work of any one queue is found, and not forgotten */
static void found(void **unused)
{
	unsigned int i;

	(void)unused;
	for (i = 0; i < MAX_QUEUES; i++) {
		begin(MAX_QUEUES, MAX_XCCS);
		if (i % 3 == 0)
			mqd[i][i % MAX_XCCS].saved = true;
		else if (i % 3 == 1)
			mqd[i][i % MAX_XCCS].cp_hqd_ib_control = BIT(31);
		else
			queue[i].properties.type = mqd[i][0].saved = 1;
		assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_WORK);
		in_one_go = 0;
		assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_WORK);
		assert_in_range(most, 1, BOUND);
		/* a queue that preemption does not put back */
		queue[i].prio.off = false;
		assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_NONE);
	}
}

static void kick(void)
{
	dqm.prio.kicked.v = 1;
}

/* A kick goes first, and what was read before it is not read again: however many kicks come there is an end */
static void kicked(void **unused)
{
	unsigned int calls = 0;
	enum kfd_prio_shown r;

	(void)unused;
	begin(MAX_QUEUES, 1);
	do {
		dqm.prio.kicked.v = 0;
		drops = 0;
		meanwhile = kick;
		r = kfd_prio_shows_work(&qpd);
		assert_in_range(drops, 0, 1);
		calls++;
	} while (r == KFD_PRIO_SHOWN_PART);
	assert_int_equal(r, KFD_PRIO_SHOWN_NONE);
	assert_int_equal(calls, MAX_QUEUES / 32);
	assert_each_read(MAX_QUEUES, 1);
}

static void put_back(void)
{
	unsigned int i;

	qpd.prio.preempted = false;
	for (i = 0; i < MAX_QUEUES; i++)
		queue[i].prio.off = false;
}

/* It runs, and is taken off with saved waves of a queue that was read before */
static void taken_again(void)
{
	qpd.prio.marked_count++;
	mqd[0][0].saved = true;
}

static void changes(void **unused)
{
	(void)unused;
	begin(MAX_QUEUES, 1);
	meanwhile = put_back;
	assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_NONE);
	assert_int_equal(read[MAX_QUEUES - 1], 0);

	begin(MAX_QUEUES, 1);
	meanwhile = taken_again;
	assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_WORK);
	mqd[0][0].saved = false;
	assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_NONE);
	assert_int_equal(read[1], 2);

	/* a process that is on the GPU has its MQDs read never */
	begin(MAX_QUEUES, 1);
	qpd.prio.preempted = false;
	mqd[0][0].saved = true;
	assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_NONE);
	assert_each_read(MAX_QUEUES, 0);
}

/* An unmap that is not confirmed: CP still has to write the MQDs, and what they show is no answer */
static void unconfirmed(void **unused)
{
	(void)unused;
	begin(MAX_QUEUES, 1);
	dqm.prio.state = KFD_PRIO_STATE_LEFT;
	assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_PART);
	assert_each_read(MAX_QUEUES, 0);
	dqm.prio.state = KFD_PRIO_STATE_COMMITTED;
	mqd[0][0].saved = true;
	assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_WORK);

	begin(MAX_QUEUES, 1);
	qpd.prio.preempted = false;
	dqm.prio.state = KFD_PRIO_STATE_LEFT;
	assert_int_equal(kfd_prio_shows_work(&qpd), KFD_PRIO_SHOWN_NONE);
	dqm.prio.state = KFD_PRIO_STATE_COMMITTED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounded),
		cmocka_unit_test(found),
		cmocka_unit_test(kicked),
		cmocka_unit_test(changes),
		cmocka_unit_test(unconfirmed),
	};

	return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
