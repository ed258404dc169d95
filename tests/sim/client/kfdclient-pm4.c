// SPDX-License-Identifier: GPL-2.0
/*
 * libkfdclient: queues whose ring is a stream of dwords, PM4 compute and SDMA
 *
 * Packets may wrap around the end of the ring in their middle. The formats are those of
 * soc15d.h, nvd.h and the *_sdma_pkt_open.h files of amdgpu, as far as GFX9 to GFX12 agree.
 */
#define _GNU_SOURCE
#include "kfdclient-int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PM4(op, n)	(3u << 30 | ((n) - 2u) << 16 | (op) << 8)	/* n dwords in all */

enum {
	PM4_NOP = 0x10, PM4_DISPATCH_DIRECT = 0x15, PM4_DISPATCH_INDIRECT = 0x16, PM4_WRITE_DATA = 0x37, PM4_WAIT_REG_MEM = 0x3c,
	PM4_INDIRECT_BUFFER = 0x3f, PM4_RELEASE_MEM = 0x49, PM4_SET_SH_REG = 0x76,
};

enum { SDMA_COPY = 1, SDMA_FENCE = 5, SDMA_TRAP = 6, SDMA_ATOMIC = 10, SDMA_FILL = 11 };

#define SDMA_ADD_64	47u

#define SDMA_PIECE	(4u << 20)	/* 22 bits of count: what every version can */

static uint32_t lo(const volatile void *va)
{
	return (uintptr_t)va;
}

static uint32_t hi(const volatile void *va)
{
	return (uintptr_t)va >> 32;
}

static int create(struct kfdc_ring *r)
{
	struct kfd_ioctl_create_queue_args args = {
		.ring_base_address = (uintptr_t)r->ring,
		.write_pointer_address = (uintptr_t)r->wptr,
		.read_pointer_address = (uintptr_t)r->rptr,
		.ring_size = r->attr.bytes,
		.gpu_id = r->c->gpu_id,
		.queue_type = r->attr.sdma ? KFD_IOC_QUEUE_TYPE_SDMA : KFD_IOC_QUEUE_TYPE_COMPUTE,
		.queue_percentage = r->attr.percentage,
		.queue_priority = r->attr.priority,
	};
	uint64_t ctl, area, total;
	int err;

	if (!r->attr.sdma) {
		err = kfdc_cwsr_sizes(r->c, &ctl, &area, &total);
		if (!err)
			err = kfdc_bo_alloc(r->c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &r->eop_bo);
		if (!err)
			err = kfdc_bo_alloc(r->c, total, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &r->cwsr_bo);
		if (err)
			return err;
		args.eop_buffer_address = (uintptr_t)r->eop_bo.va;
		args.eop_buffer_size = 4096;
		args.ctx_save_restore_address = (uintptr_t)r->cwsr_bo.va;
		args.ctx_save_restore_size = area;
		args.ctl_stack_size = ctl;
	}
	err = KFDC_IOCTL(r->c, AMDKFD_IOC_CREATE_QUEUE, &args);
	if (err)
		return err;
	r->id = args.queue_id;
	r->doorbell_offset = args.doorbell_offset;
	return 0;
}

static void free_ring(struct kfdc_ring *r)
{
	kfdc_bo_free(r->c, &r->cwsr_bo);
	kfdc_bo_free(r->c, &r->eop_bo);
	kfdc_bo_free(r->c, &r->ptr_bo);
	kfdc_bo_free(r->c, &r->ring_bo);
	free(r);
}

/**
 * kfdc_ring_create - a PM4 or an SDMA queue
 * @c: the GPU
 * @attr: NULL: KFDC_SDMA_DEFAULT
 * @rp: set
 */
int kfdc_ring_create(struct kfdc *c, const struct kfdc_ring_attr *attr, struct kfdc_ring **rp)
{
	const struct kfdc_ring_attr def = KFDC_SDMA_DEFAULT;
	struct kfdc_ring *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return kfdc_fail(ENOMEM, "kfdc_ring_create");
	r->c = c;
	r->attr = attr ? *attr : def;
	err = kfdc_bo_alloc(c, r->attr.bytes, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &r->ring_bo);
	if (!err)
		err = kfdc_bo_alloc(c, 4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &r->ptr_bo);
	if (!err) {
		r->ring = r->ring_bo.va;
		r->wptr = r->ptr_bo.va;
		r->rptr = (void *)((char *)r->ptr_bo.va + 128);
		err = create(r);
	}
	if (err) {
		free_ring(r);
		return err;
	}
	r->doorbell = kfdc_doorbell(c, r->doorbell_offset);
	if (!r->doorbell) {
		kfdc_ring_destroy(r);
		return -ENOMEM;
	}
	*rp = r;
	return 0;
}

/**
 * kfdc_ring_update - AMDKFD_IOC_UPDATE_QUEUE
 * @r: the queue
 * @percentage: 0 takes it off the GPU, 100 puts it back
 * @priority: 0..15
 */
int kfdc_ring_update(struct kfdc_ring *r, uint32_t percentage, uint32_t priority)
{
	struct kfd_ioctl_update_queue_args args = {
		.ring_base_address = (uintptr_t)r->ring,
		.queue_id = r->id,
		.ring_size = r->attr.bytes,
		.queue_percentage = percentage,
		.queue_priority = priority,
	};
	int err = KFDC_IOCTL(r->c, AMDKFD_IOC_UPDATE_QUEUE, &args);

	if (!err) {
		r->attr.percentage = percentage;
		r->attr.priority = priority;
	}
	return err;
}

/**
 * kfdc_ring_destroy - destroy a queue and free its memory
 * @r: the queue, gone afterwards whatever is returned
 */
int kfdc_ring_destroy(struct kfdc_ring *r)
{
	struct kfd_ioctl_destroy_queue_args args = { .queue_id = r->id };
	int err = KFDC_IOCTL(r->c, AMDKFD_IOC_DESTROY_QUEUE, &args);

	free_ring(r);
	return err;
}

/**
 * kfdc_ring_room - dwords that may be written now
 * @r: the queue
 */
uint32_t kfdc_ring_room(struct kfdc_ring *r)
{
	uint32_t size = r->attr.bytes / 4;

	if (r->attr.sdma)
		r->got = __atomic_load_n(r->rptr, __ATOMIC_ACQUIRE) / 4;
	else	/* low bits of a position that is never more than a ring behind */
		r->got += (__atomic_load_n((uint32_t *)r->rptr, __ATOMIC_ACQUIRE) - r->got) %
			  size;
	return size - 1 - (r->put - r->got);
}

/**
 * kfdc_ring_write - write dwords; the GPU sees them after kfdc_ring_submit()
 * @r: the queue
 * @dw: the dwords
 * @n: how many
 *
 * EAGAIN: there is not enough room.
 */
int kfdc_ring_write(struct kfdc_ring *r, const uint32_t *dw, uint32_t n)
{
	uint32_t i;

	if (kfdc_ring_room(r) < n)
		return kfdc_fail(EAGAIN, "queue %u has no room for %u dwords", r->id, n);
	for (i = 0; i < n; i++)
		r->ring[(r->put + i) % (r->attr.bytes / 4)] = dw[i];
	r->put += n;
	return 0;
}

/**
 * kfdc_ring_submit - publish what was written and ring the doorbell
 * @r: the queue
 */
void kfdc_ring_submit(struct kfdc_ring *r)
{
	uint64_t w = r->attr.sdma ? r->put * 4 : r->put;

	__atomic_store_n(r->wptr, w, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*r->doorbell = w;
}

/**
 * kfdc_ring_wait - until the GPU has read everything. What PM4 dispatches do is not waited for
 * @r: the queue
 * @timeout_ns: ETIME after this
 */
int kfdc_ring_wait(struct kfdc_ring *r, uint64_t timeout_ns)
{
	uint64_t end = kfdc_now() + timeout_ns;

	while (kfdc_ring_room(r) != r->attr.bytes / 4 - 1) {
		if (kfdc_now() >= end)
			return kfdc_fail(ETIME, "queue %u has read %llu of %llu dwords after %llu ms",
					 r->id, (unsigned long long)r->got,
					 (unsigned long long)r->put,
					 (unsigned long long)timeout_ns / 1000000);
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
	}
	return 0;
}

/* ---- SDMA packets. Written only: kfdc_ring_submit() comes after one or more of them ---- */

/**
 * kfdc_sdma_copy - linear copy, in as many packets as it takes
 * @r: an SDMA queue
 * @dst: any alignment
 * @src: any alignment; ranges must not overlap
 * @bytes: at least 1
 */
int kfdc_sdma_copy(struct kfdc_ring *r, void *dst, const void *src, uint64_t bytes)
{
	uint64_t n;
	int err;

	for (; bytes; bytes -= n) {
		n = bytes < SDMA_PIECE ? bytes : SDMA_PIECE;
		err = kfdc_ring_write(r, (uint32_t []){ SDMA_COPY, n - 1, 0, lo(src), hi(src),
							 lo(dst), hi(dst) }, 7);
		if (err)
			return err;
		src = (const char *)src + n;
		dst = (char *)dst + n;
	}
	return 0;
}

/**
 * kfdc_sdma_fill - fill with a dword
 * @r: an SDMA queue
 * @dst: aligned to 4 bytes
 * @value: the dword
 * @bytes: a multiple of 4
 */
int kfdc_sdma_fill(struct kfdc_ring *r, void *dst, uint32_t value, uint64_t bytes)
{
	uint64_t n;
	int err;

	for (; bytes; bytes -= n) {
		n = bytes < SDMA_PIECE ? bytes : SDMA_PIECE;
		err = kfdc_ring_write(r, (uint32_t []){ SDMA_FILL | 2u << 30, lo(dst), hi(dst), value,
							 n - 4 }, 5);
		if (err)
			return err;
		dst = (char *)dst + n;
	}
	return 0;
}

/**
 * kfdc_sdma_fence - write a dword once everything before is done
 * @r: an SDMA queue
 * @va: where
 * @value: what
 */
int kfdc_sdma_fence(struct kfdc_ring *r, volatile uint32_t *va, uint32_t value)
{
	return kfdc_ring_write(r, (uint32_t []){ SDMA_FENCE, lo(va), hi(va), value }, 4);
}

/**
 * kfdc_sdma_trap - raise an interrupt
 * @r: an SDMA queue
 * @event_id: of the KFD event
 */
int kfdc_sdma_trap(struct kfdc_ring *r, uint32_t event_id)
{
	return kfdc_ring_write(r, (uint32_t []){ SDMA_TRAP, event_id }, 2);
}

/**
 * kfdc_sdma_signal - decrement a signal and tell who waits, as ROCr does after its copies
 * @r: an SDMA queue
 * @s: the signal
 */
int kfdc_sdma_signal(struct kfdc_ring *r, struct kfdc_signal *s)
{
	int err = kfdc_ring_write(r, (uint32_t []){ SDMA_ATOMIC | SDMA_ADD_64 << 25,
						     lo(&s->mem->value), hi(&s->mem->value), ~0u,
						     ~0u, 0, 0, 0 }, 8);

	if (err || !s->event_id)
		return err;
	err = kfdc_sdma_fence(r, (uint32_t *)(uintptr_t)s->mem->mailbox, s->event_id);
	return err ? err : kfdc_sdma_trap(r, s->event_id);
}

/* ---- PM4 packets; likewise ---- */

/**
 * kfdc_pm4_nop - a NOP
 * @r: a PM4 queue
 * @dwords: length of the packet, at least 1
 */
int kfdc_pm4_nop(struct kfdc_ring *r, uint32_t dwords)
{
	uint32_t p[256] = { dwords == 1 ? 3u << 30 | 0x3fffu << 16 | PM4_NOP << 8 :
					  PM4(PM4_NOP, dwords) };

	if (!dwords || dwords > 256)
		return kfdc_fail(EINVAL, "a NOP of %u dwords", dwords);
	memset(p + 1, 0xff, sizeof(p) - 4);	/* must never be executed */
	return kfdc_ring_write(r, p, dwords);
}

/**
 * kfdc_pm4_write - WRITE_DATA of one dword, confirmed
 * @r: a PM4 queue
 * @va: where
 * @value: what
 */
int kfdc_pm4_write(struct kfdc_ring *r, volatile uint32_t *va, uint32_t value)
{
	return kfdc_ring_write(r, (uint32_t []){ PM4(PM4_WRITE_DATA, 5), 5 << 8 | 1 << 20, lo(va),
						  hi(va), value }, 5);
}

/**
 * kfdc_pm4_release - RELEASE_MEM: write a qword once all earlier work is done
 * @r: a PM4 queue
 * @va: where
 * @value: what
 * @event_id: of the KFD event to signal by interrupt, 0: none
 */
int kfdc_pm4_release(struct kfdc_ring *r, volatile uint64_t *va, uint64_t value,
		     uint32_t event_id)
{
	return kfdc_ring_write(r, (uint32_t []){
		PM4(PM4_RELEASE_MEM, 8),
		0x14 | 5 << 8,				/* CACHE_FLUSH_AND_INV_TS_EVENT, end of pipe */
		2u << 29 | (event_id ? 2u << 24 : 0),	/* 64 bits; interrupt after the write */
		lo(va), hi(va), value, value >> 32, event_id }, 8);
}

/**
 * kfdc_pm4_signal - set a signal to 0 once all earlier work is done, and tell who waits
 * @r: a PM4 queue
 * @s: the signal
 */
int kfdc_pm4_signal(struct kfdc_ring *r, struct kfdc_signal *s)
{
	int err = kfdc_pm4_release(r, (volatile uint64_t *)&s->mem->value, 0, 0);

	if (err || !s->event_id)
		return err;
	return kfdc_pm4_release(r, (uint64_t *)(uintptr_t)s->mem->mailbox, s->event_id, s->event_id);
}

/**
 * kfdc_pm4_wait - WAIT_REG_MEM: until a dword of memory has a value
 * @r: a PM4 queue
 * @va: where
 * @value: what
 */
int kfdc_pm4_wait(struct kfdc_ring *r, volatile uint32_t *va, uint32_t value)
{
	return kfdc_ring_write(r, (uint32_t []){ PM4(PM4_WAIT_REG_MEM, 7), 3 | 1 << 4, lo(va), hi(va),
						  value, ~0u, 4 }, 7);
}

/**
 * kfdc_pm4_ib - execute packets that lie elsewhere
 * @r: a PM4 queue
 * @va: where, aligned to 4 bytes
 * @dwords: how many
 */
int kfdc_pm4_ib(struct kfdc_ring *r, const void *va, uint32_t dwords)
{
	return kfdc_ring_write(r, (uint32_t []){ PM4(PM4_INDIRECT_BUFFER, 4), lo(va), hi(va),
						  dwords | 1u << 23 }, 4);
}

/**
 * kfdc_pm4_dispatch - work-groups of one wave
 * @r: a PM4 queue
 * @waves: how many
 *
 * No code is set up: for the simulated GPU only, which gives it time and executes nothing.
 */
int kfdc_pm4_dispatch(struct kfdc_ring *r, uint32_t waves)
{
	uint64_t items = 0;
	int err = kfdc_prop(r->c, "wave_front_size", &items);

	/* COMPUTE_NUM_THREAD_X, Y, Z: their place among the SH registers, GFX9 to GFX12 */
	if (!err)
		err = kfdc_ring_write(r, (uint32_t []){ PM4(PM4_SET_SH_REG, 5), 0x207, items, 1, 1 },
				      5);
	if (err)
		return err;
	return kfdc_ring_write(r, (uint32_t []){ PM4(PM4_DISPATCH_DIRECT, 5), waves, 1, 1, 1 }, 5);
}

/**
 * kfdc_pm4_code - set the registers that dispatches start from
 * @r: a PM4 queue
 * @code: the values of the registers
 *
 * The numbers of the registers are those of GFX9 to GFX12, gc_*_offset.h.
 */
int kfdc_pm4_code(struct kfdc_ring *r, const struct kfdc_pm4_code *code)
{
	uint32_t p[2 + 16] = { PM4(PM4_SET_SH_REG, 2 + code->nuser), 0x240 }, rsrc3;
	uint64_t version = 0;
	int err = kfdc_prop(r->c, "gfx_target_version", &version);

	if (code->nuser > 16)
		return kfdc_fail(EINVAL, "%u user registers", code->nuser);
	rsrc3 = version / 10000 == 9 ? 0x22d : 0x228;
	memcpy(p + 2, code->user, code->nuser * 4);
	if (!err)
		err = kfdc_ring_write(r, (uint32_t []){ PM4(PM4_SET_SH_REG, 5), 0x207, code->size[0], code->size[1],
							 code->size[2] }, 5);
	if (!err)
		err = kfdc_ring_write(r, (uint32_t []){ PM4(PM4_SET_SH_REG, 4), 0x20c, code->entry >> 8,
							 code->entry >> 40 }, 4);
	if (!err)
		err = kfdc_ring_write(r, (uint32_t []){ PM4(PM4_SET_SH_REG, 4), 0x212, code->rsrc[0], code->rsrc[1] }, 4);
	if (!err)
		err = kfdc_ring_write(r, (uint32_t []){ PM4(PM4_SET_SH_REG, 3), rsrc3, code->rsrc[2] }, 3);
	if (!err)
		err = kfdc_ring_write(r, (uint32_t []){ PM4(PM4_SET_SH_REG, 3), 0x218, code->tmpring }, 3);
	if (!err)
		err = kfdc_ring_write(r, (uint32_t []){ PM4(PM4_SET_SH_REG, 4), 0x210, code->scratch >> 8,
							 code->scratch >> 40 }, 4);
	if (!err && code->nuser)
		err = kfdc_ring_write(r, p, 2 + code->nuser);
	return err;
}

/**
 * kfdc_pm4_groups - dispatch work-groups of the code that the registers describe
 * @r: a PM4 queue
 * @code: as given to kfdc_pm4_code()
 * @groups: how many in each dimension
 * @at: NULL: DISPATCH_DIRECT; otherwise DISPATCH_INDIRECT, and the GPU reads them there when it comes to the packet
 */
int kfdc_pm4_groups(struct kfdc_ring *r, const struct kfdc_pm4_code *code, const uint32_t groups[3], const uint32_t *at)
{
	/* COMPUTE_SHADER_EN, FORCE_START_AT_000, CS_W32_EN */
	uint32_t init = 1 | 1 << 2 | (code->wave32 ? 1u << 15 : 0);

	if (at)
		return kfdc_ring_write(r, (uint32_t []){ PM4(PM4_DISPATCH_INDIRECT, 4), lo(at), hi(at), init }, 4);
	return kfdc_ring_write(r, (uint32_t []){ PM4(PM4_DISPATCH_DIRECT, 5), groups[0], groups[1], groups[2], init }, 5);
}
