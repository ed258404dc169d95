// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatches that are in ROCm's log more than once: a file that was copied, or lines that were collected twice.
 *
 * Two lines with the same microsecond, thread, queue, kernel, arguments and signal are the same: a dispatch takes several
 * microseconds with this log.
 */
#include <stdlib.h>
#include <string.h>

#include "joiner.h"

#define FNV_BASIS 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

static uint64_t mix(uint64_t hash)
{
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdULL;
	hash ^= hash >> 33;
	hash *= 0xc4ceb9fe1a85ec53ULL;
	return hash ^ hash >> 33;
}

/* A program that collects logs may put other text after the message: the numbers that name the dispatch count alone. */
static uint64_t entry_hash(const struct amdlog_entry *entry)
{
	static const char *const keys[] = { "Dispatch Header = ", "kernel_obj=", "kernarg_address=", "completion_signal=" };
	uint64_t hash = FNV_BASIS ^ entry->ts ^ mix(entry->tid);
	const char *at;
	unsigned int i;

	for (i = 0; i < NR_LOG_FIELDS; i++)
		hash = (hash ^ (entry->has >> i & 1 ? mix(entry->v[i] + 1) : 0)) * FNV_PRIME;
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		at = strstr(entry->message, keys[i]);
		hash = (hash ^ (at ? mix(strtoull(at + strlen(keys[i]), NULL, 0) + 1) : 0)) * FNV_PRIME;
	}
	hash = mix(hash);
	return hash ? hash : 1;
}

/* The slot of a line, or the empty one for it.  A line whose PID is not known may be of any process. */
static struct repeat *slot_find(struct repeats *repeats, uint64_t hash, int32_t pid)
{
	unsigned int at = hash % REPEAT_SLOTS;
	struct repeat *slot;

	for (;; at = (at + 1) % REPEAT_SLOTS) {
		slot = &repeats->slot[at];
		if (!slot->hash || (slot->hash == hash && (slot->pid == pid || slot->pid < 0 || pid < 0)))
			return slot;
	}
}

static void limit_halve(struct repeats *repeats)
{
	struct repeat kept[REPEAT_SLOTS];
	unsigned int i;

	memcpy(kept, repeats->slot, sizeof(kept));
	memset(repeats->slot, 0, sizeof(repeats->slot));
	repeats->limit /= 2;
	repeats->nr = 0;
	for (i = 0; i < REPEAT_SLOTS; i++) {
		if (!kept[i].hash || kept[i].hash >= repeats->limit)
			continue;
		*slot_find(repeats, kept[i].hash, kept[i].pid) = kept[i];
		repeats->nr++;
	}
}

/**
 * repeats_take() - compare a dispatch with those before it
 * @repeats: those before
 * @entry: the dispatch
 */
void repeats_take(struct repeats *repeats, const struct amdlog_entry *entry)
{
	uint64_t hash = entry_hash(entry);
	struct repeat *slot;

	if (hash >= repeats->limit)
		return;
	slot = slot_find(repeats, hash, entry->pid);
	if (slot->count++)
		return;
	slot->hash = hash;
	slot->pid = entry->pid;
	if (++repeats->nr > REPEAT_SLOTS / 2)
		limit_halve(repeats);
}

/**
 * repeats_end() - how many dispatches are repetitions
 * @repeats: at the end of the log
 * @paths: out: @compared and @repeated
 */
void repeats_end(const struct repeats *repeats, struct paths *paths)
{
	unsigned int i;

	for (i = 0; i < REPEAT_SLOTS; i++) {
		paths->compared += repeats->slot[i].count;
		if (repeats->slot[i].count)
			paths->repeated += repeats->slot[i].count - 1;
	}
}
