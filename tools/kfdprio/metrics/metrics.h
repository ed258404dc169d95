/* SPDX-License-Identifier: GPL-2.0 */
/* The verb kfdprio metrics. */
#ifndef KFDPRIO_METRICS_H
#define KFDPRIO_METRICS_H

#include "container.h"
#include "share.h"

int kfdprio_metrics(int argc, char **argv);

/**
 * struct metrics_groups - the groups of processes that share GPU time
 * @entries: of the driver, array of @nr
 * @cgroups: paths of their cgroups, array of @nr; NULL: it has none, or that is not known or not to be named
 * @containers: whose cgroups these are, array of @nr; NULL: their labels were not asked for
 * @nr: how many
 */
struct metrics_groups {
	struct kfd_prio_share_entry *entries;
	char **cgroups;
	struct container *containers;
	size_t nr;
};

/* group.c */
int metrics_groups_read(const struct kfd_dev *dev, unsigned int named, struct metrics_groups *groups, char *why);
void metrics_groups_containers(struct metrics_groups *groups, struct containers *known);
void metrics_groups(FILE *out, const struct metrics_groups *groups);
void metrics_groups_free(struct metrics_groups *groups);

/* print.c */
void metrics_label(FILE *out, const char *raw);
void metrics_container(FILE *out, const struct container *container);
void metrics_family(FILE *out, const char *name, const char *type, const char *help);
void metrics_seconds(FILE *out, uint64_t ns);

#endif /* KFDPRIO_METRICS_H */
