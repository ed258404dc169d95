/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: how each supported tree spells a KFD type or call.  The only place
 * with conditionals on the kernel; KFD_PRIO_HAVE_* come from the compile probes
 * in kfd_prio.mk, never from version numbers.
 */
#ifndef KFD_PRIO_COMPAT_H_INCLUDED
#define KFD_PRIO_COMPAT_H_INCLUDED

#include "kfd_priv.h"
#include "kfd_device_queue_manager.h"

/* 6.1 has one struct kfd_dev per GPU, later trees a struct kfd_node per partition */
#ifdef KFD_PRIO_HAVE_KFD_NODE
#define kfd_prio_uses_mes(dqm)	((dqm)->dev->kfd->shared_resources.enable_mes)
#else
#define kfd_prio_uses_mes(dqm)	((dqm)->dev->shared_resources.enable_mes)
#endif

/* The grace period became an argument of the unmap together with its default */
#ifdef USE_DEFAULT_GRACE_PERIOD
#define kfd_prio_unmap_dynamic(dqm)						\
	unmap_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0,	\
			   USE_DEFAULT_GRACE_PERIOD, false)
#else
#define kfd_prio_unmap_dynamic(dqm)						\
	unmap_queues_cpsch(dqm, KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES, 0, false)
#endif

#endif /* KFD_PRIO_COMPAT_H_INCLUDED */
