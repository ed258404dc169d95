// SPDX-License-Identifier: GPL-2.0
/* The time of a recording. */
#define _GNU_SOURCE
#include <time.h>

#include "record.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/**
 * record_now() - the time that events have
 *
 * Return: CLOCK_MONOTONIC, ns.
 */
uint64_t record_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Time in suspend.  Between the two readings, time passes that is not of it. */
static int64_t boot_offset(void)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), boot = clock_ns(CLOCK_BOOTTIME);

	return (int64_t)(boot - before) / 1000000 * 1000000;
}

/**
 * record_began() - the recording begins now
 * @rec: the recording; its times are filled in
 */
void record_began(struct recording *rec)
{
	rec->start_ns = clock_ns(CLOCK_MONOTONIC);
	rec->start_real_ns = clock_ns(CLOCK_REALTIME);
	rec->boot_offset_ns = boot_offset();
}
