// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "rate.h"

#define MAX_REQUESTS	200000
#define MAX_RUNS	200000
#define ONLINE		12
#define OFFLINE		7

/* An unmap and a runlist beside the save, as on the simulated GPU */
#define UPDATE_NS	(10 * US)

/**
 * struct model - the GPU and the processes
 * @c: the state of the online process as the driver has observed it
 * @d: the decision in force
 * @online_on: the online process is mapped, @offline_on: the offline one
 * @online: the online process has the GPU, from @from on, when the restore has ended
 * @left: GPU time that is left of the oldest request, of @dispatch: of the offline dispatch
 * @at: when requests have come, @done of @n have ended; @next: when the next one comes
 * @poll: when the driver observes the online process
 * @run_from, @run_to: when the offline work ran
 */
static struct model {
	const struct rate_run *r;
	struct kfd_prio_params k;
	struct kfd_prio_policy p;
	struct kfd_prio_claim c;
	struct kfd_prio_decision d;
	bool online_on, offline_on, online, running;
	u64 now, start, end, from, left, dispatch, next, poll, block_at;
	u64 at[MAX_REQUESTS], latency[MAX_REQUESTS];
	u32 n, done, first;
	u64 run_from[MAX_RUNS], run_to[MAX_RUNS];
	u32 runs, in_burst;
	struct rate_result *out;
} m;

static double uniform(void)
{
	return ((double)random() + 1) / ((double)RAND_MAX + 2);
}

static u64 interval(void)
{
	switch (m.r->arrivals) {
	case RATE_POISSON:
		return (u64)(-log(uniform()) * (double)m.r->every_ns);
	case RATE_BURSTS:
		if (++m.in_burst < m.r->burst)
			return m.r->every_ns;
		m.in_burst = 0;
		return 20 * m.r->every_ns;
	case RATE_RISES:
		return m.in_burst++ < m.r->burst ? 8 * m.r->every_ns : m.r->every_ns;
	default:
		return m.r->every_ns;
	}
}

static bool pending(void)
{
	return m.done < m.n;
}

static void run_end(u64 now)
{
	if (m.runs && !m.run_to[m.runs - 1])
		m.run_to[m.runs - 1] = now > m.run_from[m.runs - 1] ? now : m.run_from[m.runs - 1];
}

static void run_begin(u64 from)
{
	assert_true(m.runs < MAX_RUNS);
	m.run_from[m.runs] = from;
	m.run_to[m.runs++] = 0;
}

/* Time passes: whoever has the GPU runs */
static void pass(u64 now)
{
	u64 *left = m.online ? &m.left : &m.dispatch;

	if (m.running && now > m.from) {
		*left -= now - m.from;
		m.from = now;
	}
	m.now = now;
}

/* Gives the GPU to the process that the hardware would run, after @delay */
static void dispatch(u64 delay)
{
	bool online = m.online_on && pending() && (!m.offline_on || m.online || !m.dispatch);
	bool was = m.running, offline = !online && m.offline_on;

	if (was && m.online == online && (online || offline) && !delay)
		return;
	if (was && !m.online)
		run_end(m.now);
	m.running = online || offline;
	m.online = online;
	m.from = m.now + delay;
	if (online && !m.left)
		m.left = m.r->request_ns;
	if (offline && !m.dispatch)
		m.dispatch = RATE_DISPATCH;
	if (offline)
		run_begin(m.from);
}

/* The driver updates the hardware after a decision */
static void apply(void)
{
	bool online_on = m.d.throttle == NONE || m.d.throttle > ONLINE;
	bool offline_on = m.d.level <= OFFLINE;
	u64 save = 0, restore = 0, busy = m.from > m.now ? m.from - m.now : 0;

	if (online_on == m.online_on && offline_on == m.offline_on)
		return;
	if (m.running && m.now >= m.from)
		save = m.r->save_ns;
	else if (m.running && m.dispatch && !m.online)
		save = busy;	/* a restore in progress ends first */
	if (m.offline_on && !offline_on)
		m.out->switches++;
	if (offline_on && m.dispatch)
		restore = m.r->save_ns;
	if (online_on && m.left && !(offline_on && m.dispatch))
		restore = m.r->save_ns;
	m.online_on = online_on;
	m.offline_on = offline_on;
	if (m.running && !m.online)
		run_end(m.now);
	m.running = false;
	dispatch(save + restore + UPDATE_NS);
}

static void step(void)
{
	int level = m.p.level;

	kfd_prio_policy_decide(&m.p, &m.k, &m.c, 1, OFFLINE, m.now, &m.d);
	kfd_prio_policy_commit(&m.p, &m.k, m.d.level, m.d.level > OFFLINE ? OFFLINE : KFD_PRIO_RANK_NONE,
			       m.d.level > level, m.now);
	if (m.d.throttle != NONE && !m.block_at) {
		m.block_at = m.now;
		m.out->blocks += m.now >= m.start;
	} else if (m.d.throttle == NONE && m.block_at) {
		if (m.now >= m.start && m.now - m.block_at > m.out->block_max)
			m.out->block_max = m.now - m.block_at;
		m.block_at = 0;
	}
	apply();
	/* the driver arms the trap of a claim that does not hold */
	if (m.c.rung && !kfd_prio_policy_holds(&m.k, &m.c, m.now))
		m.c.rung = false;
}

/* As poll_ns() of kfd_prio_claim.c, with a linger_us of 200 */
static u64 poll_ns(u64 since)
{
	u64 ns = since / 16;

	return ns < 50 * US ? 50 * US : ns > MS ? MS : ns;
}

static void look(void)
{
	static u64 work_since;

	if (pending()) {
		if (!m.c.work)
			work_since = m.now;
		m.c.rung = m.c.work = true;
		m.c.work_at = m.c.progress_at = m.now;
	} else {
		m.c.work = false;
	}
	m.poll = m.now + poll_ns(m.now - work_since);
	step();
}

static void arrive(void)
{
	assert_true(m.n < MAX_REQUESTS);
	m.at[m.n++] = m.now;
	m.next = m.r->arrivals == RATE_CLOSED ? KFD_PRIO_NEVER : m.now + interval();
	if (!m.c.rung)
		look();
	dispatch(0);
}

static void complete(void)
{
	m.latency[m.done] = m.now - m.at[m.done];
	m.done++;
	if (m.at[m.done - 1] < m.start)
		m.first = m.done;
	if (m.r->arrivals == RATE_CLOSED)
		m.next = m.now + interval();
	m.running = false;
	dispatch(0);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The least of any period begins when the offline work stops, or ends when it begins */
static u64 floor_least(u64 period)
{
	u64 least = KFD_PRIO_NEVER, had, from, to, a, b;
	u32 i, j;

	for (i = 0; i < m.runs; i++) {
		from = m.run_to[i];
		to = from + period;
		if (from < m.start || to > m.end)
			continue;
		for (j = i + 1, had = 0; j < m.runs && m.run_from[j] < to; j++) {
			a = m.run_from[j];
			b = m.run_to[j] < to ? m.run_to[j] : to;
			had += b > a ? b - a : 0;
		}
		if (had < least)
			least = had;
	}
	return least;
}

void rate_play(const struct rate_run *r, struct rate_result *out)
{
	u64 now, had = 0;
	u32 i;

	memset(&m, 0, sizeof(m));
	memset(out, 0, sizeof(*out));
	m.r = r;
	m.out = out;
	m.k = r->k;
	kfd_prio_policy_cost(&m.k, r->save_ns);
	m.now = 10 * SEC;
	m.start = m.now + SEC;
	m.end = m.start + r->ns;
	m.poll = m.now;
	m.c.prio = ONLINE;
	m.online_on = m.offline_on = true;
	m.d.decide_at = KFD_PRIO_NEVER;
	kfd_prio_policy_init(&m.p, &m.k, m.now);
	dispatch(0);
	m.next = m.now + interval();
	while (m.now < m.end) {
		now = m.next < m.end ? m.next : m.end;
		if (m.d.decide_at < now)
			now = m.d.decide_at;
		if (m.c.rung && m.poll < now)
			now = m.poll;
		if (m.running && m.from + (m.online ? m.left : m.dispatch) < now)
			now = m.from + (m.online ? m.left : m.dispatch);
		pass(now > m.now ? now : m.now);
		if (m.running && m.online && m.now >= m.from && !m.left)
			complete();
		else if (m.running && !m.online && m.now >= m.from && !m.dispatch)
			dispatch(1);
		else if (m.now >= m.next)
			arrive();
		else if (m.c.rung && (m.now >= m.poll || m.now >= m.d.decide_at))
			look();		/* the thread observes before a step */
		else if (m.now >= m.d.decide_at)
			step();
	}
	run_end(m.end);
	for (i = 0; i < m.runs; i++)
		if (m.run_to[i] > m.start)
			had += m.run_to[i] - (m.run_from[i] > m.start ? m.run_from[i] : m.start);
	out->offline = (double)had / (double)r->ns;
	out->floor_least = floor_least(m.k.period_ns + 2 * m.k.switch_ns);
	out->n = m.done - m.first;
	if (!out->n)
		return;
	qsort(m.latency + m.first, out->n, sizeof(u64), compare);
	out->p50 = m.latency[m.first + out->n / 2];
	out->p99 = m.latency[m.first + out->n - 1 - out->n / 100];
	out->p999 = m.latency[m.first + out->n - 1 - out->n / 1000];
	out->max = m.latency[m.done - 1];
}

static double ms(u64 ns)
{
	return (double)ns / 1e6;
}

static const u64 saves[] = { 40 * US, 87 * US, 327 * US };

/* Requests of 1 ms: hold and share, over the number of requests a second */
static void table_rates(enum rate_arrivals arrivals, const char *name)
{
	static const u32 rates[] = { 10, 50, 100, 150, 200, 300, 400, 450, 500, 600, 700, 800, 900, 1000 };
	struct rate_result o[2];
	u32 i, s, h;

	for (s = 0; s < 3; s++) {
		printf("\nrequests of 1 ms, %s, save %llu us: hold, share: P50 P99 max ms, offline, switches a second\n",
		       name, (unsigned long long)saves[s] / 1000);
		for (i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
			for (h = 0; h < 2; h++) {
				struct rate_run r = { PARAMS, arrivals, SEC / rates[i], saves[s], MS, 20 * SEC, 0 };

				r.k.hold = !h;
				r.k.period_ns = getenv("PERIOD_MS") ? strtoull(getenv("PERIOD_MS"), NULL, 0) * MS :
						250 * MS;
				srandom(1);
				rate_play(&r, &o[h]);
			}
			printf("%5u", rates[i]);
			for (h = 0; h < 2; h++)
				printf("  %8.3f %8.3f %8.3f %6.1f %% %5.0f", ms(o[h].p50), ms(o[h].p99), ms(o[h].max),
				       100 * o[h].offline, o[h].switches / 21.0);
			printf("\n");
		}
	}
}

/* Saves of 327 us: the period of the floor */
static void table_periods(void)
{
	static const u64 requests[] = { MS, 5 * MS, 20 * MS }, periods[] = { 100 * MS, 250 * MS, SEC };
	static const struct {
		const char *name;
		enum rate_arrivals arrivals;
		u32 pct;
	} loads[] = {
		{ "closed, always busy", RATE_CLOSED, 0 },
		{ "open, Poisson, 50 %", RATE_POISSON, 50 },
		{ "open, Poisson, 80 %", RATE_POISSON, 80 },
		{ "open, even, 80 %", RATE_EVEN, 80 },
	};
	struct rate_result o;
	u32 i, j, l;

	printf("\nhold, save 327 us, floor_pct 5: request ms, period ms: n P50 P99 P99.9 max block ms, offline\n");
	for (l = 0; l < sizeof(loads) / sizeof(*loads); l++)
		for (i = 0; i < 3; i++)
			for (j = 0; j < 3; j++) {
				u64 every = loads[l].pct ? requests[i] * 100 / loads[l].pct : 50 * US;
				struct rate_run r = { PARAMS, loads[l].arrivals, every, 327 * US, requests[i], 60 * SEC, 0 };

				r.k.hold = true;
				r.k.period_ns = periods[j];
				srandom(1);
				rate_play(&r, &o);
				printf("%-20s %3.0f %5.0f  %6u %8.3f %8.3f %8.3f %8.3f %7.3f %5.1f %%\n", loads[l].name,
				       ms(requests[i]), ms(periods[j]), o.n, ms(o.p50), ms(o.p99), ms(o.p999), ms(o.max),
				       ms(o.block_max), 100 * o.offline);
			}
}

void rate_tables(void)
{
	table_rates(RATE_EVEN, "evenly spaced");
	table_rates(RATE_POISSON, "Poisson");
	table_periods();
}
