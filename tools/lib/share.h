/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups of processes that share GPU time, linux/kfd_prio.h: limits and weights as users write them, and the ioctls.
 *
 * share-parse.c is pure.
 */
#ifndef SHARE_H
#define SHARE_H

#include "kfdlib.h"

/* Of the interface, from which on the driver has groups */
#define KFDLIB_SHARE_MINOR 7

#define SHARE_TEXT 48 /* bytes of share_text() */

/**
 * struct share_setting - what a group has
 * @max: hundredths of a percent; KFD_PRIO_MAX_NONE: no limit
 * @soft: the limit holds only while a process outside the group has work
 * @weight: KFD_PRIO_WEIGHT_NONE: none of its own
 */
struct share_setting {
	uint32_t max;
	bool soft;
	uint32_t weight;
};

int kfd_max_parse(const char *text, uint32_t *hundredths);
int kfd_weight_parse(const char *text, uint32_t *weight);
const char *kfd_max_text(uint32_t hundredths, char *text, size_t size);
const char *share_text(const struct share_setting *setting, char *text, size_t size);
bool share_same(const struct share_setting *one, const struct share_setting *other);

/* kfd-share.c */
bool kfd_dev_has_shares(const struct kfd_dev *dev, char *why);
int kfd_dev_share(const struct kfd_dev *dev, struct kfd_prio_share_args *args);
int kfd_dev_shares(const struct kfd_dev *dev, struct kfd_prio_share_entry **entries, size_t *nr);
void share_args_set(struct kfd_prio_share_args *args, const struct share_setting *setting);
struct share_setting share_entry_setting(const struct kfd_prio_share_entry *entry);
bool share_entry_unenforced(const struct kfd_prio_share_entry *entry);
const struct kfd_prio_share_entry *share_entry_find(const struct kfd_prio_share_entry *entries, size_t nr, uint64_t group);
const struct kfd_prio_share_entry *share_entry_of_cgroup(const struct kfd_prio_share_entry *entries, size_t nr, uint64_t cgroup);

/* share-text.c */
int share_max_parse(const char *text, uint32_t *max, char *why);
int share_weight_parse(const char *text, uint32_t *weight, char *why);
int share_group_parse(const char *text, uint64_t *group, char *why);
void share_format(char *text, size_t size, uint32_t max, bool soft, uint32_t weight);

#endif /* SHARE_H */
