// SPDX-License-Identifier: GPL-2.0
/* The summary of ROCm's log, and how well it fits the recording: for "path" and "report". */
#include <inttypes.h>
#include <stdlib.h>

#include "join.h"

#define MAX_CLOCK_GAP 1000000000LL /* ns: a line of the log that is later is not of this creation */

/* Whether the times of the log are those of the recording.  Return: -1: nothing can be compared. */
static int times_fit(const struct paths *paths)
{
	if (paths->timed)
		return paths->min_gap >= 0 && paths->max_gap <= MAX_CLOCK_GAP;
	return paths->misplaced && !paths->placed ? 0 : -1;
}

/* Only lines about a creation can be compared with the recording, and those at times at which the queue is not there. */
static void times_print(const struct paths *paths)
{
	char low[32], high[32];

	if (!paths->joined)
		return;
	printf("%" PRIu64 " queue%s joined by address", paths->joined, paths->joined == 1 ? "" : "s");
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
	if (paths->misplaced)
		printf("%" PRIu64
		       " lines have the address of a queue, but times before its creation or after its end: the queue is not theirs, and their dispatches are not counted\n",
		       paths->misplaced);
	if (!times_fit(paths))
		puts("THE TIMES DO NOT FIT: check that the log is from this recording");
}

/* What can be seen of lines of other programs, and of lines that are there twice */
static void programs_print(const struct paths *paths)
{
	if (paths->repeated)
		printf("THE LOG HAS LINES TWICE: %" PRIu64 " of %" PRIu64
		       " dispatches that were compared repeat the time, the thread and the message of another. Was it copied, or collected twice? The numbers of dispatches are too high\n",
		       paths->repeated, paths->compared);
	if (paths->created_again)
		printf("%" PRIu64
		       " queues have lines about the creation at different times: the log is of more than one program, or the recording lacks events\n",
		       paths->created_again);
	if (paths->ambiguous)
		printf("%" PRIu64
		       " lines about queues are left out: several processes, among them %d and %d, have a queue at this address at this time, and the PID does not decide\n",
		       paths->ambiguous, paths->ambiguous_pids[0], paths->ambiguous_pids[1]);
	if (paths->pidless)
		printf("%" PRIu64
		       " lines about queues have no PID: address and time alone join them, and lines of another program at the same address cannot be distinguished\n",
		       paths->pidless);
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
	/* a line may have several messages */
	if (log->headers > log->headed)
		printf("%" PRIu64 " lines with %" PRIu64 " messages of ROCm, %" PRIu64 " of these about queues, and %" PRIu64
		       " lines of the program\n",
		       log->lines, log->headers, log->known, log->lines - log->headed);
	else
		printf("%" PRIu64 " lines, %" PRIu64 " of them about queues, %" PRIu64
		       " other lines of ROCm, %" PRIu64 " of the program\n",
		       log->lines, log->known, log->headed > log->known ? log->headed - log->known : 0,
		       log->lines - log->headed);
	if (paths->unjoined)
		printf("%" PRIu64 "%s in the log %s not in the recording\n", paths->unjoined,
		       paths->unjoined_more ? " or more queues" : paths->unjoined == 1 ? " queue" : " queues",
		       paths->unjoined == 1 ? "is" : "are");
	if (paths->other_pid)
		printf("%" PRIu64
		       " of them have the address of a queue in the recording, but another PID: %d in the log, %d in the recording. %s\n",
		       paths->other_pid, paths->log_pid, paths->recorded_pid,
		       paths->pid_mapped ? "Check that the log is from this recording" :
					   "Does the process run in a container? The recording has no PID map of it (\"nspid\" in meta.json)");
	programs_print(paths);
	times_print(paths);
}

static void lacks_json(const struct paths *paths)
{
	int fit = times_fit(paths);

	json_count("message_count", paths->log->headers);
	json_count("dispatch_count", paths->log->dispatches);
	json_count("compared_dispatch_count", paths->compared);
	json_count("repeated_dispatch_count", paths->repeated);
	json_count("uncreated_queue_count", paths->uncreated);
	json_count("created_again_queue_count", paths->created_again);
	json_count("other_pid_queue_count", paths->other_pid);
	json_known_number("log_pid", paths->other_pid, paths->log_pid);
	json_known_number("recorded_pid", paths->other_pid, paths->recorded_pid);
	if (paths->other_pid)
		json_flag("pid_is_mapped", paths->pid_mapped);
	else
		json_null("pid_is_mapped");
	json_count("pidless_line_count", paths->pidless);
	json_count("ambiguous_line_count", paths->ambiguous);
	json_count("misplaced_line_count", paths->misplaced);
	json_count("headless_line_count", paths->log->orphans);
	json_count("shortened_line_count", paths->log->shortened);
	json_count("long_line_count", paths->log->cut);
	json_count("partial_line_count", paths->log->partial);
	json_count("cut_off_file_count", paths->log->cut_off);
	if (fit >= 0)
		json_flag("times_fit", fit);
	else
		json_null("times_fit");
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
	json_known_number("min_delay_ns", paths->timed, paths->min_gap);
	json_known_number("max_delay_ns", paths->timed, paths->max_gap);
	lacks_json(paths);
	json_close('}');
}
