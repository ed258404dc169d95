// SPDX-License-Identifier: GPL-2.0
/* What the unit tests of tests/sim/engine.c share; see fixture.h */
#include "fixture.h"

struct world w;

static bool peek(void *ctx, struct eng_queue *q, u64 t, struct eng_work *work)
{
	struct tq *tq = (struct tq *)q;
	struct item *i = &tq->item[tq->next];

	(void)ctx;
	(void)t;
	if (tq->next == tq->n || i->hold)
		return false;
	work->left_ns = i->ns;
	work->avail = i->avail;
	work->live_bytes = i->bytes;
	work->slot = i->slot;
	work->blocks = i->blocks;
	work->user[0] = tq->next;
	return true;
}

static void launch(void *ctx, struct eng_queue *q, struct eng_work *work, u64 t)
{
	struct world *x = ctx;
	struct tq *tq = (struct tq *)q;
	struct item *i = &tq->item[tq->next];

	assert_int_equal(work->user[0], tq->next);
	assert_true(q->state == ENG_Q_ON);
	i->launched = t > work->avail ? t : work->avail;
	i->completions = 0;
	if (++tq->next == tq->n && tq->endless)
		tq->next = 0;
	x->launches++;
}

static void complete(void *ctx, struct eng_queue *q, struct eng_work *work, u64 t)
{
	struct tq *tq = (struct tq *)q;
	struct item *i = &tq->item[work->user[0]];

	(void)ctx;
	assert_int_equal(work->left_ns, 0);
	assert_int_equal(work->ran_ns, i->ns);
	i->completions++;
	i->completed = t;
	assert_int_equal(i->completions, 1);
	/* never before it could have run for all of its time */
	assert_true(t >= i->launched + i->ns);
}

static void saved(void *ctx, struct eng_queue *q)
{
	struct tq *tq = (struct tq *)q;

	(void)ctx;
	tq->saved++;
	tq->saved_left_ns = q->nwork ? q->work[0].left_ns : 0;
}

static const struct eng_ops ops = { .peek = peek, .launch = launch, .complete = complete, .saved = saved };

static const struct eng_config config = {
	.slots = 1, .hqds = 24, .vmids = 8,
	.process_quantum_ns = 10 * MS, .gang_quantum_ns = 1 * MS,
	.save_ns = 20 * US, .restore_ns = 30 * US, .bytes_per_us = 1000,
};

/* cmocka: an empty GPU at time 0 */
int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	eng_init(&w.e, &config, &ops, &w, 0);
	return 0;
}

/* cmocka: free all */
int teardown(void **state)
{
	struct eng_proc *p;
	struct eng_queue *q;

	(void)state;
	while ((p = w.e.procs)) {
		while ((q = p->queues)) {
			eng_remove_queue(&w.e, q);
			free(q);
		}
		eng_remove_proc(&w.e, p);
		free(p);
	}
	return 0;
}

struct eng_proc *proc(void)
{
	struct eng_proc *p = calloc(1, sizeof(*p));

	eng_add_proc(&w.e, p);
	return p;
}

struct tq *queue(struct eng_proc *p, u32 pipe, u32 prio)
{
	struct tq *q = calloc(1, sizeof(*q));

	q->q.pipe_prio = pipe;
	q->q.queue_prio = prio;
	eng_add_queue(&w.e, p, &q->q);
	return q;
}

/* Append a dispatch that was there from the beginning; the caller may change it */
struct item *add(struct tq *q, u64 ns)
{
	struct item *i = &q->item[q->n++];

	assert_true(q->n <= MAX_ITEMS);
	*i = (struct item){ .ns = ns, .slot = true };
	return i;
}

void add_n(struct tq *q, u32 n, u64 ns)
{
	while (n--)
		add(q, ns);
}

/* How many of the queue's packets are complete */
u32 done(const struct tq *q)
{
	u32 i, n = 0;

	for (i = 0; i < q->n; i++)
		n += q->item[i].completions;
	return n;
}

/* Takes a process off as the firmware does. Returns when it was saved */
u64 unmap(struct eng_proc *p, u64 now)
{
	u64 t = eng_unmap(&w.e, p, now);

	eng_advance(&w.e, t);
	assert_true(eng_saved(&w.e, p));
	return t;
}

/* Puts a process with one queue back, with nothing but what an MQD keeps */
void remap(struct eng_proc *p, struct tq *q)
{
	struct eng_queue old = q->q;
	u32 i;

	eng_remove_queue(&w.e, &q->q);
	eng_remove_proc(&w.e, p);
	memset(p, 0, sizeof(*p));
	memset(&q->q, 0, sizeof(q->q));
	q->q.pipe_prio = old.pipe_prio;
	q->q.queue_prio = old.queue_prio;
	q->q.level = old.level;
	q->q.nwork = old.nwork;
	for (i = 0; i < old.nwork; i++)
		q->q.work[i] = old.work[i];
	eng_add_proc(&w.e, p);
	eng_add_queue(&w.e, p, &q->q);
}
