// SPDX-License-Identifier: GPL-2.0
/*
 * Random claims on a GPU with processes of all priorities. Every answer is compared with that of
 * the reference, and what must hold of any is checked without it: who runs, who does not, how
 * long and how often nobody of a lower priority did, and what is said of the time until when the
 * answer is good.
 *
 * A world has a GPU, and parameters that stay in force but for some changes. In a punctual one the
 * policy is asked at every event and whenever it wanted to be; in others it is asked late.
 */
#include "reference.h"

#define WORLD_STEPS	500
#define MAX_CLAIMS	5
#define PROCS		16

#define ANY(a)		((a)[rnd(sizeof(a) / sizeof((a)[0]))])

/**
 * struct world - a GPU
 * @lowest: rank of the lowest process
 * @allowed, @allowed_at: what the floor of the lowest allowed in a second, since when; @nallowed of them
 * @late: the longest time that the policy was asked too late
 * @running: per process, whose priority is the index
 */
static struct world {
	struct kfd_prio_params k;
	struct kfd_prio_policy p;
	struct reference r;
	struct kfd_prio_claim claims[MAX_CLAIMS];
	int n;
	u64 now, scale, late;
	bool punctual;
	int lowest;
	u64 allowed[2 * WORLD_STEPS + 2], allowed_at[2 * WORLD_STEPS + 2];
	u32 nallowed;
	bool running[PROCS];
} w;

static u64 steps_done, seen[KFD_PRIO_REASON_GONE + 1], begun;

static u32 rnd(u32 n)
{
	return (u32)(random() >> 4) % n;
}

static u64 rnd64(u64 n)
{
	return (((u64)random() << 31) ^ (u64)random()) % n;
}

#define check(cond) do {							\
	if (!(cond))								\
		fail_msg("step %llu, at +%llu ns: %s", (unsigned long long)steps_done,	\
			 (unsigned long long)(w.now - w.r.start), #cond);	\
} while (0)

static void floor_set(u32 pct)
{
	w.k.floor_pct = pct;
}

/* That depends on how many levels have a floor, too */
static void allowed_note(void)
{
	int levels, top;
	u64 allowed;

	for (top = 15; top >= 0; top--)
		if (ref_levels(&w.k, w.claims, w.n, KFD_PRIO_RANK_NONE, top + 1, w.now) == 1)
			break;
	while (top >= 0 && top < 15 && ref_levels(&w.k, w.claims, w.n, KFD_PRIO_RANK_NONE, 16, w.now) >
	       ref_levels(&w.k, w.claims, w.n, KFD_PRIO_RANK_NONE, top + 1, w.now))
		top++;
	levels = top < 0 ? 0 : ref_levels(&w.k, w.claims, w.n, w.lowest, top, w.now);
	allowed = levels && w.k.floor_pct ? ref_allowed(&w.k, levels, 1) : w.k.period_ns;
	if (w.nallowed && w.allowed[w.nallowed - 1] == allowed)
		return;
	w.allowed[w.nallowed] = allowed;
	w.allowed_at[w.nallowed++] = w.now;
}

static void scale_set(void)
{
	static const u64 scales[] = { 2 * US, 100 * US, MS, 5 * MS, 20 * MS, 200 * MS };

	w.scale = ANY(scales);
}

static void world_make(void)
{
	static const u64 lingers[] = { 0, 1, 200 * US, 10 * MS, SEC };
	static const u64 budgets[] = { MS, 100 * MS, SEC, 60 * SEC };
	static const u32 floors[] = { 0, 1, 5, 5, 5, 50, 90 };
	static const u32 rates[] = { 1, 3, 20, 100, 1000, 10000 };
	static const u64 periods[] = { 20 * MS, 100 * MS, 250 * MS, SEC, SEC, 10 * SEC };
	int i;

	memset(&w, 0, sizeof(w));
	w.now = 20 * SEC + rnd64(1ULL << (rnd(50) + 1));
	w.punctual = rnd(4);
	w.k = (struct kfd_prio_params){ true, rnd(3) ? 11 : (int)rnd(16), ANY(lingers), 0, ANY(rates),
				       ANY(budgets) };
	w.k.period_ns = ANY(periods);
	floor_set(ANY(floors));
	/* as on a GPU on which a save takes that long */
	w.k.switch_pct = 10;
	kfd_prio_policy_cost(&w.k, rnd(2) ? 0 : rnd64(4 * MS));
	scale_set();
	w.lowest = rnd(10) ? (int)rnd(12) : (int)rnd(KFD_PRIO_RANK_NONE + 1);
	w.n = rnd(MAX_CLAIMS + 1);
	for (i = 0; i < MAX_CLAIMS; i++)
		w.claims[i].prio = rnd(4) ? 11 + (int)rnd(5) : (int)rnd(16);
	for (i = 0; i < PROCS; i++)
		w.running[i] = true;
	kfd_prio_policy_init(&w.p, &w.k, w.now);
	ref_init(&w.r, w.now);
}

static void claim_event(struct kfd_prio_claim *c)
{
	switch (rnd(8)) {
	case 0:	/* its doorbell */
	case 1:
		c->rung = c->work = true;
		c->work_at = c->progress_at = w.now;
		break;
	case 2:	/* seen with progress */
	case 3:
		c->rung = true;
		c->work_at = c->progress_at = w.now;
		break;
	case 4:	/* seen without */
		c->work |= c->rung;
		c->work_at = w.now;
		break;
	case 5:	/* seen without work */
		c->work = false;
		break;
	case 6:	/* armed */
		c->rung &= rnd(2);
		break;
	default:	/* it has rung on another CPU after we took the time */
		if (!rnd(8)) {
			c->rung = c->work = true;
			c->work_at = c->progress_at = w.now + rnd(1000);
		}
	}
}

static void event(void)
{
	static const u32 floors[] = { 0, 1, 5, 20, 90 };

	if (w.n)
		claim_event(&w.claims[rnd(w.n)]);
	if (!rnd(50))
		scale_set();
	if (!rnd(50)) {
		w.n = rnd(MAX_CLAIMS + 1);
		w.claims[rnd(MAX_CLAIMS)].prio = rnd(16);
	}
	if (!rnd(100))
		w.k.enabled = !w.k.enabled;
	else if (!w.k.enabled && !rnd(5))
		w.k.enabled = true;
	if (!rnd(30))
		w.lowest = rnd(KFD_PRIO_RANK_NONE + 1);
	if (!rnd(200))
		w.k.min_prio = rnd(16);
	if (!rnd(200))
		floor_set(ANY(floors));
	if (!rnd(200))
		w.k.linger_ns = rnd64(MS);
	if (!rnd(200))
		w.k.budget_ns = MS + rnd64(SEC);
}

static bool same(const struct kfd_prio_decision *a, const struct kfd_prio_decision *b)
{
	return a->level == b->level && a->throttle == b->throttle && a->reason == b->reason &&
	       a->claim == b->claim;
}

/* In the period that ends at @end, was somebody preempted longer than ever allowed in it? */
static void check_period(u64 end)
{
	u64 allowed = 0;
	int rank;
	u32 i;

	for (i = 0; i < w.nallowed; i++)
		/* a slot more: what is counted is up to that old */
		if ((i + 1 == w.nallowed || w.allowed_at[i + 1] + w.k.period_ns + REF_SLOT(&w.k) >= end) &&
		    w.allowed[i] > allowed)
			allowed = w.allowed[i];
	/* nobody is kept off longer than the lowest may be */
	rank = w.lowest + (int)rnd(4);
	check(rank > 15 || ref_preempted(&w.r, rank, end - w.k.period_ns, end) <= allowed + w.late);
}

/* The stretches of a period with most preemption end, or begin, when a preemption does */
static void check_floor(void)
{
	u64 end;
	u32 i;

	if (w.r.n && w.r.to[w.r.n - 1] == w.now)
		check_period(w.now);
	for (i = w.r.n; i-- && w.r.from[i] + 2 * w.k.period_ns > w.now;) {
		end = w.r.from[i] + w.k.period_ns;
		if (end <= w.now && !rnd(8))
			check_period(end);
	}
}

/* Who runs, and who does not although he may */
static void check_processes(const struct kfd_prio_decision *d, int old)
{
	bool wanted, limited = d->reason == KFD_PRIO_REASON_FLOOR || d->reason == KFD_PRIO_REASON_RATE;
	int prio, i;

	check((d->reason == KFD_PRIO_REASON_FLOOR) == (d->throttle > d->level));

	for (prio = 0; prio < PROCS; prio++) {
		/* the set to be preempted, and the one to be restored */
		if (kfd_prio_policy_victim(d->level, prio) != kfd_prio_policy_victim(old, prio))
			w.running[prio] = !w.running[prio];
		wanted = false;
		for (i = 0; i < w.n; i++)
			wanted |= w.k.enabled && w.claims[i].prio >= w.k.min_prio &&
				  w.claims[i].prio > prio && ref_holds(&w.k, &w.claims[i], w.now);
		if (w.running[prio])
			check(!wanted || limited);
		else
			check(wanted);
	}
}

/* The answer is the same until decide_at, and another then */
static void check_decide_at(const struct kfd_prio_decision *d)
{
	u64 span = d->decide_at == KFD_PRIO_NEVER ? 100 * SEC : d->decide_at - w.now, t;
	u64 slot = REF_SLOT(&w.k);
	struct kfd_prio_decision then;
	bool expires = false;
	int i;

	check(d->decide_at > w.now);
	then = ref_decide(&w.r, &w.k, w.claims, w.n, w.lowest, w.now + span - 1);
	check(same(d, &then));
	t = w.now + rnd64(span);
	then = ref_decide(&w.r, &w.k, w.claims, w.n, w.lowest, t);
	check(same(d, &then));
	if (!rnd(1000))
		for (t = w.r.start + ((w.now - w.r.start) / slot + 1) * slot;
		     t < w.now + span; t += span > w.k.period_ns ? 97 * slot : slot) {
			then = ref_decide(&w.r, &w.k, w.claims, w.n, w.lowest, t);
			check(same(d, &then));
		}
	if (d->decide_at == KFD_PRIO_NEVER)
		return;
	then = ref_decide(&w.r, &w.k, w.claims, w.n, w.lowest, d->decide_at);
	/* It is also asked to look when a lower claim expires, and as if there were victims. */
	for (i = 0; i < w.n; i++)
		expires |= w.claims[i].prio >= w.k.min_prio &&
			   ref_holds(&w.k, &w.claims[i], w.now) !=
			   ref_holds(&w.k, &w.claims[i], d->decide_at);
	check(!same(d, &then) || expires || (d->level != NONE && w.r.lowest >= d->level));
}

static struct kfd_prio_decision step(void)
{
	struct kfd_prio_decision d, again, want;
	int old = w.p.level, i;

	/* whoever claims is a process, too */
	for (i = 0; i < w.n; i++)
		if (w.claims[i].prio < w.lowest)
			w.lowest = w.claims[i].prio;
	allowed_note();
	kfd_prio_policy_decide(&w.p, &w.k, w.claims, w.n, w.lowest, w.now, &d);
	want = ref_decide(&w.r, &w.k, w.claims, w.n, w.lowest, w.now);
	check(same(&d, &want));
	seen[d.reason]++;
	if (d.level > old) {
		begun++;
		check(ref_may_begin(&w.r, &w.k, w.now));
	}
	check_processes(&d, old);

	/* Nothing to commit, and not always done */
	if (d.level != old || w.lowest != w.p.lowest || rnd(2)) {
		kfd_prio_policy_commit(&w.p, &w.k, d.level, w.lowest, d.level > old, w.now);
		ref_commit(&w.r, d.level, w.lowest, d.level > old, w.now);
	}
	kfd_prio_policy_decide(&w.p, &w.k, w.claims, w.n, w.lowest, w.now, &again);
	check(again.level == d.level);
	check_decide_at(&d);
	check_floor();
	return d;
}

static void test_random(void **state)
{
	const char *s = getenv("STEPS");
	u64 steps = s ? strtoull(s, NULL, 0) : 1000000, next;
	unsigned int seed = getenv("SEED") ? strtoul(getenv("SEED"), NULL, 0) : 1;
	struct kfd_prio_decision d = { .decide_at = KFD_PRIO_NEVER };
	u32 i;

	(void)state;
	srandom(seed);
	for (steps_done = 0; steps_done < steps; steps_done++) {
		if (steps_done % WORLD_STEPS == 0) {
			world_make();
			d = step();
			continue;
		}
		next = w.now + rnd64(2 * w.scale);
		if (w.punctual && d.decide_at <= next) {
			w.now = d.decide_at;
			/* and something may happen at this very moment */
			if (!rnd(8))
				event();
		} else {
			if (next > d.decide_at && next - d.decide_at > w.late)
				w.late = next - d.decide_at;
			w.now = next;
			event();
		}
		d = step();
	}
	print_message("# %llu steps, seed %u, %llu began; answers:", (unsigned long long)steps, seed,
		      (unsigned long long)begun);
	for (i = KFD_PRIO_REASON_NONE; i < KFD_PRIO_REASON_GONE; i++) {
		print_message(" %llu", (unsigned long long)seen[i]);
		/* every one is given */
		if (steps >= 100000)
			assert_true(seen[i] > steps / 1000);
	}
	print_message("\n");
	assert_true(begun);
}

/* Is it held, although no claim of the level or of a higher one has work? */
static bool held(const struct kfd_prio_decision *d)
{
	for (int i = 0; i < w.n; i++)
		if (w.claims[i].prio >= d->level && w.claims[i].prio >= w.k.min_prio &&
		    ref_holds(&w.k, &w.claims[i], w.now))
			return false;
	return d->level != NONE;
}

/* The highest level of a claim that holds; and whether a claim of @level has no work */
static int wanted(int level, bool *idle)
{
	int top = NONE;

	*idle = false;
	for (int i = 0; i < w.n; i++) {
		if (!w.k.enabled || w.claims[i].prio < w.k.min_prio)
			continue;
		if (w.claims[i].prio > top && ref_holds(&w.k, &w.claims[i], w.now))
			top = w.claims[i].prio;
		*idle |= w.claims[i].prio == level && !w.claims[i].work;
	}
	return top;
}

/* The account of the floor is that of the reference, and no rank is kept off for longer than the floor permits */
static void check_account(void)
{
	u64 slot = REF_SLOT(&w.k), from = w.p.floor.slot_at - 100 * slot;
	int rank = (int)rnd(16);

	check(w.p.floor.at == w.now);
	check((w.now - w.r.start) / slot * slot == w.p.floor.slot_at - w.r.start);
	check(w.p.floor.sum[rank] == ref_kept(&w.r, rank, from < w.r.start ? w.r.start : from, w.now));
}

/* Invariants of any answer with max_switch_policy=hold */
static void check_hold(const struct kfd_prio_decision *d, int old)
{
	bool idle, blocked = d->reason == KFD_PRIO_REASON_FLOOR;
	int top = wanted(old, &idle);

	check(blocked == (d->throttle > d->level));
	check(blocked || d->level >= top);
	/* it rises to what is wanted, and no token is asked for */
	check(d->level <= (top > old ? top : old));
	check(d->level <= old || d->level <= top);
	check((d->reason == KFD_PRIO_REASON_RATE) == (held(d) && !blocked));
	if (d->reason == KFD_PRIO_REASON_RATE)
		check(d->level == old && w.claims[d->claim].prio == old);
	/* a level that may be held ends for a floor, or with a token */
	if (d->level < old && idle && w.k.enabled && !blocked)
		check(ref_may_begin(&w.r, &w.k, w.now));
	/* a floor is given only where there is one, and with none every claim runs */
	if (!w.k.floor_pct)
		check(d->throttle == NONE);
}

/* Asked at any time before decide_at, it answers the same */
static void check_hold_decide_at(const struct kfd_prio_decision *d)
{
	u64 span = d->decide_at == KFD_PRIO_NEVER ? 10 * SEC : d->decide_at - w.now;
	static struct kfd_prio_policy copy;
	struct kfd_prio_decision then;

	check(d->decide_at > w.now);
	copy = w.p;
	kfd_prio_policy_decide(&copy, &w.k, w.claims, w.n, w.lowest, w.now + rnd64(span), &then);
	check(same(d, &then));
}

static struct kfd_prio_decision step_hold(void)
{
	struct kfd_prio_decision d, again;
	int old = w.p.level, i;

	for (i = 0; i < w.n; i++)
		if (w.claims[i].prio < w.lowest)
			w.lowest = w.claims[i].prio;
	kfd_prio_policy_decide(&w.p, &w.k, w.claims, w.n, w.lowest, w.now, &d);
	seen[d.reason]++;
	check_hold(&d, old);
	ref_gap(&w.r, &w.k, d.level, w.lowest, w.p.block, w.now);
	kfd_prio_policy_commit(&w.p, &w.k, d.level, w.lowest, d.level > old, w.now);
	/* a level that begins after a floor takes a token if there is one */
	ref_commit(&w.r, d.level, w.lowest, d.level > old && ref_may_begin(&w.r, &w.k, w.now), w.now);
	kfd_prio_policy_decide(&w.p, &w.k, w.claims, w.n, w.lowest, w.now, &again);
	check(again.level == d.level && again.throttle == d.throttle);
	check_account();
	check_hold_decide_at(&again);
	return again;
}

static void test_random_hold(void **state)
{
	const char *s = getenv("STEPS");
	u64 steps = s ? strtoull(s, NULL, 0) / 2 : 500000, next;
	unsigned int seed = getenv("SEED") ? strtoul(getenv("SEED"), NULL, 0) : 1, i;
	struct kfd_prio_decision d = { .decide_at = KFD_PRIO_NEVER };
	u64 save_ns = 0;

	(void)state;
	srandom(seed + 1000);
	memset(seen, 0, sizeof(seen));
	for (steps_done = 0; steps_done < steps; steps_done++) {
		if (steps_done % WORLD_STEPS == 0) {
			static const u64 saves[] = { 0, 40 * US, 327 * US, 2 * MS };

			world_make();
			w.k.hold = true;
			save_ns = ANY(saves);
			kfd_prio_policy_cost(&w.k, save_ns);
			w.r.switch_ns = w.k.switch_ns;
			kfd_prio_policy_init(&w.p, &w.k, w.now);
		} else {
			next = w.now + rnd64(2 * w.scale);
			w.now = w.punctual && d.decide_at <= next ? d.decide_at : next;
			if (!w.punctual || w.now != d.decide_at || !rnd(8))
				event();
		}
		d = step_hold();
	}
	for (i = KFD_PRIO_REASON_NONE; i < KFD_PRIO_REASON_GONE && steps >= 100000; i++)
		assert_true(seen[i] > steps / 1000);
}

int random_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_hold),
	};

	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
