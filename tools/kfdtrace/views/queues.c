// SPDX-License-Identifier: GPL-2.0
/* kfdtrace queues */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>

#include "kfdtrace.h"
#include "message.h"
#include "views/common/claimed.h"
#include "views/common/options.h"
#include "views/common/queues.h"

static void usage(void)
{
	fputs("\n"
	      "Usage:\n"
	      " kfdtrace queues [options] [DIR]\n"
	      "\n"
	      "Print one line per queue of a recording. DIR may be a trace.dat; without DIR, the\n"
	      "newest recording in the current directory is read.\n"
	      "\n"
	      "Options:\n"
	      " -p, --pid PID           show only this process; may be repeated\n"
	      " -o, --output COLUMNS    print these columns; +COLUMNS adds columns\n"
	      "     --noheadings        print no header line\n"
	      "     --raw               separate columns by one blank, for scripts\n"
	      " -z, --zero              print times in text from the first event on\n"
	      " -J, --json              print JSON\n"
	      " -C, --csv               print CSV\n"
	      " -h, --help              display this help\n"
	      " -V, --version           display the version of this program\n"
	      "\n"
	      "Without --zero, times are seconds of the trace clock, as in trace-cmd report.\n"
	      "For more details see kfdtrace(1).\n",
	      stdout);
}

/**
 * kfdtrace_queues() - the verb
 * @argc: number of @argv
 * @argv: options
 *
 * Return: the exit status.
 */
int kfdtrace_queues(int argc, char **argv)
{
	struct view_options options = { .verb = "queues", .columns = queue_columns,
					.nr_columns = nr_queue_columns };
	struct view view;

	view_options_parse(argc, argv, "p:o:zJChV", usage, &options);
	view_open(&view, &options);
	view_read(&view);
	view_losses(&view);
	claims_warn(&view);
	view_pids_check(&view);
	if (options.list.json) {
		json_stdout(JSON_ROWS);
		json_number("version", JSON_FORMAT);
		json_simulated("simulated", view_simulated(&view));
		queues_json(&view, &options.list);
		json_stdout_end();
	} else {
		if (!options.list.csv && !options.list.raw && !options.list.noheadings)
			view_simulated_print(&view);
		queues_table(&view, SIZE_MAX, &options.list);
		if (view.model.queues_left_out)
			warnx("%" PRIu64
			      " more queues have ended and are not listed: kfdtrace lists the first %d",
			      view.model.queues_left_out, MODEL_MAX_QUEUES);
	}
	view_close(&view);
	return stdout_check(EXIT_SUCCESS);
}
