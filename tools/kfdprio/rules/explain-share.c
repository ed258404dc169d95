// SPDX-License-Identifier: GPL-2.0
/* kfdprio rules explain: the shares of GPU time of a process. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "explain.h"
#include "json-out.h"
#include "message.h"

/* The path of the cgroup that shares what the rule gives; "" if it is not a cgroup that does */
static void cgroup_copy(const struct explained_share *x, char *path, size_t size)
{
	size_t len = x->result->share ? rule_share_cgroup(x->result->share, x->cgroup) : 0;

	snprintf(path, size, "%.*s", (int)len, len ? x->cgroup : "");
}

static struct kfd_prio_share_entry entry_copy(const struct kfd_prio_share_entry *entry)
{
	return entry ? *entry : (struct kfd_prio_share_entry){ 0 };
}

/**
 * share_ask() - ask the driver for the groups of a process
 * @x: @result and @cgroup are set; in, out
 * @dev: the device
 * @pid: the process
 */
void share_ask(struct explained_share *x, const struct kfd_dev *dev, pid_t pid)
{
	struct kfd_prio_share_entry *groups;
	struct kfd_prio_list_entry *entries;
	size_t nr, nr_groups, i;
	char path[KFDLIB_PATH];
	uint64_t id;
	int fd;

	if (!kfd_dev_has_shares(dev, NULL) || kfd_dev_shares(dev, &groups, &nr_groups))
		return;
	if (!kfd_dev_list(dev, &entries, &nr)) {
		x->known = true;
		for (i = 0; i < nr && !x->listed; i++) {
			if (entries[i].pid != pid || entries[i].flags & KFD_PRIO_LIST_ORPHAN)
				continue;
			x->listed = true;
			x->own = entry_copy(share_entry_find(groups, nr_groups, entries[i].share));
			x->of_cgroup = entry_copy(share_entry_find(groups, nr_groups, entries[i].cgroup_share));
		}
		free(entries);
	}
	cgroup_copy(x, path, sizeof(path));
	fd = *path ? cgroup_name_open(path, &id) : -1;
	if (fd >= 0) {
		x->bound = entry_copy(share_entry_of_cgroup(groups, nr_groups, id));
		close(fd);
	}
	free(groups);
}

/* Would kfdpriod put the process in the group of the rule?  In that of root it is by a rule, or by hand. */
static bool would_join(const struct explained_share *x)
{
	return !x->own.group || x->own.euid != rules_owner;
}

/**
 * share_would() - what kfdpriod would set
 * @x: of share_ask()
 * @text: out: as in a rule; of two, that of the cgroup first
 * @size: bytes of @text, 3 * SHARE_TEXT
 *
 * Return: @text, or NULL: nothing, or that is not known.
 */
const char *share_would(const struct explained_share *x, char *text, size_t size)
{
	char path[KFDLIB_PATH], share[SHARE_TEXT] = "", limit[SHARE_TEXT] = "";
	const struct rules_result *r = x->result;
	struct share_setting setting, now;

	if (!x->known)
		return NULL;
	cgroup_copy(x, path, sizeof(path));
	if (r->share) {
		setting = rule_share_setting(r->share, false);
		now = share_entry_setting(&x->bound);
		if (*path ? !x->bound.group || !share_same(&setting, &now) : would_join(x))
			share_text(&setting, share, sizeof(share));
	}
	if (r->share_limit && would_join(x)) {
		setting = rule_share_setting(r->share_limit, true);
		share_text(&setting, limit, sizeof(limit));
	}
	snprintf(text, size, "%s%s%s", share, *share && *limit ? " and " : "", limit);
	return *text ? text : NULL;
}

static void rule_print(const struct explained_share *x, const char *title, const struct rule *rule, bool limit)
{
	struct share_setting setting = rule_share_setting(rule, limit);
	char text[SHARE_TEXT], path[KFDLIB_PATH] = "";

	if (!limit)
		cgroup_copy(x, path, sizeof(path));
	share_text(&setting, text, sizeof(text));
	if (*path)
		text_line(stdout, "%s: %s, for all processes of cgroup %s together", title, text, path);
	else if (rule->user)
		text_line(stdout, "%s: %s, for the processes of user %s that match this rule together", title, text, rule->user);
	else
		text_line(stdout, "%s: %s, for the processes that match this rule together", title, text);
}

static void group_print(const char *title, const struct kfd_prio_share_entry *group)
{
	struct share_setting setting = share_entry_setting(group);
	char text[SHARE_TEXT], user[KFDLIB_NAME];

	if (!group->group)
		return;
	user_name(group->euid, user, sizeof(user));
	text_line(stdout, "%s: %llu, %s, made by user %s", title, (unsigned long long)group->group,
		  share_text(&setting, text, sizeof(text)), user);
}

/**
 * share_print() - print the groups of a process
 * @x: of share_ask()
 *
 * Prints nothing if neither the rules nor the driver have one for it.
 */
void share_print(const struct explained_share *x)
{
	const struct rules_result *r = x->result;

	if (r->share)
		rule_print(x, "share by the rules", r->share, false);
	if (r->share_limit)
		rule_print(x, "limit of GPU time by the rules", r->share_limit, true);
	if ((r->share || r->share_limit) && !x->known)
		puts("groups of the process: unknown, since no driver with shares of GPU time answers");
	else if ((r->share || r->share_limit) && !x->listed)
		puts("groups of the process: unknown, since it has not opened /dev/kfd");
	else if ((r->share || r->share_limit) && !x->own.group && !x->of_cgroup.group)
		puts("groups of the process: none");
	group_print("group that the process was put in, or has inherited", &x->own);
	group_print("group of the cgroup of the process", &x->of_cgroup);
}

static void setting_json(const struct share_setting *setting)
{
	bool limits = setting->max < KFD_PRIO_MAX_NONE;

	if (limits)
		json_real("max_percent", setting->max / 100.0);
	else
		json_null("max_percent");
	if (limits)
		json_flag("is_soft", setting->soft);
	else
		json_null("is_soft");
	json_known_count("weight", setting->weight != KFD_PRIO_WEIGHT_NONE, setting->weight);
}

static void rule_json(const struct explained_share *x, const char *key, const struct rule *rule, bool limit)
{
	struct share_setting setting;
	char path[KFDLIB_PATH] = "";

	if (!rule) {
		json_null(key);
		return;
	}
	setting = rule_share_setting(rule, limit);
	if (!limit)
		cgroup_copy(x, path, sizeof(path));
	json_open(key, '{');
	json_text("file", rule->file);
	json_count("line", rule->line);
	setting_json(&setting);
	json_text("shared_by", *path ? "cgroup" : rule->user ? "user" : "rule");
	if (*path)
		json_text("cgroup", path);
	else
		json_null("cgroup");
	json_close('}');
}

static void group_json(const char *key, const struct kfd_prio_share_entry *group)
{
	struct share_setting setting = share_entry_setting(group);

	if (!group->group) {
		json_null(key);
		return;
	}
	json_open(key, '{');
	json_count("number", group->group);
	json_count("uid", group->euid);
	setting_json(&setting);
	json_close('}');
}

/**
 * share_json() - the same as JSON
 * @x: of share_ask()
 */
void share_json(const struct explained_share *x)
{
	char text[3 * SHARE_TEXT];

	rule_json(x, "rules_share", x->result->share, false);
	rule_json(x, "rules_share_limit", x->result->share_limit, true);
	group_json("own_group", &x->own);
	group_json("cgroup_group", &x->of_cgroup);
	if (share_would(x, text, sizeof(text)))
		json_text("would_set_share", text);
	else
		json_null("would_set_share");
}
