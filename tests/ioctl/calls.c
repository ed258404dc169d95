// SPDX-License-Identifier: GPL-2.0
/* The table: what is called, with which structs */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/kfd_prio.h>
#include "ioctl.h"
#include "kfdclient-int.h"

#define FILL(type)	static void fill_##type(struct worker *w, void *args, uint64_t *seed)
#define ARGS(type)	struct type *a = args; (void)w, (void)seed
#define OR_NOT(v)	(below(seed, 8) ? (v) : below(seed, 4096))

FILL(version) { (void)w, (void)args, (void)seed; }

/* ---- ours ---- */

FILL(set)
{
	ARGS(kfd_prio_set_args);
	unsigned int i = below(seed, WORKERS + 2);

	a->pid = w->pid[i];
	a->pidfd = w->pidfd[below(seed, 8) ? i : below(seed, WORKERS + 2)];
	a->priority = (int)below(seed, 17) - 1;
}

FILL(get)
{
	ARGS(kfd_prio_get_args);
	unsigned int i = below(seed, WORKERS + 2);

	a->pid = w->pid[i];
	a->pidfd = w->pidfd[i];
}

FILL(list)
{
	ARGS(kfd_prio_list_args);
	a->entries = (uintptr_t)w->user;
	a->entry_size = below(seed, 2) ? sizeof(struct kfd_prio_list_entry) : 32 + 8 * below(seed, 8);
	a->nr_entries = below(seed, 3) ? 16 : below(seed, 64);
}

FILL(shares)
{
	ARGS(kfd_prio_shares_args);
	a->entries = (uintptr_t)w->user;
	a->entry_size = below(seed, 2) ? sizeof(struct kfd_prio_share_entry) : 80 + 8 * below(seed, 8);
	a->nr_entries = below(seed, 3) ? 16 : below(seed, 64);
}

FILL(share)
{
	ARGS(kfd_prio_share_args);
	unsigned int i = below(seed, WORKERS + 2);

	a->group = below(seed, 3) ? 0 : below(seed, 40);
	a->flags = below(seed, 4) ? KFD_PRIO_SHARE_PROCESS : below(seed, 64);
	a->pid = w->pid[i];
	a->pidfd = w->pidfd[below(seed, 8) ? i : below(seed, WORKERS + 2)];
	a->cgroup = below(seed, 8) ? 0 : w->pidfd[i];
	if (below(seed, 2)) {
		a->flags |= KFD_PRIO_SHARE_MAX;
		a->max = 1 + below(seed, 10001);
	}
	if (below(seed, 2)) {
		a->flags |= KFD_PRIO_SHARE_WEIGHT;
		a->weight = below(seed, 10002);
	}
}

FILL(gpus)
{
	ARGS(kfd_prio_gpus_args);
	a->entries = (uintptr_t)w->user;
	a->entry_size = below(seed, 2) ? sizeof(struct kfd_prio_gpu_entry) : 80 + 8 * below(seed, 8);
	a->nr_entries = below(seed, 3) ? 16 : below(seed, 64);
}

/* what the user area holds: 64 KiB from the first byte on, and the test looks at what lies behind */
static void guard_list(void *args)
{
	struct kfd_prio_list_args *a = args;

	if (a->entry_size > 512)
		a->entry_size = 512;
	if (a->nr_entries > 64 && below(&(uint64_t){ a->nr_entries }, 2))
		a->nr_entries = ~0U;
}

/* ---- queues ---- */

FILL(create)
{
	static const uint32_t types[] = { KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
					  KFD_IOC_QUEUE_TYPE_COMPUTE, KFD_IOC_QUEUE_TYPE_SDMA };
	ARGS(kfd_ioctl_create_queue_args);
	a->queue_type = types[below(seed, 4)];
	a->ring_base_address = (uintptr_t)(a->queue_type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL ? w->ring :
					   a->queue_type == KFD_IOC_QUEUE_TYPE_SDMA ? w->sdma : w->pm4);
	a->write_pointer_address = (uintptr_t)w->pointers + 512 * below(seed, INDICES);
	a->read_pointer_address = a->write_pointer_address + 128;
	/* otherwise it has work from the start, if one with this index had some */
	if (below(seed, 2))
		*(volatile uint64_t *)a->write_pointer_address = 0;
	a->ring_size = RING;
	a->gpu_id = w->gpu_id;
	a->queue_percentage = below(seed, 4) ? 100 : below(seed, 102);
	a->queue_priority = below(seed, 16);
	a->eop_buffer_address = (uintptr_t)w->eop;
	a->eop_buffer_size = 4096;
	a->ctx_save_restore_address = (uintptr_t)w->cwsr;
	a->ctx_save_restore_size = w->cwsr_size;
	a->ctl_stack_size = w->ctl;
}

/*
 * MES: KFD forgets the reference to the process of a queue with a bad packet (kfd_dqm_suspend_bad_queue_mes()), and
 * buffers of a queue that it refuses late, as it does when no SDMA queue is left (pqm_create_queue())
 */
static void guard_create(void *args)
{
	struct kfd_ioctl_create_queue_args *a = args;

	if (!zero_index)
		return;
	a->write_pointer_address = zero_index;
	if (a->queue_type != KFD_IOC_QUEUE_TYPE_COMPUTE)
		a->queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
}

static void took_create(struct worker *w, const void *args)
{
	const struct kfd_ioctl_create_queue_args *a = args;

	keep(&w->queues, a->queue_id);
	keep(&w->bells, a->doorbell_offset & 8191);
	keep(&w->mmap_offsets, a->doorbell_offset & ~8191ULL);
}

FILL(destroy)
{
	ARGS(kfd_ioctl_destroy_queue_args);
	a->queue_id = pick(&w->queues, seed);
}

FILL(update)
{
	ARGS(kfd_ioctl_update_queue_args);
	a->queue_id = pick(&w->queues, seed);
	a->ring_base_address = (uintptr_t)w->ring;
	a->ring_size = RING;
	a->queue_percentage = below(seed, 4) ? 100 : below(seed, 102);
	a->queue_priority = below(seed, 16);
}

FILL(cu_mask)
{
	ARGS(kfd_ioctl_set_cu_mask_args);
	a->queue_id = pick(&w->queues, seed);
	a->num_cu_mask = 32 * below(seed, 5);
	a->cu_mask_ptr = (uintptr_t)w->user;
}

FILL(wave_state)
{
	ARGS(kfd_ioctl_get_queue_wave_state_args);
	a->queue_id = pick(&w->queues, seed);
	a->ctl_stack_address = (uintptr_t)w->user;
}

/* ---- memory ---- */

FILL(acquire)
{
	ARGS(kfd_ioctl_acquire_vm_args);
	a->drm_fd = w->gpu->drm;
	a->gpu_id = w->gpu_id;
}

FILL(alloc)
{
	static const uint32_t flags[] = {
		KFD_IOC_ALLOC_MEM_FLAGS_VRAM, KFD_IOC_ALLOC_MEM_FLAGS_GTT,
		KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR,
	};
	ARGS(kfd_ioctl_alloc_memory_of_gpu_args);
	a->va_addr = 0x100000000000ULL + 0x100000 * (below(seed, 1024) + 1024 * w->nr);
	a->size = 4096 * (1 + below(seed, 16));
	a->gpu_id = w->gpu_id;
	a->flags = flags[below(seed, 4)] | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
	if (a->flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR) {
		a->va_addr = (uintptr_t)w->user + 65536 + 4096 * below(seed, 16);
		a->mmap_offset = a->va_addr;
	}
}

/* bounded: how soon memory ends is not what is tried */
static void guard_alloc(void *args)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args *a = args;

	a->size &= (1 << 24) - 1;
}

static void took_alloc(struct worker *w, const void *args)
{
	const struct kfd_ioctl_alloc_memory_of_gpu_args *a = args;

	keep(&w->handles, a->handle);
	keep(&w->mmap_offsets, a->mmap_offset);
}

FILL(free)
{
	ARGS(kfd_ioctl_free_memory_of_gpu_args);
	a->handle = pick(&w->handles, seed);
}

FILL(map)
{
	ARGS(kfd_ioctl_map_memory_to_gpu_args);
	a->handle = pick(&w->handles, seed);
	a->device_ids_array_ptr = (uintptr_t)&w->gpu_id;
	a->n_devices = 1;
}

FILL(unmap)
{
	ARGS(kfd_ioctl_unmap_memory_from_gpu_args);
	a->handle = pick(&w->handles, seed);
	a->device_ids_array_ptr = (uintptr_t)&w->gpu_id;
	a->n_devices = 1;
}

static void guard_map(void *args)
{
	struct kfd_ioctl_map_memory_to_gpu_args *a = args;

	if (stock_bugs)
		return;
	if (a->n_devices > 4096)
		a->n_devices = 4096;
	/* what lies before it is not looked at, and KFD warns afterwards that there is no such GPU */
	a->n_success = 0;
}

FILL(available)
{
	ARGS(kfd_ioctl_get_available_memory_args);
	a->gpu_id = w->gpu_id;
}

FILL(policy)
{
	ARGS(kfd_ioctl_set_memory_policy_args);
	a->gpu_id = w->gpu_id;
	a->default_policy = below(seed, 2);
	a->alternate_policy = below(seed, 2);
}

FILL(apertures)
{
	ARGS(kfd_ioctl_get_process_apertures_new_args);
	a->kfd_process_device_apertures_ptr = (uintptr_t)w->user;
	a->num_of_nodes = below(seed, 8);
}

static void guard_apertures(void *args)
{
	struct kfd_ioctl_get_process_apertures_new_args *a = args;

	if (!stock_bugs && a->num_of_nodes > 512)
		a->num_of_nodes = 512;
}

FILL(clock)
{
	ARGS(kfd_ioctl_get_clock_counters_args);
	a->gpu_id = w->gpu_id;
}

/* ---- events ---- */

FILL(create_event)
{
	ARGS(kfd_ioctl_create_event_args);
	a->event_type = below(seed, 4) ? KFD_IOC_EVENT_SIGNAL : below(seed, 10);
	a->auto_reset = below(seed, 2);
}

static void took_event(struct worker *w, const void *args)
{
	keep(&w->events, ((const struct kfd_ioctl_create_event_args *)args)->event_id);
}

FILL(event)
{
	ARGS(kfd_ioctl_set_event_args);
	a->event_id = pick(&w->events, seed);
}

FILL(wait)
{
	struct kfd_event_data *d = (void *)w->user;
	ARGS(kfd_ioctl_wait_events_args);
	d->event_id = pick(&w->events, seed);
	a->events_ptr = (uintptr_t)d;
	a->num_events = 1 + below(seed, 3);
}

static void guard_wait(void *args)
{
	struct kfd_ioctl_wait_events_args *a = args;

	a->timeout &= 1;
	if (!stock_bugs && a->num_events > 4096)
		a->num_events = 4096;
}

#define CALL(cmd, busy, quiet, fill, ...)	{ #cmd, cmd, busy, quiet, fill_##fill, __VA_ARGS__ }

const struct call calls[] = {
	CALL(KFD_PRIO_IOC_VERSION, 1, 8, version),
	CALL(KFD_PRIO_IOC_SET, 16, 3, set),
	CALL(KFD_PRIO_IOC_GET, 4, 24, get),
	CALL(KFD_PRIO_IOC_LIST, 4, 6, list, .guard = guard_list),
	/* the same layout */
	CALL(KFD_PRIO_IOC_GPUS, 4, 6, gpus, .guard = guard_list),
	CALL(KFD_PRIO_IOC_SHARES, 4, 6, shares, .guard = guard_list),
	CALL(KFD_PRIO_IOC_SHARE, 8, 3, share),
	CALL(AMDKFD_IOC_CREATE_QUEUE, 8, 1, create, .guard = guard_create, .took = took_create),
	CALL(AMDKFD_IOC_DESTROY_QUEUE, 7, 1, destroy),
	CALL(AMDKFD_IOC_UPDATE_QUEUE, 8, 1, update),
	CALL(AMDKFD_IOC_SET_CU_MASK, 3, 1, cu_mask),
	CALL(AMDKFD_IOC_GET_QUEUE_WAVE_STATE, 2, 3, wave_state),
	CALL(AMDKFD_IOC_ACQUIRE_VM, 1, 2, acquire),
	CALL(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, 4, 1, alloc, .guard = guard_alloc, .took = took_alloc),
	CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, 4, 1, free),
	CALL(AMDKFD_IOC_MAP_MEMORY_TO_GPU, 3, 1, map, .guard = guard_map),
	CALL(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, 3, 1, unmap, .guard = guard_map),
	CALL(AMDKFD_IOC_AVAILABLE_MEMORY, 1, 3, available),
	CALL(AMDKFD_IOC_SET_MEMORY_POLICY, 1, 1, policy),
	CALL(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, 1, 5, apertures, .guard = guard_apertures),
	CALL(AMDKFD_IOC_GET_CLOCK_COUNTERS, 1, 6, clock),
	CALL(AMDKFD_IOC_CREATE_EVENT, 2, 7, create_event, .took = took_event),
	CALL(AMDKFD_IOC_DESTROY_EVENT, 2, 7, event),
	CALL(AMDKFD_IOC_SET_EVENT, 1, 5, event),
	CALL(AMDKFD_IOC_RESET_EVENT, 1, 5, event),
	CALL(AMDKFD_IOC_WAIT_EVENTS, 2, 6, wait, .guard = guard_wait),
};

const unsigned int n_calls = sizeof(calls) / sizeof(calls[0]);
