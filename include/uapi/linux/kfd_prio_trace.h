/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * kfdprio: the numbers in the trace events of events/kfd/.
 *
 * KFD's and MES's own enums have other numbers in other kernels.  The numbers here are the same for
 * every kernel and never change.  A later version may add a number, so a reader of a recording must
 * accept a number that it does not know.
 *
 * KFD_PRIO_*_NAMES(X, LAST) is X(value, "NAME") for each value of an enum, with the name that the
 * event prints, and LAST(value, "NAME") for the last one.
 *
 * This header needs no other.
 */
#ifndef _UAPI_LINUX_KFD_PRIO_TRACE_H
#define _UAPI_LINUX_KFD_PRIO_TRACE_H

/**
 * enum kfd_prio_type - @type of kfd_create_queue and kfd_map_queue
 * @KFD_PRIO_TYPE_COMPUTE: AQL or PM4
 * @KFD_PRIO_TYPE_SDMA: SDMA, on any engine or on one that the process has chosen
 * @KFD_PRIO_TYPE_HIQ: the queue through which KFD sends packets to HWS
 * @KFD_PRIO_TYPE_DIQ: a kernel queue of KFD's debugger
 * @KFD_PRIO_TYPE_SDMA_XGMI: an SDMA engine of a link to another GPU
 */
enum kfd_prio_type {
	KFD_PRIO_TYPE_COMPUTE = 0,
	KFD_PRIO_TYPE_SDMA = 1,
	KFD_PRIO_TYPE_HIQ = 2,
	KFD_PRIO_TYPE_DIQ = 3,
	KFD_PRIO_TYPE_SDMA_XGMI = 4,
};

#define KFD_PRIO_TYPE_NAMES(X, LAST)					\
	X(KFD_PRIO_TYPE_COMPUTE, "COMPUTE")				\
	X(KFD_PRIO_TYPE_SDMA, "SDMA")					\
	X(KFD_PRIO_TYPE_HIQ, "HIQ")					\
	X(KFD_PRIO_TYPE_DIQ, "DIQ")					\
	LAST(KFD_PRIO_TYPE_SDMA_XGMI, "SDMA_XGMI")

/**
 * enum kfd_prio_format - @format of kfd_create_queue
 * @KFD_PRIO_FORMAT_PM4: PM4 packets, or SDMA packets
 * @KFD_PRIO_FORMAT_AQL: AQL packets
 */
enum kfd_prio_format {
	KFD_PRIO_FORMAT_PM4 = 0,
	KFD_PRIO_FORMAT_AQL = 1,
};

#define KFD_PRIO_FORMAT_NAMES(X, LAST)					\
	X(KFD_PRIO_FORMAT_PM4, "PM4")					\
	LAST(KFD_PRIO_FORMAT_AQL, "AQL")

/**
 * enum kfd_prio_filter - @filter of kfd_unmap_queues
 * @KFD_PRIO_FILTER_ALL: every queue of the GPU, including KFD's own
 * @KFD_PRIO_FILTER_DYNAMIC: every queue of a process
 * @KFD_PRIO_FILTER_PASID: the queues of one PASID
 * @KFD_PRIO_FILTER_MES_QUEUE: MES removes one queue
 * @KFD_PRIO_FILTER_OTHER: a filter that this version of kfdprio does not know
 */
enum kfd_prio_filter {
	KFD_PRIO_FILTER_ALL = 1,
	KFD_PRIO_FILTER_DYNAMIC = 2,
	KFD_PRIO_FILTER_PASID = 3,
	KFD_PRIO_FILTER_MES_QUEUE = 0x80,
	KFD_PRIO_FILTER_OTHER = 0xff,
};

#define KFD_PRIO_FILTER_NAMES(X, LAST)					\
	X(KFD_PRIO_FILTER_ALL, "ALL")					\
	X(KFD_PRIO_FILTER_DYNAMIC, "DYNAMIC")				\
	X(KFD_PRIO_FILTER_PASID, "PASID")				\
	X(KFD_PRIO_FILTER_MES_QUEUE, "MES_QUEUE")			\
	LAST(KFD_PRIO_FILTER_OTHER, "OTHER")

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

#define KFD_PRIO_PIPE_NAMES(X, LAST)					\
	X(KFD_PRIO_PIPE_LOW, "LOW")					\
	X(KFD_PRIO_PIPE_MEDIUM, "MEDIUM")				\
	LAST(KFD_PRIO_PIPE_HIGH, "HIGH")

/**
 * enum kfd_prio_gang - @gang_level of kfd_map_queue
 * @KFD_PRIO_GANG_NONE: HWS has no gangs
 * @KFD_PRIO_GANG_LOW: the lowest level of MES
 * @KFD_PRIO_GANG_NORMAL: the level that stock KFD requests
 * @KFD_PRIO_GANG_MEDIUM: requested by neither KFD nor kfdprio
 * @KFD_PRIO_GANG_HIGH: priorities 11 to 15
 * @KFD_PRIO_GANG_REALTIME: requested by neither KFD nor kfdprio
 * @KFD_PRIO_GANG_OTHER: a level that this version of kfdprio does not know
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

/**
 * enum kfd_prio_destroy_reason - why kfd_destroy_queue was traced
 * @KFD_PRIO_DESTROY_IOCTL: AMDKFD_IOC_DESTROY_QUEUE
 * @KFD_PRIO_DESTROY_EXIT: the process has ended, or has closed /dev/kfd
 * @KFD_PRIO_DESTROY_CREATE_FAILED: AMDKFD_IOC_CREATE_QUEUE failed after kfd_create_queue
 */
enum kfd_prio_destroy_reason {
	KFD_PRIO_DESTROY_IOCTL = 0,
	KFD_PRIO_DESTROY_EXIT = 1,
	KFD_PRIO_DESTROY_CREATE_FAILED = 2,
};

#define KFD_PRIO_DESTROY_NAMES(X, LAST)					\
	X(KFD_PRIO_DESTROY_IOCTL, "IOCTL")				\
	X(KFD_PRIO_DESTROY_EXIT, "EXIT")				\
	LAST(KFD_PRIO_DESTROY_CREATE_FAILED, "CREATE_FAILED")

/**
 * enum kfd_prio_source - the origin of a change of priority, in the event kfd_set_priority
 * @KFD_PRIO_SOURCE_IOCTL: KFD_PRIO_IOC_SET
 * @KFD_PRIO_SOURCE_FORK: the process has inherited it from its parent
 */
enum kfd_prio_source {
	KFD_PRIO_SOURCE_IOCTL = 0,
	KFD_PRIO_SOURCE_FORK = 1,
};

#define KFD_PRIO_SOURCE_NAMES(X, LAST)					\
	X(KFD_PRIO_SOURCE_IOCTL, "IOCTL")				\
	LAST(KFD_PRIO_SOURCE_FORK, "FORK")

/**
 * enum kfd_prio_wake - how work of a process was observed, in kfd_doorbell_wake
 * @KFD_PRIO_WAKE_FAULT: the process rang while its doorbells were trapped
 * @KFD_PRIO_WAKE_POLL: the indices of a queue had moved without such a ring
 */
enum kfd_prio_wake {
	KFD_PRIO_WAKE_FAULT = 0,
	KFD_PRIO_WAKE_POLL = 1,
};

#define KFD_PRIO_WAKE_NAMES(X, LAST)					\
	X(KFD_PRIO_WAKE_FAULT, "FAULT")					\
	LAST(KFD_PRIO_WAKE_POLL, "POLL")

/**
 * enum kfd_prio_reason - the reason of the level in force; @reason of kfd_preempt_begin and _end
 * @KFD_PRIO_REASON_NONE: no claim
 * @KFD_PRIO_REASON_WORK: a claim has work, or had it less than linger_us ago
 * @KFD_PRIO_REASON_IDLE: the last claim has been without work for linger_us
 * @KFD_PRIO_REASON_BUDGET: no claim with work has made progress for busy_budget_ms
 * @KFD_PRIO_REASON_FLOOR: preempted processes of a level get their floor_pct now
 * @KFD_PRIO_REASON_RATE: max_preempt_per_s or max_switch_pct is reached, or a switch is not worth it: a
 *	level is held, or none begins
 * @KFD_PRIO_REASON_OFF: kfd_preempt is 0, or the breaker of the GPU is open
 * @KFD_PRIO_REASON_GONE: the process that preempted has ended or lost its priority
 */
enum kfd_prio_reason {
	KFD_PRIO_REASON_NONE = 0,
	KFD_PRIO_REASON_WORK = 1,
	KFD_PRIO_REASON_IDLE = 2,
	KFD_PRIO_REASON_BUDGET = 3,
	KFD_PRIO_REASON_FLOOR = 4,
	KFD_PRIO_REASON_RATE = 5,
	KFD_PRIO_REASON_OFF = 6,
	KFD_PRIO_REASON_GONE = 7,
};

#define KFD_PRIO_REASON_NAMES(X, LAST)					\
	X(KFD_PRIO_REASON_NONE, "NONE")					\
	X(KFD_PRIO_REASON_WORK, "WORK")					\
	X(KFD_PRIO_REASON_IDLE, "IDLE")					\
	X(KFD_PRIO_REASON_BUDGET, "BUDGET")				\
	X(KFD_PRIO_REASON_FLOOR, "FLOOR")				\
	X(KFD_PRIO_REASON_RATE, "RATE")					\
	X(KFD_PRIO_REASON_OFF, "OFF")					\
	LAST(KFD_PRIO_REASON_GONE, "GONE")

/**
 * enum kfd_prio_park_reason - why a process was parked; @reason of kfd_park
 * @KFD_PRIO_PARK_CROWDED: the runlist was over-subscribed
 * @KFD_PRIO_PARK_UPDATE: a runlist was sent for another reason
 * @KFD_PRIO_PARK_IDLE: no process on the GPU had work, or MES removed only its queues
 * @KFD_PRIO_PARK_PREEMPTED: preemption kept the process off already
 */
enum kfd_prio_park_reason {
	KFD_PRIO_PARK_CROWDED = 0,
	KFD_PRIO_PARK_UPDATE = 1,
	KFD_PRIO_PARK_IDLE = 2,
	KFD_PRIO_PARK_PREEMPTED = 3,
};

#define KFD_PRIO_PARK_NAMES(X, LAST)					\
	X(KFD_PRIO_PARK_CROWDED, "CROWDED")				\
	X(KFD_PRIO_PARK_UPDATE, "UPDATE")				\
	X(KFD_PRIO_PARK_IDLE, "IDLE")					\
	LAST(KFD_PRIO_PARK_PREEMPTED, "PREEMPTED")

/**
 * enum kfd_prio_unpark_reason - why a process is no longer parked; @reason of kfd_unpark
 * @KFD_PRIO_UNPARK_RING: the process has rung a doorbell
 * @KFD_PRIO_UNPARK_POLL: the indices of a queue had moved without a ring that faulted
 * @KFD_PRIO_UNPARK_WAVES: its MQDs have saved waves
 * @KFD_PRIO_UNPARK_PREEMPT: it has rung below a level in force, and is preempted from then on
 * @KFD_PRIO_UNPARK_OFF: it must not be parked any more, or its unmap was not confirmed
 * @KFD_PRIO_UNPARK_GONE: the process has left the GPU
 */
enum kfd_prio_unpark_reason {
	KFD_PRIO_UNPARK_RING = 0,
	KFD_PRIO_UNPARK_POLL = 1,
	KFD_PRIO_UNPARK_WAVES = 2,
	KFD_PRIO_UNPARK_PREEMPT = 3,
	KFD_PRIO_UNPARK_OFF = 4,
	KFD_PRIO_UNPARK_GONE = 5,
};

#define KFD_PRIO_UNPARK_NAMES(X, LAST)					\
	X(KFD_PRIO_UNPARK_RING, "RING")					\
	X(KFD_PRIO_UNPARK_POLL, "POLL")					\
	X(KFD_PRIO_UNPARK_WAVES, "WAVES")				\
	X(KFD_PRIO_UNPARK_PREEMPT, "PREEMPT")				\
	X(KFD_PRIO_UNPARK_OFF, "OFF")					\
	LAST(KFD_PRIO_UNPARK_GONE, "GONE")

/**
 * enum kfd_prio_breaker - why preemption is off on a GPU; @cause of kfd_preempt_breaker
 * @KFD_PRIO_BREAKER_CLOSED: preemption is not off
 * @KFD_PRIO_BREAKER_UNMAP: HWS or MES did not unmap queues in time
 * @KFD_PRIO_BREAKER_HANG: HWS or MES failed in another way, and KFD resets the GPU
 * @KFD_PRIO_BREAKER_RESET: the GPU was reset for another reason while a process was preempted
 * @KFD_PRIO_BREAKER_KNOWN: CWSR is known to fail on this GPU with this driver; set from the start
 */
enum kfd_prio_breaker {
	KFD_PRIO_BREAKER_CLOSED = 0,
	KFD_PRIO_BREAKER_UNMAP = 1,
	KFD_PRIO_BREAKER_HANG = 2,
	KFD_PRIO_BREAKER_RESET = 3,
	KFD_PRIO_BREAKER_KNOWN = 4,
};

#define KFD_PRIO_BREAKER_NAMES(X, LAST)					\
	X(KFD_PRIO_BREAKER_CLOSED, "CLOSED")				\
	X(KFD_PRIO_BREAKER_UNMAP, "UNMAP")				\
	X(KFD_PRIO_BREAKER_HANG, "HANG")				\
	X(KFD_PRIO_BREAKER_RESET, "RESET")				\
	LAST(KFD_PRIO_BREAKER_KNOWN, "KNOWN")

/**
 * enum kfd_prio_throttle - why a process with work is off a GPU; @reason of kfd_throttle_begin
 * @KFD_PRIO_THROTTLE_NONE: it is not throttled; in no event
 * @KFD_PRIO_THROTTLE_MAX: a group of it may not run now, by its limit
 * @KFD_PRIO_THROTTLE_WEIGHT: another group has its turn
 */
enum kfd_prio_throttle {
	KFD_PRIO_THROTTLE_NONE = 0,
	KFD_PRIO_THROTTLE_MAX = 1,
	KFD_PRIO_THROTTLE_WEIGHT = 2,
};

#define KFD_PRIO_THROTTLE_NAMES(X, LAST)				\
	X(KFD_PRIO_THROTTLE_NONE, "NONE")				\
	X(KFD_PRIO_THROTTLE_MAX, "MAX")					\
	LAST(KFD_PRIO_THROTTLE_WEIGHT, "WEIGHT")

#endif /* _UAPI_LINUX_KFD_PRIO_TRACE_H */
