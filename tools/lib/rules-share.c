// SPDX-License-Identifier: GPL-2.0
/* Rules: shares of GPU time, and values that are meant for another key.  Pure but for memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules-advice.h"

/**
 * rule_limits() - does a rule limit GPU time?
 * @rule: the rule
 *
 * Return: whether.
 */
bool rule_limits(const struct rule *rule)
{
	return rule->max && rule->max < KFD_PRIO_MAX_NONE;
}

/**
 * rule_shares() - does a rule put processes in a group?
 * @rule: the rule
 *
 * Return: whether; max=none alone is no share.
 */
bool rule_shares(const struct rule *rule)
{
	return rule_limits(rule) || rule->weight != KFD_PRIO_WEIGHT_NONE;
}

/**
 * rule_share_setting() - what the group of a rule has
 * @rule: the rule
 * @limit: the rule only limits: its weight does not hold
 *
 * Return: the setting.
 */
struct share_setting rule_share_setting(const struct rule *rule, bool limit)
{
	return (struct share_setting){ .max = rule->max ? rule->max : KFD_PRIO_MAX_NONE, .soft = rule->soft,
				       .weight = limit ? KFD_PRIO_WEIGHT_NONE : rule->weight };
}

/**
 * rule_key() - the conditions of a rule, by which its group is found again when rules were read anew
 * @rule: the rule
 *
 * Return: one line of any bytes, to be freed with free(3); NULL without memory.
 */
char *rule_key(const struct rule *rule)
{
	const struct {
		const char *name, *value;
	} conditions[] = { { "cgroup", rule->cgroup }, { "unit", rule->unit }, { "user", rule->user }, { "group", rule->group },
			   { "exe", rule->exe } };
	size_t i, size = 1;
	char *key, *to;

	for (i = 0; i < sizeof(conditions) / sizeof(*conditions); i++)
		if (conditions[i].value)
			size += strlen(conditions[i].name) + strlen(conditions[i].value) + 2;
	to = key = malloc(size);
	if (!key)
		return NULL;
	*to = '\0';
	for (i = 0; i < sizeof(conditions) / sizeof(*conditions); i++)
		if (conditions[i].value)
			to += sprintf(to, "%s%s=%s", to == key ? "" : " ", conditions[i].name, conditions[i].value);
	return key;
}

/**
 * rules_share_of_key() - the rule that has a group
 * @rules: the rules
 * @key: of rule_key(), when the group was made
 *
 * Return: the first rule with these conditions, if it gives a share; NULL: there is none, or no memory.
 */
const struct rule *rules_share_of_key(const struct rules *rules, const char *key)
{
	const struct rule *rule;
	char *its;
	bool same;

	for (rule = rules->rule; rule < rules->rule + rules->nr; rule++) {
		its = rule_key(rule);
		same = its && !strcmp(its, key);
		free(its);
		if (same)
			return rule_shares(rule) ? rule : NULL;
	}
	return NULL;
}

static bool is_priority(const char *value)
{
	char why[KFDLIB_WHY];
	int priority;

	return !prio_parse(value, &priority, why);
}

/* A percentage, whatever its number is */
static bool is_percentage(const char *value)
{
	size_t len = strspn(value, "0123456789.,");

	return len && !strcmp(value + len, "%");
}

/* With a '%', which is missing, or with a point in place of a comma */
static bool max_mend(const char *value, char *mended, size_t size)
{
	uint32_t max;
	char *comma;

	snprintf(mended, size, "%s%s", value, strchr(value, '%') ? "" : "%");
	comma = strchr(mended, ',');
	if (comma)
		*comma = '.';
	return strlen(value) + 2 < size && !kfd_max_parse(mended, &max);
}

/**
 * rules_max_check() - the value of max=, max-soft= or annotation-gpu-time=
 * @key: which of them
 * @value: the value
 * @max: out: see struct rule
 * @why: out: what is wrong, and what was probably meant
 *
 * Return: 0 or -EINVAL.
 */
int rules_max_check(const char *key, const char *value, uint32_t *max, struct rules_refusal *why)
{
	char mended[RULES_LINE_MAX];
	bool mends;

	if (!kfd_max_parse(value, max))
		return 0;
	mends = max_mend(value, mended, sizeof(mended));
	if (is_priority(value))
		return rules_refuse(why, "%s= is a limit of GPU time in percent, as %s=%s: a priority is priority=%s, and the highest one that containers may ask for is container-max=%s, alone on its line",
				    key, key, mends ? mended : "30%", value, value);
	if (mends)
		return rules_refuse_as(why, ": write ", key, mended, "%s= is a percentage of GPU time, with '%%' and with a point", key);
	if (is_percentage(value))
		return rules_refuse(why, "%s= is from 0.01%% to 100%%, with two decimals at most", key);
	return rules_refuse(why, "%s= is a percentage of GPU time from 0.01%% to 100%%, as %s=30%%, or none", key, key);
}

/**
 * rules_weight_check() - the value of weight= or annotation-weight=
 * @key: which of them
 * @value: the value
 * @weight: out: see struct rule
 * @why: out: what is wrong, and what was probably meant
 *
 * Return: 0 or -EINVAL.
 */
int rules_weight_check(const char *key, const char *value, uint32_t *weight, struct rules_refusal *why)
{
	uint32_t max;

	if (!kfd_weight_parse(value, weight))
		return 0;
	if (!kfd_max_parse(value, &max))
		return rules_refuse_as(why, ", as ", strcmp(key, "weight") ? "annotation-gpu-time" : "max", value,
				       "%s= is a number from %d to %d and no percentage: a limit of GPU time is %s=", key,
				       KFD_PRIO_WEIGHT_MIN, KFD_PRIO_WEIGHT_MAX, strcmp(key, "weight") ? "annotation-gpu-time" : "max");
	return rules_refuse(why, "%s= is a number from %d to %d, as %s=200, or none; a process without a weight counts as one of %d",
			    key, KFD_PRIO_WEIGHT_MIN, KFD_PRIO_WEIGHT_MAX, key, KFD_PRIO_WEIGHT_DEFAULT);
}

/**
 * rules_priority_check() - the value of priority= or container-max=
 * @key: priority or container-max
 * @value: the value
 * @priority: out
 * @why: out: what is wrong, and what was probably meant
 *
 * Return: 0 or -EINVAL.
 */
int rules_priority_check(const char *key, const char *value, int *priority, struct rules_refusal *why)
{
	bool container = !strcmp(key, "container-max");
	char text[KFDLIB_WHY];

	if (!prio_parse(value, priority, text))
		return 0;
	if (is_percentage(value) && container)
		return rules_refuse(why, "container-max= is the highest priority that containers may ask for, and no limit of GPU time: such a limit is max= in a rule that names the containers, as: cgroup=/machine.slice max=%.16s",
				    value);
	if (is_percentage(value))
		return rules_refuse_as(why, ": write ", "max", value, "priority= is a number or a name, and no limit of GPU time, which is max=");
	return rules_refuse(why, "%s%.400s", container ? "container-max=: " : "", text);
}
