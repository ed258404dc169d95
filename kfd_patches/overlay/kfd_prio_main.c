// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdprio: module load and unload. */
#include "kfd_prio_priv.h"
#include "kfd_prio_tree.h"

/*
 * The kernel's own amdgpu has no version.  DKMS takes two modules without one for the same, and
 * does not install the second; and this tells whose amdgpu a file is, or the loaded one.
 * ROCm's has one, by which DKMS tells an upgrade: a second would hide it.
 */
#ifndef KFD_PRIO_TREE_HAS_VERSION
MODULE_VERSION("kfdprio-" KFD_PRIO_PACKAGE_VERSION);
#endif

/**
 * kfd_prio_hook_module_init() - amdkfd has started
 *
 * Cannot fail: what is not available is reported by KFD_PRIO_IOC_VERSION, and the
 * stock behaviour remains.
 */
void kfd_prio_hook_module_init(void)
{
	kfd_prio_table_init();
	kfd_prio_orphan_init();
	kfd_prio_doorbell_init();
	kfd_prio_debugfs_init();
	pr_info("kfdprio " KFD_PRIO_PACKAGE_VERSION ": ABI %d.%d%s\n",
		KFD_PRIO_VERSION_MAJOR, KFD_PRIO_VERSION_MINOR,
		kfd_prio_table_inherits() ? "" : ", no priorities: cannot follow fork");
	if (kfd_prio_user_queues() > 0)
		pr_warn("kfdprio: user_queue=%d: DRM user queues bypass KFD: their work has no priority and takes no part in preemption\n",
			kfd_prio_user_queues());
}

/**
 * kfd_prio_hook_module_exit() - amdkfd goes; no process and no open file is left
 */
void kfd_prio_hook_module_exit(void)
{
	kfd_prio_doorbell_exit();
	kfd_prio_orphan_exit();
	kfd_prio_table_exit();
}
