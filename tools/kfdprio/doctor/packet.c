// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio doctor --test: packets, as GFX9 to GFX12 agree on them.
 *
 * Callers never have more than a few packets in flight, so the room in the ring is not checked.
 */
#define _GNU_SOURCE
#include <string.h>

#include "queue.h"

#define AQL_SYSTEM	(2 << 9 | 2 << 11)	/* acquire and release in the scope of the system */
#define AQL_BARRIER_AND	(3 | AQL_SYSTEM)
#define AQL_DISPATCH	(2 | AQL_SYSTEM)
#define AQL_ONE_DIMENSION 1
#define PM4(op, dwords)	(3u << 30 | ((dwords) - 2u) << 16 | (op) << 8)
#define PM4_WRITE_DATA	0x37
#define PM4_RELEASE_MEM	0x49
#define SDMA_COPY	1u
#define SDMA_WRITE	2u
#define SDMA_FENCE	5u
#define SDMA_UNCACHED	(3u << 16)	/* MTYPE of a fence, SDMA 5 and later */

struct barrier {
	uint16_t header, reserved0;
	uint32_t reserved1;
	uint64_t waits_for[5], reserved2, completes;
};

struct dispatch {
	uint16_t header, setup, group[3], reserved0;
	uint32_t grid[3], private_bytes, group_bytes;
	uint64_t descriptor, arguments, reserved1, completes;
};

_Static_assert(sizeof(struct barrier) == 64 && sizeof(struct dispatch) == 64, "AQL packets");

/* Bytes of the shared page: signals of 64 from its beginning, qwords from its middle */
#define SIGNAL_BYTES	64
#define SIGNAL_VALUE	8	/* of amd_signal_t */
#define WORDS_AT	2048

static char *signal_at(struct gpu_client *c, unsigned int slot)
{
	return (char *)c->shared.va + SIGNAL_BYTES * slot;
}

/**
 * gpu_signal() - the value of a signal
 * @c: the process
 * @slot: which, 0..31
 */
volatile int64_t *gpu_signal(struct gpu_client *c, unsigned int slot)
{
	char *at = signal_at(c, slot);

	*(int64_t *)at = 1;	/* AMD_SIGNAL_KIND_USER, without an event */
	return (int64_t *)(at + SIGNAL_VALUE);
}

/**
 * gpu_word() - a word of memory that packets write
 * @c: the process
 * @slot: which, 0..255
 */
volatile uint32_t *gpu_word(struct gpu_client *c, unsigned int slot)
{
	return (uint32_t *)((char *)c->shared.va + WORDS_AT + 8 * slot);
}

/* The header last: with it the packet is valid. */
static void aql_put(struct gpu_queue *q, const void *packet, uint16_t header)
{
	char *slot = (char *)q->ring.va + q->put % (q->ring.size / 64) * 64;

	memcpy(slot + 2, (const char *)packet + 2, 62);
	q->put++;
	__atomic_store_n((uint16_t *)slot, header, __ATOMIC_RELEASE);
}

/**
 * gpu_aql_barrier() - a barrier packet; gpu_queue_ring() submits it
 * @c: the process
 * @q: an AQL queue
 * @waits_for: slot of the signal that must be 0 first; -1: none
 * @completes: slot of the signal that is decremented when it is done
 */
void gpu_aql_barrier(struct gpu_client *c, struct gpu_queue *q, int waits_for, int completes)
{
	struct barrier packet = { .completes = (uintptr_t)signal_at(c, completes) };

	if (waits_for >= 0)
		packet.waits_for[0] = (uintptr_t)signal_at(c, waits_for);
	aql_put(q, &packet, AQL_BARRIER_AND);
}

/**
 * gpu_aql_dispatch() - a dispatch packet; gpu_queue_ring() submits it
 * @c: the process
 * @q: an AQL queue
 * @d: what is dispatched
 */
void gpu_aql_dispatch(struct gpu_client *c, struct gpu_queue *q, const struct gpu_dispatch *d)
{
	const struct dispatch packet = {
		.setup = AQL_ONE_DIMENSION,
		.group = { d->group_items, 1, 1 },
		.grid = { d->groups * d->group_items, 1, 1 },
		.group_bytes = d->lds_bytes,
		.descriptor = (uintptr_t)d->descriptor,
		.arguments = (uintptr_t)d->arguments,
		.completes = (uintptr_t)signal_at(c, d->completes),
	};

	aql_put(q, &packet, AQL_DISPATCH);
}

static void dwords_put(struct gpu_queue *q, const uint32_t *dwords, size_t nr)
{
	volatile uint32_t *ring = q->ring.va;

	while (nr--)
		ring[q->put++ % (q->ring.size / 4)] = *dwords++;
}

#define PUT(q, ...) \
	dwords_put(q, (const uint32_t []){ __VA_ARGS__ }, \
		   sizeof((const uint32_t []){ __VA_ARGS__ }) / 4)

static uint32_t low(const volatile void *va)
{
	return (uintptr_t)va;
}

static uint32_t high(const volatile void *va)
{
	return (uint64_t)(uintptr_t)va >> 32;
}

/**
 * gpu_pm4_store() - WRITE_DATA of a word, confirmed
 * @q: a PM4 queue
 * @at: where to
 * @value: what
 */
void gpu_pm4_store(struct gpu_queue *q, volatile uint32_t *at, uint32_t value)
{
	PUT(q, PM4(PM4_WRITE_DATA, 5), 5 << 8 | 1 << 20, low(at), high(at), value);
}

/**
 * gpu_pm4_write() - the same, into the shared page
 * @c: the process
 * @q: a PM4 queue
 * @slot: of gpu_word()
 * @value: what
 */
void gpu_pm4_write(struct gpu_client *c, struct gpu_queue *q, unsigned int slot, uint32_t value)
{
	gpu_pm4_store(q, gpu_word(c, slot), value);
}

/**
 * gpu_pm4_release() - RELEASE_MEM: write 64 bits when all before is done
 * @c: the process
 * @q: a PM4 queue
 * @slot: of gpu_word()
 * @value: what
 */
void gpu_pm4_release(struct gpu_client *c, struct gpu_queue *q, unsigned int slot, uint64_t value)
{
	volatile uint32_t *at = gpu_word(c, slot);

	/* CACHE_FLUSH_AND_INV_TS_EVENT at the end of the pipe; 64 bits, no interrupt */
	PUT(q, PM4(PM4_RELEASE_MEM, 8), 0x14 | 5 << 8, 2u << 29, low(at), high(at), value,
	    value >> 32, 0);
}

/**
 * gpu_sdma_copy() - copy COPY_BYTES
 * @c: the process
 * @q: an SDMA queue
 * @to: where to
 * @from: where from
 *
 * Not for GFX12, whose packet has another size.
 */
void gpu_sdma_copy(struct gpu_client *c, struct gpu_queue *q, void *to, const void *from)
{
	(void)c;
	PUT(q, SDMA_COPY, COPY_BYTES - 1, 0, low(from), high(from), low(to), high(to));
}

/**
 * gpu_sdma_store() - write a word; on GFX12, too
 * @q: an SDMA queue
 * @at: where to
 * @value: what
 */
void gpu_sdma_store(struct gpu_queue *q, volatile uint32_t *at, uint32_t value)
{
	PUT(q, SDMA_WRITE, low(at), high(at), 0, value);
}

/**
 * gpu_sdma_fence() - write a word when all before is done
 * @c: the process
 * @q: an SDMA queue
 * @slot: of gpu_word()
 * @value: what
 */
void gpu_sdma_fence(struct gpu_client *c, struct gpu_queue *q, unsigned int slot, uint32_t value)
{
	volatile uint32_t *at = gpu_word(c, slot);

	PUT(q, SDMA_FENCE | (c->gfx >= 100000 ? SDMA_UNCACHED : 0), low(at), high(at), value);
}

/**
 * gpu_queue_ring() - submit all packets that were written
 * @q: the queue
 * @before: out: CLOCK_MONOTONIC just before the doorbell is written; may be NULL
 * @after: out: just after; may be NULL
 */
void gpu_queue_ring(struct gpu_queue *q, uint64_t *before, uint64_t *after)
{
	uint64_t index = q->kind == GPU_QUEUE_SDMA ? q->put * 4 : q->put;
	uint64_t t0, t1;

	__atomic_store_n(q->wptr, index, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	t0 = gpu_now();
	/* AQL: the number of the last packet; others: where the next one will begin */
	*q->doorbell = q->kind == GPU_QUEUE_AQL ? index - 1 : index;
	t1 = gpu_now();
	if (before)
		*before = t0;
	if (after)
		*after = t1;
}
