/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of kfdpriod share. */
#ifndef KFDPRIOD_H
#define KFDPRIOD_H

#include "rules.h"

/* As sysexits.h: the rules have an error */
#define EXIT_CONFIG 78

/**
 * struct service - the service
 * @dev: the device
 * @notify: descriptor of KFD_PRIO_IOC_NOTIFY
 * @rules: those in force
 * @look: what they look at, RULES_LOOK_*
 * @verbose: of --verbose
 * @refused: the driver refused to set a priority, and that was said
 */
struct service {
	struct kfd_dev dev;
	int notify;
	struct rules rules;
	unsigned int look;
	bool verbose;
	bool refused;
};

/* apply.c */
void apply_listed(struct service *s);
void apply_orphans(struct service *s);
int apply_records(struct service *s);

/* log.c */
enum log_level { LOG_LEVEL_ERROR = 3, LOG_LEVEL_WARNING = 4, LOG_LEVEL_INFO = 6, LOG_LEVEL_DEBUG = 7 };

void log_begin(void);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* KFDPRIOD_H */
