/* SPDX-License-Identifier: GPL-2.0 */
/* Why a process was throttled, of "report", "path" and "timeline". */
#ifndef KFDTRACE_THROTTLE_H
#define KFDTRACE_THROTTLE_H

#include <stdint.h>

#define THROTTLE_TEXT 128 /* bytes of a text */

void throttle_text(int64_t reason, int64_t share, int64_t cgroup_share, char *text);
void throttle_json(int64_t reason, int64_t share, int64_t cgroup_share);

#endif /* KFDTRACE_THROTTLE_H */
