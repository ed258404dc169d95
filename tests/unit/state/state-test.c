// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's own files, driven through every sequence of operations and of answers of the hardware, up to states that
 * were seen before: a search in breadth that ends when no new state is found.  The invariants are in world.c.
 *
 * test_table_*: each entry of the table of transitions is changed in turn, and the search must notice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include "world.h"
#include <cmocka.h>

/* the table, which the test changes */
#define const
#define kfd_prio_state_name	state_name
#define kfd_prio_event_name	event_name
#include "kfd_prio_state.c"
#undef kfd_prio_event_name
#undef kfd_prio_state_name
#undef const

#define MAX_STATES	4000000
#define MAX_CHOICES	24

static struct op {
	const char *name;
	bool (*f0)(void);
	bool (*f)(int i);
	int i;
} ops[] = {
	{ "the claim rings", op_ring }, { "the claim rings, and the lock is taken", op_ring_locked },
	{ "its work ends", op_work_ends }, { "the thread runs", op_thread },
	{ "create a queue, 0", NULL, op_create, 0 }, { "create a queue, 1", NULL, op_create, 1 },
	{ "create a queue, 2", NULL, op_create, 2 }, { "destroy, 0", NULL, op_destroy, 0 },
	{ "destroy, 1", NULL, op_destroy, 1 }, { "evict, 1", NULL, op_evict, 1 }, { "evict, 0", NULL, op_evict, 0 },
	{ "restore, 1", NULL, op_restore, 1 }, { "restore, 0", NULL, op_restore, 0 }, { "update, 1", NULL, op_update, 1 },
	{ "exit, 2", NULL, op_exit, 2 }, { "exit, 0", NULL, op_exit, 0 }, { "a reset", op_reset },
	{ "suspend and resume", op_suspend_resume }, { "a hang", op_hang }, { "KFD unmaps", op_unmap_alone },
	{ "the first priority is set", op_start }, { "time passes", op_time },
	{ "a group is closed or opened", op_share },
};
#define OPS	(sizeof(ops) / sizeof(ops[0]))

/* one state that was found, and how */
static struct found {
	u32 parent;
	u8 op, n;
	u8 choice[MAX_CHOICES];
} *found;
static u32 nr_found;
static u64 *hashes;		/* open addressing */
static u32 nr_hashes;

static struct {
	u8 choice[MAX_CHOICES], of[MAX_CHOICES];
	unsigned int n, at, failures;
} c;

/* The hardware gives an answer other than OK so often in one operation, at most */
#define MAX_FAILURES	2

static jmp_buf out;
static const char *why;

unsigned int choose(unsigned int n)
{
	if (c.failures == MAX_FAILURES)
		return 0;
	if (c.at == MAX_CHOICES) {
		why = "more choices than the search has room for";
		longjmp(out, 1);
	}
	if (c.at == c.n) {
		c.choice[c.n] = 0;
		c.of[c.n++] = n;
	}
	c.failures += !!c.choice[c.at];
	return c.choice[c.at++];
}

void broken(const char *what)
{
	why = what;
	longjmp(out, 1);
}

/* The next combination of choices; false after the last */
static bool next_choices(void)
{
	while (c.n && c.choice[c.n - 1] + 1u == c.of[c.n - 1])
		c.n--;
	if (!c.n)
		return false;
	c.choice[c.n - 1]++;
	return true;
}

static u64 mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* What a state is: everything that can change what follows, and no time or count */
static u64 hash(void)
{
	const struct kfd_prio_dqm *d = &w.dqm.prio;
	u64 h = 1;
	int i;

	for (i = 0; i < NR_PROCESSES; i++) {
		const struct process *p = &w.proc[i];
		const struct queue *q = &p->q;
		const struct kfd_prio_qpd *qp = &p->pdd.qpd.prio;

		h = mix(h, p->registered | p->exits << 1 | q->lives << 2 | (u64)p->evicted << 3 | (u64)p->pdd.qpd.evicted << 8);
		if (q->lives)
			h = mix(h, q->hw | q->properties.is_active << 1 | q->properties.is_evicted << 2 |
				   !!q->properties.queue_size << 3 | q->prio.held << 4 | q->prio.off << 5 |
				   q->prio.dead << 6 | q->prio.marked << 7 | q->prio.late << 8);
		if (!p->registered)
			continue;
		h = mix(h, qp->preempted | qp->skip << 1 | qp->kfd_first << 2 | qp->left_preempted << 3 | qp->exiting << 4 |
			   qp->stale << 5 | qp->counted << 6 | qp->proved << 7 | qp->role << 8 | qp->claim.rung << 10 |
			   qp->work << 11 | !!qp->mm << 12 | atomic_read(&qp->doorbell.trap) << 13 |
			   (qp->preempted && qp->marked_epoch == d->epoch) << 16 | (u64)qp->prio << 17);
	}
	h = mix(h, d->state | (u64)(d->policy.level + 1) << 4 | (u64)d->policy.lowest << 9 | (u64)d->recheck << 15 |
		   (u64)d->nr_off << 16 | (u64)atomic_read(&d->kicked) << 20 | (u64)atomic_read(&d->neighbour_rung) << 22 |
		   (u64)(d->timer.at && d->timer.at < w.now + 1000000000) << 23 | (u64)(d->retry_at > w.now) << 24 | (u64)d->lowest << 25 |
		   (u64)d->charged << 31 | (u64)!!d->begun_at << 34 | (u64)d->grace_set << 35);
	h = mix(h, w.dqm.active_runlist | w.dqm.sched_running << 1 | w.hang << 2 | w.resetting << 3 | w.stuck << 4 |
		   w.level_wanted << 5 | !!w.dqm.prio.thread << 9 | w.unmapping << 11 | (w.failed_at && w.now < w.failed_at + KFD_PRIO_RETRY_NS) << 10 |
		   w.closed << 12 | (w.fence == KFD_FENCE_COMPLETED) << 6 | !!w.fence_at << 7 | w.given_up << 8);
	return h ? h : 1;
}

static bool seen(u64 h)
{
	u32 at = h % nr_hashes;

	for (; hashes[at]; at = (at + 1) % nr_hashes)
		if (hashes[at] == h)
			return true;
	hashes[at] = h;
	return false;
}

static void tell(u32 at, unsigned int op)
{
	u32 path[256], n = 0;
	unsigned int i;

	for (; at && n < 256; at = found[at].parent)
		path[n++] = at;
	while (n--) {
		print_message("  %s", ops[found[path[n]].op].name);
		for (i = 0; i < found[path[n]].n; i++)
			print_message(" %u", found[path[n]].choice[i]);
		print_message("\n");
	}
	print_message("  %s", op < OPS ? ops[op].name : "(the hardware answers from now on)");
	for (i = 0; i < c.n; i++)
		print_message(" %u", c.choice[i]);
	print_message("\n");
}

static bool run(const struct op *o)
{
	return o->f ? o->f(o->i) : o->f0();
}

/*
 * Searches from the beginning, or from where the claim and another process have a queue each, a priority is set and the
 * claim has no work (@begun). Returns NULL if nothing was broken, else what. @most: states; the search is complete if it
 * ends before.
 */
static const char *search(bool mes, bool begun, u32 most, bool aloud, u32 *nr)
{
	struct world start, now;
	static volatile u32 at, from;
	static volatile unsigned int op;
	struct world **worlds = calloc(most + 1, sizeof(*worlds));

	nr_hashes = most * 2 + 17;
	hashes = calloc(nr_hashes, sizeof(*hashes));
	found = calloc(most + 1, sizeof(*found));
	nr_found = 1;
	why = NULL;
	healthy = false;
	op = OPS;
	at = 0;
	if (setjmp(out))
		goto end;
	healthy = true;
	world_init(mes);
	if (begun) {
		op_create(0);
		op_create(1);
		op_start();
		op_work_ends();
		op_thread();
	}
	healthy = false;
	seen(hash());
	worlds[0] = malloc(sizeof(w));
	*worlds[0] = w;
	for (from = 0; from < nr_found; from = from + 1) {
		start = *worlds[from];
		free(worlds[from]);
		worlds[from] = NULL;
		at = from;
		for (op = 0; op < OPS; op = op + 1) {
			c.n = 0;
			do {
				w = start;
				w.no_memory = false;
				c.at = c.failures = 0;
				if (!run(&ops[op]))
					break;
				world_check();
				if (nr_found > most || seen(hash()))
					continue;
				found[nr_found] = (struct found) { .parent = from, .op = op, .n = c.n };
				memcpy(found[nr_found].choice, c.choice, c.n);
				worlds[nr_found] = malloc(sizeof(w));
				*worlds[nr_found] = w;
				nr_found++;
				now = w;
				world_check_end();
				w = now;
				healthy = false;
			} while (next_choices());
		}
	}
end:
	if (why && aloud) {
		print_message("%s, after\n", why);
		tell(at, op);
	}
	*nr = nr_found;
	for (from = 0; from < nr_found && from <= most; from = from + 1)
		free(worlds[from]);
	free(worlds);
	free(found);
	free(hashes);
	return why;
}

static u32 most_states(void)
{
	const char *s = getenv("STEPS");

	return s ? atoi(s) : 24000;
}

static void all(bool mes, const char *name)
{
	u32 n, most = most_states();
	const char *what = search(mes, false, most, true, &n);

	print_message("# %s: %u states%s\n", name, n, n > most ? ", and more" : "");
	if (what)
		fail_msg("%s", what);
}

static void test_hws(void **state)
{
	(void)state;
	all(false, "HWS");
}

static void test_mes(void **state)
{
	(void)state;
	all(true, "MES");
}

static void test_mes_suspend(void **state)
{
	(void)state;
	kfd_prio_param_mes_suspend.value = 1;
	suspends = 0;
	all(true, "MES, mes_suspend");
	assert_true(suspends > 0);
	kfd_prio_param_mes_suspend.value = 0;
}

/* Whether the search notices the table as it is now */
static bool noticed(u32 most)
{
	u32 n;

	return search(false, true, most, false, &n) || search(true, true, most, false, &n) ||
	       search(false, false, most / 3, false, &n);
}

/* One change of an entry; @what is printed if the search does not notice */
static unsigned int changed(struct kfd_prio_transition *e, struct kfd_prio_transition to, const char *what, u32 most)
{
	const struct kfd_prio_transition was = *e;
	unsigned int at = e - &table[0][0];
	bool found_it;

	*e = to;
	found_it = noticed(most);
	*e = was;
	if (!found_it)
		print_message("# %s, %s: %s: not noticed\n", states[at / KFD_PRIO_EVENTS], events[at % KFD_PRIO_EVENTS], what);
	return !found_it;
}

/* A GPU may be removed while the lock is free; nothing counts from then on */
static void test_stop(void **state)
{
	int from, ev;

	(void)state;
	for (from = 0; from < KFD_PRIO_STATES; from++)
		if (table[from][KFD_PRIO_EVENT_BORN].expected || from == KFD_PRIO_STATE_OFF)
			assert_int_equal(kfd_prio_state_next(from, KFD_PRIO_EVENT_STOP).next, KFD_PRIO_STATE_OFF);
		else
			assert_false(kfd_prio_state_next(from, KFD_PRIO_EVENT_STOP).expected);
	for (ev = 0; ev < KFD_PRIO_EVENTS; ev++) {
		const struct kfd_prio_transition t = kfd_prio_state_next(KFD_PRIO_STATE_OFF, ev);

		assert_true(t.expected);
		assert_int_equal(t.act, 0);
		assert_int_equal(t.next, ev == KFD_PRIO_EVENT_START ? KFD_PRIO_STATE_COMMITTED : KFD_PRIO_STATE_OFF);
	}
}

/* Each transition that the table names is needed, and so is each action */
static void test_table(void **state)
{
	unsigned int n = 0, missed = 0, i, bit, to;
	u32 most = most_states();
	bool every = getenv("EVERY");
	char what[64];

	(void)state;
	for (i = 0; i < KFD_PRIO_STATES * KFD_PRIO_EVENTS; i++) {
		struct kfd_prio_transition *e = &table[0][0] + i, t = *e;

		/* test_stop() has those */
		if (!e->expected || i % KFD_PRIO_EVENTS == KFD_PRIO_EVENT_STOP)
			continue;
		missed += changed(e, (struct kfd_prio_transition){}, "not expected", most);
		n++;
		for (bit = 1; bit <= KFD_PRIO_ACT_AT_ONCE; bit <<= 1) {
			if (!(t.act & bit) && !every)
				continue;
			snprintf(what, sizeof(what), "action %#x", bit);
			missed += changed(e, (struct kfd_prio_transition){ true, t.next, t.act ^ bit }, what, most);
			n++;
		}
		for (to = 0; to < KFD_PRIO_STATES; to++) {
			if (to == t.next || (!every && to != KFD_PRIO_STATE_COMMITTED))
				continue;
			snprintf(what, sizeof(what), "next state %s", states[to]);
			missed += changed(e, (struct kfd_prio_transition){ true, to, t.act }, what, most);
			n++;
		}
	}
	print_message("# %u changes of the table, %u not noticed\n", n, missed);
	assert_int_equal(missed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hws),
		cmocka_unit_test(test_mes),
		cmocka_unit_test(test_mes_suspend),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
