// SPDX-License-Identifier: GPL-2.0
/*
 * When claims are observed: a GPU's thread in simulated time. It wakes when kfd_prio_claim_poll_at() says so, and whenever
 * it is kicked, and observes what a pass selects. A read takes 0.43 us, as on the simulated GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kfd_prio_claim.h"

#define US		1000ull
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define CLAIMS		1000
#define GPU_QUEUES	4096	/* of all processes on a GPU */
#define READ_NS		430
#define REST_NS		2000
#define TURNS		8	/* trapped claims in safety_poll_us */
#define READS		45	/* reads that count as one observation: 24 queues, 20 for the claim itself, and one */
#define FIXED		21	/* of them without queues */

static struct device_queue_manager dqm;
static struct kfd_prio_dqm *const d = &dqm.prio;
static struct kfd_prio_params k;
static u64 now, safety;
/* the thread: how late it wakes, the interval of kicks */
static u64 late, kick;

/* state of a claim in the test */
static struct claim {
	struct kfd_prio_qpd qp;
	u32 queues;
	bool gone;
	bool refuses;		/* its observation ends before anything is read */
	bool stays;		/* it cannot be armed */
	bool unreadable;	/* its indices are not present: its observation shows nothing */
	u64 ends;		/* when its work ends */
	u64 gap, seen;		/* longest time between two observations, and the last one */
	u64 count;
} claims[CLAIMS];
static unsigned int n;
/* reads of trapped claims, of fresh ones, of others; time of the thread */
static u64 reads[3], cpu, passes;
static u64 slow;	/* a read takes so many times as long */
static bool frozen;	/* nobody may ask for the time */

u64 ktime_get_ns(void)
{
	assert_false(frozen);
	return now;
}

u64 kfd_prio_safety_poll_ns(void)
{
	return safety;
}

u64 kfd_prio_policy_until(const struct kfd_prio_params *p, const struct kfd_prio_claim *c)
{
	return c->work ? c->progress_at + p->budget_ns : c->work_at + p->linger_ns;
}

static u64 poll_at(void)
{
	u64 at;

	frozen = true;
	at = kfd_prio_claim_poll_at(&dqm, &k);
	frozen = false;
	return at;
}

static void begin(u64 safety_ns)
{
	memset(&dqm, 0, sizeof(dqm));
	memset(claims, 0, sizeof(claims));
	memset(reads, 0, sizeof(reads));
	INIT_LIST_HEAD(&d->rung_claims);
	INIT_LIST_HEAD(&d->fresh_claims);
	INIT_LIST_HEAD(&d->trapped_claims);
	k = (struct kfd_prio_params){ .linger_ns = 200 * US, .budget_ns = 100 * MS };
	now = 10 * SEC;
	safety = safety_ns;
	late = 0;
	kick = 0;
	slow = 1;
	n = 0;
	cpu = 0;
	passes = 0;
}

/* A trapped claim without work, that was observed just now */
static struct claim *trapped(u32 queues)
{
	struct claim *c = &claims[n++];

	c->queues = queues;
	c->qp.claim.observed_at = now;
	c->qp.park.quiet_at = now;
	c->seen = now;
	list_add_tail(&c->qp.claim.link, &d->trapped_claims);
	return c;
}

/* A claim rings, for work that takes @ns */
static void ring(struct claim *c, u64 ns)
{
	list_move_tail(&c->qp.claim.link, &d->rung_claims);
	c->qp.claim.rung = true;
	c->qp.work = true;
	c->qp.claim.rung_since = now;
	c->qp.claim.work_at = now;
	c->qp.progress_at = now;
	c->ends = now + ns;
	c->seen = now;
}

static struct claim *busy(u32 queues, u64 ns)
{
	struct claim *c = trapped(queues);

	ring(c, ns);
	return c;
}

static void take(struct claim *c)
{
	c->qp.preempted = true;
	c->qp.observe = true;
	c->qp.marked_at = now;
	d->claim_marked |= !c->qp.claim.rung;
}

/* As kfd_prio_claim_indices() */
static bool read_claim(struct claim *c, struct kfd_prio_claim_pass *pass)
{
	u32 r = KFD_PRIO_POLL_CLAIM + (c->qp.preempted ? 3 * c->queues : c->queues);

	if (c->refuses || (c->qp.preempted && d->state == KFD_PRIO_STATE_LEFT)) {
		*pass->reads += KFD_PRIO_POLL_READS / 4;
		return false;
	}
	*pass->reads += r;
	reads[pass->reads == &d->trapped_reads ? 0 : pass->reads == &d->fresh_reads ? 1 : 2] += r;
	now += slow * r * READ_NS;
	pass->ns += slow * r * READ_NS;
	kfd_prio_claim_observed(&dqm, &c->qp, now);
	if (c->count++ && now - c->seen > c->gap)
		c->gap = now - c->seen;
	c->seen = now;
	c->qp.observe &= c->unreadable;
	c->qp.claim.signalled_at = 0;	/* as kfd_prio_claim_before() */
	if (c->qp.claim.rung) {
		c->qp.work = now < c->ends;
		if (c->qp.work) {
			c->qp.claim.work_at = now;
			c->qp.progress_at = now;
		}
	}
	return true;
}

/* As kfd_prio_claim_observe() and kfd_prio_claim_arm(); a claim in a fault is not armed */
static void pass_over(void)
{
	struct kfd_prio_claim_pass pass;
	struct kfd_prio_qpd *qp;
	unsigned int most = n + 2;
	u32 before;
	u64 start = now;

	passes++;
	kfd_prio_claim_pass_begin(&dqm, &pass);
	while ((before = pass.rung_reads, qp = kfd_prio_claim_pass_next(&dqm, &pass, &k))) {
		struct claim *c = container_of(qp, struct claim, qp);

		assert_true(most--);
		if (pass.reads == &pass.rung_reads)
			assert_true(before < KFD_PRIO_POLL_READS);
		assert_false(c->gone);
		if (!read_claim(c, &pass))
			break;
		if (!c->stays && qp->claim.rung && !qp->work && now >= qp->claim.work_at + k.linger_ns) {
			qp->claim.rung = false;
			qp->park.quiet_at = now;
			list_move_tail(&qp->claim.link, &d->fresh_claims);
			read_claim(c, &pass);
		}
	}
	kfd_prio_claim_pass_end(&dqm, &pass);
	cpu += now - start;
}

/* The thread, for @ns */
static void run(u64 ns)
{
	u64 end = now + ns, next = kick ? now + kick : KFD_PRIO_NEVER, at, most;

	/* one for each shortest interval of a list, for each claim that holds no longer, or kick */
	most = passes + 3 * ns / (20 * US) + (kick ? ns / kick : 0) + n + 10;
	for (;;) {
		at = poll_at();
		/* a fixed point in time: it does not depend on when it is asked for */
		now += 7;
		assert_true(poll_at() == at);
		now -= 7;
		if (min(at, next) >= end)
			break;
		if (next < at) {
			now = max(now, next);
			next = max(next, now) + kick;
		} else {
			now = max(now, at) + late;
		}
		pass_over();
		/* what is due now is not due again at once */
		assert_true(passes <= most);
	}
	now = max(now, end);
}

static u64 turn(void)
{
	return safety / TURNS;
}

/* The turns that all trapped claims take together */
static u64 turns(void)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += claims[i].gone ? 0 : (claims[i].queues + FIXED + READS - 1) / READS;
	return sum;
}

/* While there are groups the next time cannot be foreseen: it is any within the interval, and none before the last one */
static void test_early(void **unused)
{
	static const u32 random[] = { 0, 1u << 20, 1u << 31, 3u << 30, U32_MAX - 1 };
	struct claim *c;
	unsigned int i;
	u64 last, at;

	(void)unused;
	for (i = 0; i < sizeof(random) / sizeof(random[0]); i++) {
		begin(10 * MS);
		c = trapped(8);
		d->random = random[i];
		run(100 * MS);
		last = c->qp.claim.observed_at;
		at = last + 10 * MS - mul_u64_u32_shr(10 * MS, random[i], 32);
		assert_true(c->count > 5);
		assert_in_range(poll_at(), at > d->rest_at ? at - 20 * US : d->rest_at, (at > d->rest_at ? at : d->rest_at) + 20 * US);
		/* another claim is the first one, which was observed long ago */
		c->qp.claim.observed_at = now - 50 * MS;
		assert_true(poll_at() >= d->trapped_at);
	}
}

/* Each claim is observed in time, and the ration is kept: whatever their number, of queues and of kicks */
static void test_trapped(void **unused)
{
	static const u32 queues[] = { 1, 8, 24, 25, 100, 1024 };
	static const u64 safeties[] = { 1 * MS, 10 * MS, 10 * SEC };
	static const u64 delays[] = { 0, 15 * US, 400 * US };
	static const u64 kicks[] = { 0, 5 * US, 333 * US };
	static const unsigned int ns[] = { 1, 2, 7, 8, 9, 64, 200 };
	unsigned int a, b, c, e, f, i;

	(void)unused;
	for (a = 0; a < 6; a++)
	for (b = 0; b < 3; b++)
	for (c = 0; c < 3; c++)
	for (e = 0; e < 3; e++)
	for (f = 0; f < 7; f++) {
		u64 t, most, took;

		if (queues[a] * ns[f] > GPU_QUEUES || (kicks[e] && (ns[f] > 9 || safeties[b] == 10 * SEC)))
			continue;
		begin(safeties[b]);
		late = delays[c];
		kick = kicks[e];
		for (i = 0; i < ns[f]; i++)
			trapped(queues[a]);
		t = now;
		took = (queues[a] + FIXED) * READ_NS;
		/* its own poll is due, or all others have had their turn */
		most = max(safety, turns() * turn()) + turn() + 2 * (late + took) + kick;
		if (took + late > (queues[a] + FIXED + READS - 1) / READS * turn())
			/* the thread is later than a turn each time: it catches up with one of them only */
			most = max(most, ns[f] * (took + late + turn()) + safety);
		run(5 * most);
		for (i = 0; i < n; i++) {
			assert_true(claims[i].count >= 2);
			if (claims[i].gap > most)
				fail_msg("gap %lu of %lu: %u claims of %u queues, safety_poll_us %lu, late %lu, kick %lu ns", claims[i].gap, most, ns[f], queues[a], safety / US, late, kick);
			assert_true(claims[i].gap + 1 >= safety);
		}
		assert_true(reads[0] <= ((now - t) / turn() + 3) * READS + queues[a] + FIXED);
		assert_true(reads[1] == 0 && reads[2] == 0);
	}
}

/* 64 claims of 24 queues: each within 80 ms, and 3 % of a CPU */
static void test_64(void **unused)
{
	unsigned int i;

	(void)unused;
	begin(10 * MS);
	late = 20 * US;
	for (i = 0; i < 64; i++)
		trapped(24);
	run(10 * SEC);
	for (i = 0; i < 64; i++)
		assert_in_range(claims[i].gap, 79 * MS, 80 * MS + 100 * US);
	assert_in_range(cpu, 10 * SEC / 1000 * 10, 10 * SEC / 1000 * 20);
}

/* Many queues of some claims delay the others by the turns that these queues take, and no more */
static void test_crowd(void **unused)
{
	unsigned int i;
	u64 most;

	(void)unused;
	begin(10 * MS);
	for (i = 0; i < 3; i++)
		trapped(1024);
	for (i = 0; i < 900; i++)
		trapped(1);
	most = turns() * turn() + 2 * turn() + 1024 * READ_NS;
	run(10 * SEC);
	for (i = 0; i < n; i++)
		assert_true(claims[i].count > 2 && claims[i].gap <= most);
	assert_true(cpu <= 10 * SEC / 100 * 4);
}

/* After a time without the CPU, or suspended, the turns that were missed are not made up for */
static void test_stalled(void **unused)
{
	unsigned int i;

	(void)unused;
	begin(10 * MS);
	for (i = 0; i < 64; i++)
		trapped(24);
	run(1 * SEC);
	now += 5 * SEC;
	reads[0] = 0;
	run(20 * MS);
	assert_true(reads[0] <= (20 * MS / turn() + 3) * READS);
}

/* A shorter safety_poll_us is in force at once */
static void test_shorter(void **unused)
{
	struct claim *c;
	u64 at;

	(void)unused;
	begin(10 * SEC);
	c = trapped(1);
	trapped(1);
	run(15 * SEC);
	at = now;
	safety = 10 * MS;
	run(20 * MS);
	assert_true(c->seen >= at && c->seen <= at + 12 * MS);
}

/* How long a claim is busy before its end is noticed late by at most a sixteenth, or by 50 us */
static void test_busy(void **unused)
{
	static const u64 works[] = { 20 * US, 1 * MS, 3 * MS, 50 * MS, 200 * MS, 1 * SEC, 30 * SEC };
	static const u32 queues[] = { 1, 8, 24 };
	unsigned int a, b;
	struct claim *c;

	(void)unused;
	for (a = 0; a < 7; a++)
	for (b = 0; b < 3; b++) {
		u64 most = 50 * US + (queues[b] + FIXED) * (REST_NS + READ_NS);

		begin(10 * MS);
		c = busy(queues[b], works[a]);
		run(works[a] + 100 * MS);
		assert_false(c->qp.claim.rung);
		/* work_at is when it was last known to work: its end was noticed an interval later, and armed linger_us later */
		assert_true(c->qp.park.quiet_at >= c->ends);
		assert_true(c->qp.park.quiet_at <= c->ends + max(most, min(works[a] / 16 + 60 * US, 10 * MS + 60 * US)) + k.linger_ns);
	}
	/* a second of work: a hundred observations in the next one */
	begin(10 * MS);
	c = busy(24, 3600 * SEC);
	run(1 * SEC);
	cpu = 0;
	passes = 0;
	run(1 * SEC);
	assert_in_range(passes, 90, 110);
	assert_in_range(c->gap, 9 * MS, 10 * MS + 100 * US);
	/* with 10 s the limit is a quarter of busy_budget_ms; the work counts as progress for that long */
	safety = 10 * SEC;
	passes = 0;
	run(1 * SEC);
	assert_in_range(passes, 39, 45);
}

/* A claim whose end is signalled is observed a quarter as often, and soon after an event */
static void test_signals(void **unused)
{
	struct claim *c;
	u64 dense, ns;

	(void)unused;
	begin(10 * MS);
	c = busy(1, 2700 * US);
	run(2700 * US);
	dense = c->count;
	assert_in_range(dense, 30, 45);
	begin(10 * MS);
	c = busy(1, 2700 * US);
	c->qp.claim.signals = true;
	run(2700 * US);
	assert_in_range(c->count, dense / 5, dense / 3);
	/* the longest interval is that of any claim */
	c->ends = now + 3600 * SEC;
	run(2 * SEC);
	passes = 0;
	run(1 * SEC);
	assert_in_range(passes, 90, 110);

	/* an event ends the interval: KFD's worker has run 40 us later */
	begin(10 * MS);
	c = busy(1, 3600 * SEC);
	c->qp.claim.signals = true;
	run(1600 * US);
	c->qp.claim.observed_at = now;
	d->claims_at = 0;
	ns = (now - c->qp.claim.rung_since) / 16;
	assert_true(poll_at() == now + 4 * ns);
	c->qp.claim.signalled_at = now + 2 * ns;
	assert_true(poll_at() == now + 2 * ns + KFD_PRIO_SIGNAL_WAIT);
	/* which does not delay what is due earlier */
	c->qp.claim.signalled_at = now + 4 * ns;
	assert_true(poll_at() == now + 4 * ns);
	/* and no sooner than that of a claim without events ends */
	c->qp.claim.signalled_at = now;
	assert_true(poll_at() == now + ns);
	/* nor sooner than the reads of a pass permit */
	d->claims_at = now;
	d->claims_reads = 1000;
	assert_true(poll_at() == now + 1000 * REST_NS);
	d->claims_at = 0;
	/* if its end was not signalled, an event changes nothing */
	c->qp.claim.signals = false;
	assert_true(poll_at() == now + ns);
	/* nor is the second look at what may have ended a late one */
	c->qp.claim.signals = true;
	c->qp.claim.signalled_at = 0;
	c->qp.claim.ended = true;
	assert_true(poll_at() == now + ns);
}

/*
 * Any number of events, at any time, costs at most the observations of a claim without one: at once after an observation, at any
 * interval, or just before the next one
 */
static void test_many_events(void **unused)
{
	static const u64 works[] = { 1 * MS, 10 * MS, 1 * SEC };
	static const u64 every[] = { 3 * US, 45 * US, 101 * US, 1 * MS, 2600 * US, 10250 * US };
	unsigned int a, b, signals;
	u64 end, next, count;
	struct claim *c;

	(void)unused;
	for (a = 0; a < 3; a++)
	for (signals = 0; signals < 2; signals++) {
		begin(10 * MS);
		c = busy(8, 3600 * SEC);
		run(works[a]);
		count = c->count;
		for (b = 0; b < 6; b++) {
			begin(10 * MS);
			c = busy(8, 3600 * SEC);
			c->qp.claim.signals = signals;
			for (end = now + works[a], next = now; now < end; ) {
				if (now >= next) {
					if (!c->qp.claim.signalled_at)
						c->qp.claim.signalled_at = now;
					next += every[b];
				}
				run(min(3 * US, end - now));
			}
			assert_true(c->count <= count + 2);
			assert_true(cpu <= works[a] / 4);
		}
	}
}

/* Many busy claims, of many queues, take a fifth of a CPU at most, and each has its turn */
static void test_many_busy(void **unused)
{
	static const unsigned int ns[] = { 1, 4, 32, 512, 1000 };
	unsigned int a, i;
	u64 most;

	(void)unused;
	for (a = 0; a < 5; a++) {
		u32 queues = GPU_QUEUES / ns[a] > 1024 ? 1024 : GPU_QUEUES / ns[a];

		begin(10 * MS);
		for (i = 0; i < ns[a]; i++)
			busy(queues, 3600 * SEC);
		most = 10 * MS + (u64)ns[a] * (queues + FIXED) * (REST_NS + READ_NS) + 2 * MS;
		run(5 * SEC);
		assert_true(cpu <= 5 * SEC / 100 * 21);
		for (i = 0; i < n; i++)
			assert_true(claims[i].count > 10 && claims[i].gap <= most);
	}
}

/* However slowly a host reads, observing takes half of a CPU at most, but for one pass */
static void test_slow(void **unused)
{
	static const u64 slower[] = { 10, 100, 1000 };
	unsigned int a, what, i;

	(void)unused;
	for (a = 0; a < 3; a++)
		for (what = 0; what < 4; what++) {
			begin(10 * MS);
			slow = slower[a];
			for (i = 0; i < (what == 1 ? 64 : 1); i++)
				busy(8, what < 2 ? 3600 * SEC : 0)->stays = true;
			/* one that is taken off again and again, and never proved to have no work */
			if (what == 3)
				trapped(24)->unreadable = true;
			for (i = 0; i < 200; i++) {
				if (what == 3)
					take(&claims[1]);
				run(20 * MS);
			}
			assert_true(cpu <= (now - 10 * SEC) / 2 + KFD_PRIO_POLL_READS * slow * READ_NS + MS);
			for (i = 0; i < n; i++)
				assert_true(claims[i].count > 0);
		}
}

/* Busy and fresh claims do not delay the poll of the trapped ones, nor these the others; with any number of kicks */
static void test_mixed(void **unused)
{
	static const u64 kicks[] = { 0, 3 * US, 50 * US };
	struct claim *c[3];
	unsigned int a, i;

	(void)unused;
	for (a = 0; a < 3; a++) {
		begin(10 * MS);
		for (i = 0; i < 16; i++)
			trapped(24);
		for (i = 0; i < 3; i++)
			c[i] = busy(1024, 3600 * SEC);
		kick = kicks[a];
		for (i = 0; i < 200; i++) {
			/* one that is taken off again and again, and never proved to have no work */
			take(&claims[0]);
			run(1 * MS);
		}
		for (i = 1; i < 16; i++)
			assert_true(claims[i].count >= 2 && claims[i].gap <= 20 * MS + 5 * MS + 3 * 1024 * READ_NS);
		assert_true(claims[0].count >= 15);
		for (i = 0; i < 3; i++)
			assert_true(c[i]->gap <= 40 * MS);
		assert_true(cpu <= 200 * MS / 100 * 35);
	}
}

/* What is armed, or taken off, and was not observed is observed at once, one after the other */
static void test_fresh(void **unused)
{
	unsigned int i;
	u64 at;

	(void)unused;
	begin(10 * SEC);
	for (i = 0; i < 63; i++)
		trapped(24);
	run(1 * SEC);
	for (i = 0; i < 63; i++)
		take(&claims[i]);
	/* not before the hardware has confirmed the unmap */
	d->state = KFD_PRIO_STATE_LEFT;
	passes = 0;
	run(5 * MS);
	assert_in_range(passes, 0, 8);
	assert_true(reads[1] == 0);
	d->state = KFD_PRIO_STATE_COMMITTED;
	at = now;
	cpu = 0;
	run(63 * ((3 * 24 + FIXED) * (REST_NS + READ_NS) + 10 * US));
	for (i = 0; i < 63; i++)
		assert_true(claims[i].seen > at && !claims[i].qp.observe);
	assert_true(cpu <= (now - at) / 4);
	/* and then no more */
	i = reads[1];
	run(1 * SEC);
	assert_int_equal(reads[1], i);

	/* one that a kick comes before is tried again, at once and not in a loop */
	begin(10 * SEC);
	trapped(24);
	take(&claims[0]);
	claims[0].refuses = true;
	run(10 * MS);
	assert_in_range(passes, 20, 210);
	claims[0].refuses = false;
	run(1 * MS);
	assert_true(!claims[0].qp.observe);

	/* the same of a claim that may have work */
	begin(10 * MS);
	busy(24, 3600 * SEC);
	run(1 * SEC);
	at = now;
	take(&claims[0]);
	run(100 * US);
	assert_true(claims[0].seen > at && !claims[0].qp.observe);
	/* and one whose indices cannot be read: once, and then as often as any */
	claims[0].unreadable = true;
	take(&claims[0]);
	at = now;
	run(100 * US);
	assert_true(claims[0].seen > at);
	passes = 0;
	run(100 * MS);
	assert_in_range(passes, 9, 12);
}

/* A claim that holds no longer and cannot be armed, because it is in a fault, is not observed in a loop */
static void test_lapsed(void **unused)
{
	struct kfd_prio_qpd *qp;

	(void)unused;
	begin(10 * MS);
	busy(8, 0);
	qp = &claims[0].qp;
	qp->work = false;
	k.linger_ns = 0;
	/* never armed: pass_over() arms what has no work for linger_us, so keep it from that */
	claims[0].refuses = false;
	k.linger_ns = 200 * US;
	qp->claim.work_at = now - 1 * SEC;
	qp->claim.observed_at = now;
	assert_true(poll_at() == now + 50 * US);
	qp->claim.observed_at = 0;
	/* one that is new was never observed: at once */
	assert_true(poll_at() <= now);
	/* one that has work, but makes no progress for busy_budget_ms */
	qp->work = true;
	qp->progress_at = now - 95 * MS;
	qp->claim.rung_since = now - 10 * SEC;
	qp->claim.observed_at = now;
	assert_true(poll_at() == now + 5 * MS);
}

/* Claims go, ring and are armed at random, and what is left is observed */
static void test_random(void **unused)
{
	const char *seed = getenv("SEED"), *steps = getenv("STEPS");
	unsigned int i, x, left = steps ? atoi(steps) : 200000;

	(void)unused;
	srandom(seed ? atoi(seed) : 1);
	begin(10 * MS);
	for (i = 0; i < 40; i++)
		trapped(1 + random() % 30);
	while (left--) {
		struct claim *c = &claims[random() % n];

		x = random() % 100;
		late = random() % 3 ? 0 : random() % (50 * US);
		kick = random() % 2 ? 0 : 1 * US + random() % (200 * US);
		if (c->gone)
			;
		else if (x < 40 && !c->qp.claim.rung && !c->qp.preempted)
			ring(c, random() % (3 * MS));
		else if (x < 60)
			take(c);
		else if (x < 80)
			c->qp.preempted = false;
		else if (x == 80 && n < CLAIMS) {
			c->gone = true;
			list_del(&c->qp.claim.link);
			trapped(1 + random() % 30);
		}
		d->state = x == 81 ? KFD_PRIO_STATE_LEFT : KFD_PRIO_STATE_COMMITTED;
		run(random() % (100 * US));
		d->state = KFD_PRIO_STATE_COMMITTED;
		/* all is in a list, once */
		if (left % 1000)
			continue;
		x = 0;
		for (i = 0; i < n; i++)
			x += !claims[i].gone;
		for (i = 0; i < 3; i++) {
			struct list_head *l = i == 0 ? &d->rung_claims : i == 1 ? &d->fresh_claims : &d->trapped_claims;
			struct kfd_prio_qpd *qp;

			list_for_each_entry(qp, l, claim.link) {
				assert_int_equal(qp->claim.rung, i == 0);
				x--;
			}
		}
		assert_int_equal(x, 0);
	}
	for (i = 0; i < n; i++)
		claims[i].count = claims[i].qp.preempted = 0;
	run(5 * SEC);
	for (i = 0; i < n; i++)
		assert_true(claims[i].gone || claims[i].count > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trapped),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_64),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_stalled),
		cmocka_unit_test(test_shorter),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_many_events),
		cmocka_unit_test(test_many_busy),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_fresh),
		cmocka_unit_test(test_lapsed),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("poll", tests, NULL, NULL);
}
