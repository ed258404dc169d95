/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of --driver=stock: what the BPF program hands over, and what goes into trace.dat as it is.
 * Names, types and order of the fields are those of trace_events/kfd_prio_events.h.
 */
#ifndef KFDTRACE_STOCK_EVENT_H
#define KFDTRACE_STOCK_EVENT_H

#include <linux/types.h>

/* F(kind, name); kinds: u32, s32, u64; x32 and x64: u32 and u64 printed in hexadecimal; i32: u32 that may be -1 */
#define STOCK_QUEUE(F) F(u32, gpu_id) F(s32, pid) F(u32, queue_id) F(s32, prio)
#define STOCK_PROCESS(F) \
	F(u32, gpu_id) F(s32, pid) F(s32, prio) F(u32, evicted) F(u32, queues) F(s32, ret)

#define STOCK_FIELDS_kfd_ioctl_create_queue(F) F(s32, pid)
#define STOCK_FIELDS_kfd_create_queue(F) \
	STOCK_QUEUE(F) F(u32, type) F(u32, format) F(u32, req_prio) F(x32, doorbell) F(x64, ring_base) \
	F(u64, ring_size) F(x64, rptr) F(x64, wptr) F(x64, cwsr_base) F(u32, cwsr_size)
#define STOCK_FIELDS_kfd_destroy_queue(F) STOCK_QUEUE(F) F(u32, reason) F(s32, ret)
#define STOCK_FIELDS_kfd_update_queue(F) \
	STOCK_QUEUE(F) F(u32, req_prio) F(u32, percent) F(x64, ring_base) F(u64, ring_size) F(u32, active) \
	F(s32, ret)
#define STOCK_FIELDS_kfd_init_mqd(F) \
	STOCK_QUEUE(F) F(x64, mqd_addr) F(x64, cwsr_base) F(u32, pipe_prio) F(u32, queue_prio)
#define STOCK_FIELDS_kfd_map_queues(F) \
	F(u32, gpu_id) F(u32, processes) F(u32, queues) F(u32, cp_queues) F(u32, over_subscribed) \
	F(u32, runlist_size) F(x64, runlist_addr) F(s32, ret)
#define STOCK_FIELDS_kfd_map_queue(F) \
	STOCK_QUEUE(F) F(u32, type) F(x32, doorbell) F(x64, mqd_addr) F(s32, gang_level) F(s32, ret)
#define STOCK_FIELDS_kfd_unmap_queues(F) \
	F(u32, gpu_id) F(s32, pid) F(i32, queue_id) F(u32, filter) F(x32, filter_param) F(u32, seq)
#define STOCK_FIELDS_kfd_unmap_queues_done(F) F(u32, gpu_id) F(u32, seq) F(u64, dur_ns) F(s32, ret)
#define STOCK_FIELDS_kfd_evict_process(F) STOCK_PROCESS(F)
#define STOCK_FIELDS_kfd_restore_process(F) STOCK_PROCESS(F)
#define STOCK_FIELDS_kfd_hws_hang(F) F(u32, gpu_id) F(u32, processes) F(u32, queues)

#define STOCK_EVENTS(E) \
	E(kfd_ioctl_create_queue) E(kfd_create_queue) E(kfd_destroy_queue) E(kfd_update_queue) \
	E(kfd_init_mqd) E(kfd_map_queues) E(kfd_map_queue) E(kfd_unmap_queues) \
	E(kfd_unmap_queues_done) E(kfd_evict_process) E(kfd_restore_process) E(kfd_hws_hang)

typedef __u32 stock_u32;
typedef __s32 stock_s32;
typedef __u64 stock_u64;
typedef __u32 stock_x32;
typedef __u32 stock_i32;
typedef __u64 stock_x64;

/* The numbers are those of the recording alone. */
#define STOCK_ID(event) STOCK_ID_##event,
enum stock_id { STOCK_ID_none, STOCK_EVENTS(STOCK_ID) NR_STOCK_IDS };

/**
 * struct stock_common - begins every event of ftrace
 * @type: enum stock_id
 * @flags: 0
 * @preempt_count: 0
 * @pid: thread that the event was recorded in
 */
struct stock_common {
	__u16 type;
	__u8 flags;
	__u8 preempt_count;
	__s32 pid;
};

#define STOCK_MEMBER(kind, name) stock_##kind name;
#define STOCK_STRUCT(event)			   \
	struct event {				   \
		struct stock_common common;	   \
		STOCK_FIELDS_##event(STOCK_MEMBER) \
	};
STOCK_EVENTS(STOCK_STRUCT)

/**
 * struct stock_record - goes before each event in the ring buffer
 * @ts: ns, CLOCK_MONOTONIC
 * @cpu: it was recorded on
 * @size: bytes of the event that follows, a multiple of 4
 * @lost: events of this CPU for which there was no room, up to here
 */
struct stock_record {
	__u64 ts;
	__u32 cpu;
	__u32 size;
	__u64 lost;
};

/* Between an event and the next record there are as many bytes. */
#define STOCK_ALIGN(size) (((size) + 7) & ~7UL)

/*
 * Functions of amdkfd, as the cookies of the probes.  Of the first ones, both the call and the return are needed; of the
 * others, the call alone.
 */
enum stock_call {
	STOCK_CREATE,
	STOCK_DESTROY,
	STOCK_UPDATE,
	STOCK_UNINIT,
	STOCK_RUNLIST,
	STOCK_UNMAP,
	STOCK_MES_ADD,
	STOCK_MES_REMOVE,
	STOCK_EVICT,
	STOCK_RESTORE,
	NR_STOCK_CALLS,
	STOCK_IOCTL_CREATE = NR_STOCK_CALLS,
	STOCK_DEL_QUEUE,
	STOCK_HANG,
};

#endif /* KFDTRACE_STOCK_EVENT_H */
