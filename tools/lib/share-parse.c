// SPDX-License-Identifier: GPL-2.0
/* Limits of GPU time and weights as users write them.  Pure. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "share.h"

#define DIGITS "0123456789"

/**
 * kfd_max_parse() - a limit of GPU time, as of max=
 * @text: a percentage from 0.01% to 100% with two decimals at most, or none
 * @hundredths: out: hundredths of a percent; KFD_PRIO_MAX_NONE: no limit
 *
 * 100% is no limit.
 *
 * Return: 0 or -EINVAL.
 */
int kfd_max_parse(const char *text, uint32_t *hundredths)
{
	size_t whole = strspn(text, DIGITS), decimals = 0, i;
	uint32_t value = 0;

	if (!strcmp(text, "none")) {
		*hundredths = KFD_PRIO_MAX_NONE;
		return 0;
	}
	if (!whole || whole > 3)
		return -EINVAL;
	for (i = 0; i < whole; i++)
		value = value * 10 + text[i] - '0';
	text += whole;
	if (*text == '.') {
		decimals = strspn(++text, DIGITS);
		if (!decimals || decimals > 2)
			return -EINVAL;
	}
	for (i = 0; i < 2; i++)
		value = value * 10 + (i < decimals ? text[i] - '0' : 0);
	text += decimals;
	if (strcmp(text, "%") || !value || value > KFD_PRIO_MAX_NONE)
		return -EINVAL;
	*hundredths = value;
	return 0;
}

/**
 * kfd_weight_parse() - a weight, as of weight=
 * @text: a number from KFD_PRIO_WEIGHT_MIN to KFD_PRIO_WEIGHT_MAX, or none
 * @weight: out: KFD_PRIO_WEIGHT_NONE: none
 *
 * Return: 0 or -EINVAL.
 */
int kfd_weight_parse(const char *text, uint32_t *weight)
{
	uint32_t value = 0;

	if (!strcmp(text, "none")) {
		*weight = KFD_PRIO_WEIGHT_NONE;
		return 0;
	}
	if (!*text || text[strspn(text, DIGITS)])
		return -EINVAL;
	for (; *text; text++) {
		value = value * 10 + *text - '0';
		if (value > KFD_PRIO_WEIGHT_MAX)
			return -EINVAL;
	}
	if (value < KFD_PRIO_WEIGHT_MIN)
		return -EINVAL;
	*weight = value;
	return 0;
}

/**
 * kfd_max_text() - a limit as kfd_max_parse() reads it
 * @hundredths: 1..KFD_PRIO_MAX_NONE
 * @text: out: without decimals that are 0
 * @size: bytes of @text; 16 are enough
 *
 * Return: @text.
 */
const char *kfd_max_text(uint32_t hundredths, char *text, size_t size)
{
	uint32_t whole = hundredths / 100, part = hundredths % 100;

	if (hundredths >= KFD_PRIO_MAX_NONE)
		snprintf(text, size, "none");
	else if (!part)
		snprintf(text, size, "%u%%", whole);
	else if (part % 10)
		snprintf(text, size, "%u.%02u%%", whole, part);
	else
		snprintf(text, size, "%u.%u%%", whole, part / 10);
	return text;
}

/**
 * share_text() - the setting of a group, as in a rule
 * @setting: the setting
 * @text: out: "max=30% weight=200"; "max=none" if it has neither
 * @size: bytes of @text, SHARE_TEXT
 *
 * Return: @text.
 */
const char *share_text(const struct share_setting *setting, char *text, size_t size)
{
	bool limits = setting->max < KFD_PRIO_MAX_NONE, weighs = setting->weight != KFD_PRIO_WEIGHT_NONE;
	char max[16], weight[24] = "";

	if (weighs)
		snprintf(weight, sizeof(weight), "%sweight=%u", limits ? " " : "", setting->weight);
	if (limits || !weighs)
		snprintf(text, size, "%s=%s%s", setting->soft && limits ? "max-soft" : "max",
			 kfd_max_text(setting->max, max, sizeof(max)), weight);
	else
		snprintf(text, size, "%s", weight);
	return text;
}

/**
 * share_same() - are two settings the same?
 * @one: a setting
 * @other: another
 *
 * Return: whether; without a limit it does not matter whether it is soft.
 */
bool share_same(const struct share_setting *one, const struct share_setting *other)
{
	return one->max == other->max && one->weight == other->weight &&
	       (one->soft == other->soft || one->max >= KFD_PRIO_MAX_NONE);
}
