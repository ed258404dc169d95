// SPDX-License-Identifier: GPL-2.0
/* kfdpriod: from a process to its priority. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "kfdpriod.h"

#define RECORDS 64 /* that are read at once */
#define SHARERS 16 /* thread groups that share an orphan, as many as the driver lists */

static void log_set(const struct service *s, pid_t pid, const struct rules_result *result, int err)
{
	const struct rule *rule = result->limit ? result->limit : result->rule;
	char *file = text_printable(rule->file);

	if (!err && s->verbose)
		log_line(LOG_LEVEL_DEBUG, "process %d: priority %d by %s:%u", pid, result->priority,
			 file ? file : "", rule->line);
	else if (err == EEXIST && s->verbose)
		log_line(LOG_LEVEL_DEBUG, "process %d: its priority was set by hand, %s:%u does not apply", pid,
			 file ? file : "", rule->line);
	else if (err == EIO || err == ETIME)
		log_line(LOG_LEVEL_WARNING,
			 "process %d: priority %d by %s:%u is set, but a GPU did not take it (%s): it holds when its queues are mapped next; see 'dmesg'",
			 pid, result->priority, file ? file : "", rule->line, strerror(err));
	free(file);
}

static void log_park(const struct service *s, pid_t pid, const struct rules_result *result, int err)
{
	char *file;

	if (!s->verbose)
		return;
	file = text_printable(result->rule->file);
	if (err)
		log_line(LOG_LEVEL_DEBUG, "process %d: never parked was set by hand, park=%s of %s:%u does not apply",
			 pid, park_name(result->park), file ? file : "", result->rule->line);
	else
		log_line(LOG_LEVEL_DEBUG, "process %d: park=%s by %s:%u", pid, park_name(result->park),
			 file ? file : "", result->rule->line);
	free(file);
}

static void priority_apply(struct service *s, struct kfd_prio_set_args set, const struct rules_result *result)
{
	char what[32];
	int ret;

	set.priority = result->priority;
	ret = kfd_dev_set(&s->dev, &set);
	if (ret && ret != -ESRCH && ret != -EEXIST && ret != -EIO && ret != -ETIME) {
		snprintf(what, sizeof(what), "priority %d", result->priority);
		log_refused(s, set.pid, what, -ret);
	} else if (ret != -ESRCH) {
		log_set(s, set.pid, result, -ret);
	}
}

/* A call of its own: a priority that was set by hand does not keep park= from being applied, nor the reverse. */
static void park_apply(struct service *s, struct kfd_prio_set_args set, const struct rules_result *result)
{
	char what[32];
	int ret;

	set.priority = KFD_PRIO_UNSET;
	set.flags |= KFD_PRIO_SET_KEEP | result->park;
	ret = kfd_dev_set(&s->dev, &set);
	if (ret && ret != -ESRCH && ret != -EEXIST && ret != -EIO && ret != -ETIME) {
		snprintf(what, sizeof(what), "park=%s", park_name(result->park));
		log_refused(s, set.pid, what, -ret);
	} else if (!ret || ret == -EEXIST) {
		log_park(s, set.pid, result, -ret);
	}
}

/*
 * @set names the process by its serial: the driver refuses what was read of another one, or of what the
 * process has become by execve(2).  Its effective UID is @euid, as the driver has it.  @share: the group that it is in;
 * NULL: not known
 */
static void apply(struct service *s, struct kfd_prio_set_args set, uid_t euid, const uint64_t *share)
{
	struct kfd_prio_get_args now = { .pid = set.pid, .pidfd = set.pidfd, .start_ns = set.start_ns };
	static struct rules_process process;
	struct rules_result result;

	process.subject.uid = euid;
	if (rules_process_read(set.pid, s->look & ~RULES_LOOK_USER, &process))
		return;
	rules_match(&s->rules, &process.subject, &result);
	share_apply(s, &set, share, &process.subject, &result);
	if ((result.priority == KFD_PRIO_UNSET && !result.park) || kfd_dev_get(&s->dev, &now))
		return;
	set.flags = KFD_PRIO_SET_RULE;
	if (rules_applies(&result, now.priority))
		priority_apply(s, set, &result);
	if (rules_parks(&result, now.never_parked_by != KFD_PRIO_BY_NOBODY))
		park_apply(s, set, &result);
}

/* A process of a list; it may have ended meanwhile */
static void apply_process(struct service *s, const struct kfd_prio_list_entry *entry)
{
	struct kfd_prio_set_args set = { .pid = entry->pid, .pidfd = pidfd_open(entry->pid, 0),
					 .serial = entry->serial };
	const uint64_t share = entry->share;

	if (set.pidfd < 0)
		return;
	apply(s, set, entry->euid, &share);
	close(set.pidfd);
}

/* The driver knows the process by its serial: no pidfd is opened for it */
static void apply_opened(struct service *s, const struct kfd_prio_notify_record *record)
{
	const struct kfd_prio_set_args set = { .pid = record->pid, .pidfd = -1, .start_ns = record->start_ns,
					       .serial = record->serial };

	apply(s, set, record->euid, NULL);
}

/* The thread groups that share the memory of an orphan, and what the rules say of each */
struct sharers {
	pid_t pid[SHARERS];
	struct rules_result of[SHARERS];
	size_t nr;
};

static void sharers_read(const struct service *s, const struct kfd_prio_list_entry *entries, size_t nr,
			 const struct kfd_prio_list_entry *orphan, struct sharers *sharers)
{
	static struct rules_process process;
	const struct kfd_prio_list_entry *entry;

	sharers->nr = 0;
	for (entry = entries; entry < entries + nr && sharers->nr < SHARERS; entry++) {
		if (entry->serial != orphan->serial || entry->gpu_id != orphan->gpu_id || !entry->nr_groups)
			continue;
		process.subject.uid = entry->euid;
		if (rules_process_read(entry->pid, s->look & ~RULES_LOOK_USER, &process))
			continue;
		rules_match(&s->rules, &process.subject, &sharers->of[sharers->nr]);
		sharers->pid[sharers->nr++] = entry->pid;
	}
}

/* Are these still the groups that share it, after what was read of them? */
static bool sharers_stay(const struct service *s, const struct kfd_prio_list_entry *orphan, const struct sharers *sharers)
{
	struct kfd_prio_list_entry *entries;
	size_t nr, i, at = 0;
	bool same = true;

	if (kfd_dev_list(&s->dev, &entries, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (entries[i].serial != orphan->serial || entries[i].gpu_id != orphan->gpu_id)
			continue;
		same &= at < sharers->nr && entries[i].pid == sharers->pid[at];
		at++;
	}
	free(entries);
	return same && at == sharers->nr;
}

static void apply_orphan(struct service *s, const struct kfd_prio_list_entry *entries, size_t nr,
			 const struct kfd_prio_list_entry *orphan)
{
	struct kfd_prio_set_args set = { .pid = orphan->pid, .serial = orphan->serial,
					 .flags = KFD_PRIO_SET_RULE | KFD_PRIO_SET_ORPHAN };
	struct rules_result result;
	struct sharers sharers;
	bool never = orphan->flags & KFD_PRIO_LIST_PARK_NEVER;

	sharers_read(s, entries, nr, orphan, &sharers);
	rules_match_orphan(sharers.of, sharers.nr,
			   sharers.nr == orphan->nr_groups && sharers_stay(s, orphan, &sharers), orphan->priority, &result);
	if (result.priority != KFD_PRIO_UNSET && result.priority != orphan->priority)
		priority_apply(s, set, &result);
	if (rules_parks(&result, never))
		park_apply(s, set, &result);
}

/* Was there a row of the same orphan, of any GPU? */
static bool orphan_before(const struct kfd_prio_list_entry *entries, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (entries[i].serial == entries[at].serial)
			return true;
	return false;
}

static void apply_list(struct service *s, bool orphans_only)
{
	struct kfd_prio_list_entry *entries;
	size_t nr, i;
	int ret;

	ret = kfd_dev_list(&s->dev, &entries, &nr);
	/* every ten seconds: the error would fill the log */
	if (ret && orphans_only)
		return;
	if (ret) {
		log_line(LOG_LEVEL_ERROR, "cannot list the processes that use KFD: %s", strerror(-ret));
		return;
	}
	/* sorted by PID, a row for each GPU; of an orphan such rows for each group, or for nobody */
	for (i = 0; i < nr; i++) {
		if (entries[i].flags & KFD_PRIO_LIST_ORPHAN) {
			if (entries[i].nr_groups && !orphan_before(entries, i))
				apply_orphan(s, entries, nr, &entries[i]);
		} else if (orphans_only) {
			continue;
		} else if (!i || entries[i].pid != entries[i - 1].pid || entries[i].serial != entries[i - 1].serial) {
			apply_process(s, &entries[i]);
		}
	}
	free(entries);
}

/**
 * apply_listed() - give all processes that use KFD the priorities that the rules say
 * @s: the service
 */
void apply_listed(struct service *s)
{
	apply_list(s, false);
}

/**
 * apply_orphans() - give orphans the priorities that the rules say
 * @s: the service
 *
 * The driver makes no record when a process becomes an orphan, and an orphan may lose one of the processes that
 * share its memory.  An orphan that is not looked at counts as the lowest.
 */
void apply_orphans(struct service *s)
{
	if (s->rules.nr)
		apply_list(s, true);
}

/**
 * apply_records() - act on records of the driver
 * @s: the service
 *
 * Return: 0 or -errno, the descriptor is of no use any more.
 */
int apply_records(struct service *s)
{
	struct kfd_prio_notify_record records[RECORDS];
	ssize_t got;
	size_t i;

	got = read(s->notify, records, sizeof(records));
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!got)
		return -EPIPE;
	for (i = 0; i < got / sizeof(*records); i++) {
		switch (records[i].type) {
		case KFD_PRIO_NOTIFY_OPENED:
			if (pending_seen(s, records[i].euid))
				apply_listed(s);
			apply_opened(s, &records[i]);
			break;
		case KFD_PRIO_NOTIFY_OVERFLOW:
			log_line(LOG_LEVEL_INFO, "%llu notifications were lost: the rules are applied to all processes",
				 (unsigned long long)records[i].lost);
			apply_listed(s);
			break;
		}
	}
	return 0;
}
