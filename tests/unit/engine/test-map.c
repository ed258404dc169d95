// SPDX-License-Identifier: GPL-2.0
/* Over-subscription: VMIDs, HQDs, quanta */
#include "fixture.h"

static void test_vmids_rotate_evenly(void **state)
{
	struct tq *q[12];
	u64 lo = ~0ULL, hi = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 12; i++) {
		q[i] = queue(proc(), 1, 0);
		add_n(q[i], MAX_ITEMS, MS);
	}
	eng_advance(&w.e, 0);
	assert_int_equal(eng_used_hqds(&w.e), 8);
	eng_advance(&w.e, 2000 * MS);
	for (i = 0; i < 12; i++) {
		lo = q[i]->q.ran_ns < lo ? q[i]->q.ran_ns : lo;
		hi = q[i]->q.ran_ns > hi ? q[i]->q.ran_ns : hi;
	}
	assert_true(lo > 130 * MS);
	assert_true(hi < 200 * MS);
}

/* A process without work takes its quantum all the same, as far as is known */
static void test_empty_processes_count(void **state)
{
	struct tq *q = queue(proc(), 1, 0);
	u32 i;

	(void)state;
	for (i = 0; i < 11; i++)
		proc();
	add_n(q, MAX_ITEMS, MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 300 * MS);
	assert_true(q->q.ran_ns < 220 * MS);
	assert_true(q->q.ran_ns > 180 * MS);
}

static void test_hqds_rotate(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q[6];
	u32 i;

	(void)state;
	w.e.cfg.hqds = 4;
	for (i = 0; i < 6; i++) {
		q[i] = queue(p, 1, 0);
		add_n(q[i], MAX_ITEMS, 200 * US);
	}
	eng_advance(&w.e, 0);
	assert_int_equal(eng_used_hqds(&w.e), 4);
	for (i = 1; i < 400; i++) {
		eng_advance(&w.e, i * MS);
		assert_true(eng_used_hqds(&w.e) <= 4);
	}
	for (i = 0; i < 6; i++)
		assert_true(q[i]->q.ran_ns > 40 * MS);
}

/* From one event to the next until @end; how long the queue was on, each time */
static u32 on_times(struct tq *q, u64 end, u64 *on, u32 max)
{
	u64 t = w.e.now, began = 0;
	bool was = q->q.state == ENG_Q_ON, is;
	u32 n = 0;

	while (n < max) {
		t = eng_advance(&w.e, t);
		if (t > end)
			break;
		eng_advance(&w.e, t);
		is = q->q.state == ENG_Q_ON;
		if (is && !was)
			began = t;
		if (!is && was && began)
			on[n++] = t - began;
		was = is;
	}
	return n;
}

/* Three queues, one HQD, always work: each time on the HQD is one quantum, not more or less */
static void test_hqd_for_a_quantum(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q[3];
	u64 on[100];
	u32 i, n;

	(void)state;
	w.e.cfg.hqds = 1;
	for (i = 0; i < 3; i++) {
		q[i] = queue(p, 1, 0);
		q[i]->endless = true;
		add_n(q[i], 8, (i + 1) * 700 * US);
	}
	eng_advance(&w.e, 0);
	n = on_times(q[1], 200 * MS, on, 100);
	/* 3 ms and three times 20 us to save, 30 us to restore */
	assert_in_range(n, 62, 66);
	for (i = 0; i < n; i++)
		assert_int_equal(on[i], MS);
}

/* 32 queues, 24 HQDs: eight go every quantum, so each stays for three, and is off for one */
static void test_no_more_leave_than_wait(void **state)
{
	u64 on[100], t;
	struct tq *q[32];
	u32 i, n, most = 0, off;

	(void)state;
	w.e.cfg.save_ns = w.e.cfg.restore_ns = w.e.cfg.bytes_per_us = 0;
	for (i = 0; i < 32; i++) {
		/* the first has no predecessor, as i is 0 then */
		/* cppcheck-suppress uninitvar */
		q[i] = queue(i % 4 ? q[i - 1]->q.proc : proc(), 1, 0);
		q[i]->endless = true;
		add_n(q[i], 8, 900 * US);
	}
	eng_advance(&w.e, 0);
	for (t = 0; t < 100 * MS; t += 100 * US) {
		eng_advance(&w.e, t);
		for (i = off = 0; i < 32; i++)
			off += q[i]->q.state != ENG_Q_ON;
		most = off > most ? off : most;
	}
	assert_int_equal(most, 8);
	n = on_times(q[5], 300 * MS, on, 100);
	assert_in_range(n, 48, 52);
	for (i = 0; i < n; i++)
		assert_int_equal(on[i], 3 * MS);
}

/* Two processes, one VMID. The quantum counts from the end of the first restore */
static void test_vmid_for_a_quantum(void **state)
{
	struct tq *a, *b;
	u64 on[100];
	u32 i, n;

	(void)state;
	w.e.cfg.vmids = 1;
	a = queue(proc(), 1, 0);
	b = queue(proc(), 1, 0);
	add(a, 5000 * MS)->bytes = 70000;
	add(b, 5000 * MS);
	eng_advance(&w.e, 0);
	n = on_times(a, 1000 * MS, on, 100);
	assert_in_range(n, 48, 50);
	for (i = 0; i < n; i++)
		assert_int_equal(on[i], 10 * MS);
}

/* Nobody waits: quanta do not matter, and whoever comes does not wait for a new one */
static void test_quanta_only_when_needed(void **state)
{
	struct eng_proc *p = proc();
	struct tq *a = queue(p, 1, 0), *b;

	(void)state;
	w.e.cfg.hqds = 1;
	add(a, 100 * MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 50 * MS);
	assert_int_equal(w.e.saves, 0);
	b = queue(p, 1, 0);
	add(b, MS)->avail = 50 * MS;
	eng_advance(&w.e, 50 * MS);
	assert_int_equal(a->q.state, ENG_Q_SAVING);
	eng_advance(&w.e, 60 * MS);
	assert_int_equal(b->item[0].launched, 50 * MS + 20 * US);
}

/* MAP_PROCESS without MAP_QUEUES: what amdkfd writes for a process whose queues it has evicted */
static void test_evicted_processes_take_a_vmid(void **state)
{
	struct eng_proc *p[9];
	struct tq *q;
	u64 t, on = 0;
	u32 i;

	(void)state;
	w.e.cfg.vmids = 1;
	for (i = 0; i < 4; i++)
		p[i] = proc();
	q = queue(p[3], 1, 0);
	add(q, 5000 * MS);
	for (t = 0; t < 1000 * MS; t += 10 * US) {
		eng_advance(&w.e, t);
		on += p[0]->vmid >= 0;
	}
	/* a quarter of the time each; only the one with work is ever saved */
	assert_in_range(on * 10 * US, 245 * MS, 255 * MS);
	assert_in_range(q->q.ran_ns, 245 * MS, 255 * MS);
	assert_in_range(w.e.saves, 24, 25);
	/* gone from the runlist, they take nothing */
	for (i = 0; i < 3; i++) {
		eng_remove_proc(&w.e, p[i]);
		free(p[i]);
	}
	on = q->q.ran_ns;
	eng_advance(&w.e, t);
	eng_advance(&w.e, t + 100 * MS);
	assert_true(q->q.ran_ns - on >= 100 * MS - 30 * US);
}

static void test_idle_queues_rotate_for_nothing(void **state)
{
	struct eng_proc *p = proc();
	u32 i;

	(void)state;
	w.e.cfg.hqds = 2;
	for (i = 0; i < 5; i++)
		queue(p, 1, 0);
	for (i = 0; i < 100; i++)
		eng_advance(&w.e, i * MS);
	assert_int_equal(w.e.saves, 0);
	assert_int_equal(w.e.save_time_ns, 0);
	assert_int_equal(w.e.dma_free, 0);
}

/* Every limit at 1, and as many slots as there can be */
static void test_limits(void **state)
{
	struct tq *q[4];
	u32 i, t;

	(void)state;
	w.e.cfg.hqds = w.e.cfg.vmids = 1;
	w.e.cfg.slots = 64;
	for (i = 0; i < 4; i++) {
		/* the first has no predecessor, as i is 0 then */
		/* cppcheck-suppress uninitvar */
		q[i] = queue(i % 2 ? q[i - 1]->q.proc : proc(), 1, 0);
		add_n(q[i], 20, MS);
	}
	for (t = 0; t < 300; t++) {
		eng_advance(&w.e, t * 300 * US);
		assert_true(eng_used_hqds(&w.e) <= 1);
		assert_true(eng_used_slots(&w.e) <= ENG_INFLIGHT);
		assert_true((q[0]->q.proc->vmid >= 0) + (q[2]->q.proc->vmid >= 0) <= 1);
	}
	for (i = 0; i < 4; i++)
		assert_int_equal(done(q[i]), 20);
}

/* Returns the number of failures */
int map_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_vmids_rotate_evenly),
		T(test_empty_processes_count),
		T(test_hqds_rotate),
		T(test_hqd_for_a_quantum),
		T(test_no_more_leave_than_wait),
		T(test_vmid_for_a_quantum),
		T(test_quanta_only_when_needed),
		T(test_evicted_processes_take_a_vmid),
		T(test_idle_queues_rotate_for_nothing),
		T(test_limits),
	};

	return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
