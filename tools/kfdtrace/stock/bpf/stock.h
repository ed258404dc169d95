/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs of stock.bpf.c share: the ring buffer, calls that have not returned, queues. */
#ifndef KFDTRACE_BPF_STOCK_H
#define KFDTRACE_BPF_STOCK_H

#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/kfd_prio_trace.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "../event.h"
#include "kfd.h"

#define PRIO_UNSET   (-1)
#define GANG_UNKNOWN (-1)

#define MAX_QUEUES 65536 /* steps through the lists of a runlist */

/* Set before loading: MES is not asked while the scheduler is stopped (drivers since 7.x) */
const volatile bool mes_heeds_halt;
/* Set before loading: pm_send_unmap_queue() has the type of queues before the filter (drivers before 5.17) */
const volatile bool unmap_has_type;
/* Set before loading: the reader, which looks several times a second, is woken when so much of the ring is full */
const volatile __u64 wake_bytes;

/* Set from user space: record */
bool on;
/* Read from user space before a recording: a probe has fired */
bool fired;
/* Read from user space */
__u64 entered[NR_STOCK_CALLS], returned[NR_STOCK_CALLS];
__u64 not_noted, not_walked, not_understood, mistyped;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

/* A call that has not returned. */
struct call {
	__u64 ts;
	__u64 end;	/* it ended before it returns; 0: it did not */
	__u64 args[3];
	/* no hole: the kernel refuses to copy bytes that were never written */
	__u32 seq;
	__u32 reported;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct call);
} calls SEC(".maps");

/* Number of the last unmap of a GPU, by its device_queue_manager */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u32);
} seqs SEC(".maps");

static __always_inline void *event_room(__u64 size)
{
	__u32 zero = 0;
	__u64 *counter = bpf_map_lookup_elem(&lost, &zero);
	struct stock_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record) + size, 0);

	if (!record) {
		if (counter)
			++*counter;
		return NULL;
	}
	record->ts = bpf_ktime_get_ns();
	record->cpu = bpf_get_smp_processor_id();
	record->size = size;
	record->lost = counter ? *counter : 0;
	return record;
}

/* EVENT(name) { e->field = ...; SEND(); }: nothing is done where there is no room */
#define EVENT(name)                                                                       \
	struct {                                                                          \
		struct stock_record record;                                               \
		struct name event;                                                        \
	} *room = event_room(sizeof(struct name));                                        \
	struct name *e = room ? &room->event : NULL;                                      \
	if (e)                                                                            \
		__builtin_memset(e, 0, sizeof(*e));                                       \
	if (e)                                                                            \
		e->common = (struct stock_common){ .type = STOCK_ID_##name,               \
						   .pid = bpf_get_current_pid_tgid() };   \
	if (e)
#define SEND() bpf_ringbuf_submit(room, wakeup())

static __always_inline __u64 wakeup(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < wake_bytes ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP;
}

static __always_inline __u64 call_key(__u32 what)
{
	return bpf_get_current_pid_tgid() << 8 | what;
}

static __always_inline void call_note(__u32 what, const struct call *call)
{
	__u64 key = call_key(what);

	__sync_fetch_and_add(&entered[what], 1);
	if (bpf_map_update_elem(&calls, &key, call, BPF_ANY))
		__sync_fetch_and_add(&not_noted, 1);
}

static __always_inline struct call *call_now(__u32 what)
{
	__u64 key = call_key(what);

	return bpf_map_lookup_elem(&calls, &key);
}

static __always_inline bool call_end(__u32 what, struct call *call)
{
	__u64 key = call_key(what);
	struct call *begun = bpf_map_lookup_elem(&calls, &key);

	if (!begun)
		return false;
	*call = *begun;
	bpf_map_delete_elem(&calls, &key);
	__sync_fetch_and_add(&returned[what], 1);
	return on;
}

static __always_inline __u32 gpu_of(struct kfd_node *node)
{
	if (bpf_core_field_exists(node->id))
		return BPF_CORE_READ(node, id);
	return BPF_CORE_READ((struct kfd_dev___old *)node, id);
}

static __always_inline struct device_queue_manager *dqm_of(struct kfd_node *node)
{
	if (bpf_core_field_exists(node->dqm))
		return BPF_CORE_READ(node, dqm);
	return BPF_CORE_READ((struct kfd_dev___old *)node, dqm);
}

/*
 * With the types of another driver, what is read here is no manager and no queue.  A GPU and its manager point to each
 * other: seen once, the types are right.
 */
static bool dqm_is_typed, queue_is_typed;

static __always_inline bool dqm_typed(struct device_queue_manager *dqm)
{
	if (dqm_is_typed)
		return true;
	dqm_is_typed = dqm && dqm_of(BPF_CORE_READ(dqm, dev)) == dqm;
	if (!dqm_is_typed)
		__sync_fetch_and_add(&mistyped, 1);
	return dqm_is_typed;
}

static __always_inline bool queue_typed(struct queue *q)
{
	struct kfd_node *node;

	if (queue_is_typed)
		return true;
	node = BPF_CORE_READ(q, device);
	queue_is_typed = node && BPF_CORE_READ(dqm_of(node), dev) == node;
	if (!queue_is_typed)
		__sync_fetch_and_add(&mistyped, 1);
	return queue_is_typed;
}

static __always_inline __s32 pid_of(struct kfd_process *process)
{
	return BPF_CORE_READ(process, lead_thread, tgid);
}

static __always_inline __u32 type_of(struct queue *q)
{
	__u32 type = BPF_CORE_READ(q, properties.type);

	if (type == bpf_core_enum_value(enum kfd_queue_type, KFD_QUEUE_TYPE_COMPUTE))
		return KFD_PRIO_TYPE_COMPUTE;
	if (type == bpf_core_enum_value(enum kfd_queue_type, KFD_QUEUE_TYPE_HIQ))
		return KFD_PRIO_TYPE_HIQ;
	if (type == bpf_core_enum_value(enum kfd_queue_type, KFD_QUEUE_TYPE_SDMA_XGMI))
		return KFD_PRIO_TYPE_SDMA_XGMI;
	if (bpf_core_enum_value_exists(enum kfd_queue_type, KFD_QUEUE_TYPE_DIQ) &&
	    type == bpf_core_enum_value(enum kfd_queue_type, KFD_QUEUE_TYPE_DIQ))
		return KFD_PRIO_TYPE_DIQ;
	return KFD_PRIO_TYPE_SDMA;
}

/* On a stock driver, what the owner asked for is in force. */
#define QUEUE(q)                                                    \
	do {                                                        \
		e->gpu_id = gpu_of(BPF_CORE_READ(q, device));       \
		e->pid = pid_of(BPF_CORE_READ(q, process));         \
		e->queue_id = BPF_CORE_READ(q, properties.queue_id); \
		e->prio = BPF_CORE_READ(q, properties.priority);    \
	} while (0)

#endif /* KFDTRACE_BPF_STOCK_H */
