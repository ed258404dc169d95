/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of kfdpriod share. */
#ifndef KFDPRIOD_H
#define KFDPRIOD_H

#include "rules.h"

/* As sysexits.h: the rules have an error */
#define EXIT_CONFIG 78

#define SERVICE_UIDS 256 /* that are remembered while names are pending */

/**
 * struct group - a group of processes by a rule
 * @number: of the driver
 * @cgroup_id: number of the cgroup that it is bound to; 0: none
 * @cgroup: path of that cgroup. Of a group that is not bound: of the cgroup that could not be bound; else NULL
 * @key: of a group that is not bound: of rule_key(); else NULL
 * @limit: its rule only limits, as result->share_limit of rules_match()
 */
struct group {
	uint64_t number, cgroup_id;
	char *cgroup, *key;
	bool limit;
};

/**
 * struct groups - all of them, at most as many as the node has
 * @all: array of @nr
 * @nr: how many
 * @changed: since they were saved
 */
struct groups {
	struct group *all;
	size_t nr;
	bool changed;
};

/**
 * struct service - the service
 * @dev: the device
 * @notify: descriptor of KFD_PRIO_IOC_NOTIFY
 * @rules: those in force
 * @look: what they look at, RULES_LOOK_*
 * @verbose: of --verbose
 * @refused: the driver refused to set a priority or a share, and that was reported
 * @unbound: a cgroup could not be bound to a group, and that was reported
 * @unsaved: the groups could not be saved, and that was reported
 * @shares: the driver has groups
 * @groups: those by rules
 * @nr_pending: rules whose user or group is not known yet
 * @retry_at: when they are looked up again, of now_ms()
 * @retry_last: when they were looked up last
 * @retry_ms: the time between the two, unless a process of a new UID comes
 * @uids: for which they were looked up, array of @nr_uids
 * @nr_uids: how many
 */
struct service {
	struct kfd_dev dev;
	int notify;
	struct rules rules;
	unsigned int look;
	bool verbose;
	bool refused, unbound, unsaved;
	bool shares;
	struct groups groups;
	size_t nr_pending;
	long long retry_at, retry_last, retry_ms;
	uid_t uids[SERVICE_UIDS];
	size_t nr_uids;
};

/* apply.c */
void apply_listed(struct service *s);
void apply_orphans(struct service *s);
int apply_records(struct service *s);

/* share.c */
void shares_begin(struct service *s);
void shares_check(struct service *s);
void shares_update(struct service *s);
void shares_release(struct service *s);
void share_apply(struct service *s, const struct kfd_prio_set_args *process, const uint64_t *share,
		 const struct rules_subject *subject, const struct rules_result *result);

/* annotated.c */
void annotated_end(struct service *s, const struct rule *rule, const char *cgroup);

/* groups.c */
struct group *group_of_key(const struct groups *groups, const char *key, const char *cgroup, bool limit);
struct group *group_of_cgroup(const struct groups *groups, uint64_t cgroup_id);
struct group *group_of_number(const struct groups *groups, uint64_t number);
void group_add(struct groups *groups, const struct group *group);
void group_drop(struct groups *groups, struct group *group);
void groups_prune(struct groups *groups, const struct kfd_prio_share_entry *entries, size_t nr);
void groups_free(struct groups *groups);

/* state.c */
int groups_save(const struct groups *groups, char *why);
int groups_load(struct groups *groups, const struct kfd_prio_share_entry *entries, size_t nr, char *why);

/* anchor.c */
/**
 * struct anchor - a process that keeps a new group until another one has joined it
 * @pid: of the process
 * @fd: it ends when this is closed
 */
struct anchor {
	pid_t pid;
	int fd;
};

int anchor_begin(const struct kfd_dev *dev, const struct share_setting *setting, struct anchor *anchor, uint64_t *group);
void anchor_end(struct anchor *anchor);

/* pending.c */
long long now_ms(void);
void pending_begin(struct service *s);
long long pending_left(const struct service *s);
bool pending_retry(struct service *s);
bool pending_seen(struct service *s, uid_t uid);

/* log.c */
enum log_level { LOG_LEVEL_ERROR = 3, LOG_LEVEL_WARNING = 4, LOG_LEVEL_INFO = 6, LOG_LEVEL_DEBUG = 7 };

void log_begin(void);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_refused(struct service *s, pid_t pid, const char *what, int err);

#endif /* KFDPRIOD_H */
