// SPDX-License-Identifier: GPL-2.0
/*
 * Random schedules, run by the engine and by the reference model side by side. After every
 * step both must be in the same state, to the nanosecond, and the invariants must hold.
 *
 * Environment: SEED, STEPS: the first seed and how many steps in all (200 to a seed).
 */
#include "fixture.h"
#include "reference.h"

#define STEPS_PER_SEED	200
#define STEPS		120000

static struct {
	unsigned int seed, step;
	struct script script[REF_QUEUES];
	struct engine e;
	struct eng_proc p[REF_PROCS];
	struct eng_queue q[REF_QUEUES];
	u32 next[REF_QUEUES];
	struct record rec[REF_QUEUES];
	u64 lost[REF_QUEUES];		/* bit i: item i was in flight when its queue was reset */
	u64 ran_before;			/* of slot work that was lost */
	struct ref r;
	bool in[REF_QUEUES], unmapping[REF_PROCS], levels, hints, failed;
	u32 hqds_before, vmids_before, slots_before;
	u64 hint, completions;
	char why[160];
} s;

static u32 rnd(u32 n)
{
	return (u32)(random() >> 8) % n;
}

static int index_of(const struct eng_queue *q)
{
	return q - s.q;
}

/* ---- the engine's owner ---- */

static bool peek(void *ctx, struct eng_queue *q, u64 t, struct eng_work *w)
{
	int k = index_of(q);
	const struct script_item *i = &s.script[k].item[s.next[k]];

	(void)ctx;
	(void)t;
	q->quiet = s.hints && s.next[k] == s.script[k].n;
	if (s.next[k] == s.script[k].n ||
	    (i->dep_queue >= 0 && !s.rec[i->dep_queue].times[i->dep_item]))
		return false;
	w->left_ns = i->ns;
	w->avail = i->avail;
	w->live_bytes = i->bytes;
	w->slot = i->slot;
	w->blocks = i->blocks;
	w->user[0] = s.next[k];
	return true;
}

static void launch(void *ctx, struct eng_queue *q, struct eng_work *w, u64 t)
{
	(void)ctx;
	s.rec[index_of(q)].launched[w->user[0]] = t;
	s.next[index_of(q)]++;
}

static void complete(void *ctx, struct eng_queue *q, struct eng_work *w, u64 t)
{
	struct record *rec = &s.rec[index_of(q)];

	(void)ctx;
	rec->completed[w->user[0]] = t;
	rec->times[w->user[0]]++;
	s.completions++;
	assert_int_equal(w->ran_ns, s.script[index_of(q)].item[w->user[0]].ns);
}

static bool ready(void *ctx, struct eng_queue *q)
{
	(void)ctx;
	return s.next[index_of(q)] < s.script[index_of(q)].n;
}

/* An owner whose doorbells are not seen, and one who says which queue has work */
static const struct eng_ops ops = { peek, launch, complete };
static const struct eng_ops hint_ops = { peek, launch, complete, ready };

/* ---- comparison ---- */

static void fail_at(const char *what, long long have, long long want, int q)
{
	if (s.failed)
		return;
	s.failed = true;
	snprintf(s.why, sizeof(s.why), "%s: engine %lld, reference %lld, queue %d", what, have,
		 want, q);
}

#define SAME(what, have, want, q) do { \
	long long h_ = (have), w_ = (want); \
	if (h_ != w_) \
		fail_at(what, h_, w_, q); \
} while (0)

static void show(void)
{
	static const char * const name[] = { "off", "restoring", "on", "saving" };
	struct eng_config *c = &s.e.cfg;

	print_message("# seed %u step %u time %llu: %s\n", s.seed, s.step,
		      (unsigned long long)s.e.now, s.why);
	print_message("# replay: SEED=%u STEPS=%u\n", s.seed, STEPS_PER_SEED);
	print_message("# slots %u hqds %u vmids %u quanta %llu %llu save %llu restore %llu rate %llu\n",
		      c->slots, c->hqds, c->vmids, (unsigned long long)c->process_quantum_ns,
		      (unsigned long long)c->gang_quantum_ns, (unsigned long long)c->save_ns,
		      (unsigned long long)c->restore_ns, (unsigned long long)c->bytes_per_us);
	for (int p = 0; p < REF_PROCS; p++)
		if (s.r.proc[p].in)
			print_message("# process %d: vmid %d/%d leaving %d/%d overdue %d/%d held %d since %llu/%llu\n",
				      p, s.p[p].vmid >= 0, s.r.proc[p].has_vmid, s.p[p].leaving,
				      s.r.proc[p].leaving, s.p[p].overdue, s.r.proc[p].overdue,
				      s.p[p].held, (unsigned long long)s.p[p].since,
				      (unsigned long long)s.r.proc[p].since);
	for (int q = 0; q < REF_QUEUES; q++) {
		struct ref_queue *y = &s.r.queue[q];
		struct eng_queue *x = &s.q[q];

		if (!s.in[q])
			continue;
		print_message("# queue %d of %d: %s/%s prio %u.%u level %u held %d since %llu/%llu service %llu/%llu next %u/%u works",
			      q, y->proc, name[x->state], name[y->state], y->pipe, y->prio, y->level,
			      y->held, (unsigned long long)x->since, (unsigned long long)y->since,
			      (unsigned long long)x->service, (unsigned long long)y->service,
			      s.next[q], y->next);
		for (u32 i = 0; i < ENG_INFLIGHT; i++)
			if (i < x->nwork || i < y->nwork)
				print_message(" [%s %llu left %llu / %s %u left %llu]",
					      x->work[i].running ? "runs" : "waits",
					      (unsigned long long)x->work[i].user[0],
					      (unsigned long long)x->work[i].left_ns,
					      y->work[i].runs ? "runs" : "waits", y->work[i].item,
					      (unsigned long long)y->work[i].left);
		print_message("\n");
	}
}

static void compare(void)
{
	for (int p = 0; p < REF_PROCS; p++)
		if (s.r.proc[p].in) {
			SAME("process has a VMID", s.p[p].vmid >= 0, s.r.proc[p].has_vmid, -1);
			SAME("process leaves", s.p[p].leaving, s.r.proc[p].leaving, -1);
		}
	for (int q = 0; q < REF_QUEUES; q++) {
		struct ref_queue *y = &s.r.queue[q];
		struct eng_queue *x = &s.q[q];

		SAME("packets launched", s.next[q], y->next, q);
		for (u32 i = 0; i < s.script[q].n; i++) {
			SAME("times complete", s.rec[q].times[i], s.r.rec[q].times[i], q);
			SAME("launched at", s.rec[q].launched[i], s.r.rec[q].launched[i], q);
			SAME("complete at", s.rec[q].completed[i], s.r.rec[q].completed[i], q);
		}
		if (!s.in[q])
			continue;
		SAME("state", x->state, y->state, q);
		SAME("in flight", x->nwork, y->nwork, q);
		SAME("running time", x->ran_ns, y->ran, q);
		SAME("saves", x->saves, y->saves, q);
		for (u32 i = 0; i < x->nwork && i < y->nwork; i++) {
			SAME("item in flight", x->work[i].user[0], y->work[i].item, q);
			SAME("its time left", x->work[i].left_ns, y->work[i].left, q);
			SAME("its running time", x->work[i].ran_ns, y->work[i].ran, q);
			SAME("it runs", x->work[i].running, y->work[i].runs, q);
		}
	}
	SAME("saves", s.e.saves, s.r.saves, -1);
	SAME("busy time", s.e.busy_ns, s.r.busy, -1);
}

/* ---- what must hold of any schedule ---- */

static u32 max_u32(u32 a, u32 b)
{
	return a > b ? a : b;
}

static void check_copies(void)
{
	u64 pending = 0;

	for (int q = 0; q < REF_QUEUES; q++) {
		struct eng_queue *x = &s.q[q];
		u64 from = x->until - x->copy_ns;

		if (!s.in[q] || x->until <= s.e.now ||
		    (x->state != ENG_Q_SAVING && x->state != ENG_Q_RESTORING))
			continue;
		pending += x->until - (from > s.e.now ? from : s.e.now);
		for (int k = 0; k < q; k++) {
			struct eng_queue *y = &s.q[k];

			if (s.in[k] && y->until > s.e.now &&
			    (y->state == ENG_Q_SAVING || y->state == ENG_Q_RESTORING) &&
			    from < y->until && y->until - y->copy_ns < x->until)
				fail_at("two copies on the path at once", q, k, q);
		}
	}
	/* what was charged is what was copied and what will be */
	SAME("time on the copy path", s.e.save_time_ns, s.r.copied + pending, -1);
}

static void check_invariants(void)
{
	u32 vmids = 0, hqds = eng_used_hqds(&s.e), slots = eng_used_slots(&s.e), flying;
	u64 used = 0, sum = s.ran_before;

	for (int p = 0; p < REF_PROCS; p++) {
		if (!s.r.proc[p].in || s.p[p].vmid < 0)
			continue;
		vmids++;
		SAME("VMID given twice", !!(used & 1ULL << s.p[p].vmid), 0, -1);
		used |= 1ULL << s.p[p].vmid;
	}
	for (int q = 0; q < REF_QUEUES; q++) {
		flying = 0;
		for (u32 i = 0; i < s.q[q].nwork; i++) {
			struct eng_work *w = &s.q[q].work[i];

			SAME("ran and left", w->left_ns + w->ran_ns,
			     s.script[q].item[w->user[0]].ns, q);
			sum += w->slot ? w->ran_ns : 0;
		}
		/* launched: complete once, or lost in a reset, or in flight */
		for (u32 i = 0; i < s.next[q]; i++) {
			bool lost = s.lost[q] >> i & 1;

			if (s.rec[q].times[i] + lost > 1)
				fail_at("complete twice", i, 1, q);
			flying += !s.rec[q].times[i] && !lost;
			if (s.rec[q].times[i] && s.script[q].item[i].slot)
				sum += s.script[q].item[i].ns;
		}
		SAME("launched and neither in flight nor complete", flying, s.q[q].nwork, q);
		for (u32 i = s.next[q]; i < s.script[q].n; i++)
			SAME("complete before its launch", s.rec[q].times[i], 0, q);
		if (s.in[q] && s.q[q].state == ENG_Q_ON && s.q[q].proc->vmid < 0)
			fail_at("runs without a VMID", 0, 0, q);
	}
	SAME("busy time and what ran", s.e.busy_ns, sum, -1);
	/* limits that were lowered hold for what is given from then on */
	if (hqds > max_u32(s.e.cfg.hqds, s.hqds_before))
		fail_at("HQDs", hqds, s.e.cfg.hqds, -1);
	if (vmids > max_u32(s.e.cfg.vmids, s.vmids_before))
		fail_at("VMIDs", vmids, s.e.cfg.vmids, -1);
	if (slots > max_u32(s.e.cfg.slots, s.slots_before))
		fail_at("slots", slots, s.e.cfg.slots, -1);
	s.hqds_before = hqds;
	s.vmids_before = vmids;
	s.slots_before = slots;
	check_copies();
}

/* ---- steps ---- */

static void advance(u64 now)
{
	u64 next, done = s.completions;

	next = eng_advance(&s.e, now);
	/* it had said when something would happen next; nothing did before */
	if (now < s.hint)
		SAME("complete before the next event", s.completions, done, -1);
	s.hint = next;
	ref_advance(&s.r, now);
	SAME("time", s.e.now, s.r.now, -1);
	if (next <= now)
		fail_at("next event in the past", next, now, -1);
}

static void changed(void)
{
	s.hint = 0;
	advance(s.e.now);
}

static void add_queue(int p, int q, bool fresh)
{
	struct ref_queue *y = &s.r.queue[q];
	struct eng_queue old = s.q[q], *x = &s.q[q];

	*x = (struct eng_queue){};
	if (fresh) {
		*y = (struct ref_queue){ .next = s.next[q], .pipe = rnd(3), .prio = rnd(2),
			.level = s.levels ? rnd(ENG_LEVELS) : 0, .own_engine = !rnd(8),
			.quantum = rnd(4) ? 0 : 3 + rnd(40), .held = !rnd(10) };
	} else {
		x->nwork = old.nwork;
		memcpy(x->work, old.work, sizeof(x->work));
	}
	x->pipe_prio = y->pipe;
	x->queue_prio = y->prio;
	x->level = y->level;
	x->own_engine = y->own_engine;
	x->quantum_ns = y->quantum;
	x->held = y->held;
	eng_add_queue(&s.e, &s.p[p], x);
	ref_add_queue(&s.r, p, q);
	s.in[q] = true;
}

static void forget(int q, bool lost)
{
	for (u32 i = 0; i < s.q[q].nwork && lost; i++) {
		s.lost[q] |= 1ULL << s.q[q].work[i].user[0];
		s.ran_before += s.q[q].work[i].slot ? s.q[q].work[i].ran_ns : 0;
	}
	if (lost)
		s.q[q].nwork = s.r.queue[q].nwork = 0;
	s.in[q] = false;
}

/* Take a process off the runlist; what its queues hold is kept, or lost in a reset */
static void remove_proc(int p, bool lost)
{
	for (int q = 0; q < REF_QUEUES; q++)
		if (s.in[q] && s.r.queue[q].proc == p) {
			forget(q, lost);
			if (rnd(2)) {
				eng_remove_queue(&s.e, &s.q[q]);
				ref_remove_queue(&s.r, q);
			}
		}
	eng_remove_proc(&s.e, &s.p[p]);
	ref_remove_proc(&s.r, p);
	s.unmapping[p] = false;
}

/* Queues belong to process q / 3 */
static void add_proc(int p)
{
	s.p[p] = (struct eng_proc){ .quantum_ns = rnd(4) ? 0 : 10 + rnd(150) };
	eng_add_proc(&s.e, &s.p[p]);
	ref_add_proc(&s.r, p, s.p[p].quantum_ns);
	for (int q = p * 3; q < p * 3 + 3; q++)
		if (rnd(8))
			add_queue(p, q, !s.q[q].nwork);
}

static void add_work(void)
{
	int q = rnd(REF_QUEUES), dep = rnd(REF_QUEUES);
	struct script *sc = &s.script[q];
	struct script_item *i;

	if (s.in[q])
		eng_wake(&s.e, &s.q[q]);
	for (u32 n = 1 + rnd(6); n && sc->n < REF_ITEMS; n--) {
		i = &sc->item[sc->n++];
		*i = (struct script_item){ .slot = rnd(5), .dep_queue = -1,
			.ns = rnd(3) ? rnd(30) : rnd(300), .bytes = rnd(3) ? rnd(10) : 0,
			.avail = s.e.now + (s.levels || rnd(4) ? 0 : rnd(20)) };
		i->blocks = !i->slot || !rnd(10);
		if (!i->slot && s.script[dep].n && rnd(2)) {
			i->dep_queue = dep;
			i->dep_item = rnd(s.script[dep].n);
		}
	}
}

static void configure(void)
{
	struct eng_config c = {
		.slots = 1 + rnd(rnd(2) ? 2 : 6), .hqds = 1 + rnd(rnd(2) ? 3 : REF_QUEUES),
		.vmids = 1 + rnd(REF_PROCS), .process_quantum_ns = 10 + rnd(200),
		.gang_quantum_ns = 2 + rnd(50), .save_ns = rnd(6), .restore_ns = rnd(6),
		.bytes_per_us = rnd(4) ? 300 + rnd(2000) : 0, .level_preempt = rnd(2),
		.plain_turns = !rnd(3),
	};

	s.e.cfg = c;
	s.r.cfg = c;
}

static void unmap_some(int p)
{
	u64 t, now = s.e.now;
	const struct eng_proc *only = p < 0 ? NULL : &s.p[p];

	t = eng_unmap(&s.e, only, now);
	ref_unmap(&s.r, p);
	s.hint = 0;
	if (t > now && rnd(3)) {
		advance(t - 1);
		SAME("saved too early", eng_saved(&s.e, only), ref_saved(&s.r, p), -1);
	}
	if (rnd(2)) {
		advance(t);
		SAME("saved", eng_saved(&s.e, only), true, -1);
		SAME("saved", ref_saved(&s.r, p), true, -1);
	}
	for (int i = 0; i < REF_PROCS; i++)
		s.unmapping[i] |= s.r.proc[i].in && (p < 0 || p == i);
}

static void step(void)
{
	int p = rnd(REF_PROCS), q = rnd(REF_QUEUES);

	switch (rnd(16)) {
	case 0:
		if (s.r.proc[p].in && !s.unmapping[p])
			unmap_some(rnd(6) ? p : -1);
		break;
	case 1:
	case 2:
		for (p = 0; p < REF_PROCS; p++)
			if (s.unmapping[p] && eng_saved(&s.e, &s.p[p]))
				remove_proc(p, false);
		break;
	case 3:
	case 4:
	case 5:
		if (!s.r.proc[p].in)
			add_proc(p);
		break;
	case 6:
		if (s.r.proc[p].in && !rnd(10))
			remove_proc(p, true);
		break;
	case 7:
		if (s.in[q] && !s.r.queue[q].held) {
			u64 t = eng_unmap_queue(&s.e, &s.q[q], s.e.now);

			ref_unmap_queue(&s.r, q);
			SAME("queue saved", eng_queue_saved(&s.e, &s.q[q]), t == s.e.now &&
			     s.r.queue[q].state == ENG_Q_OFF, q);
			s.hint = 0;
			if (rnd(2)) {
				advance(t);
				SAME("queue saved", eng_queue_saved(&s.e, &s.q[q]), true, q);
			}
		}
		break;
	case 8:
	case 9:
		if (s.in[q]) {
			eng_resume_queue(&s.e, &s.q[q], s.e.now);
			ref_resume_queue(&s.r, q);
		}
		break;
	case 10:
		if (!rnd(6)) {
			configure();
		} else if (!rnd(4)) {
			u64 ns = rnd(60);

			eng_stall(&s.e, s.e.now + ns);
			ref_stall(&s.r, ns);
		}
		break;
	default:
		add_work();
	}
	changed();
	if (rnd(4))
		advance(s.e.now + rnd(rnd(4) ? 20 : 120));
	compare();
	check_invariants();
}

static void test_reference(void **state)
{
	const char *seed = getenv("SEED"), *steps = getenv("STEPS");
	u64 n, total = steps ? strtoull(steps, NULL, 0) : STEPS, completions = 0, saves = 0;

	(void)state;
	memset(&s, 0, sizeof(s));
	s.seed = seed ? strtoul(seed, NULL, 0) : 1;
	for (n = 0; n < total && !s.failed; s.seed++) {
		unsigned int this = s.seed;

		memset(&s, 0, sizeof(s));
		s.seed = this;
		srandom(this);
		s.levels = rnd(2);
		s.hints = rnd(2);
		configure();
		eng_init(&s.e, &s.e.cfg, s.hints ? &hint_ops : &ops, NULL, 0);
		ref_init(&s.r, &s.e.cfg, s.script);
		s.r.sees_rings = s.hints;
		for (s.step = 0; s.step < STEPS_PER_SEED; s.step++, n++) {
			step();
			if (s.failed)
				break;
		}
		if (s.failed)
			show();
		assert_false(s.failed);
		completions += s.completions;
		saves += s.e.saves;
	}
	print_message("# %llu steps, %llu packets complete, %llu saves\n", (unsigned long long)n,
		      (unsigned long long)completions, (unsigned long long)saves);
}

/* Returns the number of failures */
int reference_tests(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_reference) };

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
