// SPDX-License-Identifier: GPL-2.0
/* Random schedules: what must hold of any, and the same as the reference model */
#include "fixture.h"

static u32 rnd(u32 n)
{
	return (u32)(random() >> 8) % n;
}

/* State that dispatches have on the GPU, and state that is being written */
static u64 state_bytes(void)
{
	const struct eng_queue *q;
	const struct eng_work *x;
	u64 sum = 0;
	u32 i;

	for (q = w.e.busy; q; q = q->next_busy)
		for (i = 0; i < q->nwork; i++) {
			x = &q->work[i];
			if (x->running && x->slot)
				sum += eng_share_part(&w.e, x, x->live_bytes, w.e.cfg.full_bytes);
		}
	return sum;
}

/*
 * Random arrivals, steps, unmaps and maps. Invariants: slots, HQDs and VMIDs are never
 * exceeded; every dispatch completes exactly once (checked in complete()) with exactly
 * its time (there too); the slots were busy for the sum of what completed or ran; with
 * interleave, the state of all dispatches is never more than that of a full GPU.
 */
static void random_schedule(unsigned int seed)
{
	struct eng_proc *p[12];
	struct tq *q[12][2];
	u64 now = 0, sum = 0, t;
	bool levels = seed % 2;
	u32 i, k, n, used;

	srandom(seed);
	setup(NULL);
	w.e.cfg.slots = 1 + rnd(3);
	w.e.cfg.hqds = 2 + rnd(20);
	w.e.cfg.vmids = 1 + rnd(8);
	w.e.cfg.level_preempt = rnd(2);
	if (seed % 3 == 0) {
		w.e.cfg.pipes = 1 + rnd(4);
		w.e.cfg.interleave = rnd(4);
		w.e.cfg.pipe_slots = rnd(3);
		w.e.cfg.slots = w.e.cfg.pipes * (w.e.cfg.pipe_slots ? w.e.cfg.pipe_slots : 1);
		w.e.cfg.full_bytes = 1000000;
	}
	for (i = 0; i < 12; i++) {
		p[i] = proc();
		for (k = 0; k < 2; k++) {
			q[i][k] = queue(p[i], rnd(3), rnd(16));
			q[i][k]->q.level = levels ? rnd(ENG_LEVELS) : 0;
		}
	}
	for (n = 0; n < 600; n++) {
		now += rnd(3) ? rnd(2 * MS) : rnd(200);
		i = rnd(12);
		k = rnd(2);
		if (q[i][k]->n < 100) {
			struct item *it = add(q[i][k], 1 + rnd(rnd(4) ? 500 * US : 8 * MS));

			it->avail = now;
			it->bytes = rnd(1000000);
			it->slot = rnd(5);
			it->blocks = !it->slot;
		}
		if (!rnd(10)) {
			i = rnd(12);
			now = unmap(p[i], now);
			for (k = 0; k < 2; k++)
				eng_remove_queue(&w.e, &q[i][k]->q);
			eng_remove_proc(&w.e, p[i]);
			memset(p[i], 0, sizeof(*p[i]));
			if (rnd(2)) {
				now += rnd(3 * MS);
				eng_advance(&w.e, now);
			}
			eng_add_proc(&w.e, p[i]);
			for (k = 0; k < 2; k++)
				eng_add_queue(&w.e, p[i], &q[i][k]->q);
		}
		if (!rnd(10)) {
			i = rnd(12);
			k = rnd(2);
			t = eng_unmap_queue(&w.e, &q[i][k]->q, now);
			if (rnd(2)) {
				now = t;
				eng_advance(&w.e, now);
				assert_true(eng_queue_saved(&w.e, &q[i][k]->q));
			}
		}
		if (!rnd(5))
			eng_resume_queue(&w.e, &q[rnd(12)][rnd(2)]->q, now);
		assert_true(eng_advance(&w.e, now) > now);
		assert_true(eng_used_slots(&w.e) <= w.e.cfg.slots);
		assert_true(!w.e.cfg.interleave || state_bytes() <= w.e.cfg.full_bytes);
		assert_true(eng_used_hqds(&w.e) <= w.e.cfg.hqds);
		for (used = i = 0; i < 12; i++)
			used += p[i]->vmid >= 0;
		assert_true(used <= w.e.cfg.vmids);
	}
	for (i = 0; i < 12; i++)
		for (k = 0; k < 2; k++)
			eng_resume_queue(&w.e, &q[i][k]->q, now);
	for (n = used = 0; used < 24 && n < 200; n++) {
		now += 1000 * MS;
		eng_advance(&w.e, now);
		for (used = i = 0; i < 12; i++)
			for (k = 0; k < 2; k++)
				used += done(q[i][k]) == q[i][k]->n;
	}
	for (i = 0; i < 12; i++)
		for (k = 0; k < 2; k++) {
			assert_int_equal(done(q[i][k]), q[i][k]->n);
			for (n = 0; n < q[i][k]->n; n++)
				sum += q[i][k]->item[n].slot ? q[i][k]->item[n].ns : 0;
		}
	assert_int_equal(w.e.busy_ns, sum);
	teardown(NULL);
}

static void test_late(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++)
		random_schedule(seed);
}

/* Returns the number of failures */
int random_tests(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_late) };

	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
