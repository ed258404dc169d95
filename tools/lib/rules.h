/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules: which process gets which priority without being named by its PID; kfdprio.conf(5).
 *
 * A rule is a line of conditions, which must all hold, and of what it gives: a priority, park=, and a
 * share of GPU time (max=, weight=).  The first rule that matches gives them.  A rule with exe= is only a
 * limit, since a user can run a program of their own under any path (in a mount namespace of theirs): it
 * lowers what another rule gives, or what the process has, and never raises it.
 *
 * rules-load.c reads files, rules-subject.c /proc.  All others are pure.
 */
#ifndef RULES_H
#define RULES_H

#include <stdio.h>

#include "kfdlib.h"
#include "share.h"

#define RULES_LINE_MAX	4096 /* bytes of a line */
#define RULES_MAX	4096 /* rules */

/* Of a rule: its user or group is not known, so it matches no process until it is */
#define RULE_PENDING_USER  (1U << 0)
#define RULE_PENDING_GROUP (1U << 1)

/**
 * struct rule - a line
 * @cgroup: pattern of the cgroup, or of one above it; NULL: any
 * @unit: pattern of the system unit, or of a slice that it is in; NULL: any
 * @user: the user as it was written; NULL: any
 * @group: the group as it was written; NULL: any
 * @exe: pattern of the program's path; NULL: any
 * @uid: of @user
 * @gid: of @group
 * @priority: KFD_PRIO_MIN..KFD_PRIO_MAX; KFD_PRIO_UNSET: the rule has no priority=
 * @park: KFD_PRIO_SET_PARK_NEVER, _AUTO; 0: the rule has no park=
 * @max: of max= or max-soft=, hundredths of a percent, KFD_PRIO_MAX_NONE: none; 0: the rule has neither
 * @soft: @max is that of max-soft=
 * @weight: of weight=; KFD_PRIO_WEIGHT_NONE: the rule has none
 * @pending: bit mask of RULE_PENDING_*
 * @file: where it stands
 * @line: where it stands there, from 1 on
 * @text: the line, without blanks round it
 */
struct rule {
	char *cgroup, *unit, *user, *group, *exe;
	uid_t uid;
	gid_t gid;
	int priority;
	uint32_t park;
	uint32_t max;
	bool soft;
	uint32_t weight;
	unsigned int pending;
	char *file;
	unsigned int line;
	char *text;
};

/**
 * struct rules_error - what is wrong with a line
 * @file: where
 * @line: from 1 on; 0: with the whole file
 * @column: in characters, from 1 on; 0: with the whole line
 * @why: what
 */
struct rules_error {
	char *file;
	unsigned int line, column;
	char *why;
};

/**
 * struct rules - rules in their order
 * @rule: array of @nr
 * @nr: how many
 * @files: array of @nr_files paths that were read
 * @nr_files: how many
 * @errors: array of @nr_errors; with any, the rules are not to be used
 * @nr_errors: how many
 * @container_max: of the first line container-max=, see rules_container_max()
 * @has_container_max: there is such a line
 * @annotation_max: of the first line annotation-gpu-time=, hundredths of a percent; 0: there is none
 * @annotation_weight: of the first line annotation-weight=; KFD_PRIO_WEIGHT_NONE: there is none, or it is none
 * @has_annotation_weight: there is such a line
 * @again_key: the key of the last of these lines that does not hold, because another stands before it; NULL: there is none
 * @again_file: where it stands
 * @again_line: where it stands there
 * @full: the error that there are too many rules is among @errors
 */
struct rules {
	struct rule *rule;
	size_t nr;
	char **files;
	size_t nr_files;
	struct rules_error *errors;
	size_t nr_errors;
	int container_max;
	bool has_container_max, has_annotation_weight, full;
	uint32_t annotation_max, annotation_weight;
	const char *again_key;
	char *again_file;
	unsigned int again_line;
};

/**
 * struct rules_names - how users and groups are looked up
 * @user: 0 or -errno
 * @group: 0 or -errno
 */
struct rules_names {
	int (*user)(const char *name, uid_t *uid);
	int (*group)(const char *name, gid_t *gid);
};

int rules_parse(struct rules *rules, const char *file, const char *text, size_t size,
		const struct rules_names *names);

/* rules-hold.c */
int rules_fail(struct rules *rules, const char *file, unsigned int line, unsigned int column, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void rules_free(struct rules *rules);
void rule_free(struct rule *rule);

/* rules-spelling.c */
char *rules_spelling(const char *key, const char *value);

/* rules-pattern.c, rules-condition.c, rules-text.c */
char *rules_pattern_literal(const char *pattern);
bool rules_plain_parts(const char *pattern, char *plain);
const char *rules_text_wide(const char *text, size_t size);
bool rules_has_wildcard(const char *pattern);

/**
 * struct rules_subject - a process, as far as rules look at it
 * @cgroup: its cgroup, "/" for the root; NULL: not known
 * @cgroup_hidden: it is in one whose path is longer than the kernel shows; @cgroup is NULL
 * @exe: path of its program; NULL: not known
 * @uid: effective UID
 * @gids: effective and supplementary groups, array of @nr_gids
 * @nr_gids: how many
 */
struct rules_subject {
	const char *cgroup;
	bool cgroup_hidden;
	const char *exe;
	uid_t uid;
	const gid_t *gids;
	size_t nr_gids;
};

/**
 * struct rules_result - what the rules say of a process
 * @rule: the first that matches and has no exe=, or NULL
 * @limit: the one with exe= before it, or one for cgroups where that of the process is hidden, that gives the lowest
 *	priority, and lower than @rule; or NULL
 * @priority: what the process is to have, or KFD_PRIO_UNSET: no rule gives a priority
 * @park: KFD_PRIO_SET_PARK_NEVER, _AUTO; 0: no rule has park=
 * @share: @rule, if it gives a share of GPU time; else NULL
 * @share_limit: a rule as @limit that gives the lowest max= of these; NULL: none, or @share puts the process in a
 *	group that is not that of a cgroup
 */
struct rules_result {
	const struct rule *rule;
	const struct rule *limit;
	int priority;
	uint32_t park;
	const struct rule *share;
	const struct rule *share_limit;
};

bool rule_is_left(const struct rule *rule);
bool rule_lowers(const struct rule *rule);
const struct rule *rule_before(const struct rules *rules, const struct rule *rule);
const struct rule *rule_inside(const struct rules *rules, const struct rule *rule);
const char *rule_mismatch(const struct rule *rule, const struct rules_subject *subject);
void rules_match(const struct rules *rules, const struct rules_subject *subject,
		 struct rules_result *result);
bool rules_applies(const struct rules_result *result, int now);
bool rules_parks(const struct rules_result *result, bool never);
void rules_match_orphan(const struct rules_result *of, size_t nr, bool all, int now, struct rules_result *result);
int rules_container_max(const struct rules *rules);
size_t rules_unit(const char *cgroup, size_t *len);
size_t rule_share_cgroup(const struct rule *rule, const char *cgroup);
const struct rule *rules_share_of_cgroup(const struct rules *rules, const char *cgroup);

/* rules-share.c */
bool rule_shares(const struct rule *rule);
bool rule_limits(const struct rule *rule);
struct share_setting rule_share_setting(const struct rule *rule, bool limit);
char *rule_key(const struct rule *rule);
const struct rule *rules_share_of_key(const struct rules *rules, const char *key);

/* rules-load.c */
extern uid_t rules_owner;
int rules_load(struct rules *rules);
void rules_load_file(struct rules *rules, const char *path);
size_t rules_resolve(struct rules *rules);

/* What is looked at of a process: each costs a file of /proc to be read, USER and GROUP the same one */
#define RULES_LOOK_CGROUP (1U << 0)
#define RULES_LOOK_USER	  (1U << 1)
#define RULES_LOOK_GROUP  (1U << 2)
#define RULES_LOOK_EXE	  (1U << 3)
#define RULES_LOOK_ALL	  (RULES_LOOK_CGROUP | RULES_LOOK_USER | RULES_LOOK_GROUP | RULES_LOOK_EXE)

unsigned int rules_look(const struct rules *rules);

/**
 * struct rules_process - a process that rules are asked about; zeroed before it is used first
 * @subject: points to the others
 * @cgroup: its cgroup
 * @exe: its program
 * @gids: its groups, @gids_room of them at most
 * @gids_room: grows
 * @status: what /proc says of it, @status_room bytes at most
 * @status_room: grows
 */
struct rules_process {
	struct rules_subject subject;
	char cgroup[KFDLIB_PATH];
	char exe[KFDLIB_PATH];
	gid_t *gids;
	size_t gids_room;
	char *status;
	size_t status_room;
};

void rules_process_free(struct rules_process *process);
int rules_process_read(pid_t pid, unsigned int look, struct rules_process *process);

#endif /* RULES_H */
