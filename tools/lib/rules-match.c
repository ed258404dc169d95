// SPDX-License-Identifier: GPL-2.0
/* Rules: which one matches a process.  Pure. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <string.h>

#include "rules.h"

static bool matches(const char *pattern, const char *text, size_t len, int flags)
{
	char copy[KFDLIB_PATH];

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return !fnmatch(pattern, copy, flags);
}

/* systemd puts "_" before the name of a unit that would be that of a file of the cgroup, as memory.service */
static size_t unescaped(const char *part)
{
	return *part == '_';
}

/* The bytes of the cgroup, or of the one above it, that a pattern matches; a * does not stand for a slash.  0: none */
static size_t cgroup_match_len(const char *pattern, const char *cgroup)
{
	size_t len;

	for (len = strlen(cgroup); len; len--)
		if ((cgroup[len] == '/' || !cgroup[len]) && matches(pattern, cgroup, len, FNM_PATHNAME))
			return len;
	return 0;
}

static bool cgroup_matches(const char *pattern, const char *cgroup)
{
	return !strcmp(pattern, "/") || cgroup_match_len(pattern, cgroup);
}

static bool ends(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && !memcmp(name + len - n, suffix, n);
}

/**
 * rules_unit() - the system unit that a cgroup belongs to
 * @cgroup: its path
 * @len: out: bytes of the name
 *
 * The first part of the path that is a service or a scope.  What is below belongs to its owner,
 * who may call it anything: units of a user's own manager do not count.
 *
 * Return: where the name begins in @cgroup; *@len is 0: it belongs to none.
 */
size_t rules_unit(const char *cgroup, size_t *len)
{
	size_t at = 0;

	while (cgroup[at]) {
		at += strspn(cgroup + at, "/");
		at += unescaped(cgroup + at);
		*len = strcspn(cgroup + at, "/");
		if (ends(cgroup + at, *len, ".service") || ends(cgroup + at, *len, ".scope"))
			return at;
		if (!ends(cgroup + at, *len, ".slice"))
			break;
		at += *len;
	}
	*len = 0;
	return 0;
}

/* The bytes of the cgroup of the system unit, or of a slice that it is in, whose name a pattern matches.  0: none */
static size_t unit_match_len(const char *pattern, const char *cgroup)
{
	size_t at = 0, len;

	while (cgroup[at]) {
		at += strspn(cgroup + at, "/");
		at += unescaped(cgroup + at);
		len = strcspn(cgroup + at, "/");
		if (!ends(cgroup + at, len, ".slice"))
			break;
		if (matches(pattern, cgroup + at, len, 0))
			return at + len;
		at += len;
	}
	at = rules_unit(cgroup, &len);
	return len && matches(pattern, cgroup + at, len, 0) ? at + len : 0;
}

static bool unit_matches(const char *pattern, const char *cgroup)
{
	return unit_match_len(pattern, cgroup);
}

static bool group_matches(gid_t gid, const struct rules_subject *subject)
{
	size_t i;

	for (i = 0; i < subject->nr_gids; i++)
		if (subject->gids[i] == gid)
			return true;
	return false;
}

/**
 * rule_lowers() - does a rule take something from a process?
 * @rule: the rule
 *
 * Return: whether it lowers, limits, or ends "never parked".
 */
bool rule_lowers(const struct rule *rule)
{
	return (rule->priority != KFD_PRIO_UNSET && rule->priority < KFD_PRIO_NORMAL) ||
	       rule->park == KFD_PRIO_SET_PARK_AUTO || rule_limits(rule);
}

/**
 * rule_is_left() - can a process leave this rule, which takes something from it, by its own act?
 * @rule: the rule
 *
 * A user whom newgidmap(1) gives a user namespace clears the supplementary groups of a process there.
 *
 * Return: whether it lowers, or ends "never parked", by group.
 */
bool rule_is_left(const struct rule *rule)
{
	return rule->group && rule_lowers(rule);
}

/* Does a pattern name the cgroups of another, or those above them? */
static bool cgroup_covers(const char *wide, const char *narrow)
{
	char plain[RULES_LINE_MAX * 2];
	size_t len;

	if (!wide || !strcmp(wide, "/"))
		return true;
	if (!narrow)
		return false;
	len = strlen(wide);
	if (!strncmp(wide, narrow, len) && (!narrow[len] || narrow[len] == '/'))
		return true;
	/* what matches a cgroup matches those below it */
	rules_plain_parts(narrow, plain);
	return cgroup_matches(wide, plain);
}

/* Does a pattern name the unit of each process that a later rule matches? */
static bool unit_covers(const char *wide, const struct rule *rule)
{
	char plain[RULES_LINE_MAX * 2] = "/";

	if (!wide || (rule->unit && !strcmp(wide, rule->unit)))
		return true;
	if (rule->unit && rules_plain_parts(rule->unit, plain + 1) && matches(wide, plain + 1, strlen(plain + 1), 0))
		return true;
	if (!rule->cgroup)
		return false;
	/* all processes below a cgroup are in its slices, and of its unit if it has one */
	rules_plain_parts(rule->cgroup, plain);
	return unit_matches(wide, plain);
}

/* A name that is not known yet is the same as itself. */
static bool name_covers(const char *wide, const char *narrow, unsigned int pending, const struct rule *one, const struct rule *rule)
{
	if (!wide)
		return true;
	if (!narrow || (one->pending & pending) != (rule->pending & pending))
		return false;
	if (one->pending & pending)
		return !strcmp(wide, narrow);
	return pending == RULE_PENDING_USER ? one->uid == rule->uid : one->gid == rule->gid;
}

/**
 * rule_before() - a rule that matches wherever a later one does, so that the later one is never reached
 * @rules: the rules
 * @rule: one of them
 *
 * Return: the rule, or NULL: none is known to do so.
 */
const struct rule *rule_before(const struct rules *rules, const struct rule *rule)
{
	const struct rule *one;

	for (one = rules->rule; one < rule; one++)
		if (!one->exe && cgroup_covers(one->cgroup, rule->cgroup) && unit_covers(one->unit, rule) &&
		    name_covers(one->user, rule->user, RULE_PENDING_USER, one, rule) &&
		    name_covers(one->group, rule->group, RULE_PENDING_GROUP, one, rule))
			return one;
	return NULL;
}

/* Does a rule bind groups to cgroups? */
static bool binds(const struct rule *rule)
{
	return rule_shares(rule) && !rule->user && !rule->group && !rule->exe && (rule->unit || strcmp(rule->cgroup, "/"));
}

/**
 * rule_inside() - a rule before one that binds a cgroup to a group, for processes in that cgroup
 * @rules: the rules
 * @rule: one of them
 *
 * They are in that group, although another rule matches them, unless that rule binds a cgroup further down.
 *
 * Return: the first such rule, or NULL: none is known to be one.
 */
const struct rule *rule_inside(const struct rules *rules, const struct rule *rule)
{
	const struct rule *one;

	if (!binds(rule))
		return NULL;
	for (one = rules->rule; one < rule; one++)
		if (!one->exe && !binds(one) && cgroup_covers(rule->cgroup, one->cgroup) && unit_covers(rule->unit, one))
			return one;
	return NULL;
}

/**
 * rules_look() - what do the rules look at?
 * @rules: the rules
 *
 * Return: bit mask of RULES_LOOK_*; a condition on anything else is in no rule.
 */
unsigned int rules_look(const struct rules *rules)
{
	unsigned int look = 0;
	size_t i;

	for (i = 0; i < rules->nr; i++) {
		const struct rule *rule = &rules->rule[i];

		look |= rule->cgroup || rule->unit ? RULES_LOOK_CGROUP : 0;
		look |= rule->user ? RULES_LOOK_USER : 0;
		look |= rule->group ? RULES_LOOK_GROUP : 0;
		look |= rule->exe ? RULES_LOOK_EXE : 0;
	}
	return look;
}

/*
 * Whether a rule asks for the cgroup of a process that may be in any, as far as the kernel shows it: a user may nest
 * cgroups that he owns until their path is too long.
 */
static bool uncertain(const struct rule *rule, const struct rules_subject *subject)
{
	return subject->cgroup_hidden && (rule->unit || (rule->cgroup && strcmp(rule->cgroup, "/")));
}

/* The priority of a rule that is only a limit: of one for cgroups, too, where that of the process is hidden */
static bool limits_priority(const struct rule *rule)
{
	return rule->priority != KFD_PRIO_UNSET && rule->priority <= KFD_PRIO_NORMAL;
}

/**
 * rule_mismatch() - which condition of a rule does not hold?
 * @rule: the rule
 * @subject: the process; a condition on what is not known of it does not hold.  Of a process whose cgroup is too deep
 *	to be shown, one on the cgroup holds in a rule that lowers, and in no other
 *
 * Return: the key of the first one, NULL: all hold.
 */
const char *rule_mismatch(const struct rule *rule, const struct rules_subject *subject)
{
	const char *cgroup = subject->cgroup_hidden ? "/" : subject->cgroup;

	if (uncertain(rule, subject)) {
		if (!limits_priority(rule) && !rule_limits(rule))
			return rule->unit ? "unit" : "cgroup";
	} else {
		if (rule->cgroup && (!cgroup || !cgroup_matches(rule->cgroup, cgroup)))
			return "cgroup";
		if (rule->unit && (!cgroup || !unit_matches(rule->unit, cgroup)))
			return "unit";
	}
	if (rule->user && (rule->pending & RULE_PENDING_USER || rule->uid != subject->uid))
		return "user";
	if (rule->group && (rule->pending & RULE_PENDING_GROUP || !group_matches(rule->gid, subject)))
		return "group";
	if (rule->exe && (!subject->exe || fnmatch(rule->exe, subject->exe, FNM_PATHNAME)))
		return "exe";
	return NULL;
}

/* A rule that does not end the search: the lowest priority and the lowest limit of these hold */
static void limit_note(const struct rule *rule, struct rules_result *result)
{
	if (limits_priority(rule) && (!result->limit || rule->priority < result->limit->priority))
		result->limit = rule;
	if (rule_limits(rule) && (!result->share_limit || rule->max < result->share_limit->max))
		result->share_limit = rule;
}

/**
 * rules_match() - what the rules say of a process
 * @rules: in their order
 * @subject: the process
 * @result: filled in
 */
void rules_match(const struct rules *rules, const struct rules_subject *subject,
		 struct rules_result *result)
{
	size_t i;

	*result = (struct rules_result){ .priority = KFD_PRIO_UNSET };
	for (i = 0; i < rules->nr && !result->rule; i++) {
		const struct rule *rule = &rules->rule[i];

		if (rule_mismatch(rule, subject))
			continue;
		if (!rule->exe && !uncertain(rule, subject))
			result->rule = rule;
		else
			limit_note(rule, result);
	}
	if (result->rule && result->limit && result->rule->priority != KFD_PRIO_UNSET &&
	    result->limit->priority >= result->rule->priority)
		result->limit = NULL;
	if (result->rule)
		result->park = result->rule->park;
	if (result->rule && rule_shares(result->rule))
		result->share = result->rule;
	/* a process can be in one group beside that of its cgroup */
	if (result->share && !rule_share_cgroup(result->share, subject->cgroup))
		result->share_limit = NULL;
	if (result->limit)
		result->priority = result->limit->priority;
	else if (result->rule)
		result->priority = result->rule->priority;
}

/**
 * rule_share_cgroup() - the cgroup that shares what a rule gives
 * @rule: a rule that matches
 * @cgroup: the cgroup of the process, NULL: not known
 *
 * All processes of a cgroup are in its group.  So a rule that asks for anything else, too, has no such cgroup: it
 * would reach processes that it does not match.  cgroup=/ is no condition, and rules before it match others.
 *
 * Return: bytes of its path in @cgroup; 0: the group is one for the rule, and not that of a cgroup.
 */
size_t rule_share_cgroup(const struct rule *rule, const char *cgroup)
{
	size_t path = 0, unit = 0;

	if (!cgroup || rule->user || rule->group || rule->exe)
		return 0;
	if (rule->cgroup && strcmp(rule->cgroup, "/"))
		path = cgroup_match_len(rule->cgroup, cgroup);
	if (rule->unit)
		unit = unit_match_len(rule->unit, cgroup);
	/* where both are given, both hold below the one that is further down */
	return path > unit ? path : unit;
}

/**
 * rules_share_of_cgroup() - the rule by which a cgroup has a group
 * @rules: the rules
 * @cgroup: its path
 *
 * Return: the first rule that matches all processes there, if it gives a share to that very cgroup; else NULL.
 */
const struct rule *rules_share_of_cgroup(const struct rules *rules, const char *cgroup)
{
	const struct rules_subject subject = { .cgroup = cgroup };
	const struct rule *rule;

	for (rule = rules->rule; rule < rules->rule + rules->nr; rule++) {
		if (rule->user || rule->group || rule->exe || rule_mismatch(rule, &subject))
			continue;
		return rule_shares(rule) && rule_share_cgroup(rule, cgroup) == strlen(cgroup) ? rule : NULL;
	}
	return NULL;
}

/**
 * rules_applies() - is a process to be given what the rules say?
 * @result: of rules_match()
 * @now: what is set for the process, or KFD_PRIO_UNSET
 *
 * A limit alone lowers only.  A process without a priority counts as normal, as the driver counts it.
 *
 * Return: whether it is to be set, because it differs.
 */
bool rules_applies(const struct rules_result *result, int now)
{
	if (result->priority == KFD_PRIO_UNSET || result->priority == now)
		return false;
	if (result->rule && result->rule->priority != KFD_PRIO_UNSET)
		return true;
	return result->priority < (now == KFD_PRIO_UNSET ? KFD_PRIO_NORMAL : now);
}

/**
 * rules_parks() - is park= of a rule to be applied to a process?
 * @result: of rules_match()
 * @never: the process is never parked now
 *
 * Return: whether it is to be set, because it differs.
 */
bool rules_parks(const struct rules_result *result, bool never)
{
	return result->park == (never ? KFD_PRIO_SET_PARK_AUTO : KFD_PRIO_SET_PARK_NEVER);
}

/**
 * rules_match_orphan() - what the rules say of an orphan
 * @of: of rules_match(), for each thread group that shares its memory
 * @nr: how many
 * @all: these are all groups that there are
 * @now: what is set for the orphan, or KFD_PRIO_UNSET, which counts as the lowest
 * @result: filled in
 *
 * What lowers or lets it be parked needs one group that a rule matches: a user could otherwise evade the
 * rule with a second group.  What raises it or keeps it from being parked needs all of them, and gives the
 * lowest of what the rules give.
 */
void rules_match_orphan(const struct rules_result *of, size_t nr, bool all, int now, struct rules_result *result)
{
	const struct rules_result *lowest = NULL, *parks = NULL, *never = NULL;
	bool raises = all && nr, keeps = all && nr;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (of[i].priority != KFD_PRIO_UNSET && (!lowest || of[i].priority < lowest->priority))
			lowest = &of[i];
		/* a limit alone lowers only */
		raises &= of[i].rule && of[i].rule->priority != KFD_PRIO_UNSET;
		if (of[i].park == KFD_PRIO_SET_PARK_AUTO)
			parks = &of[i];
		keeps &= of[i].park == KFD_PRIO_SET_PARK_NEVER;
		never = &of[i];
	}
	*result = (struct rules_result){ .priority = KFD_PRIO_UNSET };
	if (lowest && (raises || lowest->priority < (now == KFD_PRIO_UNSET ? KFD_PRIO_MIN : now)))
		*result = *lowest;
	result->park = parks ? KFD_PRIO_SET_PARK_AUTO : keeps ? KFD_PRIO_SET_PARK_NEVER : 0;
	if (result->park && !result->rule)
		result->rule = parks ? parks->rule : never->rule;
}

/**
 * rules_container_max() - the highest priority that a container may ask for
 * @rules: the rules
 *
 * A container asks with an annotation or a device (kfdprio oci-hook), which whoever starts it chooses.
 * Without container-max= that is normal: no container preempts unless the administrator says so.  If a
 * file has an error the limit may be missing, and low is left: any user may lower.
 *
 * Return: a priority.
 */
int rules_container_max(const struct rules *rules)
{
	if (rules->nr_errors)
		return KFD_PRIO_LOW;
	return rules->has_container_max ? rules->container_max : KFD_PRIO_NORMAL;
}
