/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio oci-hook: the group of a container */
#ifndef KFDPRIO_OCI_SHARE_H
#define KFDPRIO_OCI_SHARE_H

#include "oci.h"

int oci_share_set(const struct kfd_dev *dev, const struct rules *rules, pid_t pid, const struct share_setting *setting,
		  uint64_t *group, char *why);

#endif /* KFDPRIO_OCI_SHARE_H */
