// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdprio: module load and unload. */
#include "kfd_prio_engine.h"
#include "kfd_prio_group.h"
#include "kfd_prio_tree.h"

/*
 * The kernel's own amdgpu has no module version. DKMS takes two modules without a version for the
 * same one and does not install the second, so kfdprio adds a version, which also identifies the
 * module. ROCm's amdgpu has a version, by which DKMS detects an upgrade. A second version would
 * hide it, so kfdprio adds none there.
 */
#ifndef KFD_PRIO_TREE_HAS_VERSION
MODULE_VERSION("kfdprio-" KFD_PRIO_PACKAGE_VERSION);
#endif

/**
 * kfd_prio_hook_module_init() - amdkfd was initialised: initialise kfdprio
 *
 * The hook cannot fail. If a part of kfdprio is not available, KFD_PRIO_IOC_VERSION does not report
 * its feature, and KFD behaves as stock KFD does there.
 *
 * Context: module load
 */
void kfd_prio_hook_module_init(void)
{
	kfd_prio_table_init();
	kfd_prio_orphan_init();
	kfd_prio_doorbell_init();
	kfd_prio_crowd_init(kfd_prio_thread_start_all);
	kfd_prio_limit_init();
	kfd_prio_debugfs_init();
	pr_info("kfdprio " KFD_PRIO_PACKAGE_VERSION ": ABI %d.%d%s\n",
		KFD_PRIO_VERSION_MAJOR, KFD_PRIO_VERSION_MINOR,
		kfd_prio_table_inherits() ? "" : ", no priorities: cannot follow fork");
	if (kfd_prio_user_queues() > 0)
		pr_warn("kfdprio: user_queue=%d: DRM user queues bypass KFD: their work has no priority and takes no part in preemption\n",
			kfd_prio_user_queues());
}

/**
 * kfd_prio_hook_module_exit() - amdkfd is being removed; no process and no open file is left
 *
 * Context: module unload
 */
void kfd_prio_hook_module_exit(void)
{
	kfd_prio_crowd_exit();
	kfd_prio_doorbell_exit();
	kfd_prio_orphan_exit();
	kfd_prio_table_exit();
	kfd_prio_group_exit();
}
