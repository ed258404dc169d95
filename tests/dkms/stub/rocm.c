// SPDX-License-Identifier: GPL-2.0
/*
 * One of the modules of ROCm's amdgpu-dkms, for DKMS: version and srcversion, which it compares, are as real
 * ones have them, and "build" says of which version of the package the file is.
 */
#include <linux/module.h>

#ifdef STUB_IS_OURS
static int kfd_preempt = 1;
module_param(kfd_preempt, int, 0444);
MODULE_PARM_DESC(kfd_preempt, "not a driver");
#endif
#ifdef STUB_VERSION
MODULE_VERSION(STUB_VERSION);
#endif
MODULE_INFO(build, STUB_BUILD);
MODULE_DESCRIPTION("stands in for a module of amdgpu-dkms");
MODULE_LICENSE("GPL");
