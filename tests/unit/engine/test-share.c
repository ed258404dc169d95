// SPDX-License-Identifier: GPL-2.0
/* Pipes, and dispatches that share the GPU */
#include "fixture.h"

static void interleave(u32 pipes)
{
	w.e.cfg.pipes = pipes;
	w.e.cfg.slots = pipes;
	w.e.cfg.interleave = true;
}

/* Equals have half each; who is alone has all */
static void test_equals_have_half(void **state)
{
	struct tq *a = queue(proc(), 1, 7), *b = queue(proc(), 1, 7);

	(void)state;
	interleave(4);
	add(a, 10 * MS);
	add(b, 10 * MS)->avail = 4 * MS;
	eng_advance(&w.e, 0);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(a->item[0].completed, 16 * MS);
	assert_int_equal(b->item[0].completed, 20 * MS);
	assert_int_equal(w.e.busy_ns, 20 * MS);
}

/* What is twice as long, or more, has three quarters */
static void test_long_weighs_more(void **state)
{
	struct tq *a = queue(proc(), 1, 7), *b = queue(proc(), 1, 7), *c = queue(proc(), 1, 7);

	(void)state;
	interleave(4);
	add(a, 1 * MS);
	add(b, 2 * MS);
	eng_advance(&w.e, 50 * MS);
	/* 2 ms at three quarters; then the other is alone, which had 0.67 of its 1 ms. A ns is whole */
	assert_int_equal(b->item[0].completed, 2666667);
	assert_in_range(a->item[0].completed, 3 * MS, 3 * MS + 1);
	add(c, 1999 * US)->avail = 50 * MS;
	add(a, 1 * MS)->avail = 50 * MS;
	eng_advance(&w.e, 50 * MS);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(a->item[1].completed, 52 * MS);
	assert_int_equal(c->item[0].completed, 52 * MS + 999 * US);
}

/* HQDs are filled row by row; queues of a pipe take turns, those of several pipes do not wait */
static void test_rows_of_pipes(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q[6];
	u32 i;

	(void)state;
	interleave(4);
	for (i = 0; i < 6; i++) {
		q[i] = queue(p, 1, i == 4 ? 9 : 7);
		add(q[i], 1 * MS);
		add(q[i], 1 * MS);
	}
	eng_advance(&w.e, 0);
	for (i = 0; i < 6; i++)
		assert_int_equal(q[i]->q.pipe, i % 4);
	assert_int_equal(eng_used_slots(&w.e), 4);
	/* the fifth shares a pipe with the first and is of higher queue priority; the sixth is not */
	assert_int_equal(q[0]->next, 0);
	assert_int_equal(q[4]->next, 1);
	assert_int_equal(q[1]->next, 1);
	assert_int_equal(q[5]->next, 0);
	eng_advance(&w.e, 4 * MS);
	assert_int_equal(q[4]->item[0].completed, 4 * MS);
	assert_int_equal(q[4]->next, 2);
	eng_advance(&w.e, 100 * MS);
	for (i = 0; i < 6; i++)
		assert_int_equal(done(q[i]), 2);
	assert_int_equal(w.e.busy_ns, 12 * MS);
	assert_int_equal(q[4]->item[1].completed < q[0]->item[0].completed, true);
}

/* The place of a queue that left is the next one's */
static void test_pipe_is_given_again(void **state)
{
	struct eng_proc *p[4];
	struct tq *late;
	u32 i;

	(void)state;
	interleave(4);
	for (i = 0; i < 4; i++) {
		p[i] = proc();
		queue(p[i], 1, 7);
	}
	eng_advance(&w.e, 0);
	unmap(p[2], 1 * MS);
	late = queue(proc(), 1, 7);
	eng_advance(&w.e, 2 * MS);
	assert_int_equal(late->q.pipe, 2);
}

/* Saved and restored in the middle of a share: each ns counts once */
static void test_saved_while_it_shares(void **state)
{
	struct eng_proc *p = proc();
	struct tq *a = queue(p, 1, 7), *b = queue(proc(), 1, 7);

	(void)state;
	interleave(4);
	add(a, 7 * MS);
	add(b, 7 * MS);
	eng_advance(&w.e, 0);
	unmap(p, 3 * MS + 1);
	assert_int_equal(a->q.work[0].left_ns + a->q.work[0].ran_ns, 7 * MS);
	assert_in_range(a->q.work[0].ran_ns, 1500 * US, 1500 * US + 1);
	remap(p, a);
	eng_advance(&w.e, 100 * MS);
	assert_int_equal(done(a), 1);
	assert_int_equal(done(b), 1);
	assert_int_equal(w.e.busy_ns, 14 * MS);
}

/* The state of a full GPU is written in 290 us, and each queue takes 37 us more: what hws.c has by default */
static void full_gpu(void)
{
	interleave(4);
	w.e.cfg.save_ns = 37 * US;
	w.e.cfg.restore_ns = 150 * US;
	w.e.cfg.bytes_per_us = 1000;
	w.e.cfg.full_bytes = 290 * 1000;
}

/* Four dispatches, each as large as the GPU, have a quarter of its waves each; the state of all is that of one GPU */
static void test_state_is_shared(void **state)
{
	struct eng_proc *p[4];
	struct tq *q[4];
	u32 i;

	(void)state;
	full_gpu();
	for (i = 0; i < 4; i++) {
		p[i] = proc();
		q[i] = queue(p[i], 1, 7);
		add(q[i], 10 * MS)->bytes = w.e.cfg.full_bytes;
	}
	eng_advance(&w.e, 0);
	assert_int_equal(eng_unmap(&w.e, NULL, 1 * MS), 1 * MS + (290 + 4 * 37) * US);
	eng_advance(&w.e, 2 * MS);
	assert_true(eng_saved(&w.e, NULL));
	assert_int_equal(w.e.saves, 4);
	/* what is read is what was written, even if the queue is then alone: one is back, then the others */
	remap(p[3], q[3]);
	eng_advance(&w.e, 2 * MS);
	assert_int_equal(q[3]->q.until, 2 * MS + 150 * US + 72500);
	eng_advance(&w.e, 3 * MS);
	/* it has grown meanwhile: alone it has the whole GPU */
	assert_int_equal(unmap(p[3], 3 * MS), 3 * MS + 327 * US);
	for (i = 0; i < 4; i++)
		remap(p[i], q[i]);
	eng_advance(&w.e, 4 * MS);
	assert_int_equal(w.e.dma_free, 3 * MS + (327 + 4 * 150 + 290) * US + 3 * 72500);
	eng_advance(&w.e, 100 * MS);
	for (i = 0; i < 4; i++)
		assert_int_equal(done(q[i]), 1);
}

/* The shares are those of the GPU's time; no dispatch has more waves than alone */
static void test_state_follows_the_share(void **state)
{
	struct eng_proc *p = proc(), *o = proc();
	struct tq *a = queue(p, 1, 7), *b = queue(o, 1, 7), *small;

	(void)state;
	full_gpu();
	add(a, 10 * MS)->bytes = w.e.cfg.full_bytes;
	add(b, 50 * MS)->bytes = w.e.cfg.full_bytes;
	eng_advance(&w.e, 0);
	/* a quarter; three quarters */
	assert_int_equal(unmap(p, 1 * MS), 1 * MS + 37 * US + 72500);
	eng_advance(&w.e, 2 * MS);
	remap(p, a);
	eng_advance(&w.e, 3 * MS);
	assert_int_equal(unmap(o, 3 * MS), 3 * MS + 37 * US + 217500);
	small = queue(proc(), 1, 7);
	add(small, 10 * MS)->bytes = 1000;
	eng_advance(&w.e, 4 * MS);
	assert_int_equal(unmap(small->q.proc, 5 * MS), 5 * MS + 37 * US + 1 * US);
}

/* A dispatch that is saved keeps its waves until they are written: until then no other one has them */
static void test_share_is_kept_while_saved(void **state)
{
	struct tq *a = queue(proc(), 1, 7), *b = queue(proc(), 1, 7);

	(void)state;
	full_gpu();
	add(a, 10 * MS)->bytes = w.e.cfg.full_bytes;
	add(b, 10 * MS)->bytes = w.e.cfg.full_bytes;
	eng_advance(&w.e, 0);
	assert_int_equal(eng_unmap_queue(&w.e, &a->q, 1 * MS), 1 * MS + 182 * US);
	eng_advance(&w.e, 1 * MS + 182 * US);
	assert_int_equal(b->q.work[0].ran_ns, 591 * US);
	eng_advance(&w.e, 2 * MS);
	assert_int_equal(b->q.work[0].ran_ns, 591 * US + 818 * US);
	/* which it then has: one queue after the other costs more than all at once */
	assert_int_equal(eng_unmap_queue(&w.e, &b->q, 2 * MS), 2 * MS + 327 * US);
}

/* More dispatches of a pipe at a time: a parameter, because one is a guess */
static void test_dispatches_of_a_pipe(void **state)
{
	struct eng_proc *p = proc();
	struct tq *q[6];
	u32 i;

	(void)state;
	interleave(4);
	w.e.cfg.pipe_slots = 2;
	w.e.cfg.slots = 8;
	for (i = 0; i < 6; i++) {
		q[i] = queue(p, 1, 7);
		add(q[i], 1 * MS);
	}
	add(q[0], 1 * MS);
	eng_advance(&w.e, 0);
	/* two of the first two pipes each; the second dispatch of the first queue waits */
	assert_int_equal(eng_used_slots(&w.e), 6);
	assert_int_equal(q[0]->next, 1);
	eng_advance(&w.e, 100 * MS);
	for (i = 0; i < 6; i++)
		assert_int_equal(done(q[i]), q[i]->n);
}

/* Returns the number of failures */
int share_tests(void)
{
	const struct CMUnitTest tests[] = {
		T(test_equals_have_half), T(test_long_weighs_more), T(test_rows_of_pipes),
		T(test_pipe_is_given_again), T(test_saved_while_it_shares),
		T(test_state_is_shared), T(test_state_follows_the_share), T(test_share_is_kept_while_saved),
		T(test_dispatches_of_a_pipe),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
