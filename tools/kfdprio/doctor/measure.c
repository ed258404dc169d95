// SPDX-License-Identifier: GPL-2.0
/* kfdprio doctor --test: what the trace events say about it, and the times between them */
#define _GNU_SOURCE
#include <string.h>

#include "test.h"

#define LATE_NS	1000000000	/* by which an event may come after what it tells of was seen */

/* What is measured, in each round */
enum span {
	SPAN_STORE, SPAN_BEGIN, SPAN_ASK, SPAN_UNMAP, SPAN_OFF, SPAN_DONE, SPAN_END, SPAN_BACK,
	NR_SPANS
};

static const char *const span_names[NR_SPANS] = {
	[SPAN_STORE] = "the store to the doorbell, as its process sees it",
	[SPAN_BEGIN] = "doorbell to kfd_preempt_begin",
	[SPAN_ASK] = "doorbell to kfd_unmap_queues",
	[SPAN_UNMAP] = "kfd_unmap_queues to unmapped, confirmed (CWSR)",
	[SPAN_OFF] = "doorbell to unmapped",
	[SPAN_DONE] = "work let go to work done",
	[SPAN_END] = "work let go to kfd_preempt_end",
	[SPAN_BACK] = "work let go to the victim's store",
};

/**
 * struct spans - the times of all rounds
 * @ns: of each kind
 * @nr: how many there are of each
 */
struct spans {
	uint64_t ns[NR_SPANS][ROUNDS_MAX];
	size_t nr[NR_SPANS];
};

static void span(struct spans *s, enum span kind, uint64_t from, uint64_t to)
{
	if (to > from)
		s->ns[kind][s->nr[kind]++] = to - from;
}

static const struct trace_event *find_within(const struct trace *t, const struct trace_event *after,
					     const char *name, int64_t pid, uint32_t gpu_id,
					     uint64_t from, uint64_t to)
{
	while ((after = trace_find(t, after, name, pid)) && after->ns <= to)
		if (after->ns >= from && after->gpu_id == gpu_id)
			return after;
	return NULL;
}

/*
 * The unmap that took the victim off: HWS confirms one for all (pid -1), MES one for each of the
 * victim's queues, of which the last counts.  kfd_preempt_begin comes when the first is under way.
 * @ask: out: the first request
 */
static const struct trace_event *unmapped(const struct trial *t, const struct trace_event *wake,
					  pid_t victim, uint64_t end,
					  const struct trace_event **ask)
{
	const struct trace_event *asked = wake, *done, *last = NULL;

	*ask = NULL;
	while ((asked = find_within(t->trace, asked, "kfd_unmap_queues", -1, t->gpu->gpu_id,
				    wake->ns, end))) {
		if (asked->pid >= 0 && asked->pid != victim)
			continue;
		done = asked;
		do
			done = find_within(t->trace, done, "kfd_unmap_queues_done", -1,
					   t->gpu->gpu_id, asked->ns, end);
		while (done && done->seq != asked->seq);
		if (!done || done->ret)
			continue;
		last = done;
		if (!*ask)
			*ask = asked;
		if (asked->pid < 0)
			break;
	}
	return last;
}

/* False if its events are not all there, or not in order. */
static bool round_events(const struct trial *t, const struct round *r, pid_t victim,
			 pid_t preemptor, struct spans *s)
{
	const struct trace_event *wake, *ask, *begin, *off, *end, *map;
	uint32_t gpu_id = t->gpu->gpu_id;

	span(s, SPAN_STORE, r->ring, r->rung);
	span(s, SPAN_DONE, r->release, r->done);
	if (!r->early)
		span(s, SPAN_BACK, r->release, r->beat);
	wake = find_within(t->trace, NULL, "kfd_doorbell_wake", preemptor, gpu_id, r->ring,
			   r->release);
	begin = find_within(t->trace, wake, "kfd_preempt_begin", preemptor, gpu_id, r->ring,
			    r->release);
	if (!wake || !begin)
		return false;
	off = unmapped(t, wake, victim, r->release, &ask);
	if (!off)
		return false;
	span(s, SPAN_BEGIN, r->ring, begin->ns);
	span(s, SPAN_ASK, r->ring, ask->ns);
	span(s, SPAN_UNMAP, ask->ns, off->ns);
	span(s, SPAN_OFF, r->ring, off->ns);
	end = find_within(t->trace, off, "kfd_preempt_end", preemptor, gpu_id, off->ns,
			  r->beat + LATE_NS);
	if (!end)
		return false;
	/* With MES a queue may run before the event says that it was added. */
	map = find_within(t->trace, off, "kfd_map_queue", victim, gpu_id, off->ns,
			  end->ns + LATE_NS);
	if (!map)
		return false;
	span(s, SPAN_END, r->release, end->ns);
	return true;
}

static void spans_say(struct trial *t, const struct spans *s)
{
	size_t kind;

	for (kind = 0; kind < NR_SPANS; kind++) {
		const struct measure *m = doctor_measure(t->d, span_names[kind], t->gpu->gpu_id,
							 s->ns[kind], s->nr[kind]);

		if (m)
			trial_say(t, FINDING_INFO, "time", "%s%s: median %.1f us, %.1f to %.1f, %zu times",
				  t->d->simulated == SIMULATED_YES ? "(simulated) " : "", m->name,
				  /* NOLINTNEXTLINE(bugprone-integer-division): an index */
				  m->ns[m->nr / 2] / 1e3, m->ns[0] / 1e3, m->ns[m->nr - 1] / 1e3,
				  m->nr);
	}
	if (s->nr[SPAN_UNMAP] && !t->others)
		trial_say(t, FINDING_INFO, "time",
			  "no wave ran in these rounds; to include the save of waves, run --test --force beside a program that fills the GPU");
}

/**
 * trial_events() - what was recorded
 * @t: the test, at its end
 * @victim: PID of its victim
 * @preemptor: PID of its preemptor
 * @ran: its queues were there, and did what they were told
 *
 * In a PID namespace of its own the PIDs of the events are others, and nothing can be said.
 */
void trial_events(struct trial *t, pid_t victim, pid_t preemptor, bool ran)
{
	static const struct {
		const char *name;
		size_t least;
	} life[] = {
		/* AQL, PM4 and SDMA */
		{ "kfd_create_queue", 3 }, { "kfd_init_mqd", 3 }, { "kfd_destroy_queue", 3 },
		{ "kfd_set_priority", 1 }, { "kfd_update_queue", 2 }, { "kfd_map_queue", 3 },
	};
	static struct spans spans;
	size_t whole = 0, i;

	if (!trace_stop(t->trace)) {
		trial_say(t, FINDING_WARN, "events", "some events could not be read");
		return;
	}
	if (trace_count(t->trace, "kfd_hws_hang", -1)) {
		trial_say(t, FINDING_FAIL, "events",
			  "the scheduler did not answer (kfd_hws_hang), and KFD resets the GPU: see 'dmesg'");
		return;
	}
	if (!ran)
		return;
	if (trace_count(t->trace, "kfd_create_queue", -1) &&
	    !trace_count(t->trace, "kfd_create_queue", victim)) {
		trial_say(t, FINDING_WARN, "events",
			  "recorded with PIDs of another PID namespace: run the test outside of the container");
		return;
	}
	for (i = 0; i < sizeof(life) / sizeof(*life); i++) {
		size_t nr = trace_count(t->trace, life[i].name, victim);

		if (nr >= life[i].least)
			continue;
		trial_say(t, FINDING_FAIL, "events", "%zu of %s for the victim, at least %zu expected",
			  nr, life[i].name, life[i].least);
		return;
	}
	memset(&spans, 0, sizeof(spans));
	for (i = 0; i < t->nr; i++)
		whole += round_events(t, &t->rounds[i], victim, preemptor, &spans);
	if (whole < t->nr)
		trial_say(t, FINDING_FAIL, "events",
			  "only %zu of %zu preemptions show wake, begin, unmapped, mapped again and end",
			  whole, t->nr);
	else
		trial_say(t, FINDING_OK, "events",
			  "queues, MQDs and priority are recorded%s", t->nr ?
			  "; each preemption shows wake, begin, unmapped, mapped again and end" : "");
	spans_say(t, &spans);
}
