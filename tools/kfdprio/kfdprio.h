/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the verbs of kfdprio. */
#ifndef KFDPRIO_H
#define KFDPRIO_H

#include "kfdlib.h"
#include "list.h"

/* Of all JSON; raised when the meaning of a member changes, not for new members. */
#define JSON_FORMAT 2

/* Which processes are meant, beside those that are named by their PIDs alone. */
enum kfdprio_group {
	GROUP_NONE,
	GROUP_TREE, /* the processes and all their descendants */
	GROUP_CGROUP, /* all of a cgroup, and of those below it */
	GROUP_USER, /* all of a user */
};

/**
 * struct kfdprio_share - a group and its settings
 * @group: its number; 0: the group of the process or of the cgroup, or a new one
 * @flags: KFD_PRIO_SHARE_MAX, _SOFT and _WEIGHT: which of these are set
 * @max: the limit, hundredths of a percent; 0 if it is not set
 * @weight: the weight; 0 if it is not set
 */
struct kfdprio_share {
	uint64_t group;
	uint32_t flags, max, weight;
};

/**
 * struct kfdprio_request - the command line, parsed and checked
 * @priority: what to set, or KFD_PRIO_UNSET to take it away
 * @flags: of KFD_PRIO_IOC_SET
 * @sets: a priority or parking is to be set
 * @share: what is to be changed of a group
 * @shares: a group is to be changed, or processes are to be put into one
 * @pids: array of @nr_pids processes
 * @nr_pids: how many
 * @group: processes that are found anew, or GROUP_NONE
 * @cgroup: of GROUP_CGROUP: its path in the hierarchy
 * @uid: of GROUP_USER
 * @group_text: of GROUP_CGROUP and GROUP_USER: as it was given
 * @command: NULL-terminated argument vector to run
 * @list: how to print a list; its json also to show
 * @verbose: print what was changed
 * @root: under sudo, the command stays root's
 */
struct kfdprio_request {
	int priority;
	uint32_t flags;
	bool sets;
	struct kfdprio_share share;
	bool shares;
	pid_t *pids;
	size_t nr_pids;
	enum kfdprio_group group;
	char cgroup[KFDLIB_PATH];
	uid_t uid;
	const char *group_text;
	char **command;
	struct list_choice list;
	bool verbose;
	bool root;
};

/* Each verb prints its own errors and returns the program's exit status. */
int kfdprio_show(const struct kfd_dev *dev, const struct kfdprio_request *request);
int kfdprio_set(const struct kfd_dev *dev, const struct kfdprio_request *request);
int kfdprio_set_group(const struct kfd_dev *dev, const struct kfdprio_request *request);
int kfdprio_share(const struct kfd_dev *dev, struct kfdprio_request *request);
int kfdprio_run(struct kfd_dev *dev, const struct kfdprio_request *request);
int kfdprio_list(const struct kfd_dev *dev, const struct kfdprio_request *request);
int kfdprio_groups(const struct kfd_dev *dev, const struct kfdprio_request *request);

/* process.c */
int process_get(const struct kfd_dev *dev, pid_t pid, struct kfd_prio_get_args *args, char *why);
int process_set(const struct kfd_dev *dev, pid_t pid, int priority, uint32_t flags,
		struct kfd_prio_set_args *args, char *why);
int process_set_open(const struct kfd_dev *dev, pid_t pid, int pidfd, uint64_t serial, int priority, uint32_t flags,
		     struct kfd_prio_set_args *args, char *why);
bool process_is_foreign(pid_t pid, char *why);
void set_format(char *text, size_t size, pid_t pid, const struct kfd_prio_set_args *args);

/* set/share.c */
int share_set_process(const struct kfd_dev *dev, const struct kfdprio_share *to, pid_t pid, bool only_new,
		      struct kfd_prio_share_args *args, char *why);
void share_set_text(const struct kfd_dev *dev, const struct kfd_prio_share_args *args, char *text, size_t size);

/**
 * struct orphan_choice - which processes are chosen, of those that share the memory of an orphan
 * @chosen: is one? @euid: its effective UID, as the driver has it
 * @context: for @chosen
 */
struct orphan_choice {
	bool (*chosen)(void *context, pid_t pid, uid_t euid);
	void *context;
};

int orphans_set(const struct kfd_dev *dev, const struct kfdprio_request *request, const struct orphan_choice *choice,
		bool *found);

struct rows;
struct list_queues;

struct rows *rows_open(const struct kfd_dev *dev);
void rows_add(struct rows *rows, const struct kfd_prio_list_entry *entry);
void rows_print(struct rows *rows, const struct list_choice *choice, const struct list_queues *queues);
void rows_close(struct rows *rows);
int kfdprio_list_check(const struct list_choice *choice, char *why);
int kfdprio_groups_check(const struct list_choice *choice, char *why);

#endif /* KFDPRIO_H */
