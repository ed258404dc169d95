// SPDX-License-Identifier: GPL-2.0
/* libkfdclient: queues, packets, signals */
#define _GNU_SOURCE
#include "kfdclient-int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { AQL_INVALID = 1, AQL_DISPATCH = 2, AQL_BARRIER_AND = 3, AQL_BARRIER_OR = 5 };

#define AQL_HEADER_BARRIER	0x100
#define AQL_HEADER_SYSTEM_FENCES (2 << 9 | 2 << 11)

struct aql_dispatch {
	uint16_t header, setup, wg[3], reserved0;
	uint32_t grid[3], private_size, group_size;
	uint64_t kernel_object, kernarg, reserved2, signal;
};

struct aql_barrier {
	uint16_t header, reserved0;
	uint32_t reserved1;
	uint64_t dep[5], reserved2, signal;
};

/*
 * As libhsakmt's update_ctx_save_restore_size() and, since 6.12, amdkfd's kfd_queue.c, which
 * compares: the control stack and the state of all waves; the BO holds the debugger's area as
 * well. Where the kernel tells the sizes, it has the say.
 */
int kfdc_cwsr_sizes(struct kfdc *c, uint64_t *ctl, uint64_t *area, uint64_t *total)
{
	uint64_t xcc, cus, simds, per_cu, arrays, per_engine, gfx, waves, vgprs = 0x40000;

	if (kfdc_prop(c, "simd_count", &simds) || kfdc_prop(c, "simd_per_cu", &per_cu) ||
	    kfdc_prop(c, "array_count", &arrays) ||
	    kfdc_prop(c, "simd_arrays_per_engine", &per_engine) ||
	    kfdc_prop(c, "gfx_target_version", &gfx))
		return -ENOENT;
	if (kfdc_prop(c, "num_xcc", &xcc))
		xcc = 1;	/* before 6.5 there are no more */
	cus = simds / per_cu / xcc;
	waves = cus * 32;
	if (gfx < 100100)
		waves = cus * 40 < arrays / per_engine * 512 ? cus * 40 : arrays / per_engine * 512;
	if (gfx == 90008 || gfx == 90010 || gfx / 100 == 904)
		vgprs = 0x80000;
	else if (gfx == 110000 || gfx == 110001 || gfx / 10000 >= 12)
		vgprs = 0x60000;
	if (kfdc_prop(c, "ctl_stack_size", ctl)) {
		*ctl = (40 + waves * (gfx < 100100 ? 8 : 12) + 8 + 4095) & ~4095ULL;
		if (gfx / 10000 == 10 && *ctl > 0x7000)
			*ctl = 0x7000;
	}
	if (kfdc_prop(c, "cwsr_size", area))
		*area = *ctl + cus * (vgprs + 0x4000 + 0x10000 + 0x1000);
	*total = (*area + ((waves * 32 + 63) & ~63ULL)) * xcc;
	return 0;
}

/* Where the doorbell at KFD's offset is mapped; NULL: kfdc_error() says why */
volatile uint64_t *kfdc_doorbell(struct kfdc *c, uint64_t offset)
{
	const size_t size = 8192;	/* 1024 doorbells of 8 bytes */

	if (!c->doorbells) {
		void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c->kfd,
			       offset & ~(size - 1));

		if (p == MAP_FAILED) {
			kfdc_fail(errno, "mmap of the doorbells");
			return NULL;
		}
		c->doorbells = p;
		c->doorbells_size = size;
	}
	return (void *)((char *)c->doorbells + (offset & (size - 1)));
}

/**
 * kfdc_queue_create - an AQL queue
 * @c: the GPU
 * @attr: NULL: KFDC_QUEUE_DEFAULT
 * @qp: set
 */
int kfdc_queue_create(struct kfdc *c, const struct kfdc_queue_attr *attr, struct kfdc_queue **qp)
{
	const struct kfdc_queue_attr def = KFDC_QUEUE_DEFAULT;
	struct kfd_ioctl_create_queue_args args = {};
	uint64_t ctl, area, total;
	struct kfdc_queue *q;
	uint32_t i;
	int r;

	q = calloc(1, sizeof(*q));
	if (!q)
		return kfdc_fail(ENOMEM, "kfdc_queue_create");
	q->c = c;
	q->attr = attr ? *attr : def;
	r = kfdc_cwsr_sizes(c, &ctl, &area, &total);
	if (!r)
		r = kfdc_bo_alloc(c, q->attr.packets * 64, KFD_IOC_ALLOC_MEM_FLAGS_GTT,
				  &q->ring_bo);
	if (!r)
		r = kfdc_bo_alloc(c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &q->ptr_bo);
	if (!r)
		r = kfdc_bo_alloc(c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &q->eop_bo);
	if (!r)
		r = kfdc_bo_alloc(c, total, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &q->cwsr_bo);
	if (r)
		goto err;
	q->ring = q->ring_bo.va;
	q->wptr = q->ptr_bo.va;
	q->rptr = (void *)((char *)q->ptr_bo.va + 128);
	/* as ROCr does: the page is there from the first moment */
	*q->wptr = 0;
	*q->rptr = 0;
	for (i = 0; i < q->attr.packets; i++)
		((struct aql_barrier *)q->ring)[i].header = AQL_INVALID;
	args.ring_base_address = (uintptr_t)q->ring;
	args.write_pointer_address = (uintptr_t)q->wptr;
	args.read_pointer_address = (uintptr_t)q->rptr;
	args.ring_size = q->attr.packets * 64;
	args.gpu_id = c->gpu_id;
	args.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
	args.queue_percentage = q->attr.percentage;
	args.queue_priority = q->attr.priority;
	args.eop_buffer_address = (uintptr_t)q->eop_bo.va;
	args.eop_buffer_size = 4096;
	args.ctx_save_restore_address = (uintptr_t)q->cwsr_bo.va;
	args.ctx_save_restore_size = area;
	q->cwsr_size = area;
	args.ctl_stack_size = ctl;
	r = KFDC_IOCTL(c, AMDKFD_IOC_CREATE_QUEUE, &args);
	if (r)
		goto err;
	q->id = args.queue_id;
	q->doorbell_offset = args.doorbell_offset;
	q->doorbell = kfdc_doorbell(c, q->doorbell_offset);
	if (!q->doorbell) {
		kfdc_queue_destroy(q);
		return -ENOMEM;
	}
	*qp = q;
	return 0;
err:
	kfdc_bo_free(c, &q->cwsr_bo);
	kfdc_bo_free(c, &q->eop_bo);
	kfdc_bo_free(c, &q->ptr_bo);
	kfdc_bo_free(c, &q->ring_bo);
	free(q);
	return r;
}

/**
 * kfdc_queue_update - AMDKFD_IOC_UPDATE_QUEUE
 * @q: the queue
 * @percentage: 0 takes it off the GPU, 100 puts it back
 * @priority: 0..15
 */
int kfdc_queue_update(struct kfdc_queue *q, uint32_t percentage, uint32_t priority)
{
	struct kfd_ioctl_update_queue_args args = {
		.ring_base_address = (uintptr_t)q->ring,
		.queue_id = q->id,
		.ring_size = q->attr.packets * 64,
		.queue_percentage = percentage,
		.queue_priority = priority,
	};
	int r = KFDC_IOCTL(q->c, AMDKFD_IOC_UPDATE_QUEUE, &args);

	if (!r) {
		q->attr.percentage = percentage;
		q->attr.priority = priority;
	}
	return r;
}

/**
 * kfdc_queue_destroy - destroy a queue and free its memory
 * @q: the queue, gone afterwards whatever is returned
 */
int kfdc_queue_destroy(struct kfdc_queue *q)
{
	struct kfd_ioctl_destroy_queue_args args = { .queue_id = q->id };
	int r = KFDC_IOCTL(q->c, AMDKFD_IOC_DESTROY_QUEUE, &args);

	kfdc_bo_free(q->c, &q->cwsr_bo);
	kfdc_bo_free(q->c, &q->eop_bo);
	kfdc_bo_free(q->c, &q->ptr_bo);
	kfdc_bo_free(q->c, &q->ring_bo);
	free(q);
	return r;
}

/**
 * kfdc_queue_full - is there no room for a packet?
 * @q: the queue
 */
bool kfdc_queue_full(const struct kfdc_queue *q)
{
	return *q->wptr - __atomic_load_n(q->rptr, __ATOMIC_ACQUIRE) >= q->attr.packets;
}

/**
 * kfdc_ring - ring the doorbell for all that was written
 * @q: the queue
 */
void kfdc_ring(struct kfdc_queue *q)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*q->doorbell = *q->wptr - 1;
}

/**
 * kfdc_doorbells_remap - map the doorbells of all queues anew where they were
 * @q: any queue of the process on this GPU
 *
 * After a reset has taken them away, which is SIGBUS for who rings.
 */
int kfdc_doorbells_remap(struct kfdc_queue *q)
{
	struct kfdc *c = q->c;

	if (mmap(c->doorbells, c->doorbells_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, c->kfd,
		 q->doorbell_offset & ~(c->doorbells_size - 1)) == MAP_FAILED)
		return kfdc_fail(errno, "mmap of the doorbells");
	return 0;
}

/**
 * kfdc_packet - write any packet
 * @q: the queue
 * @packet: 64 bytes; its first 16 bits are written last
 * @ring: ring the doorbell
 *
 * EAGAIN: the queue is full.
 */
int kfdc_packet(struct kfdc_queue *q, const void *packet, bool ring)
{
	uint64_t w = *q->wptr;
	char *slot = (char *)q->ring + w % q->attr.packets * 64;
	uint16_t header;

	if (kfdc_queue_full(q))
		return kfdc_fail(EAGAIN, "queue %u is full", q->id);
	memcpy(&header, packet, sizeof(header));
	memcpy(slot + 2, (const char *)packet + 2, 62);
	__atomic_store_n(q->wptr, w + 1, __ATOMIC_RELEASE);
	__atomic_store_n((uint16_t *)slot, header, __ATOMIC_RELEASE);
	if (ring)
		kfdc_ring(q);
	return 0;
}

/**
 * kfdc_dispatch - a kernel dispatch
 * @q: the queue
 * @d: what
 */
int kfdc_dispatch(struct kfdc_queue *q, const struct kfdc_dispatch *d)
{
	uint32_t waves = d->waves ? d->waves : kfdc_max_waves(q->c);
	struct aql_dispatch p = {
		.header = AQL_DISPATCH | AQL_HEADER_SYSTEM_FENCES |
			  (d->barrier ? AQL_HEADER_BARRIER : 0),
		.setup = 1,
		.wg = { q->c->wave_size, 1, 1 },
		.grid = { waves * q->c->wave_size, 1, 1 },
		.reserved2 = d->ns,
		.signal = d->signal ? (uintptr_t)d->signal->mem : 0,
	};

	return kfdc_packet(q, &p, !d->no_ring);
}

/**
 * kfdc_barrier - a barrier packet: nothing later launches before it is complete
 * @q: the queue
 * @any: barrier-OR; otherwise barrier-AND
 * @dep: signals that must be 0
 * @n: how many, up to 5
 * @signal: decremented at completion, may be NULL
 */
int kfdc_barrier(struct kfdc_queue *q, bool any, struct kfdc_signal *const *dep, unsigned int n,
		 struct kfdc_signal *signal)
{
	struct aql_barrier p = {
		.header = (any ? AQL_BARRIER_OR : AQL_BARRIER_AND) | AQL_HEADER_SYSTEM_FENCES,
		.signal = signal ? (uintptr_t)signal->mem : 0,
	};
	unsigned int i;

	if (n > 5)
		return kfdc_fail(EINVAL, "a barrier packet has 5 dependencies, not %u", n);
	for (i = 0; i < n; i++)
		p.dep[i] = (uintptr_t)dep[i]->mem;
	return kfdc_packet(q, &p, true);
}

/* ---- signals ---- */

static int create_event(struct kfdc *c, struct kfdc_signal *s)
{
	struct kfd_ioctl_create_event_args args = {
		.event_type = KFD_IOC_EVENT_SIGNAL,
		.auto_reset = 1,
	};
	uint64_t handle;
	void *page;
	int r;

	r = kfdc_event_page(c, &page, &handle);
	if (r)
		return r;
	args.event_page_offset = handle;
	r = KFDC_IOCTL(c, AMDKFD_IOC_CREATE_EVENT, &args);
	if (r)
		return r;
	s->event_id = args.event_id;
	s->mem->event_id = args.event_id;
	s->mem->mailbox = (uintptr_t)page + 8 * args.event_slot_index;
	return 0;
}

/**
 * kfdc_signal_create - a signal of value 0
 * @c: the GPU
 * @event: with a KFD event, so that kfdc_signal_wait() sleeps; otherwise it polls
 * @sp: set
 */
int kfdc_signal_create(struct kfdc *c, bool event, struct kfdc_signal **sp)
{
	struct kfdc_signal *s = calloc(1, sizeof(*s));
	unsigned int i, max = SIGNAL_BO_SIZE / sizeof(struct amd_signal);
	int r;

	if (!s)
		return kfdc_fail(ENOMEM, "kfdc_signal_create");
	for (i = 0; i < max && c->used[i / 64] & 1ULL << i % 64; i++)
		;
	if (i == max) {
		free(s);
		return kfdc_fail(ENOSPC, "all %u signals are in use", max);
	}
	s->c = c;
	s->slot = i;
	s->mem = (struct amd_signal *)c->signals.va + i;
	memset(s->mem, 0, sizeof(*s->mem));
	s->mem->kind = 1;
	if (event) {
		r = create_event(c, s);
		if (r) {
			free(s);
			return r;
		}
	}
	c->used[i / 64] |= 1ULL << i % 64;
	*sp = s;
	return 0;
}

/**
 * kfdc_signal_destroy - no packet may use it any more
 * @s: the signal
 */
void kfdc_signal_destroy(struct kfdc_signal *s)
{
	struct kfd_ioctl_destroy_event_args args = { .event_id = s->event_id };

	if (s->event_id)
		KFDC_IOCTL(s->c, AMDKFD_IOC_DESTROY_EVENT, &args);
	s->c->used[s->slot / 64] &= ~(1ULL << s->slot % 64);
	free(s);
}

void kfdc_signal_set(struct kfdc_signal *s, int64_t value)
{
	__atomic_store_n(&s->mem->value, value, __ATOMIC_SEQ_CST);
}

/**
 * kfdc_signal_mem - the amd_signal_t itself, for packets of one's own
 * @s: the signal
 */
void *kfdc_signal_mem(const struct kfdc_signal *s)
{
	return s->mem;
}

int64_t kfdc_signal_value(const struct kfdc_signal *s)
{
	return __atomic_load_n(&s->mem->value, __ATOMIC_ACQUIRE);
}

/**
 * kfdc_signal_gpu_ns - between launch and completion of the packet that last used it
 * @s: the signal
 *
 * As the simulated GPU wrote it: includes the time in which the queue was off the GPU.
 */
uint64_t kfdc_signal_gpu_ns(const struct kfdc_signal *s)
{
	return (s->mem->end_ts - s->mem->start_ts) * 10;	/* 100 MHz */
}

/**
 * kfdc_signal_times - when the packet that last used it was launched and complete
 * @s: the signal
 * @start: set, in ns of kfdc_now()'s clock on the simulated GPU
 * @end: set, likewise
 */
void kfdc_signal_times(const struct kfdc_signal *s, uint64_t *start, uint64_t *end)
{
	*start = s->mem->start_ts * 10;
	*end = s->mem->end_ts * 10;
}

/**
 * kfdc_signal_wait - until the value is below 1
 * @s: the signal
 * @timeout_ns: ETIME after this
 */
int kfdc_signal_wait(struct kfdc_signal *s, uint64_t timeout_ns)
{
	uint64_t now, end = kfdc_now() + timeout_ns;
	struct kfd_event_data data;
	struct kfd_ioctl_wait_events_args args;
	int r;

	while (kfdc_signal_value(s) > 0) {
		now = kfdc_now();
		if (now >= end)
			return kfdc_fail(ETIME, "signal at %lld after %llu ms",
					 (long long)kfdc_signal_value(s),
					 (unsigned long long)timeout_ns / 1000000);
		if (!s->event_id) {
			nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
			continue;
		}
		data = (struct kfd_event_data){ .event_id = s->event_id };
		args = (struct kfd_ioctl_wait_events_args){
			.events_ptr = (uintptr_t)&data,
			.num_events = 1,
			.timeout = (end - now) / 1000000 + 1,
		};
		r = KFDC_IOCTL(s->c, AMDKFD_IOC_WAIT_EVENTS, &args);
		if (r && r != -ETIME)
			return r;
	}
	return 0;
}
