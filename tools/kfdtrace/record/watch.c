// SPDX-License-Identifier: GPL-2.0
/*
 * record --loop: the kernel stops tracing at the first slow preemption, and the state of the queues is known for the moment
 * from which on all events are there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "record.h"

#define MAX_STATES 512
#define COST_LIMIT 50 /* reading states takes at most one part in so many of the time */
#define EVENT_END  "kfd_preempt_end: "
#define EVENT_BEGIN "kfd_preempt_begin: "

/* The trigger "traceoff if dur_ns > N" of kfd_preempt_end; the prefix "!" removes it. */
static int trigger_write(struct recording *rec, const char *prefix)
{
	char text[64];

	snprintf(text, sizeof(text), "%straceoff if dur_ns > %" PRIu64, prefix, rec->options->slow_ns);
	return tracefs_instance_file_write(rec->instance, "events/kfd/kfd_preempt_end/trigger", text) < 0 ? -errno : 0;
}

/**
 * watch_open() - whether the kernel can stop tracing at a slow preemption
 * @rec: the recording; nothing to do if no preemption ends it
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * The event that stops it is the last one of its buffer: nothing is overwritten until it is read.
 *
 * Return: 0 or -errno.
 */
int watch_open(struct recording *rec, char *why)
{
	int ret = 0;

	if (!rec->options->slow_ns)
		return 0;
	ret = trigger_write(rec, "");
	if (!ret)
		ret = trigger_write(rec, "!");
	if (ret)
		snprintf(why, RECORD_WHY, "cannot set the trigger for slow preemptions on kfd_preempt_end: %s",
			 strerror(-ret));
	return ret;
}

/* A preemption that was under way when the recording began has no begin in it, and must not end it. */
static void arm(struct recording *rec, const struct record_state *now)
{
	if (rec->options->slow_ns && !rec->armed && !state_preempting(now, now == rec->begin ? NULL : rec->begin))
		rec->armed = !trigger_write(rec, "");
}

/* The older a moment is, the fewer states near it are kept; that of the begin stays. */
static void states_thin(struct recording *rec)
{
	size_t i, kept = 1;

	for (i = 1; i < rec->nr_states; i++) {
		if (i < MAX_STATES / 2 && i % 2)
			state_free(rec->states[i]);
		else
			rec->states[kept++] = rec->states[i];
	}
	rec->nr_states = kept;
}

/**
 * watch_begin() - recording has begun: note the state, and stop at slow preemptions from now on
 * @rec: the recording
 */
void watch_begin(struct recording *rec)
{
	while (rec->nr_states)
		state_free(rec->states[--rec->nr_states]);
	if (!rec->options->loop)
		state_free(rec->begin);
	rec->begin = state_read();
	rec->scan_ns = record_now();
	if (!rec->options->loop)
		return;
	if (!rec->states)
		rec->states = calloc(MAX_STATES, sizeof(struct record_state *));
	if (rec->states && rec->begin)
		rec->states[rec->nr_states++] = rec->begin;
	arm(rec, rec->begin);
}

/**
 * watch_scan() - in a loop, note the state again
 * @rec: the recording
 */
void watch_scan(struct recording *rec)
{
	uint64_t began = record_now();
	struct record_state *now;

	if (!rec->options->loop || !rec->states || !rec->nr_states || began < rec->scan_ns)
		return;
	now = state_read();
	rec->scan_ns = began + (record_now() - began) * COST_LIMIT;
	if (!now)
		return;
	arm(rec, now);
	if (rec->nr_states == MAX_STATES)
		states_thin(rec);
	rec->states[rec->nr_states++] = now;
}

/* From when on no CPU has lost an event, as long as nothing was read from the buffers */
static uint64_t complete_from(struct recording *rec)
{
	uint64_t from = 0;
	char name[64];
	int cpu;

	for (cpu = 0; cpu < rec->nr_cpus; cpu++) {
		char *text, *at;
		double oldest;

		snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu);
		text = tracefs_instance_file_read(rec->instance, name, NULL);
		at = text ? strstr(text, "\noverrun: ") : NULL;
		if (at && strtoull(at + strlen("\noverrun: "), NULL, 10)) {
			at = strstr(text, "\noldest event ts: ");
			oldest = at ? strtod(at + strlen("\noldest event ts: "), NULL) : 0;
			if (oldest * 1e9 > from)
				from = oldest * 1e9;
		}
		free(text);
	}
	return from;
}

/* A number in the text of an event */
static bool field(const char *line, const char *name, uint64_t *value)
{
	const char *at = strstr(line, name);

	if (at)
		*value = strtoull(at + strlen(name), NULL, 10);
	return at;
}

/**
 * struct begun - a preemption whose begin is in the buffers
 * @gpu_id: its GPU
 * @seq: its number
 */
struct begun {
	uint64_t gpu_id, seq;
};

/* "TASK-PID [CPU] FLAGS SECONDS: EVENT: FIELDS" */
static bool line_time(const char *line, const char *event, uint64_t *ts)
{
	const char *at = event;

	if (at - line < 3 || strncmp(at - 2, ": ", 2))
		return false;
	for (at -= 2; at > line && strchr("0123456789.", at[-1]);)
		at--;
	*ts = strtod(at, NULL) * 1e9;
	return true;
}

/* Whether the last slow preemption has its begin in the buffers, after which nothing is missing */
static bool begin_kept(struct recording *rec)
{
	uint64_t from = complete_from(rec), ts, dur, gpu_id, seq;
	struct begun *begun = NULL, *grown;
	size_t nr = 0, room = 0, i, size = 0;
	char *line = NULL, *at;
	bool kept = true;
	FILE *file;
	int fd;

	fd = tracefs_instance_file_open(rec->instance, "trace", O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return true;
	}
	while (getline(&line, &size, file) > 0) {
		at = strstr(line, EVENT_BEGIN);
		if (at && line_time(line, at, &ts) && ts >= from && field(at, " gpu_id=", &gpu_id) &&
		    field(at, " seq=", &seq)) {
			if (nr == room) {
				grown = reallocarray(begun, room ? 2 * room : 64, sizeof(*begun));
				if (!grown)
					break;
				begun = grown;
				room = room ? 2 * room : 64;
			}
			begun[nr++] = (struct begun){ gpu_id, seq };
		}
		at = strstr(line, EVENT_END);
		if (!at || !field(at, " dur_ns=", &dur) || dur <= rec->options->slow_ns ||
		    !field(at, " gpu_id=", &gpu_id) || !field(at, " seq=", &seq))
			continue;
		kept = false;
		for (i = nr; i-- > 0 && !kept;)
			kept = begun[i].gpu_id == gpu_id && begun[i].seq == seq;
	}
	free(line);
	free(begun);
	fclose(file);
	return kept;
}

/* As if it began now */
static int again(struct recording *rec)
{
	trigger_write(rec, "!");
	rec->armed = false;
	if (tracefs_instance_file_clear(rec->instance, "trace"))
		return -errno;
	rec->begin = NULL;
	record_began(rec);
	if (tracefs_trace_on(rec->instance))
		return -errno;
	watch_begin(rec);
	return 0;
}

/**
 * watch_stopped() - whether the kernel has stopped tracing, and the recording ends with that
 * @rec: the recording, which is on
 *
 * A preemption whose begin was overwritten does not end it: the recording begins anew.
 *
 * Return: whether.
 */
bool watch_stopped(struct recording *rec)
{
	if (!rec->armed || tracefs_trace_is_on(rec->instance))
		return false;
	if (begin_kept(rec))
		return true;
	warnx("a preemption took longer than --slow-preemption-ms, but its begin was overwritten: the recording begins anew. Use a --buffer-size larger than %luK",
	      rec->buffer_kb);
	return again(rec);
}

/**
 * watch_end() - the kernel must not stop this instance any more
 * @rec: the recording
 */
void watch_end(struct recording *rec)
{
	if (rec->armed)
		trigger_write(rec, "!");
	rec->armed = false;
}

/**
 * watch_state() - the state at the moment from which on all events are there
 * @rec: the recording, whose buffers have been read
 *
 * Of a loop that has lost none, and of any other recording, that is the state when it began.  Else it is the first one that was
 * noted since: what has changed in between has events.  What a process was kept off the GPU for is only known if
 * the state before says the same.
 *
 * Return: the state, owned by @rec, or NULL.
 */
const struct record_state *watch_state(struct recording *rec)
{
	const struct record_state *before = NULL, *since = rec->end;
	size_t i;

	if (!rec->complete_ns || !rec->nr_states || rec->complete_ns <= state_ts(rec->states[0]))
		return rec->begin;
	for (i = 0; i < rec->nr_states; i++) {
		if (state_ts(rec->states[i]) > rec->complete_ns) {
			since = rec->states[i];
			break;
		}
		before = rec->states[i];
	}
	if (since)
		state_settle((struct record_state *)since, before, rec->complete_ns);
	return since;
}

/**
 * watch_free() - free all states
 * @rec: the recording
 */
void watch_free(struct recording *rec)
{
	if (!rec->nr_states)
		state_free(rec->begin);
	while (rec->nr_states)
		state_free(rec->states[--rec->nr_states]);
	free(rec->states);
	state_free(rec->end);
	rec->states = NULL;
	rec->begin = rec->end = NULL;
}
