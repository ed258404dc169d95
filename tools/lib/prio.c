// SPDX-License-Identifier: GPL-2.0
/* Priorities and PIDs as people write them. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"

/* The bands of KFD's pipe priorities begin here; see linux/kfd_prio.h. */
#define BAND_NORMAL 7
#define BAND_HIGH   11

static const struct {
	const char *name;
	int prio;
} prio_names[] = {
	{ "low", KFD_PRIO_LOW },
	{ "normal", KFD_PRIO_NORMAL },
	{ "high", KFD_PRIO_HIGH },
};

/*
 * Decimal digits and nothing else: no sign, space, prefix or tail.
 * -EINVAL: not that; -ERANGE: that, but more than @max.
 */
static int digits_parse(const char *text, int max, int *value)
{
	int sum = 0;

	if (!*text || text[strspn(text, "0123456789")])
		return -EINVAL;
	for (; *text; text++) {
		int digit = *text - '0';

		if (sum > (max - digit) / 10)
			return -ERANGE;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return 0;
}

/**
 * park_parse() - a value of --park and park=
 * @text: never or auto
 * @park: out: KFD_PRIO_SET_PARK_NEVER or _AUTO
 *
 * Return: 0 or -EINVAL.
 */
int park_parse(const char *text, uint32_t *park)
{
	if (!strcmp(text, "never"))
		*park = KFD_PRIO_SET_PARK_NEVER;
	else if (!strcmp(text, "auto"))
		*park = KFD_PRIO_SET_PARK_AUTO;
	else
		return -EINVAL;
	return 0;
}

/**
 * park_name() - the word for it
 * @park: KFD_PRIO_SET_PARK_NEVER, _AUTO or 0
 *
 * Return: "never", "auto" or NULL.
 */
const char *park_name(uint32_t park)
{
	return park & KFD_PRIO_SET_PARK_NEVER ? "never" : park & KFD_PRIO_SET_PARK_AUTO ? "auto" : NULL;
}

/**
 * prio_parse() - a priority from the command line
 * @text: 0..15 or low, normal, high
 * @prio: out
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Return: 0, -EINVAL (neither number nor name) or -ERANGE.
 */
int prio_parse(const char *text, int *prio, char *why)
{
	char *shown;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(prio_names) / sizeof(*prio_names); i++) {
		if (!strcmp(text, prio_names[i].name)) {
			*prio = prio_names[i].prio;
			return 0;
		}
	}
	ret = digits_parse(text, KFD_PRIO_MAX, prio);
	/* A user takes a negative number as a number out of range. */
	if (ret == -EINVAL && text[0] == '-' && text[1] && !text[1 + strspn(text + 1, "0123456789")])
		ret = -ERANGE;
	if (!ret)
		return 0;
	shown = text_printable(text);
	if (ret == -ERANGE)
		snprintf(why, KFDLIB_WHY,
			 "priority '%.64s' is out of range: it must be %d (least important) to %d (most important)",
			 shown ? shown : "", KFD_PRIO_MIN, KFD_PRIO_MAX);
	else
		snprintf(why, KFDLIB_WHY,
			 "'%.64s' is not a priority: give a number from %d (least important) to %d (most important), or low, normal or high",
			 shown ? shown : "", KFD_PRIO_MIN, KFD_PRIO_MAX);
	free(shown);
	return ret;
}

/**
 * prio_band() - the name of the band that a priority lies in
 * @prio: KFD_PRIO_MIN..KFD_PRIO_MAX
 *
 * Return: "low", "normal" (KFD's medium) or "high".
 */
const char *prio_band(int prio)
{
	if (prio >= BAND_HIGH)
		return "high";
	return prio >= BAND_NORMAL ? "normal" : "low";
}

/**
 * pid_parse() - a PID from the command line
 * @text: a decimal number > 0
 * @pid: out
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int pid_parse(const char *text, pid_t *pid, char *why)
{
	char *shown;
	int value;
	int ret;

	ret = digits_parse(text, INT_MAX, &value);
	if (!ret && value > 0) {
		*pid = value;
		return 0;
	}
	shown = text_printable(text);
	snprintf(why, KFDLIB_WHY, "'%.64s' is not a PID: %s", shown ? shown : "",
		 ret == -ERANGE ? "the number is too large" : "give a decimal number greater than 0");
	free(shown);
	return ret ? ret : -EINVAL;
}
