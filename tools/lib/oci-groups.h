/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups that the hook of containers has made for annotations.
 *
 * The hook notes them in a file, and kfdpriod reads it: a rule for a cgroup further up ends them, since it holds for all
 * containers there.  A group that an administrator has bound by hand is not in the file, and stays.
 */
#ifndef OCI_GROUPS_H
#define OCI_GROUPS_H

#include "share.h"

/**
 * struct oci_group - a group that an annotation has made
 * @number: of the group
 * @cgroup_id: of its cgroup
 * @cgroup: path of its cgroup
 */
struct oci_group {
	uint64_t number, cgroup_id;
	char *cgroup;
};

int oci_groups_note(const struct oci_group *group, const struct kfd_prio_share_entry *entries, size_t nr);
size_t oci_groups_read(const struct kfd_prio_share_entry *entries, size_t nr, struct oci_group **groups);
void oci_groups_free(struct oci_group *groups, size_t nr);

#endif /* OCI_GROUPS_H */
