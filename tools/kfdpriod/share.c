// SPDX-License-Identifier: GPL-2.0
/*
 * kfdpriod: from a process to the group of its rule.
 *
 * A rule for a cgroup or a unit binds a group to the cgroup, and the driver finds the processes.  Any other rule has
 * one group, and each process that matches is put in it.  Limit and weight of a group are set when it is made and when
 * rules were read again: what was changed by hand holds until then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "kfdpriod.h"

#define TRIES 3 /* to put a process in a group that ends, or while the process joins another one */

/**
 * struct member - a process that is to be in a group
 * @process: names it
 * @share: the group that it was put in or has inherited; 0: none
 * @known: @share is known
 */
struct member {
	const struct kfd_prio_set_args *process;
	uint64_t share;
	bool known;
};

static void save(struct service *s)
{
	char why[KFDLIB_WHY];

	if (!s->groups.changed)
		return;
	s->groups.changed = false;
	if (!groups_save(&s->groups, why) || s->unsaved)
		return;
	s->unsaved = true;
	log_line(LOG_LEVEL_WARNING, "%s: groups that are not those of a cgroup are not found again when the service starts again", why);
}

static int shares_list(struct service *s, struct kfd_prio_share_entry **entries, size_t *nr)
{
	int ret = kfd_dev_shares(&s->dev, entries, nr);

	if (ret)
		log_line(LOG_LEVEL_ERROR, "cannot list the groups of processes: %s", strerror(-ret));
	return ret;
}

/* A group that was made: what the driver does not have any more is forgotten. */
static void group_note(struct service *s, const struct group *group)
{
	struct kfd_prio_share_entry *entries;
	size_t nr;

	if (!shares_list(s, &entries, &nr)) {
		groups_prune(&s->groups, entries, nr);
		free(entries);
	}
	group_add(&s->groups, group);
	save(s);
}

static void log_process(const struct service *s, const struct member *m, const struct rule *rule, uint64_t number, const char *what)
{
	if (s->verbose)
		log_line(LOG_LEVEL_DEBUG, "process %d: group %llu%s %s:%u", m->process->pid, (unsigned long long)number, what,
			 rule->file, rule->line);
}

static void log_made(const struct service *s, uint64_t number, const struct share_setting *setting, const struct rule *rule)
{
	char text[SHARE_TEXT];

	if (s->verbose)
		log_line(LOG_LEVEL_DEBUG, "group %llu: %s by %s:%u", (unsigned long long)number,
			 share_text(setting, text, sizeof(text)), rule->file, rule->line);
}

/* The group that a process is in.  Returns whether there is such a process. */
static bool member_read(struct service *s, struct member *m)
{
	struct kfd_prio_list_entry *entries;
	size_t nr, i;

	if (m->known)
		return true;
	if (kfd_dev_list(&s->dev, &entries, &nr))
		return false;
	for (i = 0; i < nr && !m->known; i++) {
		m->known = entries[i].serial == m->process->serial && entries[i].pid == m->process->pid;
		m->share = entries[i].share;
	}
	free(entries);
	return m->known;
}

/* The rule that a group is for; NULL: it is gone, or does not give a share any more */
static const struct rule *rule_of(const struct service *s, const struct group *group)
{
	const struct rule *rule = group->key ? rules_share_of_key(&s->rules, group->key) :
					       rules_share_of_cgroup(&s->rules, group->cgroup);

	return rule && group->limit && !rule_limits(rule) ? NULL : rule;
}

/* Is @rule, which only limits, lower than what a group of another rule gives?  A weight that is given up may be less than none. */
static bool lowers(const struct rule *rule, const struct rule *now)
{
	return !now || (now->weight == KFD_PRIO_WEIGHT_NONE && rule->max < now->max);
}

/*
 * May a process leave the group that it is in for that of @rule?  One that a rule has made, and if @rule only limits,
 * where that is lower; and one that a user has made, who could otherwise evade the rule.  One that root has made by hand
 * stays.
 */
static bool may_move(struct service *s, const struct member *m, const struct rule *rule, bool limit)
{
	const struct group *group = group_of_number(&s->groups, m->share);
	struct kfd_prio_share_entry *entries;
	const struct kfd_prio_share_entry *entry;
	bool by_root = true;
	size_t nr;

	if (group)
		return !limit || lowers(rule, rule_of(s, group));
	if (!shares_list(s, &entries, &nr)) {
		entry = share_entry_find(entries, nr, m->share);
		by_root = entry && entry->euid == rules_owner;
		free(entries);
	}
	return !by_root;
}

static struct kfd_prio_share_args process_args(const struct member *m)
{
	return (struct kfd_prio_share_args){ .flags = KFD_PRIO_SHARE_PROCESS, .pid = m->process->pid,
					     .pidfd = m->process->pidfd, .start_ns = m->process->start_ns };
}

static int join(struct service *s, const struct member *m, uint64_t number)
{
	struct kfd_prio_share_args args = process_args(m);

	args.group = number;
	return kfd_dev_share(&s->dev, &args);
}

/* A new group with the process in it */
static int make(struct service *s, const struct member *m, const struct share_setting *setting, uint64_t *number)
{
	struct kfd_prio_share_args args = process_args(m);
	struct anchor anchor;
	int ret;

	if (m->share) {
		ret = anchor_begin(&s->dev, setting, &anchor, number);
		if (ret)
			return ret == -EBUSY ? -EDEADLK : ret;
		ret = join(s, m, *number);
		anchor_end(&anchor);
		return ret;
	}
	args.flags |= KFD_PRIO_SHARE_NEW;
	share_args_set(&args, setting);
	ret = kfd_dev_share(&s->dev, &args);
	*number = args.group;
	return ret;
}

/* One attempt.  -ENOENT: the group has ended; -EBUSY: the process has joined another one: again */
static int own_try(struct service *s, struct member *m, const struct rule *rule, const struct group *like)
{
	struct share_setting setting = rule_share_setting(rule, like->limit);
	struct group *group = group_of_key(&s->groups, like->key, like->cgroup, like->limit), made = *like;
	int ret;

	if (!member_read(s, m))
		return -ESRCH;
	if (group && m->share == group->number)
		return 0;
	if (m->share && !may_move(s, m, rule, like->limit)) {
		log_process(s, m, rule, m->share, group_of_number(&s->groups, m->share) ?
						  " holds, and not that of" : " was made by hand and holds, and not that of");
		return 0;
	}
	if (group) {
		ret = join(s, m, group->number);
		if (ret == -ENOENT)
			group_drop(&s->groups, group);
		made.number = ret ? 0 : group->number;
	} else {
		ret = make(s, m, &setting, &made.number);
		if (!ret)
			log_made(s, made.number, &setting, rule);
		if (!ret)
			group_note(s, &made);
	}
	if (ret == -EBUSY)
		m->known = false;
	if (ret)
		return ret;
	m->share = made.number;
	log_process(s, m, rule, m->share, " by");
	return 0;
}

/* @cgroup: a cgroup that could not be bound, or NULL */
static void own_apply(struct service *s, struct member *m, const struct rule *rule, const char *cgroup, bool limit)
{
	struct group like = { .key = rule_key(rule), .cgroup = (char *)cgroup, .limit = limit };
	struct share_setting setting = rule_share_setting(rule, limit);
	char what[SHARE_TEXT];
	int ret = -ENOMEM, i;

	for (i = 0; like.key && i < TRIES; i++) {
		ret = own_try(s, m, rule, &like);
		if (ret != -ENOENT && ret != -EBUSY)
			break;
	}
	free(like.key);
	if (ret && ret != -ESRCH)
		log_refused(s, m->process->pid, share_text(&setting, what, sizeof(what)), -ret);
}

/* The group that is bound to the cgroup already: as of a service before */
static bool bound_take(struct service *s, const struct rule *rule, const struct group *like)
{
	struct share_setting setting = rule_share_setting(rule, false), now;
	const struct kfd_prio_share_entry *entry;
	struct kfd_prio_share_entry *entries;
	struct kfd_prio_share_args args = { 0 };
	struct group group = *like;
	size_t nr;

	if (shares_list(s, &entries, &nr))
		return false;
	entry = share_entry_of_cgroup(entries, nr, like->cgroup_id);
	if (entry) {
		args.group = group.number = entry->group;
		now = share_entry_setting(entry);
	}
	free(entries);
	if (!group.number)
		return false;
	share_args_set(&args, &setting);
	if (!share_same(&now, &setting) && kfd_dev_share(&s->dev, &args))
		return false;
	log_made(s, group.number, &setting, rule);
	group_note(s, &group);
	return true;
}

static int bind_to(struct service *s, const struct rule *rule, struct group *group, int fd)
{
	struct kfd_prio_share_args args = { .flags = KFD_PRIO_SHARE_CGROUP, .cgroup = fd };
	struct share_setting setting = rule_share_setting(rule, false);
	int ret;

	if (group_of_cgroup(&s->groups, group->cgroup_id))
		return 0;
	if (bound_take(s, rule, group)) {
		annotated_end(s, rule, group->cgroup);
		return 0;
	}
	share_args_set(&args, &setting);
	ret = kfd_dev_share(&s->dev, &args);
	if (ret)
		return ret;
	group->number = args.group;
	log_made(s, group->number, &setting, rule);
	group_note(s, group);
	annotated_end(s, rule, group->cgroup);
	return 0;
}

/* Binds a group to a cgroup, unless there is one.  Returns whether that is possible. */
static bool cgroup_apply(struct service *s, const struct member *m, const struct rule *rule, const char *cgroup)
{
	struct group group = { .cgroup = (char *)cgroup };
	struct share_setting setting = rule_share_setting(rule, false);
	int fd = cgroup_name_open(cgroup, &group.cgroup_id), ret;
	char what[SHARE_TEXT];

	ret = fd < 0 ? fd : bind_to(s, rule, &group, fd);
	if (fd >= 0)
		close(fd);
	/* it was removed meanwhile, and the process with it */
	if (!ret || ret == -ENOENT || ret == -ENODEV)
		return true;
	if (ret == -EINVAL || ret == -EACCES || ret == -EOPNOTSUPP) {
		if (!s->unbound)
			log_line(LOG_LEVEL_WARNING, "cgroup %s cannot be bound to a group: %s; each of its processes is put in one when it opens /dev/kfd; further such cgroups are not reported",
				 cgroup, ret == -EINVAL ? "it is not one of the second version (cgroup2)" : strerror(-ret));
		s->unbound = true;
		return false;
	}
	log_refused(s, m->process->pid, share_text(&setting, what, sizeof(what)), -ret);
	return true;
}

/**
 * share_apply() - put a process in the group of its rule
 * @s: the service
 * @process: names the process
 * @share: the group that it is in; NULL: not known
 * @subject: the process
 * @result: of rules_match()
 */
void share_apply(struct service *s, const struct kfd_prio_set_args *process, const uint64_t *share,
		 const struct rules_subject *subject, const struct rules_result *result)
{
	struct member m = { .process = process, .share = share ? *share : 0, .known = share };
	char cgroup[KFDLIB_PATH];
	size_t len;

	if (!s->shares)
		return;
	if (result->share) {
		len = rule_share_cgroup(result->share, subject->cgroup);
		snprintf(cgroup, sizeof(cgroup), "%.*s", (int)len, len ? subject->cgroup : "");
		if (!len || !cgroup_apply(s, &m, result->share, cgroup))
			own_apply(s, &m, result->share, len ? cgroup : NULL, false);
	}
	if (result->share_limit)
		own_apply(s, &m, result->share_limit, NULL, true);
}

/* Takes limit and weight away.  A group that is bound to a cgroup ends with them. */
static int release(struct service *s, const struct group *group)
{
	const struct share_setting none = { .max = KFD_PRIO_MAX_NONE };
	struct kfd_prio_share_args args = { .group = group->number };
	uint64_t id = 0;
	int fd = -1, ret;

	if (group->cgroup_id)
		fd = cgroup_name_open(group->cgroup, &id);
	if (fd >= 0 && id == group->cgroup_id)
		args = (struct kfd_prio_share_args){ .flags = KFD_PRIO_SHARE_CGROUP, .cgroup = fd };
	share_args_set(&args, &none);
	ret = kfd_dev_share(&s->dev, &args);
	if (fd >= 0)
		close(fd);
	return ret;
}

/**
 * shares_check() - report that rules have no effect
 * @s: the service, whose rules were read
 */
void shares_check(struct service *s)
{
	char why[KFDLIB_WHY];
	size_t i;

	for (i = 0; i < s->rules.nr && !rule_shares(&s->rules.rule[i]); i++)
		;
	if (i < s->rules.nr && !kfd_dev_has_shares(&s->dev, why))
		log_line(LOG_LEVEL_ERROR, "max=, max-soft= and weight= of rules have no effect: %s", why);
}

/**
 * shares_begin() - find the groups of a service that has run before
 * @s: the service
 */
void shares_begin(struct service *s)
{
	struct kfd_prio_share_entry *entries;
	char why[KFDLIB_WHY];
	size_t nr;

	s->shares = kfd_dev_has_shares(&s->dev, NULL);
	if (!s->shares || shares_list(s, &entries, &nr))
		return;
	if (groups_load(&s->groups, entries, nr, why))
		log_line(LOG_LEVEL_WARNING, "%s", why);
	free(entries);
}

/**
 * shares_update() - give the groups what their rules say now
 * @s: the service, whose rules were read
 */
void shares_update(struct service *s)
{
	struct kfd_prio_share_entry *entries;
	size_t nr, i;
	int ret;

	if (!s->groups.nr || shares_list(s, &entries, &nr))
		return;
	groups_prune(&s->groups, entries, nr);
	for (i = 0; i < s->groups.nr; i++) {
		const struct group *group = &s->groups.all[i];
		const struct rule *rule = rule_of(s, group);
		struct kfd_prio_share_args args = { .group = group->number };
		struct share_setting now, setting;

		if (!rule)
			continue;
		now = share_entry_setting(share_entry_find(entries, nr, group->number));
		setting = rule_share_setting(rule, group->limit);
		if (share_same(&now, &setting))
			continue;
		share_args_set(&args, &setting);
		ret = kfd_dev_share(&s->dev, &args);
		if (!ret)
			log_made(s, group->number, &setting, rule);
		else if (ret != -ENOENT)
			log_line(LOG_LEVEL_ERROR, "group %llu: the driver refuses the setting of %s:%u: %s",
				 (unsigned long long)group->number, rule->file, rule->line, strerror(-ret));
	}
	free(entries);
	save(s);
}

/**
 * shares_release() - take limit and weight from groups whose rule is gone
 * @s: the service, whose rules were applied to all processes
 *
 * A group that is not bound to a cgroup is kept in mind: its processes are those of a rule, and not by hand.
 */
void shares_release(struct service *s)
{
	const struct share_setting none = { .max = KFD_PRIO_MAX_NONE };
	const struct kfd_prio_share_entry *entry;
	struct kfd_prio_share_entry *entries;
	struct share_setting now;
	size_t nr, i;
	int ret;

	if (!s->groups.nr || shares_list(s, &entries, &nr))
		return;
	for (i = s->groups.nr; i--;) {
		struct group *group = &s->groups.all[i];

		entry = share_entry_find(entries, nr, group->number);
		now = entry ? share_entry_setting(entry) : none;
		if (rule_of(s, group) || share_same(&now, &none))
			continue;
		ret = release(s, group);
		if (!ret && s->verbose)
			log_line(LOG_LEVEL_DEBUG, "group %llu: no limit and no weight, since no rule gives them any more",
				 (unsigned long long)group->number);
		else if (ret && ret != -ENOENT)
			log_line(LOG_LEVEL_ERROR, "group %llu: the driver refuses to take its limit away: %s",
				 (unsigned long long)group->number, strerror(-ret));
		if (ret == -ENOENT || (!ret && group->cgroup_id))
			group_drop(&s->groups, group);
	}
	free(entries);
	save(s);
}
