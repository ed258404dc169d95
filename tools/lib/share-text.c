// SPDX-License-Identifier: GPL-2.0
/* Groups with shares of GPU time: limits, weights and numbers of groups on the command line, with the reason of a refusal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "share.h"

#define DIGITS "0123456789"

/* What is wrong with a limit that kfd_max_parse() refuses */
static const char *max_fault(const char *text)
{
	static const char none[] = "is no percentage";
	bool negative = *text == '-';
	size_t decimals = 0;

	text += negative;
	if (!strspn(text, DIGITS) || !strncmp(text, "00", 2))
		return none;
	text += strspn(text, DIGITS);
	if (*text == '.') {
		decimals = strspn(++text, DIGITS);
		if (!decimals)
			return none;
	}
	text += decimals;
	if (!*text)
		return "has no percent sign";
	if (strcmp(text, "%"))
		return none;
	return decimals > 2 ? "has more than two decimals" : "is out of range";
}

/**
 * share_max_parse() - a limit from the command line
 * @text: 0.01%..100%, or none
 * @max: out: hundredths of a percent; KFD_PRIO_MAX_NONE: none
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int share_max_parse(const char *text, uint32_t *max, char *why)
{
	char *shown;

	if (!kfd_max_parse(text, max))
		return 0;
	shown = text_printable(text);
	snprintf(why, KFDLIB_WHY, "limit '%.64s' %s: give 0.01%% to 100%%, or none", shown ? shown : "", max_fault(text));
	free(shown);
	return -EINVAL;
}

/* Decimal digits and nothing else; -ERANGE: that, but not @least..@most */
static int number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	uint64_t sum = 0;

	/* A user takes a negative number as a number out of range. */
	if (*text == '-' && text[1] && !text[1 + strspn(text + 1, DIGITS)])
		return -ERANGE;
	if (!*text || text[strspn(text, DIGITS)])
		return -EINVAL;
	for (; *text; text++) {
		unsigned int digit = *text - '0';

		if (sum > (most - digit) / 10)
			return -ERANGE;
		sum = sum * 10 + digit;
	}
	if (sum < least)
		return -ERANGE;
	*value = sum;
	return 0;
}

/**
 * share_weight_parse() - a weight from the command line
 * @text: KFD_PRIO_WEIGHT_MIN..KFD_PRIO_WEIGHT_MAX, or none
 * @weight: out; KFD_PRIO_WEIGHT_NONE: none
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Return: 0, -EINVAL (no number) or -ERANGE.
 */
int share_weight_parse(const char *text, uint32_t *weight, char *why)
{
	uint64_t value;
	char *shown;
	int ret;

	if (!kfd_weight_parse(text, weight))
		return 0;
	/* Only to find out what is wrong */
	ret = number_parse(text, KFD_PRIO_WEIGHT_MIN, KFD_PRIO_WEIGHT_MAX, &value);
	shown = text_printable(text);
	snprintf(why, KFDLIB_WHY, "weight '%.64s' %s: give %d to %d, or none", shown ? shown : "",
		 ret == -ERANGE ? "is out of range" : "is no number", KFD_PRIO_WEIGHT_MIN, KFD_PRIO_WEIGHT_MAX);
	free(shown);
	return ret;
}

/**
 * share_group_parse() - the number of a group from the command line
 * @text: a decimal number > 0
 * @group: out
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Return: 0, -EINVAL (no number) or -ERANGE.
 */
int share_group_parse(const char *text, uint64_t *group, char *why)
{
	int ret = number_parse(text, 1, UINT64_MAX, group);
	char *shown;

	if (!ret)
		return 0;
	shown = text_printable(text);
	snprintf(why, KFDLIB_WHY,
		 "'%.64s' is not the number of a group: give a decimal number greater than 0; 'kfdprio --groups' prints those that exist",
		 shown ? shown : "");
	free(shown);
	return ret;
}

/**
 * share_format() - the limit and the weight of a group in words
 * @text: filled in
 * @size: its bytes
 * @max: hundredths of a percent
 * @soft: the limit holds only while another process has work
 * @weight: the weight
 */
void share_format(char *text, size_t size, uint32_t max, bool soft, uint32_t weight)
{
	char limit[16];
	int used;

	kfd_max_text(max, limit, sizeof(limit));
	if (max == KFD_PRIO_MAX_NONE)
		used = snprintf(text, size, "no limit, ");
	else
		used = snprintf(text, size, "limit %s%s, ", limit, soft ? " (soft)" : "");
	if (used < 0 || (size_t)used >= size)
		return;
	if (weight == KFD_PRIO_WEIGHT_NONE)
		snprintf(text + used, size - used, "no weight");
	else
		snprintf(text + used, size - used, "weight %u", weight);
}
