// SPDX-License-Identifier: GPL-2.0
/*
 * kfdpriod: rules whose user or group is not known yet.
 *
 * A directory service may answer only after the boot, or again after a failure.  Such a rule matches no
 * process; the other rules are in force.  The name is looked up again when a process of a UID opens KFD
 * that was not seen since, and after a time that doubles.
 */
#include <stdlib.h>
#include <time.h>

#include "kfdpriod.h"

#define RETRY_FIRST_MS 10000
#define RETRY_MAX_MS   600000
#define RETRY_LEAST_MS 1000 /* between two look-ups, however many UIDs there are */

/**
 * now_ms() - the time
 *
 * Return: ms since boot.
 */
long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void count(struct service *s)
{
	size_t i;

	s->nr_pending = 0;
	for (i = 0; i < s->rules.nr; i++)
		s->nr_pending += s->rules.rule[i].pending != 0;
}

/**
 * pending_begin() - rules were taken
 * @s: the service
 */
void pending_begin(struct service *s)
{
	const struct rule *rule;

	count(s);
	s->nr_uids = 0;
	s->retry_ms = RETRY_FIRST_MS;
	s->retry_at = s->retry_last = now_ms();
	s->retry_at += s->retry_ms;
	for (rule = s->rules.rule; rule < s->rules.rule + s->rules.nr; rule++) {
		if (rule->pending & RULE_PENDING_USER)
			log_line(LOG_LEVEL_WARNING, "%s:%u: there is no user '%s' now: the rule matches once there is one",
				 rule->file, rule->line, rule->user);
		if (rule->pending & RULE_PENDING_GROUP)
			log_line(LOG_LEVEL_WARNING, "%s:%u: there is no group '%s' now: the rule matches once there is one",
				 rule->file, rule->line, rule->group);
	}
}

/**
 * pending_left() - when names are to be looked up again
 * @s: the service
 *
 * Return: ms until then; -1: none is pending.
 */
long long pending_left(const struct service *s)
{
	long long left = s->retry_at - now_ms();

	if (!s->nr_pending)
		return -1;
	return left > 0 ? left : 0;
}

/**
 * pending_retry() - look names up again
 * @s: the service
 *
 * Return: whether one is known now: the rules are then to be applied to all processes.
 */
bool pending_retry(struct service *s)
{
	size_t found = rules_resolve(&s->rules);

	s->retry_last = now_ms();
	if (s->retry_ms < RETRY_MAX_MS)
		s->retry_ms *= 2;
	s->retry_at = s->retry_last + s->retry_ms;
	if (!found)
		return false;
	log_line(LOG_LEVEL_INFO, "%zu user%s or group%s of rules %s known now: the rules are applied to all processes", found,
		 found == 1 ? "" : "s", found == 1 ? "" : "s", found == 1 ? "is" : "are");
	count(s);
	return true;
}

/**
 * pending_seen() - a process of a user opens KFD
 * @s: the service
 * @uid: its effective UID
 *
 * The first one of a UID may be the user whom a rule waits for.
 *
 * Return: as pending_retry().
 */
bool pending_seen(struct service *s, uid_t uid)
{
	long long next = s->retry_last + RETRY_LEAST_MS;
	size_t i;

	if (!s->nr_pending)
		return false;
	for (i = 0; i < s->nr_uids; i++)
		if (s->uids[i] == uid)
			return false;
	if (now_ms() < next) {
		if (next < s->retry_at)
			s->retry_at = next;
		return false;
	}
	/* with more of them the first is forgotten, and looked up again */
	if (s->nr_uids == SERVICE_UIDS)
		s->nr_uids = 0;
	s->uids[s->nr_uids++] = uid;
	return pending_retry(s);
}
