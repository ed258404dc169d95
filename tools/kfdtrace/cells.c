// SPDX-License-Identifier: GPL-2.0
/* Cells of tables and of CSV; see cells.h. */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cells.h"
#include "kfdlib.h"

static void unknown(char *text, bool csv)
{
	snprintf(text, CELL, "%s", csv ? "" : "-");
}

/**
 * cell_count() - a number that is always known
 * @text: filled in
 * @value: the number
 */
void cell_count(char *text, uint64_t value)
{
	snprintf(text, CELL, "%" PRIu64, value);
}

/**
 * cell_number() - a number that may not be known
 * @text: filled in
 * @known: it is
 * @value: the number
 * @csv: for CSV
 */
void cell_number(char *text, bool known, int64_t value, bool csv)
{
	if (known)
		snprintf(text, CELL, "%" PRId64, value);
	else
		unknown(text, csv);
}

/**
 * cell_when() - a time of the recording's clock, seconds as trace-cmd prints them
 * @text: filled in
 * @ns: the time, 0 if it is not known
 * @csv: for CSV
 */
void cell_when(char *text, uint64_t ns, bool csv)
{
	if (!ns)
		unknown(text, csv);
	else if (csv)
		cell_count(text, ns);
	else
		snprintf(text, CELL, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns / 1000 % 1000000);
}

/**
 * cell_duration() - how long
 * @text: filled in
 * @ns: the duration
 * @csv: for CSV
 */
void cell_duration(char *text, uint64_t ns, bool csv)
{
	if (csv)
		cell_count(text, ns);
	else if (!ns)
		unknown(text, csv);
	else
		duration_format(text, CELL, ns);
}

/**
 * cell_address() - an address
 * @text: filled in
 * @value: the address, 0 if it is not known
 * @csv: for CSV
 */
void cell_address(char *text, uint64_t value, bool csv)
{
	if (value)
		snprintf(text, CELL, "0x%" PRIx64, value);
	else
		unknown(text, csv);
}

/**
 * cell_name() - a word of the events
 * @text: filled in
 * @value: its number, negative if it is not known
 * @name_of: the word of a number
 * @csv: for CSV
 */
void cell_name(char *text, int64_t value, const char *(*name_of)(int64_t), bool csv)
{
	if (value >= 0)
		snprintf(text, CELL, "%s", name_of(value));
	else
		unknown(text, csv);
}

/**
 * cell_command() - the name of a process, safe to print
 * @text: filled in
 * @view: the recording
 * @pid: the process
 * @csv: for CSV
 */
void cell_command(char *text, const struct view *view, int pid, bool csv)
{
	const char *raw = view_command(view, pid);
	char *safe = csv ? text_utf8(raw) : text_printable(raw);

	if (!safe)
		errx(EXIT_FAILURE, "out of memory");
	snprintf(text, CELL, "%s", safe);
	free(safe);
}
