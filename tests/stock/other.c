// SPDX-License-Identifier: GPL-2.0
/*
 * Types of another amdkfd: the members that the probes read are there, all of them, but at other places; or but for one
 * (WITHOUT).  UNMAP_HAS_TYPE: as drivers before 5.17.
 */
#include <linux/types.h>

#ifdef WITHOUT
#define lead_thread other_name
#endif
#include "../../tools/kfdtrace/stock/bpf/kfd.h"

struct task_struct task;
struct kfd_node node;
struct queue queue;
struct qcm_process_device qpd;
struct device_process_node device_process;
struct packet_manager pm;
struct device_queue_manager dqm;
enum kfd_unmap_queues_filter filter;

#ifdef UNMAP_HAS_TYPE
int pm_send_unmap_queue(struct packet_manager *manager, enum kfd_queue_type type, enum kfd_unmap_queues_filter mode,
			unsigned int param, _Bool reset, unsigned int engine)
#else
int pm_send_unmap_queue(struct packet_manager *manager, enum kfd_unmap_queues_filter mode, unsigned int param,
			_Bool reset)
#endif
{
	return mode + param;
}
