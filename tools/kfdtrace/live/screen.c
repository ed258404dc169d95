// SPDX-License-Identifier: GPL-2.0
/* A frame on a terminal, with ncurses. */
#define _GNU_SOURCE
#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "live.h"
#include "message.h"

#define COMMAND_MIN 8
#define DELAY_MIN   100000000ULL
#define DELAY_MAX   3600000000000ULL

enum {
	COLOR_GOOD = 1,
	COLOR_OFF,
	COLOR_BAD
};

/* There is one terminal. */
static struct {
	SCREEN *screen;
	bool colors, help, reverse;
	enum live_column sort;
	size_t first; /* row on top */
} ui;

static const char *const help[] = {
	"q      quit",
	"space  pause and continue",
	"s      sort by the next column: PRIORITY, PID, MAPPED%, PREEMPTED%, PREEMPTED/S, PREEMPTING/S",
	"r      reverse the order",
	"+ -    increase or decrease the delay",
	"up down pgup pgdn home   scroll",
	"h ?    this help",
	"",
	"MAPPED%       share of the time with a queue of the process on the GPU or in its runlist",
	"PREEMPTED%    share of the time preempted;  PREEMPTED/S: preemptions per second",
	"PREEMPTING/S  preemptions of other processes for this process, per second",
	"THROTTLED%    (if a process is in a group) share of the time with work and off the GPU by its groups",
	"THROTTLED/S   how often per second;  THROTTLE-REASON: MAX: a limit, WEIGHT: the turn of another group",
	"ACTIVE        active queues;  REASON, REASON-PID: reason and process of the last preemption",
	"POD, NAMESPACE, CONTAINER  (if a process is in one, and there is room) container, or digits of its ID",
};

/* Then the default action, which makes a core. */
static void on_crash(int sig)
{
	/* the process is lost; that the terminal is not is worth the try */
	endwin();	/* NOLINT(bugprone-signal-handler,cert-sig30-c) */
	signal(sig, SIG_DFL);
	raise(sig);
}

static bool color_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !(no_color && *no_color) && has_colors();
}

/**
 * live_screen_open() - take over the terminal
 * @sort: order of the rows to begin with
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int live_screen_open(enum live_column sort, char *why)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	const char *term = getenv("TERM");
	const char *move = NULL;
	int i;

	ui.screen = newterm(NULL, stdout, stdin);
	if (ui.screen)
		move = tigetstr("cup");
	if (!move || move == (const char *)-1) {
		live_screen_close();
		snprintf(why, RECORD_WHY, "the terminal '%.64s' cannot show the view: use --batch",
			 term ? term : "");
		return -ENOTTY;
	}
	for (i = 0; i < (int)(sizeof(crashes) / sizeof(*crashes)); i++)
		signal(crashes[i], on_crash);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	ui.sort = sort;
	ui.colors = color_wanted();
	if (ui.colors) {
		start_color();
		use_default_colors();
		init_pair(COLOR_GOOD, COLOR_GREEN, -1);
		init_pair(COLOR_OFF, COLOR_YELLOW, -1);
		init_pair(COLOR_BAD, COLOR_RED, -1);
	}
	return 0;
}

/**
 * live_screen_close() - give the terminal back as it was, if it was taken
 */
void live_screen_close(void)
{
	if (!ui.screen)
		return;
	endwin();
	delscreen(ui.screen);
	ui.screen = NULL;
}

/**
 * live_screen_resize() - the terminal has another size
 */
void live_screen_resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

/* Bytes of @text that fit into @width columns, which is then what they take. */
static int cut(const char *text, int *width)
{
	mbstate_t state = { 0 };
	int left = *width, columns;
	const char *at = text;
	wchar_t wide;
	size_t len;

	for (; *at; at += len) {
		len = mbrtowc(&wide, at, strlen(at), &state);
		if (len == (size_t)-1 || len == (size_t)-2) {
			memset(&state, 0, sizeof(state));
			len = 1;
			columns = 1;
		} else {
			columns = wcwidth(wide);
		}
		columns = columns > 0 ? columns : 0;
		if (columns > left)
			break;
		left -= columns;
	}
	*width -= left;
	return at - text;
}

static void put(int y, int x, int width, bool right, const char *text)
{
	int used, bytes;

	if (x + width > COLS)
		width = COLS - x;
	used = width;
	if (width <= 0)
		return;
	bytes = cut(text, &used);
	mvaddnstr(y, right ? x + width - used : x, text, bytes);
}

/* Widths of the columns that fit, 0 for those that do not. */
static void columns_fit(const struct live *live, int *widths)
{
	static const int least[NR_LIVE_COLUMNS] = { [LIVE_PID] = 6, [LIVE_STATE] = 10 };
	static const enum live_column drop[] = { LIVE_EFFECTIVE,       LIVE_BAND,
						 LIVE_ACTIVE,	       LIVE_QUEUES,
						 LIVE_THROTTLED_RATE,  LIVE_PREEMPTING_RATE,
						 LIVE_PREEMPTED_RATE,  LIVE_REASON_PID,
						 LIVE_REASON,	       LIVE_THROTTLE_REASON,
						 LIVE_NAMESPACE,       LIVE_GPU,
						 LIVE_PRIORITY,	       LIVE_MAPPED,
						 LIVE_POD,	       LIVE_CONTAINER,
						 LIVE_THROTTLED,       LIVE_PREEMPTED,
						 LIVE_STATE };
	struct list_column shown[NR_LIVE_COLUMNS];
	char text[LIVE_CELL];
	int c, sum = 0, width;
	bool groups = false;
	size_t i;

	for (i = 0; i < live->nr_list; i++)
		groups |= live->list[i].share || live->list[i].cgroup_share;
	for (c = 0; c < LIVE_COMMAND; c++) {
		widths[c] = strlen(live_columns[c].name);
		widths[c] = widths[c] < least[c] ? least[c] : widths[c];
		for (i = 0; i < live->nr_rows; i++) {
			live_cell(&live->rows[i], c, text);
			width = text_width(text);
			widths[c] = width > widths[c] ? width : widths[c];
		}
		sum += widths[c] + 1;
	}
	if (live->topo.nr < 2) {
		sum -= widths[LIVE_GPU] + 1;
		widths[LIVE_GPU] = 0;
	}
	for (c = LIVE_THROTTLED; c <= LIVE_THROTTLE_REASON && !groups; c++) {
		sum -= widths[c] + 1;
		widths[c] = 0;
	}
	memcpy(shown, live_columns, sizeof(shown));
	for (i = 0; i < live->nr_rows; i++)
		container_columns_show(&live->rows[i].container, shown, LIVE_POD);
	for (c = LIVE_POD; c <= LIVE_POD_UID; c++)
		if (shown[c].place != LIST_EVERYWHERE) {
			sum -= widths[c] + 1;
			widths[c] = 0;
		}
	for (i = 0; i < sizeof(drop) / sizeof(*drop) && sum + COMMAND_MIN > COLS; i++) {
		if (widths[drop[i]])
			sum -= widths[drop[i]] + 1;
		widths[drop[i]] = 0;
	}
	widths[LIVE_COMMAND] = COLS > sum ? COLS - sum : 0;
}

static attr_t state_attr(enum kfd_state state)
{
	if (!ui.colors)
		return A_NORMAL;
	switch (state) {
	case KFD_STATE_PREEMPTING:
		return COLOR_PAIR(COLOR_GOOD);
	case KFD_STATE_PREEMPTED:
	case KFD_STATE_THROTTLED:
		return COLOR_PAIR(COLOR_OFF);
	case KFD_STATE_EVICTED:
		return COLOR_PAIR(COLOR_BAD);
	default:
		return A_NORMAL;
	}
}

static void show_row(const struct live_row *row, int y, const int *widths)
{
	char text[LIVE_CELL];
	int c, x = 0;

	for (c = 0; c < NR_LIVE_COLUMNS; c++) {
		if (!widths[c])
			continue;
		live_cell(row, c, text);
		if (c == LIVE_STATE)
			attron(state_attr(row->state));
		put(y, x, widths[c], live_right(c), text);
		if (c == LIVE_STATE)
			attroff(state_attr(row->state));
		x += widths[c] + 1;
	}
}

static void show_titles(int y, const int *widths)
{
	int c, x = 0;

	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	for (c = 0; c < NR_LIVE_COLUMNS; c++) {
		if (!widths[c])
			continue;
		put(y, x, widths[c], live_right(c), live_columns[c].name);
		x += widths[c] + 1;
	}
	attroff(A_REVERSE);
}

static void show_help(int top)
{
	int i;

	for (i = 0; i < (int)(sizeof(help) / sizeof(*help)) && top + i < LINES - 1; i++)
		put(top + i, 0, COLS, false, help[i]);
}

static void show_rows(const struct live *live, int top)
{
	int widths[NR_LIVE_COLUMNS], room = LINES - 1 - (top + 1), i;

	columns_fit(live, widths);
	show_titles(top, widths);
	room = room > 0 ? room : 0;
	if (ui.first + room > live->nr_rows)
		ui.first = live->nr_rows > (size_t)room ? live->nr_rows - room : 0;
	for (i = 0; i < room && ui.first + i < live->nr_rows; i++)
		show_row(&live->rows[ui.first + i], top + 1 + i, widths);
}

/**
 * live_screen_show() - show a frame
 * @live: with a frame
 * @delay_ns: to the next one
 * @paused: there will be none
 */
void live_screen_show(struct live *live, uint64_t delay_ns, bool paused)
{
	unsigned int lines = live_head_lines(live), line, most = LINES / 3;
	char text[512];

	live_rows_sort(live, ui.sort, ui.reverse);
	erase();
	/* many GPUs leave room for processes */
	lines = lines > most ? most : lines;
	for (line = 0; line < lines; line++) {
		live_head(live, line, text, sizeof(text));
		if (!line)
			attron(A_BOLD);
		put(line, 0, COLS, false, text);
		attroff(A_BOLD);
	}
	if (ui.help)
		show_help(lines);
	else
		show_rows(live, lines);
	snprintf(text, sizeof(text), "%sq quit  h help  sort: %s%s  every %.3g s",
		 paused ? "PAUSED  " : "", live_columns[ui.sort].name, ui.reverse ? ", reversed" : "",
		 delay_ns / 1e9);
	put(LINES - 1, 0, COLS, false, text);
	refresh();
}

static enum live_column sort_after(enum live_column sort)
{
	int i;

	for (i = 0; i < NR_LIVE_SORTS - 1; i++)
		if (live_sorts[i] == sort)
			return live_sorts[i + 1];
	return live_sorts[0];
}

static void scroll_by(long rows)
{
	if (rows < 0 && ui.first < (size_t)-rows)
		ui.first = 0;
	else
		ui.first += rows;
}

/**
 * live_screen_key() - what was typed
 * @delay_ns: changed by a key
 * @paused: changed by a key
 *
 * Return: false to quit.
 */
bool live_screen_key(uint64_t *delay_ns, bool *paused)
{
	bool typed = false;
	int key;

	while ((key = getch()) != ERR) {
		typed = true;
		switch (key) {
		case 'q':
		case 'Q':
			return false;
		case ' ':
			*paused = !*paused;
			break;
		case 's':
			ui.sort = sort_after(ui.sort);
			break;
		case 'r':
			ui.reverse = !ui.reverse;
			break;
		case 'h':
		case '?':
			ui.help = !ui.help;
			break;
		case '+':
			*delay_ns = *delay_ns * 2 > DELAY_MAX ? DELAY_MAX : *delay_ns * 2;
			break;
		case '-':
			*delay_ns = *delay_ns / 2 < DELAY_MIN ? DELAY_MIN : *delay_ns / 2;
			break;
		case KEY_UP:
			scroll_by(-1);
			break;
		case KEY_DOWN:
			scroll_by(1);
			break;
		case KEY_PPAGE:
			scroll_by(-LINES / 2);
			break;
		case KEY_NPAGE:
			scroll_by(LINES / 2);
			break;
		case KEY_HOME:
			ui.first = 0;
			break;
		}
	}
	/* readable, and nothing there: the terminal has gone */
	return typed || isatty(STDIN_FILENO);
}
