/* SPDX-License-Identifier: GPL-2.0 */
/* What stands in the cells of the tables of "queues" and "report". */
#ifndef KFDTRACE_CELLS_H
#define KFDTRACE_CELLS_H

#include "output.h"
#include "view.h"

/* @text is that of a cell_fn.  In CSV what is not known is empty, and times are ns. */
void cell_count(char *text, uint64_t value);
void cell_number(char *text, bool known, int64_t value, bool csv);
void cell_when(char *text, uint64_t ns, bool csv);
void cell_duration(char *text, uint64_t ns, bool csv);
void cell_address(char *text, uint64_t value, bool csv);
void cell_name(char *text, int64_t value, const char *(*name_of)(int64_t), bool csv);
void cell_command(char *text, const struct view *view, int pid, bool csv);

#endif /* KFDTRACE_CELLS_H */
