// SPDX-License-Identifier: GPL-2.0
/*
 * Shares among equals.
 *
 * What is fair: every process of the runlist has a VMID for the same share of the time; queues
 * of equal priority that always have work, of processes with as many queues each, run for
 * the same time, whatever the length of their dispatches, and so do their processes. It is GPU time
 * that is shared (dispatches of two slots at once count twice), not the number of dispatches.
 */
#include "fixture.h"

static void test_equals_take_turns(void **state)
{
	struct tq *a = queue(proc(), 1, 0), *b = queue(proc(), 1, 0), *c = queue(proc(), 1, 0);

	(void)state;
	add_n(a, 300, 5 * MS);
	add_n(b, 300, 5 * MS);
	add_n(c, 300, 5 * MS);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 900 * MS);
	assert_int_equal(done(a), 60);
	assert_int_equal(done(b), 60);
	assert_int_equal(done(c), 60);
}

static void test_turn_lasts_a_quantum(void **state)
{
	struct tq *a = queue(proc(), 1, 0), *b = queue(proc(), 1, 0);
	u32 i;

	(void)state;
	add_n(a, 100, 100 * US);
	add_n(b, 100, 100 * US);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 100 * MS);
	/* 10 launches of 100 us fill a turn of 1 ms */
	for (i = 1; i < 10; i++)
		assert_int_equal(a->item[i].launched, a->item[0].launched + i * 100 * US);
	assert_true(a->item[10].launched >= a->item[0].launched + 2 * MS);
}

/*
 * Who seldom wants the GPU: a dispatch comes while the first of three queues runs dispatches of
 * 50 ms. By time used it is next; with plain turns it waits for the others of the runlist, too.
 */
static void test_plain_turns(void **state)
{
	struct tq *a, *b, *c, *seldom;
	int plain;

	(void)state;
	teardown(NULL);
	for (plain = 0; plain < 2; plain++) {
		setup(NULL);
		w.e.cfg.plain_turns = plain;
		a = queue(proc(), 1, 0);
		b = queue(proc(), 1, 0);
		c = queue(proc(), 1, 0);
		seldom = queue(proc(), 1, 0);
		add_n(a, 10, 50 * MS);
		add_n(b, 10, 50 * MS);
		add_n(c, 10, 50 * MS);
		eng_advance(&w.e, 0);
		eng_advance(&w.e, 160 * MS);
		add(seldom, MS)->avail = 160 * MS;
		eng_advance(&w.e, 400 * MS);
		assert_int_equal(seldom->item[0].launched, plain ? 300 * MS : 200 * MS);
		if (!plain)
			teardown(NULL);
	}
}

#define PROCS		16
#define PER_PROC	4
#define RUN_MS		3000

struct shares {
	double min, max;	/* relative to the mean */
};

static struct shares shares(const u64 *v, u32 n)
{
	struct shares s = { 1e9, 0 };
	double sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += v[i];
	for (i = 0; i < n; i++) {
		double x = v[i] * n / sum;

		s.min = x < s.min ? x : s.min;
		s.max = x > s.max ? x : s.max;
	}
	return s;
}

static void within_5_percent(const char *what, u32 slots, struct shares s)
{
	print_message("# %u slots, %s: %.3f to %.3f of fair\n", slots, what, s.min, s.max);
	assert_true(s.min > 0.95);
	assert_true(s.max < 1.05);
}

/* 64 queues of 16 processes on 8 VMIDs and 24 HQDs; dispatch lengths repeat in @len */
static void oversubscribed(const char *what, u32 slots, const u64 *len, u32 nlen)
{
	u64 gpu[PROCS * PER_PROC], proc_gpu[PROCS] = {}, vmid[PROCS] = {};
	struct eng_proc *p[PROCS];
	struct tq *q[PROCS * PER_PROC];
	char name[80];
	u32 i, t;

	setup(NULL);
	w.e.cfg.slots = slots;
	for (i = 0; i < PROCS * PER_PROC; i++) {
		if (!(i % PER_PROC))
			p[i / PER_PROC] = proc();
		q[i] = queue(p[i / PER_PROC], 1, 7);
		q[i]->endless = true;
		add_n(q[i], 8, len[i % nlen]);
		q[i]->item[0].bytes = q[i]->item[3].bytes = 30000;
	}
	for (t = 0; t <= RUN_MS; t++) {
		eng_advance(&w.e, t * MS);
		for (i = 0; i < PROCS; i++)
			vmid[i] += p[i]->vmid >= 0;
		assert_true(eng_used_slots(&w.e) <= slots);
		assert_true(eng_used_hqds(&w.e) <= 24);
	}
	for (i = 0; i < PROCS * PER_PROC; i++) {
		gpu[i] = q[i]->q.ran_ns;
		proc_gpu[i / PER_PROC] += gpu[i];
	}
	snprintf(name, sizeof(name), "%s, GPU time of queues", what);
	within_5_percent(name, slots, shares(gpu, PROCS * PER_PROC));
	snprintf(name, sizeof(name), "%s, GPU time of processes", what);
	within_5_percent(name, slots, shares(proc_gpu, PROCS));
	snprintf(name, sizeof(name), "%s, VMID time of processes", what);
	within_5_percent(name, slots, shares(vmid, PROCS));
	teardown(NULL);
}

static void test_shares_oversubscribed(void **state)
{
	static const u64 equal[] = { 500 * US }, more[] = { 3 * MS },
			 unequal[] = { 100 * US, 300 * US, MS, 7 * MS, 100 * MS };
	static const u32 slots[] = { 1, 2, 8 };
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		oversubscribed("0.5 ms", slots[i], equal, 1);
		oversubscribed("3 ms", slots[i], more, 1);
		oversubscribed("0.1 to 100 ms", slots[i], unequal, 5);
	}
	setup(NULL);
}

/* Nobody is unmapped; one process has one queue, one has five */
static void test_shares_by_queue(void **state)
{
	struct eng_proc *p = proc(), *other = proc();
	struct tq *q[6];
	u64 gpu[6];
	u32 i;

	(void)state;
	for (i = 0; i < 6; i++) {
		q[i] = queue(i ? p : other, 1, 7);
		q[i]->endless = true;
		add_n(q[i], 8, (i + 1) * 400 * US);
	}
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 2000 * MS);
	for (i = 0; i < 6; i++)
		gpu[i] = q[i]->q.ran_ns;
	within_5_percent("0.4 to 2.4 ms, one and five queues", 1, shares(gpu, 6));
	assert_int_equal(w.e.saves, 0);
}

/*
 * 64 queues as above with dispatches of 0.2 to 40 ms; one of them begins @at later. It has its
 * share from then on, however the times of the others are spread by then.
 */
static void newcomer(u32 which, u64 at)
{
	static const u64 len[] = { 200 * US, 900 * US, 3 * MS, 40 * MS };
	struct tq *q[PROCS * PER_PROC];
	u64 before[PROCS * PER_PROC], sum = 0;
	struct eng_proc *p = NULL;
	double share;
	u32 i, k;
	u64 t;

	setup(NULL);
	w.e.cfg.bytes_per_us = 1638000;
	for (i = 0; i < PROCS * PER_PROC; i++) {
		if (!(i % PER_PROC))
			p = proc();
		q[i] = queue(p, 1, 7);
		q[i]->endless = true;
		if (i == which)
			continue;
		add_n(q[i], 8, len[i % PER_PROC]);
		for (k = 0; k < 8; k++)
			q[i]->item[k].bytes = 64000000;
	}
	for (t = 0; t < at; t += MS)
		eng_advance(&w.e, t);
	add_n(q[which], 8, len[which % PER_PROC]);
	for (k = 0; k < 8; k++) {
		q[which]->item[k].bytes = 64000000;
		q[which]->item[k].avail = at;
	}
	for (i = 0; i < PROCS * PER_PROC; i++)
		before[i] = q[i]->q.ran_ns;
	for (; t <= at + 4000 * MS; t += MS)
		eng_advance(&w.e, t);
	for (i = 0; i < PROCS * PER_PROC; i++)
		sum += q[i]->q.ran_ns - before[i];
	share = (double)(q[which]->q.ran_ns - before[which]) * PROCS * PER_PROC / sum;
	print_message("# queue %u, begun after %llu ms: %.3f of fair\n", which,
		      (unsigned long long)(at / MS), share);
	assert_true(share > 0.9 && share < 1.1);
	teardown(NULL);
}

static void test_newcomer(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++) {
		newcomer(60 + i, 5 * MS);
		newcomer(60 + i, 300 * MS);
		newcomer(60 + i, 1500 * MS);
	}
	setup(NULL);
}

/* Who had nothing to do for a second has no claim to it */
static void test_idle_time_is_not_made_up(void **state)
{
	struct tq *a = queue(proc(), 1, 0), *b = queue(proc(), 1, 0);
	u64 before;
	u32 i;

	(void)state;
	a->endless = true;
	add_n(a, 8, 500 * US);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 1000 * MS);
	before = a->q.ran_ns;
	add_n(b, 100, 500 * US);
	for (i = 0; i < 100; i++)
		b->item[i].avail = 1000 * MS;
	eng_advance(&w.e, 1000 * MS);
	eng_advance(&w.e, 1020 * MS);
	assert_in_range(b->q.ran_ns, 9 * MS, 11 * MS);
	assert_in_range(a->q.ran_ns - before, 9 * MS, 11 * MS);
}

/* Who was off with work has one, but to no more than ENG_LAG_QUANTA process quanta */
static void test_lag_is_bounded(void **state)
{
	struct eng_proc *p = proc();
	struct tq *a = queue(p, 1, 0), *b = queue(p, 1, 0);
	u64 lag = ENG_LAG_QUANTA * 10 * MS, before;

	(void)state;
	a->endless = b->endless = true;
	add_n(a, 8, 700 * US);
	add_n(b, 8, 700 * US);
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 100 * US);
	/* whichever runs now: a, the first of the runlist */
	eng_unmap_queue(&w.e, &a->q, 100 * US);
	eng_advance(&w.e, 5000 * MS);
	eng_resume_queue(&w.e, &a->q, 5000 * MS);
	before = b->q.ran_ns;
	eng_advance(&w.e, 5000 * MS + lag / 2);
	assert_true(b->q.ran_ns - before < 2 * MS);
	eng_advance(&w.e, 5000 * MS + 2 * lag);
	assert_in_range(b->q.ran_ns - before, lag / 2 - 3 * MS, lag / 2 + 3 * MS);
}

/* Among N equals nobody waits longer than the others can have before it is his turn again */
static void test_no_starvation_among_equals(void **state)
{
	static const u64 len[] = { 50 * US, 200 * US, 900 * US, 3 * MS, 9 * MS };
	const u32 n = 5;
	const u64 bound = n * (9 * MS + MS);
	u64 last[5] = {}, seen[5] = {};
	struct tq *q[5];
	u64 t;
	u32 i;

	(void)state;
	for (i = 0; i < n; i++) {
		q[i] = queue(proc(), 1, 7);
		q[i]->endless = true;
		add_n(q[i], 8, len[i]);
	}
	for (t = 0; t < 2000 * MS; t += 50 * US) {
		eng_advance(&w.e, t);
		for (i = 0; i < n; i++) {
			if (q[i]->q.ran_ns != seen[i])
				last[i] = t;
			seen[i] = q[i]->q.ran_ns;
			assert_true(t - last[i] <= bound);
		}
	}
}

/*
 * One VMID, four HQDs, restores that take longer than a turn: some queue of the first process is being
 * restored all the time. The other one gets its VMID all the same.
 */
static void test_restores_starve_nobody(void **state)
{
	struct eng_proc *p = proc(), *other = proc();
	struct tq *q;
	u64 t, last = 0;
	u32 i;

	(void)state;
	w.e.cfg.slots = w.e.cfg.hqds = 4;
	w.e.cfg.vmids = 1;
	w.e.cfg.process_quantum_ns = MS;
	w.e.cfg.gang_quantum_ns = 100 * US;
	w.e.cfg.save_ns = w.e.cfg.restore_ns = 60 * US;
	for (i = 0; i < 21; i++) {
		q = queue(i ? p : other, 1, 7);
		q->endless = true;
		add_n(q, 8, 100 * MS);
	}
	for (t = 0; t < 200 * MS; t += 10 * US) {
		eng_advance(&w.e, t);
		if (other->vmid >= 0)
			last = t;
		/* a quantum from the first restore, restores under way, all saves */
		assert_true(t - last < MS + (4 + 4 + 4) * 60 * US + 100 * US);
	}
}

/* Returns the number of failures */
int fair_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_equals_take_turns),
		T(test_turn_lasts_a_quantum),
		T(test_plain_turns),
		T(test_shares_oversubscribed),
		T(test_shares_by_queue),
		T(test_newcomer),
		T(test_idle_time_is_not_made_up),
		T(test_lag_is_bounded),
		T(test_no_starvation_among_equals),
		T(test_restores_starve_nobody),
	};

	return cmocka_run_group_tests_name("fair", tests, NULL, NULL);
}
