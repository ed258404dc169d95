// SPDX-License-Identifier: GPL-2.0
/*
 * What an event of the engine costs: how many queues and processes it looks at. An owner who says which
 * queues have nothing (eng_queue.quiet) must not pay for those, nor for priorities that differ.
 */
#include "fixture.h"

#define PER_PROC	8
#define RUN		(500 * MS)

/**
 * struct cost - of RUN
 * @events: times at which something happened
 * @visits: queues and processes looked at
 * @peeks: questions to the owner
 * @served_ns: GPU time of the competitor
 */
struct cost {
	u64 events, visits, peeks, served_ns;
};

struct load {
	struct eng_queue q;
	u64 ns;
	bool arrivals;
	u32 pending;
};

static u64 peeks;

static bool peek(void *ctx, struct eng_queue *q, u64 t, struct eng_work *work)
{
	struct load *l = (struct load *)q;

	(void)ctx;
	(void)t;
	peeks++;
	q->quiet = !l->ns;
	work->left_ns = l->ns;
	work->live_bytes = 1000000;
	work->slot = true;
	return l->ns;
}

static void launched(void *ctx, struct eng_queue *q, struct eng_work *work, u64 t)
{
	struct load *l = (struct load *)q;

	(void)ctx;
	(void)work;
	(void)t;
	if (l->arrivals && !--l->pending)
		l->ns = 0;
}

static void nothing(void *ctx, struct eng_queue *q, struct eng_work *work, u64 t)
{
	(void)ctx;
	(void)q;
	(void)work;
	(void)t;
}

static bool ready(void *ctx, struct eng_queue *q)
{
	(void)ctx;
	return ((struct load *)q)->ns;
}

static const struct eng_ops ops = { peek, launched, nothing, ready };

static struct load *load(struct eng_proc *p, u32 prio, u32 level, u64 ns)
{
	struct load *l = calloc(1, sizeof(*l));

	l->ns = ns;
	l->q.pipe_prio = prio;
	l->q.level = level;
	eng_add_queue(&w.e, p, &l->q);
	return l;
}

/*
 * One queue that always has a dispatch of @ns, beside @n others, of which the first @busy always have one
 * of 1 ms and the others nothing
 */
static struct cost run(u32 n, u32 busy, u64 ns, u32 prio, u32 others, u32 level)
{
	u64 next, now = 0, events, visits;
	struct eng_proc *p = NULL;
	struct load *l;
	struct cost c;
	u32 i;

	teardown(NULL);
	setup(NULL);
	w.e.ops = &ops;
	l = load(proc(), prio, level, ns);
	for (i = 0; i < n; i++) {
		if (i % PER_PROC == 0)
			p = proc();
		load(p, others, level, i < busy ? 1 * MS : 0);
	}
	eng_advance(&w.e, 0);
	peeks = 0;
	events = w.e.events;
	visits = w.e.visits;
	/* as hws.c does: at each event, and every 50 us for the doorbells */
	while (now < RUN) {
		next = eng_advance(&w.e, now);
		now = next < now + 50 * US ? next : now + 50 * US;
	}
	c = (struct cost){ .events = w.e.events - events, .visits = w.e.visits - visits,
			   .peeks = peeks, .served_ns = l->q.ran_ns };
	print_message("# %u queues beside, %u with work, dispatches of %llu us, priority %u and %u, level %u: %llu events, %.1f queues and %.1f questions each\n",
		      n, busy, (unsigned long long)(ns / US), prio, others, level,
		      (unsigned long long)c.events, (double)c.visits / c.events,
		      (double)c.peeks / c.events);
	return c;
}

/* An event costs what it costs with one queue, however many others have nothing to do */
static void test_idle_queues(void **state)
{
	static const u32 priority[][2] = { { 1, 1 }, { 2, 1 }, { 1, 2 } };
	struct cost alone, beside;
	u32 i, level;

	(void)state;
	for (level = 0; level <= 1; level++)
		for (i = 0; i < 3; i++) {
			alone = run(0, 0, 20 * US, priority[i][0], priority[i][1], level);
			/* all have their VMIDs and HQDs: nothing else happens */
			w.e.cfg.hqds = 5000;
			beside = run(23, 0, 20 * US, priority[i][0], priority[i][1], level);
			assert_int_equal(beside.events, alone.events);
			assert_true(beside.visits <= alone.visits + 100);
			assert_int_equal(beside.peeks, alone.peeks);
		}
}

/* Over-subscribed: a quantum that ends costs more, but for that nothing does */
static void test_oversubscribed(void **state)
{
	static const u32 priority[][2] = { { 1, 1 }, { 2, 1 }, { 1, 2 } };
	static const u32 n[] = { 72, 500 };
	struct cost c;
	u32 i, k, level;

	(void)state;
	for (level = 0; level <= 1; level++)
		for (k = 0; k < 2; k++)
			for (i = 0; i < 3; i++) {
				c = run(n[k], 0, 20 * US, priority[i][0], priority[i][1], level);
				/*
				 * The quanta: in each ms a few looks at those with an HQD, and
				 * seldom at the processes; with levels, at all that wait
				 */
				assert_true(c.visits <= 12 * c.events + RUN / MS *
					    (level ? 10 * n[k] : 10 * 24 + 5 * n[k] / PER_PROC));
				assert_true(c.peeks <= 3 * c.events + RUN / MS * 30);
			}
}

/* Queues with work cost what a GPU's HQDs hold, not what the runlist has */
static void test_busy_queues(void **state)
{
	static const u32 priority[][2] = { { 1, 1 }, { 2, 1 }, { 1, 2 } };
	struct cost c;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		c = run(72, 72, 20 * US, priority[i][0], priority[i][1], 0);
		assert_true(c.peeks <= 24 * (c.events + RUN / (50 * US)));
	}
}

/*
 * As the check "late" of the simulated GPU: over-subscribed, each queue has a dispatch of 300 us every
 * 100 ms, and a competitor always has one of 2 us. If that has the higher priority, the queues with an
 * HQD wait with work.
 */
static void test_competitor(void **state)
{
	static const u32 priority[][2] = { { 1, 1 }, { 2, 1 } };
	u32 i, k, n;
	u64 next, now, arrive, events, visits, maps;
	struct load *q[500];
	struct eng_proc *p;

	(void)state;
	for (i = 0; i < 4; i++) {
		n = i < 2 ? 72 : 500;

		teardown(NULL);
		setup(NULL);
		w.e.ops = &ops;
		p = NULL;
		load(proc(), priority[i % 2][0], 0, 2 * US);
		for (k = 0; k < n; k++) {
			if (k % PER_PROC == 0)
				p = proc();
			q[k] = load(p, priority[i % 2][1], 0, 0);
			q[k]->arrivals = true;
		}
		eng_advance(&w.e, 0);
		events = w.e.events;
		visits = w.e.visits;
		maps = w.e.map_visits;
		for (now = arrive = 0; now < RUN;) {
			for (; arrive <= now; arrive += 100 * MS / n) {
				k = arrive / (100 * MS / n) % n;
				q[k]->pending++;
				q[k]->ns = 300 * US;
				eng_wake(&w.e, &q[k]->q);
			}
			next = eng_advance(&w.e, now);
			now = next < now + 50 * US ? next : now + 50 * US;
		}
		events = w.e.events - events;
		visits = w.e.visits - visits;
		maps = w.e.map_visits - maps;
		print_message("# %u queues beside, priority %u and %u: %llu events, %.1f queues each, of them %.1f for VMIDs and HQDs\n",
			      n, priority[i % 2][0], priority[i % 2][1], (unsigned long long)events,
			      (double)visits / events, (double)maps / events);
		/* those with an HQD, and of the others hardly any */
		assert_true(visits <= (140 + n / 8) * events);
	}
}

/* What an owner who is late does: the GPU stood still, and nothing happened */
static void test_stall(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q = queue(p, 1, 7), *s = queue(p, 1, 7);
	struct item *i = add(q, 3 * MS), *k = add(s, 1 * MS);
	u64 until;

	(void)state;
	i->bytes = 100000;
	assert_int_equal(eng_advance(&w.e, 1 * MS), 3 * MS);
	eng_stall(&w.e, 5 * MS);
	assert_int_equal(w.e.stalled_ns, 4 * MS);
	assert_int_equal(eng_advance(&w.e, 5 * MS), 7 * MS);
	assert_int_equal(w.e.busy_ns, 1 * MS);
	/* a save under way ends later by as much */
	until = eng_unmap(&w.e, p, 6 * MS);
	assert_int_equal(until, 6 * MS + 120 * US);
	eng_stall(&w.e, 8 * MS);
	assert_false(eng_saved(&w.e, p));
	assert_int_equal(eng_advance(&w.e, 8 * MS), 8 * MS + 120 * US);
	eng_advance(&w.e, 8 * MS + 120 * US);
	assert_true(eng_saved(&w.e, p));
	remap(p, q);
	eng_add_queue(&w.e, p, &s->q);
	eng_advance(&w.e, 20 * MS);
	assert_int_equal(i->completions, 1);
	assert_int_equal(k->completions, 1);
}

/* Returns the number of failures */
int cost_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_idle_queues), T(test_oversubscribed), T(test_busy_queues), T(test_competitor),
		T(test_stall),
	};

	return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
