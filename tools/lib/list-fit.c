// SPDX-License-Identifier: GPL-2.0
/* Lists: which columns a terminal has room for; see list.h. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "list.h"

/* Columns of a terminal that a text takes, @text is cut to @most of them. */
static int width_cut(char *text, int most)
{
	mbstate_t state = { 0 };
	int width = 0, one;
	wchar_t c;
	size_t len;

	while (*text) {
		len = mbrtowc(&c, text, MB_CUR_MAX, &state);
		if (!len || len > MB_CUR_MAX)
			return width + (int)strlen(text);
		one = wcwidth(c);
		if (one < 0)
			one = 1;
		if (width + one > most) {
			*text = '\0';
			break;
		}
		width += one;
		text += len;
	}
	return width;
}

static int terminal_width(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static int column_width(const struct list *list, unsigned int column)
{
	char text[LIST_CELL];
	int width = strlen(list->columns[column].name), one;
	struct list_value value;
	size_t row;

	for (row = 0; row < list->nr_rows; row++) {
		list_value_get(list, row, column, &value);
		list_cell(&value, text, sizeof(text));
		one = width_cut(text, LIST_CELL);
		if (one > width)
			width = one;
	}
	return width;
}

/**
 * list_fit() - leave out columns that a terminal has no room for
 * @list: the list
 * @chosen: array of @nr columns; in, out
 * @nr: how many
 * @last: out: columns of the terminal for the last column
 *
 * Columns that were asked for are printed, and what is no terminal has no end.
 *
 * Return: how many there are now.
 */
int list_fit(const struct list *list, unsigned int *chosen, int nr, int *last)
{
	int widths[LIST_COLUMNS], room = terminal_width(), total = -1, i;
	unsigned int left;

	*last = LIST_CELL;
	if (!room || !list->leave || list->choice->columns || list->choice->raw)
		return nr;
	for (i = 0; i < nr; i++) {
		widths[i] = column_width(list, chosen[i]);
		total += widths[i] + 1;
	}
	for (left = 0; left < list->nr_leave && total > room; left++)
		for (i = 0; i < nr; i++)
			if (chosen[i] == list->leave[left]) {
				total -= widths[i] + 1;
				nr--;
				memmove(&chosen[i], &chosen[i + 1], (nr - i) * sizeof(*chosen));
				memmove(&widths[i], &widths[i + 1], (nr - i) * sizeof(*widths));
			}
	if (nr && total > room)
		*last = widths[nr - 1] - (total - room);
	return nr;
}

/**
 * list_cell_cut() - cut a cell for a terminal
 * @text: the cell
 * @most: columns of the terminal; a few are left in any case
 */
void list_cell_cut(char *text, int most)
{
	width_cut(text, most > 8 ? most : 8);
}
