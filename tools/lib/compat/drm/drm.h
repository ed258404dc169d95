/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <linux/kfd_ioctl.h> includes <drm/drm.h> for its types only; Debian keeps that file in
 * another directory.  Searched last.
 */
#include <linux/types.h>
