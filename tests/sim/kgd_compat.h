/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdsim: what differs between the kernels whose amdkfd is simulated.
 *
 * The only file that looks at LINUX_VERSION_CODE. Supported: 6.12.
 */
#ifndef KFDSIM_KGD_COMPAT_H
#define KFDSIM_KGD_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#error "kfdsim: no boundary known for this kernel's amdgpu, see kgd_compat.h"
#endif

/* drm_gem_mmap() needs file offsets above 4 GiB */
#define SIM_DRM_FOPS_EXTRA	.fop_flags = FOP_UNSIGNED_OFFSET,

/* queues that use a mapping; 6.12 refuses to unmap it meanwhile */
#define SIM_BO_VA_QUEUE_REFS(bo_va)	((bo_va)->queue_refcount)

/*
 * amdkfd calls amdgpu_amdkfd_is_fed() before it rings the HIQ's doorbell, so the
 * firmware can sleep until then. Without it: poll the HIQ always.
 */
#define SIM_HIQ_KICK	1

#define SIM_DRM_DATE	.date = "20260101",

#endif
