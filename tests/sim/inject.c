// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * inject.ko: functions of the kernel that our part of amdkfd calls, and that fail for other reasons than an allocation
 * of its own.  With CONFIG_FAIL_FUNCTION a function can be made to fail only if somebody has named it.  For debug
 * kernels; see tests/fault/nth-function.c.
 */
#include <linux/debugfs.h>
#include <linux/error-injection.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mempool.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>

ALLOW_ERROR_INJECTION(kern_mount, ERRNO);
ALLOW_ERROR_INJECTION(alloc_anon_inode, ERRNO);
ALLOW_ERROR_INJECTION(kthread_create_on_node, ERRNO);
ALLOW_ERROR_INJECTION(tracepoint_probe_register, ERRNO);
ALLOW_ERROR_INJECTION(debugfs_lookup, ERRNO);
ALLOW_ERROR_INJECTION(sysfs_create_file_ns, ERRNO);
ALLOW_ERROR_INJECTION(mempool_create_node_noprof, NULL);
ALLOW_ERROR_INJECTION(mempool_alloc_noprof, NULL);

MODULE_DESCRIPTION("functions that may be made to fail");
MODULE_LICENSE("GPL");
