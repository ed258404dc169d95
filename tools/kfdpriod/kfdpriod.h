/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of kfdpriod share. */
#ifndef KFDPRIOD_H
#define KFDPRIOD_H

#include "rules.h"

/* As sysexits.h: the rules have an error */
#define EXIT_CONFIG 78

#define SERVICE_UIDS 256 /* that are remembered while names are pending */

/**
 * struct service - the service
 * @dev: the device
 * @notify: descriptor of KFD_PRIO_IOC_NOTIFY
 * @rules: those in force
 * @look: what they look at, RULES_LOOK_*
 * @verbose: of --verbose
 * @refused: the driver refused to set a priority, and that was said
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
	bool refused;
	size_t nr_pending;
	long long retry_at, retry_last, retry_ms;
	uid_t uids[SERVICE_UIDS];
	size_t nr_uids;
};

/* apply.c */
void apply_listed(struct service *s);
void apply_orphans(struct service *s);
int apply_records(struct service *s);

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

#endif /* KFDPRIOD_H */
