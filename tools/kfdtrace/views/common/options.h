/* SPDX-License-Identifier: GPL-2.0 */
/* The options that the verbs share which look at a recording. */
#ifndef KFDTRACE_VIEW_OPTIONS_H
#define KFDTRACE_VIEW_OPTIONS_H

#include "view.h"

void view_options_parse(int argc, char **argv, const char *letters, void (*usage)(void),
			struct view_options *options);

#endif /* KFDTRACE_VIEW_OPTIONS_H */
