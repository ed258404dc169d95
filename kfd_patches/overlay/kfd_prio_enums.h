/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: what the trace events show where KFD has an enum.  The numbers of KFD's enums differ
 * between trees; the numbers here never change.
 */
#ifndef KFD_PRIO_ENUMS_H_INCLUDED
#define KFD_PRIO_ENUMS_H_INCLUDED

#include "kfd_prio_compat.h"

/**
 * enum kfd_prio_type - @type of kfd_create_queue and kfd_map_queue
 * @KFD_PRIO_TYPE_COMPUTE: AQL or PM4
 * @KFD_PRIO_TYPE_SDMA: any SDMA engine, or one that the owner has chosen
 * @KFD_PRIO_TYPE_HIQ: KFD's own, to HWS
 * @KFD_PRIO_TYPE_DIQ: a debugger's
 * @KFD_PRIO_TYPE_SDMA_XGMI: an SDMA engine of a link to another GPU
 */
enum kfd_prio_type {
	KFD_PRIO_TYPE_COMPUTE = 0,
	KFD_PRIO_TYPE_SDMA = 1,
	KFD_PRIO_TYPE_HIQ = 2,
	KFD_PRIO_TYPE_DIQ = 3,
	KFD_PRIO_TYPE_SDMA_XGMI = 4,
};

/**
 * enum kfd_prio_format - @format of kfd_create_queue
 * @KFD_PRIO_FORMAT_PM4: PM4 packets, or those of SDMA
 * @KFD_PRIO_FORMAT_AQL: AQL packets
 */
enum kfd_prio_format {
	KFD_PRIO_FORMAT_PM4 = 0,
	KFD_PRIO_FORMAT_AQL = 1,
};

/**
 * enum kfd_prio_filter - @filter of kfd_unmap_queues
 * @KFD_PRIO_FILTER_ALL: every queue of the GPU, KFD's own too
 * @KFD_PRIO_FILTER_DYNAMIC: every queue of a process
 * @KFD_PRIO_FILTER_PASID: the queues of one PASID
 * @KFD_PRIO_FILTER_MES_QUEUE: MES removes one queue
 * @KFD_PRIO_FILTER_OTHER: something that this version does not know
 */
enum kfd_prio_filter {
	KFD_PRIO_FILTER_ALL = 1,
	KFD_PRIO_FILTER_DYNAMIC = 2,
	KFD_PRIO_FILTER_PASID = 3,
	KFD_PRIO_FILTER_MES_QUEUE = 0x80,
	KFD_PRIO_FILTER_OTHER = 0xff,
};

/**
 * enum kfd_prio_pipe - @pipe_prio of kfd_init_mqd
 * @KFD_PRIO_PIPE_LOW: priorities 0 to 6
 * @KFD_PRIO_PIPE_MEDIUM: priorities 7 to 10
 * @KFD_PRIO_PIPE_HIGH: priorities 11 to 15
 */
enum kfd_prio_pipe {
	KFD_PRIO_PIPE_LOW = 0,
	KFD_PRIO_PIPE_MEDIUM = 1,
	KFD_PRIO_PIPE_HIGH = 2,
};

/**
 * enum kfd_prio_gang - @gang_level of kfd_map_queue
 * @KFD_PRIO_GANG_NONE: HWS has no gangs
 * @KFD_PRIO_GANG_LOW: a level of MES, from here on
 * @KFD_PRIO_GANG_NORMAL: what stock KFD asks for
 * @KFD_PRIO_GANG_MEDIUM: neither KFD nor we ask for it
 * @KFD_PRIO_GANG_HIGH: priorities 11 to 15
 * @KFD_PRIO_GANG_REALTIME: neither KFD nor we ask for it
 * @KFD_PRIO_GANG_OTHER: something that this version does not know
 */
enum kfd_prio_gang {
	KFD_PRIO_GANG_NONE = -1,
	KFD_PRIO_GANG_LOW = 0,
	KFD_PRIO_GANG_NORMAL = 1,
	KFD_PRIO_GANG_MEDIUM = 2,
	KFD_PRIO_GANG_HIGH = 3,
	KFD_PRIO_GANG_REALTIME = 4,
	KFD_PRIO_GANG_OTHER = 0xff,
};

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
