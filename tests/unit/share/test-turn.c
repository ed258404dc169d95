// SPDX-License-Identifier: GPL-2.0
/*
 * Turns: the order, the length of a cycle, and what groups get in ten seconds. The driver is modelled by a loop that asks
 * when the turn ends and changes the group on the GPU; the time of a switch is lost.
 */
#include "share.h"

#define T0	(77 * SEC + 1234567)
#define MAX	8

struct node {
	struct kfd_prio_turn g[MAX], *ring[MAX];
	struct kfd_prio_turns t;
	u64 now, changes;
	u64 worked[MAX];	/* ns for which a group did work */
	int on;			/* the group on GPU 0 */
	u64 lost;		/* of a switch that is not over */
};

static void node_init(struct node *n, const u32 *weights, u32 nr)
{
	u32 i;

	memset(n, 0, sizeof(*n));
	for (i = 0; i < nr; i++) {
		n->g[i].weight = weights[i];
		n->ring[i] = &n->g[i];
	}
	n->t.ring = n->ring;
	n->t.n = nr;
	n->now = T0;
	n->on = -1;
	kfd_prio_turns_count(&n->t, T0);
}

/* The group that has GPU 0 from now on; alone, it is the one with work */
static int who(const struct node *n)
{
	int on = kfd_prio_turns_on(&n->t, 0);
	u32 i;

	for (i = 0; on < 0 && i < n->t.n; i++)
		if (n->g[i].gpus & 1)
			on = i;
	return on;
}

static void pass(struct node *n, u64 until)
{
	u64 ns = until - n->now, lost = n->lost < ns ? n->lost : ns;

	if (n->on >= 0)
		n->worked[n->on] += ns - lost;
	n->lost -= lost;
	n->now = until;
	kfd_prio_turns_count(&n->t, until);
}

static u64 update(struct node *n)
{
	u64 at = kfd_prio_turns_update(&n->t, SWITCH, 10, n->now);
	int on = who(n);

	assert_true(at > n->now);
	if (on != n->on && on >= 0) {
		n->changes++;
		n->lost = SWITCH / 2 + rnd(SWITCH);
	}
	n->on = on;
	return at;
}

/* Until @until with the present work; the driver is up to 300 us late */
static void run(struct node *n, u64 until)
{
	u64 at;

	while (n->now < until) {
		at = update(n);
		if (at != NEVER)
			at += rnd(300 * US);
		pass(n, at < until ? at : until);
	}
}

static const struct {
	u32 n, weight[MAX];
	double error;	/* of the share; 0: 3 % */
} share_cases[] = {
	{ 2, { 1, 9 } },
	{ 2, { 5, 95 } },
	{ 2, { 30, 70 } },
	{ 3, { 1, 1, 2 } },
	{ 2, { 100, 100 } },
	{ 2, { 10000, 10000 } },
	{ 4, { 7, 1, 3, 12 } },
	{ 8, { 1, 1, 1, 1, 1, 1, 1, 1 } },
	/* one turn in three cycles: 43 in ten seconds */
	{ 2, { 1, 99 }, .05 },
};

/* Always busy groups: each within 3 % of its share in ten seconds, at a cost of 2 % */
static void test_shares(void **state)
{
	unsigned int c, i;
	struct node n;

	(void)state;
	for (c = 0; c < sizeof(share_cases) / sizeof(share_cases[0]); c++) {
		u64 sum = 0, weights = 0, from[MAX];

		node_init(&n, share_cases[c].weight, share_cases[c].n);
		for (i = 0; i < n.t.n; i++)
			n.g[i].gpus = 1;
		run(&n, T0 + SEC + rnd(SEC));
		memcpy(from, n.worked, sizeof(from));
		n.changes = 0;
		run(&n, n.now + 10 * SEC);
		for (i = 0; i < n.t.n; i++) {
			sum += n.worked[i] - from[i];
			weights += n.g[i].weight;
		}
		for (i = 0; i < n.t.n; i++) {
			double share = (double)(n.worked[i] - from[i]) / sum;
			double due = (double)n.g[i].weight / weights;

			double error = share_cases[c].error ? share_cases[c].error : .03;

			if (share < (1 - error) * due || share > (1 + error) * due)
				fail_msg("case %u, weight %u: %.4f of %.4f", c, n.g[i].weight, share, due);
		}
		if (n.changes * SWITCH > 10 * SEC * 21 / 1000)
			fail_msg("case %u: %llu switches", c, (unsigned long long)n.changes);
		assert_true(sum > 10 * SEC * 978 / 1000);
	}
}

/* A cycle is as long as 2 % require, or as max_switch_pct if that is less */
static void test_cycle(void **state)
{
	static const u32 weights[] = { 1, 1 };
	struct node n;

	(void)state;
	node_init(&n, weights, 2);
	n.g[0].gpus = n.g[1].gpus = 1;
	assert_int_equal(kfd_prio_turns_update(&n.t, SWITCH, 10, T0), T0 + 50 * SWITCH);
	node_init(&n, weights, 2);
	n.g[0].gpus = n.g[1].gpus = 1;
	assert_int_equal(kfd_prio_turns_update(&n.t, SWITCH, 1, T0), T0 + 100 * SWITCH);
	/* nothing was measured yet */
	node_init(&n, weights, 2);
	n.g[0].gpus = n.g[1].gpus = 1;
	assert_int_equal(kfd_prio_turns_update(&n.t, 0, 10, T0), T0 + 50 * MS);
}

/* A group without work is no part of the cycle */
static void test_takes_part(void **state)
{
	static const u32 weights[] = { 1, 1, 98 };
	struct node n;

	(void)state;
	node_init(&n, weights, 3);
	n.g[0].gpus = n.g[1].gpus = 1;
	assert_int_equal(kfd_prio_turns_update(&n.t, SWITCH, 10, T0), T0 + 50 * SWITCH);
}

/*
 * Time alone uses up the part of a group: when another one rings, that one is next. It is no debt: after it, the first has
 * a whole turn.
 */
static void test_was_alone(void **state)
{
	static const u32 weights[] = { 1, 1 };
	struct node n;
	u64 at;

	(void)state;
	node_init(&n, weights, 2);
	n.g[0].gpus = n.g[1].gpus = 1;
	while (update(&n), n.on != 0)
		pass(&n, n.now + MS);
	/* group 0 has begun its turn; the other one has no work for a second */
	n.g[1].gpus = 0;
	assert_true(update(&n) == NEVER);
	pass(&n, n.now + SEC);
	n.g[1].gpus = 1;
	at = update(&n);
	assert_int_equal(n.on, 1);
	/* but for what its first turn was exceeded by */
	assert_in_range(at, n.now + 50 * SWITCH - MS, n.now + 50 * SWITCH);
	pass(&n, at);
	at = update(&n);
	assert_int_equal(n.on, 0);
	assert_int_equal(at, n.now + 50 * SWITCH);
}

/* The rest of a turn is lost if others go on */
static void test_rest(void **state)
{
	static const u32 weights[] = { 1, 1, 1 };
	struct node n;
	u32 now;

	(void)state;
	node_init(&n, weights, 3);
	n.g[0].gpus = n.g[1].gpus = n.g[2].gpus = 1;
	update(&n);
	now = n.t.now;
	pass(&n, T0 + MS);
	assert_true(n.g[now].left_ns > (s64)(40 * SWITCH));
	n.g[now].gpus = 0;
	update(&n);
	assert_int_not_equal(n.t.now, now);
	assert_int_equal(n.g[now].left_ns, 0);
}

/* Without a second group with work nothing is switched, whatever the weights are, and each GPU is one of its own */
static void test_alone(void **state)
{
	static const u32 weights[] = { 1, 9, 5 };
	struct node n;

	(void)state;
	node_init(&n, weights, 3);
	assert_true(kfd_prio_turns_update(&n.t, SWITCH, 10, T0) == NEVER);
	n.g[1].gpus = 1;
	n.g[2].gpus = 2;
	n.g[0].gpus = 4;
	assert_true(kfd_prio_turns_update(&n.t, SWITCH, 10, T0 + SEC) == NEVER);
	for (u32 gpu = 0; gpu < 4; gpu++)
		assert_int_equal(kfd_prio_turns_on(&n.t, gpu), -1);
}

/* One group is in turn on all its GPUs at the same time; elsewhere the next one that has work there */
static void test_gpus(void **state)
{
	static const u32 weights[] = { 1, 1, 1 };
	struct node n;
	u64 at;

	(void)state;
	node_init(&n, weights, 3);
	n.g[0].gpus = 3;	/* GPUs 0 and 1 */
	n.g[1].gpus = 1;
	n.g[2].gpus = 6;	/* GPUs 1 and 2 */
	at = kfd_prio_turns_update(&n.t, SWITCH, 10, T0);
	assert_int_equal(n.t.now, 1);
	assert_int_equal(kfd_prio_turns_on(&n.t, 0), 1);
	assert_int_equal(kfd_prio_turns_on(&n.t, 1), 2);
	assert_int_equal(kfd_prio_turns_on(&n.t, 2), -1);
	kfd_prio_turns_count(&n.t, at);
	at = kfd_prio_turns_update(&n.t, SWITCH, 10, at);
	assert_int_equal(kfd_prio_turns_on(&n.t, 0), 0);
	assert_int_equal(kfd_prio_turns_on(&n.t, 1), 2);
	kfd_prio_turns_count(&n.t, at);
	kfd_prio_turns_update(&n.t, SWITCH, 10, at);
	assert_int_equal(kfd_prio_turns_on(&n.t, 0), 0);
	assert_int_equal(kfd_prio_turns_on(&n.t, 1), 0);
	assert_int_equal(kfd_prio_turns_on(&n.t, 63), -1);
}

/*
 * A group that always has work, and one that goes idle and rings again whenever it likes, in its own turn and in that of
 * the other: the first gets its share all the same, of the time in which both have work at least
 */
static void test_rings(void **state)
{
	static const u32 weights[] = { 50, 50 };
	int how;

	(void)state;
	for (how = 0; how < 4; how++) {
		struct node n;
		u64 at;

		node_init(&n, weights, 2);
		n.g[0].gpus = n.g[1].gpus = 1;
		while (n.now < T0 + 20 * SEC) {
			at = update(&n);
			if (at == NEVER)
				at = n.now + 10 * MS;
			at += rnd(300 * US);
			switch (how) {
			case 0:		/* idle just before its turn ends, and rings just after */
				pass(&n, n.on == 0 && (n.g[0].gpus & 1) ? at - MS : n.now + 2 * MS);
				n.g[0].gpus ^= 1;
				break;
			case 1:		/* idle when its turn has ended, and rings at once */
				pass(&n, at);
				n.g[0].gpus = 0;
				update(&n);
				pass(&n, n.now + 50 * US);
				n.g[0].gpus = 1;
				break;
			case 2:		/* idle at random */
				pass(&n, n.now + rnd(at - n.now) + 1);
				n.g[0].gpus = rnd(2);
				break;
			case 3:		/* while it is off */
				pass(&n, n.now + MS);
				n.g[0].gpus = n.on == 0 || rnd(2);
				break;
			}
		}
		if (n.worked[1] < 10 * SEC * 96 / 100)
			fail_msg("rings %d: %llu ms of 20 s", how, (unsigned long long)(n.worked[1] / MS));
	}
}

/* A higher priority takes all groups off for a while: the turn goes on with what was left */
static void test_pause(void **state)
{
	static const u32 weights[] = { 1, 1 };
	struct node n;
	u64 at;
	u32 now;

	(void)state;
	node_init(&n, weights, 2);
	n.g[0].gpus = n.g[1].gpus = 1;
	at = update(&n);
	now = n.t.now;
	pass(&n, T0 + 10 * MS);
	n.g[0].gpus = n.g[1].gpus = 0;
	assert_true(update(&n) == NEVER);
	pass(&n, T0 + 70 * MS);
	n.g[0].gpus = n.g[1].gpus = 1;
	assert_int_equal(update(&n), at + 60 * MS);
	assert_int_equal(n.t.now, now);
}

/*
 * The same, while the processes of a third group run by their priority: that is no turn, and the next one does not begin
 * behind it. Without a level it does
 */
static void test_level(void **state)
{
	static const u32 weights[] = { 1, 1, 1 };
	struct node n;
	u64 at;
	u32 now, held;

	(void)state;
	for (held = 0; held < 2; held++) {
		node_init(&n, weights, 3);
		n.g[0].gpus = n.g[1].gpus = 1;
		at = update(&n);
		now = n.t.now;
		pass(&n, T0 + 10 * MS);
		n.g[0].gpus = n.g[1].gpus = 0;
		n.g[2].gpus = 1;
		n.t.held = held;
		assert_true(update(&n) == NEVER);
		pass(&n, T0 + 13 * MS);
		n.t.held = 0;
		n.g[0].gpus = n.g[1].gpus = 1;
		if (held) {
			/* also while the third one seems to have work yet */
			assert_int_equal(update(&n), at + 3 * MS);
			assert_int_equal(n.t.now, now);
		} else {
			update(&n);
			assert_int_not_equal(n.t.now, now);
		}
	}
}

/* A turn that was exceeded is paid back; the group then has its share of ten seconds */
static void test_exceeded(void **state)
{
	static const u32 weights[] = { 50, 50 };
	struct node n;
	u64 at, off = 0;

	(void)state;
	node_init(&n, weights, 2);
	n.g[0].gpus = n.g[1].gpus = 1;
	while (n.now < T0 + 10 * SEC) {
		at = update(&n);
		/* group 0 needs 10 ms more for each of its ends */
		if (n.on == 0)
			off++;
		pass(&n, at + (n.on == 0 ? 10 * MS : 0));
	}
	assert_true(off > 100);
	assert_in_range(n.worked[0], 10 * SEC * 48 / 100, 10 * SEC * 505 / 1000);
}

/* At random: one group is in turn if two have work on one GPU; no group waits for longer than two cycles */
static void test_random(void **state)
{
	const char *s = getenv("STEPS");
	u64 steps = s ? strtoull(s, NULL, 0) : 20000;
	u32 weights[MAX], i, gpu, busy;
	u64 waits[MAX] = {};
	struct node n;

	(void)state;
	for (i = 0; i < MAX; i++)
		weights[i] = 1 + rnd(30);
	node_init(&n, weights, MAX);
	while (steps--) {
		u64 at = kfd_prio_turns_update(&n.t, SWITCH, 10, n.now), next = n.now + 1 + rnd(5 * MS);

		for (gpu = 0; gpu < 3; gpu++) {
			int on = kfd_prio_turns_on(&n.t, gpu);

			for (i = 0, busy = 0; i < n.t.n; i++)
				busy += n.g[i].gpus >> gpu & 1;
			assert_int_equal(on >= 0, busy > 1);
			if (on >= 0)
				assert_true(n.g[on].gpus >> gpu & 1);
		}
		assert_true(at > n.now);
		if (at < next)
			next = at;
		for (i = 0; i < n.t.n; i++) {
			bool runs = !n.g[i].gpus;

			for (gpu = 0; gpu < 3; gpu++)
				runs |= n.g[i].gpus >> gpu & 1 && (kfd_prio_turns_on(&n.t, gpu) == (int)i ||
								   kfd_prio_turns_on(&n.t, gpu) < 0);
			waits[i] = runs ? 0 : waits[i] + next - n.now;
			/* 8 switches are 2 % of 308 ms; one with a weight of 1 of 240 may miss three cycles */
			assert_true(waits[i] < 5 * 310 * MS);
		}
		n.now = next;
		kfd_prio_turns_count(&n.t, next);
		if (!rnd(4))
			n.g[rnd(n.t.n)].gpus = rnd(8);
		if (!rnd(1000) && n.t.n > 2) {
			i = rnd(n.t.n);
			memmove(&waits[i], &waits[i + 1], (n.t.n - i - 1) * sizeof(waits[0]));
			kfd_prio_turns_drop(&n.t, i);
			/* the ring points into g: keep both in the same order */
			for (u32 j = i; j < n.t.n; j++) {
				n.g[j] = *n.t.ring[j];
				n.t.ring[j] = &n.g[j];
			}
		}
	}
}

/* A group goes: the next one keeps its turn, or follows */
static void test_drop(void **state)
{
	static const u32 weights[] = { 1, 1, 1 };
	struct node n;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		node_init(&n, weights, 3);
		n.g[0].gpus = n.g[1].gpus = n.g[2].gpus = 1;
		kfd_prio_turns_update(&n.t, SWITCH, 10, T0);
		assert_int_equal(n.t.now, 1);
		kfd_prio_turns_drop(&n.t, i);
		assert_int_equal(n.t.n, 2);
		kfd_prio_turns_update(&n.t, SWITCH, 10, T0 + MS);
		/* group 1 stays in turn; if it has gone, group 2 follows */
		assert_ptr_equal(n.t.ring[n.t.now], &n.g[i == 1 ? 2 : 1]);
	}
}

int turn_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_takes_part),
		cmocka_unit_test(test_was_alone),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_gpus),
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_pause), cmocka_unit_test(test_level),
		cmocka_unit_test(test_exceeded),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_drop),
	};

	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
