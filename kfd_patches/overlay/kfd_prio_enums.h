/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdprio: the numbers of the trace events (kfd_prio_trace.h) for those of KFD's and MES's enums. */
#ifndef KFD_PRIO_ENUMS_H_INCLUDED
#define KFD_PRIO_ENUMS_H_INCLUDED

#include "kfd_prio_compat.h"
#include "kfd_prio_trace.h"

static inline enum kfd_prio_type kfd_prio_type_of(enum kfd_queue_type type)
{
	if (kfd_prio_is_diq(type))
		return KFD_PRIO_TYPE_DIQ;
	switch (type) {
	case KFD_QUEUE_TYPE_COMPUTE:
		return KFD_PRIO_TYPE_COMPUTE;
	case KFD_QUEUE_TYPE_HIQ:
		return KFD_PRIO_TYPE_HIQ;
	case KFD_QUEUE_TYPE_SDMA_XGMI:
		return KFD_PRIO_TYPE_SDMA_XGMI;
	default:	/* newer trees: SDMA by the number of the engine, too */
		return KFD_PRIO_TYPE_SDMA;
	}
}

static inline enum kfd_prio_format kfd_prio_format_of(enum kfd_queue_format format)
{
	return format == KFD_QUEUE_FORMAT_AQL ? KFD_PRIO_FORMAT_AQL : KFD_PRIO_FORMAT_PM4;
}

static inline enum kfd_prio_filter kfd_prio_filter_of(enum kfd_unmap_queues_filter filter)
{
	switch (filter) {
	case KFD_UNMAP_QUEUES_FILTER_ALL_QUEUES:
		return KFD_PRIO_FILTER_ALL;
	case KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES:
		return KFD_PRIO_FILTER_DYNAMIC;
	case KFD_UNMAP_QUEUES_FILTER_BY_PASID:
		return KFD_PRIO_FILTER_PASID;
	default:
		return KFD_PRIO_FILTER_OTHER;
	}
}

static inline enum kfd_prio_pipe kfd_prio_pipe_of(int pipe)
{
	switch (pipe) {
	case KFD_PIPE_PRIORITY_CS_HIGH:
		return KFD_PRIO_PIPE_HIGH;
	case KFD_PIPE_PRIORITY_CS_MEDIUM:
		return KFD_PRIO_PIPE_MEDIUM;
	default:
		return KFD_PRIO_PIPE_LOW;
	}
}

static inline enum kfd_prio_gang kfd_prio_gang_of(u32 level)
{
	switch (level) {
	case AMDGPU_MES_PRIORITY_LEVEL_LOW:
		return KFD_PRIO_GANG_LOW;
	case AMDGPU_MES_PRIORITY_LEVEL_NORMAL:
		return KFD_PRIO_GANG_NORMAL;
	case AMDGPU_MES_PRIORITY_LEVEL_HIGH:
		return KFD_PRIO_GANG_HIGH;
	default:
		return KFD_PRIO_GANG_OTHER;
	}
}

#endif /* KFD_PRIO_ENUMS_H_INCLUDED */
