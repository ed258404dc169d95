// SPDX-License-Identifier: GPL-2.0
/* The summary of ROCm's log, and how well it fits the recording: for "path" and "report". */
#include <inttypes.h>
#include <stdlib.h>

#include "join.h"

#define MAX_CLOCK_GAP 1000000000LL /* ns: a line of the log that is later is not of this creation */

/* Only lines about a creation can be compared with the recording. */
static void times_print(const struct paths *paths)
{
	char low[32], high[32];

	if (!paths->joined)
		return;
	printf("%" PRIu64 " queues joined by address", paths->joined);
	if (paths->timed) {
		duration_format(low, sizeof(low), llabs(paths->min_gap));
		duration_format(high, sizeof(high), llabs(paths->max_gap));
		printf("; their lines in the log are from %s%s to %s%s after their creation", paths->min_gap < 0 ? "-" : "",
		       low, paths->max_gap < 0 ? "-" : "", high);
	}
	putchar('\n');
	if (paths->uncreated == paths->joined)
		puts("the log has no line about the creation of these queues: its times cannot be compared with the recording");
	else if (paths->uncreated)
		printf("the log is not whole: the line about the creation is missing for %" PRIu64 " of these queues\n",
		       paths->uncreated);
	if (paths->timed && (paths->min_gap < 0 || paths->max_gap > MAX_CLOCK_GAP))
		puts("THE TIMES DO NOT FIT: check that the log is from this recording");
}

/**
 * log_print() - print it
 * @paths: made, with a log
 */
void log_print(const struct paths *paths)
{
	const struct amdlog *log = paths->log;

	printf("ROCm's log: ");
	if (log->files > 1)
		printf("%" PRIu64 " files, ", log->files);
	printf("%" PRIu64 " lines, %" PRIu64 " of them about queues, %" PRIu64
	       " other lines of ROCm, %" PRIu64 " of the program\n",
	       log->lines, log->known, log->headed > log->known ? log->headed - log->known : 0,
	       log->lines - log->headed);
	if (paths->unjoined)
		printf("%" PRIu64 " queues in the log are not in the recording\n",
		       paths->unjoined);
	if (paths->other_pid)
		printf("%" PRIu64
		       " of them have the address of a queue in the recording, but another PID: %d in the log, %d in the recording. %s\n",
		       paths->other_pid, paths->log_pid, paths->recorded_pid,
		       paths->pid_mapped ? "Check that the log is from this recording" :
					   "Does the process run in a container? The recording has no PID map of it (\"nspid\" in meta.json)");
	times_print(paths);
}

/**
 * log_json() - a member "log" of the document, null if there is none
 * @paths: made
 */
void log_json(const struct paths *paths)
{
	if (!paths->log) {
		json_null("log");
		return;
	}
	json_open("log", '{');
	json_count("file_count", paths->log->files);
	json_count("line_count", paths->log->lines);
	json_count("known_line_count", paths->log->known);
	json_count("rocm_line_count", paths->log->headed);
	json_count("joined_queue_count", paths->joined);
	json_count("unjoined_queue_count", paths->unjoined);
	if (paths->timed) {
		json_number("min_delay_ns", paths->min_gap);
		json_number("max_delay_ns", paths->max_gap);
	} else {
		json_null("min_delay_ns");
		json_null("max_delay_ns");
	}
	json_close('}');
}
