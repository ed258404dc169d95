// SPDX-License-Identifier: GPL-2.0
/*
 * A module that DKMS and modprobe take for kfdprio's amdgpu, or ROCm's, for tests of what becomes of a
 * module once it is built.
 */
#include <linux/module.h>
#include <linux/stringify.h>

#ifndef STUB_VERSION
#define STUB_VERSION 0.0.0
#endif

#ifndef STUB_OF_ROCM
static int kfd_preempt = 1;
module_param(kfd_preempt, int, 0444);
MODULE_PARM_DESC(kfd_preempt, "not a driver");
#endif
MODULE_VERSION("kfdprio-" __stringify(STUB_VERSION));
MODULE_DESCRIPTION("stands in for amdgpu");
MODULE_LICENSE("GPL");
